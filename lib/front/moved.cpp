// Whether a remembered plan serves for other constants and beginnings of ranges.
#include "front/moved.hpp"

#include <algorithm>

namespace ricci::detail {
namespace {

bool is_plain(const flat_program& p) {
  if (p.statement_count != 1 || p.looks_at_memory || is_interleaved(p)) return false;
  return std::all_of(p.leaves, p.leaves + p.leaf_count, [](const leaf_info& leaf) { return !leaf.local && leaf.index_bytes == 0 && leaf.space == memory_space::host; });
}

/// Numbers that say where on an axis, and nothing else; none if one says something else as well.
std::vector<bool> positions_of(const flat_program& p) {
  std::vector<bool> moves(static_cast<std::size_t>(p.number_count), false);
  for (int a = 0; a < p.axis_count; ++a)
    for (const int n : {p.axes[a].first_at, p.axes[a].last_at})
      if (n >= 0) moves[static_cast<std::size_t>(n)] = true;
  for (int a = 0; a < p.axis_count; ++a)
    for (const int n : {p.axes[a].extent_at, p.axes[a].stride_at})
      if (n >= 0 && moves[static_cast<std::size_t>(n)]) return {};
  return moves;
}

}  // namespace

std::shared_ptr<const moved_places> moved_places::of(const front_call& call, const lowering& low) {
  const flat_program& p = *call.program;
  if (!is_plain(p) || p.label_count > most_labels) return nullptr;
  for (std::size_t n = 1; n < low.slots.size(); ++n)  // what takes less time than all below
    if (call.bases[low.slots[n].leaf] == call.bases[low.slots[0].leaf]) return nullptr;
  const std::vector<bool> moves = positions_of(p);
  if (std::find(moves.begin(), moves.end(), true) == moves.end()) return nullptr;
  auto made = std::make_shared<moved_places>();
  for (int n = 0; n < p.number_count; ++n)
    if (!moves[static_cast<std::size_t>(n)]) made->fixed_.emplace_back(n, call.numbers[n]);
  made->lengths_ = low.lengths;
  for (const slot_use& s : low.slots) {
    const leaf_info& leaf = p.leaves[s.leaf];
    const std::int64_t size = element_bytes(leaf);
    slot& to = made->slots_.emplace_back(slot{s.leaf, 0, size, {}});
    bool is_empty = false;
    for (int d = 0; d < s.rank; ++d) {
      const std::int64_t extent = look(p.axes[leaf.first_axis + d], call.numbers).extent, stride = s.strides[d] * size;
      is_empty = is_empty || extent == 0;
      to.low += std::min<std::int64_t>(0, (extent - 1) * stride), to.high += std::max<std::int64_t>(0, (extent - 1) * stride);
      to.strides.push_back(stride);
    }
    if (is_empty) to.low = to.high = 0;
  }
  return made->are_apart(call.bases) ? made : nullptr;
}

bool moved_places::are_apart(const void* const* bases) const {
  const auto at = [bases](const slot& s, std::int64_t offset) { return reinterpret_cast<std::intptr_t>(bases[s.leaf]) + offset; };
  const slot& left = slots_[0];
  for (std::size_t n = 1; n < slots_.size(); ++n) {
    const slot& s = slots_[n];
    if (at(s, s.low) < at(left, left.high) && at(left, left.low) < at(s, s.high)) return false;
  }
  return true;
}

bool moved_places::matches(const flat_program& p, const void* const* bases, const std::int64_t* numbers, const label_facts* facts, void** pointers) const {
  for (const auto& [n, value] : fixed_)
    if (numbers[n] != value) return false;
  for (std::size_t l = 0; l < lengths_.size(); ++l)
    if (facts[l].length != lengths_[l]) return false;
  if (!are_apart(bases)) return false;
  for (const slot& s : slots_) {
    if (!bases[s.leaf]) return false;
    const axis_info* const axes = p.axes + p.leaves[s.leaf].first_axis;
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < s.strides.size(); ++d) offset += s.strides[d] * (axes[d].label < 0 ? look(axes[d], numbers).first : facts[axes[d].label].first);
    *pointers++ = const_cast<char*>(static_cast<const char*>(bases[s.leaf]) + offset);
  }
  return true;
}

}  // namespace ricci::detail
