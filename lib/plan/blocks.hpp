// The blocks that all operations of a work run in together.
#pragma once

#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "plan/plan.hpp"

namespace ricci::planning {

/// Estimates of the ways to cut a program into blocks, for one order of its contractions: other orders try again only
/// what came near the best.
class cuts {
 public:
  void note(const std::vector<int>& block, std::int64_t size, int lane, double seconds) {
    if (!complete_) seconds_[{block, size, lane}] = seconds, least_ = std::min(least_, seconds);
  }
  void complete() { complete_ = true; }
  bool is_hopeless(const std::vector<int>& block, std::int64_t size, int lane) const {
    constexpr double far = 1.6;
    const auto known = seconds_.find({block, size, lane});
    return complete_ && known != seconds_.end() && known->second > far * least_;
  }

 private:
  std::map<std::tuple<std::vector<int>, std::int64_t, int>, double> seconds_;
  double least_ = std::numeric_limits<double>::infinity();
  bool complete_ = false;
};

/// Cuts a common label into blocks, or none, as the estimates say: sets the segments, block labels, notes and seconds of p, whose
/// bytes are known. known: of the orders of contraction that were tried before; null: this is the only one.
void run_in_blocks(const work& w, plan& p, const machine& m, const options& o, const hints& h, cuts* known);

}  // namespace ricci::planning
