// deal.II's matrix-free operators as a peer of bench_fem: mass and Laplace on a global vector. They are in a library of
// their own, which is built on request (target bench_fem_dealii) and opened if it lies beside the bench.
#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace peer {

/// y += A x in deal.II's own vectors, on the cube of side^3 elements whose corners are moved by `place`. BK1, BK3, BK5:
/// y = A x on the values of each element, batches of elements side by side.
class dealii_operator {
 public:
  virtual ~dealii_operator() = default;
  virtual void run() = 0;
  /// Nodes in the order of the lattice, x fastest, or element after element; y becomes 0.
  virtual void set(const double* x) = 0;
  virtual std::vector<double> result() const = 0;  // not a number where elements were left out
  /// Elements that run() does.
  virtual long elements() const = 0;
};

using corner_map = std::array<double, 3> (*)(double, double, double);

/// name: BP1, BP3 (Gauss points, degree + 2) or BP5 (the nodes), or BK for BP. Null for other names and degrees beyond 8.
using dealii_maker = dealii_operator* (*)(const char* name, int degree, int side, corner_map place);

/// Null if there is no such library.
inline dealii_maker find_dealii() {
  char path[4096];
  const auto length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0) return nullptr;
  const std::string program(path, static_cast<std::size_t>(length));
  void* const library = dlopen((program.substr(0, program.rfind('/')) + "/libbench_fem_dealii.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  return library ? reinterpret_cast<dealii_maker>(dlsym(library, "ricci_bench_make_dealii")) : nullptr;
}

}  // namespace peer
