// The inner nodes of an expression. Each holds its children by value and knows: how much room it needs (size), its
// leaves (describe), its t-th term after distribution (emit), and its run-time part (put).
#pragma once

#include <ricci/expr/access.hpp>

namespace ricci::detail {

template <bool Complex>
struct scalar_node {
  std::complex<double> value;
  static constexpr bool ricci_expression = true;
  static constexpr counts size{0, 0, 0, 1, 0, 1, 1, 0, 0, false};
  static constexpr void describe(flat_writer&) {}
  static constexpr void emit(flat_writer& to, int, int, int scalar, bool conj) {
    to.use({Complex ? use_info::kind::complex_scalar : use_info::kind::real_scalar, conj, scalar, 0});
  }
  constexpr void put(sink& to) const { *to.scalars++ = value; }
};

template <class L, class R>
struct product_node {
  L left;
  R right;
  static constexpr bool ricci_expression = true;
  static constexpr counts size = times(L::size, R::size);
  static constexpr void describe(flat_writer& to) {
    L::describe(to);
    R::describe(to);
  }
  static constexpr void emit(flat_writer& to, int term, int leaf, int scalar, bool conj) {
    L::emit(to, term / R::size.terms, leaf, scalar, conj);
    R::emit(to, term % R::size.terms, leaf + L::size.leaves, scalar + L::size.scalars, conj);
  }
  constexpr void put(sink& to) const {
    left.put(to);
    right.put(to);
  }
};

template <class L, class R, bool Minus>
struct sum_node {
  L left;
  R right;
  static constexpr bool ricci_expression = true;
  static constexpr counts size = beside(L::size, R::size);
  static constexpr void describe(flat_writer& to) {
    L::describe(to);
    R::describe(to);
  }
  static constexpr void emit(flat_writer& to, int term, int leaf, int scalar, bool conj) {
    if (term < L::size.terms) return L::emit(to, term, leaf, scalar, conj);
    if (Minus) to.terms[to.term_count].negate ^= true;
    R::emit(to, term - L::size.terms, leaf + L::size.leaves, scalar + L::size.scalars, conj);
  }
  constexpr void put(sink& to) const {
    left.put(to);
    right.put(to);
  }
};

template <class E>
struct negated_node {
  E inner;
  static constexpr bool ricci_expression = true;
  static constexpr counts size = E::size;
  static constexpr void describe(flat_writer& to) { E::describe(to); }
  static constexpr void emit(flat_writer& to, int term, int leaf, int scalar, bool conj) {
    to.terms[to.term_count].negate ^= true;
    E::emit(to, term, leaf, scalar, conj);
  }
  constexpr void put(sink& to) const { inner.put(to); }
};

template <class E>
struct conjugated_node {
  E inner;
  static constexpr bool ricci_expression = true;
  static constexpr counts size = E::size;
  static constexpr void describe(flat_writer& to) { E::describe(to); }
  static constexpr void emit(flat_writer& to, int term, int leaf, int scalar, bool conj) {
    E::emit(to, term, leaf, scalar, !conj);
  }
  constexpr void put(sink& to) const { inner.put(to); }
};

template <class L, class E>
struct summed_node {
  E inner;
  static constexpr bool ricci_expression = true;
  static constexpr counts size = [] {
    counts out = E::size;
    ++out.marks;
    out.uses += out.terms;
    return out;
  }();
  static constexpr void describe(flat_writer& to) {
    E::describe(to);
    to.label_index(L::name);
  }
  static constexpr void emit(flat_writer& to, int term, int leaf, int scalar, bool conj) {
    const int before = to.use_count;
    E::emit(to, term, leaf, scalar, conj);
    to.use({use_info::kind::mark, false, to.label_index(L::name), to.use_count - before});
  }
  constexpr void put(sink& to) const { inner.put(to); }
};

/// A number as a node; an expression as itself.
template <expression E>
constexpr const E& node(const E& e) { return e; }
template <scalar_like E>
constexpr auto node(const E& e) {
  if constexpr (is_complex_type<E>) return scalar_node<true>{std::complex<double>(e)};
  else return scalar_node<false>{std::complex<double>(static_cast<double>(e))};
}

template <class E> using node_of = std::remove_cvref_t<decltype(node(std::declval<const E&>()))>;

}  // namespace ricci::detail
