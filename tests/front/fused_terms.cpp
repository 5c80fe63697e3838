// Products that are terms of sums: equal ones of other statements, and sums of more terms than one operation takes, in place.
#include <catch2/catch.hpp>

#include <sstream>

#include <ricci/ricci.hpp>

using ricci::dynamic;
using ricci::tensor;
using ricci::labels::a;
using ricci::labels::b;
using ricci::labels::c;
using ricci::labels::e;
using ricci::labels::i;
using ricci::labels::q;
using ricci::labels::r;

namespace {

template <class T>
bool all_are(const T& x, double value) {
  for (const auto& y : x)
    if (static_cast<double>(y) != value) return false;
  return true;
}

}  // namespace

TEMPLATE_TEST_CASE("a product that is a term of a local, and a statement of its own", "", float, double) {
  tensor<TestType, 4, 4> N;
  N.fill(0.5);
  tensor<TestType, dynamic, 4, 4> x(100), f(100), y(100), z(100);
  x.fill(1), f.fill(3);
  const auto product = N(q, a) * N(r, b) * x(e, a, b);  // 4
  for (const bool first : {true, false}) {
    ricci::local<TestType> g("g");
    if (first) ricci::fuse(g(e, q, r).assign(product - f(e, q, r)), y(e, q, r).assign(g(e, q, r)), z(e, q, r).assign(product)).run();
    else ricci::fuse(g(e, q, r).assign(product), y(e, q, r).assign(product - f(e, q, r)), z(e, q, r).assign(g(e, q, r))).run();
    CHECK(all_are(y, 1));
    CHECK(all_are(z, 4));
    y.fill(0), z.fill(0);
  }

  tensor<std::int32_t, dynamic, 4, 4> dof(100);
  for (int n = 0; n < 1600; ++n) dof.data()[n] = n;
  tensor<TestType, dynamic> v(1600);
  ricci::fuse(v(dof(e, q, r)).add(product - f(e, q, r)), z(e, q, r).assign(product)).run();
  CHECK(all_are(v, 1));
  CHECK(all_are(z, 4));
}

TEMPLATE_TEST_CASE("a sum of equal products in a local, and the product where it may share memory", "", float, double) {
  tensor<TestType, dynamic, 7, 7> x(161), y(161), z(161), out(161);
  x.fill(1), y.fill(2), z.fill(3);
  const auto head = ricci::view(z.data(), ricci::extents<7, 7>{});
  ricci::local<TestType> g;
  const auto product = x(a, b, c) * z(a, b, c) * y(a, b, c);
  ricci::fuse(g(a, b, c).assign(product + 2 * product), out(a, b, c).assign(g(a, b, c) * g(a, b, c)), head(c, b).add(product)).run();
  CHECK(all_are(out, 324));
  for (int n = 0; n < 161; ++n)
    for (int at = 0; at < 49; ++at) REQUIRE(z.data()[n * 49 + at] == (n == 0 ? TestType(3 + 6 * 161) : TestType(3)));
}

TEMPLATE_TEST_CASE("in place, more terms and factors than one operation takes", "", float, double) {
  for (const int n : {1, 100, 5000}) {
    tensor<TestType, dynamic> x(n), y(n);
    x.fill(2), y.fill(3);
    const auto t = abs(x(i)) * y(i);
    const auto four = t + t + t + t;
    x(i) = four + four + four + four + t;
    CHECK(all_are(x, 17 * 6));
    x.fill(2);
    x(i) += four + four + four + four + t;
    CHECK(all_are(x, 2 + 17 * 6));
    x.fill(2);
    x(i) -= four + four + four + four + four + four + four + four;
    CHECK(all_are(x, 2 - 32 * 6));
    x.fill(2), y.fill(1);
    const auto eight = abs(x(i)) * y(i) * y(i) * y(i) * y(i) * y(i) * y(i) * x(i);
    x(i) = eight + eight + eight + eight + eight + eight + eight;
    CHECK(all_are(x, 7 * 4));
  }
}

TEST_CASE("an interleaved tensor that a program reads before it writes it") {
  tensor<double, dynamic, 3> A(6);
  tensor<double, dynamic, 3, ricci::interleaved<4>> L(6);
  tensor<double, 3> m;
  A.fill(5), L.fill(2);
  ricci::fuse(m(a).add(sum(e, L(e, a))), L(e, a).assign(A(e, a))).run();
  CHECK(all_are(m, 12));
  CHECK(all_are(L, 5));
  CHECK_THROWS_AS(ricci::fuse(L(e, a).assign(A(e, a)), m(a).add(sum(e, L(e, a)))).run(), ricci::error);
}
