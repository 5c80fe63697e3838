// The size of the matrices of a batch: of_size(5_c, 5_c), of_size(m, n).
#pragma once

#include <cstdint>
#include <type_traits>

#include <ricci/index/subscript.hpp>
#include <ricci/tensor/shape.hpp>

namespace ricci {

/// Rows and columns; known at compile time where they are not `dynamic`.
template <std::int64_t Rows, std::int64_t Cols>
struct matrix_size {
  std::int64_t rows = Rows, cols = Cols;
};

namespace detail {

template <class N>
constexpr std::int64_t static_extent() {
  if constexpr (constant_like<N>) return static_cast<std::int64_t>(N::value);
  else return dynamic;
}

/// What counts matrices: integers of any type, constants, and what converts to one.
template <class N>
concept count_like = integer_like<N> || (std::is_class_v<N> && std::is_convertible_v<const N&, std::int64_t>);

template <class... Given> struct batch_arguments;  // analysis/diagnostics.hpp

template <class... X>
inline constexpr bool are_sizes = sizeof...(X) == 2 && ((integer_like<X> || constant_like<X>) && ...);

}  // namespace detail

/// Rows and columns as integers, or as constants (`5_c`), which become part of the type.
template <class R, class C>
  requires((detail::integer_like<R> || detail::constant_like<R>) && (detail::integer_like<C> || detail::constant_like<C>))
constexpr auto of_size(R rows, C cols) {
  return matrix_size<detail::static_extent<R>(), detail::static_extent<C>()>{static_cast<std::int64_t>(rows),
                                                                              static_cast<std::int64_t>(cols)};
}
/// of_size(3), of_size(2.5, 3).
template <class... X>
  requires(!detail::are_sizes<X...>)
constexpr matrix_size<dynamic, dynamic> of_size(const X&...) {
  static_cast<void>(sizeof(detail::batch_arguments<X...>));
  return {};
}

}  // namespace ricci
