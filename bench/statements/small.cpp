// Statements over short vectors and small matrices of run-time extents, beside Eigen: what a call costs counts here. One thread.
//   bench_small [--dtype f64] [--sides 4,8,10,16,20,30,50,100] [--seconds S]
// Every statement is written out, so ricci finds its plan again each time. Eigen works on the same memory, products without its temporaries.
#include <omp.h>

#include <algorithm>
#include <cstdio>
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
  std::vector<int> sides{4, 8, 10, 16, 20, 30, 50, 100};
  double seconds = 0.02;
};

/// A call of each in turn, so often that the clock can tell. `work`: elements or multiply-adds by four, roughly.
template <class Mine, class Peer> void line(const char* statement, int n, double work, double seconds, const Mine& mine, const Peer& peer) {
  const int times = std::max(1, static_cast<int>(20000 / (work + 60)));
  const auto repeated = [times](const auto& f) {
    return [times, &f] {
      for (int i = 0; i < times; ++i) {
        f();
        asm volatile("" ::: "memory");
      }
    };
  };
  const std::vector<double> t = bench::in_turn({repeated(mine), repeated(peer)}, seconds);
  std::printf("%-30s %5d %10.0f %10.0f %6.2f\n", statement, n, 1e9 * t[0] / times, 1e9 * t[1] / times, t[1] / t[0]);
  std::fflush(stdout);
}

template <class T> void fill(T* to, std::int64_t count) {
  for (std::int64_t x = 0; x < count; ++x) to[x] = T(static_cast<float>(x * 7 % 13 - 6));
}

