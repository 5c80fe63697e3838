// More axes than a kernel has loops.
#include <catch2/catch.hpp>

#include "build_program.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

statement quotient(case_builder& c, const std::string& labels, const std::string& first, const std::string& second) {
  statement s;
  s.left = c.tensor("C", labels);
  s.terms.push_back({-1, false, {c.tensor("A", labels, first), c.tensor("B", labels, second)}});
  s.terms[0].factors[1].apply = function::reciprocal;
  return s;
}

}  // namespace

TEST_CASE("pointwise steps of more axes than a kernel has loops") {
  const std::pair<int, std::int64_t> sizes[] = {{14, 9}, {15, 2}, {15, 9}, {18, 2}};  // how many axes, and the last extent
  for (const auto& [rank, last] : sizes)
    for (const dtype t : {dtype::f64, dtype::f32}) {
      case_builder c(t, 3);
      std::string labels;
      for (int n = 0; n + 1 < rank; ++n) c.label(static_cast<char>('a' + n), 2), labels += static_cast<char>('a' + n);
      c.label('z', last), c.label('y', 5);
      // No two labels nest: the factors have them in other orders, but for the last, along which all have stride 1.
      const std::string turned(labels.rbegin(), labels.rend());
      const std::string mixed = labels.substr(labels.size() / 2) + labels.substr(0, labels.size() / 2);
      c.p.statements.push_back(quotient(c, labels + 'z', turned + 'z', mixed + 'z'));
      if (last == 9) c.p.statements[0].op = update::add;
      // Both have no label in common: all of them stay inside of the step.
      c.p.statements.push_back(quotient(c, "y", "y", "y"));
      const reference_result large = evaluate(c.p, 0, c.bind()), small = evaluate(c.p, 1, c.bind());
      const auto plan = compile(c.p);
      run(*plan, c.bind());
      INFO(describe(*plan));
      REQUIRE(error_in_bounds(c.p, 0, c.bind(), large, 3) <= 1);
      REQUIRE(error_in_bounds(c.p, 1, c.bind(), small, 3) <= 1);
    }
}

TEST_CASE("sums of tensors of more axes than a move has loops") {
  for (const int rank : {12, 13, 14, 16})
    for (const dtype t : {dtype::f64, dtype::f32, dtype::c128, dtype::f16}) {
      case_builder c(t, 5);
      std::string labels;
      for (int n = 0; n < rank; ++n) c.label(static_cast<char>('a' + n), n + 1 == rank ? 3 : 2), labels += static_cast<char>('a' + n);
      const std::string turned(labels.rbegin(), labels.rend());
      std::string mixed = labels.substr(labels.size() / 2) + labels.substr(0, labels.size() / 2);
      std::swap(mixed[1], mixed[labels.size() - 2]);
      statement s;
      s.left = c.tensor("C", labels, mixed);
      s.terms.push_back({-1, false, {c.tensor("A", labels, turned)}}), s.terms.push_back({-1, true, {c.tensor("B", labels)}});
      c.p.statements.push_back(s);
      const reference_result expected = evaluate(c.p, 0, c.bind());
      const auto plan = compile(c.p);
      run(*plan, c.bind());
      INFO(describe(*plan));
      REQUIRE(error_in_bounds(c.p, 0, c.bind(), expected, 1) <= 1);
    }
}
