// Flops and bytes of statements by one rule: constants where extents are static, numbers where only the run knows them.
//
// A product counts its multiply-adds in the best pairwise order, a sum over one factor an addition for each element.
// Scalars, functions and the sum of terms count nothing: they go with what is counted, or with what is moved. Bytes are
// those of every reference, however many name one tensor; types alone cannot know.
#pragma once

#include <ricci/analysis/flatten.hpp>

namespace ricci::detail {

inline constexpr int most_static_factors = 8;  // of a term; a compiler takes so many steps and not many more
inline constexpr int most_static_labels = 64;  // a set of labels is a word

/// Label lengths of statement s; unknown where a run-time number decides.
constexpr bool all_known(const flat_program& p, const label_facts* facts, int s) {
  const statement_info& info = p.statements[s];
  for (int d = 0; d < p.leaves[info.left].rank; ++d) {
    const axis_info& axis = p.axes[p.leaves[info.left].first_axis + d];
    if (axis.table >= 0 || (axis.label >= 0 && facts[axis.label].length == unknown)) return false;
  }
  for (int t = info.first_term; t < info.first_term + info.term_count; ++t) {
    int factors = 0;
    for (int u = p.terms[t].first_use; u < p.terms[t].first_use + p.terms[t].use_count; ++u) {
      if (p.uses[u].what != use_info::kind::factor) continue;
      const leaf_info& leaf = p.leaves[p.uses[u].index];
      ++factors;
      for (int d = 0; d < leaf.rank; ++d) {
        const axis_info& axis = p.axes[leaf.first_axis + d];
        if (axis.table >= 0 || (axis.label >= 0 && facts[axis.label].length == unknown)) return false;
      }
    }
    if (factors > most_static_factors) return false;
  }
  return true;
}

/// A set of labels as bits.
constexpr std::uint64_t labels_of(const flat_program& p, const leaf_info& leaf) {
  std::uint64_t set = 0;
  for (int d = 0; d < leaf.rank; ++d)
    if (const axis_info& axis = p.axes[leaf.first_axis + d]; axis.label >= 0) set |= std::uint64_t{1} << axis.label;
    else if (axis.table >= 0) set |= labels_of(p, p.leaves[axis.table]);
  return set;
}

constexpr double elements(std::uint64_t set, const label_facts* facts) {
  double n = 1;
  for (int l = 0; set != 0; ++l, set >>= 1)
    if (set & 1) n *= static_cast<double>(facts[l].length);
  return n;
}

/// Multiply-adds of one term in its best pairwise order; a single factor that is only moved costs none, one that is
/// summed an addition for each of its elements (half a multiply-add).
constexpr double term_cost(const flat_program& p, const term_info& t, std::uint64_t left, const label_facts* facts) {
  std::uint64_t factor[most_static_factors]{};
  int n = 0;
  for (int u = t.first_use; u < t.first_use + t.use_count; ++u)
    if (p.uses[u].what == use_info::kind::factor) factor[n++] = labels_of(p, p.leaves[p.uses[u].index]);
  if (n == 0) return 0;
  if (n == 1) return (factor[0] & ~left) ? elements(factor[0], facts) / 2 : 0;
  constexpr int room = 1 << most_static_factors;
  std::uint64_t all[room]{}, kept[room]{};
  double cost[room]{};
  const int full = (1 << n) - 1;
  for (int set = 1; set <= full; ++set)
    for (int f = 0; f < n; ++f)
      if (set >> f & 1) all[set] |= factor[f];
  for (int set = 1; set <= full; ++set) {
    kept[set] = all[set] & (left | all[full ^ set]);
    if ((set & (set - 1)) == 0) {  // labels that occur in one factor alone are summed away first
      if (kept[set] != all[set]) cost[set] = elements(all[set], facts) / 2;
      continue;
    }
    cost[set] = -1;
    for (int part = (set - 1) & set; part > (set ^ part); part = (part - 1) & set) {
      const int other = set ^ part;
      const double here = cost[part] + cost[other] + elements(kept[part] | kept[other], facts);
      if (cost[set] < 0 || here < cost[set]) cost[set] = here;
    }
  }
  return cost[full];
}

struct cost_value {
  bool known = false;
  double flops = 0, bytes = 0;
};

/// Of a program without faults; numbers are null at compile time. Not known if there are tables, labels that run along
/// locals alone, or more factors than the search takes.
constexpr cost_value cost_of(const flat_program& p, const std::int64_t* numbers) {
  cost_value out{p.label_count <= most_static_labels, 0, 0};
  for (int s = 0; out.known && s < p.statement_count; ++s) {
    label_facts facts[most_static_labels];
    static_cast<void>(judge(p, numbers).statement(s, facts));
    if (!all_known(p, facts, s)) return {};
    const statement_info& info = p.statements[s];
    const leaf_info& left = p.leaves[info.left];
    const double size = static_cast<double>(size_of(left.type));
    const std::uint64_t kept = labels_of(p, left);
    if (!left.local) out.bytes += elements(kept, facts) * size * (info.op == update::assign ? 1 : 2);
    for (int t = info.first_term; t < info.first_term + info.term_count; ++t) {
      out.flops += term_cost(p, p.terms[t], kept, facts) * (is_complex(left.type) ? 8 : 2);
      for (int u = p.terms[t].first_use; u < p.terms[t].first_use + p.terms[t].use_count; ++u) {
        if (p.uses[u].what != use_info::kind::factor || p.leaves[p.uses[u].index].local) continue;
        out.bytes += elements(labels_of(p, p.leaves[p.uses[u].index]), facts) * size;
      }
    }
  }
  return out;
}

template <class Source> inline constexpr cost_value static_cost = Source::fault.ok() ? cost_of(Source::flat, nullptr) : cost_value{};
template <class Source> inline constexpr bool is_static_cost = static_cost<Source>.known;
template <class Source> inline constexpr double static_flops = static_cost<Source>.flops;
template <class Source> inline constexpr double static_bytes = static_cost<Source>.bytes;

}  // namespace ricci::detail
