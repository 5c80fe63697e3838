// Views over Eigen objects and over classes of std::mdspan's form; beside macros that another library has for its keywords.
#define emit
#define slots
#define signals public

#include <catch2/catch.hpp>

#include <array>

#include <ricci/eigen.hpp>
#include <ricci/mdspan.hpp>

#include "helpers.hpp"

using ricci::labels::i;
using ricci::labels::j;
using ricci::labels::k;
using ricci::dynamic;
using ricci::tensor;
using ricci::view;

namespace {

/// The least that std::mdspan offers, with its own names.
template <class T, std::size_t... E>
struct small_mdspan {
  using element_type = T;
  using reference = T&;
  using extents_type = std::array<std::size_t, sizeof...(E)>;
  using layout_type = void;
  using accessor_type = void;
  T* data;
  std::array<std::size_t, sizeof...(E)> lengths, steps;
  static constexpr std::size_t rank() { return sizeof...(E); }
  static constexpr std::size_t static_extent(std::size_t d) { return std::array{E...}[d]; }
  T* data_handle() const { return data; }
  std::size_t extent(std::size_t d) const { return lengths[d]; }
  std::size_t stride(std::size_t d) const { return steps[d]; }
};

/// Its elements are not what lies in memory.
struct scaled_mdspan : small_mdspan<double, 3> {
  using reference = double;
};
static_assert(ricci::detail::mdspan_like<small_mdspan<double, 3>> && !ricci::detail::mdspan_like<scaled_mdspan>);

}  // namespace

TEST_CASE("fixed and dynamic Eigen matrices, row- and column-major") {
  Eigen::Matrix<double, 3, 4> A;
  Eigen::Matrix<double, Eigen::Dynamic, 4, Eigen::RowMajor> R(3, 4);
  Eigen::MatrixXd B(4, 5), C(3, 5);
  for (int x = 0; x < 12; ++x) A.data()[x] = x % 5 - 2;
  for (int x = 0; x < 20; ++x) B.data()[x] = x % 7 - 3;
  R = A;
  static_assert(decltype(view(A))::shape_type::is_static);
  view(C)(i, j) = view(A)(i, k) * view(B)(k, j);
  CHECK(C == A * B);
  view(C)(i, j) -= view(R)(i, k) * view(B)(k, j);
  CHECK(C.isZero(0));
  tensor<double, 5, 3> D;
  const Eigen::MatrixXd& fixed = B;
  D(j, i) = view(A)(i, k) * view(fixed)(k, j);
  CHECK(D(4, 2) == (A * B)(2, 4));
}

TEST_CASE("Eigen vectors, maps, blocks and refs") {
  Eigen::VectorXd x(6), y(3);
  Eigen::MatrixXd M(6, 6);
  for (int n = 0; n < 6; ++n) x(n) = n - 2;
  for (int n = 0; n < 36; ++n) M.data()[n] = n % 11 - 5;
  view(y)(i) = view(M.block(1, 2, 3, 4))(i, j) * view(x.segment(1, 4))(j);
  CHECK(y == M.block(1, 2, 3, 4) * x.segment(1, 4));
  double memory[12];
  for (int n = 0; n < 12; ++n) memory[n] = n;
  using rows = Eigen::Matrix<double, 2, 3, Eigen::RowMajor>;
  Eigen::Map<rows, 0, Eigen::OuterStride<>> map(memory, Eigen::OuterStride<>(5));
  tensor<double, 2, 3> T;
  T(i, j) = view(map)(i, j);
  CHECK(T(1, 2) == 7);
  Eigen::Ref<Eigen::MatrixXd> ref = M;
  Eigen::Matrix<double, 6, 1> d;
  view(d)(i) = view(ref)(i, i);
  CHECK(d == M.diagonal());
  view(y)(i) = view(x.head(3))(i);
  CHECK(y == x.head(3));
  Eigen::ArrayXXf a(2, 2);
  a << 1, 2, 3, 4;
  tensor<float> sum_of;
  sum_of() = sum(i, j, view(a)(i, j));
  CHECK(sum_of() == 10);
}

template <class X> concept has_map = requires(X&& x) { ricci::map(std::forward<X>(x)); };

TEST_CASE("tensors as maps of Eigen") {
  ricci::tensor<double, 2, ricci::dynamic, ricci::column_major> A(3);
  A.fill(2);
  ricci::map(A)(1, 2) = 7;
  CHECK(A(1, 2) == 7);
  const auto& same = A;
  static_assert(std::is_const_v<std::remove_pointer_t<decltype(ricci::map(same).data())>>);
  static_assert(decltype(ricci::map(same))::RowsAtCompileTime == 2);
  CHECK(ricci::map(same).sum() == 17);
  static_assert(has_map<ricci::tensor<double, 2, 2>&> && !has_map<ricci::tensor<double, 2, 2>>);
}

TEST_CASE("mdspans") {
  double memory[24];
  for (int n = 0; n < 24; ++n) memory[n] = n;
  constexpr std::size_t any = static_cast<std::size_t>(-1);
  const small_mdspan<double, any, 3, 4> m{memory, {2, 3, 4}, {12, 4, 1}};
  const auto v = view(m);
  CHECK(v.extent(0) == 2);
  CHECK(v.extent(1) == 3);
  CHECK(v(1, 2, 3) == 23);
  tensor<double, 4, 2> C;
  C(k, i) = sum(j, v(i, j, k));
  CHECK(C(3, 1) == 15 + 19 + 23);
}
