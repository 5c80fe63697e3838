// One statement over parts of one tensor, at once and as a plan.
#include <iostream>

#include <ricci/ricci.hpp>

using namespace ricci::labels;    // i j k ...: one label for each letter
using namespace ricci::literals;  // 0_c, 1_c, ...: constants that the compiler sees

int main() {
  ricci::tensor<double, 64, 64, 9, 8> A;
  for (int x = 0; x < 64; ++x)
    for (int y = 0; y < 64; ++y) {
      A(x, y, 0, 0) = 5;
      for (int z = 1; z < 9; ++z) A(x, y, z, 0) = x == y ? z : 0;             // z times the unit matrix
      for (int z = 1; z < 8; ++z) A(x, y, 0, z) = y == (x + 1) % 64 ? 1 : 0;  // a shift by one
    }

  // For each m and n a product of two 64 x 64 matrices. What is read, n = 0 or m = 0, is not what is written.
  A(i, j, m.in(1, 9), n.in(1, 8)) -= A(i, k, m, 0) * A(k, j, 0, n);
  std::cout << A(3, 4, 2, 7) << ' ' << A(63, 0, 8, 1) << ' ' << A(3, 5, 2, 7) << ' ' << A(0, 0, 0, 0) << '\n';

  // The same as a plan: every decision is made once. Its text is for people and differs from machine to machine.
  const auto plan = ricci::plan(A(i, j, m.in(1_c, 9_c), n.in(1_c, 8_c)).subtract(A(i, k, m, 0_c) * A(k, j, 0_c, n)));
  std::clog << plan;
  plan.run();
  plan.run();
  std::cout << A(3, 4, 2, 7) << ' ' << A(63, 0, 8, 1) << ' ' << A(3, 5, 2, 7) << ' ' << A(0, 0, 0, 0) << '\n';
  std::cout << plan.flops() << " flops\n";
}
