// A batch: equal matrices in one block of memory.
#pragma once

#include <utility>

#include <ricci/batch/size.hpp>
#include <ricci/expr/nodes.hpp>
#include <ricci/tensor/print.hpp>
#include <ricci/tensor/tensor.hpp>

namespace ricci {

namespace detail {

/// What a product needs to know of a batch, of whatever kind.
struct batch_operand {
  std::int64_t rows = 0, cols = 0, count = 0;
  std::int64_t row = 0, col = 0;            // strides inside a matrix, in elements
  void* base = nullptr;                     // matrix e at base + e * step elements
  std::int64_t step = 0;
  std::int64_t width = 0, block = 0;        // interleaved: matrix e at (e / width) * block + e % width
  void* const* pointers = nullptr;          // or: matrix e there
  const std::int64_t* strides = nullptr;    // with pointers: row and col of each matrix
};

template <class given> struct not_an_element;  // analysis/diagnostics.hpp

/// Throws errc::bad_range for a matrix that the batch does not have.
[[noreturn]] void throw_no_matrix(std::int64_t index, std::int64_t count);

/// Throws errc::bad_extent if the count is negative.
std::int64_t checked_count(std::int64_t count);

}  // namespace detail

/// `count` matrices of rows x cols in one block of memory, matrix after matrix, each row-major; make_batch() makes it.
///
/// b(e)         a view of matrix e, good in index notation and as long as the batch lives.
/// b(e, i, j)   with labels: the whole batch as a tensor of rank 3; with integers: an element.
/// Iteration, == and << are the tensor's; batches of other options compare as well. A moved-from batch has no matrices.
/// Options      those of `tensor`; `interleaved<8>` stores eight matrices element by element side by side.
template <element T, std::int64_t Rows, std::int64_t Cols, auto... Options>
class batch {
 public:
  using value_type = T;
  using element_type = T;
  using tensor_type = tensor<T, dynamic, Rows, Cols, Options...>;
  static constexpr bool ricci_batch = true;
  static constexpr std::int64_t static_rows = Rows, static_cols = Cols;
  static_assert(tensor_type::shape_type::space == memory_space::host, "ricci[R008]: the matrices of a batch are in host memory; see docs/errors.md#R008");

  batch(const matrix_size<Rows, Cols>& size, std::int64_t count)
      : tensor_(detail::with_dynamic_extents, detail::checked_count(count), size.rows, size.cols) {}

  /// Number of matrices.
  std::int64_t size() const { return tensor_.extent(0); }
  std::int64_t rows() const { return tensor_.extent(1); }
  std::int64_t cols() const { return tensor_.extent(2); }
  T* data() { return tensor_.data(); }
  const T* data() const { return tensor_.data(); }

  /// The batch as a tensor (e, i, j).
  tensor_type& as_tensor() & { return tensor_; }
  const tensor_type& as_tensor() const& { return tensor_; }
  tensor_type as_tensor() && { return std::move(tensor_); }

  template <detail::count_like E>
  auto operator()(const E& e) & { return matrix<T>(tensor_.data(), static_cast<std::int64_t>(e)); }
  template <detail::count_like E>
  auto operator()(const E& e) const& { return matrix<const T>(tensor_.data(), static_cast<std::int64_t>(e)); }
  template <detail::count_like E>
  auto operator()(const E& e) const&& = delete;  // a view of a temporary
  template <class E, class Row, class Column>
  decltype(auto) operator()(const E& e, const Row& i, const Column& j) & { return tensor_(e, i, j); }
  template <class E, class Row, class Column>
  decltype(auto) operator()(const E& e, const Row& i, const Column& j) const& { return tensor_(e, i, j); }
  template <class E, class Row, class Column>
  decltype(auto) operator()(const E& e, const Row& i, const Column& j) const&& { return std::move(tensor_)(e, i, j); }  // an element at most

  /// b(0, 1), b(e): the labels of a batch are three.
  template <class... X>
    requires(sizeof...(X) != 3 && !(sizeof...(X) == 1 && (detail::count_like<X> && ...)))
  detail::broken_node operator()(const X&...) const {
    static_cast<void>(sizeof(detail::subscript_count<3, static_cast<int>(sizeof...(X))>));
    return {};
  }

