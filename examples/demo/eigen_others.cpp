// The statement, the convolution and the matrix product with Eigen.
#include <algorithm>
#include <vector>

#include <Eigen/Core>

#include "eigen_peers.hpp"

namespace demo::peers {
namespace {

constexpr int size = 64, m_extent = 9, n_extent = 8, inner = m_extent * n_extent;

template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using block = Eigen::Matrix<double, size, size, Eigen::RowMajor>;
using strided = Eigen::Map<block, 0, Eigen::Stride<size * inner, inner>>;

strided slice(double* a, int m, int n) { return strided(a + m * n_extent + n); }

/// im2col: one row for each (channel, tap row, tap column), one column for each pixel of rows [first, last).
void unfold(const convolution_shape& s, const float* image, int first, int last, Eigen::Map<matrix<float>> to) {
  const int columns = s.columns();
  int row = 0;
  for (int c = 0; c < s.channels; ++c)
    for (int p = 0; p < s.taps; ++p)
      for (int q = 0; q < s.taps; ++q, ++row)
        for (int y = first; y < last; ++y) {
          const float* from = image + (std::int64_t(c) * s.height + y + p) * s.width + q;
          to.row(row).segment((y - first) * columns, columns) = Eigen::Map<const Eigen::RowVectorXf>(from, columns);
        }
}

}  // namespace

std::string name() {
#if defined(__AVX512F__)
  const char* const vectors = "AVX-512";
#elif defined(__AVX2__) && defined(__FMA__)
  const char* const vectors = "AVX2, FMA";
#else
  const char* const vectors = Eigen::SimdInstructionSetsInUse();
#endif
  return "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
         std::to_string(EIGEN_MINOR_VERSION) + " (" + vectors + ")";
}

/// The loops of the mathematics over strided maps; the operands are copied once each, or Eigen would copy them
/// again for each of the 56 products.
void statement_loops(double* a) {
  static std::vector<block> left(m_extent), right(n_extent);
  for (int m = 1; m < m_extent; ++m) left[m] = slice(a, m, 0);
  for (int n = 1; n < n_extent; ++n) right[n] = slice(a, 0, n);
  for (int m = 1; m < m_extent; ++m)
    for (int n = 1; n < n_extent; ++n) slice(a, m, n).noalias() -= left[m] * right[n];
}

/// Gather, one large product (m i) x (n j), scatter.
void statement_gathered(double* a) {
  static matrix<double> left((m_extent - 1) * size, size), right(size, (n_extent - 1) * size), result;
  for (int m = 1; m < m_extent; ++m) left.middleRows((m - 1) * size, size) = slice(a, m, 0);
  for (int n = 1; n < n_extent; ++n) right.middleCols((n - 1) * size, size) = slice(a, 0, n);
  result.noalias() = left * right;
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j)
      for (int m = 1; m < m_extent; ++m)
        for (int n = 1; n < n_extent; ++n)
          a[(i * size + j) * inner + m * n_extent + n] -= result((m - 1) * size + i, (n - 1) * size + j);
}

void convolve(std::int64_t bytes, const convolution_shape& s, const float* filters, const float* images, float* out) {
  static std::vector<float> memory;
  const int depth = s.channels * s.taps * s.taps, columns = s.columns();
  const int rows = std::clamp<int>(bytes / (sizeof(float) * depth * columns), 1, s.rows());
  const Eigen::Map<const matrix<float>> f(filters, s.filters, depth);
  for (int b = 0; b < s.images; ++b)
    for (int first = 0; first < s.rows(); first += rows) {
      const int last = std::min(first + rows, s.rows());
      memory.resize(std::max(memory.size(), std::size_t(depth) * (last - first) * columns));
      const Eigen::Map<matrix<float>> unfolded(memory.data(), depth, (last - first) * columns);
      unfold(s, images + std::int64_t(b) * s.channels * s.height * s.width, first, last, unfolded);
      float* to = out + (std::int64_t(b) * s.filters * s.rows() + first) * columns;
      Eigen::Map<matrix<float>, 0, Eigen::OuterStride<>> result(to, s.filters, (last - first) * columns,
                                                                Eigen::OuterStride<>(s.rows() * columns));
      result.noalias() = f * unfolded;
    }
}

void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, const double* b, double* c) {
  Eigen::Map<matrix<double>>(c, m, n).noalias() =
      Eigen::Map<const matrix<double>>(a, m, k) * Eigen::Map<const matrix<double>>(b, k, n);
}

}  // namespace demo::peers
