// Which products of factors several terms hold, and the order of contraction that makes the most of them.
#include "plan/sharing.hpp"

#include <algorithm>
#include <limits>

#include "plan/operand.hpp"

namespace ricci::planning {
namespace {

constexpr std::size_t most_factors = 10;

std::string text_of(const std::vector<reference_axis>& axes) {
  std::string text;
  for (const auto& axis : axes) text += ";" + std::to_string(axis.label) + ":" + std::to_string(axis.stride);
  return text;
}

bool is_known(const product& t) {
  return t.factors.size() > 2 && t.factors.size() <= most_factors && t.how == combine::multiply &&
         std::all_of(t.factors.begin(), t.factors.end(), [](const reference& f) {
           return (f.local >= 0 || f.memory >= 0) && (f.lookups.empty() || f.lookups[0].memory >= 0);
         });
}

}  // namespace

std::string identity_of(const reference& r) {
  const std::string place = r.local >= 0   ? "l" + std::to_string(r.local)
                            : r.memory < 0 ? "s" + std::to_string(r.slot)
                                           : "m" + std::to_string(r.memory);
  std::string text = place + text_of(r.axes) + (r.conj ? "*" : "") + "f" + std::to_string(static_cast<int>(r.apply));
  for (const lookup& x : r.lookups)
    text += "@" + (x.memory < 0 ? "s" + std::to_string(x.slot) : "m" + std::to_string(x.memory)) + text_of(x.axes) + "^" +
            std::to_string(x.stride);
  return text;
}

sharing::sharing(const program& p) {
  for (const label_info& l : p.labels) extents_.push_back(l.extent);
  for (const statement& s : p.statements)
    for (const product& t : s.terms) {
      if (!is_known(t)) continue;
      const order o = sets_of(t, labels_of(s.left));
      for (std::size_t set = 1; set < o.key.size(); ++set)
        if ((set & (set - 1)) != 0) ++terms_[o.key[set]];
    }
}

bool sharing::is_worth_it(const product& t) const {
  if (!is_known(t)) return false;
  return std::any_of(terms_.begin(), terms_.end(), [](const auto& x) { return x.second > 1; });
}

double sharing::size_of(const std::vector<int>& labels) const {
  double n = 1;
  for (int l : labels) n *= static_cast<double>(extents_[static_cast<std::size_t>(l)]);
  return n;
}

sharing::order sharing::sets_of(const product& t, const std::vector<int>& result) const {
  const std::size_t n = t.factors.size(), sets = std::size_t{1} << n;
  std::vector<std::string> names;
  std::vector<std::vector<int>> labels;
  for (const reference& f : t.factors) {
    names.push_back(identity_of(f)), labels.push_back(labels_of(f));
    std::erase_if(labels.back(), [&](int l) { return extents_[static_cast<std::size_t>(l)] == 1; });
  }
  order o;
  o.key.resize(sets), o.kept.resize(sets), o.split.resize(sets, 0);
  for (std::size_t set = 1; set < sets; ++set) {
    std::vector<std::string> parts;
    std::vector<int> outside = result;
    for (std::size_t f = 0; f < n; ++f) {
      if (set >> f & 1) parts.push_back(names[f]);
      else outside.insert(outside.end(), labels[f].begin(), labels[f].end());
    }
    for (std::size_t f = 0; f < n; ++f)
      for (int l : labels[f])
        if ((set >> f & 1) && contains(outside, l) && !contains(o.kept[set], l)) o.kept[set].push_back(l);
    std::sort(parts.begin(), parts.end());
    std::vector<int> kept = o.kept[set];
    std::sort(kept.begin(), kept.end());
    for (const std::string& x : parts) o.key[set] += x + "|";
    for (int l : kept) o.key[set] += std::to_string(l) + ",";
  }
  return o;
}

sharing::order sharing::order_of(const product& t, const std::vector<int>& result,
                                 const std::function<bool(const std::string&)>& is_made) const {
  order o = sets_of(t, result);
  const std::size_t sets = o.key.size();
  std::vector<double> cost(sets, 0);
  for (std::size_t set = 1; set < sets; ++set) {
    if ((set & (set - 1)) == 0) continue;
    const bool made = is_made(o.key[set]);
    const auto found = terms_.find(o.key[set]);
    const double holders = found == terms_.end() ? 1 : found->second;
    cost[set] = std::numeric_limits<double>::infinity();
    for (std::size_t part = (set - 1) & set; part > (set ^ part); part = (part - 1) & set) {
      std::vector<int> all = o.kept[part];
      for (int l : o.kept[set ^ part])
        if (!contains(all, l)) all.push_back(l);
      const double here = cost[part] + cost[set ^ part] + size_of(all) / holders;
      if (here < cost[set]) cost[set] = here, o.split[set] = static_cast<unsigned>(part);
    }
    if (made) cost[set] = 0;
  }
  return o;
}

}  // namespace ricci::planning
