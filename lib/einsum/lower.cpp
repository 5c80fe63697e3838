// Ranks, extents, broadcasting, diagonals: from subscripts and shapes to a program.
#include "einsum/lower.hpp"

#include <ricci/core/error.hpp>

#include <unordered_map>

namespace ricci::detail {
namespace {

using extent_list = std::span<const std::int64_t>;

[[noreturn]] void refuse(errc code, const std::string& text) { throw error(code, "einsum: " + text); }

std::string to_text(extent_list extents) {
  std::string out = "(";
  for (std::size_t d = 0; d < extents.size(); ++d) out += (d ? ", " : "") + std::to_string(extents[d]);
  return out + (extents.size() == 1 ? ",)" : ")");
}

/// Axes of one operand or of the result as places in program::labels.
class lowering {
 public:
  lowering(const subscripts& s, std::span<const array_info> operands) : s_(s), operands_(operands) {
    for (std::size_t q = 0; q < operands.size(); ++q) dots_ = std::max(dots_, dots_of(q));
    for (std::size_t q = 0; q < operands.size(); ++q) axes_.push_back(place(s.operands[q], dots_of(q)));
    for (std::size_t q = 0; q < operands.size(); ++q) agree(q);
    check_result();
    result_ = place(s.result, dots_);
  }

  lowered_einsum lower(const array_info* out) {
    lowered_einsum made;
    for (const int label : result_) made.extents.push_back(p_.labels[label].extent);
    const std::vector<std::int64_t> dense = dense_strides(made.extents);
    statement st;
    st.left.name = "result";
    st.left.type = operands_[0].type;
    for (std::size_t d = 0; d < result_.size(); ++d)
      st.left.axes.push_back({result_[d], out ? out->strides[d] : dense[d]});
    product term;
    for (std::size_t q = 0; q < operands_.size(); ++q) term.factors.push_back(refer(q));
    st.terms.push_back(std::move(term));
    p_.slot_count = static_cast<int>(operands_.size()) + 1;
    p_.statements.push_back(std::move(st));
    if (out)
      for (std::size_t q = 0; q < operands_.size(); ++q) compare(*out, q);
    made.statement = std::move(p_);
    return made;
  }

  std::vector<std::int64_t> result_extents() const {
    std::vector<std::int64_t> extents;
    for (const int label : result_) extents.push_back(p_.labels[label].extent);
    return extents;
  }

 private:
  /// Number of axes that the ellipsis of operand q stands for.
  std::int64_t dots_of(std::size_t q) const {
    std::int64_t named = 0;
    bool has_dots = false;
    for (const int label : s_.operands[q]) label == ellipsis ? void(has_dots = true) : void(++named);
    const auto rank = static_cast<std::int64_t>(operands_[q].extents.size());
    if (named > rank || (named < rank && !has_dots))
      refuse(errc::bad_subscripts, "operand " + std::to_string(q) + " has rank " + std::to_string(rank) +
                                     " but its subscripts name " + std::to_string(named) + " axes" +
                                     (named < rank ? " and have no '...' for the others" : ""));
    return rank - named;
  }

  int label_of(int key) {
    const auto [at, fresh] = places_.try_emplace(key, static_cast<int>(p_.labels.size()));
    if (fresh) p_.labels.push_back({key <= ellipsis ? "..." + std::to_string(dots_ + key) : s_.name(key), 1});
    return at->second;
  }

  /// Keys of the axes behind "..." count down from -1, the last axis first: that is how they align.
  std::vector<int> place(const std::vector<int>& labels, std::int64_t dots) {
    std::vector<int> out;
    for (const int label : labels) {
      if (label != ellipsis) out.push_back(label_of(label));
      else
        for (std::int64_t d = dots; d > 0; --d) out.push_back(label_of(static_cast<int>(-d)));
    }
    return out;
  }

