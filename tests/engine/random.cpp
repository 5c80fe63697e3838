// Random programs of every kind against the long-double reference.
#include <catch2/catch.hpp>

#include "random_program.hpp"
#include "reduced.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

void run_single(unsigned seed, int labels, int largest, int most_factors, int most_terms) {
  dice d{std::mt19937(seed)};
  case_builder c(any_type(d), seed);
  const std::string all = make_labels(c, d, d(0, labels), largest);
  statement s;
  const std::string left = subset(all, 55, d);
  s.left = c.tensor("C", left, d.chance(50) ? shuffled(left, d) : "", d.chance(80) ? 1 : 2);
  s.op = static_cast<update>(d(0, 2));
  const int terms = d(1, most_terms);
  for (int t = 0; t < terms; ++t) s.terms.push_back(random_term(c, left, all, d, most_factors));
  c.p.statements.push_back(s);
  const auto expected = evaluate(c.p, 0, c.bind());
  if (s.op == update::assign)  // what is assigned to is never read
    for (std::int64_t i = 0; i < c.sizes[0]; ++i) put(c.type, c.pointers[0], i, {std::nan(""), std::nan("")});
  const auto plan = compile(c.p);
  run(*plan, c.bind());
  INFO("seed " << seed << ", " << name_of(c.type) << "\n" << describe(*plan));
  REQUIRE(error_in_bounds(c.p, 0, c.bind(), expected, longest(c.p)) <= 1.0);
}

}  // namespace

TEST_CASE("products of two factors") {
  for (unsigned seed = 1; seed < 1 + seeds(1500); ++seed) run_single(seed, 5, 9, 2, 1);
}

TEST_CASE("products of two factors with larger extents") {
  for (unsigned seed = 10001; seed < 10001 + seeds(250); ++seed) run_single(seed, 4, 37, 2, 1);
}

TEST_CASE("sums of products of several factors") {
  for (unsigned seed = 20001; seed < 20001 + seeds(600); ++seed) run_single(seed, 6, 5, 5, 3);
}

TEST_CASE("nothing outside the left side is written") {
  for (unsigned seed = 30001; seed < 30001 + seeds(300); ++seed) {
    dice d{std::mt19937(seed)};
    case_builder c(any_type(d), seed);
    const std::string all = make_labels(c, d, d(1, 4), 11);
    statement s;
    const std::string left = subset(all, 70, d);
    s.left = c.tensor("C", left, shuffled(left, d), 3);
    s.terms.push_back(random_term(c, left, all, d, 3));
    c.p.statements.push_back(s);
    const std::size_t bytes = static_cast<std::size_t>(c.sizes[0]) * size_of(c.type);
    std::vector<char> before(c.memory[0].get(), c.memory[0].get() + bytes);
    run(*compile(c.p), c.bind());
    const std::size_t size = size_of(c.type);
    INFO("seed " << seed);
    for (std::size_t i = 0; i * size < bytes; ++i)  // only every third element belongs to C
      if (i % 3) REQUIRE(std::memcmp(&before[i * size], c.memory[0].get() + i * size, size) == 0);
  }
}
