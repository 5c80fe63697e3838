// What ricci costs around the arithmetic: tiny plans, remembered statements, planning itself.
#include <Eigen/Core>

#include <ricci/ricci.hpp>

#include "common.hpp"

using namespace ricci::labels;

namespace {

using matrix3 = ricci::tensor<double, 3, 3>;
using matrix = ricci::tensor<double, ricci::dynamic, ricci::dynamic>;

struct static_operands {
  matrix3 A, B, C;
  static_operands() { bench::fill(A.data(), 9, 1), bench::fill(B.data(), 9, 2); }
};

struct dynamic_operands {
  matrix A{3, 3}, B{3, 3}, C{3, 3};
  dynamic_operands() { bench::fill(A.data(), 9, 1), bench::fill(B.data(), 9, 2); }
};

/// Runs `work`, which writes c; c is observed so that nothing is left out.
template <class Work>
void repeat(benchmark::State& state, double* result, Work work) {
  for (auto _ : state) {
    work();
    benchmark::DoNotOptimize(result);
    benchmark::ClobberMemory();
  }
}

/// The arithmetic alone: what the others are compared with.
void static_3x3_eigen(benchmark::State& state) {
  static_operands x;
  using map = Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>;
  repeat(state, x.C.data(), [&] { map(x.C.data()).noalias() = map(x.A.data()) * map(x.B.data()); });
}

void static_3x3_plan_run(benchmark::State& state) {
  static_operands x;
  const auto plan = ricci::plan(x.C(i, j).assign(x.A(i, k) * x.B(k, j)));
  repeat(state, x.C.data(), [&] { plan.run(); });
}

void static_3x3_statement(benchmark::State& state) {
  static_operands x;
  repeat(state, x.C.data(), [&] { x.C(i, j) = x.A(i, k) * x.B(k, j); });
}

void dynamic_3x3_eigen(benchmark::State& state) {
  Eigen::MatrixXd A = Eigen::MatrixXd::Random(3, 3), B = A, C = A;
  repeat(state, C.data(), [&] { C.noalias() = A * B; });
}

void dynamic_3x3_plan_run(benchmark::State& state) {
  dynamic_operands x;
  const auto plan = ricci::plan(x.C(i, j).assign(x.A(i, k) * x.B(k, j)));
  repeat(state, x.C.data(), [&] { plan.run(); });
}

/// The plan is found again by the extents.
void dynamic_3x3_statement(benchmark::State& state) {
  dynamic_operands x;
  repeat(state, x.C.data(), [&] { x.C(i, j) = x.A(i, k) * x.B(k, j); });
}

/// A plan object for a program that was planned before.
void dynamic_3x3_plan_again(benchmark::State& state) {
  dynamic_operands x;
  repeat(state, x.C.data(), [&] { benchmark::DoNotOptimize(ricci::plan(x.C(i, j).assign(x.A(i, k) * x.B(k, j)))); });
}

/// Planning from nothing: the extents are new each time.
void planning_new_extents(benchmark::State& state) {
  std::int64_t n = 2;
  const matrix A(400, 400), B(400, 400);
  matrix C(400, 400);
  for (auto _ : state) {
    n = n < 399 ? n + 1 : 3;
    benchmark::DoNotOptimize(ricci::plan(C(i.in(0, n), j.in(0, n)).assign(A(i, k.in(0, n - 1)) * B(k, j))));
  }
}

BENCHMARK(static_3x3_eigen);
BENCHMARK(static_3x3_plan_run);
BENCHMARK(static_3x3_statement);
BENCHMARK(dynamic_3x3_eigen);
BENCHMARK(dynamic_3x3_plan_run);
BENCHMARK(dynamic_3x3_statement);
BENCHMARK(dynamic_3x3_plan_again);
BENCHMARK(planning_new_extents)->Iterations(390);

}  // namespace

BENCHMARK_MAIN();