  /// One extent for each label, where 1 gives way to any other between operands but not within one.
  void agree(std::size_t q) {
    const extent_list extents = operands_[q].extents;
    std::unordered_map<int, std::int64_t> here;
    for (std::size_t d = 0; d < extents.size(); ++d) {
      label_info& label = p_.labels[axes_[q][d]];
      const auto [first, fresh] = here.try_emplace(axes_[q][d], extents[d]);
      if (first->second != extents[d])
        refuse(errc::bad_extent, "label '" + label.name + "' has extents " + std::to_string(first->second) + " and " +
                                   std::to_string(extents[d]) + " in operand " + std::to_string(q) + " of extents " +
                                   to_text(extents));
      if (extents[d] == 1 || extents[d] == label.extent) continue;
      if (label.extent != 1)
        refuse(errc::bad_extent, "label '" + label.name + "' has extent " + std::to_string(label.extent) +
                                   " in operand " + std::to_string(giver_[axes_[q][d]]) + " but " +
                                   std::to_string(extents[d]) + " in operand " + std::to_string(q) + " of extents " +
                                   to_text(extents));
      label.extent = extents[d];
      giver_[axes_[q][d]] = q;
    }
  }

  void check_result() const {
    for (const int label : s_.result)
      if (label == ellipsis) return;
    if (dots_ > 0)
      refuse(errc::bad_subscripts, "the ellipsis of the operands stands for " + std::to_string(dots_) +
                                     " axes, but the result has no '...' for them");
  }

  bool is_broadcast(std::size_t q, std::size_t d) const {
    return operands_[q].extents[d] != p_.labels[axes_[q][d]].extent;
  }

  /// Diagonals become one axis with the sum of the strides; broadcast axes go.
  reference refer(std::size_t q) const {
    reference r;
    r.slot = static_cast<int>(q) + 1;
    r.type = operands_[q].type;
    r.name = "operand " + std::to_string(q);
    constexpr std::uintptr_t line = 64;
    r.within_line = reinterpret_cast<std::uintptr_t>(operands_[q].data) % line != 0;
    std::unordered_map<int, std::size_t> at;
    for (std::size_t d = 0; d < axes_[q].size(); ++d) {
      if (is_broadcast(q, d)) continue;
      const auto [found, fresh] = at.try_emplace(axes_[q][d], r.axes.size());
      if (fresh) r.axes.push_back({axes_[q][d], operands_[q].strides[d]});
      else r.axes[found->second].stride += operands_[q].strides[d];
    }
    return r;
  }

  void compare(const array_info& out, std::size_t q) {
    const std::vector<std::int64_t> zeros(std::max(out.extents.size(), operands_[q].extents.size()), 0);
    std::vector<int> labels = axes_[q];
    for (std::size_t d = 0; d < labels.size(); ++d)
      if (is_broadcast(q, d)) labels[d] = -1;
    const auto seen = [&](const array_info& x, const std::vector<int>& l) {
      return footprint{x.data, x.type, static_cast<int>(l.size()), x.strides.data(), zeros.data(), x.extents.data(), l.data()};
    };
    const overlap::kind kind = classify(seen(out, result_), seen(operands_[q], labels));
    if (kind != overlap::kind::disjoint) p_.overlaps.push_back({0, static_cast<int>(q) + 1, kind});
  }

  const subscripts& s_;
  std::span<const array_info> operands_;
  program p_;
  std::int64_t dots_ = 0;
  std::unordered_map<int, int> places_;
  std::unordered_map<int, std::size_t> giver_;  // the operand that gave a label its extent
  std::vector<std::vector<int>> axes_;
  std::vector<int> result_;
};

void check_types(std::span<const array_info> operands, const array_info* out) {
  for (std::size_t q = 0; q <= operands.size(); ++q) {
    const array_info* const x = q < operands.size() ? &operands[q] : out;
    const std::string who = q < operands.size() ? "operand " + std::to_string(q) : "the result";
    if (!x) continue;
    if (x->type != operands[0].type)
      refuse(errc::bad_argument, who + " holds " + name_of(x->type) + " but operand 0 holds " + name_of(operands[0].type) +
                                   "; convert one of them first");
    bool empty = false;
    for (const std::int64_t extent : x->extents) empty = empty || extent == 0;
    if (!empty && !x->data) refuse(errc::bad_argument, who + " has elements but no memory (null, or on the GPU)");
  }
}

}  // namespace

lowered_einsum lower_einsum(const subscripts& s, std::span<const array_info> operands, const array_info* out) {
  check_types(operands, out);
  lowering work(s, operands);
  if (out) {
    const auto wanted = work.result_extents();
    if (!std::equal(wanted.begin(), wanted.end(), out->extents.begin(), out->extents.end()))
      refuse(errc::bad_extent, "the result has extents " + to_text(wanted) + " but the memory given for it has " +
                                 to_text(out->extents));
  }
  return work.lower(out);
}

}  // namespace ricci::detail
