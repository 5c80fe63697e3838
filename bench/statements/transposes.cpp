// Statements with one factor, which only move: transposes and permutations beside Eigen's transpose and shuffle.
#include <array>

#include <Eigen/Core>
#include <unsupported/Eigen/CXX11/Tensor>

#include <ricci/ricci.hpp>

#include "common.hpp"

using namespace ricci::labels;

namespace {

template <class T>
using tensor4 = ricci::tensor<T, ricci::dynamic, ricci::dynamic, ricci::dynamic, ricci::dynamic>;
template <class T>
using map4 = Eigen::TensorMap<Eigen::Tensor<T, 4, Eigen::RowMajor, Eigen::Index>>;

/// out(permuted) = in, both dense and row-major.
template <class T>
struct case4 {
  std::array<std::int64_t, 4> extents, order;  // order[d]: the axis of `in` that axis d of `out` is
  tensor4<T> in, out;

  case4(std::array<std::int64_t, 4> sizes, std::array<std::int64_t, 4> axes)
      : extents(sizes),
        order(axes),
        in(sizes[0], sizes[1], sizes[2], sizes[3]),
        out(sizes[axes[0]], sizes[axes[1]], sizes[axes[2]], sizes[axes[3]]) {
    bench::fill(in.data(), in.size(), 1);
  }
  void shuffle(T* to) {
    map4<T> target(to, out.extent(0), out.extent(1), out.extent(2), out.extent(3));
    target = map4<T>(in.data(), extents[0], extents[1], extents[2], extents[3]).shuffle(order);
  }
};

template <class T, class Plan>
void run_ricci(benchmark::State& state, case4<T>& x, const Plan& plan) {
  for (auto _ : state) plan.run();
  tensor4<T> peer(x.out);
  x.shuffle(peer.data());
  bench::expect_equal(state, x.out.data(), peer.data(), peer.size(), 0);
  bench::report(state, 0, 2.0 * sizeof(T) * double(peer.size()));
}

template <class T>
void run_eigen(benchmark::State& state, case4<T>& x) {
  for (auto _ : state) {
    x.shuffle(x.out.data());
    benchmark::ClobberMemory();
  }
  bench::report(state, 0, 2.0 * sizeof(T) * double(x.out.size()));
}

/// Many small transposes: (e, i, j) to (e, j, i).
template <class T, bool Ricci>
void small_transposes(benchmark::State& state) {
  case4<T> x({1, 20000, state.range(0), state.range(0)}, {0, 1, 3, 2});
  if constexpr (Ricci)
    run_ricci(state, x, ricci::plan(x.out(b, e, j, i).assign(x.in(b, e, i, j)), {.threads = 1}));
  else
    run_eigen(state, x);
}

template <class T, bool Ricci>
void large_transpose(benchmark::State& state) {
  case4<T> x({1, 1, state.range(0), state.range(0)}, {0, 1, 3, 2});
  if constexpr (Ricci)
    run_ricci(state, x, ricci::plan(x.out(a, b, j, i).assign(x.in(a, b, i, j)), {.threads = 1}));
  else
    run_eigen(state, x);
}

template <class T, bool Ricci>
void reversal(benchmark::State& state) {
  const auto n = state.range(0);
  case4<T> x({n, n, n, n}, {3, 2, 1, 0});
  if constexpr (Ricci)
    run_ricci(state, x, ricci::plan(x.out(l, k, j, i).assign(x.in(i, j, k, l)), {.threads = 1}));
  else
    run_eigen(state, x);
}

/// Images from channels first to channels last.
template <class T, bool Ricci>
void channels_last(benchmark::State& state) {
  case4<T> x({16, state.range(0), 64, 64}, {0, 2, 3, 1});
  if constexpr (Ricci)
    run_ricci(state, x, ricci::plan(x.out(b, y, w, c).assign(x.in(b, c, y, w)), {.threads = 1}));
  else
    run_eigen(state, x);
}

/// Eigen's own way for one matrix, usually faster than its shuffle.
void eigen_matrix_transpose(benchmark::State& state) {
  const auto n = state.range(0);
  Eigen::MatrixXd from = Eigen::MatrixXd::Random(n, n), to(n, n);
  for (auto _ : state) {
    to.noalias() = from.transpose();
    benchmark::ClobberMemory();
  }
  bench::report(state, 0, 16.0 * double(n) * double(n));
}

BENCHMARK(small_transposes<double, true>)->Arg(3)->Arg(4)->Arg(8)->Arg(16);
BENCHMARK(small_transposes<double, false>)->Arg(3)->Arg(4)->Arg(8)->Arg(16);
BENCHMARK(small_transposes<float, true>)->Arg(3)->Arg(4)->Arg(8)->Arg(16);
BENCHMARK(small_transposes<float, false>)->Arg(3)->Arg(4)->Arg(8)->Arg(16);
BENCHMARK(large_transpose<double, true>)->Arg(128)->Arg(2048);
BENCHMARK(large_transpose<double, false>)->Arg(128)->Arg(2048);
BENCHMARK(eigen_matrix_transpose)->Arg(128)->Arg(2048);
BENCHMARK(reversal<double, true>)->Arg(16)->Arg(40);
BENCHMARK(reversal<double, false>)->Arg(16)->Arg(40);
BENCHMARK(channels_last<float, true>)->Arg(3)->Arg(64);
BENCHMARK(channels_last<float, false>)->Arg(3)->Arg(64);

}  // namespace

BENCHMARK_MAIN();
