// What can be wrong with a statement, as a value. The same judgement at compile time (unknown numbers left out) and at
// run time (all numbers known).
#pragma once

#include <ricci/expr/flat.hpp>

namespace ricci::detail {

/// Numbers are the R-codes of docs/errors.md.
enum class fault : std::uint8_t {
  none = 0,
  repeated_left = 1,    // label
  left_alone = 2,       // label, a: term (from 1), b: 1 if the term is numbers alone
  unequal_extents = 3,  // label, a and b: extents
  lone_label = 4,       // label
  bad_range = 5,        // label, a: first, b: last, c: extent
  two_ranges = 6,       // label, a: first, b: last, c: other first, d: other last
  bad_constant = 7,     // axis, a: value, b: extent
  mixed_spaces = 8,     // a: which access, counted from the left side, 0
  mixed_types = 9,      // a and b: dtypes
  bad_sum = 13,         // label
  complex_scalar = 14,
  bad_local = 15,       // label, a: rank
  bad_function = 22,    // a: factors of the term
  bad_lookup = 23,      // a: rank
};

struct verdict {
  fault what = fault::none;
  int label = -1, axis = -1;
  std::int64_t a = 0, b = 0, c = 0, d = 0;
  constexpr bool ok() const { return what == fault::none; }
};

/// What a statement knows of a label.
struct label_facts {
  std::int64_t length = unknown;  // of the range, else the extent
  std::int64_t first = 0, last = unknown;
  bool ranged = false;
};

/// An axis with its numbers filled in; unknown where only a run would know.
struct known_axis {
  std::int64_t extent, first, last;
};

constexpr known_axis look(const axis_info& a, const std::int64_t* numbers) {
  known_axis out{a.extent, a.first, a.last};
  if (a.extent_at >= 0) out.extent = numbers ? numbers[a.extent_at] : unknown;
  if (a.first_at >= 0) {
    out.first = numbers ? numbers[a.first_at] : unknown;
    out.last = !numbers ? unknown : a.last_at >= 0 ? numbers[a.last_at] : out.first + 1;
  }
  return out;
}

/// Is every number of the range known? (A negative bound given by the user counts as known.)
constexpr bool has_range(const axis_info& a, const std::int64_t* numbers) { return a.first_at < 0 || numbers; }

/// Judges one statement after another over the same flat program.
class judge {
 public:
  constexpr judge(const flat_program& p, const std::int64_t* numbers) : p_(p), numbers_(numbers) {}

  /// facts: one for each label, filled in.
  constexpr verdict statement(int which, label_facts* facts) const {
    const statement_info& s = p_.statements[which];
    const int end = leaf_end(which);
    verdict v = kinds(s, end);
    for (int l = s.left; v.ok() && l < end; ++l) v = ranges(p_.leaves[l], facts);
    for (int l = s.left; v.ok() && l < end; ++l) v = extents(p_.leaves[l], facts);
    if (v.ok()) v = left(s);
    for (int t = 0; v.ok() && t < s.term_count; ++t) v = term(s, t);
    return v;
  }

 private:
  /// A statement's leaves stand together, the left side first.
  constexpr int leaf_end(int which) const {
    return which + 1 < p_.statement_count ? p_.statements[which + 1].left : p_.leaf_count;
  }

  /// Memory spaces, element types, scalars.
  constexpr verdict kinds(const statement_info& s, int end) const {
    const leaf_info& left = p_.leaves[s.left];
    for (int l = s.left; l < end; ++l)
      if (const int t = table_elsewhere(p_.leaves[l]); t >= 0) return {fault::mixed_spaces, -1, -1, t - s.left};
    if (is_looked_up(left) && s.op == update::assign) return {fault::bad_lookup, -1, -1, left.rank};
    for (int l = s.left + 1; l < end; ++l) {
      const leaf_info& f = p_.leaves[l];
      if (f.index_bytes > 0) continue;
      if (f.space != left.space && !f.local && !left.local) return {fault::mixed_spaces, -1, -1, l - s.left};
      if (f.type != left.type)
        return {fault::mixed_types, -1, -1, static_cast<std::int64_t>(left.type), static_cast<std::int64_t>(f.type)};
    }
    verdict v;
    for (int t = s.first_term; v.ok() && t < s.first_term + s.term_count; ++t)
      for (int u = 0; v.ok() && u < p_.terms[t].use_count; ++u)
        if (p_.uses[p_.terms[t].first_use + u].what == use_info::kind::complex_scalar && !is_complex(left.type))
          v.what = fault::complex_scalar;
    for (int t = s.first_term; v.ok() && t < s.first_term + s.term_count; ++t) v = functions(p_.terms[t], left.type);
    return v;
  }

  /// The index tensor of a leaf, if it is in the other memory.
  constexpr int table_elsewhere(const leaf_info& leaf) const {
    for (int d = 0; d < leaf.rank; ++d)
      if (const int t = p_.axes[leaf.first_axis + d].table; t >= 0 && !leaf.local && p_.leaves[t].space != leaf.space) return t;
    return -1;
  }

  constexpr bool is_looked_up(const leaf_info& leaf) const {
    for (int d = 0; d < leaf.rank; ++d)
      if (p_.axes[leaf.first_axis + d].table >= 0) return true;
    return false;
  }

