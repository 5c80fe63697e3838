// What a fused program should have left in memory, and how far from it something is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fused_programs.hpp"
#include "on_gpu.hpp"

namespace ricci::test {

/// Evaluates a case by the reference; error() compares what stands in the case's memory then.
class fused_check {
 public:
  explicit fused_check(const fused_case& c) : case_(*c.c), factors_(c.factors) {
    before_ = snapshot();
    results_ = evaluate_all(case_.p, case_.bind());
    wanted_ = snapshot();
    restore();
  }

  void restore() { put_back(before_); }

  /// The largest error in units of its bound.
  double error() {
    const std::vector<std::vector<char>> got = snapshot();
    double worst = 0;
    for (std::size_t s = 0; s < case_.p.statements.size(); ++s) {
      const statement& st = case_.p.statements[s];
      if (st.left.local < 0) worst = std::max(worst, error_of(st, results_[s], got));
    }
    return worst;
  }

 private:
  std::vector<std::vector<char>> snapshot() const {
    std::vector<std::vector<char>> all;
    for (std::size_t m = 0; m < case_.memory.size(); ++m) {
      const char* const at = case_.memory[m].get();
      all.emplace_back(at, at + static_cast<std::size_t>(case_.sizes[m]) * size_of(case_.type));
    }
    return all;
  }
  void put_back(const std::vector<std::vector<char>>& all) {
    for (std::size_t m = 0; m < all.size(); ++m) std::memcpy(case_.memory[m].get(), all[m].data(), all[m].size());
  }

  /// Every element of a looked-up result has the largest bound; of another, its own.
  double error_of(const statement& st, const reference_result& r, const std::vector<std::vector<char>>& got) const {
    const dtype t = st.left.type;
    std::size_t m = 0;
    while (case_.memory[m].get() != case_.pointers[static_cast<std::size_t>(st.left.slot)]) ++m;
    const double eps = epsilon_of(compute_type(t)) * (is_complex(t) ? 3 : 1), eps_store = epsilon_of(t) != epsilon_of(compute_type(t)) ? epsilon_of(t) : 0;
    double largest = 0;
    for (const long double x : r.magnitude) largest = std::max(largest, static_cast<double>(x));
    const bool looked_up = !st.left.lookups.empty();
    double worst = 0;
    const auto compare = [&](std::int64_t at, double magnitude) {
      const auto x = get(t, got[m].data(), at), y = get(t, wanted_[m].data(), at);
      const double bound = (1.5 + factors_) * eps * magnitude + eps_store * (looked_up ? 4 * magnitude : std::abs(y)) + 1e-300;
      const double error = std::abs(x - y) / bound;
      worst = std::isnan(error) ? 1e300 : std::max(worst, error);
    };
    if (looked_up) {
      for (std::int64_t at = 0; at < case_.sizes[m]; ++at) compare(at, largest);
      return worst;
    }
    std::vector<std::int64_t> index(st.left.axes.size(), 0);
    for (const long double magnitude : r.magnitude) {
      std::int64_t at = 0;
      for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * st.left.axes[d].stride;
      compare(at, static_cast<double>(magnitude));
      for (std::size_t d = index.size(); d-- > 0; index[d] = 0)
        if (++index[d] < case_.p.labels[static_cast<std::size_t>(st.left.axes[d].label)].extent) break;
    }
    return worst;
  }

  case_builder& case_;
  double factors_;
  std::vector<std::vector<char>> before_, wanted_;
  std::vector<reference_result> results_;
};

}  // namespace ricci::test
