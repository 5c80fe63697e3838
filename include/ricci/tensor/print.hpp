// Printing and comparing tensors and views.
#pragma once

#include <iosfwd>
#include <vector>

#include <ricci/tensor/tensor.hpp>

namespace ricci {
namespace detail {

template <class X>
concept tensor_like = requires { typename X::shape_type; typename X::element_type; typename X::value_type; X::rank(); };

struct printable {
  dtype type;
  int rank;
  const void* data;
  const std::int64_t* extents;
  const std::int64_t* strides;
  int index_bytes = 0;  // of an index tensor, which has no type
};

template <class T>
constexpr dtype printed_type() {
  if constexpr (element<T>) return dtype_of<T>;
  else return dtype::f64;
}
template <class T> inline constexpr int printed_index_bytes = element<T> ? 0 : static_cast<int>(sizeof(T));

/// Nested brackets, one row a line; [] if there are no elements, which then need no memory.
void print(std::ostream& out, const printable& t);

/// An interleaved tensor: its elements one behind the other first.
template <class X>
std::ostream& print_in_order(std::ostream& out, const X& x) {
  using T = typename X::value_type;
  constexpr int rank = X::shape_type::rank;
  check_memory(x);
  std::vector<T> elements(static_cast<std::size_t>(x.size()));
  auto to = elements.begin();
  for (const T& e : x) *to++ = e;
  std::int64_t extents[at_least_one(rank)], strides[at_least_one(rank)], step = 1;
  for (int d = rank - 1; d >= 0; --d) extents[d] = x.extent(d), strides[d] = step, step = product_of(step, extents[d]);
  print(out, {printed_type<T>(), rank, elements.data(), extents, strides, printed_index_bytes<T>});
  return out;
}

}  // namespace detail

/// Nested brackets in row-major index order, as NumPy prints.
template <detail::tensor_like X>
std::ostream& operator<<(std::ostream& out, const X& x) {
  static_assert(X::shape_type::space == memory_space::host,
                "ricci: elements of a gpu tensor cannot be printed from the host; ricci::copy the tensor first");
  if constexpr (X::shape_type::width > 0) return detail::print_in_order(out, x);
  std::int64_t extents[X::shape_type::rank + 1]{}, strides[X::shape_type::rank + 1]{};
  for (int d = 0; d < X::rank(); ++d) {
    extents[d] = x.extent(d);
    strides[d] = x.stride(d);
  }
  using T = typename X::value_type;
  detail::print(out, {detail::printed_type<T>(), X::rank(), x.data(), extents, strides, detail::printed_index_bytes<T>});
  return out;
}

/// Equal extents and equal elements, whatever the strides.
template <detail::tensor_like X, detail::tensor_like Y>
  requires std::is_same_v<typename X::value_type, typename Y::value_type>
bool operator==(const X& x, const Y& y) {
  static_assert(X::shape_type::space == memory_space::host && Y::shape_type::space == memory_space::host,
                "ricci: elements of a gpu tensor cannot be compared on the host; ricci::copy the tensor first");
  if constexpr (X::shape_type::rank != Y::shape_type::rank) {
    return false;
  } else {
    for (int d = 0; d < X::rank(); ++d)
      if (x.extent(d) != y.extent(d)) return false;
    detail::check_memory(x), detail::check_memory(y);
    using element_type = const typename X::value_type;
    auto a = detail::in_index_order<element_type>(x, 0);
    auto b = detail::in_index_order<element_type>(y, 0);
    for (const auto end = detail::in_index_order<element_type>(x, x.size()); !(a == end); ++a, ++b)
      if (!(*a == *b)) return false;
    return true;
  }
}

}  // namespace ricci
