// Statements whose numbers differ from those of a remembered plan in constants and beginnings of ranges alone: other places, the same plan.
#pragma once

#include <memory>
#include <vector>

#include "front/lowering.hpp"

namespace ricci::detail {

class moved_places {
 public:
  /// Null if the statement has no such numbers, or if its plan may depend on them: tables, declared symmetries, locals, interleaved
  /// tensors, tensors of the GPU, and a factor whose memory is not apart from all of the left side's tensor, used here or not.
  static std::shared_ptr<const moved_places> of(const front_call& call, const lowering& low);

  /// Whether the plan does what is asked for now: the same extents, strides and lengths, nothing out of bounds, and every tensor as a
  /// whole apart from the left side's, so that no verdict on overlaps can be another one. Fills the pointers in.
  /// facts: the statement's as it is judged now, without a fault.
  bool matches(const flat_program& p, const void* const* bases, const std::int64_t* numbers, const label_facts* facts, void** pointers) const;

  static constexpr int most_labels = 16;

 private:
  struct slot {
    int leaf;
    std::int64_t low, high;             // bytes of the whole tensor from its base; equal: no elements
    std::vector<std::int64_t> strides;  // of its axes, in bytes
  };

  bool are_apart(const void* const* bases) const;

  std::vector<std::pair<int, std::int64_t>> fixed_;  // numbers that must be the same
  std::vector<std::int64_t> lengths_;                // of labels
  std::vector<slot> slots_;
};

}  // namespace ricci::detail
