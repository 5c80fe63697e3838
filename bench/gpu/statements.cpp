// Products inside larger tensors on the GPU: transposed, side by side, in ranges, between gaps, and the rank-k update of a
// tensor by itself, each as a share of the triad's bandwidth beside the packed batch of the same sizes.
//   bench_gpu_statements [PROBLEMS]
// Bytes are those of the 32-byte sectors that must be read and written once. Runs between gaps stand also beside what a plain
// kernel gives that reads and writes the same runs: memory's own pages and bursts are longer than a sector.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <ricci/ricci.hpp>

#include "timing.hpp"

using namespace ricci::labels;
using ricci::dynamic;
using ricci::gpu;

namespace {

/// Sectors of one problem whose elements are at these offsets (of doubles).
class sectors {
 public:
  void touch(std::int64_t element) { at_.push_back(element / 4); }
  double bytes() {
    std::sort(at_.begin(), at_.end());
    return 32.0 * static_cast<double>(std::unique(at_.begin(), at_.end()) - at_.begin());
  }

 private:
  std::vector<std::int64_t> at_;
};

/// Of a matrix of `rows` runs of `cols` neighbours, `pitch` apart, from `first` on.
double matrix_bytes(std::int64_t rows, std::int64_t cols, std::int64_t pitch, std::int64_t first = 0) {
  sectors s;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < cols; ++c) s.touch(first + r * pitch + c);
  return s.bytes();
}

double triad = 0;
double packed_share = 0;

template <class Plan>
void report(const char* what, int n, std::int64_t problems, double bytes_each, const Plan& plan, double same_runs = 0) {
  const double seconds = bench::median_seconds([&] { plan.run(); });
  const double share = 100 * bytes_each * static_cast<double>(problems) / seconds * 1e-9 / triad;
  const bool packed = what[0] == 'p';
  if (packed) packed_share = share;
  std::printf("n = %2d  %-34s %8.0f GFLOP/s  %5.1f %% of the triad", n, what, static_cast<double>(plan.flops()) / seconds * 1e-9, share);
  if (!packed) std::printf("  %.2f of the packed batch's share", share / packed_share);
  if (same_runs > 0) std::printf(", %.2f of the same runs without a product", share * triad / 100 / same_runs);
  std::printf("\n");
  std::fflush(stdout);
}

template <class Tensor>
void fill(Tensor& x, unsigned seed) {
  bench::fill(x.data(), x.size(), seed);
}

template <int N>
void variants(std::int64_t problems) {
  using square = ricci::tensor<double, dynamic, N, N, gpu>;
  const double matrix = matrix_bytes(N, N, N);
  {
    square A(problems), B(problems), C(problems);
    fill(A, 1), fill(B, 2), fill(C, 3);
    report("packed", N, problems, 4 * matrix, ricci::plan(C(e, i, j).subtract(A(e, i, k) * B(e, k, j))));
    report("both factors transposed", N, problems, 4 * matrix, ricci::plan(C(e, i, j).subtract(A(e, k, i) * B(e, j, k))));
    report("the result transposed", N, problems, 4 * matrix, ricci::plan(C(e, j, i).subtract(A(e, i, k) * B(e, k, j))));
  }
  if constexpr (N <= 32) {
    square a(problems), c(problems);
    ricci::tensor<double, dynamic, N, N, gpu, ricci::interleaved<8>> A(problems), B(problems), C(problems);
    for (double* x : {a.data(), c.data(), A.data(), B.data(), C.data()}) bench::fill(x, a.size(), 5);
    report("eight problems side by side", N, problems, 4 * matrix, ricci::plan(C(e, i, j).subtract(A(e, i, k) * B(e, k, j))));
    report("the factors side by side", N, problems, 4 * matrix, ricci::plan(c(e, i, j).subtract(A(e, i, k) * B(e, k, j))));
    report("b and the result side by side", N, problems, 4 * matrix, ricci::plan(C(e, i, j).subtract(a(e, i, k) * B(e, k, j))));
  }
  {
    using wide = ricci::tensor<double, dynamic, N, 2 * N, gpu>;
    wide A(problems), B(problems), C(problems);
    fill(A, 1), fill(B, 2), fill(C, 3);
    const double bytes = matrix_bytes(N, N, 2 * N);
    report("strided: every second run of rows", N, problems, 4 * bytes, ricci::plan(C(e, i, j.in(0, N)).subtract(A(e, i, k.in(0, N)) * B(e, k, j))), bench::runs_bandwidth(8 * N, 16 * N));
  }
  {
    using framed = ricci::tensor<double, dynamic, N + 2, N + 2, gpu>;
    framed A(problems), B(problems), C(problems);
    fill(A, 1), fill(B, 2), fill(C, 3);
    const double bytes = matrix_bytes(N, N, N + 2, N + 3);
    report("ranges: within a frame of one", N, problems, 4 * bytes, ricci::plan(C(e, i.in(1, N + 1), j.in(1, N + 1)).subtract(A(e, i, k.in(1, N + 1)) * B(e, k, j))));
  }
  {
    ricci::tensor<double, dynamic, N, N, 9, 8, gpu> A(problems);
    fill(A, 1);
    sectors read, written;
    for (std::int64_t r = 0; r < N * N; ++r) {
      for (std::int64_t x = 1; x < 9; ++x)
        for (std::int64_t y = 1; y < 8; ++y) read.touch(72 * r + 8 * x + y), written.touch(72 * r + 8 * x + y);
      for (std::int64_t x = 1; x < 9; ++x) read.touch(72 * r + 8 * x);
      for (std::int64_t y = 1; y < 8; ++y) read.touch(72 * r + y);
    }
    report("a tensor by itself, 9 x 8 inside", N, problems, read.bytes() + written.bytes(),
           ricci::plan(A(e, i, j, m.in(1, 9), n.in(1, 8)).subtract(A(e, i, k, m, 0) * A(e, k, j, 0, n))));
  }
}

}  // namespace

int main(int count, char** words) {
  try {
    const std::int64_t problems = count > 1 ? std::atoll(words[1]) : 10000;
    triad = bench::triad_bandwidth();
    std::printf("%s, triad %.0f GB/s, %lld problems\n", bench::gpu_name().c_str(), triad, static_cast<long long>(problems));
    std::printf("what the last line of each side reads and writes of its result, without a product, by blocks of 1, 4 and 32 turns:");
    for (const int turns : {1, 4, 32}) std::printf(" %.1f", 100 * bench::update_bandwidth(turns) / triad);
    std::printf(" %% of the triad\n");
    variants<8>(40 * problems), variants<16>(10 * problems), variants<32>(4 * problems), variants<64>(problems);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
