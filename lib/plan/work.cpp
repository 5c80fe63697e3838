// From a program to a sequence of pairwise products: empty sums and extents 1 away, C folded into beta, buffers where
// memory may overlap, contractions put in order.
#include <ricci/core/error.hpp>
#include <ricci/plan/path.hpp>

#include <algorithm>
#include <map>

#include "plan/multiplied.hpp"
#include "plan/operands.hpp"

namespace ricci::planning {
namespace {

class builder : operand_maker {
 public:
  builder(const program& p, const options& o, int variant, bool on_cpu, const multiplied_limits* multiplies) : options_(o), variant_(variant) {
    on_cpu_ = on_cpu;
    out_.source = p;
    local_.assign(static_cast<std::size_t>(p.local_count), -1);
    for (const overlap& x : p.overlaps) {
      verdict_[{x.left_slot, x.other_slot}] = x.verdict;
      out_.may_overlap = out_.may_overlap || x.verdict == overlap::kind::may;
    }
    shares_ = std::all_of(p.overlaps.begin(), p.overlaps.end(),
                          [](const overlap& x) { return x.verdict == overlap::kind::disjoint; });
    out_.shares = shares_;
    if (shares_ && on_cpu) gone_ = forward_aliases(out_.source);
    if (shares_) shared_ = sharing(out_.source);
    multiplies_ = shares_ ? multiplies : nullptr;
  }

  work run() {
    for (int s = 0; s < static_cast<int>(out_.source.statements.size()); ++s) {
      statement_ = s;
      const statement& now = out_.source.statements[s];
      if (gone_.empty() || !gone_[static_cast<std::size_t>(s)]) add_statement(now);
      else out_.notes.push_back(now.left.name + ": another name of " + now.terms[0].factors[0].name + ", not copied");
    }
    if (!once_.empty()) make_once(out_, once_);
    return std::move(out_);
  }

 private:
  /// Nothing is summed, and there is more than a product of two: functions, or in a fused program several terms.
  bool is_pointwise(const statement& s, const std::vector<const product*>& terms) const {
    if (is_elementwise(s, terms)) return true;
    if (is_complex(s.left.type)) return false;
    bool functions = false;
    for (const product* t : terms) {
      if (sums(s, *t) || t->factors.size() > most_statement_factors) return false;
      functions = functions || t->how != combine::multiply;
      for (const reference& f : t->factors) functions = functions || f.apply != function::identity;
    }
    return functions || (out_.source.statements.size() > 1 && terms.size() > 1 && !out_.may_overlap);
  }

  /// As many terms in one operation as its kernel takes; the others add to it.
  void add_pointwise(const std::vector<const product*>& terms, const operand& c, const coefficient& beta, double sign) {
    std::vector<operand> inputs;
    std::vector<pointwise_term> made;
    std::size_t factors = 0;
    bool first = true;
    const auto flush = [&] {
      emit_pointwise(std::move(inputs), std::move(made), c, first ? beta : coefficient{1, -1, {}});
      inputs.clear(), made.clear(), factors = 0, first = false;
    };
    for (const product* t : terms) {
      if (made.size() == most_statement_terms || factors + t->factors.size() > most_statement_factors) flush();
      pointwise_term& term = made.emplace_back();
      term.alpha = {t->negate ? -sign : sign, t->scalar, {}};
      term.how = t->how;
      for (const reference& f : t->factors) {
        const operand x = read(f);
        const auto at = std::find_if(inputs.begin(), inputs.end(), [&](const operand& y) { return shares_ ? same_elements(x, y) : x == y; });
        term.factors.push_back({static_cast<int>(at - inputs.begin()), f.apply});
        if (at == inputs.end()) inputs.push_back(x);
      }
      factors += t->factors.size();
    }
    flush();
  }

