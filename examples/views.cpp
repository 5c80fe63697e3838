// Memory that is already there: raw pointers, any strides, Eigen's matrices.
#include <iostream>
#include <vector>

#include <Eigen/Core>

#include <ricci/eigen.hpp>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

int main() {
  // A batch of 2 x 3 blocks in somebody's memory, row-major.
  const int count = 4;
  std::vector<double> memory(count * 6);
  for (std::size_t x = 0; x < memory.size(); ++x) memory[x] = double(x);
  const auto blocks = ricci::view(memory.data(), ricci::extents<ricci::dynamic, 2, 3>{count});

  // Every second number of the same memory, transposed: extents, then strides in elements.
  const auto odd = ricci::view(memory.data() + 1, {3, 4}, {2, 6});
  std::cout << blocks(3, 1, 2) << ' ' << odd(2, 3) << '\n';

  // Eigen's matrices, maps and blocks, column-major or row-major, are tensors of rank two.
  Eigen::Matrix3d M;
  M << 1, 2, 3, 4, 5, 6, 7, 8, 10;
  Eigen::MatrixXd total = Eigen::MatrixXd::Zero(2, 3);
  auto target = ricci::view(total);
  target(i, j) = sum(e, blocks(e, i, k)) * ricci::view(M)(k, j);  // a label that occurs once is summed if it is said
  std::cout << total << '\n';

  // Overlapping strides: windows of three numbers, without copies. A convolution is a contraction.
  std::vector<double> signal{1, 2, 4, 8, 16, 32}, smooth(4);
  const double weights[] = {0.25, 0.5, 0.25};
  const auto window = ricci::view(signal.data(), {4, 3}, {1, 1});
  const auto weight = ricci::view(weights, ricci::extents<3>{});
  ricci::view(smooth.data(), ricci::extents<4>{})(x) = window(x, p) * weight(p);
  for (const double value : smooth) std::cout << value << ' ';
  std::cout << '\n';
}
