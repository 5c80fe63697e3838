// einsum at run time: NumPy's whole language over arrays, views and tensors of any rank.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <ricci/core/types.hpp>
#include <ricci/einsum/ndarray.hpp>
#include <ricci/engine/engine.hpp>

namespace ricci {

/// Stands for "..." in a list of label numbers.
inline constexpr int ellipsis = -1;

/// What can be an operand: an ndarray, an ndview, a tensor or a view of one.
template <class X>
concept array_like = requires(const X& x) {
  { x.data() } -> std::convertible_to<const void*>;
  { x.rank() } -> std::convertible_to<std::int64_t>;
  { x.extent(0) } -> std::convertible_to<std::int64_t>;
  { x.stride(0) } -> std::convertible_to<std::int64_t>;
  typename X::value_type;
  requires element<typename X::value_type>;
};

namespace detail {

/// What stands in the place of the words only by mistake.
template <class X>
concept operand_like = array_like<X> || requires { typename X::shape_type; };

template <class... Given> struct einsum_arguments;  // analysis/misuse.hpp

/// An operand or a result without its type.
struct array_info {
  void* data = nullptr;
  dtype type = dtype::f64;
  std::span<const std::int64_t> extents, strides;
};

/// The two ways to say what is wanted; `lists` is null for a text.
struct einsum_words {
  std::string_view text;
  const std::vector<std::vector<int>>* lists = nullptr;
  const std::vector<int>* result = nullptr;  // null: implicit
};

struct prepared_einsum {
  std::vector<std::int64_t> extents;  // of the result
  program statement;
  std::shared_ptr<const executable> plan;  // null if the result has no elements
};

/// Reads the words, checks them against the shapes, plans; or finds what was remembered of an equal call.
/// Without `out` the result is dense and overlaps nothing.
std::shared_ptr<const prepared_einsum> prepare_einsum(const einsum_words& words, std::span<const array_info> operands,
                                                      const array_info* out, const options& o);

void run_einsum(const prepared_einsum& prepared, void* out, std::span<const array_info> operands);

/// The numbers of an operand, kept where its array_info points to.
template <class X>
class array_numbers {
  static constexpr bool is_gpu_tensor() {
    if constexpr (requires { X::shape_type::space; }) return X::shape_type::space == memory_space::gpu;
    else return false;
  }

 public:
  static_assert(!is_gpu_tensor(), "ricci[R008]: einsum takes arrays in host memory, and this is a gpu tensor; see docs/errors.md#R008");

  explicit array_numbers(const X& x) {
    info.data = const_cast<void*>(static_cast<const void*>(x.data()));
    info.type = dtype_of<typename X::value_type>;
    if constexpr (requires { { x.extents() } -> std::same_as<const std::vector<std::int64_t>&>; }) {
      info.extents = x.extents(), info.strides = x.strides();
    } else {
      const auto rank = static_cast<std::size_t>(x.rank());
      if constexpr (!is_fixed) numbers_.resize(2 * rank);
      for (std::size_t d = 0; d < rank; ++d)
        numbers_[d] = x.extent(static_cast<int>(d)), numbers_[rank + d] = x.stride(static_cast<int>(d));
      info.extents = std::span(numbers_).first(rank), info.strides = std::span(numbers_).last(rank);
    }
  }
  array_numbers(const array_numbers&) = delete;
  array_numbers& operator=(const array_numbers&) = delete;
  array_info info;

