// Products that are terms of sums: equal ones of other statements, and sums of more terms than one operation takes, in place.
#include <catch2/catch.hpp>

#include <complex>
#include <sstream>
#include <vector>

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

TEST_CASE("what is packed once for all blocks is not cut into tiles of different lengths") {
  // D does not depend on a, along which it is packed: a number for each lane.
  using C = std::complex<float>;
  constexpr std::int64_t na = 61, nb = 4, nc = 68;
  std::vector<C> A(na * 816), B(4425 * nb), D(2 * nc), E(na * 272 + 1);
  std::int64_t count = 0;
  for (auto* v : {&A, &B, &D, &E})
    for (C& x : *v) ++count, x = C(static_cast<float>(count * 7 % 5 - 2), static_cast<float>(count * 3 % 7 - 3));
  const auto vA = ricci::view(A.data(), {na, nb, nc}, {816, 204, 3}), vB = ricci::view(B.data(), {nc, na, nb}, {65, 1, 4425});
  const auto vD = ricci::view(D.data(), {nc, na}, {2, 0});
  const auto vE = ricci::view(E.data() + 1, {na, nc, nb}, {272, 4, 1});
  tensor<C, dynamic, dynamic> out(nb, na), M(nb, na);
  tensor<C, dynamic> F(na), G(nb);
  tensor<C> H;
  F.fill(C(1, 1)), G.fill(C(0, 1)), H.fill(1), M.fill(2);
  ricci::local<C> g;
  auto program = ricci::fuse(ricci::options{.threads = 1}, g(a, c, b).assign(conj(vA(a, b, c))),
                             out(b, a).assign(2 * vB(c, a, b) * vD(c, a) * conj(vE(a, c, b)) + sum(c, 3 * F(a) * conj(G(b)) * H() * g(a, c, b)) + 2 * conj(F(a)) * M(b, a)));
  program.run();
  std::int64_t wrong = 0;
  for (std::int64_t y = 0; y < nb; ++y)
    for (std::int64_t x = 0; x < na; ++x) {
      std::complex<double> sum(4, -4);
      for (std::int64_t z = 0; z < nc; ++z) {
        const auto at = [](const std::vector<C>& v, std::int64_t n) { return std::complex<double>(v[static_cast<std::size_t>(n)]); };
        sum += 2.0 * at(B, z * 65 + x + y * 4425) * at(D, 2 * z) * std::conj(at(E, 1 + x * 272 + z * 4 + y));
        sum += std::complex<double>(3, 3) * std::complex<double>(0, -1) * std::conj(at(A, x * 816 + y * 204 + z * 3));
      }
      wrong += std::complex<double>(out(y, x)) != sum;
    }
  CHECK(wrong == 0);
}
