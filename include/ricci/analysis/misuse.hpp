// Compiler text for what is tried with expressions, tensors and plans and is not there. If the compiler sent you here, read the
// line above the struct.
#pragma once

#include <ricci/analysis/diagnostics.hpp>

namespace ricci::detail {

/// sin(x(i)), pow(x(i), 2): functions that statements have not. A square is x(i) * x(i); others are a loop over the elements.
template <class... given>
struct no_function {
  static_assert(never<sizeof...(given)>,
                "ricci[R022]: statements have the functions sqrt, abs, exp, reciprocal, min, max and conj; a power is a product, x(i) * x(i), and the "
                "rest a loop over the elements; see docs/errors.md#R022");
};

/// for (double x : A(i)): an expression is no range; a tensor is one, for (double x : A).
template <class given>
struct not_a_range {
  static_assert(never<sizeof(given)>,
                "ricci[R028]: an expression has no elements to go through; assign it to a tensor and go through that, for (double x : A); see "
                "docs/errors.md#R028");
};

/// A < B, s < 2, x(i) < y(i): an order is there between numbers: s() < 2, A(0,1) < 2.
template <class left, class right>
struct not_ordered {
  static_assert(never<sizeof(left)>, "ricci[R030]: tensors and expressions have no order; compare elements, A(0,1) < 2, or values, s() < 2; see docs/errors.md#R030");
};

/// tensor<double, 3> y = x(i), z(v) of a std::vector or another tensor: a tensor is made of extents, and elements are assigned.
template <class tensor, class given>
struct not_made_from {
  static_assert(never<sizeof(given)>,
                "ricci[R025]: a tensor is made of its extents alone, and what goes into it is assigned by labels, z(i) = x(i), that of a std::vector by "
                "z(i) = ricci::view(x)(i); see docs/errors.md#R025");
};

/// z = {1, 2, 3}, x(i) = {1, 2, 3}: elements are listed in an array, which is viewed.
template <class left>
struct list_of_elements {
  static_assert(never<sizeof(left)>,
                "ricci[R025]: a tensor takes no list of elements; view one, const double list[] = {1, 2}; z(i) = ricci::view(list, {2})(i); see "
                "docs/errors.md#R025");
};

/// p.run(3), p.run(x, y): a plan knows its tensors; what it may be given is the stream of a GPU.
template <class... given>
struct not_a_stream {
  static_assert(never<sizeof...(given)>,
                "ricci[R027]: a plan runs over the tensors of its statement, p.run(), on a GPU also p.run(ricci::stream(handle)); see docs/errors.md#R027");
};

/// plan(options, statement), plan(one, two).
template <class... given>
struct plan_arguments {
  static_assert(never<sizeof...(given)>,
                "ricci[R027]: write plan(statement) or plan(statement, options), and for several statements fuse(one, two); see docs/errors.md#R027");
};

/// einsum(A, B, "ij,jk->ik"), einsum_into("ij,jk->ik", A, B, C).
template <class... given>
struct einsum_arguments {
  static_assert(never<sizeof...(given)>,
                "ricci[R017]: write einsum(\"ij,jk->ik\", A, B) or einsum_into(C, \"ij,jk->ik\", A, B); see docs/errors.md#R017");
};

}  // namespace ricci::detail
