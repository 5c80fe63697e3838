// A flat program with all of its numbers known, on its way to a program.
#pragma once

#include <string>
#include <vector>

#include <ricci/lower/front.hpp>

namespace ricci::detail {

/// An axis of problems becomes two where a tensor is interleaved.
inline constexpr int max_axes = 2 * max_rank;

/// Stands for the label of an axis whose index is looked up.
inline constexpr int looked_up = -2;

/// One left side or factor use, in slot order.
struct slot_use {
  int leaf = 0, statement = 0, rank = 0;
  bool is_left = false, conj = false;
  bool is_table = false;           // of the slot before
  std::int64_t strides[max_axes], first[max_axes], last[max_axes];
  int label[max_axes];             // looked_up: the slot behind is its table; less than 0 else: a constant
  std::int64_t offset = 0;         // elements from the base to the first element used
  std::int64_t low = 0, high = 0;  // bytes from the base; both 0 if nothing is used
  // A label runs along an interleaved axis 0: how many problems lie side by side, and elements of a block of them. The
  // stride of axis 0 is then without meaning, and the offset lacks its part.
  std::int64_t width = 0, block = 0;
  std::int64_t shift = 0;          // elements from the base to index 0 of the axes above
  int copy = -1;                   // >= 0: not the leaf's memory but a copy of what the slot uses
  int kept = -1;                   // >= 0: not the leaf's memory but the entries that the plan keeps of a table
};

struct lowering {
  std::vector<slot_use> slots;
  std::vector<std::string> names;       // of each label
  std::vector<std::int64_t> lengths;    // of each label
  std::vector<const void*> locals;      // addresses, in the order of assignment
  std::vector<std::int64_t> numbers;    // the call's, with the extents of locals filled in
};

/// Bytes of one element of a leaf.
inline std::int64_t element_bytes(const leaf_info& leaf) {
  return leaf.index_bytes > 0 ? leaf.index_bytes : static_cast<std::int64_t>(size_of(leaf.type));
}

/// 1 or -1 as the matrix of a leaf is even or odd; 0 if what a slot uses of it has no middle in common with it.
/// Errors: bad_argument if the whole matrix is neither.
int parity_of(const front_call& call, const lowering& low, int slot);

/// Checks everything and works out each slot. Errors: throw_verdict's, no_gpu.
lowering resolve(const front_call& call);

/// The verdict for two slots of a lowering.
overlap::kind relation(const front_call& call, const lowering& low, int left_slot, int other_slot);

/// How factors are called in the text: a plan that keeps its pointers names equal memory equally; a remembered one,
/// whose pointers change from run to run, knows only what is the left side's memory.
enum class naming { by_memory, by_place };

program make_program(const front_call& call, const lowering& low, naming names);

/// Are there slots with a width?
bool is_interleaved(const lowering& low);

/// A program over plain strided memory, one of several that do the work of a statement over interleaved tensors.
struct lowered_part {
  struct source {
    int leaf, copy, kept;  // memory of a leaf, or of a copy or kept entries if one is >= 0
    std::int64_t offset;   // bytes
  };
  program what;
  std::vector<source> slots;
};

struct lowered_parts {
  std::vector<lowered_part> parts;
  std::vector<std::int64_t> copies;  // bytes of each
  std::vector<std::vector<char>> kept;  // entries of interleaved tables, dense
  memory_space space = memory_space::host;
};

/// Cuts the labels of interleaved axes into blocks and lanes, and a rest. Where parts cannot be run one after the other,
/// interleaved operands are copied to plain memory and back. Errors: too_slow for copies if o.strict.
lowered_parts lower_interleaved(const front_call& call, const lowering& low, naming names, const options& o);

/// pointers[slot] and coefficients[scalar] of a call.
void bind(const front_call& call, const lowering& low);
void bind_coefficients(const front_call& call);

}  // namespace ricci::detail
