// Batches of matrix products as the compiled library sees them: what C and the batch classes call. No templates here.
#pragma once

#include <complex>
#include <cstdint>

#include <ricci/core/types.hpp>

namespace ricci {

/// c_e[i,j] = beta c_e[i,j] + alpha sum_k a_e[i,k] b_e[k,j]        for each problem e of the batch
///
/// Shapes    a m x k, b k x n, c m x n; strides in elements, any for a and b; a transposed matrix has them exchanged.
///           batch and the steps from problem to problem matter to run_gemm() only.
/// Reading   beta == 0: c is not read. alpha == 0 or k == 0: a and b are not read.
/// Aliasing  c overlaps neither a nor b.
/// Errors    no_memory, bad_argument for a negative number of threads. Extents are not negative.
struct gemm_problem {
  dtype type = dtype::f64;
  bool conj_a = false, conj_b = false;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t a_row = 0, a_col = 1, b_row = 0, b_col = 1, c_row = 0, c_col = 1;
  std::int64_t batch = 1, a_step = 0, b_step = 0, c_step = 0;
  /// run_gemm() alone: every problem of the batch is `lanes` problems, these steps apart.
  std::int64_t lanes = 1, a_lane = 0, b_lane = 0, c_lane = 0;
  std::complex<double> alpha = 1, beta = 0;
  int threads = 0;  // most threads; 0: OpenMP's choice
  bool deterministic = false;  // as options::deterministic
};

/// Problem (e, l) at a + e*a_step + l*a_lane and so on. The plan is remembered on the calling thread.
/// Problems whose c overlap run one after the other.
void run_gemm(const gemm_problem& p, const void* a, const void* b, void* c);

/// The thread's last run_gemm(), if it was one call of a kernel: a number under which it runs again. 0: it was not.
std::uint64_t last_gemm() noexcept;

/// The problem of that number with other memory; false, and nothing is done, if another has run on this thread since.
bool run_gemm_again(std::uint64_t which, const void* a, const void* b, void* c);

/// Problem e at a[e], b[e], c[e], p.batch of them. No two c overlap.
void run_gemm_each(const gemm_problem& p, const void* const* a, const void* const* b, void* const* c);

/// Both on the GPU: the matrices (and, for _each, the arrays of pointers to them) are in its memory. Enqueued on a CUDA
/// stream, null for the default one. _each takes sides and sums from 1 to 64, and reads a and b whatever alpha is.
/// Errors    no_gpu, gpu_failed, wrong_space, no_memory; bad_argument for larger matrices by pointers.
void run_gemm_gpu(const gemm_problem& p, const void* a, const void* b, void* c, void* stream = nullptr);
void run_gemm_each_gpu(const gemm_problem& p, const void* const* a, const void* const* b, void* const* c, void* stream = nullptr);

}  // namespace ricci
