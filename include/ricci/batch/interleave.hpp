// Between interleaved memory and plain: the layout is part of the tensor's type.
#pragma once

#include <utility>

#include <ricci/batch/batch.hpp>
#include <ricci/expr/operators.hpp>
#include <ricci/index/letters.hpp>
#include <ricci/lower/run.hpp>
#include <ricci/tensor/copy.hpp>
#include <ricci/tensor/print.hpp>

namespace ricci {
namespace detail {

template <int D>
inline constexpr auto letter_label = [] {
  constexpr char text[] = {static_cast<char>('a' + D), '\0'};
  return label<fixed_string(text)>{};
}();

template <class T, class Shape, class Sequence, auto... Tags> struct like_shape;
template <class T, class Shape, int... D, auto... Tags>
struct like_shape<T, Shape, std::integer_sequence<int, D...>, Tags...> {
  using type = tensor<T, option_of<Shape::list.at[D]>..., Tags...>;

  template <class X>
  static type copy(const X& x) {
    type out = [&] {
      if constexpr (type::shape_type::dynamic_count == 0) return type();
      else return type(with_dynamic_extents, x.extent(D)...);
    }();
    if constexpr (element<T>) out(letter_label<D>...) = x(letter_label<D>...);
    else ricci::copy(x, out);  // an index tensor is no statement's operand
    return out;
  }
};

template <class X, auto... Tags>
auto copy_as(const X& x) {
  using shape = typename X::shape_type;
  static_assert(shape::rank >= 1 && shape::rank <= 26, "ricci: interleave and deinterleave take tensors of rank 1 to 26");
  using axes = std::make_integer_sequence<int, shape::rank>;
  static_assert(element<typename X::value_type> || shape::space == memory_space::host,
                "ricci: an index tensor of the GPU keeps its layout; ricci::copy it to the host and back");
  if constexpr (shape::space == memory_space::gpu) return like_shape<typename X::value_type, shape, axes, Tags..., gpu>::copy(x);
  else return like_shape<typename X::value_type, shape, axes, Tags...>::copy(x);
}

}  // namespace detail

/// out[e, ...] = x[e, ...], with problem e in lane e % W of block e / W. x is a tensor, a view or a batch; what it gives is where x is.
template <int W, detail::tensor_like X>
auto interleave(const X& x) {
  return detail::copy_as<X, interleaved<W>>(x);
}
template <int W, element T, std::int64_t Rows, std::int64_t Cols, auto... Options>
auto interleave(const batch<T, Rows, Cols, Options...>& x) {
  batch<T, Rows, Cols, interleaved<W>> out({x.rows(), x.cols()}, x.size());
  out(labels::e, labels::i, labels::j) = x(labels::e, labels::i, labels::j);
  return out;
}

/// The same in plain row-major memory.
template <detail::tensor_like X>
auto deinterleave(const X& x) {
  return detail::copy_as<X>(x);
}
template <element T, std::int64_t Rows, std::int64_t Cols, auto... Options>
auto deinterleave(const batch<T, Rows, Cols, Options...>& x) {
  batch<T, Rows, Cols> out({x.rows(), x.cols()}, x.size());
  out(labels::e, labels::i, labels::j) = x(labels::e, labels::i, labels::j);
  return out;
}

}  // namespace ricci
