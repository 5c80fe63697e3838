// What the module of Eigen's kernels offers: plain C, for dlsym.
#pragma once

#include <cstdint>

/// c = a b or c += a b, row-major; matrices of a fixed size are dense.
using ricci_eigen_kernel = void(const void* a, const void* b, void* c, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t lda,
                                std::int64_t ldb, std::int64_t ldc);

/// Null if there is none for this type (ricci's dtype as an integer) and size.
using ricci_eigen_find = ricci_eigen_kernel*(int type, std::int64_t m, std::int64_t n, std::int64_t k, int beta, bool fixed);
