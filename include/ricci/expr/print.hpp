// The element of a rank-0 tensor as text: std::cout << s(). No other expression is printed.
#pragma once

#include <iosfwd>

#include <ricci/expr/access.hpp>
#include <ricci/tensor/print.hpp>

namespace ricci {

template <class View>
  requires(View::shape_type::rank == 0)
std::ostream& operator<<(std::ostream& out, const access<View>& x) {
  static_assert(View::shape_type::space == memory_space::host,
                "ricci: an element of a gpu tensor cannot be printed from the host; ricci::copy the tensor first");
  detail::print(out, {dtype_of<typename View::value_type>, 0, x.data(), nullptr, nullptr});
  return out;
}

namespace detail {
template <class Given> struct not_printable;  // analysis/diagnostics.hpp
}

/// Everything else: it says why not, in a line.
template <class E>
  requires(detail::expression<E> || requires { E::ricci_statement; })
std::ostream& operator<<(std::ostream& out, const E&) {
  static_cast<void>(sizeof(detail::not_printable<E>));
  return out;
}

}  // namespace ricci
