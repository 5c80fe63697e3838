// Random statements of every kind, for tests of whole programs.
#pragma once

#include <algorithm>
#include <random>

#include "build_program.hpp"

namespace ricci::test {

struct dice {
  std::mt19937 rng;
  int operator()(int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); }
  bool chance(int percent) { return (*this)(1, 100) <= percent; }
};

inline std::string shuffled(std::string s, dice& d) {
  std::shuffle(s.begin(), s.end(), d.rng);
  return s;
}

inline std::string subset(const std::string& of, int percent, dice& d) {
  std::string s;
  for (char c : of)
    if (d.chance(percent)) s += c;
  return shuffled(s, d);
}

inline dtype any_type(dice& d) { return static_cast<dtype>(d(0, dtype_count - 1)); }

/// Every label of the left side in some factor; the other labels summed.
inline product random_term(case_builder& c, const std::string& left, const std::string& all, dice& d, int most_factors) {
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

inline std::string make_labels(case_builder& c, dice& d, int count, int largest) {
  std::string all;
  for (int l = 0; l < count; ++l) {
    const char name = static_cast<char>('a' + l);
    c.label(name, d.chance(3) ? 0 : d.chance(10) ? 1 : d(2, largest));
    all += name;
  }
  return all;
}

/// One random statement C(...) (=, +=, -=) a sum of products; at most this many labels, extents, factors and terms.
inline void add_statement(case_builder& c, dice& d, int labels, int largest, int most_factors, int most_terms) {
  const std::string all = make_labels(c, d, d(0, labels), largest);
  statement s;
  const std::string left = subset(all, 55, d);
  s.left = c.tensor("C", left, d.chance(50) ? shuffled(left, d) : "", d.chance(80) ? 1 : 2);
  s.op = static_cast<update>(d(0, 2));
  const int terms = d(1, most_terms);
  for (int t = 0; t < terms; ++t) s.terms.push_back(random_term(c, left, all, d, most_factors));
  c.p.statements.push_back(s);
}

inline int longest(const program& p) {
  std::size_t n = 1;
  for (const auto& s : p.statements)
    for (const auto& t : s.terms) n = std::max(n, t.factors.size());
  return static_cast<int>(n);
}

}  // namespace ricci::test
