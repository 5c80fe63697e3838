// What the words of an einsum mean, and what is refused with which sentence.
#include <catch2/catch.hpp>

#include <ricci/core/error.hpp>
#include <ricci/einsum/einsum.hpp>

#include <complex>

using ricci::errc;
using ricci::ndarray;
using extents = std::vector<std::int64_t>;

namespace {

ndarray<double> counted(extents e, double first = 0) {
  ndarray<double> x(std::move(e));
  for (double& v : x) v = first++;
  return x;
}

ndarray<double> of(extents e, const std::vector<double>& values) {
  ndarray<double> x(std::move(e));
  REQUIRE(x.size() == static_cast<std::int64_t>(values.size()));
  std::copy(values.begin(), values.end(), x.begin());
  return x;
}

template <class... X>
void refused(errc code, const std::vector<std::string>& parts, const ricci::options& how, std::string_view words, const X&... x) {
  INFO(words);
  try {
    ricci::einsum(how, words, x...);
    FAIL("accepted");
  } catch (const ricci::error& e) {
    CHECK(e.code() == code);
    for (const std::string& part : parts) CHECK_THAT(e.what(), Catch::Contains(part));
  }
}

template <class... X>
void refused(errc code, const std::vector<std::string>& parts, std::string_view words, const X&... x) {
  refused(code, parts, ricci::options{}, words, x...);
}

}  // namespace

TEST_CASE("explicit and implicit mode") {
  const auto a = counted({2, 3}), b = counted({3, 2}, 1);
  const auto product = of({2, 2}, {13, 16, 40, 52});
  CHECK(ricci::einsum("ij,jk->ik", a, b) == product);
  CHECK(ricci::einsum("ij,jk", a, b) == product);
  CHECK(ricci::einsum(" i j , j k -> i k ", a, b) == product);
  CHECK(ricci::einsum("ba", a) == ricci::einsum("ba->ab", a));
  CHECK(ricci::einsum("aB", a) == ricci::einsum("aB->Ba", a));  // upper case before lower
  CHECK(ricci::einsum("ij->", a)() == 15);
  CHECK(ricci::einsum("ij->j", a) == of({3}, {3, 5, 7}));
}

TEST_CASE("diagonals, traces, scalars") {
  const auto a = counted({3, 3});
  const ndarray<double> two = of({}, {2});
  CHECK(ricci::einsum("ii", a)() == 12);
  CHECK(ricci::einsum("ii->i", a) == of({3}, {0, 4, 8}));
  CHECK(ricci::einsum("", two) == two);
  CHECK(ricci::einsum(",->", two, two)() == 4);
  CHECK(ricci::einsum(",ii->i", two, a) == of({3}, {0, 8, 16}));
}

TEST_CASE("ellipsis and broadcasting") {
  const auto a = counted({4, 2, 3}), b = counted({1, 3, 2}, 1);
  const auto c = ricci::einsum("...ij,...jk->...ik", a, b);
  REQUIRE(c.extents() == extents{4, 2, 2});
  for (int e = 0; e < 4; ++e)
    for (int i = 0; i < 2; ++i)
      for (int k = 0; k < 2; ++k) {
        double sum = 0;
        for (int j = 0; j < 3; ++j) sum += a(e, i, j) * b(0, j, k);
        CHECK(c(e, i, k) == sum);
      }
  CHECK(ricci::einsum("i...->...", a) == ricci::einsum("ijk->jk", a));
  CHECK(ricci::einsum("i,i->i", counted({3}), of({1}, {5})) == of({3}, {0, 5, 10}));
  CHECK(ricci::einsum("i,i", counted({0}), of({1}, {5}))() == 0);  // 1 gives way to 0
  CHECK(ricci::einsum("ii,i->i", of({1, 1}, {2}), counted({3})) == of({3}, {0, 2, 4}));
  CHECK(ricci::einsum("i->i...", counted({3})) == counted({3}));
}

TEST_CASE("extents of 0") {
  CHECK(ricci::einsum("ij,jk->ik", counted({2, 0}), counted({0, 3})) == of({2, 3}, {0, 0, 0, 0, 0, 0}));
  CHECK(ricci::einsum("ij,jk->ik", counted({0, 2}), counted({2, 3})).extents() == extents{0, 3});
}

