/* ricci in C: batches of matrix products. C11; names and argument order follow CBLAS and its batch extensions. */
#ifndef RICCI_RICCI_H
#define RICCI_RICCI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RICCI_VERSION_MAJOR 0
#define RICCI_VERSION_MINOR 1
#define RICCI_VERSION_PATCH 0

/* CBLAS's values. For real matrices RICCI_CONJ_TRANS is RICCI_TRANS. */
typedef enum ricci_layout { RICCI_ROW_MAJOR = 101, RICCI_COL_MAJOR = 102 } ricci_layout;
typedef enum ricci_transpose { RICCI_NO_TRANS = 111, RICCI_TRANS = 112, RICCI_CONJ_TRANS = 113 } ricci_transpose;

/* 16-bit floats by their bits: IEEE binary16, and bfloat16 (the upper half of a float). */
typedef uint16_t ricci_half;
typedef uint16_t ricci_bfloat16;

/* What every function returns: 0, or -i for a bad i-th argument, or one of these. Nothing was written then, but for
 * RICCI_FAILED, which leaves C undefined. */
enum { RICCI_SUCCESS = 0, RICCI_NO_MEMORY = 1, RICCI_FAILED = 2 };

/* The last error of the calling thread as a sentence; "" if there was none. Good until the thread's next error. */
const char *ricci_last_error(void);

/* "0.1.0" */
const char *ricci_version(void);

/* Most threads that a call of any function below may use; 0 (the default) or less: OpenMP's choice. A call from inside an
 * OpenMP parallel region uses the calling thread alone. */
void ricci_set_num_threads(int threads);
int ricci_get_num_threads(void);

/* C_e[i,j] = beta C_e[i,j] + alpha sum_k op(A_e)[i,k] op(B_e)[k,j]        for e = 0 .. batch-1
 *
 * Shapes    op(A) m x k, op(B) k x n, C m x n. Matrix e is at a + e*stridea and so on, in elements. A stride of 0
 *           shares a matrix (a and b); strides may be negative.
 * Reading   beta == 0: C is not read. alpha == 0 or k == 0: A and B are not read and may be NULL.
 *           m, n or batch 0: nothing happens.
 * Aliasing  C overlaps neither A nor B. Matrices C of one batch that overlap, or whose strides do not nest, are computed
 *           one after the other, which is slow; those of arrays of pointers do not overlap.
 * Memory    no alignment is needed.
 * Threads   may be called from several threads at once.
 * Cost      2 m n k batch flop, 8 in complex types. The first call of a shape plans it and writes its kernels: some 10
 *           to 100 microseconds, up to a millisecond for large matrices. Later ones find the plan.
 * Errors    -i as LAPACK's info, for the first bad argument; nothing was read or written then.
 */
int ricci_sgemm_batch_strided(ricci_layout layout, ricci_transpose transa, ricci_transpose transb,
                              int64_t m, int64_t n, int64_t k, float alpha,
                              const float *a, int64_t lda, int64_t stridea,
                              const float *b, int64_t ldb, int64_t strideb,
                              float beta, float *c, int64_t ldc, int64_t stridec, int64_t batch);
int ricci_dgemm_batch_strided(ricci_layout layout, ricci_transpose transa, ricci_transpose transb,
                              int64_t m, int64_t n, int64_t k, double alpha,
                              const double *a, int64_t lda, int64_t stridea,
                              const double *b, int64_t ldb, int64_t strideb,
                              double beta, double *c, int64_t ldc, int64_t stridec, int64_t batch);

/* Complex matrices and scalars by pointer, real and imaginary part side by side, as in CBLAS. */
int ricci_cgemm_batch_strided(ricci_layout layout, ricci_transpose transa, ricci_transpose transb,
                              int64_t m, int64_t n, int64_t k, const void *alpha,
                              const void *a, int64_t lda, int64_t stridea,
                              const void *b, int64_t ldb, int64_t strideb,
                              const void *beta, void *c, int64_t ldc, int64_t stridec, int64_t batch);
int ricci_zgemm_batch_strided(ricci_layout layout, ricci_transpose transa, ricci_transpose transb,
                              int64_t m, int64_t n, int64_t k, const void *alpha,
                              const void *a, int64_t lda, int64_t stridea,
                              const void *b, int64_t ldb, int64_t strideb,
                              const void *beta, void *c, int64_t ldc, int64_t stridec, int64_t batch);

/* 16-bit elements, accumulated in float and rounded once when stored. */
int ricci_hgemm_batch_strided(ricci_layout layout, ricci_transpose transa, ricci_transpose transb,
                              int64_t m, int64_t n, int64_t k, float alpha,
                              const ricci_half *a, int64_t lda, int64_t stridea,
                              const ricci_half *b, int64_t ldb, int64_t strideb,
                              float beta, ricci_half *c, int64_t ldc, int64_t stridec, int64_t batch);
int ricci_bgemm_batch_strided(ricci_layout layout, ricci_transpose transa, ricci_transpose transb,
                              int64_t m, int64_t n, int64_t k, float alpha,
                              const ricci_bfloat16 *a, int64_t lda, int64_t stridea,
                              const ricci_bfloat16 *b, int64_t ldb, int64_t strideb,
                              float beta, ricci_bfloat16 *c, int64_t ldc, int64_t stridec, int64_t batch);

/* The same for matrices that live anywhere: a, b and c are arrays of `batch` pointers. Pointers of a and of b may
 * repeat; those of c may not. No pointer that would be followed is NULL. */
int ricci_sgemm_batch(ricci_layout layout, ricci_transpose transa, ricci_transpose transb,
                      int64_t m, int64_t n, int64_t k, float alpha,
                      const float *const *a, int64_t lda, const float *const *b, int64_t ldb,
                      float beta, float *const *c, int64_t ldc, int64_t batch);
int ricci_dgemm_batch(ricci_layout layout, ricci_transpose transa, ricci_transpose transb,
                      int64_t m, int64_t n, int64_t k, double alpha,
                      const double *const *a, int64_t lda, const double *const *b, int64_t ldb,
                      double beta, double *const *c, int64_t ldc, int64_t batch);
int ricci_cgemm_batch(ricci_layout layout, ricci_transpose transa, ricci_transpose transb,
                      int64_t m, int64_t n, int64_t k, const void *alpha,
                      const void *const *a, int64_t lda, const void *const *b, int64_t ldb,
                      const void *beta, void *const *c, int64_t ldc, int64_t batch);
int ricci_zgemm_batch(ricci_layout layout, ricci_transpose transa, ricci_transpose transb,
                      int64_t m, int64_t n, int64_t k, const void *alpha,
                      const void *const *a, int64_t lda, const void *const *b, int64_t ldb,
                      const void *beta, void *const *c, int64_t ldc, int64_t batch);
int ricci_hgemm_batch(ricci_layout layout, ricci_transpose transa, ricci_transpose transb,
                      int64_t m, int64_t n, int64_t k, float alpha,
                      const ricci_half *const *a, int64_t lda, const ricci_half *const *b, int64_t ldb,
                      float beta, ricci_half *const *c, int64_t ldc, int64_t batch);
int ricci_bgemm_batch(ricci_layout layout, ricci_transpose transa, ricci_transpose transb,
                      int64_t m, int64_t n, int64_t k, float alpha,
                      const ricci_bfloat16 *const *a, int64_t lda, const ricci_bfloat16 *const *b, int64_t ldb,
                      float beta, ricci_bfloat16 *const *c, int64_t ldc, int64_t batch);

#ifdef __cplusplus
}
#endif

#endif
