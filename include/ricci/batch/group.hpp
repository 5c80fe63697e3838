// A group: matrices of one size that live anywhere.
#pragma once

#include <vector>

#include <ricci/batch/batch.hpp>
#include <ricci/tensor/make_view.hpp>
#include <ricci/tensor/print.hpp>

namespace ricci {

namespace detail {

template <std::int64_t rows, std::int64_t cols, std::int64_t group_rows, std::int64_t group_cols>
struct matrix_of_other_size;  // analysis/diagnostics.hpp

/// Throws errc::bad_extent for a 4 x 5 matrix in a group of 5 x 5, bad_argument for one with elements but no memory.
void check_group_matrix(const void* data, std::int64_t rows, std::int64_t cols, std::int64_t group_rows, std::int64_t group_cols);

constexpr bool is_other_extent(std::int64_t x, std::int64_t y) { return x != dynamic && y != dynamic && x != y; }

}  // namespace detail

/// Matrices of one size, each where its owner keeps it, with any strides: `group<double> g(of_size(5_c, 5_c));`
/// `g.push_back(b(0))`. The group holds views: the matrices must live as long as it is used.
/// group<const double> takes matrices that are read only. With group<double, 5, 5> the size is part of the type.
template <class T, std::int64_t Rows = dynamic, std::int64_t Cols = dynamic>
  requires element<std::remove_const_t<T>>
class group {
 public:
  using value_type = std::remove_const_t<T>;
  using element_type = T;
  using view_type = tensor_view<T, Rows, Cols, strided>;
  static constexpr bool ricci_batch = true;
  static constexpr std::int64_t static_rows = Rows, static_cols = Cols;

  template <std::int64_t R, std::int64_t C>
    requires((Rows == dynamic || Rows == R) && (Cols == dynamic || Cols == C))
  explicit group(const matrix_size<R, C>& size) : rows_(size.rows), cols_(size.cols) {
    detail::check_extents(&rows_, 1);
    detail::check_extents(&cols_, 1);
  }

  /// Number of matrices.
  std::int64_t size() const { return static_cast<std::int64_t>(pointers_.size()); }
  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  bool empty() const { return pointers_.empty(); }
  void clear() { pointers_.clear(), strides_.clear(); }

  /// A view or an lvalue tensor of rank 2. Errors: bad_extent for another size (at compile time where types know it);
  /// bad_argument if it has no memory.
  template <class M>
    requires(detail::tensor_like<std::remove_cvref_t<M>>)
  void push_back(M&& matrix) {
    using object = std::remove_cvref_t<M>;
    using shape = typename object::shape_type;
    static_assert(shape::space == memory_space::host, "ricci[R008]: the matrices of a group are in host memory; see docs/errors.md#R008");
    static_assert(shape::rank == 2, "ricci: a group holds matrices, tensors of rank 2");
    static_assert(std::is_same_v<typename object::value_type, value_type>, "ricci: the group has another element type");
    if constexpr (detail::is_other_extent(shape::list.at[0], Rows) || detail::is_other_extent(shape::list.at[1], Cols)) {
      static_cast<void>(sizeof(detail::matrix_of_other_size<shape::list.at[0], shape::list.at[1], Rows, Cols>));
    } else if constexpr (!std::is_const_v<T> && std::is_const_v<std::remove_pointer_t<decltype(matrix.data())>>) {
      static_assert(std::is_const_v<T>, "ricci[R012]: a const matrix in a group whose matrices may be written; group<const T> takes it; see docs/errors.md#R012");
    } else {
      static_assert(std::is_lvalue_reference_v<M> || !requires(object& x) { x.view(); },
                    "ricci[R011]: a temporary in an expression; give it a name first; see docs/errors.md#R011");
      T* const data = matrix.data();
      detail::check_group_matrix(data, matrix.extent(0), matrix.extent(1), rows_, cols_);
      pointers_.push_back(const_cast<value_type*>(data));
      try {
        strides_.insert(strides_.end(), {matrix.stride(0), matrix.stride(1)});
      } catch (...) {
        pointers_.pop_back();
        throw;
      }
    }
  }

  /// A view of matrix e.
  template <detail::count_like E>
  view_type operator()(const E& matrix) const {
    const auto e = static_cast<std::int64_t>(matrix);
    if (e < 0 || e >= size()) detail::throw_no_matrix(e, size());
    std::int64_t numbers[4];
    int n = 0;
    if (Rows == dynamic) numbers[n++] = rows_;
    if (Cols == dynamic) numbers[n++] = cols_;
    const auto at = static_cast<std::size_t>(e);
    numbers[n++] = strides_[2 * at], numbers[n] = strides_[2 * at + 1];
    return view_type(static_cast<T*>(pointers_[at]), numbers);
  }

  detail::batch_operand operand() const {
    detail::batch_operand out{rows_, cols_, size()};
    out.pointers = pointers_.data(), out.strides = strides_.data();
    return out;
  }

 private:
  std::int64_t rows_, cols_;
  std::vector<void*> pointers_;
  std::vector<std::int64_t> strides_;
};

}  // namespace ricci