  void fill(const T& x) { tensor_.fill(x); }
  auto begin() { return tensor_.begin(); }
  auto end() { return tensor_.end(); }
  auto begin() const { return tensor_.begin(); }
  auto end() const { return tensor_.end(); }

  detail::batch_operand operand() const {
    using shape = typename tensor_type::shape_type;
    detail::batch_operand out{rows(), cols(), size(), tensor_.stride(1), tensor_.stride(2), const_cast<T*>(data())};
    if constexpr (shape::width > 0) out.width = shape::width, out.block = shape::width * rows() * cols();
    else out.step = tensor_.stride(0);
    return out;
  }

 private:
  template <class E>
  auto matrix(E* first, std::int64_t e) const {
    if (e < 0 || e >= size()) detail::throw_no_matrix(e, size());
    using shape = typename tensor_type::shape_type;
    const std::int64_t r = rows(), c = cols();
    constexpr int unknown_extents = (Rows == dynamic) + (Cols == dynamic);
    const std::int64_t at[] = {e, 0, 0};
    E* const start = first + tensor_.view().offset(at);
    if constexpr (shape::order == detail::layout::row_major) {
      const std::int64_t numbers[] = {Rows == dynamic ? r : c, c};  // dynamic extents in order
      return tensor_view<E, Rows, Cols>(start, numbers);
    } else {
      const std::int64_t numbers[] = {Rows == dynamic ? r : c, c, 0, 0};
      std::int64_t all[detail::at_least_one(unknown_extents + 2)];
      for (int n = 0; n < unknown_extents; ++n) all[n] = numbers[n];
      all[unknown_extents] = tensor_.stride(1), all[unknown_extents + 1] = tensor_.stride(2);
      return tensor_view<E, Rows, Cols, strided>(start, all);
    }
  }

  tensor_type tensor_;
};

template <class T, std::int64_t R, std::int64_t C, auto... X, std::int64_t S, std::int64_t D, auto... Y>
bool operator==(const batch<T, R, C, X...>& x, const batch<T, S, D, Y...>& y) { return x.as_tensor() == y.as_tensor(); }

template <class T, std::int64_t R, std::int64_t C, auto... X>
std::ostream& operator<<(std::ostream& out, const batch<T, R, C, X...>& x) { return out << x.as_tensor(); }

namespace detail {

template <class X> inline constexpr bool is_matrix_size = false;
template <std::int64_t Rows, std::int64_t Cols> inline constexpr bool is_matrix_size<matrix_size<Rows, Cols>> = true;

/// A size, a count, and whatever follows.
template <class... X> inline constexpr bool make_a_batch = false;
template <class Size, class Count, class... Tags>
inline constexpr bool make_a_batch<Size, Count, Tags...> = is_matrix_size<Size> && count_like<Count>;

}  // namespace detail

/// `make_batch<double>(of_size(5_c, 5_c), 15)`: zeros. Tags behind the count are options of the tensor:
/// `make_batch<float>(of_size(n, n), count, interleaved<8>)`.
template <class T, std::int64_t Rows, std::int64_t Cols, detail::count_like Count, class... Tags>
auto make_batch(const matrix_size<Rows, Cols>& size, const Count& count, Tags...) {
  if constexpr (element<T>) {
    return batch<T, Rows, Cols, Tags{}...>(size, static_cast<std::int64_t>(count));
  } else {
    static_cast<void>(sizeof(detail::not_an_element<T>));
    return batch<double, Rows, Cols, Tags{}...>(size, 0);
  }
}
/// make_batch<double>(5, 5, 15), make_batch(of_size(5, 5), 15).
template <class T, class... X>
  requires(!detail::make_a_batch<X...>)
batch<double, dynamic, dynamic> make_batch(const X&...) {
  static_cast<void>(sizeof(detail::batch_arguments<X...>));
  return {{0, 0}, 0};
}
template <std::int64_t Rows, std::int64_t Cols, class... X>
batch<double, Rows, Cols> make_batch(const matrix_size<Rows, Cols>& size, const X&...) {
  static_cast<void>(sizeof(detail::batch_arguments<matrix_size<Rows, Cols>, X...>));
  return {size, 0};
}

}  // namespace ricci
