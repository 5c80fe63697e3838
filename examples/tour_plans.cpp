// The tour, part 2: memory that is already there, plans, fused programs.
#include <iostream>
#include <vector>

#include <ricci/ricci.hpp>

using namespace ricci::labels;

int main() {
  // [views]
  const int count = 100;
  std::vector<double> memory(count * 64, 1.0), result(count * 64);
  auto u = ricci::view(memory.data(), ricci::extents<ricci::dynamic, 8, 8>{count});  // row-major
  auto v = ricci::view(result.data(), {count, 8, 8}, {64, 1, 8});                    // any strides
  v(e, i, j) = 2 * u(e, i, j);
  // [/views]
  std::cout << "views " << v(99, 7, 0) << '\n';

  // [plan]
  ricci::tensor<double, 8, 8> B;
  B.fill(0.25);
  auto plan = ricci::plan(v(e, q, r).assign(B(q, i) * B(r, j) * u(e, i, j)));
  for (int step = 0; step < 10; ++step) plan.run();  // every decision is made; nothing is allocated
  // [/plan]
  std::cout << "plan " << v(0, 0, 0) << ' ' << (plan.flops() > 0 ? "flops" : "none") << '\n';

  // [fuse]
  ricci::tensor<double, ricci::dynamic, 4, 4> D(count), x(count), y(count);
  ricci::tensor<double, 4, 4> N;
  D.fill(2);
  x.fill(1);
  N.fill(0.5);

  ricci::local<double> g, h;  // never in main memory
  auto mass = ricci::fuse(
      g(e, q, r).assign(N(q, a) * N(r, b) * x(e, a, b)),
      h(e, q, r).assign(D(e, q, r) * g(e, q, r)),
      y(e, a, b).assign(N(q, a) * N(r, b) * h(e, q, r)));
  mass.run();  // one pass over e
  // [/fuse]
  std::cout << "fuse " << y(0, 0, 0) << '\n';
}
