// ricci::view: tensors over memory that is already there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ricci/index/subscript.hpp>
#include <ricci/tensor/view.hpp>

namespace ricci {

/// Extents of a view, static and dynamic mixed: `extents<dynamic, 8, 8>{count}`. Options as for `tensor`.
template <auto... Options>
struct extents {
  using shape_type = detail::shape<Options...>;
  static_assert(shape_type::order != detail::layout::strided, "ricci: give the strides to ricci::view");

  constexpr extents() requires(shape_type::dynamic_count == 0) = default;
  template <class... N>
    requires(sizeof...(N) > 0 && sizeof...(N) == shape_type::dynamic_count && (detail::extent_number<N> && ...))
  constexpr explicit extents(N... n) : numbers{static_cast<std::int64_t>(n)...} {}
  template <class... N>
    requires(((std::is_arithmetic_v<N> || detail::extent_number<N>) && ...) && (sizeof...(N) != shape_type::dynamic_count || (!detail::extent_number<N> || ...)))
  constexpr explicit extents(N...) {
    if constexpr (!(detail::extent_number<N> && ...)) detail::first_not_an_extent<N...>();
    else static_cast<void>(sizeof(detail::extent_arguments<shape_type::dynamic_count, sizeof...(N)>));
  }

  std::int64_t numbers[shape_type::dynamic_count > 0 ? shape_type::dynamic_count : 1]{};
};

namespace detail {

/// An extent or stride of a braced list: any integer or constant, without narrowing.
struct number {
  std::int64_t value;
  template <class Given>
    requires(integer_like<Given> || constant_like<Given>)
  constexpr number(Given given) : value(static_cast<std::int64_t>(given)) {}
};

template <class T, class Sequence> struct strided_view;
template <auto> inline constexpr std::int64_t always_dynamic = dynamic;

template <int... D> struct axis_list {};
template <int N, int... D> struct make_axis_list : make_axis_list<N - 1, N - 1, D...> {};
template <int... D> struct make_axis_list<0, D...> { using type = axis_list<D...>; };

template <class T, int... D>
struct strided_view<T, axis_list<D...>> {
  using type = tensor_view<T, always_dynamic<D>..., strided>;
};

template <class T, class Sequence> struct strided_gpu_view;
template <class T, int... D>
struct strided_gpu_view<T, axis_list<D...>> {
  using type = tensor_view<T, always_dynamic<D>..., strided, gpu>;
};

template <class T, class Sequence> struct dense_view;
template <class T, int... D>
struct dense_view<T, axis_list<D...>> {
  using type = tensor_view<T, always_dynamic<D>...>;
};
template <class T, class Sequence> struct dense_gpu_view;
template <class T, int... D>
struct dense_gpu_view<T, axis_list<D...>> {
  using type = tensor_view<T, always_dynamic<D>..., gpu>;
};

/// Throws errc::bad_extent if one of the extents is negative.
void check_extents(const std::int64_t* extents, int rank);

/// The same, and if a view needs more than `count` elements; of an interleaved one, `width` problems lie side by side.
void check_room(const std::int64_t* extents, int rank, int width, std::int64_t count);

template <int Given> struct loose_extents;        // analysis/diagnostics.hpp
template <int Extents, int Strides> struct unequal_lists;
template <class Tensor> struct temporary_tensor;  // the same
template <class Given> struct no_view;            // the same

/// Stands for a view that was reported; what is written of it is, too.
struct broken_node;
struct unviewed {
  template <class... S>
  broken_node operator()(const S&...) const;
};
template <class Given>
constexpr unviewed refuse_view() {
  static_cast<void>(sizeof(no_view<Given>));
  return {};
}

/// What is tried to be viewed and is none of others' classes, which may have functions of that name: numbers, pointers, batches, run-time
/// arrays, expressions, and what needs another header.
template <class X>
concept without_memory = !std::is_class_v<X> || requires { X::ricci_batch; } || requires { X::ricci_expression; } || matrix_like<X> ||
                         requires { typename X::accessor_type; } || requires(const X& x) { x.data(), x.rank(); };

template <class X>
concept without_view = !std::is_pointer_v<std::decay_t<X>> && !element_list<std::remove_reference_t<X>>;

/// It owns no elements: it is copied without them, and they are not const because it is.
template <class X>
concept span_like = std::is_trivially_copyable_v<X> && std::is_copy_assignable_v<X> &&
                    std::is_same_v<decltype(std::declval<X&>().data()), decltype(std::declval<const X&>().data())>;

}  // namespace detail

/// A view with run-time extents and strides, rank N.
template <class T, int N>
using dynamic_view = typename detail::strided_view<T, typename detail::make_axis_list<N>::type>::type;

/// Row-major (or as the options of `extents` say, `gpu` too) over foreign memory.
/// Errors    bad_extent if one of the dynamic extents is negative.
template <class T, auto... Options>
constexpr tensor_view<T, Options...> view(T* data, const extents<Options...>& shape) {
  detail::check_extents(shape.numbers, detail::shape<Options...>::dynamic_count);
  return {data, shape.numbers};
}

/// All elements of a std::vector, std::array, std::span or the like: `view(x)(i)`. It is good as long as those stay where
/// they are. const containers give views of const elements. A temporary is refused, unless it is a span.
template <class X>
  requires detail::element_list<std::remove_reference_t<X>>
constexpr auto view(X&& x) {
  if constexpr (!std::is_lvalue_reference_v<X> && !detail::span_like<std::remove_cvref_t<X>>)
    static_cast<void>(sizeof(detail::temporary_tensor<X>));
  if constexpr (std::is_same_v<typename std::remove_cvref_t<X>::value_type, bool>) {
    return tensor_view<typename std::remove_cvref_t<X>::value_type, dynamic>();
  } else {
    const std::int64_t count[] = {static_cast<std::int64_t>(x.size())};
    return tensor_view<std::remove_pointer_t<decltype(x.data())>, dynamic>(x.data(), count);
  }
}

/// Its first elements in this shape: `view(x, extents<dynamic, 8>{n})`.
/// Errors    bad_extent if one of the dynamic extents is negative, or if x has too few elements.
template <class X, auto... Options>
  requires detail::element_list<std::remove_reference_t<X>>
constexpr auto view(X&& x, const extents<Options...>& shape) {
  const auto all = view(static_cast<X&&>(x));
  const tensor_view<typename decltype(all)::element_type, Options...> out(all.data(), shape.numbers);
  std::int64_t sizes[detail::at_least_one(out.rank())]{};
  for (int d = 0; d < out.rank(); ++d) sizes[d] = out.extent(d);
  detail::check_room(sizes, out.rank(), decltype(out)::shape_type::width, all.extent(0));
  return out;
}

/// Row-major with run-time extents: `view(ptr, {count, 8, 8})`, `view(x, {n, m})`.
/// Errors    bad_extent if one of the extents is negative, or if x has too few elements.
template <class T, std::size_t N>
constexpr auto view(T* data, const detail::number (&extents)[N]) {
  std::int64_t numbers[N];
  for (std::size_t d = 0; d < N; ++d) numbers[d] = extents[d].value;
  detail::check_extents(numbers, static_cast<int>(N));
  return typename detail::dense_view<T, typename detail::make_axis_list<static_cast<int>(N)>::type>::type(data, numbers);
}
template <class X, std::size_t N>
  requires detail::element_list<std::remove_reference_t<X>>
constexpr auto view(X&& x, const detail::number (&extents)[N]) {
  const auto all = view(static_cast<X&&>(x));
  const auto out = view(all.data(), extents);
  detail::check_room(out.numbers(), static_cast<int>(N), 0, all.extent(0));
  return out;
}

/// What a tensor gives as A.view(), for what is written for any of these.
template <class X>
  requires detail::has_shape<std::remove_cvref_t<X>>
constexpr auto view(X&& x) {
  if constexpr (requires { x.view(); }) {
    if constexpr (!std::is_lvalue_reference_v<X>) static_cast<void>(sizeof(detail::temporary_tensor<X>));
    return x.view();
  } else {
    return x;
  }
}

/// view(2.0), view(ptr), view(A, {4}): it says what there is a view of. Functions without the pack, which is empty, are preferred.
template <class X, class... None>
  requires(detail::without_memory<std::remove_cvref_t<X>> && sizeof...(None) == 0)
constexpr detail::unviewed view(X&&, const None&...) { return detail::refuse_view<std::remove_cvref_t<X>>(); }
template <class X, auto... Options>
  requires detail::without_view<X>
constexpr detail::unviewed view(X&&, const extents<Options...>&) { return detail::refuse_view<std::remove_cvref_t<X>>(); }
template <class X, std::size_t N>
  requires detail::without_view<X>
constexpr detail::unviewed view(X&&, const detail::number (&)[N]) { return detail::refuse_view<std::remove_cvref_t<X>>(); }

/// view(x, 3, 4): extents are one argument.
template <class X, class... N>
  requires(sizeof...(N) > 0 && (detail::integer_like<N> && ...) && requires(X& x) { x[0]; })
constexpr auto view(X&& x, const N&...) {
  static_cast<void>(sizeof(detail::loose_extents<sizeof...(N)>));
  return dynamic_view<std::remove_reference_t<decltype(x[0])>, sizeof...(N)>();
}

/// Any strides, counted in elements: `view(ptr, {count, 8, 8}, {64, 1, 8})`.
/// Errors    bad_extent if one of the extents is negative.
template <class T, std::size_t N>
constexpr dynamic_view<T, static_cast<int>(N)> view(T* data, const detail::number (&extents)[N], const detail::number (&strides)[N]) {
  std::int64_t numbers[2 * N];
  for (std::size_t d = 0; d < N; ++d) {
    numbers[d] = extents[d].value;
    numbers[N + d] = strides[d].value;
  }
  detail::check_extents(numbers, static_cast<int>(N));
  return {data, numbers};
}

/// view(ptr, {3, 3}, {1}): there is a stride for each extent.
template <class T, std::size_t N, std::size_t M>
  requires(N != M)
constexpr auto view(T*, const detail::number (&)[N], const detail::number (&)[M]) {
  static_cast<void>(sizeof(detail::unequal_lists<N, M>));
  return dynamic_view<T, static_cast<int>(N)>();
}

/// The same over GPU memory: `view(gpu, device_pointer, {count, 8, 8})`, `view(gpu, device_pointer, {count, 8, 8}, {64, 1, 8})`.
template <class T, std::size_t N>
constexpr auto view(gpu_tag, T* data, const detail::number (&extents)[N]) {
  const auto on_host = view(data, extents);
  return typename detail::dense_gpu_view<T, typename detail::make_axis_list<static_cast<int>(N)>::type>::type(data, on_host.numbers());
}
template <class T, std::size_t N>
constexpr auto view(gpu_tag, T* data, const detail::number (&extents)[N], const detail::number (&strides)[N]) {
  const auto on_host = view(data, extents, strides);
  return typename detail::strided_gpu_view<T, typename detail::make_axis_list<static_cast<int>(N)>::type>::type(data, on_host.numbers());
}

}  // namespace ricci
