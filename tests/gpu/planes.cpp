// Products of floats with 16 bits, and of floats that are stored in 16 bits, by tensor cores: planes of bfloat16 whose sum a factor is.
// Beside the general kernel, with sums short enough that a plane that is missing is seen, and with numbers that have no planes.
// RICCI_TEST_PART=3/16 runs a sixteenth.
#include <cstdlib>
#include <limits>
#include <utility>

#include "part.hpp"
#include "step_memory.hpp"

using namespace ricci;
using namespace ricci::cuda;

namespace {

constexpr std::array<dtype, 3> mixtures[] = {{dtype::f32, dtype::f16, dtype::f32},  {dtype::f16, dtype::f32, dtype::f16},  {dtype::f32, dtype::bf16, dtype::bf16},
                                             {dtype::bf16, dtype::f32, dtype::f32}, {dtype::f32, dtype::f32, dtype::f16}, {dtype::f32, dtype::f32, dtype::bf16}};

struct sides {
  std::int64_t m, n, k;
};

/// c(z,i,j) = a b of two problems. way: a along i, b along k; sums of two labels.
step_shape shape_of(const std::array<dtype, 3>& types, const sides& x, int way, bool beta) {
  step_shape s = product_step(dtype::f32, x.m, x.n, x.k, beta, 2);
  s.a = types[0], s.b = types[1], s.c = types[2];
  if (way & 1) s.m[0].a = 1, s.k[0].a = x.m;
  if (way & 2) s.k[0].b = 1, s.n[0].b = x.k;
  if (way & 4 && x.k % 5 == 0) {  // the fifths change places in a
    const axis k = s.k[0];
    s.k = {{5, k.a, k.b * (k.extent / 5), 0}, {k.extent / 5, k.a * 5, k.b, 0}};
  }
  return s;
}

/// The configurations of tensor cores.
std::vector<tile_config> in_planes(const step_shape& s) {
  std::vector<tile_config> all;
  for (const tile_config& c : tile_candidates(s, current_device().machine))
    if (c.in_planes()) all.push_back(c);
  return all;
}

void put(dtype t, std::vector<char>& to, std::int64_t at, float x) {
  if (t == dtype::f32) reinterpret_cast<float*>(to.data())[at] = x;
  else if (t == dtype::f16) reinterpret_cast<half*>(to.data())[at] = half(x);
  else reinterpret_cast<bfloat16*>(to.data())[at] = bfloat16(x);
}

}  // namespace

TEST_CASE("every configuration of tiles in planes gives the same products") {
  if (!test::has_gpu()) return;
  unsigned at = 0, number = 0;
  const use_device use(current_device());
  for (const std::array<dtype, 3>& types : mixtures)
    for (const sides& x : {sides{72, 136, 5}, {141, 75, 7}, {150, 200, 165}, {13, 150, 40}, {150, 45, 130}})
      for (int way = 0; way < 8; ++way) {
        if (!test::is_mine(at++)) continue;
        const int shift = way % 3 == 2 ? 1 : 0;
        const test::step_memory m(types, 2 * x.m * x.k, 2 * x.k * x.n, 2 * x.m * x.n, shift);
        step_plan p;
        p.shape = shape_of(types, x, way, (way + at) % 2 == 0);
        const test::by_general_kernel wanted(m, p.shape, x.k);
        p.kind = kernel_kind::tile;
        const step_shape given = p.shape;
        const std::vector<tile_config> all = in_planes(given);
        REQUIRE(!all.empty());
        for (const tile_config& c : all) {
          if (++number % 3 != 0) continue;  // each with other sides and ways
          p.tile = c;
          if (x.k > 64 && number % 2 == 0 && current_device().machine.architecture >= 90) p.tile.parts = 3, p.tile.beside = true;
          p.shape = arranged_for_tiles(given, p.tile);
          CAPTURE(name_of(types[0]), name_of(types[1]), name_of(types[2]), x.m, x.n, x.k, way, given.beta, shift, to_string(p), c.stages, c.blocks);
          REQUIRE(wanted.first_wrong(p) == -1);
        }
      }
}