  constexpr verdict functions(const term_info& t, dtype type) const {
    bool any = t.how != combine::multiply;
    int factors = 0;  // what sum() marks is none
    for (int u = t.first_use; u < t.first_use + t.use_count; ++u) {
      const use_info& use = p_.uses[u];
      if (use.apply == function::none) return {fault::bad_function, -1, -1, t.use_count};
      factors += use.what != use_info::kind::mark;
      any = any || (use.what == use_info::kind::factor && use.apply != function::identity);
    }
    if (t.how != combine::multiply && factors != 2) return {fault::bad_function, -1, -1, t.use_count};
    if (any && is_complex(type)) return {fault::bad_function, -1, -1, t.use_count};
    return {};
  }

  static constexpr bool is_known(const label_facts& f) { return f.ranged && f.last != unknown; }

  /// Constants inside their axes; one range for a label.
  constexpr verdict ranges(const leaf_info& leaf, label_facts* facts) const {
    for (int d = 0; d < leaf.rank; ++d) {
      const axis_info& axis = p_.axes[leaf.first_axis + d];
      const known_axis k = look(axis, numbers_);
      if (axis.table >= 0) {
        if (leaf.local) return {fault::bad_lookup, -1, d, leaf.rank};
      } else if (axis.label < 0) {
        if (leaf.local) return {fault::bad_local, -1, d, leaf.rank};
        if (!has_range(axis, numbers_)) continue;
        if (k.first < 0 || (k.extent != unknown && k.first >= k.extent))
          return {fault::bad_constant, -1, d, k.first, k.extent};
      } else if (axis.ranged && has_range(axis, numbers_)) {
        label_facts& f = facts[axis.label];
        if (is_known(f) && (f.first != k.first || f.last != k.last))
          return {fault::two_ranges, axis.label, d, f.first, f.last, k.first, k.last};
        f = {k.last - k.first, k.first, k.last, true};
        if (k.first < 0 || k.last < k.first) return {fault::bad_range, axis.label, d, k.first, k.last, k.extent};
      } else if (axis.ranged && !is_known(facts[axis.label])) {
        facts[axis.label].ranged = true;  // by numbers that only a run knows
        facts[axis.label].first = facts[axis.label].last = unknown;
      }
    }
    return {};
  }

  constexpr verdict extents(const leaf_info& leaf, label_facts* facts) const {
    for (int d = 0; d < leaf.rank; ++d) {
      const axis_info& axis = p_.axes[leaf.first_axis + d];
      const std::int64_t extent = look(axis, numbers_).extent;
      if (axis.label < 0 || extent == unknown) continue;
      label_facts& f = facts[axis.label];
      if (is_known(f)) {
        if (f.last > extent) return {fault::bad_range, axis.label, d, f.first, f.last, extent};
      } else if (!f.ranged) {
        if (f.length != unknown && f.length != extent)
          return {fault::unequal_extents, axis.label, d, f.length, extent};
        f = {extent, 0, extent, false};
      }
    }
    return {};
  }

  constexpr int occurrences(const leaf_info& leaf, int label) const {
    int n = 0;
    for (int d = 0; d < leaf.rank; ++d) {
      const axis_info& axis = p_.axes[leaf.first_axis + d];
      n += axis.label == label;
      if (axis.table >= 0) n += occurrences(p_.leaves[axis.table], label);
    }
    return n;
  }

  constexpr verdict left(const statement_info& s) const {
    for (int l = 0; l < p_.label_count; ++l)
      if (occurrences(p_.leaves[s.left], l) > 1) return {fault::repeated_left, l};
    return {};
  }

  /// How often a label stands in `count` uses of a term; marks count as nothing.
  constexpr int occurrences(int first, int count, int label) const {
    int n = 0;
    for (int u = first; u < first + count; ++u)
      if (p_.uses[u].what == use_info::kind::factor) n += occurrences(p_.leaves[p_.uses[u].index], label);
    return n;
  }

  constexpr verdict term(const statement_info& s, int which) const {
    const term_info& t = p_.terms[s.first_term + which];
    for (int l = 0; l < p_.label_count; ++l) {
      const int here = occurrences(t.first_use, t.use_count, l);
      const bool on_left = occurrences(p_.leaves[s.left], l) > 0;
      if (on_left && here == 0) return {fault::left_alone, l, -1, which + 1, is_number(t)};
      const verdict v = sums(t, l, here, on_left);
      if (!v.ok()) return v;
      if (here == 1 && !on_left && !p_.sum_lone && !is_marked(t, l)) return {fault::lone_label, l};
    }
    return {};
  }

  constexpr bool is_number(const term_info& t) const {
    for (int u = t.first_use; u < t.first_use + t.use_count; ++u)
      if (p_.uses[u].what == use_info::kind::factor) return false;
    return true;
  }

  constexpr bool is_marked(const term_info& t, int label) const {
    for (int u = t.first_use; u < t.first_use + t.use_count; ++u)
      if (p_.uses[u].what == use_info::kind::mark && p_.uses[u].index == label) return true;
    return false;
  }

  /// Each sum(label, ...) holds all of its label's occurrences in the term, and the left has none.
  constexpr verdict sums(const term_info& t, int label, int here, bool on_left) const {
    for (int u = t.first_use; u < t.first_use + t.use_count; ++u) {
      const use_info& mark = p_.uses[u];
      if (mark.what != use_info::kind::mark || mark.index != label) continue;
      const int inside = occurrences(u - mark.covers, mark.covers, label);
      if (on_left || inside == 0 || inside != here) return {fault::bad_sum, label};
    }
    return {};
  }

  const flat_program& p_;
  const std::int64_t* numbers_;
};

}  // namespace ricci::detail
