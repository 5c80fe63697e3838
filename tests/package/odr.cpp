// The same statements in two files of one program, compiled with different flags: both must mean the same.
#include <catch2/catch.hpp>
#include <ricci/ricci.hpp>

#include "odr.hpp"

using namespace ricci::labels;

double odr::here(double x) {
  ricci::tensor<double, 3, 3> A, B, C;
  A.fill(x);
  B.fill(2);
  C(i, j) = A(i, k) * B(k, j);
  return C(2, 1);
}

TEST_CASE("two files with different flags share their statements") {
  for (const double x : {1.0, 2.5, -4.0}) {
    CHECK(odr::here(x) == 6 * x);
    CHECK(odr::there(x) == 6 * x);
  }
}
