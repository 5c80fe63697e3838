// Large matrices and vectors beside Eigen: what users of matrices write first. One thread each.
#include <Eigen/Core>

#include <ricci/ricci.hpp>

#include "common.hpp"

using namespace ricci::labels;

namespace {

using matrix = ricci::tensor<double, ricci::dynamic, ricci::dynamic>;
using vector = ricci::tensor<double, ricci::dynamic>;
using eigen_matrix = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
using eigen_vector = Eigen::Map<Eigen::VectorXd>;

const ricci::options one_thread{.threads = 1};

struct operands {
  std::int64_t rows, cols;
  matrix A, B, C;
  vector x, y;
  operands(std::int64_t m, std::int64_t n) : rows(m), cols(n), A(m, n), B(m, n), C(m, n), x(n), y(m) {
    bench::fill(A.data(), A.size(), 1), bench::fill(B.data(), B.size(), 2);
    bench::fill(x.data(), x.size(), 3), bench::fill(y.data(), y.size(), 4);
  }
  static eigen_matrix eigen(matrix& M) { return {M.data(), M.extent(0), M.extent(1)}; }
  static eigen_vector eigen(vector& v) { return {v.data(), v.extent(0)}; }
};

/// Runs ricci's plan or Eigen's expression; ricci's result in `mine` is compared with Eigen's, sums of `terms` products.
template <class Out, class Plan, class Eigens>
void compare(benchmark::State& state, Out& mine, const Plan& plan, const Eigens& eigen, std::int64_t terms) {
  if (state.range(1) == 0) {
    for (auto _ : state) plan.run();
    Out peer(mine);
    eigen(peer);
    bench::expect_equal(state, mine.data(), peer.data(), mine.size(), terms);
  } else {
    for (auto _ : state) {
      eigen(mine);
      benchmark::ClobberMemory();
    }
  }
  state.SetLabel(state.range(1) == 0 ? "ricci" : "Eigen");
  bench::report(state, plan.flops(), plan.bytes());
}

void matrix_vector(benchmark::State& state) {
  operands o(state.range(0), state.range(0));
  compare(state, o.y, ricci::plan(o.y(i).assign(o.A(i, j) * o.x(j)), one_thread),
          [&](vector& out) { o.eigen(out).noalias() = o.eigen(o.A) * o.eigen(o.x); }, o.cols);
}

void transposed_matrix_vector(benchmark::State& state) {
  operands o(state.range(0), state.range(0));
  compare(state, o.x, ricci::plan(o.x(j).assign(o.A(i, j) * o.y(i)), one_thread),
          [&](vector& out) { o.eigen(out).noalias() = o.eigen(o.A).transpose() * o.eigen(o.y); }, o.rows);
}

void symmetric_part(benchmark::State& state) {
  operands o(state.range(0), state.range(0));
  compare(state, o.C, ricci::plan(o.C(i, j).assign(o.A(i, j) + o.A(j, i)), one_thread),
          [&](matrix& out) { o.eigen(out).noalias() = o.eigen(o.A) + o.eigen(o.A).transpose(); }, 2);
}

void transposition(benchmark::State& state) {
  operands o(state.range(0), state.range(0));
  compare(state, o.C, ricci::plan(o.C(i, j).assign(o.A(j, i)), one_thread),
          [&](matrix& out) { o.eigen(out).noalias() = o.eigen(o.A).transpose(); }, 1);
}

void scaled_columns(benchmark::State& state) {
  operands o(state.range(0), state.range(0));
  compare(state, o.C, ricci::plan(o.C(i, j).assign(o.x(j) * o.A(i, j)), one_thread),
          [&](matrix& out) { o.eigen(out).noalias() = o.eigen(o.A) * o.eigen(o.x).asDiagonal(); }, 1);
}

void elementwise(benchmark::State& state) {
  operands o(state.range(0), state.range(0));
  compare(state, o.C, ricci::plan(o.C(i, j).assign(o.A(i, j) * o.B(i, j)), one_thread),
          [&](matrix& out) { o.eigen(out).noalias() = o.eigen(o.A).cwiseProduct(o.eigen(o.B)); }, 1);
}

void sum_of_columns(benchmark::State& state) {
  operands o(state.range(0), state.range(0));
  compare(state, o.x, ricci::plan(o.x(j).assign(ricci::sum(i, o.A(i, j))), one_thread),
          [&](vector& out) { o.eigen(out) = o.eigen(o.A).colwise().sum().transpose(); }, o.rows);
}

/// A tall matrix with itself, 16 columns.
void gram(benchmark::State& state) {
  operands o(state.range(0) * 64, 16);
  matrix G(16, 16);
  compare(state, G, ricci::plan(G(i, j).assign(o.A(k, i) * o.A(k, j)), one_thread),
          [&](matrix& out) { o.eigen(out).noalias() = o.eigen(o.A).transpose() * o.eigen(o.A); }, o.rows);
}

void product(benchmark::State& state) {
  operands o(state.range(0), state.range(0));
  compare(state, o.C, ricci::plan(o.C(i, j).assign(o.A(i, k) * o.B(k, j)), one_thread),
          [&](matrix& out) { o.eigen(out).noalias() = o.eigen(o.A) * o.eigen(o.B); }, o.cols);
}

/// C(i,j) = A(i,k) B(k,j) of sides that differ: few rows, few columns, short and long sums.
void oblong_product(benchmark::State& state) {
  const std::int64_t rows = state.range(0), cols = state.range(2), sums = state.range(3);
  operands a(rows, sums), b(sums, cols);
  matrix C(rows, cols);
  compare(state, C, ricci::plan(C(i, j).assign(a.A(i, k) * b.A(k, j)), one_thread),
          [&](matrix& out) { a.eigen(out).noalias() = a.eigen(a.A) * b.eigen(b.A); }, sums);
}

void oblongs(benchmark::internal::Benchmark* b) {
  constexpr std::int64_t shapes[][3] = {{512, 512, 512}, {2000, 2000, 2000}, {256, 1024, 1024}, {150, 150, 4000}, {64, 64, 4000},
                                        {4000, 24, 1000}, {24, 4000, 1000}, {1000, 10, 1000}, {2000, 100, 2000}, {1000, 1000, 64}, {1000, 1000, 24},
                                        {1, 2, 4000}, {1, 3, 4000}, {1, 8, 4000}, {1, 16, 4000}, {3, 3, 4000}, {8, 4, 4000}, {100, 3, 30}};
  for (const auto& [m, n, k] : shapes)
    for (std::int64_t peer : {0, 1}) b->Args({m, peer, n, k});
  b->ArgNames({"m", "", "n", "k"});
}

/// The sizes, each for ricci (0) and Eigen (1).
void both(benchmark::internal::Benchmark* b, std::int64_t large) {
  for (std::int64_t n : {std::int64_t{128}, large})
    for (std::int64_t peer : {0, 1}) b->Args({n, peer});
}
void matrices(benchmark::internal::Benchmark* b) { both(b, 4000); }
void products(benchmark::internal::Benchmark* b) { both(b, 1000); }

/// On lines and off them, in the second cache and out of it.
void transpositions(benchmark::internal::Benchmark* b) {
  for (std::int64_t n : {48, 120, 121, 200, 201, 500, 501, 1000, 1001, 4000, 4001})
    for (std::int64_t peer : {0, 1}) b->Args({n, peer});
}

BENCHMARK(matrix_vector)->Apply(matrices);
BENCHMARK(transposed_matrix_vector)->Apply(matrices);
BENCHMARK(symmetric_part)->Apply(matrices);
BENCHMARK(transposition)->Apply(transpositions);
BENCHMARK(scaled_columns)->Apply(matrices);
BENCHMARK(elementwise)->Apply(matrices);
BENCHMARK(sum_of_columns)->Apply(matrices);
BENCHMARK(gram)->Apply(matrices);
BENCHMARK(product)->Apply(products);
BENCHMARK(oblong_product)->Apply(oblongs);

}  // namespace

BENCHMARK_MAIN();
