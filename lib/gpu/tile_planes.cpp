// Which tiles in planes are considered, and what they take, as measured on an H200.
#include "gpu/tile_planes.hpp"

#include <algorithm>

namespace ricci::cuda {
namespace {

/// Bytes of shared memory that slices take, or the image of the results.
int bytes_in_planes(const tile_config& c) {
  constexpr int pad = 8;
  const int between = c.compute == arithmetic::wgmma_16 ? 0 : pad;
  return std::max(c.stages * 2 * (c.planes_a * (c.rows + between) + c.planes_b * (c.cols + between)) * (c.depth + between), 4 * c.rows * (c.cols + pad));
}

}  // namespace

planes planes_of(const step_shape& s) {
  const auto of = [](dtype t) { return t == dtype::f32 ? 3 : t == dtype::f16 ? 2 : 1; };
  const bool real = compute_type(s.a) == dtype::f32 && compute_type(s.b) == dtype::f32 && compute_type(s.c) == dtype::f32;
  const bool mixed = s.a != s.b && (s.a == dtype::f32 || s.b == dtype::f32), stored = s.a == s.b && s.a == dtype::f32 && size_of(s.c) == 2;
  return s.has_a && s.has_b && real && (mixed || stored) ? planes{of(s.a), of(s.b)} : planes{};
}

bool is_scaled(const tile_config& c) { return c.compute == arithmetic::wgmma_16 && c.planes_a + c.planes_b == 5 && c.rows * c.cols > 128 * 128; }

int products_of(const planes& x) {
  int n = 0;
  for (int p = 0; p < x.a; ++p) n += std::min(x.b, 3 - p);
  return n;
}
int products_of(const tile_config& c) { return is_scaled(c) ? 2 : products_of(planes{c.planes_a, c.planes_b}); }

int least_products(const step_shape& s) {
  const planes cut = planes_of(s);
  return cut.a + cut.b == 5 ? 2 : products_of(cut);
}

std::vector<tile_config> tiles_in_planes(const step_shape& s, const gpu_machine& machine) {
  const std::int64_t m = count_of(s.m), n = count_of(s.n);
  const planes cut = planes_of(s);
  std::vector<tile_config> all;
  // As many stages as there is room for.
  const auto add = [&](tile_config c) {
    c.planes_a = cut.a, c.planes_b = cut.b;
    const int room = std::min(machine.shared_most, machine.shared_bytes / c.blocks - 1024), fewest = c.compute == arithmetic::wgmma_16 && c.blocks == 1 ? 3 : 2;
    while (c.stages > fewest && bytes_in_planes(c) > room) --c.stages;
    if (bytes_in_planes(c) <= room) all.push_back(c);
  };
  constexpr std::int64_t few = 48;  // rows or columns that have a tile of their own
  const auto up_to_16 = [](std::int64_t x) { return static_cast<int>((x + 15) / 16 * 16); };
  if (m <= few && m <= n) {
    add({arithmetic::mma_16, up_to_16(m), 128, 32, 3, 256, up_to_16(m) / 16, 2, 1, 8, 2});
    return all;
  }
  if (n <= few) {
    add({arithmetic::mma_16, 128, up_to_16(n), 32, 3, 256, 1, up_to_16(n) / 8, 8, 1, 2});
    return all;
  }
  add({arithmetic::mma_16, 64, 128, 32, 3, 256, 2, 4, 2, 4, 2}), add({arithmetic::mma_16, 64, 64, 32, 3, 128, 2, 4, 2, 2, 2});
  if (!machine.warpgroups) return all;
  const auto add_warpgroups = [&](int rows, int cols, int depth, int stages, int blocks) { add({arithmetic::wgmma_16, rows, cols, depth, stages, 2 * rows, 1, cols / 8, rows / 16, 1, blocks}); };
  add_warpgroups(128, 128, 32, 4, products_of(cut) > 3 ? 1 : 2);
  if (cut.b < 3 && n > 128) add_warpgroups(128, 256, 32, 4, 1);
  if (cut.a < 3 && m > 128) add({arithmetic::wgmma_16, 256, 128, 32, 4, 256, 2, 16, 8, 1, 1});  // 128 rows each
  // Slices of 64 terms where the registers that they wait in are there.
  add_warpgroups(128, 64, cut.a == 1 ? 64 : 32, 4, 2);
  if (products_of(cut) < 6) add_warpgroups(64, 64, cut.a * cut.b > 3 ? 32 : 64, 4, 3);
  if (products_of(cut) < 6 && cut.a != 2) add_warpgroups(64, 128, cut.b == 1 ? 64 : 32, 4, 2);
  return all;
}

double share_in_planes(const tile_config& c) { return c.compute == arithmetic::wgmma_16 ? 1 : 0.55; }

double busy_in_planes(const tile_config& c, std::int64_t blocks) {
  if (std::min(c.rows, c.cols) < 64) return 0.6;
  if (blocks > 1 || c.rows * c.cols > 128 * 128) return 1;
  return c.rows * c.cols == 128 * 128 ? 0.9 : c.block > 128 ? 0.76 : 0.66;
}

double seconds_to_cut(const tile_config& c, const step_shape& s) {
  constexpr double of_float = 0.1e-9, of_half = 0.08e-9, of_scaled = 0.27e-9;  // scaled: with the look at them; their halves stay
  const auto of = [&](int lines, dtype t, int in_planes) {
    const double each = in_planes == 1 ? 0 : is_scaled(c) ? (in_planes == 3 ? of_scaled : 0) : t == dtype::f32 ? of_float : of_half;
    return lines * c.depth * each;
  };
  return of(c.rows, s.a, c.planes_a) + of(c.cols, s.b, c.planes_b);
}

}  // namespace ricci::cuda