 private:
  /// A tensor's rank is part of its type: no memory has to be found.
  static constexpr bool is_fixed = requires { X::shape_type::rank; };
  static constexpr std::size_t room() {
    if constexpr (is_fixed) return 2 * static_cast<std::size_t>(X::shape_type::rank);
    else return 0;
  }
  std::conditional_t<is_fixed, std::array<std::int64_t, room()>, std::vector<std::int64_t>> numbers_;
};

template <element T>
ndarray<T> evaluate_einsum(const einsum_words& words, std::span<const array_info> operands, const options& o) {
  const auto prepared = prepare_einsum(words, operands, nullptr, o);
  auto out = ndarray<T>::uninitialised(prepared->extents);
  run_einsum(*prepared, out.data(), operands);
  return out;
}

/// Out as einsum_into takes it: a const array is no result, whatever its elements are.
template <class Out>
constexpr void check_result() {
  static_assert(!std::is_const_v<std::remove_pointer_t<decltype(std::declval<Out&>().data())>>,
                "ricci[R012]: the result of einsum_into is const; see docs/errors.md#R012");
}

template <class Out>
void evaluate_einsum_into(const Out& out, const einsum_words& words, std::span<const array_info> operands,
                          const options& o) {
  const array_numbers<Out> numbers(out);
  const auto prepared = prepare_einsum(words, operands, &numbers.info, o);
  run_einsum(*prepared, numbers.info.data, operands);
}

template <class First, class... Rest>
struct common_element {
  static_assert((std::is_same_v<typename First::value_type, typename Rest::value_type> && ...),
                "ricci[R009]: the operands of einsum have different element types; see docs/errors.md#R009");
};

template <class First, class...>
struct first_element {
  using type = typename First::value_type;
};

template <class T>
std::vector<array_info> infos_of(std::span<const ndview<const T>> operands) {
  std::vector<array_info> infos;
  for (const auto& x : operands)
    infos.push_back({const_cast<T*>(x.data()), dtype_of<T>, x.extents(), x.strides()});
  return infos;
}

}  // namespace detail

/// einsum("ij,jk->ik", a, b)[i, k] = sum_j a[i, j] * b[j, k]
///
/// Words     all that NumPy means: explicit and implicit mode, "...", broadcasting of extents 1, diagonals, spaces.
/// Cost      plans once for equal words, shapes and strides; then a look-up, the memory of the result and the work.
/// Errors    bad_subscripts, bad_label, bad_extent, bad_argument (null data, options that mean nothing), no_memory.
template <array_like... Operands>
  requires(sizeof...(Operands) > 0)
auto einsum(const options& o, std::string_view subscripts, const Operands&... operands) {
  static_cast<void>(sizeof(detail::common_element<Operands...>));
  using type = typename detail::first_element<Operands...>::type;
  return [&](const auto&... numbers) {
    const std::array<detail::array_info, sizeof...(Operands)> infos{numbers.info...};
    return detail::evaluate_einsum<type>({subscripts}, infos, o);
  }(detail::array_numbers<Operands>(operands)...);
}

template <array_like... Operands>
  requires(sizeof...(Operands) > 0)
auto einsum(std::string_view subscripts, const Operands&... operands) {
  return einsum(options{}, subscripts, operands...);
}

/// An operand of another kind: a std::vector, say, or an index tensor.
template <class... X, element T = double>
  requires(sizeof...(X) > 0 && !(array_like<X> && ...))
ndarray<T> einsum(std::string_view, const X&...) {
  constexpr bool arrays = (array_like<X> && ...);
  static_assert(arrays, "ricci[R017]: an operand of einsum is neither array nor tensor of numbers; see docs/errors.md#R017");
  return {};
}

/// einsum(A, B, "ij,jk->ik"), einsum("ij").
template <class X, class... Rest>
  requires detail::operand_like<X>
ndarray<double> einsum(const X&, const Rest&...) {
  static_cast<void>(sizeof(detail::einsum_arguments<X, Rest...>));
  return {};
}
template <int Given = 0>
ndarray<double> einsum(std::string_view) {
  static_cast<void>(sizeof(detail::einsum_arguments<std::integral_constant<int, Given>>));
  return {};
}

/// Any number of operands.
template <element T>
ndarray<T> einsum(std::string_view subscripts, std::span<const ndview<const T>> operands, const options& o = {}) {
  return detail::evaluate_einsum<T>({subscripts}, detail::infos_of(operands), o);
}
template <element T>
ndarray<T> einsum(std::string_view subscripts, const std::vector<ndview<const T>>& operands, const options& o = {}) {
  return einsum(subscripts, std::span<const ndview<const T>>(operands), o);
}

/// Labels as numbers, as many different ones as wanted; `ellipsis` stands for "...". labels[q] belongs to operand q.
/// Errors    as above; bad_subscripts too if there is not one list for each operand or a number is negative.
template <element T>
ndarray<T> einsum(const std::vector<std::vector<int>>& labels, const std::vector<int>& result,
                  const std::vector<ndview<const T>>& operands, const options& o = {}) {
  return detail::evaluate_einsum<T>({{}, &labels, &result}, detail::infos_of(std::span<const ndview<const T>>(operands)), o);
}
/// Implicit: the labels that occur once, in the order of their numbers, after the ellipsis.
template <element T>
ndarray<T> einsum(const std::vector<std::vector<int>>& labels, const std::vector<ndview<const T>>& operands,
                  const options& o = {}) {
  return detail::evaluate_einsum<T>({{}, &labels, nullptr}, detail::infos_of(std::span<const ndview<const T>>(operands)), o);
}

/// out[i, k] = sum_j a[i, j] * b[j, k]; out is an ndarray, an ndview or a tensor with exactly the result's extents.
/// Aliasing  out may overlap the operands: they are read as if complete before out changes.
/// Errors    as einsum's; bad_extent too if the extents of out are not the result's.
template <class Out, array_like... Operands>
  requires(sizeof...(Operands) > 0 && array_like<std::remove_cvref_t<Out>>)
void einsum_into(Out&& out, std::string_view subscripts, const Operands&... operands) {
  static_cast<void>(sizeof(detail::common_element<std::remove_cvref_t<Out>, Operands...>));
  using type = typename std::remove_cvref_t<Out>::value_type;
  static_assert(element<type>);
  detail::check_result<Out>();
  [&](const auto&... numbers) {
    const std::array<detail::array_info, sizeof...(Operands)> infos{numbers.info...};
    detail::evaluate_einsum_into(out, {subscripts}, infos, options{});
  }(detail::array_numbers<Operands>(operands)...);
}
template <class Out, class... X>
  requires(sizeof...(X) > 0 && !(array_like<std::remove_cvref_t<Out>> && (array_like<X> && ...)))
void einsum_into(Out&&, std::string_view, const X&...) {
  constexpr bool arrays = array_like<std::remove_cvref_t<Out>> && (array_like<X> && ...);
  static_assert(arrays, "ricci[R017]: the result or an operand of einsum_into is neither array nor tensor of numbers; see docs/errors.md#R017");
}
/// einsum_into("ij,jk->ik", A, B, C).
template <class X, class Y, class... Rest>
  requires detail::operand_like<Y>
void einsum_into(const X&, const Y&, const Rest&...) {
  static_cast<void>(sizeof(detail::einsum_arguments<X, Y, Rest...>));
}
template <class Out, element T>
  requires array_like<std::remove_cvref_t<Out>>
void einsum_into(Out&& out, std::string_view subscripts, const std::vector<ndview<const T>>& operands,
                 const options& o = {}) {
  static_assert(std::is_same_v<typename std::remove_cvref_t<Out>::value_type, T>, "ricci[R009]: the operands of einsum have different element types; see docs/errors.md#R009");
  detail::check_result<Out>();
  detail::evaluate_einsum_into(out, {subscripts}, detail::infos_of(std::span<const ndview<const T>>(operands)), o);
}
/// Labels as numbers: out[result[0], ...] = the product over q of operands[q][labels[q][0], ...], summed over what is not
/// in the result; shapes, aliasing and errors as above.
template <class Out, element T>
  requires array_like<std::remove_cvref_t<Out>>
void einsum_into(Out&& out, const std::vector<std::vector<int>>& labels, const std::vector<int>& result,
                 const std::vector<ndview<const T>>& operands, const options& o = {}) {
  static_assert(std::is_same_v<typename std::remove_cvref_t<Out>::value_type, T>, "ricci[R009]: the operands of einsum have different element types; see docs/errors.md#R009");
  detail::check_result<Out>();
  detail::evaluate_einsum_into(out, {{}, &labels, &result}, detail::infos_of(std::span<const ndview<const T>>(operands)), o);
}

}  // namespace ricci
