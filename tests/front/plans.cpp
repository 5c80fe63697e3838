// Plans: costs known at compile time, running again, text.
#include <catch2/catch.hpp>

#include <omp.h>

#include <sstream>
#include <thread>
#include <type_traits>

#include "helpers.hpp"

using ricci::labels::e;
using ricci::labels::i;
using ricci::labels::j;
using ricci::labels::k;
using ricci::labels::l;
using front::count_up;
using ricci::dynamic;
using ricci::tensor;

TEST_CASE("flops and bytes are constants where extents are static") {
  tensor<double, 3, 4> A;
  tensor<double, 4, 5> B;
  tensor<double, 3, 5> C;
  const auto p = ricci::plan(C(i, j).assign(A(i, k) * B(k, j)));
  static_assert(p.flops() == 2 * 3 * 4 * 5);
  static_assert(p.bytes() == 8 * (12 + 20 + 15));
  const auto added = ricci::plan(C(i, j).add(A(i, k) * B(k, j)));
  static_assert(added.bytes() == 8 * (12 + 20 + 2 * 15));
  const auto outer = ricci::plan(C(i.in(0, 2), j).assign(A(i, 0) * B(1, j)));
  static_cast<void>(outer);
  tensor<std::complex<double>, 10, 10> X, Y, Z;
  const auto complex = ricci::plan(Z(i, j).assign(X(i, k) * Y(k, j)));
  static_assert(complex.flops() == 8 * 1000);
  const auto moved = ricci::plan(Z(i, j).assign(X(j, i)));
  static_assert(moved.flops() == 0);
}

TEST_CASE("a plan that was moved from runs") {
  const auto check = [](auto plan, auto& result) {
    const auto expected = result;
    auto taken = std::move(plan), assigned = taken;
    assigned = std::move(plan);
    for (const auto* p : {&plan, &taken, &assigned}) {
      result.fill(0);
      p->run();
      CHECK(result == expected);
      std::ostringstream text;
      text << *p;
      CHECK(text.str().size() > 100);
      CHECK(p->flops() == taken.flops());
    }
  };
  tensor<double, dynamic, dynamic> A(20, 20), B(20, 20);
  tensor<double, 2, 2> x, y;
  tensor<double, dynamic, 3, ricci::interleaved<8>> z(9), w(9);
  tensor<int, 20> table;
  count_up(A), count_up(x), count_up(z);
  B(i, j) = A(i, k) * A(k, j);
  check(ricci::plan(B(i, j).assign(A(i, k) * A(k, j))), B);
  y(i, j) = x(i, k) * x(k, j);
  check(ricci::plan(y(i, j).assign(x(i, k) * x(k, j))), y);
  w(e, i) = 2 * z(e, i);
  check(ricci::plan(w(e, i).assign(2 * z(e, i))), w);
  B(i, j) = A(table(i), j);
  check(ricci::plan(B(i, j).assign(A(table(i), j))), B);
}

TEST_CASE("the best order of several factors is counted") {
  tensor<double, 2, 100> A;
  tensor<double, 100, 3> B;
  tensor<double, 3, 50> C;
  tensor<double, 2, 50> D;
  const auto p = ricci::plan(D(i, j).assign(A(i, k) * B(k, l) * C(l, j)));
  static_assert(p.flops() == 2.0 * (2 * 100 * 3 + 2 * 3 * 50));
  count_up(A), count_up(B), count_up(C);
  p.run();
  double expected = 0;
  for (int x = 0; x < 100; ++x)
    for (int y = 0; y < 3; ++y) expected += A(1, x) * B(x, y) * C(y, 7);
  CHECK(D(1, 7) == expected);
}

namespace {

/// Two plans of one statement with static and with dynamic extents say the same.
template <class Static, class Dynamic>
void cost_the_same(const Static&, const Dynamic& b, double flops, double elements) {
  constexpr double at_compile_time = Static::flops();
  CHECK(at_compile_time == flops);
  CHECK(b.flops() == flops);
  CHECK(Static::bytes() == elements * 8);
  CHECK(b.bytes() == elements * 8);
}

}  // namespace

