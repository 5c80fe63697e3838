// Eigen's products as a module of plain functions: sizes known to the compiler for some squares, dynamic for all.
#include "tools/bench/eigen_module.hpp"

#include <Eigen/Core>

#include <complex>
#include <type_traits>
#include <utility>

namespace {

template <class T, int N, int Beta>
void multiply(const void* a, const void* b, void* c, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc) {
  using matrix = Eigen::Matrix<T, N, N, Eigen::RowMajor>;
  using stride = std::conditional_t<N == Eigen::Dynamic, Eigen::OuterStride<>, Eigen::OuterStride<N>>;
  const Eigen::Map<const matrix, 0, stride> x(static_cast<const T*>(a), m, k, stride(lda)), y(static_cast<const T*>(b), k, n, stride(ldb));
  Eigen::Map<matrix, 0, stride> z(static_cast<T*>(c), m, n, stride(ldc));
  if constexpr (Beta != 0) z.noalias() += x * y;
  else z.noalias() = x * y;
}

using sizes = std::integer_sequence<int, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16>;

template <class T, int... N>
ricci_eigen_kernel* find_fixed(std::int64_t size, int beta, std::integer_sequence<int, N...>) {
  ricci_eigen_kernel* found = nullptr;
  ((size == N ? void(found = beta ? multiply<T, N, 1> : multiply<T, N, 0>) : void()), ...);
  return found;
}

template <class T>
ricci_eigen_kernel* find(std::int64_t m, std::int64_t n, std::int64_t k, int beta, bool fixed) {
  if (!fixed) return beta ? multiply<T, Eigen::Dynamic, 1> : multiply<T, Eigen::Dynamic, 0>;
  if constexpr (sizeof(T) > 2 && !Eigen::NumTraits<T>::IsComplex) {
    if (m == n && n == k) return find_fixed<T>(n, beta, sizes());
  }
  return nullptr;
}

}  // namespace

#define RICCI_TEXT(x) #x
#define RICCI_NUMBERS(a, b, c) RICCI_TEXT(a) "." RICCI_TEXT(b) "." RICCI_TEXT(c)

extern "C" const char* ricci_eigen_version() {
  return RICCI_NUMBERS(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
}

extern "C" ricci_eigen_kernel* ricci_eigen_gemm(int type, std::int64_t m, std::int64_t n, std::int64_t k, int beta, bool fixed) {
  switch (type) {
    case 0: return find<float>(m, n, k, beta, fixed);
    case 1: return find<double>(m, n, k, beta, fixed);
    case 2: return find<std::complex<float>>(m, n, k, beta, fixed);
    case 3: return find<std::complex<double>>(m, n, k, beta, fixed);
    case 4: return find<Eigen::half>(m, n, k, beta, fixed);
    case 5: return find<Eigen::bfloat16>(m, n, k, beta, fixed);
    default: return nullptr;
  }
}
