// Sums of tensors on the GPU, scaled, transposed and multiplied element by element, as shares of the triad's bandwidth.
//   bench_gpu_sums [--dtype f64] [--side 8192]
// Matrices of so many rows and columns; then amplitudes of coupled clusters, t(a,b,i,j) with 160 and 60 values, and triples with 24
// and 16. A tensor counts once for each order in which it stands, also where a cache may have it from the other one.
#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>
#include <ricci/ricci.hpp>

#include "timing.hpp"

namespace {

using namespace ricci::labels;
using ricci::dynamic;
using ricci::gpu;

double triad = 0;

/// `tensors`: how many of `bytes` are read or written.
template <class Plan> void report(const char* statement, int tensors, double bytes, const Plan& plan) {
  const double seconds = bench::median_seconds([&] { plan.run(); });
  std::printf("%-40s %10.1f us  %6.1f %% of the triad\n", statement, 1e6 * seconds, 100 * tensors * bytes / seconds * 1e-9 / triad);
  std::fflush(stdout);
}

template <class T> void run_matrices(int n) {
  ricci::tensor<T, dynamic, dynamic, gpu> A(n, n), B(n, n), C(n, n);
  ricci::tensor<T, dynamic, gpu> b(n);
  const double bytes = static_cast<double>(sizeof(T)) * n * n;
  const T two(2.0f);
  std::printf("n = %d\n", n);
  const auto sum = ricci::plan(C(i, j).assign(A(i, j) + B(i, j)));
  for (int again = 0; again < 20; ++again) bench::median_seconds([&] { sum.run(); });  // what runs first is slower, now and then by a sixth
  report("C(i,j) = A(i,j) + B(i,j)", 3, bytes, sum);
  report("C(i,j) = A(i,j) * b(j) + B(i,j)", 3, bytes, ricci::plan(C(i, j).assign(A(i, j) * b(j) + B(i, j))));
  report("C(i,j) = A(i,j) * b(i) + B(i,j)", 3, bytes, ricci::plan(C(i, j).assign(A(i, j) * b(i) + B(i, j))));
  report("C(i,j) = 2 A(j,i)", 2, bytes, ricci::plan(C(i, j).assign(two * A(j, i))));
  report("C(i,j) = A(i,j) + A(j,i)", 3, bytes, ricci::plan(C(i, j).assign(A(i, j) + A(j, i))));
  report("C(i,j) = A(i,j) + B(j,i)", 3, bytes, ricci::plan(C(i, j).assign(A(i, j) + B(j, i))));
  report("C(i,j) += 2 A(i,j) - A(j,i)", 4, bytes, ricci::plan(C(i, j).add(two * A(i, j) - A(j, i))));
  report("C(i,j) = A(i,j) * B(j,i)", 3, bytes, ricci::plan(C(i, j).assign(A(i, j) * B(j, i))));
  report("C(i,j) = A(i,j) * B(i,j)", 3, bytes, ricci::plan(C(i, j).assign(A(i, j) * B(i, j))));
}

template <class T> void run_amplitudes() {
  constexpr int v = 160, o = 60;
  using tensor4 = ricci::tensor<T, dynamic, dynamic, dynamic, dynamic, gpu>;
  tensor4 t(v, v, o, o), x(v, v, o, o), y(o, o, v, v);
  const double bytes = static_cast<double>(sizeof(T)) * static_cast<double>(x.size());
  const T two(2.0f);
  report("x = t(a,b,i,j) - t(b,a,i,j)", 3, bytes, ricci::plan(x(a, b, i, j).assign(t(a, b, i, j) - t(b, a, i, j))));
  report("x = t(a,b,i,j) - t(a,b,j,i)", 3, bytes, ricci::plan(x(a, b, i, j).assign(t(a, b, i, j) - t(a, b, j, i))));
  report("x = t - t(ba) - t(ji) + t(ba,ji)", 5, bytes, ricci::plan(x(a, b, i, j).assign(t(a, b, i, j) - t(b, a, i, j) - t(a, b, j, i) + t(b, a, j, i))));
  report("x = 2 y(i,j,a,b) - y(i,j,b,a)", 3, bytes, ricci::plan(x(a, b, i, j).assign(two * y(i, j, a, b) - y(i, j, b, a))));
  report("x = t + y(i,j,a,b) + y(j,i,b,a)", 4, bytes, ricci::plan(x(a, b, i, j).assign(t(a, b, i, j) + y(i, j, a, b) + y(j, i, b, a))));
}

template <class T> void run_triples() {
  constexpr int v = 24, o = 16;
  using tensor6 = ricci::tensor<T, dynamic, dynamic, dynamic, dynamic, dynamic, dynamic, gpu>;
  tensor6 r(v, v, v, o, o, o), w(v, v, v, o, o, o), z(o, o, o, v, v, v);
  const double bytes = static_cast<double>(sizeof(T)) * static_cast<double>(r.size());
  report("r = w(abcijk) + w(acbikj) + w(bacjik)", 4, bytes, ricci::plan(r(a, b, c, i, j, k).assign(w(a, b, c, i, j, k) + w(a, c, b, i, k, j) + w(b, a, c, j, i, k))));
  report("r = all six of w", 7, bytes,
         ricci::plan(r(a, b, c, i, j, k).assign(w(a, b, c, i, j, k) + w(a, c, b, i, k, j) + w(b, a, c, j, i, k) + w(b, c, a, j, k, i) + w(c, a, b, k, i, j) + w(c, b, a, k, j, i))));
  report("r = all six of z(ijkabc)", 7, bytes,
         ricci::plan(r(a, b, c, i, j, k).assign(z(i, j, k, a, b, c) + z(i, k, j, a, c, b) + z(j, i, k, b, a, c) + z(j, k, i, b, c, a) + z(k, i, j, c, a, b) + z(k, j, i, c, b, a))));
}

template <class T> void run_all(int side) { run_matrices<T>(side), run_amplitudes<T>(), run_triples<T>(); }

}  // namespace

int main(int count, char** words) {
  std::string dtype = "f64";
  int side = 8192;
  CLI::App app("sums of tensors on the GPU");
  app.add_option("--dtype", dtype)->check(CLI::IsMember({"f32", "f64", "c64", "c128", "f16"}));
  app.add_option("--side", side)->check(CLI::Range(1, 60000));
  CLI11_PARSE(app, count, words);
  try {
    triad = bench::triad_bandwidth();
    std::printf("%s, triad %.0f GB/s, %s\n", bench::gpu_name().c_str(), triad, dtype.c_str());
    if (dtype == "f32") run_all<float>(side);
    else if (dtype == "f64") run_all<double>(side);
    else if (dtype == "c64") run_all<std::complex<float>>(side);
    else if (dtype == "c128") run_all<std::complex<double>>(side);
    else run_all<ricci::half>(side);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
