// From a program to a sequence of pairwise products: empty sums and extents 1 away, C folded into beta, buffers where
// memory may overlap, contractions put in order.
#include <ricci/core/error.hpp>
#include <ricci/plan/path.hpp>

#include <algorithm>
#include <map>

#include "plan/plan.hpp"

namespace ricci::planning {
namespace {

bool contains(const std::vector<int>& v, int x) { return std::find(v.begin(), v.end(), x) != v.end(); }

class builder {
 public:
  builder(const program& p, const options& o, int variant) : options_(o), variant_(variant) {
    out_.source = p;
    local_.assign(p.local_count, -1);
    for (const overlap& x : p.overlaps) {
      verdict_[{x.left_slot, x.other_slot}] = x.verdict;
      out_.may_overlap = out_.may_overlap || x.verdict == overlap::kind::may;
    }
  }

  work run() {
    for (int s = 0; s < static_cast<int>(out_.source.statements.size()); ++s) {
      statement_ = s;
      add_statement(out_.source.statements[s]);
    }
    return std::move(out_);
  }

 private:
  std::int64_t extent(int label) const { return out_.source.labels[label].extent; }

  /// The reference as an operand, without labels of extent 1.
  operand operand_of(const reference& r) const {
    operand x;
    x.where = r.local >= 0 ? operand::kind::temporary : operand::kind::external;
    x.id = r.local >= 0 ? local_[r.local] : r.slot;
    x.type = r.local >= 0 ? compute_type(r.type) : r.type;
    x.conj = r.conj && is_complex(r.type);
    x.name = r.name;
    for (const auto& axis : r.axes) {
      if (extent(axis.label) == 1) continue;
      x.labels.push_back(axis.label);
      if (r.local < 0) x.strides.push_back(axis.stride);
    }
    return x;
  }

  operand new_temporary(dtype type, std::vector<int> labels, const char* why) {
    operand x;
    x.where = operand::kind::temporary;
    x.id = static_cast<int>(out_.temporaries.size());
    x.type = type;
    x.name = "t" + std::to_string(x.id);
    x.labels = labels;
    temporary t;
    t.type = type;
    t.labels = std::move(labels);
    t.why = why;
    out_.temporaries.push_back(std::move(t));
    return x;
  }

  operand one(dtype type) const {
    operand x;
    x.type = type;
    return x;
  }

  void emit(operand a, operand b, operand c, coefficient alpha, coefficient beta) {
    out_.ops.push_back({std::move(a), std::move(b), std::move(c), alpha, std::move(beta), statement_});
  }

  bool is_empty(const product& t) const {
    for (const reference& f : t.factors)
      for (const auto& axis : f.axes)
        if (extent(axis.label) == 0) return true;
    return false;
  }

  overlap::kind verdict(const reference& left, const reference& other) const {
    if (left.local >= 0 || other.local >= 0) return overlap::kind::disjoint;
    const auto found = verdict_.find({left.slot, other.slot});
    return found == verdict_.end() ? overlap::kind::disjoint : found->second;
  }

  bool sums(const statement& s, const product& t) const {
    const operand left = operand_of(s.left);
    for (const reference& f : t.factors)
      for (const auto& axis : f.axes)
        if (extent(axis.label) > 1 && !contains(left.labels, axis.label)) return true;
    return false;
  }

  /// Why the statement must be computed aside before the left side changes; null if it need not.
  const char* needs_buffer(const statement& s, const std::vector<const product*>& terms) const {
    for (const product* t : terms)
      for (const reference& f : t->factors) {
        const overlap::kind v = verdict(s.left, f);
        if (v == overlap::kind::may) return "overlap";
        if (v == overlap::kind::same && (terms.size() > 1 || t->factors.size() > 2 || sums(s, *t))) return "overlap";
      }
    const bool narrow = s.left.local < 0 && compute_type(s.left.type) != s.left.type;
    return narrow && terms.size() > 1 ? "float sum" : nullptr;
  }

  void add_statement(const statement& s) {
    coefficient beta{s.op == update::assign ? 0.0 : 1.0, -1, {}};
    const double sign = s.op == update::subtract ? -1 : 1;
    if (s.left.local >= 0 && local_[s.left.local] < 0) {
      std::vector<int> labels;
      for (const auto& axis : s.left.axes)
        if (extent(axis.label) != 1) labels.push_back(axis.label);
      local_[s.left.local] = new_temporary(compute_type(s.left.type), labels, "local").id;
    }
    for (const auto& axis : s.left.axes)
      if (extent(axis.label) == 0) return;
    std::vector<const product*> terms;
    for (const product& t : s.terms) {
      if (is_empty(t)) continue;
      if (t.factors.size() == 1 && !t.factors[0].conj && verdict(s.left, t.factors[0]) == overlap::kind::same) {
        const double one_term = t.negate ? -sign : sign;
        if (t.scalar >= 0) beta.more.push_back({t.scalar, one_term});
        else beta.base += one_term;
      } else {
        terms.push_back(&t);
      }
    }
    add_terms(s, terms, beta, sign);
  }

