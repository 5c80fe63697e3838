// Locals that only name a tensor in memory: the statements that read them read the tensor.
#include <algorithm>

#include "plan/plan.hpp"

namespace ricci::planning {
namespace {

/// The factor that the statement gives another name, or null.
const reference* named_by(const program& p, const statement& s) {
  if (s.left.local < 0 || s.op != update::assign || s.terms.size() != 1) return nullptr;
  const product& t = s.terms[0];
  if (t.factors.size() != 1 || t.scalar >= 0 || t.negate || t.how != combine::multiply) return nullptr;
  const reference& f = t.factors[0];
  // Without a known memory, copies of it could not be shared.
  if (f.local >= 0 || f.memory < 0 || !f.lookups.empty() || f.conj || f.apply != function::identity || f.parity != 0) return nullptr;
  if (f.type != compute_type(s.left.type) || f.axes.size() != s.left.axes.size()) return nullptr;
  const auto has = [&](const reference_axis& x) {
    return std::any_of(f.axes.begin(), f.axes.end(), [&](const reference_axis& y) { return x.label == y.label; });
  };
  if (!std::all_of(s.left.axes.begin(), s.left.axes.end(), has)) return nullptr;
  const auto assigned = std::count_if(p.statements.begin(), p.statements.end(), [&](const statement& x) { return x.left.local == s.left.local; });
  return assigned == 1 ? &f : nullptr;
}

/// f under the labels of a reference to the local that `left` names.
reference renamed(const reference& f, const reference& left, const reference& use) {
  reference out = f;
  out.conj = use.conj, out.apply = use.apply;
  for (std::size_t d = 0; d < f.axes.size(); ++d)
    for (std::size_t n = 0; n < left.axes.size(); ++n)
      if (left.axes[n].label == f.axes[d].label) out.axes[d].label = use.axes[n].label;
  return out;
}

}  // namespace

std::vector<bool> forward_aliases(program& p) {
  std::vector<bool> gone(p.statements.size(), false);
  for (std::size_t a = 0; a < p.statements.size(); ++a) {
    const reference* named = named_by(p, p.statements[a]);
    if (!named) continue;
    const reference f = *named, left = p.statements[a].left;
    for (statement& s : p.statements)
      for (product& t : s.terms)
        for (reference& use : t.factors)
          if (use.local == left.local) use = renamed(f, left, use);
    gone[a] = true;
  }
  return gone;
}

}  // namespace ricci::planning
