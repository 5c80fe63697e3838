// ricci::view over Eigen's matrices, arrays, maps, refs and blocks.
#pragma once

#include <Eigen/Core>

#include <ricci/tensor/make_view.hpp>
#include <ricci/tensor/tensor.hpp>

namespace ricci {
namespace detail {

constexpr std::int64_t eigen_extent(int n) { return n == Eigen::Dynamic ? dynamic : n; }

template <class D> void dense_base(const Eigen::DenseBase<D>&);

/// Eigen objects that lie in memory.
template <class X>
concept eigen_dense = requires(X& x) { dense_base(x); x.data(); x.innerStride(); };

/// A temporary that owns its memory would leave a dangling view.
template <class X>
inline constexpr bool is_eigen_owner = std::is_base_of_v<Eigen::PlainObjectBase<X>, X>;

template <class T, int Rows, int Cols, class Order>
constexpr auto plain_eigen_view(T* data, std::int64_t rows, std::int64_t cols) {
  constexpr std::int64_t r = eigen_extent(Rows), c = eigen_extent(Cols);
  const std::int64_t numbers[] = {r == dynamic ? rows : cols, cols};  // dynamic extents in order
  return tensor_view<T, r, c, Order{}>(data, numbers);
}

}  // namespace detail

/// A matrix or array is a view of rank 2; a type with one row or one column (Eigen::VectorXd) a view of rank 1.
/// Extents fixed at compile time stay so, as do the strides of objects that own their memory.
/// const objects give views of const elements. A temporary that owns its memory is refused.
template <class X>
  requires detail::eigen_dense<X>
auto view(X&& x) {
  using object = std::remove_cvref_t<X>;
  using element_type = std::remove_reference_t<decltype(*x.data())>;
  constexpr bool owner = detail::is_eigen_owner<object>;
  static_assert(!owner || std::is_lvalue_reference_v<X>,
                "ricci[R011]: a temporary in an expression; give it a name first; see docs/errors.md#R011");
  constexpr int rows = object::RowsAtCompileTime, cols = object::ColsAtCompileTime;
  if constexpr (rows == 1 || cols == 1) {
    constexpr std::int64_t extent = detail::eigen_extent(rows == 1 ? cols : rows);
    if constexpr (owner) {
      const std::int64_t numbers[] = {x.size()};
      return tensor_view<element_type, extent>(x.data(), numbers);
    } else {
      const std::int64_t length = x.size(), step = x.innerStride();
      const std::int64_t numbers[] = {extent == dynamic ? length : step, step};
      return tensor_view<element_type, extent, strided>(x.data(), numbers);
    }
  } else if constexpr (owner && object::IsRowMajor) {
    return detail::plain_eigen_view<element_type, rows, cols, row_major_tag>(x.data(), x.rows(), x.cols());
  } else if constexpr (owner) {
    return detail::plain_eigen_view<element_type, rows, cols, column_major_tag>(x.data(), x.rows(), x.cols());
  } else {
    const std::int64_t down = object::IsRowMajor ? x.outerStride() : x.innerStride();
    const std::int64_t along = object::IsRowMajor ? x.innerStride() : x.outerStride();
    return view(x.data(), {x.rows(), x.cols()}, {down, along});
  }
}

/// A view of rank 2 as a map of Eigen: `ricci::map(b(0)).inverse()`. Extents known at compile time stay so.
template <class T, auto... Options>
  requires(detail::shape<Options...>::rank == 2 && detail::shape<Options...>::width == 0)
auto map(const tensor_view<T, Options...>& x) {
  using shape = detail::shape<Options...>;
  constexpr auto extent = [](int d) { return shape::list.at[d] == dynamic ? Eigen::Dynamic : static_cast<int>(shape::list.at[d]); };
  constexpr int rows = extent(0), cols = extent(1);
  // A row is stored as a row whatever the strides: Eigen asks for that.
  constexpr int order = cols == 1 && rows != 1 ? Eigen::ColMajor : Eigen::RowMajor;
  using stride = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  using matrix = Eigen::Matrix<std::remove_const_t<T>, rows, cols, order>;
  using target = std::conditional_t<std::is_const_v<T>, const matrix, matrix>;
  const std::int64_t outer = order == Eigen::RowMajor ? x.stride(0) : x.stride(1);
  const std::int64_t inner = order == Eigen::RowMajor ? x.stride(1) : x.stride(0);
  return Eigen::Map<target, Eigen::Unaligned, stride>(x.data(), x.extent(0), x.extent(1), stride(outer, inner));
}

/// The same of a tensor, which must outlive the map.
template <class T, auto... Options>
auto map(tensor<T, Options...>& x) { return map(x.view()); }
template <class T, auto... Options>
auto map(const tensor<T, Options...>& x) { return map(x.view()); }
template <class T, auto... Options>
void map(const tensor<T, Options...>&& x) = delete;

}  // namespace ricci
