// What plans hold: old ones go before memory does, and where an allocation for one fails that is an error of ours.
#include <catch2/catch.hpp>

#include <atomic>
#include <memory>

#include <ricci/ricci.hpp>

#include "codegen/codegen.hpp"

using namespace ricci::labels;
using ricci::dynamic;

extern std::atomic<long> allocations_left;  // count_new.cpp
extern const bool allocations_are_counted;

namespace {

/// C(i, j) = A(k, i) B(k, j), 72 by 72.
ricci::program product(std::int64_t rows) {
  ricci::program p;
  p.labels = {{"k", rows}, {"i", 300}, {"j", 300}};
  p.slot_count = 3;
  ricci::statement s;
  const auto matrix = [](int slot, const char* name, int x, int y) {
    ricci::reference r;
    r.slot = slot, r.type = ricci::dtype::f64, r.name = name, r.axes = {{x, 300}, {y, 1}};
    return r;
  };
  s.left = matrix(0, "C", 1, 2);
  s.terms.push_back({-1, false, {matrix(1, "A", 0, 1), matrix(2, "B", 0, 2)}});
  p.statements.push_back(s);
  return p;
}

}  // namespace

TEST_CASE("plans with long lists of offsets are forgotten before they fill memory") {
  // A product of many rows: the engine lists them.
  constexpr std::int64_t rows = 1000000, most_bytes = ricci::detail::most_large_bytes;
  std::shared_ptr<const ricci::executable> first;
  std::int64_t bytes = 0;
  for (int n = 0; bytes <= most_bytes; ++n) {
    REQUIRE(n < 100);
    auto made = compile(product(rows + n));
    REQUIRE(ricci::detail::large_bytes(*made) > ricci::detail::most_large_bytes_elsewhere);
    bytes += ricci::detail::large_bytes(*made);
    if (!first) first = std::move(made);
    if (n < 2) CHECK(first.use_count() == 2);
  }
  CHECK(first.use_count() == 1);
}

TEST_CASE("the code of a plan counts as its lists do") {
  const std::size_t before = ricci::codegen::written_bytes();
  const auto made = compile(product(16));
  const auto written = static_cast<std::int64_t>(ricci::codegen::written_bytes() - before);
  CHECK((written > 1000 || ricci::codegen::best_target() == ricci::codegen::target::none));
  CHECK(ricci::detail::large_bytes(*made) >= written);
}

TEST_CASE("every allocation for a plan fails once") {
  ricci::tensor<double, dynamic, dynamic> A(30, 20), B(20, 25);
  ricci::tensor<double, dynamic, 3, 3, ricci::interleaved<4>> L(10);
  ricci::tensor<double, dynamic, 3, 3> M(10);
  ricci::tensor<std::int32_t, dynamic> dof(30);
  ricci::tensor<double, dynamic, dynamic> u(40, 20), C(30, 25), D(30, 20);
  A.fill(1), B.fill(2), L.fill(1), M.fill(2), u.fill(3);
  for (int n = 0; n < 30; ++n) dof(n) = n;
  int fails = 0;
  const auto try_all = [&](const auto& work) {
    for (long n = 0;; ++n) {
      bool failed = false;
      allocations_left = n;
      try {
        work();
      } catch (const ricci::error& e) {
        failed = true;
        allocations_left = -1;
        CHECK(e.code() == ricci::errc::no_memory);
      }
      allocations_left = -1;
      if (!failed) return;
      ++fails;
    }
  };
  try_all([&] { C(i, j) = A(i, k) * B(k, j); });
  CHECK(C(29, 24) == 40);
  try_all([&] { L(e, i, j) = L(e, i, k) * M(e, k, j); });
  CHECK(L(9, 2, 2) == 6);
  try_all([&] { D(i, j) = A(i, j) * u(dof(i), j); });
  CHECK(D(29, 19) == 3);
  try_all([&] { ricci::einsum_into(C, "ik,kj->ij", A, B); });
  CHECK(C(0, 0) == 40);
  CHECK((fails > 40 || !allocations_are_counted));
}
