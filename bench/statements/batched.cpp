// C(e,i,j) = A(e,i,k) * B(e,k,j) for n x n matrices: ricci beside Eigen's fixed-size and dynamic matrices.
#include <algorithm>
#include <string>
#include <utility>

#include <Eigen/Core>

#include <ricci/ricci.hpp>

#include "common.hpp"

using namespace ricci::labels;

namespace {

template <class T>
using batch = ricci::tensor<T, ricci::dynamic, ricci::dynamic, ricci::dynamic>;

/// Three batches that take `bytes` together.
template <class T>
struct batches {
  std::int64_t count;
  batch<T> A, B, C;

  batches(int n, std::int64_t bytes)
      : count(std::max<std::int64_t>(1, bytes / (3 * n * n * std::int64_t(sizeof(T))))),
        A(count, n, n),
        B(count, n, n),
        C(count, n, n) {
    bench::fill(A.data(), A.size(), 1);
    bench::fill(B.data(), B.size(), 2);
  }
  void report(benchmark::State& state) const {
    bench::report(state, 2.0 * double(A.size()) * double(A.extent(1)), 3.0 * sizeof(T) * double(A.size()));
  }
};

/// One way with Eigen; N is Eigen::Dynamic or the size.
template <class T, int N>
void multiply(batches<T>& x, int n, T* to) {
  using matrix = Eigen::Matrix<T, N, N, Eigen::RowMajor>;
  for (std::int64_t at = 0; at < x.C.size(); at += n * n)
    Eigen::Map<matrix>(to + at, n, n).noalias() =
        Eigen::Map<const matrix>(x.A.data() + at, n, n) * Eigen::Map<const matrix>(x.B.data() + at, n, n);
}

template <class T>
void ricci_batched(benchmark::State& state, int n, std::int64_t bytes) {
  batches<T> x(n, bytes);
  const auto plan = ricci::plan(x.C(e, i, j).assign(x.A(e, i, k) * x.B(e, k, j)), {.threads = 1});
  for (auto _ : state) plan.run();
  batch<T> peer(x.count, n, n);
  multiply<T, Eigen::Dynamic>(x, n, peer.data());
  bench::expect_equal(state, x.C.data(), peer.data(), peer.size(), n);
  x.report(state);
}

template <class T, int N>
void eigen_batched(benchmark::State& state, int n, std::int64_t bytes) {
  batches<T> x(n, bytes);
  for (auto _ : state) {
    multiply<T, N>(x, n, x.C.data());
    benchmark::ClobberMemory();
  }
  x.report(state);
}

template <class T, int N>
void add_size(const char* type) {
  for (const std::int64_t bytes : {std::int64_t(256) << 10, std::int64_t(96) << 20}) {
    const std::string tail =
        std::string("/") + type + "/n:" + std::to_string(N) + "/KiB:" + std::to_string(bytes >> 10);
    benchmark::RegisterBenchmark(("batched/ricci" + tail).c_str(), ricci_batched<T>, N, bytes);
    benchmark::RegisterBenchmark(("batched/eigen_fixed" + tail).c_str(), eigen_batched<T, N>, N, bytes);
    benchmark::RegisterBenchmark(("batched/eigen_dynamic" + tail).c_str(), eigen_batched<T, Eigen::Dynamic>, N, bytes);
  }
}

template <int... N>
void add_sizes(std::integer_sequence<int, N...>) {
  (add_size<double, N>("f64"), ...);
  (add_size<float, N>("f32"), ...);
}

}  // namespace

int main(int argc, char** argv) {
#ifdef RICCI_BENCH_PLAIN  // where only compiling is tested, one is enough
  add_sizes(std::integer_sequence<int, 4>{});
#else
  add_sizes(std::integer_sequence<int, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 20, 24, 31, 32>{});
#endif
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
