// Sums of tensors, scaled, transposed and multiplied element by element, and sums over all and over rows, beside Eigen's expressions. One
// thread.
//   bench_sums [--dtype f64] [--sides 30,100,300,1000,3000] [--seconds S]
// Matrices of so many rows and columns; then amplitudes of coupled clusters, t(a,b,i,j) with 60 and 40 values, beside memcpy.
#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <ricci/ricci.hpp>

#include "cases.hpp"
#include "classical.hpp"

namespace {

using namespace ricci::labels;

struct setting {
  std::string dtype = "f64";
  std::vector<int> sides{30, 100, 300, 1000, 3000};
  double seconds = 0.1;
};

/// The median times of both in turn; of what is short many calls are one measurement.
template <class Mine, class Peer> void line(const char* statement, int n, double seconds, const Mine& mine, const Peer& peer) {
  const int times = std::max(1, 100000 / (n * n));
  const auto repeated = [times](const auto& f) {
    return [times, &f] {
      for (int i = 0; i < times; ++i) f();
    };
  };
  const std::vector<double> t = bench::in_turn({repeated(mine), repeated(peer)}, seconds);
  std::printf("%-34s %6d %11.2f %11.2f %6.2f\n", statement, n, 1e6 * t[0] / times, 1e6 * t[1] / times, t[1] / t[0]);
  std::fflush(stdout);
}

template <class T> void fill(T* to, std::int64_t count) {
  for (std::int64_t x = 0; x < count; ++x) to[x] = T(static_cast<float>(x * 7 % 13 - 6));
}

template <class T> void run_matrices(const setting& s) {
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  std::printf("%-34s %6s %11s %11s %6s\n", "statement", "n", "ricci us", "Eigen us", "times");
  for (const int n : s.sides) {
    ricci::tensor<T, ricci::dynamic, ricci::dynamic> A(n, n), B(n, n), C(n, n);
    ricci::tensor<T, ricci::dynamic> b(n);
    ricci::tensor<T> r;
    T one;
    fill(A.data(), A.size()), fill(B.data(), B.size()), fill(b.data(), b.size());
    const Eigen::Map<matrix> x(A.data(), n, n), y(B.data(), n, n);
    Eigen::Map<Eigen::Vector<T, Eigen::Dynamic>> w(b.data(), n);
    Eigen::Map<matrix> z(C.data(), n, n);
    const T two(2.0f);
    const auto beside = [&](const char* statement, const auto& mine, const auto& peer) { line(statement, n, s.seconds, mine, peer); };
    beside("C(i,j) = A(i,j) + B(i,j)", [&] { C(i, j) = A(i, j) + B(i, j); }, [&] { z = x + y; });
    beside("C(i,j) = A(i,j) - 2 B(i,j)", [&] { C(i, j) = A(i, j) - two * B(i, j); }, [&] { z = x - two * y; });
    beside("C(i,j) = 2 A(i,j)", [&] { C(i, j) = two * A(i, j); }, [&] { z = two * x; });
    beside("C(i,j) += A(i,j)", [&] { C(i, j) += A(i, j); }, [&] { z += x; });
    beside("C(i,j) = 2 A(j,i)", [&] { C(i, j) = two * A(j, i); }, [&] { z = two * x.transpose(); });
    beside("C(i,j) = A(i,j) + A(j,i)", [&] { C(i, j) = A(i, j) + A(j, i); }, [&] { z = x + x.transpose(); });
    beside("C(i,j) -= A(j,i)", [&] { C(i, j) -= A(j, i); }, [&] { z -= x.transpose(); });
    beside("C(i,j) = A(i,j) * B(i,j)", [&] { C(i, j) = A(i, j) * B(i, j); }, [&] { z = x.cwiseProduct(y); });
    beside("C(i,j) = A(i,j) * b(j) + B(i,j)", [&] { C(i, j) = A(i, j) * b(j) + B(i, j); }, [&] { z = x * w.asDiagonal() + y; });
    beside("C(i,j) = A(j,i) * b(i)", [&] { C(i, j) = A(j, i) * b(i); }, [&] { z = w.asDiagonal() * x.transpose(); });
    beside("C(i,j) = A(i,j) + conj(A(j,i))", [&] { C(i, j) = A(i, j) + conj(A(j, i)); }, [&] { z = x + x.adjoint(); });
    beside("s() = A(i,j) * B(i,j)", [&] { r() = A(i, j) * B(i, j); }, [&] { one = x.cwiseProduct(y).sum(); });
    beside("b(i) = sum(j, A(i,j))", [&] { b(i) = ricci::sum(j, A(i, j)); }, [&] { w = x.rowwise().sum(); });
    beside("C(i,j) = A(i,j) * B(i,j) + A(i,j)", [&] { C(i, j) = A(i, j) * B(i, j) + A(i, j); }, [&] { z = x.cwiseProduct(y) + x; });
  }
}

template <class T> void run_amplitudes(const setting& s) {
  constexpr int v = 60, o = 40;
  using tensor4 = ricci::tensor<T, ricci::dynamic, ricci::dynamic, ricci::dynamic, ricci::dynamic>;
  tensor4 t(v, v, o, o), x(v, v, o, o), y(o, o, v, v);
  fill(t.data(), t.size()), fill(y.data(), y.size());
  const T two(2.0f);
  std::printf("\n%-34s %6s %11s %11s %6s\n", "statement", "", "ricci us", "memcpy us", "times");
  const auto beside = [&](const char* statement, const auto& mine) {
    line(statement, v * o, s.seconds, mine, [&] { std::memcpy(static_cast<void*>(x.data()), t.data(), static_cast<std::size_t>(t.size()) * sizeof(T)); });
  };
  beside("x = t(a,b,i,j) - t(b,a,i,j)", [&] { x(a, b, i, j) = t(a, b, i, j) - t(b, a, i, j); });
  beside("x = t(a,b,i,j) - t(a,b,j,i)", [&] { x(a, b, i, j) = t(a, b, i, j) - t(a, b, j, i); });
  beside("x = t - t(ba) - t(ji) + t(ba,ji)", [&] { x(a, b, i, j) = t(a, b, i, j) - t(b, a, i, j) - t(a, b, j, i) + t(b, a, j, i); });
  beside("x = 2 y(i,j,a,b) - y(i,j,b,a)", [&] { x(a, b, i, j) = two * y(i, j, a, b) - y(i, j, b, a); });
  beside("x += y(i,j,a,b)", [&] { x(a, b, i, j) += y(i, j, a, b); });
}

}  // namespace

int main(int count, char** words) {
  omp_set_num_threads(1);
  setting s;
  CLI::App app("sums of tensors beside Eigen");
  app.add_option("--dtype", s.dtype)->check(CLI::IsMember({"f32", "f64", "c64", "c128"}));
  app.add_option("--sides", s.sides)->delimiter(',')->check(CLI::Range(1, 30000));
  app.add_option("--seconds", s.seconds)->check(CLI::Range(0.0, 1e4));
  CLI11_PARSE(app, count, words);
  return bench::run_program("bench_sums", [&] {
    bench::with_type(s.dtype, [&](auto x) {
      using T = decltype(x);
      if constexpr (sizeof(T) > 2) run_matrices<T>(s), run_amplitudes<T>(s);
    });
  });
}