  /// The right side goes to a temporary (if it is more than one tensor, or may be written while it is read), then is
  /// added where the table says.
  void add_scatter(const statement& s, const std::vector<const product*>& terms, double sign) {
    if (terms.empty()) return;
    const auto [table, tensor] = table_and_tensor(s.left);
    operand value;
    coefficient alpha{1, -1, {}};
    const product& t = *terms[0];
    const bool aside = is_overlapped(s, terms);
    if (aside) say_aside(s.left.name, true);
    if (!aside && terms.size() == 1 && t.factors.size() == 1 && !sums(s, t) && t.factors[0].apply == function::identity &&
        !t.factors[0].conj && t.how == combine::multiply && t.factors[0].lookups.empty()) {
      value = operand_of(t.factors[0]);
      alpha = {t.negate ? -sign : sign, t.scalar, {}};
    } else {
      value = new_temporary(compute_type(s.left.type), table.labels);
      whole_ = terms.size() == 1;
      if (is_pointwise(s, terms)) add_pointwise(terms, value, {0, -1, {}}, sign);
      else
        for (const product* p : terms)
          add_product(*p, value, {p->negate ? -sign : sign, p->scalar, {}}, {p == terms[0] ? 0.0 : 1.0, -1, {}});
    }
    emit(table, value, tensor, alpha, {1, -1, {}});
    out_.ops.back().what = action::scatter;
    out_.ops.back().table_stride = s.left.lookups[0].stride;
  }

  bool is_overlapped(const statement& s, const std::vector<const product*>& terms) const {
    for (const product* t : terms)
      for (const reference& f : t->factors)
        if (verdict(s.left, f) == overlap::kind::may || verdict(s.left, f) == overlap::kind::same) return true;
    return false;
  }

  /// A note for the plan; under strict options an overlap is an error.
  void say_aside(const std::string& left, bool overlaps) {
    out_.notes.push_back(left + ": computed aside, then stored: " +
                         (overlaps ? "the left side may share memory with a factor" : "several terms of 16 bits"));
    if (overlaps && options_.strict)
      throw error(errc::too_slow, "the left side " + left + " may overlap a factor, so the statement needs a temporary copy (strict)");
  }

  enum class buffering : std::uint8_t { no, overlap, narrow_sum };
  /// Whether, and why, the statement must be computed aside before the left side changes.
  buffering needs_buffer(const statement& s, const std::vector<const product*>& terms) const {
    std::size_t factors = 0;
    for (const product* t : terms) factors += t->factors.size();
    // More would be several operations: the later ones would read what the first has written.
    const bool at_once = is_pointwise(s, terms) && terms.size() <= most_statement_terms && factors <= most_statement_factors;
    for (const product* t : terms)
      for (const reference& f : t->factors) {
        const overlap::kind v = verdict(s.left, f);
        if (v == overlap::kind::may) return buffering::overlap;
        const bool first = t == terms[0] && is_left_itself(s, *t);  // done before anything else is added
        if (v == overlap::kind::same && !first && !at_once && (terms.size() > 1 || t->factors.size() > 2 || sums(s, *t))) return buffering::overlap;
      }
    const bool narrow = s.left.local < 0 && compute_type(s.left.type) != s.left.type;
    return narrow && terms.size() > 1 && !is_elementwise(s, terms) ? buffering::narrow_sum : buffering::no;
  }

  void add_statement(const statement& s) {
    coefficient beta{s.op == update::assign ? 0.0 : 1.0, -1, {}};
    const double sign = s.op == update::subtract ? -1 : 1;
    if (s.left.local >= 0 && local_[s.left.local] < 0) {
      std::vector<int> labels;
      for (const auto& axis : s.left.axes)
        if (extent(axis.label) != 1) labels.push_back(axis.label);
      local_[s.left.local] = new_temporary(compute_type(s.left.type), labels, temporary::origin::local).id;
    }
    for (int l : labels_of(s.left))
      if (extent(l) == 0) return;
    std::vector<const product*> terms;
    std::size_t own = 0;  // terms that are the left side itself and stay terms; they are first
    for (const product& t : s.terms) {
      if (is_empty(t)) continue;
      if (!is_left_itself(s, t)) terms.push_back(&t);
      else if (!put_in(beta, t, t.negate ? -sign : sign)) terms.insert(terms.begin() + static_cast<std::ptrdiff_t>(own++), &t);
    }
    add_terms(s, terms, beta, sign);
  }

