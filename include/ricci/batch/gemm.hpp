// Products of batches and groups.
#pragma once

#include <ricci/batch/batch.hpp>
#include <ricci/batch/group.hpp>

namespace ricci {

namespace detail {

template <std::int64_t a_rows, std::int64_t a_cols, std::int64_t b_rows, std::int64_t b_cols, std::int64_t c_rows, std::int64_t c_cols>
struct batches_that_do_not_fit;  // analysis/diagnostics.hpp

template <class Left, class Right> struct batches_without_labels;  // analysis/diagnostics.hpp

template <class X>
concept batch_like = requires { requires std::remove_cvref_t<X>::ricci_batch; };

template <class... Given> struct gemm_arguments;  // the same

/// alpha, a, b, beta, c.
template <class... X> inline constexpr bool gemm_operands = false;
template <class S, class A, class B, class Z, class C>
inline constexpr bool gemm_operands<S, A, B, Z, C> = !batch_like<S> && batch_like<A> && batch_like<B> && !batch_like<Z> && batch_like<C>;

/// Matrices that may not be written: those of a const batch, which owns them, and those of a group of const ones.
template <class C>
inline constexpr bool is_read_only = [] {
  if constexpr (requires(C& c) { c.data(); }) return std::is_const_v<std::remove_pointer_t<decltype(std::declval<C&>().data())>>;
  else return std::is_const_v<typename C::element_type>;
}();

template <class A, class B> inline constexpr bool has_inner_fault = is_other_extent(A::static_cols, B::static_rows);

template <class A, class B, class C>
inline constexpr bool has_static_fault = has_inner_fault<A, B> || is_other_extent(A::static_rows, C::static_rows) ||
                                         is_other_extent(B::static_cols, C::static_cols);

/// c_e = beta c_e + alpha a_e b_e. Errors: bad_extent.
void multiply_batches(dtype type, std::complex<double> alpha, const batch_operand& a, const batch_operand& b,
                      std::complex<double> beta, const batch_operand& c);

template <class T, class S>
std::complex<double> batch_scalar(const S& x) {
  if constexpr (is_complex_type<S>) return std::complex<double>(x);
  else return static_cast<double>(x);
}

}  // namespace detail

/// c_e[i,j] = beta c_e[i,j] + alpha sum_k a_e[i,k] b_e[k,j]        for every matrix e
///
/// Shapes    a m x k, b k x n, c m x n: batches or groups of as many matrices, in any mixture of layouts.
/// Reading   beta == 0: c is not read. alpha == 0: a and b are not read.
/// Aliasing  c overlaps neither a nor b; the matrices of c do not overlap each other.
/// Errors    bad_extent where sizes or numbers of matrices do not fit; at compile time where types know the sizes.
template <detail::batch_like A, detail::batch_like B, detail::batch_like C, class S, class Z>
void batch_gemm(const S& alpha, const A& a, const B& b, const Z& beta, C&& c) {
  using c_type = std::remove_cvref_t<C>;
  using T = typename c_type::value_type;
  static_assert(std::is_same_v<T, typename A::value_type> && std::is_same_v<T, typename B::value_type>,
                "ricci[R009]: two element types in one statement; see docs/errors.md#R009");
  static_assert(!detail::is_read_only<std::remove_reference_t<C>>, "ricci[R012]: the matrices of the result are const; see docs/errors.md#R012");
  static_assert(detail::scalar_like<S> && detail::scalar_like<Z>, "ricci: alpha and beta are numbers");
  static_assert(!(detail::is_complex_type<S> || detail::is_complex_type<Z>) || detail::is_complex_type<T>,
                "ricci[R014]: a complex coefficient in a statement of real tensors; see docs/errors.md#R014");
  if constexpr (detail::has_static_fault<A, B, c_type>)
    static_cast<void>(sizeof(detail::batches_that_do_not_fit<A::static_rows, A::static_cols, B::static_rows, B::static_cols,
                                                             c_type::static_rows, c_type::static_cols>));
  else
    detail::multiply_batches(dtype_of<T>, detail::batch_scalar<T>(alpha), a.operand(), b.operand(),
                             detail::batch_scalar<T>(beta), c.operand());
}

/// batch_gemm(a, b, c), batch_gemm(1.0, A, B, 0.0, C) of tensors.
template <class... X>
  requires(!detail::gemm_operands<X...>)
void batch_gemm(const X&...) {
  static_cast<void>(sizeof(detail::gemm_arguments<X...>));
}

/// The batch of the products a_e b_e. Errors: as batch_gemm.
template <detail::batch_like A, detail::batch_like B>
auto operator*(const A& a, const B& b) {
  using T = typename A::value_type;
  batch<T, A::static_rows, B::static_cols> c({a.rows(), b.cols()}, a.size());
  batch_gemm(1.0f, a, b, 0.0f, c);
  return c;
}

namespace detail {

template <class L, class R>
concept with_batch = batch_like<L> || batch_like<R>;

template <class L, class R>
constexpr const auto& refuse_batches(const L& l, const R& r) {
  static_cast<void>(sizeof(batches_without_labels<L, R>));
  if constexpr (batch_like<L>) return l;
  else return r;
}

}  // namespace detail

/// What else one may try with whole batches.
template <class L, class R>
  requires(detail::with_batch<L, R> && !(detail::batch_like<L> && detail::batch_like<R>))
constexpr const auto& operator*(const L& l, const R& r) { return detail::refuse_batches(l, r); }
template <class L, class R>
  requires detail::with_batch<L, R>
constexpr const auto& operator/(const L& l, const R& r) { return detail::refuse_batches(l, r); }
template <class L, class R>
  requires detail::with_batch<L, R>
constexpr const auto& operator+(const L& l, const R& r) { return detail::refuse_batches(l, r); }
template <class L, class R>
  requires detail::with_batch<L, R>
constexpr const auto& operator-(const L& l, const R& r) { return detail::refuse_batches(l, r); }
template <detail::batch_like X>
constexpr const auto& operator-(const X& x) { return detail::refuse_batches(x, x); }
template <detail::batch_like L, class R>
constexpr const auto& operator*=(const L& l, const R& r) { return detail::refuse_batches(l, r); }
template <detail::batch_like L, class R>
constexpr const auto& operator/=(const L& l, const R& r) { return detail::refuse_batches(l, r); }
template <detail::batch_like L, class R>
constexpr const auto& operator+=(const L& l, const R& r) { return detail::refuse_batches(l, r); }
template <detail::batch_like L, class R>
constexpr const auto& operator-=(const L& l, const R& r) { return detail::refuse_batches(l, r); }

}  // namespace ricci
