// Batches of matrices as in the papers on very small GEMM, groups, and interleaved memory.
#include <iostream>

#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

int main() {
  // [batch]
  auto b = ricci::make_batch<double>(ricci::of_size(5_c, 5_c), 15);  // 15 matrices 5 x 5 in one block of memory
  auto b1 = ricci::make_batch<double>(ricci::of_size(5_c, 5_c), 15);
  for (int at = 0; at < 15; ++at) {
    auto matrix = b(at);  // a view of one matrix
    matrix.fill(1);
    matrix(2, 3) = at;
    b1(at)(i, j) = 2 * matrix(j, i);
  }
  auto c = b * b1;                                 // batched product
  ricci::batch_gemm(1.0, b, b1, -1.0, c);          // c = b b1 - c
  c(e, i, j) += b(e, i, k) * b1(e, k, j);          // a batch is a tensor, too
  // [/batch]
  std::cout << c(7, 2, 2) << '\n';

  // [group]
  ricci::tensor<double, 40, 40> large;
  ricci::group<double> g(ricci::of_size(5_c, 5_c));               // same-size matrices that live anywhere
  g.push_back(b(3));                                              // one of a batch
  g.push_back(ricci::view(large.data(), {5, 5}, {40, 1}));        // a block of a larger matrix
  g.push_back(ricci::view(large.data() + 205, {5, 5}, {1, 40}));  // another, transposed
  large.fill(0.5);
  const auto squares = g * g;
  // [/group]
  std::cout << squares(0, 2, 2) << ' ' << squares(1, 0, 0) << '\n';

  // [interleaved]
  // Lane l of block b holds problem 8b + l: every SIMD lane does a problem of its own.
  ricci::tensor<double, ricci::dynamic, 5, 5, ricci::interleaved<8>> x(15), y(15);
  x(e, i, j) = b(e, i, j);
  y(e, i, j) = x(e, i, k) * x(e, k, j);          // index notation as ever
  const auto z = ricci::interleave<8>(b1);       // a batch of the same kind
  const auto plain = ricci::deinterleave(z);
  // [/interleaved]
  std::cout << y(7, 2, 2) << ' ' << (plain.as_tensor() == b1.as_tensor()) << '\n';
}
