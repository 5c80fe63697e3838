// The non-owning view that every tensor hands to expressions: a pointer and the numbers its type does not know.
#pragma once

#include <cstdint>
#include <type_traits>

#include <ricci/core/error.hpp>
#include <ricci/tensor/iterate.hpp>
#include <ricci/tensor/shape.hpp>

namespace ricci {

namespace detail {

/// Throws errc::bad_range: "index 9 is outside axis 1 of extent 9".
[[noreturn]] void throw_bad_index(int axis, std::int64_t index, std::int64_t extent);

/// Throws errc::bad_argument: elements but no memory.
[[noreturn]] void throw_no_memory();

/// A view of null, or a moved-from tensor whose extents are static, has no elements that could be reached.
template <class X>
constexpr void check_memory(const X& x) {
  if (!x.data() && x.size() > 0) throw_no_memory();
}

template <class View, class... S>
constexpr decltype(auto) subscript(const View& view, const S&... subscripts);

/// Elements one behind the other: std::vector, std::array, std::span, and std::vector<bool>, so that it is refused by its
/// name. What has a rank or rows is more than that: a tensor, an mdspan, a matrix of another library.
template <class X>
concept element_list = !requires(X& x) { x.rank(); } && !requires(X& x) { x.rows(); } && requires(X& x) { x.begin(); x.size(); } &&
                       (std::is_same_v<typename X::value_type, bool> || requires(X& x) { requires std::is_pointer_v<decltype(x.data())>; });

/// A tensor or a view.
template <class X>
concept has_shape = requires { typename X::shape_type; X::rank(); };

/// A matrix of another library.
template <class X>
concept matrix_like = std::is_class_v<X> && requires(const X& x) { x.rows(); x.cols(); };

template <class Left, class Right> struct assigned_without_labels;  // analysis/diagnostics.hpp

}  // namespace detail

/// A view of memory that somebody else owns. T may be const: then it stands on right sides only.
/// Options as for `tensor`, and `ricci::strided`. Copies are shallow; == compares elements. A view is one of const elements
/// too, and one whose extents or strides the type does not know: `dynamic_view<const double, 2> v = A.view();`
template <class T, auto... Options>
class tensor_view {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using shape_type = detail::shape<Options...>;
  static_assert(sizeof(detail::sound_element<value_type>) > 0);

  constexpr tensor_view() = default;
  constexpr tensor_view(T* data, const std::int64_t* numbers) : data_(data) {
    for (int n = 0; n < shape_type::number_count; ++n) numbers_[n] = numbers[n];
  }

  template <class U, auto... Others>
    requires(std::is_same_v<const U, const T> && std::is_convertible_v<U*, T*> && detail::is_described_by<shape_type, detail::shape<Others...>>())
  constexpr tensor_view(const tensor_view<U, Others...>& other) : data_(other.data()) {
    for (int d = 0; d < rank(); ++d)
      if (shape_type::list.number[d] >= 0) numbers_[shape_type::list.number[d]] = other.extent(d);
    if constexpr (shape_type::order == detail::layout::strided)
      for (int d = 0; d < rank(); ++d) numbers_[shape_type::dynamic_count + d] = other.stride(d);
  }

  constexpr tensor_view(const tensor_view&) = default;
  /// v becomes a view of the other's memory; what a temporary view shows is assigned by labels, b(e)(i,j) = x(i,j).
  constexpr tensor_view& operator=(const tensor_view&) & = default;
  /// v = A(i,k) * B(k,j): the left side has no labels.
  template <class E>
    requires requires { E::ricci_expression; }
  constexpr const tensor_view& operator=(const E&) const {
    if constexpr (!E::size.broken) static_cast<void>(sizeof(detail::without_labels<tensor_view>));
    return *this;
  }
  /// v = x, x a tensor, a number, or a view that v cannot be: v(i) = x(i).
  template <class X>
    requires((detail::has_shape<X> && !std::is_convertible_v<const X&, tensor_view>) || std::is_arithmetic_v<X> || std::is_same_v<X, value_type>)
  constexpr const tensor_view& operator=(const X&) const {
    static_cast<void>(sizeof(detail::assigned_without_labels<tensor_view, X>));
    return *this;
  }
  /// b(0) = b(1), b(e) a view that nothing else holds.
  template <class X>
    requires std::is_same_v<X, tensor_view>
  constexpr void operator=(const X&) const&& { static_cast<void>(sizeof(detail::assigned_without_labels<tensor_view, X>)); }

  static constexpr int rank() { return shape_type::rank; }
  constexpr T* data() const { return data_; }
  constexpr const std::int64_t* numbers() const { return numbers_; }
  constexpr std::int64_t extent(int d) const { return shape_type::extent(numbers_, d); }
  constexpr std::int64_t stride(int d) const { return shape_type::stride(numbers_, d); }
  constexpr std::int64_t size() const {
    std::int64_t count = 1;
    for (int d = 0; d < rank(); ++d) count = detail::product_of(count, extent(d));
    return count;
  }

  /// Elements from data() to the element with these indices, one for each axis; elements of one interleaved block.
  constexpr std::int64_t offset(const std::int64_t* at) const { return shape_type::offset(numbers_, at); }
  constexpr std::int64_t block() const { return shape_type::block(numbers_); }
  /// Elements of the memory of a dense tensor: an interleaved one has those of a last block that is not full as well.
  constexpr std::int64_t memory_size() const {
    if constexpr (shape_type::width > 0) return detail::product_of((extent(0) + shape_type::width - 1) / shape_type::width, block());
    else return size();
  }

  /// Integers and constants alone: the element. With labels: an access expression.
  template <class... S>
  constexpr decltype(auto) operator()(const S&... subscripts) const { return detail::subscript(*this, subscripts...); }

  void fill(const value_type& x) const requires(!std::is_const_v<T>) {
    static_assert(shape_type::space == memory_space::host, "ricci: fill a gpu tensor, or copy to the view");
    detail::check_memory(*this);
    for (T& e : *this) e = x;
  }

  /// Row-major index order for strided and interleaved views; memory order else. Nothing on a GPU, as of tensors there.
  auto begin() const {
    if constexpr (is_dense || is_gpu) return data_;
    else return detail::in_index_order<T>(*this, 0);
  }
  auto end() const {
    if constexpr (is_gpu) return data_;
    else if constexpr (is_dense) return data_ + size();
    else return detail::in_index_order<T>(*this, size());
  }

 private:
  static constexpr bool is_gpu = shape_type::space == memory_space::gpu;
  static constexpr bool is_dense =
      shape_type::order == detail::layout::row_major || shape_type::order == detail::layout::column_major;
  T* data_ = nullptr;
  std::int64_t numbers_[shape_type::number_count > 0 ? shape_type::number_count : 1]{};
};

}  // namespace ricci