  bool is_left_itself(const statement& s, const product& t) const {
    return t.factors.size() == 1 && !t.factors[0].conj && t.factors[0].apply == function::identity &&
           verdict(s.left, t.factors[0]) == overlap::kind::same;
  }

  /// Adds the coefficient of the left side itself to beta. Not where the two might cancel: nan - nan is not 0.
  static bool put_in(coefficient& beta, const product& t, double sign) {
    const bool alone = is_zero(beta);
    if (t.scalar >= 0 && alone) beta.more.push_back({t.scalar, sign});
    else if (t.scalar < 0 && beta.more.empty() && beta.base * sign >= 0) beta.base += sign;
    else return false;
    return true;
  }

  /// A local that is what a table finds in a tensor: gathered where it is wanted.
  bool is_gathered(const statement& s, const std::vector<const product*>& terms) const {
    if (s.left.local < 0 || terms.size() != 1 || terms[0]->factors.size() != 1) return false;
    const product& t = *terms[0];
    const reference& r = t.factors[0];
    const std::vector<int> to = moving_labels(s.left), from = moving_labels(r);
    return !r.lookups.empty() && !r.conj && r.apply == function::identity && t.how == combine::multiply && t.scalar < 0 && !t.negate &&
           r.type == compute_type(s.left.type) && std::is_permutation(to.begin(), to.end(), from.begin(), from.end()) &&
           made_.find(identity_of(r)) == made_.end();
  }

  void gather_local(const reference& r, const operand& to) {
    gather(r, to);
    const auto& all = out_.source.statements;
    const auto writes = [&](const statement& s) { return s.left.local >= 0 && local_[s.left.local] == to.id; };
    if (shares_ && std::count_if(all.begin(), all.end(), writes) == 1) made_[identity_of(r)] = to;
  }

  void add_terms(const statement& s, const std::vector<const product*>& terms, const coefficient& beta, double sign) {
    if (!s.left.lookups.empty()) return add_scatter(s, terms, sign);
    const operand left = operand_of(s.left);
    const dtype type = compute_type(left.type);
    if (terms.empty()) {
      if (beta == coefficient{1, -1, {}}) return;
      emit(one(type), one(type), left, {0, -1, {}}, beta);
      return;
    }
    if (is_zero(beta) && sign == 1 && is_gathered(s, terms)) return gather_local(terms[0]->factors[0], left);
    const bool pointwise = is_pointwise(s, terms);
    const buffering buffer = needs_buffer(s, terms);
    operand target = left;
    coefficient first = beta;
    if (buffer != buffering::no) {
      target = new_temporary(type, left.labels);
      first = {0, -1, {}};
      say_aside(left.name, buffer == buffering::overlap);
    }
    if (pointwise) add_pointwise(terms, target, first, sign);
    whole_ = terms.size() == 1;
    for (const product* t : terms) {
      if (pointwise) break;
      add_product(*t, target, {t->negate ? -sign : sign, t->scalar, {}}, first);
      first = {1, -1, {}};
    }
    if (buffer != buffering::no) emit(one(type), target, left, {1, -1, {}}, beta);
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
      operand sum = new_temporary(compute_type(factors[f].type), kept);
      emit(one(sum.type), factors[f], sum, {1, -1, {}}, {0, -1, {}});
      factors[f] = sum;
    }
  }

  void add_product(const product& t, const operand& target, const coefficient& alpha, const coefficient& beta) {
    std::vector<operand> factors;
    if (t.how != combine::multiply) factors = {extremum_of(t)};
    else
      for (const reference& f : t.factors) factors.push_back(applied(f));
    reduce_lone(factors, target);
    const dtype type = compute_type(target.type);
    if (factors.empty()) return emit(one(type), one(type), target, alpha, beta);
    if (factors.size() == 1) return emit(one(type), factors[0], target, alpha, beta);
    if (factors.size() == 2) return emit(factors[0], factors[1], target, alpha, beta);
    if (shares_ && factors.size() == t.factors.size() && shared_.is_worth_it(t))
      return add_shared(permuted(t), factors, target, alpha, beta);
    add_tree(std::move(factors), target, alpha, beta);
  }

