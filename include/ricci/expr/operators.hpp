// The algebra: products, scalars, sums, differences, unary minus, conj, and sum(label, ...).
#pragma once

#include <ricci/expr/value.hpp>

namespace ricci {

// Overloads for two expressions and for a number on either side, rather than one that tells them apart: what is
// instantiated for every product of every statement must be little.

template <detail::expression L, detail::expression R>
  requires(!detail::whole_term<L> && !detail::whole_term<R>)
constexpr detail::product_node<L, R> operator*(const L& l, const R& r) { return {l, r}; }
/// min and max stand alone in their term.
template <detail::expression L, detail::expression R>
  requires(detail::whole_term<L> || detail::whole_term<R>)
constexpr detail::broken_node operator*(const L&, const R&) {
  static_cast<void>(sizeof(detail::bad_function<L::size.factors + R::size.factors>));
  return {};
}
template <detail::expression L, detail::scalar_like S>
constexpr detail::product_node<L, detail::node_of<S>> operator*(const L& l, const S& s) { return {l, detail::node(s)}; }
template <detail::scalar_like S, detail::expression R>
constexpr detail::product_node<detail::node_of<S>, R> operator*(const S& s, const R& r) { return {detail::node(s), r}; }

/// Multiplies by the reciprocal, taken in double.
template <detail::expression E, detail::scalar_like S>
constexpr auto operator/(const E& e, const S& s) {
  detail::node_of<S> reciprocal = detail::node(s);
  if constexpr (detail::is_complex_type<S>) reciprocal.value = 1.0 / reciprocal.value;
  else reciprocal.value = 1.0 / reciprocal.value.real();  // of 0 infinity, where the complex one has a NaN beside it
  return detail::product_node<E, detail::node_of<S>>{e, reciprocal};
}

namespace detail {

/// An expression that is no number.
template <class E>
concept without_value = expression<E> && std::is_void_v<typename value_of<E>::type>;

/// Labels, texts, matrices of another library: no tensors, and without operators for expressions.
template <class X>
concept foreign = !expression<X> && (is_labelled<X> || std::is_array_v<X> || std::is_pointer_v<X> || (matrix_like<X> && !requires { X::ricci_batch; }));

/// X lacks its labels beside Y. A std::vector does so beside an expression alone: others may have operators for it.
template <class X, class Y>
concept lacks_labels_beside = unlabelled<X> && right_side<Y> && (!element_list<X> || expression<Y>);

/// x(i) * y, 2 * y, x + y: one of the two lacks its labels, or both.
template <class L, class R>
concept one_unlabelled = lacks_labels_beside<L, R> || lacks_labels_beside<R, L> || (foreign<L> && without_value<R>) || (without_value<L> && foreign<R>);

/// What is not ordered: an expression, a tensor.
template <class X>
concept unordered = without_value<X> || has_shape<X>;
template <class Left, class Right> struct not_ordered;  // analysis/misuse.hpp

template <class L, class R>
constexpr broken_node lacks_labels() {
  using wrong = std::conditional_t<unlabelled<L> || foreign<L>, L, R>;
  if constexpr (!std::is_same_v<wrong, broken_subscript> && !is_said<L> && !is_said<R>) static_cast<void>(sizeof(without_labels<wrong>));
  return {};
}

}  // namespace detail

template <class L, class R>
  requires detail::one_unlabelled<L, R>
constexpr auto operator*(const L&, const R&) { return detail::lacks_labels<L, R>(); }
template <class L, class R>
  requires detail::one_unlabelled<L, R>
constexpr auto operator/(const L&, const R&) { return detail::lacks_labels<L, R>(); }
template <class L, class R>
  requires detail::one_unlabelled<L, R>
constexpr auto operator+(const L&, const R&) { return detail::lacks_labels<L, R>(); }
template <class L, class R>
  requires detail::one_unlabelled<L, R>
constexpr auto operator-(const L&, const R&) { return detail::lacks_labels<L, R>(); }

template <class L, class R>
  requires detail::lacks_labels_beside<L, R>
constexpr void operator+=(const L&, const R&) { detail::lacks_labels<L, R>(); }
template <class L, class R>
  requires detail::lacks_labels_beside<L, R>
constexpr void operator-=(const L&, const R&) { detail::lacks_labels<L, R>(); }
template <class L, class R>
  requires detail::lacks_labels_beside<L, R>
constexpr void operator*=(const L&, const R&) { detail::lacks_labels<L, R>(); }
template <class L, class R>
  requires detail::lacks_labels_beside<L, R>
constexpr void operator/=(const L&, const R&) { detail::lacks_labels<L, R>(); }

template <detail::expression L, detail::expression R>
constexpr detail::sum_node<L, R, false> operator+(const L& l, const R& r) { return {l, r}; }
template <detail::expression L, detail::scalar_like S>
constexpr detail::sum_node<L, detail::node_of<S>, false> operator+(const L& l, const S& s) {
  return {l, detail::node(s)};
}
template <detail::scalar_like S, detail::expression R>
constexpr detail::sum_node<detail::node_of<S>, R, false> operator+(const S& s, const R& r) {
  return {detail::node(s), r};
}

template <detail::expression L, detail::expression R>
constexpr detail::sum_node<L, R, true> operator-(const L& l, const R& r) { return {l, r}; }
template <detail::expression L, detail::scalar_like S>
constexpr detail::sum_node<L, detail::node_of<S>, true> operator-(const L& l, const S& s) {
  return {l, detail::node(s)};
}
template <detail::scalar_like S, detail::expression R>
constexpr detail::sum_node<detail::node_of<S>, R, true> operator-(const S& s, const R& r) {
  return {detail::node(s), r};
}

template <detail::expression E>
constexpr detail::negated_node<E> operator-(const E& e) { return {e}; }

template <detail::expression E>
constexpr E operator+(const E& e) { return e; }

/// A(i,j) == B(i,j), 0 != A(i,j). What is of rank 0 alone has a value and is compared.
template <detail::expression L, detail::right_side R>
  requires(std::is_void_v<typename detail::value_of<L>::type> || (!detail::scalar_like<R> && std::is_void_v<typename detail::value_of<R>::type>))
constexpr bool operator==(const L&, const R&) {
  if constexpr (!detail::is_said<L> && !detail::is_said<R>) static_cast<void>(sizeof(detail::not_compared<L, R>));
  return false;
}

/// x(i) < y(i), x(i) < 2, A < B, s < 2.
template <class L, class R>
  requires(detail::unordered<L> || detail::unordered<R>) && detail::right_side<L> && detail::right_side<R>
constexpr std::partial_ordering operator<=>(const L&, const R&) {
  if constexpr (!detail::is_said<L> && !detail::is_said<R>) static_cast<void>(sizeof(detail::not_ordered<L, R>));
  return std::partial_ordering::unordered;
}
/// A == 2, and A == B of two element types.
template <detail::has_shape L, class R>
  requires(detail::scalar_like<R> || (detail::has_shape<R> && !std::is_same_v<typename L::value_type, typename R::value_type>))
constexpr bool operator==(const L&, const R&) {
  static_cast<void>(sizeof(detail::not_compared<L, R>));
  return false;
}

/// The complex conjugate of all that is in it; real tensors stay as they are.
template <detail::expression E>
constexpr detail::conjugated_node<E> conj(const E& e) { return {e}; }

/// sum(j, A(i,j)): sums over a label that occurs once. The label may not occur outside of the parentheses.
template <class L, detail::expression E>
  requires detail::is_label<L>
constexpr detail::summed_node<L, E> sum(const L&, const E& e) { return {e}; }

/// sum(j, k, ..., expression).
template <class L, class M, class... Rest>
  requires(detail::is_label<L> && detail::is_label<M> && sizeof...(Rest) > 0)
constexpr auto sum(const L& l, const M& m, const Rest&... rest) { return sum(l, sum(m, rest...)); }

template <class L, detail::unlabelled X>
  requires detail::is_label<L>
constexpr auto sum(const L&, const X& x) { return detail::node(x); }

namespace detail {

/// Labels, and behind them something to sum.
template <class... X>
consteval bool is_sum() {
  const bool labels[] = {is_label<X>...}, summands[] = {(expression<X> || unlabelled<X>)...};
  const int last = sizeof...(X) - 1;
  for (int n = 0; n < last; ++n)
    if (!labels[n]) return false;
  return last > 0 && summands[last];
}

}  // namespace detail

/// sum(A(i,j)), sum(A(i,j), j), sum(j.in(0, 2), A(i,j)), ...
template <class... X>
  requires(((detail::expression<X> || detail::unlabelled<X> || detail::is_labelled<X>) || ...) && !detail::is_sum<X...>())
constexpr detail::broken_node sum(const X&...) {
  if constexpr (!(detail::is_said<X> || ...)) static_cast<void>(sizeof(detail::bad_sum_arguments<X...>));
  return {};
}

}  // namespace ricci
