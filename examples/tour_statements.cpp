// The tour, part 1: labels, tensors, statements.
#include <complex>
#include <iostream>

#include <ricci/ricci.hpp>

using namespace ricci::labels;

int main() {
  // [product]
  ricci::tensor<double, 2, 3> A;
  ricci::tensor<double, 3, 2> B;
  ricci::tensor<double, 2, 2> C;
  A.fill(1);
  B.fill(2);

  C(i, j) = A(i, k) * B(k, j);  // k is not on the left and occurs twice: summed over
  C(i, j) += 0.5 * A(i, k) * A(j, k) - B(k, i) * A(j, k);
  // [/product]
  std::cout << "product " << C(0, 1) << '\n';

  // [batch]
  ricci::tensor<double, ricci::dynamic, 3, 3> X(1000), Y(1000), Z(1000);  // 1000 matrices, 3 x 3
  X.fill(1);
  Y.fill(3);
  Z(e, i, j) = X(e, i, k) * Y(e, k, j);  // e is on the left and in both factors: a batch
  // [/batch]
  std::cout << "batch " << Z(999, 2, 2) << '\n';

  // [ranges]
  ricci::tensor<double, 64, 64, 9, 8> T;
  T.fill(0.5);
  T(i, j, m.in(1, 9), n.in(1, 8)) -= T(i, k, m, 0) * T(k, j, 0, n);
  // [/ranges]
  std::cout << "ranges " << T(0, 0, 0, 0) << ' ' << T(0, 0, 1, 1) << '\n';

  // [diagonals]
  ricci::tensor<double, 3, 3> M;
  ricci::tensor<double, 3> d, row;
  ricci::tensor<double> s;  // rank 0
  M.fill(2);

  d(i) = M(i, i);            // the diagonal
  s() = M(i, i);             // the trace
  row(i) = sum(j, M(i, j));  // a label that occurs once is summed only if it is said
  M(i, j) = d(i) * row(j);   // an outer product
  // [/diagonals]
  std::cout << "diagonals " << s() << ' ' << row(1) << ' ' << M(0, 2) << '\n';

  // [complex]
  using complex = std::complex<double>;
  ricci::tensor<complex, 4> psi;
  ricci::tensor<complex> norm;
  psi.fill(complex(1, 2));
  norm() = conj(psi(i)) * psi(i);
  const complex value = norm();  // a tensor of rank 0 converts to its element
  // [/complex]
  std::cout << "complex " << value.real() << ' ' << value.imag() << '\n';

  // [alias]
  ricci::tensor<double, 3, 3> P;
  P.fill(1);
  P(i, j) = P(i, k) * P(k, j);  // right, and the plan says that it takes a temporary
  // [/alias]
  std::cout << "alias " << P(2, 2) << '\n';

  // [label]
  constexpr ricci::label<"elem"> elem;  // a label of one's own; its identity is its name
  Z(elem, i, j) = X(elem, j, i);
  // [/label]
  std::cout << "label " << Z(0, 0, 1) << '\n';
}
