// Many small matrices at once: products, transposes and norms of a batch whose size is known at run time.
#include <iostream>

#include <ricci/ricci.hpp>

using namespace ricci::labels;

int main() {
  const int count = 1000;
  ricci::tensor<double, ricci::dynamic, 3, 3> R(count), S(count);  // rotations about z by multiples of 90 degrees
  constexpr int cosine[] = {1, 0, -1, 0}, sine[] = {0, 1, 0, -1};
  for (int x = 0; x < count; ++x) {
    R(x, 0, 0) = R(x, 1, 1) = cosine[x % 4];
    R(x, 1, 0) = sine[x % 4];
    R(x, 0, 1) = -sine[x % 4];
    R(x, 2, 2) = 1;
  }

  // e is on the left and in both factors: one product for each e. The library's loop, its SIMD lanes and its threads.
  S(e, i, j) = R(e, i, k) * R(e, k, j);
  std::cout << "S[1] is a rotation by 180 degrees: " << S(1, 0, 0) << ' ' << S(1, 1, 1) << ' ' << S(1, 2, 2) << '\n';

  // Transposes cost no copy: the labels say which axis is which. R R^T is the unit matrix.
  S(e, i, j) = R(e, i, k) * R(e, j, k);
  ricci::tensor<double, ricci::dynamic> trace(count);
  trace(e) = S(e, i, i);
  std::cout << "trace of R R^T: " << trace(0) << ' ' << trace(count - 1) << '\n';

  // One vector for all matrices, and a sum over the whole batch.
  ricci::tensor<double, 3> x;
  ricci::tensor<double, ricci::dynamic, 3> y(count);
  ricci::tensor<double> total;
  for (int d = 0; d < 3; ++d) x(d) = d + 1;
  y(e, i) = R(e, i, j) * x(j);
  total() = y(e, i) * y(e, i);
  std::cout << "sum of |R x|^2: " << total() << '\n';
}
