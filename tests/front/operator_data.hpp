// Operands of finite element operators in whole numbers: sums are exact, in whatever order.
#pragma once

#include <algorithm>
#include <cstdint>

#include <ricci/ricci.hpp>

namespace front {

using ricci::dynamic;
using ricci::tensor;

template <class T> using in_order = tensor<T, dynamic, dynamic, dynamic, dynamic>;
/// A register of AVX-512 of elements side by side, or W of them.
template <class T, int W = static_cast<int>(64 / sizeof(T))>
using side_by_side = tensor<T, dynamic, dynamic, dynamic, dynamic, ricci::interleaved<W>>;
template <class T> using square = tensor<T, dynamic, dynamic>;

/// -1, 0 or 1; M(q, p) = parity M(Q-1-q, P-1-p).
template <class T> square<T> symmetric(int Q, int P, int parity) {
  square<T> M(Q, P);
  for (int q = 0; q < Q; ++q)
    for (int p = 0; p < P; ++p) M(q, p) = static_cast<T>((3 * q + 5 * p) % 3 - 1), M(Q - 1 - q, P - 1 - p) = static_cast<T>(parity) * M(q, p);
  if (parity < 0 && Q % 2 && P % 2) M(Q / 2, P / 2) = 0;
  return M;
}

template <class Tensor> void fill(Tensor& x, int from, int values) {
  int at = 0;
  for (auto& y : x) y = static_cast<typename Tensor::value_type>(from + (at = (at * 5 + 3) % 37) % values);
}

template <class Tensor> Tensor field_of(std::int64_t elements, int n, int from, int values) {
  using T = typename Tensor::value_type;
  using namespace ricci::labels;
  in_order<T> x(elements, n, n, n);
  fill(x, from, values);
  Tensor out(elements, n, n, n);
  out(e, k, j, i) = x(e, k, j, i);
  return out;
}

template <class Tensor> bool equal(const Tensor& x, const Tensor& y) { return std::equal(x.data(), x.data() + x.size(), y.data()); }

}  // namespace front
