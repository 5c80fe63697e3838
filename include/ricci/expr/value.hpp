// The value of an expression without labels, `double alpha = rr() / pq()`: of numbers and tensors of rank 0 on the host.
#pragma once

#include <cmath>
#include <compare>

#include <ricci/expr/nodes.hpp>

namespace ricci::detail {

/// A number is of the type of the tensors beside it.
struct any_real {};
struct any_complex {};

template <class X, class Y>
constexpr auto joined_type() {
  if constexpr (std::is_same_v<X, Y> || std::is_same_v<Y, any_real>) return std::type_identity<X>{};
  else if constexpr (std::is_same_v<X, any_real> || (std::is_same_v<X, any_complex> && is_complex_type<Y>)) return std::type_identity<Y>{};
  else if constexpr (std::is_same_v<Y, any_complex> && is_complex_type<X>) return std::type_identity<X>{};
  else return std::type_identity<void>{};
}
template <class X, class Y> using joined = typename decltype(joined_type<X, Y>())::type;

template <bool Complex>
struct value_of<scalar_node<Complex>> {
  using type = std::conditional_t<Complex, any_complex, any_real>;
};
template <class View>
  requires(View::shape_type::rank == 0 && View::shape_type::space == memory_space::host)
struct value_of<access<View>> {
  using type = std::remove_cv_t<typename View::element_type>;
};
template <class L, class R>
struct value_of<product_node<L, R>> {
  using type = joined<typename value_of<L>::type, typename value_of<R>::type>;
};
template <class L, class R, bool Minus>
struct value_of<sum_node<L, R, Minus>> {
  using type = joined<typename value_of<L>::type, typename value_of<R>::type>;
};
template <class E> struct value_of<negated_node<E>> : value_of<E> {};
template <class E> struct value_of<conjugated_node<E>> : value_of<E> {};
template <function F, class E>
struct value_of<applied_node<F, E>> {
  using inner = typename value_of<E>::type;
  using type = std::conditional_t<applied_node<F, E>::fits && !is_complex_type<inner>, inner, void>;
};

// C: what is computed in. A real number stays real beside complex ones, so that it multiplies part by part.

template <class C, bool Complex>
constexpr auto value(const scalar_node<Complex>& x) {
  if constexpr (Complex) return static_cast<C>(x.value);
  else return static_cast<decltype(std::abs(C()))>(x.value.real());
}
template <class C, class View>
constexpr C value(const access<View>& x) { return static_cast<C>(static_cast<typename View::element_type&>(x)); }

template <class C, class L, class R> constexpr auto value(const product_node<L, R>& x);
template <class C, class L, class E> constexpr auto value(const product_node<L, applied_node<function::reciprocal, E>>& x);
template <class C, class L, class R, bool Minus> constexpr auto value(const sum_node<L, R, Minus>& x);
template <class C, class E> constexpr auto value(const negated_node<E>& x) { return -value<C>(x.inner); }
template <class C, class E>
constexpr auto value(const conjugated_node<E>& x) {
  if constexpr (is_complex_type<C>) return static_cast<C>(std::conj(value<C>(x.inner)));
  else return value<C>(x.inner);
}
template <class C, function F, class E>
constexpr auto value(const applied_node<F, E>& x) {
  const C y = value<C>(x.inner);
  if constexpr (F == function::reciprocal) return 1 / y;
  else if constexpr (F == function::sqrt) return std::sqrt(y);
  else if constexpr (F == function::abs) return std::abs(y);
  else return std::exp(y);
}
template <class C, class L, class R>
constexpr auto value(const product_node<L, R>& x) { return value<C>(x.left) * value<C>(x.right); }
/// A quotient is one division.
template <class C, class L, class E>
constexpr auto value(const product_node<L, applied_node<function::reciprocal, E>>& x) { return value<C>(x.left) / value<C>(x.right.inner); }
template <class C, class L, class R, bool Minus>
constexpr auto value(const sum_node<L, R, Minus>& x) {
  if constexpr (Minus) return value<C>(x.left) - value<C>(x.right);
  else return value<C>(x.left) + value<C>(x.right);
}

/// Computed in double, as the coefficients of plans are.
template <class T> using wide_of = std::conditional_t<is_complex_type<T>, std::complex<double>, double>;
template <class T, class E>
constexpr T value_as(const E& e) { return static_cast<T>(static_cast<compute_of<T>>(value<wide_of<T>>(e))); }

template <class E> concept valued = expression<E> && !std::is_void_v<typename value_of<E>::type>;
template <class L, class R> concept comparable = (valued<L> && (valued<R> || scalar_like<R>)) || (scalar_like<L> && valued<R>);

/// What is compared: the value in its own type, as wide as a number beside it.
template <class X>
constexpr auto compared(const X& x) {
  if constexpr (valued<X>) {
    using T = typename value_of<X>::type;
    return static_cast<wide_of<T>>(static_cast<compute_of<T>>(value_as<T>(x)));
  } else {
    return static_cast<wide_of<X>>(x);
  }
}

/// An expression of which a number of type T takes nothing, neither its value nor that of an element.
template <class E, class T>
concept gives_none_of = expression<E> && !has_value<E, T> && !std::is_convertible_v<const E&, T> && !std::is_convertible_v<const E&, double>;

}  // namespace ricci::detail

namespace ricci {

/// s() == 2 * t(), and of real ones s() / t() > 0.5.
template <class L, class R>
  requires detail::comparable<L, R>
constexpr bool operator==(const L& l, const R& r) { return detail::compared(l) == detail::compared(r); }
template <class L, class R>
  requires detail::comparable<L, R>
constexpr std::partial_ordering operator<=>(const L& l, const R& r) { return detail::compared(l) <=> detail::compared(r); }

/// A number and such an expression: `sum += rr() * pq();`
template <detail::scalar_like T, class E>
  requires detail::has_value<E, T>
constexpr T& operator+=(T& x, const E& e) { return x = x + static_cast<T>(e); }
template <detail::scalar_like T, class E>
  requires detail::has_value<E, T>
constexpr T& operator-=(T& x, const E& e) { return x = x - static_cast<T>(e); }
template <detail::scalar_like T, class E>
  requires detail::has_value<E, T>
constexpr T& operator*=(T& x, const E& e) { return x = x * static_cast<T>(e); }
template <detail::scalar_like T, class E>
  requires detail::has_value<E, T>
constexpr T& operator/=(T& x, const E& e) { return x = x / static_cast<T>(e); }

/// What it does not take is said in one line, instead of all operators that there are.
template <detail::scalar_like T, detail::gives_none_of<T> E>
void operator+=(T&, const E&) { (void)sizeof(detail::number_on_left<T, E>); }
template <detail::scalar_like T, detail::gives_none_of<T> E>
void operator-=(T&, const E&) { (void)sizeof(detail::number_on_left<T, E>); }
template <detail::scalar_like T, detail::gives_none_of<T> E>
void operator*=(T&, const E&) { (void)sizeof(detail::number_on_left<T, E>); }
template <detail::scalar_like T, detail::gives_none_of<T> E>
void operator/=(T&, const E&) { (void)sizeof(detail::number_on_left<T, E>); }

}  // namespace ricci
