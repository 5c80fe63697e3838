// A flat program with all of its numbers known, on its way to a program.
#pragma once

#include <vector>

#include <ricci/lower/front.hpp>

namespace ricci::detail {

/// One left side or factor use, in slot order.
struct slot_use {
  int leaf = 0, statement = 0;
  bool is_left = false, conj = false;
  std::int64_t strides[max_rank], first[max_rank], last[max_rank];
  int label[max_rank];
  std::int64_t offset = 0;         // elements from the base to the first element used
  std::int64_t low = 0, high = 0;  // bytes from the base; both 0 if nothing is used
};

struct lowering {
  std::vector<slot_use> slots;
  std::vector<std::int64_t> lengths;    // of each label
  std::vector<const void*> locals;      // addresses, in the order of assignment
  std::vector<std::int64_t> numbers;    // the call's, with the extents of locals filled in
};

/// Checks everything and works out each slot. Errors: throw_verdict's, no_gpu.
lowering resolve(const front_call& call);

/// The verdict for two slots of a lowering.
overlap::kind relation(const front_call& call, const lowering& low, int left_slot, int other_slot);

/// How factors are called in the text: a plan that keeps its pointers names equal memory equally; a remembered one,
/// whose pointers change from run to run, knows only what is the left side's memory.
enum class naming { by_memory, by_place };

program make_program(const front_call& call, const lowering& low, naming names);

/// pointers[slot] and coefficients[scalar] of a call.
void bind(const front_call& call, const lowering& low);
void bind_coefficients(const front_call& call);

}  // namespace ricci::detail
