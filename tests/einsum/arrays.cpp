// ndarray and ndview; results into memory that is given, overlaps, element types.
#include <catch2/catch.hpp>

#include <ricci/core/error.hpp>
#include <ricci/einsum/einsum.hpp>

#include <cmath>
#include <limits>
#include <sstream>

using ricci::ndarray;
using ricci::ndview;

namespace {

template <class T>
ndarray<T> counted(std::vector<std::int64_t> e) {
  ndarray<T> x(std::move(e));
  float next = 0;
  for (T& v : x) v = T(next++);
  return x;
}

}  // namespace

TEST_CASE("arrays own zeroed, aligned memory") {
  ndarray<double> a({2, 3, 4});
  CHECK(a.rank() == 3);
  CHECK(a.size() == 24);
  CHECK(a.strides() == std::vector<std::int64_t>{12, 4, 1});
  CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 64 == 0);
  for (const double x : a) CHECK(x == 0);
  a(1, 2, 3) = 5;
  CHECK(a.data()[23] == 5);
  const ndarray<double> b = a;
  CHECK(b == a);
  a(0, 0, 0) = 1;
  CHECK_FALSE(b == a);
  CHECK_FALSE(ndarray<double>({6}) == ndarray<double>({2, 3}));
  CHECK(a == a.view());
  CHECK(std::as_const(a).view() == a);
  CHECK(b != a.view());
  CHECK_THROWS_AS(ndarray<double>({2, -1}), ricci::error);
  CHECK_THROWS_AS(ndarray<double>({std::int64_t{1} << 40, std::int64_t{1} << 40}), ricci::error);
  CHECK(ndarray<double>({std::int64_t{1} << 40, std::int64_t{1} << 40, 0}).size() == 0);
}

TEST_CASE("a moved-from array has no elements") {
  auto a = counted<double>({2, 3});
  const auto b = std::move(a);
  CHECK(a.size() == 0);
  a.fill(1);
  for (const double x : a) CHECK(x == 2);
  CHECK(a == ndarray<double>(a));
  CHECK_FALSE(a == ndarray<double>());
  CHECK_FALSE(ndarray<double>() == a);
  CHECK_THROWS_AS(ricci::einsum("...->...", a), ricci::error);
  auto c = b;
  auto& same = c;
  c = std::move(same);
  CHECK(c == b);
  c = a;
  CHECK(c.size() == 0);
  a = b;
  CHECK(a == counted<double>({2, 3}));
}

TEST_CASE("arrays print") {
  std::ostringstream out;
  out << counted<float>({2, 3}) << ' ' << ndarray<double>() << ' ' << ndarray<double>({0});
  CHECK(out.str() == "[[0, 1, 2],\n [3, 4, 5]] 0 []");
  std::ostringstream nothing;
  nothing << ndview<double>(nullptr, {2, 0}) << ' ' << ndarray<float>({std::int64_t{1} << 50, 3, 0}) << ' ' << ndview<double>(nullptr, {1});
  CHECK(nothing.str() == "[] [] (no host memory)");  // as NumPy prints
}

TEST_CASE("views have any strides") {
  auto a = counted<double>({3, 4});
  const ndview<double> transposed(a.data(), {4, 3}, {1, 4});
  CHECK(ricci::einsum("ij->ji", transposed) == a);
  const ndview<double> backwards(a.data() + 11, {12}, {-1});
  const auto turned = ricci::einsum("i->i", backwards);
  for (int i = 0; i < 12; ++i) CHECK(turned(i) == 11 - i);
  const ndview<double> same(a.data() + 5, {6}, {0});
  CHECK(ricci::einsum("i->", same)() == 30);
  CHECK_THROWS_AS((ndview<double>(a.data(), {3, 4}, {1})), ricci::error);
}

