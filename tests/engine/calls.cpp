// Plans whose steps are one kernel call each, and what of complex numbers only adds: no part is to spoil the other.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include <ricci/einsum/einsum.hpp>

#include "codegen/codegen.hpp"
#include "engine/bound.hpp"
#include "engine/single.hpp"
#include "random_sums.hpp"
#include "run_plan.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), not_a_number = std::numeric_limits<double>::quiet_NaN();

/// C = A B, with any of the three transposed.
case_builder product_of(const char* left, const char* first, const char* second, std::int64_t side) {
  case_builder c(dtype::f64);
  for (const char l : {'i', 'j', 'k'}) c.label(l, side);
  statement s;
  s.left = c.tensor("C", left);
  s.terms.emplace_back();
  s.terms[0].factors.push_back(c.tensor("A", first));
  if (second) s.terms[0].factors.push_back(c.tensor("B", second));
  c.p.statements.push_back(s);
  return c;
}

std::size_t calls_of(const case_builder& c) { return bound_of(*compile(c.p)).calls.size(); }

/// The same number, or none.
bool same(double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); }

/// The parts of the answer are those that real arrays give.
template <class T> void check_parts(const std::string& words, std::vector<std::int64_t> shape, std::complex<T> special) {
  ndarray<std::complex<T>> x(shape);
  ndarray<T> re(shape), im(shape);
  for (std::int64_t n = 0; n < x.size(); ++n) x.data()[n] = n == 0 ? special : std::complex<T>(T(n % 5 - 2), T(n % 3 - 1));
  for (std::int64_t n = 0; n < x.size(); ++n) re.data()[n] = x.data()[n].real(), im.data()[n] = x.data()[n].imag();
  const auto whole = einsum(words, x);
  const auto left = einsum(words, re), right = einsum(words, im);
  INFO(words << " " << shape[0] << " a side, " << name_of(dtype_of<std::complex<T>>) << ", " << special);
  for (std::int64_t n = 0; n < whole.size(); ++n) {
    REQUIRE(same(whole.data()[n].real(), left.data()[n]));
    REQUIRE(same(whole.data()[n].imag(), right.data()[n]));
  }
}

}  // namespace

TEST_CASE("small plans are calls of kernels, one after the other") {
  CHECK(calls_of(product_of("ij", "ik", "kj", 6)) == 1);
  CHECK(calls_of(product_of("ij", "ji", nullptr, 6)) == 1);
  CHECK(calls_of(product_of("", "i", "i", 30)) == 1);
  if (codegen::best_target() != codegen::target::none) CHECK(calls_of(product_of("ij", "ik", "jk", 8)) == 1);  // B is turned by a written kernel
  CHECK(calls_of(product_of("ij", "ik", "kj", 500)) == 0);  // tiles
}

TEST_CASE("such plans are right: transposed factors, scalars that only the run knows, several steps") {
  for (const char* second : {"kj", "jk"})
    for (const char* left : {"ij", "ji"})
      for (const std::int64_t side : {1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 31}) {
        case_builder c = product_of(left, "ik", second, side);
        c.p.statements[0].terms[0].scalar = c.scalar({-0.75, 0});
        c.p.statements[0].op = side % 2 == 0 ? update::add : update::assign;
        const auto expected = evaluate(c.p, 0, c.bind());
        const auto plan = compile(c.p);
        run(*plan, c.bind());
        INFO(left << " " << second << " " << side << "\n" << describe(*plan));
        REQUIRE(error_in_bounds(c.p, 0, c.bind(), expected, longest(c.p)) <= 1.0);
      }
}

TEMPLATE_TEST_CASE("infinities and NaN stay in their part where complex numbers are only moved or added", "", float, double) {
  using complex = std::complex<TestType>;
  for (const complex special : {complex(TestType(infinity), 2), complex(2, TestType(not_a_number)), complex(-3, -TestType(infinity))})
    for (const std::int64_t n : {1, 2, 3, 5, 8, 17, 40}) {
      check_parts<TestType>("i->i", {n}, special);
      check_parts<TestType>("i->", {n}, special);
      for (const char* words : {"ij->ji", "ij->i", "ij->j", "ij->", "ii->", "ii->i"}) check_parts<TestType>(words, {n, n}, special);
      for (const char* words : {"ijk->ik", "ijk->j", "ijk->ki", "iij->j", "ijj->i", "iij->"}) check_parts<TestType>(words, {n, n, n}, special);
    }
  check_parts<TestType>("i->", {1200007}, {TestType(infinity), 2});  // in parts
  check_parts<TestType>("ij->i", {3, 400003}, {TestType(infinity), 2});
}

TEST_CASE("added to what is infinite in one part") {
  for (const char* from : {"ij", "ji"})
    for (const std::int64_t n : {1, 3, 8, 20}) {
      case_builder c(dtype::c128);
      c.label('i', n), c.label('j', n);
      statement s;
      s.op = update::add;
      s.left = c.tensor("C", "i");
      s.terms.emplace_back();
      s.terms[0].factors.push_back(c.tensor("A", from));
      c.p.statements.push_back(s);
      for (std::int64_t m = 0; m < n; ++m) put(c.type, c.pointers[0], m, {infinity, 3});
      for (std::int64_t m = 0; m < n * n; ++m) put(c.type, c.pointers[1], m, {1, 2});
      const auto plan = compile(c.p);
      run(*plan, c.bind());
      INFO(from << " " << n << "\n" << describe(*plan));
      for (std::int64_t m = 0; m < n; ++m) CHECK(get(c.type, c.pointers[0], m) == std::complex<double>(infinity, 3 + 2.0 * static_cast<double>(n)));
    }
}

TEMPLATE_TEST_CASE("a term without factors is its coefficient", "", double, std::complex<float>, std::complex<double>) {
  for (const update op : {update::assign, update::add, update::subtract}) {
    program p;
    p.labels = {{"i", 7}};
    p.slot_count = 1;
    statement s;
    s.left.type = dtype_of<TestType>, s.left.name = "C", s.left.axes = {{0, 1}};
    s.op = op;
    s.terms.emplace_back();
    p.statements = {s};
    std::vector<TestType> c(7, TestType(4));
    void* pointers[1] = {c.data()};
    run(*compile(p), {pointers, nullptr});
    CHECK(c == std::vector<TestType>(7, TestType(op == update::assign ? 1 : op == update::add ? 5 : 3)));
  }
}
