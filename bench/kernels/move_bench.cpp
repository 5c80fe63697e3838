// Times the move kernels on one core: GB/s read plus written, beside memcpy. RICCI_ISA chooses the instruction set.
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/kernels.hpp"
#include "timing.hpp"

namespace {

using namespace ricci::kernels;
using index_t = std::int64_t;

constexpr double patience = 0.03;

/// dst[i][j] = src[j][i], both without gaps, and the same amount by memcpy.
template <class S, class D> void transposed(const char* name, index_t rows, index_t cols) {
  std::vector<S> src(static_cast<std::size_t>(rows * cols), S(1.0f));
  std::vector<D> dst(src.size());
  move_args g;
  g.axis_count = 2;
  g.axes[0] = {rows, 0, 1, cols};
  g.axes[1] = {cols, 0, rows, 1};
  const move_fn fn = best().move[static_cast<int>(ricci::dtype_of<S>)][static_cast<int>(ricci::dtype_of<D>)];
  const double t = time_of([&] { fn(g, src.data(), dst.data(), nullptr); }, patience);
  g.axes[0].b = cols, g.axes[1].b = 1;
  const double straight = time_of([&] { fn(g, src.data(), dst.data(), nullptr); }, patience);
  std::vector<S> copy(src.size());
  const double m = time_of([&] { std::memcpy(copy.data(), src.data(), src.size() * sizeof(S)); }, patience);
  const double gigabytes = 1e-9 * static_cast<double>(src.size() * (sizeof(S) + sizeof(D)));
  std::printf("%-12s %5d x %-5d transposed %9.1f ns %6.1f GB/s   ", name, static_cast<int>(rows),
              static_cast<int>(cols),
              t * 1e9, gigabytes / t);
  std::printf("straight %9.1f ns %6.1f GB/s   memcpy %6.1f GB/s\n", straight * 1e9, gigabytes / straight,
              2e-9 * static_cast<double>(src.size() * sizeof(S)) / m);
}

}  // namespace

int main() {
  std::printf("%s\n", best().isa);
  for (const auto& [rows, cols] : {std::pair<index_t, index_t>{4, 4}, {8, 8}, {9, 9}, {16, 16}, {64, 64}, {1000, 1000}, {400, 2}, {400, 3}, {400, 5}, {400, 9}, {400, 15}, {3, 400}, {5, 400}, {9, 400}, {15, 400}}) {
    transposed<float, float>("f32", rows, cols);
    transposed<double, double>("f64", rows, cols);
    transposed<std::complex<double>, std::complex<double>>("c128", rows, cols);
    transposed<ricci::half, ricci::half>("f16", rows, cols);
    transposed<ricci::half, float>("f16 to f32", rows, cols);
    transposed<ricci::bfloat16, float>("bf16 to f32", rows, cols);
    transposed<float, ricci::half>("f32 to f16", rows, cols);
    transposed<float, ricci::bfloat16>("f32 to bf16", rows, cols);
  }
}