  void add_terms(const statement& s, const std::vector<const product*>& terms, const coefficient& beta, double sign) {
    const operand left = operand_of(s.left);
    const dtype type = compute_type(left.type);
    if (terms.empty()) {
      if (beta == coefficient{1, -1, {}}) return;
      emit(one(type), one(type), left, {0, -1, {}}, beta);
      return;
    }
    const char* why = needs_buffer(s, terms);
    operand target = left;
    coefficient first = beta;
    if (why) {
      target = new_temporary(type, left.labels, why);
      first = {0, -1, {}};
      const bool overlaps = why[0] == 'o';
      out_.notes.push_back(left.name + ": computed aside, then stored: " +
                           (overlaps ? "the left side may share memory with a factor" : "several terms of 16 bits"));
      if (overlaps && options_.strict)
        throw error(errc::too_slow, "the left side " + left.name +
                                        " may overlap a factor, so the statement needs a temporary copy (strict)");
    }
    for (const product* t : terms) {
      add_product(*t, target, {t->negate ? -sign : sign, t->scalar, {}}, first);
      first = {1, -1, {}};
    }
    if (why) emit(one(type), target, left, {1, -1, {}}, beta);
  }

  /// Sums away, one factor at a time, the labels that occur nowhere else.
  void reduce_lone(std::vector<operand>& factors, const operand& target) {
    if (factors.size() < 2) return;
    for (std::size_t f = 0; f < factors.size(); ++f) {
      std::vector<int> kept;
      for (int l : factors[f].labels) {
        bool elsewhere = contains(target.labels, l);
        for (std::size_t g = 0; g < factors.size() && !elsewhere; ++g)
          elsewhere = g != f && contains(factors[g].labels, l);
        if (elsewhere) kept.push_back(l);
      }
      if (kept.size() == factors[f].labels.size()) continue;
      operand sum = new_temporary(compute_type(factors[f].type), kept, "sum of one factor");
      emit(one(sum.type), factors[f], sum, {1, -1, {}}, {0, -1, {}});
      factors[f] = sum;
    }
  }

  void add_product(const product& t, const operand& target, const coefficient& alpha, const coefficient& beta) {
    std::vector<operand> factors;
    for (const reference& f : t.factors) factors.push_back(operand_of(f));
    reduce_lone(factors, target);
    const dtype type = compute_type(target.type);
    if (factors.empty()) return emit(one(type), one(type), target, alpha, beta);
    if (factors.size() == 1) return emit(one(type), factors[0], target, alpha, beta);
    if (factors.size() == 2) return emit(factors[0], factors[1], target, alpha, beta);
    add_tree(std::move(factors), target, alpha, beta);
  }

  /// Contracts in the best order. The search breaks ties by position, so a variant shows it the factors in another
  /// sequence: rotated, or rotated and reversed.
  std::vector<std::pair<int, int>> order_of(const std::vector<operand>& factors, const operand& target) const {
    const int count = static_cast<int>(factors.size());
    std::vector<int> sequence(factors.size());
    for (int i = 0; i < count; ++i) {
      const int at = (i + (variant_ / 2) * std::max(1, count / 3)) % count;
      sequence[i] = variant_ % 2 ? count - 1 - at : at;
    }
    network n;
    for (int f : sequence) n.factors.push_back(factors[f].labels);
    n.result = target.labels;
    for (const label_info& l : out_.source.labels) n.extents.push_back(l.extent);
    auto steps = find_path(n).steps;
    for (auto& [x, y] : steps) {
      if (x < count) x = sequence[x];
      if (y < count) y = sequence[y];
    }
    return steps;
  }

  void add_tree(std::vector<operand> parts, const operand& target, const coefficient& alpha, const coefficient& beta) {
    const auto steps = order_of(parts, target);
    std::vector<int> uses(out_.source.labels.size(), 0);  // by how many live parts (and the result) a label is needed
    for (const operand& f : parts)
      for (int l : f.labels) ++uses[l];
    for (int l : target.labels) ++uses[l];
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const operand x = parts[steps[s].first], y = parts[steps[s].second];
      for (int l : x.labels) --uses[l];
      for (int l : y.labels) --uses[l];
      if (s + 1 == steps.size()) return emit(x, y, target, alpha, beta);
      std::vector<int> labels;
      for (int l : x.labels)
        if (uses[l] > 0) labels.push_back(l);
      for (int l : y.labels)
        if (uses[l] > 0 && !contains(labels, l)) labels.push_back(l);
      for (int l : labels) ++uses[l];
      operand z = new_temporary(compute_type(target.type), labels, "intermediate");
      emit(x, y, z, {1, -1, {}}, {0, -1, {}});
      parts.push_back(z);
    }
  }

  options options_;
  int variant_;
  work out_;
  std::vector<int> local_;  // temporary of each local
  std::map<std::pair<int, int>, overlap::kind> verdict_;
  int statement_ = 0;
};

}  // namespace

work make_work(const program& p, const options& o, int variant) { return builder(p, o, variant).run(); }

}  // namespace ricci::planning
