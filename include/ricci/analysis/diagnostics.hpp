// The one file that turns a verdict into compiler text. If the compiler sent you here, read the line above the struct.
#pragma once

#include <ricci/analysis/flatten.hpp>

namespace ricci::detail {

template <auto...> inline constexpr bool never = false;

/// C(i,i) = ...: every label of the left side names one axis; write each once.
template <auto label>
struct repeated_left {
  static_assert(never<label>, "ricci[R001]: a label stands twice on the left side; see docs/errors.md#R001");
};

/// C(i,j) = A(i): `term` (counted from 1) of the right side does not say what runs along this label.
template <auto label, int term>
struct left_alone {
  static_assert(never<label>,
                "ricci[R002]: a label of the left side is missing in a term of the right side; see "
                "docs/errors.md#R002");
};

/// C(i,j) = A(i,j) + 1, C(i,j) = 0.5: the same, and the term is a number. One value everywhere: C.fill(0.5).
template <auto label, int term>
struct number_alone {
  static_assert(never<label>,
                "ricci[R002]: a number alone does not run along the labels of the left side; multiply it by a tensor of "
                "ones, or .fill the tensor; see docs/errors.md#R002");
};

/// A(i,k) * B(k,j) with k of two lengths: transpose a factor, rename the label, or take a range of it.
template <auto label, std::int64_t extent, std::int64_t other_extent>
struct unequal_extents {
  static_assert(never<label>, "ricci[R003]: a label has two different extents; see docs/errors.md#R003");
};

/// C(i) = A(i,j): usually a typo. If it is meant: C(i) = sum(j, A(i,j)).
template <auto label>
struct lone_label {
  static_assert(never<label>,
                "ricci[R004]: a label occurs once and not on the left; write sum(label, ...) if it is meant; see "
                "docs/errors.md#R004");
};

/// i.in(first, last) needs 0 <= first <= last <= extent, on every axis that i runs along. extent -1: not known here.
template <auto label, std::int64_t first, std::int64_t last, std::int64_t extent>
struct bad_range {
  static_assert(never<label>, "ricci[R005]: a range is not inside its axis; see docs/errors.md#R005");
};

/// A range is said once in a statement and holds everywhere in it. For shifted ranges make shifted views.
template <auto label, std::int64_t first, std::int64_t last, std::int64_t other_first, std::int64_t other_last>
struct two_ranges {
  static_assert(never<label>, "ricci[R006]: a label has two different ranges; see docs/errors.md#R006");
};

/// A(i, 9_c) on an axis of extent 9: constants count from 0. extent -1: not known here.
template <int axis, std::int64_t value, std::int64_t extent>
struct bad_constant {
  static_assert(never<axis>, "ricci[R007]: a constant is outside its axis; see docs/errors.md#R007");
};

/// Host and gpu tensors in one statement: copy one side over first.
template <int factor>
struct mixed_spaces {
  static_assert(never<factor>, "ricci[R008]: host and gpu tensors in one statement; see docs/errors.md#R008");
};

/// One statement has one element type; convert a tensor first.
template <auto left_type, auto other_type>
struct mixed_types {
  static_assert(never<left_type>, "ricci[R009]: two element types in one statement; see docs/errors.md#R009");
};

/// A tensor of rank n is subscripted with n labels, integers or constants.
template <int rank, int subscripts>
struct subscript_count {
  static_assert(never<rank>, "ricci[R010]: the number of subscripts is not the rank; see docs/errors.md#R010");
};

/// make_tensor()(i,j): the view in the expression would outlive the tensor; give the tensor a name.
template <class tensor>
struct temporary_tensor {
  static_assert(never<sizeof(tensor)>,
                "ricci[R011]: a temporary tensor in an expression; give it a name first; see docs/errors.md#R011");
};

/// The left side is a const tensor or a view of const elements.
template <class element_type>
struct const_left {
  static_assert(never<sizeof(element_type)>, "ricci[R012]: the left side is const; see docs/errors.md#R012");
};

/// sum(j, E): j occurs in every term of E, not outside of the parentheses and not on the left.
template <auto label>
struct bad_sum {
  static_assert(never<label>,
                "ricci[R013]: sum(label, ...) and the use of its label do not fit; see docs/errors.md#R013");
};

/// sum(A(i,j)), sum(A(i,j), j): the labels that are summed over come first. A range stands with the tensor: A(i, j.in(0, 3)).
template <class... given>
struct bad_sum_arguments {
  static_assert(never<sizeof...(given)>,
                "ricci[R013]: sum takes labels and then an expression, as in sum(j, A(i,j)); see docs/errors.md#R013");
};

/// A complex coefficient cannot multiply real tensors.
template <auto element_type>
struct complex_scalar {
  static_assert(never<element_type>,
                "ricci[R014]: a complex coefficient in a statement of real tensors; see docs/errors.md#R014");
};

/// A local lives inside ricci::fuse(...) only: assigned once with .assign, subscripted with labels alone.
template <int rank>
struct bad_local {
  static_assert(never<rank>,
                "ricci[R015]: a local is assigned once, by labels, inside ricci::fuse; see docs/errors.md#R015");
};

/// einsum<"ij,jk->ik">: letters, commas, one ->.
template <auto subscripts>
struct bad_einsum {
  static_assert(never<subscripts>,
                "ricci[R016]: the einsum string is not of the form \"ij,jk->ik\"; see docs/errors.md#R016");
};

/// As many operands as the string has, each with as many axes as letters. operand -1: their number is wrong.
template <auto subscripts, int operand, int letters, int rank>
struct einsum_operands {
  static_assert(never<subscripts>, "ricci[R017]: the einsum string does not fit its operands; see docs/errors.md#R017");
};

/// tensor<double, -3>: extents are 0 or more, or ricci::dynamic.
template <std::int64_t extent>
struct negative_extent {
  static_assert(never<extent>, "ricci[R018]: an extent is negative; see docs/errors.md#R018");
};

/// A(i, "text"): a subscript is a label, a range of one, an integer or a constant. axis counts from 0.
template <int axis>
struct not_a_subscript {
  static_assert(never<axis>,
                "ricci[R019]: a subscript is neither label nor integer nor constant; see docs/errors.md#R019");
};

/// i.in(0.5, 2): a range begins and ends at integers or constants.
template <class given>
struct not_a_bound {
  static_assert(never<sizeof(given)>,
                "ricci[R019]: a bound of a range is neither integer nor constant; see docs/errors.md#R019");
};

/// i.in(3), i.in(0, 8, 2): a range is half-open, i.in(0, 3), and takes every element.
template <int given>
struct count_of_bounds {
  static_assert(never<given>, "ricci[R019]: a range has two bounds, as in i.in(0, 3); see docs/errors.md#R019");
};

/// tensor<double, dynamic, 8, dynamic> A(n, m): one argument for each dynamic extent.
template <int wanted, int given>
struct extent_arguments {
  static_assert(never<wanted>,
                "ricci[R020]: one constructor argument for each dynamic extent; see docs/errors.md#R020");
};

/// tensor<double, 2.5>, A(2.5, 3): an extent is an integer; other options are tags such as gpu or column_major.
template <class given>
struct not_an_extent {
  static_assert(never<sizeof(given)>, "ricci[R024]: an extent is an integer or ricci::dynamic; see docs/errors.md#R024");
};

/// tensor<double, 3, 3, row_major, column_major>: one order of the axes, and gpu or interleaved<W> once.
template <class... given>
struct repeated_option {
  static_assert(never<sizeof...(given)>,
                "ricci[R024]: a tensor has one order of its axes, and each option once; see docs/errors.md#R024");
};

/// view(x, n, m): extents may be known at compile time, and are one argument: view(x, extents<dynamic, 8>{n}).
template <int given>
struct loose_extents {
  static_assert(never<given>,
                "ricci[R024]: the extents of a view are one argument, as in view(x, ricci::extents<3, 4>{}) or "
                "ricci::extents<ricci::dynamic, 4>{n}; see docs/errors.md#R024");
};

/// view(x, {n, m}, {1}): a stride for each extent.
template <int extents, int strides>
struct unequal_lists {
  static_assert(never<extents>, "ricci[R024]: a view has a stride for each extent; see docs/errors.md#R024");
};

/// view(2.0), view(ptr), view(b): memory is viewed, which somebody owns; a pointer has its extents beside it.
template <class given>
struct no_view {
  static_assert(never<sizeof(given)>,
                "ricci[R032]: this is not viewed; view(pointer, {3, 4}), a std::vector, a tensor, or with <ricci/eigen.hpp> an Eigen matrix; see "
                "docs/errors.md#R032");
};

/// sqrt(x(i) + y(i)), exp(-x(i)): a function takes one real tensor or local without a sign, / also a product of them;
/// assign a sum to a local first. min and max stand alone in their term.
template <int factors>
struct bad_function {
  static_assert(never<factors>, "ricci[R022]: a function is taken of one real tensor; see docs/errors.md#R022");
};

/// u(dof(e,a), ...): one axis of a tensor is looked up, in an index tensor with labels; not in a local. On the left side
/// such a statement adds: +=, -=, .add, .subtract.
template <int rank>
struct bad_lookup {
  static_assert(never<rank>, "ricci[R023]: a looked-up axis cannot stand here; see docs/errors.md#R023");
};

/// x(i) = y, B(i,j) * x: every tensor of an expression has its labels. An index tensor stands where a label may: x(dof(i)).
template <class given>
struct without_labels {
  static_assert(never<sizeof(given)>, "ricci[R025]: what stands in an expression is no tensor with labels; see docs/errors.md#R025");
};

/// z = x with tensors or views of two types: labels say which axis becomes which, z(i) = x(i). A number is no tensor.
template <class left, class right>
struct assigned_without_labels {
  static_assert(never<sizeof(left)>,
                "ricci[R025]: what is of another type is assigned by labels, z(i) = x(i), and a number by z.fill(2); see "
                "docs/errors.md#R025");
};

/// a + b, 2 * a, c += a with whole batches or groups: only a * b is meant without labels, and batch_gemm(alpha, a, b, beta, c).
template <class left, class right>
struct batches_without_labels {
  static_assert(never<sizeof(left)>,
                "ricci[R025]: of whole batches only a * b is taken; else write labels, c(e,i,j) = a(e,i,j) + b(e,i,j), or "
                "batch_gemm(alpha, a, b, beta, c); see docs/errors.md#R025");
};

/// C = einsum("ij,jk->ik", A, B): that is an ndarray, whose rank is known at run time only.
template <class left>
struct not_from_einsum {
  static_assert(never<sizeof(left)>,
                "ricci[R025]: an ndarray does not become a tensor; write einsum<\"ij,jk->ik\">(A, B) or "
                "einsum_into(C, \"ij,jk->ik\", A, B); see docs/errors.md#R025");
};

/// plan(C(i,j) = ...), fuse(C(i,j) = ...): `=` runs at once; .assign, .add and .subtract make a statement that does not.
template <class given>
struct no_statement {
  static_assert(never<sizeof(given)>,
                "ricci[R027]: what is to be planned is no statement; write C(i).assign(...) for C(i) = ...; see docs/errors.md#R027");
};

/// plan(), fuse(): a plan takes one statement, and fuse one or more.
template <int given>
struct nothing_to_plan {
  static_assert(never<given>, "ricci[R027]: there is no statement to plan; write plan(C(i).assign(...)); see docs/errors.md#R027");
};

/// std::cout << A(i,k) * B(k,j): an expression has elements when a statement has put them somewhere.
template <class given>
struct not_printable {
  static_assert(never<sizeof(given)>,
                "ricci[R028]: an expression is not printed; assign it to a tensor and print that, or print a plan; see docs/errors.md#R028");
};

/// A(i,j) == B(i,j): what is compared are tensors, A == B, or elements, A(0,1) == B(0,1).
template <class left, class right>
struct not_compared {
  static_assert(never<sizeof(left)>, "ricci[R030]: expressions are not compared; assign them to tensors and compare those, A == B; see docs/errors.md#R030");
};

/// x += A(i) * B(i) of a number x, R(0) -= A(i) * B(i).
template <class number, class right>
struct number_on_left {
  static_assert(never<sizeof(number)>,
                "ricci[R031]: a number takes the value of tensors of rank 0 of its own type alone; sums go to a tensor of rank 0, s() += A(i) * B(i); "
                "see docs/errors.md#R031");
};

/// x(i + 1), in(y + k): a shifted tensor, or one with a window, is a view with strides of its own.
template <class left, class right>
struct computed_subscript {
  static_assert(never<sizeof(left)>, "ricci[R029]: a subscript is not computed from labels; a shifted tensor is a view of its own; see docs/errors.md#R029");
};

/// tensor<long double, 3>, make_batch<int>(...): what is computed with is float, double, std::complex of both, half or bfloat16.
template <class given>
struct not_an_element {
  static_assert(never<sizeof(given)>, "ricci[R026]: this is none of the element types; see docs/errors.md#R026");
};

/// a times b into c: a.cols = b.rows, c.rows = a.rows, c.cols = b.cols. Negative: known at run time only.
template <std::int64_t a_rows, std::int64_t a_cols, std::int64_t b_rows, std::int64_t b_cols, std::int64_t c_rows, std::int64_t c_cols>
struct batches_that_do_not_fit {
  static_assert(never<a_rows>, "ricci[R021]: the matrices of these batches do not fit; see docs/errors.md#R021");
};

/// A group holds matrices of one size.
template <std::int64_t rows, std::int64_t cols, std::int64_t group_rows, std::int64_t group_cols>
struct matrix_of_other_size {
  static_assert(never<rows>, "ricci[R021]: the matrices of these batches do not fit; see docs/errors.md#R021");
};

/// of_size(3), make_batch<double>(5, 5, 15), make_batch(of_size(5, 5), 15).
template <class... given>
struct batch_arguments {
  static_assert(never<sizeof...(given)>,
                "ricci[R033]: a batch is made by make_batch<double>(of_size(rows, cols), count) of integers or constants; see docs/errors.md#R033");
};

/// batch_gemm(a, b, c), or with tensors, which are multiplied by labels.
template <class... given>
struct gemm_arguments {
  static_assert(never<sizeof...(given)>,
                "ricci[R033]: write batch_gemm(alpha, a, b, beta, c) with numbers alpha and beta, and batches or groups; see docs/errors.md#R033");
};

/// Text of exactly its length, so that compilers print it well.
template <std::size_t Size>
constexpr fixed_string<Size + 1> text_of(const name_ref& name) {
  fixed_string<Size + 1> out;
  for (std::size_t c = 0; c < Size; ++c) out.text[c] = name.text[c];
  return out;
}

template <dtype T>
constexpr auto word_of() {
  if constexpr (T == dtype::f32) return fixed_string("float");
  else if constexpr (T == dtype::f64) return fixed_string("double");
  else if constexpr (T == dtype::c64) return fixed_string("complex<float>");
  else if constexpr (T == dtype::c128) return fixed_string("complex<double>");
  else if constexpr (T == dtype::f16) return fixed_string("half");
  else return fixed_string("bfloat16");
}

/// Instantiates the struct of the verdict of a source.
template <class Source>
constexpr void report() {
  constexpr verdict v = Source::fault;
  constexpr name_ref ref = v.label >= 0 ? Source::flat.labels[v.label] : name_ref{"", 0};
  constexpr auto label = text_of<ref.size>(ref);
  if constexpr (v.what == fault::repeated_left) (void)sizeof(repeated_left<label>);
  else if constexpr (v.what == fault::left_alone && v.b != 0) (void)sizeof(number_alone<label, int(v.a)>);
  else if constexpr (v.what == fault::left_alone) (void)sizeof(left_alone<label, int(v.a)>);
  else if constexpr (v.what == fault::unequal_extents) (void)sizeof(unequal_extents<label, v.a, v.b>);
  else if constexpr (v.what == fault::lone_label) (void)sizeof(lone_label<label>);
  else if constexpr (v.what == fault::bad_range) (void)sizeof(bad_range<label, v.a, v.b, v.c>);
  else if constexpr (v.what == fault::two_ranges) (void)sizeof(two_ranges<label, v.a, v.b, v.c, v.d>);
  else if constexpr (v.what == fault::bad_constant) (void)sizeof(bad_constant<v.axis, v.a, v.b>);
  else if constexpr (v.what == fault::mixed_spaces) (void)sizeof(mixed_spaces<int(v.a)>);
  else if constexpr (v.what == fault::mixed_types)
    (void)sizeof(mixed_types<word_of<dtype(v.a)>(), word_of<dtype(v.b)>()>);
  else if constexpr (v.what == fault::bad_sum) (void)sizeof(bad_sum<label>);
  else if constexpr (v.what == fault::complex_scalar)
    (void)sizeof(complex_scalar<word_of<Source::flat.leaves[0].type>()>);
  else if constexpr (v.what == fault::bad_local) (void)sizeof(bad_local<int(v.a)>);
  else if constexpr (v.what == fault::bad_function) (void)sizeof(bad_function<int(v.a)>);
  else if constexpr (v.what == fault::bad_lookup) (void)sizeof(bad_lookup<int(v.a)>);
}

}  // namespace ricci::detail
