// The tour, part 3: einsum, and what errors look like.
#include <iostream>
#include <vector>

#include <ricci/ricci.hpp>

using namespace ricci::labels;

int main() {
  // [static]
  ricci::tensor<double, 2, 3> A;
  ricci::tensor<double, 3, 4> B;
  A.fill(1);
  B.fill(2);
  auto C = ricci::einsum<"ij,jk->ik">(A, B);  // checked at compile time
  // [/static]
  std::cout << "static " << C(1, 3) << '\n';

  // [dynamic]
  ricci::ndarray<double> X({2, 3}), Y({3, 4});  // ranks known at run time
  X.fill(1);
  Y.fill(2);
  auto Z = ricci::einsum("ij,jk", X, Y);  // NumPy's whole language, its implicit mode too
  // [/dynamic]
  std::cout << "dynamic " << Z.rank() << ' ' << Z.size() << '\n';

  // [numbers]
  ricci::ndarray<double> M({2, 2});
  M.fill(0.5);
  std::vector<std::vector<int>> labels;
  std::vector<ricci::ndview<const double>> factors;
  for (int t = 0; t < 100; ++t) labels.push_back({t, t + 1}), factors.push_back(M.view());
  auto P = ricci::einsum<double>(labels, {0, 100}, factors);  // more labels than letters
  // [/numbers]
  std::cout << "numbers " << P(0, 1) << '\n';

  // [error]
  ricci::tensor<double, ricci::dynamic> p(3), q(4);
  ricci::tensor<double> dot;
  try {
    dot() = p(i) * q(i);
  } catch (const ricci::error& error) {
    std::cerr << error.what() << '\n';  // a sentence that names the label and both extents
    std::cout << (error.code() == ricci::errc::bad_extent ? "bad extent" : "something else") << '\n';
  }
  // [/error]
}
