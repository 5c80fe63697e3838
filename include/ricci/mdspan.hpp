// ricci::view over std::mdspan, where the standard library has it, and over anything else of its form.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#if __has_include(<mdspan>)
#include <mdspan>
#endif

#include <ricci/tensor/make_view.hpp>

namespace ricci {
namespace detail {

/// The parts of std::mdspan that a view needs; its elements lie in plain memory.
template <class M>
concept mdspan_like = requires(const M& m) {
  typename M::extents_type;
  typename M::layout_type;
  typename M::accessor_type;
  requires std::is_same_v<typename M::reference, typename M::element_type&>;  // not one that scales or conjugates
  { m.data_handle() } -> std::convertible_to<const volatile void*>;
  M::rank();
  m.extent(0);
  m.stride(0);
};

template <class M, class Sequence> struct mdspan_view;
template <class M, int... D>
struct mdspan_view<M, axis_list<D...>> {
  static constexpr std::int64_t extent(std::size_t d) {
    constexpr auto any = static_cast<std::size_t>(-1);
    return M::static_extent(d) == any ? dynamic : static_cast<std::int64_t>(M::static_extent(d));
  }
  using type = tensor_view<typename M::element_type, extent(D)..., strided>;
};

}  // namespace detail

/// Static extents stay static; the strides are the mapping's. The mapping must be strided.
template <class X>
  requires detail::mdspan_like<std::remove_cvref_t<X>>
constexpr auto view(X&& m) {
  using M = std::remove_cvref_t<X>;
  constexpr int rank = static_cast<int>(M::rank());
  using result = typename detail::mdspan_view<M, typename detail::make_axis_list<rank>::type>::type;
  std::int64_t numbers[detail::at_least_one(2 * rank)]{};
  int n = 0;
  for (std::size_t d = 0; d < M::rank(); ++d)
    if (result::shape_type::list.number[d] >= 0) numbers[n++] = static_cast<std::int64_t>(m.extent(d));
  for (std::size_t d = 0; d < M::rank(); ++d) numbers[n++] = static_cast<std::int64_t>(m.stride(d));
  return result(m.data_handle(), numbers);
}

}  // namespace ricci
