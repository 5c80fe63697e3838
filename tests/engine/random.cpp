// Random programs of every kind against the long-double reference.
#include <catch2/catch.hpp>

#include <algorithm>

#include "build_program.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

struct dice {
  std::mt19937 rng;
  int operator()(int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); }
  bool chance(int percent) { return (*this)(1, 100) <= percent; }
};

std::string shuffled(std::string s, dice& d) {
  std::shuffle(s.begin(), s.end(), d.rng);
  return s;
}

std::string subset(const std::string& of, int percent, dice& d) {
  std::string s;
  for (char c : of)
    if (d.chance(percent)) s += c;
  return shuffled(s, d);
}

dtype any_type(dice& d) { return static_cast<dtype>(d(0, dtype_count - 1)); }

/// Every label of the left side in some factor; the other labels summed.
product random_term(case_builder& c, const std::string& left, const std::string& all, dice& d, int most_factors) {
  product t;
  const int factors = d(1, most_factors);
  std::vector<std::string> labels(factors);
  for (auto& l : labels) l = subset(all, factors < 3 ? 60 : 40, d);
  for (char l : left) {
    bool present = false;
    for (const auto& f : labels) present = present || f.find(l) != std::string::npos;
    if (!present) labels[d(0, factors - 1)] += l;
  }
  for (int f = 0; f < factors; ++f) {
    reference r = c.tensor(std::string(1, static_cast<char>('A' + f)), labels[f], d.chance(50) ? shuffled(labels[f], d) : "",
                           d.chance(80) ? 1 : d(2, 3));
    r.conj = d.chance(30);
    t.factors.push_back(r);
  }
  t.negate = d.chance(20);
  if (d.chance(40)) t.scalar = c.scalar({d(-20, 20) / 8.0, d(-20, 20) / 8.0});
  return t;
}

std::string make_labels(case_builder& c, dice& d, int count, int largest) {
  std::string all;
  for (int l = 0; l < count; ++l) {
    const char name = static_cast<char>('a' + l);
    c.label(name, d.chance(3) ? 0 : d.chance(10) ? 1 : d(2, largest));
    all += name;
  }
  return all;
}

int longest(const program& p) {
  std::size_t n = 1;
  for (const auto& s : p.statements)
    for (const auto& t : s.terms) n = std::max(n, t.factors.size());
  return static_cast<int>(n);
}

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
  for (unsigned seed = 1; seed <= 1500; ++seed) run_single(seed, 5, 9, 2, 1);
}

TEST_CASE("products of two factors with larger extents") {
  for (unsigned seed = 10001; seed <= 10250; ++seed) run_single(seed, 4, 37, 2, 1);
}

TEST_CASE("sums of products of several factors") {
  for (unsigned seed = 20001; seed <= 20600; ++seed) run_single(seed, 6, 5, 5, 3);
}

TEST_CASE("nothing outside the left side is written") {
  for (unsigned seed = 30001; seed <= 30300; ++seed) {
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
