// ricci::copy: elements between tensors and views in host and GPU memory.
#pragma once

#include <ricci/core/error.hpp>
#include <ricci/tensor/make_view.hpp>
#include <ricci/tensor/tensor.hpp>

namespace ricci {

namespace detail {

/// Extents and strides that are one run of memory, without a hole; rank 0 and empty ones too.
template <class X>
bool is_one_run(const X& x) {
  std::int64_t reach = 1;
  bool used[X::shape_type::rank + 1]{};
  for (int done = 0; done < X::rank(); ++done) {
    int next = -1;
    for (int d = 0; d < X::rank(); ++d)
      if (!used[d] && (x.extent(d) == 1 || x.stride(d) == reach)) next = d;
    if (next < 0) return x.size() == 0;
    used[next] = true;
    reach *= x.extent(next);
  }
  return true;
}

/// A tensor or a view.
template <class X>
concept has_elements = requires(X& x) { typename X::shape_type; typename X::value_type; x.data(); };

template <class X> inline constexpr bool is_on_gpu = X::shape_type::space == memory_space::gpu;

}  // namespace detail

/// to[i, j, ...] = from[i, j, ...], host to GPU, GPU to host, or within one. Complete when it returns.
///
/// Shapes    equal extents; between two memories both are dense and lie in memory in the same order.
/// Errors    bad_extent; bad_argument (strides); no_gpu, gpu_failed; wrong_space (data that is not where its type says).
template <class From, class To>
  requires detail::has_elements<std::remove_cvref_t<From>> && detail::has_elements<std::remove_cvref_t<To>>
void copy(const From& from, To&& to) {
  using source = std::remove_cvref_t<From>;
  using target = std::remove_cvref_t<To>;
  using element = typename source::value_type;
  static_assert(source::shape_type::rank == target::shape_type::rank, "ricci: copy needs as many axes on both sides");
  static_assert(std::is_same_v<element, typename target::value_type>, "ricci: copy does not convert elements");
  bool same_order = true;
  for (int d = 0; d < source::rank(); ++d) {
    if (from.extent(d) != to.extent(d))
      throw error(errc::bad_extent, "ricci::copy: axis " + std::to_string(d) + " has extent " + std::to_string(from.extent(d)) +
                                        " in one tensor and " + std::to_string(to.extent(d)) + " in the other");
    same_order = same_order && (from.extent(d) == 1 || from.stride(d) == to.stride(d));
  }
  if (same_order && detail::is_one_run(from)) {
    detail::copy_memory(const_cast<std::remove_const_t<typename target::element_type>*>(to.data()), detail::is_on_gpu<target>, from.data(),
                        detail::is_on_gpu<source>, from.size(), sizeof(element));
  } else if constexpr (!detail::is_on_gpu<source> && !detail::is_on_gpu<target>) {
    detail::strided_iterator<const element, source::shape_type::rank> at(from, 0);
    const detail::strided_iterator<const element, source::shape_type::rank> end(from, from.size());
    detail::strided_iterator<element, target::shape_type::rank> out;
    if constexpr (requires { to.view(); }) out = {to.view(), 0};
    else out = {to, 0};
    for (; !(at == end); ++at, ++out) *out = *at;
  } else {
    throw error(errc::bad_argument, "ricci::copy: between host and GPU both sides must be dense and lie in memory in the same order");
  }
}

}  // namespace ricci
