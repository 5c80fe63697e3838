// Many factors: ricci finds the order of contraction. einsum reads NumPy's notation.
#include <iostream>

#include <ricci/einsum/einsum.hpp>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

int main() {
  // A chain of four matrices and a vector. From left to right it costs 620 thousand flops, in the best order 8
  // thousand.
  ricci::tensor<double, 100, 10> A;
  ricci::tensor<double, 10, 100> B;
  ricci::tensor<double, 100, 10> C;
  ricci::tensor<double, 10, 100> D;
  ricci::tensor<double, 100> vector;
  A.fill(1), B.fill(1), C.fill(1), D.fill(1), vector.fill(1);
  ricci::tensor<double, 100> y;
  const auto plan = ricci::plan(y(i).assign(A(i, j) * B(j, k) * C(k, l) * D(l, m) * vector(m)));
  plan.run();
  std::cout << "y[0] = " << y(0) << " with " << plan.flops() << " flops\n";

  // A ring of matrix product states: the bonds a, b, c, d close to a trace.
  ricci::tensor<double, 4, 2, 4> T;
  T.fill(0.25);
  ricci::tensor<double, 2, 2, 2, 2> psi;
  psi(i, j, k, l) = T(a, i, b) * T(b, j, c) * T(c, k, d) * T(d, l, a);
  ricci::tensor<double> norm;
  norm() = psi(i, j, k, l) * psi(i, j, k, l);
  std::cout << "amplitude " << psi(0, 1, 0, 1) << ", squared norm " << norm() << '\n';

  // The same ring from a string known at run time, as NumPy's users write it.
  ricci::ndarray<double> t({4, 2, 4});
  t.fill(0.25);
  const auto ring = ricci::einsum("aib,bjc,ckd,dla->ijkl", t, t, t, t);
  std::cout << "rank " << ring.rank() << ", " << ring.size() << " amplitudes, the first " << *ring.data() << '\n';
}