TEST_CASE("results go where they are told") {
  const auto a = counted<double>({3, 4}), b = counted<double>({4, 5});
  const auto wanted = ricci::einsum("ij,jk->ik", a, b);
  std::vector<double> memory(3 * 5 * 2 + 2, std::numeric_limits<double>::quiet_NaN());
  ricci::einsum_into(ndview<double>(memory.data() + 1, {3, 5}, {2, 6}), "ij,jk->ik", a, b);
  int written = 0;
  for (std::size_t m = 0; m < memory.size(); ++m) written += !std::isnan(memory[m]);
  CHECK(written == 15);
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 5; ++k) CHECK(memory[static_cast<std::size_t>(1 + 2 * i + 6 * k)] == wanted(i, k));
  ndarray<double> wrong({3, 4});
  CHECK_THROWS_AS(ricci::einsum_into(wrong, "ij,jk->ik", a, b), ricci::error);
  CHECK(wrong == ndarray<double>({3, 4}));
}

TEST_CASE("operands are read before the result changes") {
  for (const char* const words : {"ij->ji", "ij,jk->ik", "ij,kj->ki"}) {
    INFO(words);
    auto a = counted<double>({5, 5});
    const bool two = std::string(words).find(',') != std::string::npos;
    const auto wanted = two ? ricci::einsum(words, a, a) : ricci::einsum(words, a);
    if (two) ricci::einsum_into(a, words, a, a);
    else ricci::einsum_into(a, words, a);
    CHECK(a == wanted);
  }
  auto line = counted<double>({10});
  ricci::einsum_into(ndview<double>(line.data() + 1, {9}), "i->i", ndview<double>(line.data(), {9}));
  for (int i = 1; i < 10; ++i) CHECK(line(i) == i - 1);
  const std::int64_t much = std::int64_t{1} << 40;  // of an array without elements, which overlaps nothing
  ndarray<double> none({0, much, much});
  ricci::einsum_into(line, "ijk,l->l", none, line);
  for (int i = 0; i < 10; ++i) CHECK(line(i) == 0);
  ricci::einsum_into(none, "ijk->ijk", none);
}

TEMPLATE_TEST_CASE("every element type", "", float, double, std::complex<float>, std::complex<double>, ricci::half, ricci::bfloat16) {
  const auto a = counted<TestType>({3, 4}), b = counted<TestType>({4, 2});
  const auto c = ricci::einsum("ij,jk->ik", a, b);
  const float wanted[] = {28, 34, 76, 98, 124, 162};
  for (int e = 0; e < 6; ++e) CHECK(c.data()[e] == TestType(wanted[e]));
}

TEST_CASE("small floats are summed in float") {
  ndarray<ricci::half> ones({4096});
  ones.fill(ricci::half(1.0f));
  CHECK(static_cast<float>(ricci::einsum("i->", ones)()) == 4096);
  ndarray<ricci::bfloat16> x({1000});
  x.fill(ricci::bfloat16(1.0f));
  CHECK(static_cast<float>(ricci::einsum("i,i", x, x)()) == 1000);
}

TEST_CASE("equal calls give equal results, remembered or not") {
  const auto a = counted<double>({3, 4}), b = counted<double>({4, 5}), d = counted<double>({5, 4});
  const auto first = ricci::einsum("ij,jk->ik", a, b);
  for (int again = 0; again < 3; ++again) {
    CHECK(ricci::einsum("ij,jk->ik", a, b) == first);
    CHECK_FALSE(ricci::einsum("ij,kj->ik", a, d) == first);
    CHECK_THROWS_AS(ricci::einsum("ij,jk->ik", a, d), ricci::error);
  }
}

TEST_CASE("sums over more turned axes than a kernel takes") {
  const std::vector<std::int64_t> twos(16, 2);
  ricci::ndarray<double> A(twos), squares(twos);
  int x = 0;
  for (double& value : A) value = (x = (x * 7 + 3) % 11) - 5;
  for (std::int64_t n = 0; n < A.size(); ++n) squares.data()[n] = A.data()[n] * A.data()[n];
  const auto turned = ricci::einsum("abcdefghijklmnop->lbpanodcigmfjkeh", A);
  CHECK(ricci::einsum("abcdefghijklmnop,lbpanodcigmfjkeh->ab", A, turned) == ricci::einsum("abcdefghijklmnop->ab", squares));
}
