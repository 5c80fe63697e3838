// einsum<"...">(...) against statements and loops.
#include <catch2/catch.hpp>

#include "helpers.hpp"

using front::count_up;
using ricci::dynamic;
using ricci::einsum;
using ricci::tensor;

TEST_CASE("extents of the result are static where an operand knows them") {
  tensor<double, 3, 4> A;
  tensor<double, dynamic, 5> B(4);
  tensor<double, dynamic, dynamic> X(3, 4);
  count_up(A), count_up(B), count_up(X);
  auto C = einsum<"ij,jk->ik">(A, B);
  static_assert(std::is_same_v<decltype(C), tensor<double, 3, 5>>);
  auto D = einsum<"ij, jk -> ki">(X, B);
  static_assert(std::is_same_v<decltype(D), tensor<double, 5, dynamic>>);
  CHECK(D.extent(1) == 3);
  for (int x = 0; x < 3; ++x)
    for (int y = 0; y < 5; ++y) {
      double c = 0, d = 0;
      for (int z = 0; z < 4; ++z) c += A(x, z) * B(z, y), d += X(x, z) * B(z, y);
      CHECK(C(x, y) == c);
      CHECK(D(y, x) == d);
    }
}

TEST_CASE("diagonals, traces, sums, outer products, capitals") {
  tensor<float, 4, 4> A;
  tensor<float, 30> x;
  count_up(A), count_up(x);
  float trace = 0, all = 0;
  for (int r = 0; r < 4; ++r) {
    trace += A(r, r);
    for (int c = 0; c < 4; ++c) all += A(r, c);
  }
  CHECK(einsum<"ii->">(A)() == trace);
  CHECK(einsum<"ij->">(A)() == all);
  CHECK(einsum<"ii->i">(A)(2) == A(2, 2));
  CHECK(einsum<"iI->Ii">(A)(1, 2) == A(2, 1));
  const auto outer = einsum<"i,j->ij">(x, x);
  CHECK(outer(3, 7) == x(3) * x(7));
  CHECK(einsum<"i,i,i->">(x, x, x)() == [&] {
    float sum = 0;
    for (float e : x) sum += e * e * e;
    return sum;
  }());
}

TEST_CASE("views, temporaries, run-time errors") {
  tensor<double, dynamic, dynamic> A(3, 4), B(5, 6);
  CHECK_THROWS_WITH((einsum<"ij,jk->ik">(A, B)),
                    Catch::Contains("R003") && Catch::Contains("label j") && Catch::Contains("4 and 5"));
  count_up(A);
  const auto v = ricci::view(A.data(), {4, 3}, {1, 4});
  CHECK(einsum<"ij->ji">(v) == A);
  CHECK(einsum<"ij->ij">(tensor<double, dynamic, dynamic>(A)) == A);
}
