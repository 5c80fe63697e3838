// The example of README.md.
// [readme]
#include <iostream>

#include <ricci/ricci.hpp>

using namespace ricci::labels;  // i j k ...: one label for each letter

int main() {
  // Ranges and constants cost no copy, and ricci proves that what is written overlaps nothing that is read.
  ricci::tensor<double, 64, 64, 9, 8> A;
  A.fill(0.5);
  A(i, j, m.in(1, 9), n.in(1, 8)) -= A(i, k, m, 0) * A(k, j, 0, n);

  // Eight factors: ricci finds the order, and makes one pass over the elements e with everything else in cache.
  ricci::tensor<double, ricci::dynamic, 4, 4, 4> u(1000), v(1000);
  ricci::tensor<double, ricci::dynamic, 5, 5, 5> D(1000);
  ricci::tensor<double, 5, 4> B;
  u.fill(1);
  D.fill(2);
  B.fill(0.5);
  v(e, a, b, c) = B(q, a) * B(r, b) * B(s, c) * D(e, q, r, s) * B(q, i) * B(r, j) * B(s, k) * u(e, i, j, k);

  std::cout << A(0, 0, 1, 1) << ' ' << v(0, 0, 0, 0) << '\n';
}
// [/readme]
