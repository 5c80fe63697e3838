// The size of the matrices of a batch: of_size(5_c, 5_c), of_size(m, n).
#pragma once

#include <cstdint>

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

}  // namespace detail

/// Rows and columns as integers, or as constants (`5_c`), which become part of the type.
template <class R, class C>
  requires((detail::integer_like<R> || detail::constant_like<R>) && (detail::integer_like<C> || detail::constant_like<C>))
constexpr auto of_size(R rows, C cols) {
  return matrix_size<detail::static_extent<R>(), detail::static_extent<C>()>{static_cast<std::int64_t>(rows),
                                                                              static_cast<std::int64_t>(cols)};
}

}  // namespace ricci
