// The other of two files with the same statement.
#include <ricci/ricci.hpp>

#include "odr.hpp"

using namespace ricci::labels;

double odr::there(double x) {
  ricci::tensor<double, 3, 3> A, B, C;
  A.fill(x);
  B.fill(2);
  C(i, j) = A(i, k) * B(k, j);
  return C(2, 1);
}
