// ricci::even_odd(B): a matrix that is even or odd about its middle.
#pragma once

#include <ricci/expr/access.hpp>
#include <ricci/tensor/tensor.hpp>

namespace ricci {
namespace detail {

/// A view of rank 2 with a promise.
template <class View>
class even_odd_view : public View {
 public:
  static_assert(View::rank() == 2, "ricci: even_odd is for matrices");
  constexpr explicit even_odd_view(const View& v) : View(v) {}
  template <class... S>
  constexpr decltype(auto) operator()(const S&... subscripts) const { return subscript(*this, subscripts...); }
};

template <class View> inline constexpr bool is_even_odd<even_odd_view<View>> = true;

}  // namespace detail

/// B(q,a) = B(Q-1-q, N-1-a), or minus it: a basis on symmetric nodes, or its derivative, at symmetric points.
/// A product with it then costs half the multiplications: auto E = even_odd(B); w(e,q) = E(q,a) * u(e,a);
///
/// Rounding  u and its mirror are added first: errors are bounded by c N eps (|B| + |its mirror|) |u|.
/// Errors    bad_argument when the plan is made, if B is neither even nor odd up to 1024 roundings of its largest
///           element, or has an infinity. The plan keeps the sign; later values of B must have the same symmetry.
template <class Tensor>
  requires requires(const Tensor& t) { t.view(); }
constexpr auto even_odd(const Tensor& t) {
  return detail::even_odd_view<typename Tensor::const_view_type>(t.view());
}
/// It keeps a view, which would outlive a temporary.
template <class Tensor>
  requires requires(const Tensor& t) { t.view(); }
constexpr auto even_odd(const Tensor&& t) {
  static_cast<void>(sizeof(detail::temporary_tensor<Tensor>));
  return even_odd(t);
}
template <class T, auto... Options>
constexpr auto even_odd(const tensor_view<T, Options...>& v) {
  return detail::even_odd_view<tensor_view<T, Options...>>(v);
}

}  // namespace ricci