  /// Contracts in the best order. The search breaks ties by position, so a variant shows it the factors in another
  /// sequence: rotated, or rotated and reversed.
  std::vector<std::pair<int, int>> order_of(const std::vector<operand>& factors, const operand& target) const {
    const int count = static_cast<int>(factors.size());
    const std::vector<int> sequence = sequence_of(count);
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

  std::vector<int> sequence_of(int count) const {
    std::vector<int> sequence(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      const int at = (i + (variant_ / 2) * std::max(1, count / 3)) % count;
      const bool back = variant_ >= variant_count && statement_ > 0;  // then later statements begin where the first ended
      sequence[static_cast<std::size_t>(i)] = (variant_ % 2 != 0) != back ? count - 1 - at : at;
    }
    return sequence;
  }

  /// A term with its factors in the sequence of the variant.
  product permuted(const product& t) const {
    product out = t;
    out.factors.clear();
    for (int f : sequence_of(static_cast<int>(t.factors.size()))) out.factors.push_back(t.factors[static_cast<std::size_t>(f)]);
    return out;
  }

  /// Contracts in an order that uses products made before, and makes those that come again.
  void add_shared(const product& t, std::vector<operand> factors, const operand& target, const coefficient& alpha,
                  const coefficient& beta) {
    const std::vector<int> sequence = sequence_of(static_cast<int>(factors.size()));
    std::vector<operand> ordered;
    for (int f : sequence) ordered.push_back(factors[static_cast<std::size_t>(f)]);
    factors = std::move(ordered);
    const sharing::order o = shared_.order_of(t, target.labels, [&](const std::string& key) { return made_.count(key) > 0; });
    const auto build = [&](auto& self, unsigned set) -> operand {
      for (std::size_t f = 0; f < factors.size(); ++f)
        if (set == 1u << f) return factors[f];
      const std::string& key = o.key[set];
      if (const auto known = made_.find(key); known != made_.end()) return known->second;
      const operand x = self(self, o.split[set]), y = self(self, set ^ o.split[set]);
      operand z = new_temporary(compute_type(target.type), o.kept[set]);
      emit(x, y, z, {1, -1, {}}, {0, -1, {}});
      return made_[key] = z;
    };
    const unsigned all = (1u << factors.size()) - 1;
    if (const auto known = made_.find(o.key[all]); known != made_.end())
      return emit(one(target.type), known->second, target, alpha, beta);
    const operand x = build(build, o.split[all]), y = build(build, all ^ o.split[all]);
    emit(x, y, target, alpha, beta);
    const bool plain = is_one(alpha) && is_zero(beta);
    if (plain && whole_ && target.where == operand::kind::temporary) made_[o.key[all]] = target;
  }

  /// The same order with small factors multiplied out, if that is wanted.
  multiplied_order multiplied(const contraction_steps& steps, const std::vector<operand>& factors, const operand& target) const {
    if (!multiplies_) return {steps, 0};
    contraction of;
    for (const operand& f : factors) {
      of.factors.push_back(f.labels);
      of.small.push_back(f.where == operand::kind::external);
    }
    of.result = target.labels;
    std::vector<std::int64_t> extents;
    for (const label_info& l : out_.source.labels) extents.push_back(l.extent);
    return multiplied_out(steps, of, extents, *multiplies_);
  }

  void add_tree(std::vector<operand> parts, const operand& target, const coefficient& alpha, const coefficient& beta) {
    const auto [steps, made] = multiplied(order_of(parts, target), parts, target);
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
      operand z = new_temporary(compute_type(target.type), labels);
      if (s < made) once_.push_back(out_.ops.size());
      emit(x, y, z, {1, -1, {}}, {0, -1, {}});
      parts.push_back(z);
    }
  }

  options options_;
  bool whole_ = false;  // the product that is added is all that its target gets
  int variant_;
  sharing shared_;
  std::vector<bool> gone_;  // statements that only named a tensor
  const multiplied_limits* multiplies_ = nullptr;
  std::vector<std::size_t> once_;  // operations that multiply small factors with one another
};

}  // namespace

work make_work(const program& p, const options& o, int variant, bool on_cpu, const multiplied_limits* multiplies) {
  return builder(p, o, variant, on_cpu, multiplies).run();
}

}  // namespace ricci::planning
