// What may stand between the parentheses of A(...): labels, ranges, integers, constants; each becomes one small value.
#pragma once

#include <cstdint>
#include <type_traits>

#pragma push_macro("I")  // of C's <complex.h>: Hana has parameters of that name
#undef I
#include <boost/hana/integral_constant.hpp>
#include <boost/hana/minus.hpp>
#include <boost/hana/mult.hpp>
#include <boost/hana/negate.hpp>
#include <boost/hana/plus.hpp>
#pragma pop_macro("I")

#include <ricci/index/fixed_string.hpp>

namespace ricci {

namespace literals {
using boost::hana::literals::operator""_c;
}

namespace detail {

/// A subscript as analysis sees it. Without a name it is a constant: `first` is its value if `numbers` is 0.
struct subscript_info {
  name_ref name;
  std::int64_t first = 0, last = 0;
  bool ranged = false;
  int numbers = 0;  // run-time numbers it brings: an integer 1, a run-time range 2
  bool looked_up = false;  // an index tensor says where: u(dof(e, a))
};

/// A compile-time constant of Boost.Hana or the standard library?
template <class S> inline constexpr bool is_constant = false;
template <class N, N V> inline constexpr bool is_constant<boost::hana::integral_constant<N, V>> = true;
template <class N, N V> inline constexpr bool is_constant<std::integral_constant<N, V>> = true;

template <class S> concept constant_like = is_constant<std::remove_cvref_t<S>>;
template <class S>
concept integer_like = std::is_integral_v<std::remove_cvref_t<S>> || std::is_enum_v<std::remove_cvref_t<S>>;

/// What may bound a range.
template <class S> concept bound_like = integer_like<S> || constant_like<S>;

template <class Given> struct not_a_bound;                     // analysis/diagnostics.hpp
template <int Given> struct count_of_bounds;                   // the same
template <class Left, class Right> struct computed_subscript;  // the same

/// An integer known at run time.
struct integer {
  std::int64_t value;
  static constexpr subscript_info info{{}, 0, 0, false, 1};
  constexpr void put(std::int64_t*& to) const { *to++ = value; }
};

/// An integer known at compile time.
template <std::int64_t Value>
struct constant {
  static constexpr std::int64_t value = Value;
  static constexpr subscript_info info{{}, Value, Value + 1, false, 0};
  constexpr void put(std::int64_t*&) const {}
};

/// A label with a half-open range, bounds known at compile time.
template <class L, std::int64_t First, std::int64_t Last>
struct static_range {
  static constexpr subscript_info info{L::name, First, Last, true, 0};
  constexpr void put(std::int64_t*&) const {}
};

/// A label with a half-open range, bounds known at run time.
template <class L>
struct dynamic_range {
  std::int64_t first, last;
  static constexpr subscript_info info{L::name, 0, 0, true, 2};
  constexpr void put(std::int64_t*& to) const {
    *to++ = first;
    *to++ = last;
  }
};

/// Something that is no subscript; reported where it is used.
struct no_subscript {
  static constexpr subscript_info info{};
  constexpr void put(std::int64_t*&) const {}
};

/// Stands for what was reported.
struct broken_subscript {};

template <fixed_string Name>
inline constexpr bool is_named = Name.size() > 0;

}  // namespace detail

/// A label: `C(i, j) = A(i, k) * B(k, j)`. Its identity is its name.
template <fixed_string Name>
struct label {
  static_assert(detail::is_named<Name>, "ricci[R019]: a label has a name; see docs/errors.md#R019");
  static constexpr detail::name_ref name{Name.text, Name.size()};
  static constexpr detail::subscript_info info{name, 0, 0, false, 0};
  constexpr void put(std::int64_t*&) const {}

  /// The half-open range [first, last) of this label's axis, for the whole statement. Integers, or constants
  /// (`m.in(1_c, 9_c)`) that are checked at compile time. first <= last.
  template <class F, class L>
  constexpr auto in(F first, L last) const {
    if constexpr (detail::constant_like<F> && detail::constant_like<L>) {
      return detail::static_range<label, static_cast<std::int64_t>(F::value), static_cast<std::int64_t>(L::value)>{};
    } else if constexpr (detail::bound_like<F> && detail::bound_like<L>) {
      return detail::dynamic_range<label>{static_cast<std::int64_t>(first), static_cast<std::int64_t>(last)};
    } else {
      static_cast<void>(sizeof(detail::not_a_bound<std::conditional_t<detail::bound_like<F>, L, F>>));
      return *this;
    }
  }
  template <class... Bounds>
    requires(sizeof...(Bounds) != 2)
  constexpr detail::broken_subscript in(Bounds...) const {
    static_cast<void>(sizeof(detail::count_of_bounds<sizeof...(Bounds)>));
    return {};
  }
};

namespace detail {

template <class S> inline constexpr bool is_label = false;
template <fixed_string Name> inline constexpr bool is_label<label<Name>> = true;

/// i + 1, i + j: what a subscript might be computed from.
template <class L, class R>
concept computed_from = (is_label<L> && (is_label<R> || bound_like<R>)) || (is_label<R> && bound_like<L>);

template <class L, class R>
constexpr broken_subscript not_computed() {
  static_cast<void>(sizeof(computed_subscript<L, R>));
  return {};
}

template <class S> inline constexpr bool is_labelled = is_label<S>;
template <class L, std::int64_t F, std::int64_t E> inline constexpr bool is_labelled<static_range<L, F, E>> = true;
template <class L> inline constexpr bool is_labelled<dynamic_range<L>> = true;

/// An index tensor with its own subscripts, standing where a label may: expr/lookup.hpp.
template <class S>
concept lookup_like = requires { S::ricci_lookup; };

/// The canonical form of a subscript.
template <class S>
constexpr auto canonical(const S& s) {
  if constexpr (is_labelled<S> || lookup_like<S>) return s;
  else if constexpr (constant_like<S>) return constant<static_cast<std::int64_t>(S::value)>{};
  else if constexpr (integer_like<S>) return integer{static_cast<std::int64_t>(s)};
  else return no_subscript{};
}

}  // namespace detail

// In the labels' own namespace, where they are found; each says why there is none.
template <class L, class R> requires detail::computed_from<L, R> constexpr auto operator+(L, R) { return detail::not_computed<L, R>(); }
template <class L, class R> requires detail::computed_from<L, R> constexpr auto operator-(L, R) { return detail::not_computed<L, R>(); }
template <class L, class R> requires detail::computed_from<L, R> constexpr auto operator*(L, R) { return detail::not_computed<L, R>(); }
template <class L, class R> requires detail::computed_from<L, R> constexpr auto operator/(L, R) { return detail::not_computed<L, R>(); }

}  // namespace ricci
