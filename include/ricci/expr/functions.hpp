// Pointwise functions in statements: quotients, sqrt, abs, exp, reciprocal, min, max.
//
// A function is taken of a tensor, element by element; a sum, or what has a sign, is assigned to a local first:
//   fuse(n(e,q).assign(x(e,q) * x(e,q) + y(e,q) * y(e,q)), w(e,q).assign(sqrt(n(e,q)) / z(e,q)))
#pragma once

#include <ricci/expr/operators.hpp>

namespace ricci {
namespace detail {

template <function F, class E>
constexpr applied_node<F, E> apply(const E& e) {
  if constexpr (!applied_node<F, E>::fits && !E::size.broken) static_cast<void>(sizeof(bad_function<E::size.factors>));
  return {e};
}

template <combine How, class L, class R>
constexpr extremum_node<How, L, R> extremum(const L& l, const R& r) {
  using node_type = extremum_node<How, L, R>;
  if constexpr (node_type::size.broken && !L::size.broken && !R::size.broken)
    static_cast<void>(sizeof(bad_function<node_type::size.factors>));
  return {l, r};
}

template <class E>
constexpr broken_node number_in_extremum() {
  static_cast<void>(sizeof(bad_function<E::size.factors>));
  return {};
}

}  // namespace detail

/// conj(x), -x, max(x(i), y) of tensors that lack their labels.
template <detail::unlabelled X>
constexpr auto conj(const X&) { return detail::lacks_labels<X, X>(); }
template <detail::unlabelled X>
  requires(!detail::element_list<X>)
constexpr auto operator-(const X&) { return detail::lacks_labels<X, X>(); }
template <detail::unlabelled X>
constexpr auto reciprocal(const X&) { return detail::lacks_labels<X, X>(); }
template <detail::unlabelled X>
constexpr auto sqrt(const X&) { return detail::lacks_labels<X, X>(); }
template <detail::unlabelled X>
constexpr auto abs(const X&) { return detail::lacks_labels<X, X>(); }
template <detail::unlabelled X>
constexpr auto exp(const X&) { return detail::lacks_labels<X, X>(); }
template <class L, class R>
  requires detail::one_unlabelled<L, R>
constexpr auto min(const L&, const R&) { return detail::lacks_labels<L, R>(); }
template <class L, class R>
  requires detail::one_unlabelled<L, R>
constexpr auto max(const L&, const R&) { return detail::lacks_labels<L, R>(); }

/// x / y, element by element; y is a tensor or a product of tensors.
template <detail::expression L, detail::expression R>
constexpr auto operator/(const L& l, const R& r) { return l * detail::apply<function::reciprocal>(r); }
template <detail::scalar_like S, detail::expression R>
constexpr auto operator/(const S& s, const R& r) { return s * detail::apply<function::reciprocal>(r); }

template <detail::expression E>
constexpr auto reciprocal(const E& e) { return detail::apply<function::reciprocal>(e); }
template <detail::expression E>
constexpr auto sqrt(const E& e) { return detail::apply<function::sqrt>(e); }
template <detail::expression E>
constexpr auto abs(const E& e) { return detail::apply<function::abs>(e); }
template <detail::expression E>
constexpr auto exp(const E& e) { return detail::apply<function::exp>(e); }

/// The smaller and the larger of two tensors' elements, as std::min and std::max: the first if one is NaN. A whole term of
/// a statement.
template <detail::expression L, detail::expression R>
constexpr auto min(const L& l, const R& r) { return detail::extremum<combine::minimum>(l, r); }
template <detail::expression L, detail::expression R>
constexpr auto max(const L& l, const R& r) { return detail::extremum<combine::maximum>(l, r); }
/// A number stands in a tensor of rank 0: max(x(i), zero()).
template <detail::expression L, detail::scalar_like S>
constexpr detail::broken_node min(const L&, const S&) { return detail::number_in_extremum<L>(); }
template <detail::scalar_like S, detail::expression R>
constexpr detail::broken_node min(const S&, const R&) { return detail::number_in_extremum<R>(); }
template <detail::expression L, detail::scalar_like S>
constexpr detail::broken_node max(const L&, const S&) { return detail::number_in_extremum<L>(); }
template <detail::scalar_like S, detail::expression R>
constexpr detail::broken_node max(const S&, const R&) { return detail::number_in_extremum<R>(); }
/// Of one type, where `using namespace std` would prefer std::min and std::max.
template <detail::expression E>
constexpr auto min(const E& x, const E& y) { return detail::extremum<combine::minimum>(x, y); }
template <detail::expression E>
constexpr auto max(const E& x, const E& y) { return detail::extremum<combine::maximum>(x, y); }

}  // namespace ricci