TEST_CASE("refused words name what is wrong") {
  const auto a = counted({2, 3}), b = counted({4, 5}), v = counted({2});
  refused(errc::bad_extent, {"'j'", "extent 3", "operand 0", "4", "operand 1"}, "ij,jk->ik", a, b);
  refused(errc::bad_extent, {"'i'", "2 and 3", "operand 0"}, "ii", a);
  refused(errc::bad_extent, {"'i'", "1 and 3", "operand 0"}, "ii->i", counted({1, 3}));  // 1 gives way between operands only
  refused(errc::bad_extent, {"'b'", "4 and 6"}, "aabcb,abc", counted({3, 3, 4, 5, 6}), counted({3, 4, 5}));
  refused(errc::bad_label, {"label z"}, "ij->iz", a);
  refused(errc::bad_label, {"label i", "twice"}, "ij->iji", a);
  refused(errc::bad_subscripts, {"3 operands", "2"}, "ij,jk,", a, b);
  refused(errc::bad_subscripts, {"1 operands", "2"}, "ij", a, b);
  refused(errc::bad_subscripts, {"operand 0", "rank 2", "1 axes", "'...'"}, "i", a);
  refused(errc::bad_subscripts, {"operand 0", "rank 1", "2 axes"}, "ij...", v);
  refused(errc::bad_subscripts, {"'.'", "operand 0"}, "i..j", a);
  refused(errc::bad_subscripts, {"'.'", "operand 0"}, ". ..", a);
  refused(errc::bad_subscripts, {"two ellipses", "operand 0"}, "...i...", a);
  refused(errc::bad_subscripts, {"two ellipses", "result"}, "...i->...i...", a);
  refused(errc::bad_subscripts, {"'-'"}, "ij- >i", a);
  refused(errc::bad_subscripts, {"'%'", "operand 0"}, "i%j", a);
  refused(errc::bad_subscripts, {"','", "result"}, "ij->i,", a);
  refused(errc::bad_subscripts, {"code 9"}, "ij\t", a);
  refused(errc::bad_subscripts, {"no '...'"}, "...j->j", a);
  CHECK_THROWS_AS(ricci::einsum("", std::vector<ricci::ndview<const double>>{}), ricci::error);
}

TEST_CASE("a number of threads is not negative") {
  refused(errc::bad_argument, {"options::threads is -1"}, ricci::options{.threads = -1}, "ij,jk->ik", counted({2, 3}), counted({3, 2}));
  refused(errc::bad_argument, {"options::threads is -1"}, ricci::options{.threads = -1}, "ij->ji", counted({2, 0}));
}

TEST_CASE("labels as numbers") {
  const auto a = counted({2, 3}), b = counted({3, 2}, 1);
  const std::vector<ricci::ndview<const double>> views = {a.view(), b.view()};
  CHECK(ricci::einsum<double>({{1000, 7}, {7, 3}}, {1000, 3}, views) == ricci::einsum("ij,jk->ik", a, b));
  CHECK(ricci::einsum<double>({{1000, 7}, {7, 3}}, views) == ricci::einsum("ij,jk->ki", a, b));
  CHECK(ricci::einsum<double>({{ricci::ellipsis, 7}, {7, 3}}, {3, ricci::ellipsis}, views) == ricci::einsum("ij,jk->ki", a, b));
  ndarray<double> out({2, 2});
  ricci::einsum_into(out, {{1000, 7}, {7, 3}}, {1000, 3}, views);
  CHECK(out == ricci::einsum("ij,jk->ik", a, b));
  CHECK_THROWS_AS(ricci::einsum_into(out, {{0, 1}, {1, 2}}, {0}, views), ricci::error);
  CHECK_THROWS_AS(ricci::einsum<double>({{0, 1}, {1, -2}}, views), ricci::error);
  CHECK_THROWS_AS(ricci::einsum<double>({{0, 1}}, views), ricci::error);
}

TEST_CASE("a chain of more labels than letters") {
  const int count = 200;
  const ndarray<double> m = of({2, 2}, {1, 1, 0, 1});  // its power has the exponent at the upper right
  std::vector<std::vector<int>> labels;
  std::vector<ricci::ndview<const double>> views;
  for (int t = 0; t < count; ++t) labels.push_back({t, t + 1}), views.push_back(m.view());
  CHECK(ricci::einsum<double>(labels, {0, count}, views) == of({2, 2}, {1, count, 0, 1}));
}