TEST_CASE("flops and bytes are the same for static and dynamic extents") {
  tensor<double, 8, 8> A, B, C;
  tensor<double, dynamic, dynamic> a(8, 8), b(8, 8), c(8, 8);
  tensor<double, 8> x, y;
  tensor<double, dynamic> u(8), w(8);
  tensor<double> s, t;
  const auto p = [](const auto&... statements) { return ricci::fuse(statements...); };
  cost_the_same(p(C(i, j).assign(2 * A(i, j) - B(i, j))), p(c(i, j).assign(2 * a(i, j) - b(i, j))), 0, 3 * 64);
  cost_the_same(p(x(i).assign(sum(j, A(i, j)))), p(u(i).assign(sum(j, a(i, j)))), 64, 72);
  cost_the_same(p(s().assign(A(i, i))), p(t().assign(a(i, i))), 8, 9);
  cost_the_same(p(x(i).assign(sqrt(x(i)))), p(u(i).assign(sqrt(u(i)))), 0, 16);
  cost_the_same(p(x(i).assign(x(i) / y(i))), p(u(i).assign(u(i) / w(i))), 16, 24);
  cost_the_same(p(C(i, j).add(A(i, k) * A(k, j))), p(c(i, j).add(a(i, k) * a(k, j))), 1024, 4 * 64);
  cost_the_same(p(x(i).assign(x(i) * y(i) * sum(k, C(i, k)))), p(u(i).assign(u(i) * w(i) * sum(k, c(i, k)))), 16 + 16 + 64, 8 + 16 + 64);
  cost_the_same(p(x(i).assign(y(i) * y(i)), y(i).assign(x(i) + x(i))), p(u(i).assign(w(i) * w(i)), w(i).assign(u(i) + u(i))), 16, 48);
  tensor<double, dynamic, 8, ricci::interleaved<4>> z(8);
  CHECK(ricci::plan(z(i, j).assign(a(i, k) * z(k, j))).flops() == 1024);
  // Eight factors, as in the README.
  tensor<double, 5, 4> E;
  tensor<double, dynamic, dynamic> f(5, 4);
  tensor<double, 6, 5, 5, 5> D;
  tensor<double, dynamic, 5, 5, 5> d(6);
  tensor<double, 6, 4, 4, 4> U;
  tensor<double, dynamic, 4, 4, 4> v(6);
  const double each = 2 * 6 * (5 * 64 + 25 * 16 + 125 * 4);
  using ricci::labels::m, ricci::labels::n, ricci::labels::o, ricci::labels::q, ricci::labels::r;
  constexpr auto s_ = ricci::labels::s;
  cost_the_same(p(U(e, m, n, o).assign(E(q, m) * E(r, n) * E(s_, o) * D(e, q, r, s_) * E(q, i) * E(r, j) * E(s_, k) * U(e, i, j, k))),
                p(v(e, m, n, o).assign(f(q, m) * f(r, n) * f(s_, o) * d(e, q, r, s_) * f(q, i) * f(r, j) * f(s_, k) * v(e, i, j, k))),
                2 * each + 2 * 6 * 125, 6 * 20 + 2 * 6 * 64 + 6 * 125);
}

TEST_CASE("a plan runs as often as wanted, on the elements of the moment") {
  tensor<double, dynamic, dynamic> A(20, 20), B(20, 20), C(20, 20);
  tensor<double, 3, 3> a, c;
  count_up(A), B.fill(1), count_up(a);
  const auto big = ricci::plan(C(i, j).assign(A(i, k) * B(k, j)));
  const auto tiny = ricci::plan(c(i, j).assign(a(j, i)));
  for (int round = 0; round < 3; ++round) {
    big.run(), tiny.run();
    double sum = 0;
    for (int x = 0; x < 20; ++x) sum += A(2, x);
    CHECK(C(2, 5) == sum);
    CHECK(c(0, 2) == a(2, 0));
    A(2, 3) += 10, a(2, 0) += 5;
  }
  CHECK(big.flops() >= 0);
  CHECK(big.bytes() >= 0);
}

TEST_CASE("a plan as text") {
  tensor<double, 3, 3> a, b, c;
  tensor<double, 30, 30> A, B, C;
  std::ostringstream tiny, big;
  tiny << ricci::plan(c(i, j).assign(a(i, k) * b(k, j)));
  big << ricci::plan(C(i, j).assign(A(i, k) * B(k, j)));
  CHECK_THAT(tiny.str(), Catch::Contains("54 flops"));
  CHECK(!big.str().empty());
}

TEST_CASE("a plan has the names of its locals") {
  tensor<double, dynamic, 4> x(50), y(50), z(50);
  tensor<double, 4, 4> B;
  const auto text_of = [&](const ricci::local<double>& g, const ricci::local<double>& h) {
    std::ostringstream text;
    text << ricci::fuse(g(e, i).assign(B(i, j) * x(e, j)), h(e, i).assign(y(e, i) * g(e, i)), z(e, i).assign(B(j, i) * h(e, j)));
    return text.str();
  };
  const std::string named = text_of(ricci::local<double>("values"), ricci::local<double>());
  CHECK(named.find("values(e,i) = A(i,j) * B(e,j)\n") != named.npos);
  CHECK(named.find("local2(e,i) = D(e,i) * values(e,i)\n") != named.npos);
  const std::string twice = text_of(ricci::local<double>("values"), ricci::local<double>("values"));
  CHECK(twice.find("values") == twice.npos);  // it would not tell them apart
  CHECK(twice.find("local2(e,i) = D(e,i) * local1(e,i)\n") != twice.npos);
}

