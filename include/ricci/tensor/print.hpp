// Printing and comparing tensors and views.
#pragma once

#include <iosfwd>

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
};

void print(std::ostream& out, const printable& t);

}  // namespace detail

/// Nested brackets in row-major index order, as NumPy prints.
template <detail::tensor_like X>
std::ostream& operator<<(std::ostream& out, const X& x) {
  std::int64_t extents[X::shape_type::rank + 1]{}, strides[X::shape_type::rank + 1]{};
  for (int d = 0; d < X::rank(); ++d) {
    extents[d] = x.extent(d);
    strides[d] = x.stride(d);
  }
  detail::print(out, {dtype_of<typename X::value_type>, X::rank(), x.data(), extents, strides});
  return out;
}

/// Equal extents and equal elements, whatever the strides.
template <detail::tensor_like X, detail::tensor_like Y>
  requires std::is_same_v<typename X::value_type, typename Y::value_type>
bool operator==(const X& x, const Y& y) {
  if constexpr (X::shape_type::rank != Y::shape_type::rank) {
    return false;
  } else {
    for (int d = 0; d < X::rank(); ++d)
      if (x.extent(d) != y.extent(d)) return false;
    using left = detail::strided_iterator<const typename X::value_type, X::shape_type::rank>;
    using right = detail::strided_iterator<const typename X::value_type, X::shape_type::rank>;
    left a(x, 0);
    right b(y, 0);
    for (const left end(x, x.size()); !(a == end); ++a, ++b)
      if (!(*a == *b)) return false;
    return true;
  }
}

}  // namespace ricci