// Rows of a and columns of b with one number among moderate ones that planes must not spoil: c(i,j) is what multiply-adds make of it.
TEST_CASE("infinite, huge and tiny numbers in planes") {
  if (!test::has_gpu()) return;
  const use_device use(current_device());
  const device& d = current_device();
  unsigned number = 0;
  constexpr float inf = std::numeric_limits<float>::infinity(), largest = std::numeric_limits<float>::max();
  const float odd[] = {inf, -inf, std::nanf(""), largest, -largest, 3.3e38f, 0.0f, -0.0f, 1.17549435e-38f, -3e-39f, 1e-30f, 1e-20f, 65504.0f, -65504.0f, 6e-8f, 1.0f, 0.3333333f, 0x1.fffffep0f};
  constexpr int count = static_cast<int>(std::size(odd));
  constexpr std::int64_t rows = 72, cols = 136, terms = 24;
  for (const std::array<dtype, 3>& mixture : mixtures) {
    const std::array<dtype, 3> types{mixture[0], mixture[1], dtype::f32};
    if (types[0] == types[1]) continue;  // of floats stored in 16 bits little of this can be seen
    std::vector<char> a = test::random_bytes(types[0], rows * terms * static_cast<std::int64_t>(size_of(types[0])), 1), b = test::random_bytes(types[1], cols * terms * static_cast<std::int64_t>(size_of(types[1])), 2);
    for (std::int64_t i = 0; i < rows; ++i)
      if (i % 3 != 0) put(types[0], a, i * terms + 5, odd[i % count]);
    for (std::int64_t j = 0; j < cols; ++j) {
      if (j % 2 != 0) put(types[1], b, 5 * cols + j, odd[j / 2 % count]);
      if (j % 5 == 0) put(types[1], b, 7 * cols + j, odd[(j / 5 + 1) % count]);
    }
    const step_shape given = shape_of(types, {rows, cols, terms}, 0, false);
    step_shape one = given;
    one.batch.clear();
    const buffer x(static_cast<std::int64_t>(a.size())), y(static_cast<std::int64_t>(b.size())), z(rows * cols * 4);
    copy_to_device(x.data(), a.data(), x.bytes()), copy_to_device(y.data(), b.data(), y.bytes());
    const auto run = [&](const step_plan& p) {
      operands o;
      o.a = x.data(), o.b = y.data(), o.c = z.data();
      launch_step(p, load_kernel(d, request_of(p, alignments_of(p.shape, o.a, o.b, o.c))), o, d);
      std::vector<float> c(static_cast<std::size_t>(rows * cols));
      copy_to_host(c.data(), z.data(), z.bytes());
      return c;
    };
    step_plan p;
    p.shape = one, p.kind = kernel_kind::general;
    const std::vector<float> wanted = run(p);
    p.kind = kernel_kind::tile;
    for (const tile_config& c : in_planes(one)) {
      if (!test::is_mine(number++)) continue;
      p.tile = c, p.shape = arranged_for_tiles(one, c);
      const std::vector<float> got = run(p);
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < cols; ++j) {
          const auto at = static_cast<std::size_t>(i * cols + j);
          double size = 0, lost = 0;
          bool vanishes = false;  // planes of what is below 2^-101 vanish: an infinity times nothing
          for (std::int64_t k = 0; k < terms; ++k) {
            const double f = std::abs(test::part_of(types[0], a.data(), i * terms + k)), g = std::abs(test::part_of(types[1], b.data(), k * cols + j));
            size += f * g;
            if (std::min(f, g) > 0 && std::min(f, g) < 0x1p-110) lost += 0x1p-132 * std::max(f, g);  // bits below the least of bfloat16
            vanishes = vanishes || (std::isinf(f * g) && std::min(f, g) < 0x1p-101);
          }
          if (vanishes) continue;
          CAPTURE(name_of(types[0]), name_of(types[1]), to_string(p), i, j, test::part_of(types[0], a.data(), i * terms + 5), test::part_of(types[1], b.data(), 5 * cols + j), wanted[at], got[at]);
          if (std::isnan(wanted[at])) REQUIRE(std::isnan(got[at]));
          else if (std::isinf(wanted[at])) REQUIRE(got[at] == wanted[at]);
          else REQUIRE(std::abs(static_cast<double>(got[at]) - static_cast<double>(wanted[at])) <= 2 * (terms + 4) * test::epsilon_of(dtype::f32) * size + lost);
        }
    }
  }
}