TEST_CASE("what is inlined at the call") {
  tensor<double, 4, 4> A, B, C;
  tensor<double, 5, 5> D, E, F;
  tensor<double, dynamic, 4, 4> G(10);
  tensor<double, 4, 4> H;
  CHECK(front::is_inlined(C(i, j).assign(A(i, k) * B(k, j))));
  CHECK(!front::is_inlined(F(i, j).assign(D(i, k) * E(k, j))));
  CHECK(front::is_inlined(H(i, j).assign(G(3, i, k) * G(4, k, j))));
  CHECK(!front::is_inlined(G(e, i, j).assign(G(e, j, i))));
  tensor<double, 6, 6> six, sixth;
  tensor<double, 7, 7> seven, seventh;
  CHECK(front::is_inlined(six(i, j).assign(sixth(j, i))));
  CHECK(!front::is_inlined(seven(i, j).assign(seventh(j, i))));
  CHECK(!front::is_inlined(seven(i, 0).assign(seventh(i, j) * seventh(j, 0))));
  tensor<double, 16> short_one;
  tensor<double, 17> long_one;
  tensor<double> sum;
  CHECK(front::is_inlined(sum().assign(short_one(i) * short_one(i))));
  CHECK(!front::is_inlined(sum().assign(long_one(i) * long_one(i))));
  tensor<std::complex<double>, 2, 2> c2;
  tensor<std::complex<double>, 3, 3> c3;
  CHECK(front::is_inlined(c2(i, j).add(c2(i, k) * c2(k, j))));
  CHECK(!front::is_inlined(c3(i, j).add(c3(i, k) * c3(k, j))));
  count_up(G);
  const auto before = G;
  for (int x = 0; x < 9; ++x) {
    G(x, i, j) = G(x, i, k) * G(x + 1, k, j);
    double expected = 0;
    for (int y = 0; y < 4; ++y) expected += before(x, 1, y) * before(x + 1, y, 2);
    CHECK(G(x, 1, 2) == expected);
  }
}

TEST_CASE("names, labels and scalars of a lowered program") {
  tensor<double, 20, 30> A;
  tensor<double, 20> y, x;
  const auto p = front::program_of(y(i).subtract(3 * A(i, k.in(2, 7)) * A(j, k) * x(j) - 2 * y(i)));
  REQUIRE(p.labels.size() == 3);
  CHECK(p.labels[1].name == "k");
  CHECK(p.labels[1].extent == 5);
  CHECK(p.scalar_count == 2);
  CHECK(p.slot_count == 5);
  REQUIRE(p.statements.size() == 1);
  CHECK(p.statements[0].op == ricci::update::subtract);
  REQUIRE(p.statements[0].terms.size() == 2);
  CHECK(p.statements[0].terms[0].scalar == 0);
  CHECK(p.statements[0].terms[1].negate);
  CHECK(p.statements[0].terms[1].factors[0].name == "C");
}

TEST_CASE("a plan that another thread runs for the first time adds once") {
  tensor<double, 5> x, sums;
  tensor<double, dynamic, dynamic> A(200, 300), B(200, 300), C(200, 200);  // large enough for a team, each packs B
  x.fill(1), A.fill(1), B.fill(2);
  const auto plan = ricci::fuse(sums(l).add(x(l)), C(i, j).assign(A(i, k) * B(j, k)));
  std::thread([&] {
    omp_set_num_threads(4);
    plan.run();
  }).join();
  CHECK(sums(0) == 1);
  CHECK(C(199, 199) == 600);
}

namespace {

template <class E>
constexpr bool is_only_copied = std::is_copy_constructible_v<E> && !std::is_copy_assignable_v<E> && !std::is_move_assignable_v<E>;

}  // namespace

TEST_CASE("statements and expressions are copied, not assigned") {
  tensor<double, 3> A, B, C;
  A.fill(1), B.fill(2), C.fill(3);
  const auto product = A(i) * B(i);
  const auto scaled = 2 * A(i);
  static_assert(is_only_copied<std::remove_const_t<decltype(C(i).assign(A(i) * B(i)))>>);
  static_assert(is_only_copied<std::remove_const_t<decltype(product)>>);
  static_assert(is_only_copied<std::remove_const_t<decltype(scaled)>>);
  static_assert(is_only_copied<decltype(A(i) + B(i))>);
  static_assert(is_only_copied<decltype(-A(i))>);
  static_assert(is_only_copied<decltype(conj(A(i)))>);
  static_assert(is_only_copied<decltype(sqrt(A(i)))>);
  static_assert(is_only_copied<decltype(max(A(i), B(i)))>);
  static_assert(is_only_copied<decltype(sum(i, A(i)))>);
  static_assert(is_only_copied<decltype(A(i).on(ricci::stream()))>);
  ricci::local<double> g;
  static_assert(is_only_copied<decltype(g(i))>);
  const auto copy = C(i).assign(product);
  ricci::plan(copy).run();
  CHECK((C(2) == 2 && A(2) == 1 && B(2) == 2));
}
