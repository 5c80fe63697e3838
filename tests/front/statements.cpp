// Statements against plain loops, on integers, so exactly.
#include <catch2/catch.hpp>

#include "helpers.hpp"

using namespace ricci::labels;
using namespace ricci::literals;
using front::count_up;

namespace {

/// C(i,j) = A(i,k) * B(k,j), with extents static or not and any layout.
template <class MA, class MB, class MC>
void check_product(MA A, MB B, MC C) {
  count_up(A);
  count_up(B, 2);
  count_up(C, 3);
  C(i, j) = A(i, k) * B(k, j);
  for (int x = 0; x < C.extent(0); ++x)
    for (int y = 0; y < C.extent(1); ++y) {
      double sum = 0;
      for (int z = 0; z < A.extent(1); ++z) sum += A(x, z) * B(z, y);
      CHECK(C(x, y) == sum);
    }
}

}  // namespace

TEST_CASE("a product of matrices, static, dynamic and mixed, row- and column-major") {
  using ricci::dynamic;
  check_product(ricci::tensor<double, 3, 4>(), ricci::tensor<double, 4, 5>(), ricci::tensor<double, 3, 5>());
  check_product(ricci::tensor<double, 13, 14>(), ricci::tensor<double, 14, 15>(), ricci::tensor<double, 13, 15>());
  check_product(ricci::tensor<double, dynamic, dynamic>(3, 4), ricci::tensor<double, dynamic, dynamic>(4, 5),
                ricci::tensor<double, dynamic, dynamic>(3, 5));
  check_product(ricci::tensor<double, dynamic, 4>(3), ricci::tensor<double, 4, dynamic>(5),
                ricci::tensor<double, 3, 5, ricci::column_major>());
  check_product(ricci::tensor<float, 3, 4, ricci::column_major>(), ricci::tensor<float, 4, 5>(),
                ricci::tensor<float, 3, 5, ricci::column_major>());
}
