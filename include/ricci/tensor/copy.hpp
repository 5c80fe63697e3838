// ricci::copy: elements between tensors and views in host and GPU memory.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <ricci/core/error.hpp>
#include <ricci/tensor/make_view.hpp>
#include <ricci/tensor/tensor.hpp>

namespace ricci {

namespace detail {

/// Extents and strides that are one run of memory, without a hole; rank 0 and empty ones too.
template <class X>
bool is_one_run(const X& x) {
  if constexpr (X::shape_type::width > 0) return true;
  std::int64_t reach = 1;
  bool used[X::shape_type::rank + 1]{};
  for (int done = 0; done < X::rank(); ++done) {
    int next = -1;
    for (int d = 0; d < X::rank(); ++d)
      if (!used[d] && (x.extent(d) == 1 || x.stride(d) == reach)) next = d;
    if (next < 0) return x.size() == 0;
    used[next] = true;
    reach = product_of(reach, x.extent(next));
  }
  return true;
}

/// Elements of equal extents lie in memory in the same order.
template <class X, class Y>
bool is_same_order(const X& x, const Y& y) {
  if (X::shape_type::width != Y::shape_type::width) return false;
  for (int d = X::shape_type::width > 0 ? 1 : 0; d < X::rank(); ++d)
    if (x.extent(d) != 1 && x.stride(d) != y.stride(d)) return false;
  return true;
}

template <class X> std::int64_t memory_size(const X& x) {
  if constexpr (requires { x.view(); }) return x.view().memory_size();
  else return x.memory_size();
}

/// At the first element, in row-major index order.
template <class X> auto index_order(X& x, std::int64_t position) {
  using element = std::remove_pointer_t<decltype(x.data())>;
  if constexpr (X::shape_type::width > 0) return interleaved_iterator<element>(x.data(), X::shape_type::width, x.block(), position);
  else if constexpr (requires { x.view(); }) return strided_iterator<element, X::shape_type::rank>(x.view(), position);
  else return strided_iterator<element, X::shape_type::rank>(x, position);
}

/// The lowest element, and behind the highest one. There are elements.
template <class X> auto range_of(const X& x) {
  const typename X::value_type *first = x.data(), *last = first;
  if constexpr (X::shape_type::width > 0) return std::pair(first, last + memory_size(x));
  for (int d = 0; d < X::rank(); ++d) (x.stride(d) < 0 ? first : last) += (x.extent(d) - 1) * x.stride(d);
  return std::pair(first, last + 1);
}

/// May an element of one be an element of the other?
template <class X, class Y> bool may_overlap(const X& x, const Y& y) {
  if (x.size() == 0) return false;
  const auto a = range_of(x);
  const auto b = range_of(y);
  return std::less<>()(a.first, b.second) && std::less<>()(b.first, a.second);
}

/// Element by element, in row-major index order.
template <class From, class To> void copy_in_order(const From& from, To& to) {
  auto at = index_order(from, 0);
  auto out = index_order(to, 0);
  const auto end = index_order(from, from.size());
  if (!may_overlap(from, to)) {
    for (; !(at == end); ++at, ++out) *out = *at;
    return;
  }
  std::vector<typename From::value_type> elements;
  elements.reserve(static_cast<std::size_t>(from.size()));
  for (; !(at == end); ++at) elements.push_back(*at);
  for (const auto& element : elements) *out = element, ++out;
}

/// A tensor or a view.
template <class X>
concept has_elements = requires(X& x) { typename X::shape_type; typename X::value_type; x.data(); };

template <class X> inline constexpr bool is_on_gpu = X::shape_type::space == memory_space::gpu;

}  // namespace detail

/// to[i, j, ...] = from[i, j, ...], host to GPU, GPU to host, or within one. Complete when it returns.
///
/// Shapes    equal extents; between two memories both are dense and lie in memory in the same order, interleaved ones with
///           as many problems side by side.
/// Aliasing  any on the host: all is read before anything is written. On a GPU the two do not overlap.
/// Errors    bad_extent; bad_argument (strides, no memory); no_gpu, gpu_failed; wrong_space (data that is not where its type says).
template <class From, class To>
  requires detail::has_elements<std::remove_cvref_t<From>> && detail::has_elements<std::remove_cvref_t<To>>
void copy(const From& from, To&& to) {
  using source = std::remove_cvref_t<From>;
  using target = std::remove_cvref_t<To>;
  using element = typename source::value_type;
  static_assert(source::shape_type::rank == target::shape_type::rank, "ricci: copy needs as many axes on both sides");
  static_assert(std::is_same_v<element, typename target::value_type>, "ricci: copy does not convert elements");
  constexpr bool read_only = std::is_const_v<std::remove_pointer_t<decltype(to.data())>>;
  static_assert(!read_only, "ricci[R012]: what is copied to is const; see docs/errors.md#R012");
  for (int d = 0; d < source::rank(); ++d) {
    if (from.extent(d) != to.extent(d))
      throw error(errc::bad_extent, "ricci::copy: axis " + std::to_string(d) + " has extent " + std::to_string(from.extent(d)) +
                                        " in one tensor and " + std::to_string(to.extent(d)) + " in the other");
  }
  detail::check_memory(from), detail::check_memory(to);
  if (detail::is_same_order(from, to) && detail::is_one_run(from)) {
    detail::copy_memory(const_cast<std::remove_const_t<typename target::element_type>*>(to.data()), detail::is_on_gpu<target>, from.data(),
                        detail::is_on_gpu<source>, detail::memory_size(from), sizeof(element));
  } else if constexpr (!detail::is_on_gpu<source> && !detail::is_on_gpu<target> && !read_only) {
    detail::copy_in_order(from, to);
  } else {
    throw error(errc::bad_argument, "ricci::copy: between host and GPU both sides must be dense and lie in memory in the same order");
  }
}

}  // namespace ricci
