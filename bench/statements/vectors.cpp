// Many short vectors and small matrices, a problem each, beside Eigen's of fixed size in a loop. One thread.
//   bench_vectors [--dtype f64] [--sides 2,3,4,6,8,12,16] [--bytes B] [--seconds S]
// Bytes: of all matrices A together, in the second cache if nothing is said. ricci's extents are those of run time.
#include <omp.h>

#include <algorithm>
#include <cmath>
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
  std::vector<int> sides{2, 3, 4, 6, 8, 12, 16};
  std::int64_t bytes = 500000;
  double seconds = 0.02;
};

template <class T> void fill(T* to, std::int64_t count) {
  for (std::int64_t x = 0; x < count; ++x) to[x] = T(static_cast<float>(x * 7 % 13 - 6));
}

template <class T, int N> class problems {
 public:
  problems(const setting& s, std::vector<double>& ratios)
      : seconds_(s.seconds), ratios_(ratios), count_(std::max<std::int64_t>(1, s.bytes / static_cast<std::int64_t>(sizeof(T) * N * N))) {
    for (auto* t : {&A, &B, &C}) fill(t->data(), t->size());
    for (auto* t : {&a, &b, &d}) fill(t->data(), t->size());
    fill(w.data(), w.size()), fill(R.data(), R.size());
  }

  void run() {
    beside("s(p) = a(p,i) * b(p,i)", [&] { w(p) = a(p, i) * b(p, i); }, [&](auto x) { w(x) = v(a, x).dot(v(b, x)); });
    beside("s(p) = sum(i, a(p,i))", [&] { w(p) = ricci::sum(i, a(p, i)); }, [&](auto x) { w(x) = v(a, x).sum(); });
    beside("s(p) = A(p,i,j) * B(p,i,j)", [&] { w(p) = A(p, i, j) * B(p, i, j); }, [&](auto x) { w(x) = m(A, x).cwiseProduct(m(B, x)).sum(); });
    beside("d(p,i) = A(p,i,j) * b(p,j)", [&] { d(p, i) = A(p, i, j) * b(p, j); }, [&](auto x) { v(d, x).noalias() = m(A, x) * v(b, x); });
    beside("d(p,i) -= A(p,i,j) * b(p,j)", [&] { d(p, i) -= A(p, i, j) * b(p, j); }, [&](auto x) { v(d, x).noalias() -= m(A, x) * v(b, x); });
    beside("d(p,j) = A(p,i,j) * b(p,i)", [&] { d(p, j) = A(p, i, j) * b(p, i); }, [&](auto x) { v(d, x).noalias() = m(A, x).transpose() * v(b, x); });
    beside("d(p,i) = R(i,j) * a(p,j)", [&] { d(p, i) = R(i, j) * a(p, j); }, [&](auto x) { v(d, x).noalias() = r() * v(a, x); });
    beside("d(p,i) = s(p) * a(p,i)", [&] { d(p, i) = w(p) * a(p, i); }, [&](auto x) { v(d, x) = w(x) * v(a, x); });
    beside("C(p,i,j) = a(p,i) * b(p,j)", [&] { C(p, i, j) = a(p, i) * b(p, j); }, [&](auto x) { m(C, x).noalias() = v(a, x) * v(b, x).transpose(); });
    beside("C(p,i,j) = A(p,i,k) * B(p,k,j)", [&] { C(p, i, j) = A(p, i, k) * B(p, k, j); }, [&](auto x) { m(C, x).noalias() = m(A, x) * m(B, x); });
    beside("C(p,i,j) = A(p,i,k) * B(p,j,k)", [&] { C(p, i, j) = A(p, i, k) * B(p, j, k); }, [&](auto x) { m(C, x).noalias() = m(A, x) * m(B, x).transpose(); });
    beside("C(p,i,j) = A(p,k,i) * R(k,j)", [&] { C(p, i, j) = A(p, k, i) * R(k, j); }, [&](auto x) { m(C, x).noalias() = m(A, x).transpose() * r(); });
  }

 private:
  using matrix = Eigen::Matrix<T, N, N, Eigen::RowMajor>;
  using vector = Eigen::Matrix<T, N, 1>;
  using matrices = ricci::tensor<T, ricci::dynamic, ricci::dynamic, ricci::dynamic>;
  using vectors = ricci::tensor<T, ricci::dynamic, ricci::dynamic>;

  static Eigen::Map<matrix> m(matrices& x, std::int64_t at) { return Eigen::Map<matrix>(x.data() + at * N * N); }
  static Eigen::Map<vector> v(vectors& x, std::int64_t at) { return Eigen::Map<vector>(x.data() + at * N); }
  Eigen::Map<matrix> r() { return Eigen::Map<matrix>(R.data()); }

  template <class Mine, class Peer> void beside(const char* statement, const Mine& mine, const Peer& peer) {
    const auto all = [&] {
      for (std::int64_t x = 0; x < count_; ++x) peer(x);
      asm volatile("" ::: "memory");
    };
    const std::vector<double> t = bench::in_turn({mine, all}, seconds_);
    std::printf("%-32s %3d %8lld %11.2f %11.2f %6.2f\n", statement, N, static_cast<long long>(count_), 1e6 * t[0], 1e6 * t[1], t[1] / t[0]);
    std::fflush(stdout);
    ratios_.push_back(t[1] / t[0]);
  }

  const double seconds_;
  std::vector<double>& ratios_;
  const std::int64_t count_;
  matrices A{count_, N, N}, B{count_, N, N}, C{count_, N, N};
  vectors a{count_, N}, b{count_, N}, d{count_, N}, R{N, N};
  ricci::tensor<T, ricci::dynamic> w{count_};
};

template <class T> void run(const setting& s) {
  std::vector<double> ratios;
  const auto with = [&]<int N>() { if (std::count(s.sides.begin(), s.sides.end(), N) > 0) problems<T, N>(s, ratios).run(); };
#ifdef RICCI_BENCH_PLAIN  // where only compiling is tested, one is enough
  with.template operator()<4>();
#else
  with.template operator()<2>(), with.template operator()<3>(), with.template operator()<4>(), with.template operator()<6>();
  with.template operator()<8>(), with.template operator()<12>(), with.template operator()<16>();
#endif
  double sum = 0;
  for (const double x : ratios) sum += std::log(x);
  if (!ratios.empty()) std::printf("geometric mean of %zu: %.2f, least %.2f\n", ratios.size(), std::exp(sum / static_cast<double>(ratios.size())), *std::min_element(ratios.begin(), ratios.end()));
}

}  // namespace

int main(int count, char** words) {
  omp_set_num_threads(1);
  setting s;
  CLI::App app("many short vectors and small matrices, beside Eigen's of fixed size");
  app.add_option("--dtype", s.dtype, "f32 or f64")->check(CLI::IsMember({"f32", "f64"}));
  app.add_option("--sides", s.sides, "of 2, 3, 4, 6, 8, 12 and 16")->delimiter(',')->check(CLI::IsMember({2, 3, 4, 6, 8, 12, 16}));
  app.add_option("--bytes", s.bytes, "of all matrices A")->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 34));
  app.add_option("--seconds", s.seconds, "for each line")->check(CLI::Range(0.0, 1e4));
  CLI11_PARSE(app, count, words);
  return bench::run_program("bench_vectors", [&] {
    std::printf("%-32s %3s %8s %11s %11s %6s\n", "statement", "n", "problems", "ricci us", "Eigen us", "times");
    if (s.dtype == "f32") run<float>(s);
    else run<double>(s);
  });
}
