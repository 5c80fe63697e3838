// Functions of expressions that there are none of, said in one line instead of all functions of that name.
#pragma once

#include <ricci/expr/operators.hpp>

namespace ricci {
namespace detail {

template <class... Given> struct no_function;  // analysis/misuse.hpp
template <class Given> struct not_a_range;     // the same

/// A tensor, too; not for names that others use for more than numbers, such as log.
template <class X>
concept no_number = without_value<X> || has_shape<X>;

template <class E, class... More>
constexpr broken_node refuse_function() {
  if constexpr (!is_said<E>) static_cast<void>(sizeof(no_function<E, More...>));
  return {};
}

}  // namespace detail

// What has a value is a number to them: sin(s()) is std::sin.
template <detail::no_number E>
constexpr detail::broken_node acos(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node acosh(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node asin(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node asinh(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node atan(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node atanh(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node cbrt(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node ceil(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node cos(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node cosh(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node erf(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node erfc(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node exp2(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node expm1(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node floor(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node lgamma(const E&) { return detail::refuse_function<E>(); }
template <detail::without_value E>
constexpr detail::broken_node log(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node log10(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node log1p(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node log2(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node round(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node sin(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node sinh(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node tan(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node tanh(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node tgamma(const E&) { return detail::refuse_function<E>(); }
template <detail::no_number E>
constexpr detail::broken_node trunc(const E&) { return detail::refuse_function<E>(); }
template <detail::without_value E>
constexpr detail::broken_node arg(const E&) { return detail::refuse_function<E>(); }
template <detail::without_value E>
constexpr detail::broken_node imag(const E&) { return detail::refuse_function<E>(); }
template <detail::without_value E>
constexpr detail::broken_node real(const E&) { return detail::refuse_function<E>(); }
template <class L, class R>
  requires(detail::without_value<L> || detail::without_value<R>)
constexpr detail::broken_node atan2(const L&, const R&) { return detail::refuse_function<L, R>(); }
template <class L, class R>
  requires(detail::without_value<L> || detail::without_value<R>)
constexpr detail::broken_node fmod(const L&, const R&) { return detail::refuse_function<L, R>(); }
template <class L, class R>
  requires(detail::without_value<L> || detail::without_value<R>)
constexpr detail::broken_node hypot(const L&, const R&) { return detail::refuse_function<L, R>(); }
template <class L, class R>
  requires(detail::without_value<L> || detail::without_value<R>)
constexpr detail::broken_node pow(const L&, const R&) { return detail::refuse_function<L, R>(); }

/// for (double x : A(i)).
template <detail::without_value E>
constexpr const double* begin(const E&) {
  if constexpr (!detail::is_said<E>) static_cast<void>(sizeof(detail::not_a_range<E>));
  return nullptr;
}
template <detail::without_value E>
constexpr const double* end(const E&) { return nullptr; }

}  // namespace ricci
