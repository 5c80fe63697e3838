// Random statements without a sum.
#pragma once

#include "random_program.hpp"

namespace ricci::test {

/// A factor with most of the labels, in any order.
inline reference random_factor(case_builder& c, const std::string& labels, dice& d) {
  reference r = c.tensor("A", labels, d.chance(70) ? shuffled(labels, d) : labels, d.chance(85) ? 1 : 2);
  r.conj = d.chance(20);
  if (!is_complex(c.type) && d.chance(10)) r.apply = function::abs;
  return r;
}

inline product random_product(case_builder& c, const std::string& all, dice& d) {
  product t;
  t.factors.push_back(random_factor(c, all, d));
  for (int more = d.chance(60) ? 0 : d(1, 2); more > 0; --more) t.factors.push_back(random_factor(c, d.chance(50) ? all : subset(all, 50, d), d));
  if (!is_complex(c.type) && t.factors.size() == 2 && d.chance(20)) t.how = d.chance(50) ? combine::minimum : combine::maximum;
  else if (d.chance(30)) t.scalar = c.scalar({d(-20, 20) / 8.0, d(-20, 20) / 8.0});
  t.negate = d.chance(30);
  return t;
}

/// C(...) (=, +=, -=) a sum of products of tensors in any order, without a summed label.
inline statement sum_of_tensors(case_builder& c, dice& d) {
  std::string all;
  const int largest = d.chance(20) ? 150 : d.chance(50) ? 40 : 9;
  for (char l : std::string("abcd").substr(0, static_cast<std::size_t>(largest > 40 ? 2 : d(1, 4)))) c.label(l, d.chance(10) ? 1 : d(1, largest)), all += l;
  statement s;
  s.left = c.tensor("C", all, d.chance(30) ? shuffled(all, d) : all, d.chance(85) ? 1 : 2);
  s.op = d.chance(50) ? update::assign : d.chance(50) ? update::add : update::subtract;
  for (int terms = d(1, 4); terms > 0; --terms) s.terms.push_back(random_product(c, all, d));
  if (d.chance(10)) {  // the left side once more, times a number that only the run knows
    product own;
    own.factors.push_back(s.left), own.factors[0].slot = c.p.slot_count++;
    own.scalar = c.scalar({0.75, -0.5});
    c.pointers.push_back(c.pointers[0]), c.sizes.push_back(c.sizes[0]);
    c.p.overlaps.push_back({s.left.slot, own.factors[0].slot, overlap::kind::same});
    s.terms.push_back(own);
  }
  return s;
}

}  // namespace ricci::test