template <class T> class small_statements {
 public:
  small_statements(int side, double seconds) : n_(side), seconds_(seconds) {
    for (auto* t : {&A, &B, &C}) fill(t->data(), t->size());
    for (auto* t : {&a, &b, &d}) fill(t->data(), t->size());
  }

  void vectors() {
    beside("d(i) = a(i) + b(i)", n_, [&] { d(i) = a(i) + b(i); }, [&] { w = p + q; });
    beside("d(i) += 2 a(i)", n_, [&] { d(i) += two * a(i); }, [&] { w += two * p; });
    beside("d(i) = a(i) * b(i)", n_, [&] { d(i) = a(i) * b(i); }, [&] { w = p.cwiseProduct(q); });
    beside("s() = a(i) * b(i)", n_, [&] { r() = a(i) * b(i); }, [&] { one = (p.transpose() * q).value(); });
    beside("s() = sum(i, a(i))", n_, [&] { r() = ricci::sum(i, a(i)); }, [&] { one = p.sum(); });
  }

  void matrices() {
    const double n2 = double(n_) * n_;
    beside("C(i,j) = A(i,j) + B(i,j)", n2, [&] { C(i, j) = A(i, j) + B(i, j); }, [&] { z = x + y; });
    beside("C(i,j) += 2 A(i,j)", n2, [&] { C(i, j) += two * A(i, j); }, [&] { z += two * x; });
    beside("C(i,j) = A(j,i)", n2, [&] { C(i, j) = A(j, i); }, [&] { z = x.transpose(); });
    beside("C(i,j) = A(i,j) + A(j,i)", n2, [&] { C(i, j) = A(i, j) + A(j, i); }, [&] { z = x + x.transpose(); });
    beside("C(i,j) = A(i,j) * b(j)", n2, [&] { C(i, j) = A(i, j) * b(j); }, [&] { z = x * q.asDiagonal(); });
    beside("C(i,j) = A(i,j) * b(i)", n2, [&] { C(i, j) = A(i, j) * b(i); }, [&] { z = q.asDiagonal() * x; });
    beside("s() = A(i,j) * B(i,j)", n2, [&] { r() = A(i, j) * B(i, j); }, [&] { one = x.cwiseProduct(y).sum(); });
    beside("s() = A(i,i)", n_, [&] { r() = A(i, i); }, [&] { one = x.trace(); });
    beside("d(i) = A(i,i)", n_, [&] { d(i) = A(i, i); }, [&] { w = x.diagonal(); });
    beside("d(i) = sum(j, A(i,j))", n2, [&] { d(i) = ricci::sum(j, A(i, j)); }, [&] { w = x.rowwise().sum(); });
    beside("d(j) = sum(i, A(i,j))", n2, [&] { d(j) = ricci::sum(i, A(i, j)); }, [&] { w = x.colwise().sum().transpose(); });
  }

  void products() {
    const double n2 = double(n_) * n_, n3 = n2 * n_ / 4;
    beside("d(i) = A(i,j) * b(j)", n2, [&] { d(i) = A(i, j) * b(j); }, [&] { w.noalias() = x * q; });
    beside("d(i) += A(i,j) * b(j)", n2, [&] { d(i) += A(i, j) * b(j); }, [&] { w.noalias() += x * q; });
    beside("d(j) = A(i,j) * b(i)", n2, [&] { d(j) = A(i, j) * b(i); }, [&] { w.noalias() = x.transpose() * q; });
    beside("d(i) = b(i) - A(i,j) * a(j)", n2, [&] { d(i) = b(i) - A(i, j) * a(j); }, [&] { w = q, w.noalias() -= x * p; });
    beside("s() = a(i) * A(i,j) * b(j)", n2, [&] { r() = a(i) * A(i, j) * b(j); }, [&] { one = (p.transpose() * (x * q)).value(); });
    beside("C(i,j) = a(i) * b(j)", n2, [&] { C(i, j) = a(i) * b(j); }, [&] { z.noalias() = p * q.transpose(); });
    beside("C(i,j) += a(i) * b(j)", n2, [&] { C(i, j) += a(i) * b(j); }, [&] { z.noalias() += p * q.transpose(); });
    beside("C(i,j) = A(i,k) * B(k,j)", n3, [&] { C(i, j) = A(i, k) * B(k, j); }, [&] { z.noalias() = x * y; });
    beside("C(i,j) = A(k,i) * B(k,j)", n3, [&] { C(i, j) = A(k, i) * B(k, j); }, [&] { z.noalias() = x.transpose() * y; });
    beside("C(i,j) = A(i,k) * B(j,k)", n3, [&] { C(i, j) = A(i, k) * B(j, k); }, [&] { z.noalias() = x * y.transpose(); });
    beside("C(i,j) -= A(i,k) * B(k,j)", n3, [&] { C(i, j) -= A(i, k) * B(k, j); }, [&] { z.noalias() -= x * y; });
  }

 private:
  using tensor1 = ricci::tensor<T, ricci::dynamic>;
  using tensor2 = ricci::tensor<T, ricci::dynamic, ricci::dynamic>;
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using vector = Eigen::Vector<T, Eigen::Dynamic>;

  template <class Mine, class Peer> void beside(const char* statement, double work, const Mine& mine, const Peer& peer) {
    line(statement, n_, work, seconds_, mine, peer);
  }

  const int n_;
  const double seconds_;
  const T two{2.0f};
  T one{};
  tensor2 A{n_, n_}, B{n_, n_}, C{n_, n_};
  tensor1 a{n_}, b{n_}, d{n_};
  ricci::tensor<T> r;
  Eigen::Map<matrix> x{A.data(), n_, n_}, y{B.data(), n_, n_}, z{C.data(), n_, n_};
  Eigen::Map<vector> p{a.data(), n_}, q{b.data(), n_}, w{d.data(), n_};
};

}  // namespace

int main(int count, char** words) {
  omp_set_num_threads(1);
  setting s;
  CLI::App app("statements over short vectors and small matrices, beside Eigen");
  app.add_option("--dtype", s.dtype, "f32, f64, c64 or c128")->check(CLI::IsMember({"f32", "f64", "c64", "c128"}));
  app.add_option("--sides", s.sides, "extents of all labels")->delimiter(',')->check(CLI::Range(1, 3000));
  app.add_option("--seconds", s.seconds, "for each line")->check(CLI::Range(0.0, 1e4));
  CLI11_PARSE(app, count, words);
  return bench::run_program("bench_small", [&] {
    std::printf("%-30s %5s %10s %10s %6s\n", "statement", "n", "ricci ns", "Eigen ns", "times");
    bench::with_type(s.dtype, [&](auto t) {
      using T = decltype(t);
      if constexpr (sizeof(T) > 2)
        for (const int n : s.sides) {
          small_statements<T> all(n, s.seconds);
          all.vectors(), all.matrices(), all.products();
        }
    });
  });
}
