// From statement types to one flat constant and its verdict.
#pragma once

#include <ricci/analysis/verdict.hpp>
#include <ricci/expr/statement.hpp>

namespace ricci::detail {

/// The arrays behind a flat_program.
template <int Leaves, int Axes, int Uses, int Terms, int Statements, int Labels>
struct flat_storage {
  leaf_info leaves[at_least_one(Leaves)]{};
  axis_info axes[at_least_one(Axes)]{};
  use_info uses[at_least_one(Uses)]{};
  term_info terms[at_least_one(Terms)]{};
  statement_info statements[at_least_one(Statements)]{};
  name_ref labels[at_least_one(Labels)]{};
  int label_count = 0, number_count = 0, scalar_count = 0, slot_count = 0;

  constexpr flat_writer writer() { return {leaves, axes, uses, terms, labels}; }
  constexpr bool looks_at_memory() const {
    for (const leaf_info& l : leaves)
      if (l.index_bytes > 0 || l.even_odd) return true;
    return false;
  }
  constexpr flat_program program() const {
    return {leaves, axes,  uses,       terms,       statements,   labels,       Leaves,
            Axes,   Uses,  Terms,      Statements,  label_count,  number_count, scalar_count,
            slot_count, false, looks_at_memory()};
  }
};

template <class S>
inline constexpr counts statement_size = beside(S::left_type::size, S::right_type::size);

template <class... S>
constexpr counts total_size() {
  counts out;
  ((out = beside(out, statement_size<S>)), ...);
  return out;
}

/// Appends one statement: its leaves in order, then its terms.
template <class S>
constexpr void flatten_statement(flat_writer& to, statement_info& info, int scalar) {
  using left = typename S::left_type;
  using right = typename S::right_type;
  info = {S::op, to.leaf_count, to.term_count, right::size.terms};
  left::describe(to);
  const int leaf = to.leaf_count;
  right::describe(to);
  for (int t = 0; t < right::size.terms; ++t) {
    to.terms[to.term_count].first_use = to.use_count;
    right::put_term(to, t, leaf, scalar, false);
    to.terms[to.term_count].use_count = to.use_count - to.terms[to.term_count].first_use;
    ++to.term_count;
  }
}

template <class... S>
constexpr auto flatten() {
  constexpr counts size = total_size<S...>();
  constexpr int statements = sizeof...(S);
  flat_storage<size.leaves, size.axes, size.uses - statements, size.terms - statements, statements,
               size.axes + size.marks> out;
  flat_writer to = out.writer();
  int n = 0, scalar = 0;
  ((flatten_statement<S>(to, out.statements[n++], scalar), scalar += S::right_type::size.scalars), ...);
  out.label_count = to.label_count;
  out.number_count = to.number_count;
  out.scalar_count = size.scalars;
  out.slot_count = size.factors;
  return out;
}

/// The first fault that types alone can know.
constexpr verdict judge_statically(const flat_program& p, label_facts* facts) {
  verdict v;
  for (int s = 0; v.ok() && s < p.statement_count; ++s) {
    for (int l = 0; l < p.label_count; ++l) facts[l] = {};
    v = judge(p, nullptr).statement(s, facts);
  }
  return v;
}

/// Everything known of a list of statements without running: `flat`, `fault`.
template <class... S>
struct source {
  static constexpr counts size = total_size<S...>();
  static constexpr auto storage = flatten<S...>();
  static constexpr flat_program flat = storage.program();
  static constexpr verdict fault = [] {
    label_facts facts[at_least_one(size.axes + size.marks)];
    return judge_statically(flat, facts);
  }();
};

}  // namespace ricci::detail
