// Every way of copying, of sharing work and of placing results of the kernels for small products, beside the general kernel.
// RICCI_TEST_PART=3/16 runs a sixteenth.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "elements.hpp"
#include "gpu/measure.hpp"
#include "gpu/small.hpp"
#include "on_gpu.hpp"

using namespace ricci;
using namespace ricci::cuda;
using test::epsilon_of;
using test::part_of;
using test::random_bytes;
using test::sizes_of;

namespace {

constexpr std::int64_t guard = 512;

/// Batches of problems: inner ones packed, outer ones behind a gap; b may be one for all.
struct layout {
  int m, n, k;
  std::int64_t inner, outer, gap;
  bool one_b;
};

step_shape shape_of(dtype t, const layout& l, bool beta) {
  step_shape s = product_step(t, l.m, l.n, l.k, beta, l.inner);
  if (l.one_b) s.batch[0].b = 0;
  if (l.outer > 1)
    s.batch.insert(s.batch.begin(), {l.outer, l.inner * l.m * l.k + l.gap, l.one_b ? 0 : l.inner * l.k * l.n + l.gap, l.inner * l.m * l.n + l.gap});
  return s;
}

/// Operands between guards, each so many elements behind a border.
struct memory {
  dtype type;
  buffer a, b, c;
  std::int64_t size;
  int shift;
  memory(dtype t, const layout& l, int shift_by)
      : type(t), a((l.outer * (l.inner * l.m * l.k + l.gap) + 64) * static_cast<std::int64_t>(size_of(t)) + 2 * guard),
        b((l.outer * (l.inner * l.k * l.n + l.gap) + 64) * static_cast<std::int64_t>(size_of(t)) + 2 * guard),
        c((l.outer * (l.inner * l.m * l.n + l.gap) + 64) * static_cast<std::int64_t>(size_of(t)) + 2 * guard), size(static_cast<std::int64_t>(size_of(t))),
        shift(shift_by) {}
  /// Random elements, or how large they are.
  void fill(const buffer& x, unsigned seed, bool sizes) const {
    const std::vector<char> bytes = random_bytes(type, x.bytes(), seed);
    copy_to_device(x.data(), (sizes ? sizes_of(type, bytes) : bytes).data(), x.bytes());
  }
  operands at() const {
    operands o;
    o.a = a.data() + guard + shift * size, o.b = b.data() + guard + 2 * shift % 16 * size, o.c = c.data() + guard + 3 * shift % 16 * size;
    return o;
  }
};

std::vector<char> run(const step_plan& p, const memory& m, bool sizes, const device& d) {
  m.fill(m.c, 3, sizes);
  operands o = m.at();
  o.beta[0] = p.shape.beta ? 0.5 : 0;
  launch_step(p, load_kernel(d, request_of(p, alignments_of(p.shape, o.a, o.b, o.c))), o, d);
  std::vector<char> host(static_cast<std::size_t>(m.c.bytes()));
  copy_to_host(host.data(), m.c.data(), m.c.bytes());
  return host;
}

/// How far two results may be from each other: both round each of the k products and c, and halves once more when they are
/// stored. `size` is the sum of what these are, made like the results.
double bound_of(dtype t, int k, double size, double x, double y) {
  const double eps = epsilon_of(compute_type(t)), stored = size_of(t) == 2 ? epsilon_of(t) : 0;
  return 2 * (k + 4) * eps * size + stored / 2 * (std::abs(x) + std::abs(y)) + (t == dtype::f16 ? 0x1p-24 : 0);
}

std::vector<small_config> configs_of(const small_shape& s, std::mt19937& random) {
  const auto one_of = [&](std::initializer_list<int> x) { return *(x.begin() + random() % x.size()); };
  std::vector<small_config> out;
  for (int tries = 0; tries < 4000 && out.size() < 10; ++tries) {
    small_config c;
    c.problems = one_of({1, 2, 3, 4, 5, 7, 8, 16}), c.group = one_of({32, 64, 96, 128}), c.block = c.group * one_of({1, 1, 2});
    c.stages = one_of({1, 1, 2, 3}), c.rm = one_of({1, 2, 3, 4, 5, 7}), c.rn = one_of({1, 2, 3, 4, 6, 8}), c.unroll = one_of({1, 4}), c.blocks = 1;
    c.vectors = one_of({0, 1}) == 1, c.lined = one_of({0, 1}) == 1, c.over = one_of({0, 1}) == 1;
    c.bulk = one_of({0, 1, 2}), c.together = one_of({0, 1, 2, 3});
    if (size_of(s.step.c) == 2 && one_of({0, 1}) == 1) c.compute = arithmetic::mma_16, c.rm = c.rn = 1, c.over = false;
    if (fits(s, c, described_h200()) && shared_bytes_of(s, c, {2, 2, 2}) < 100000) out.push_back(c);
  }
  return out;
}

}  // namespace

TEST_CASE("every way of copying gives the same products") {
  if (!test::has_gpu()) return;
  unsigned part = 0, parts = 1;
  if (const char* text = std::getenv("RICCI_TEST_PART")) std::sscanf(text, "%u/%u", &part, &parts);
  const device& d = current_device();
  const use_device use(d);
  const std::vector<layout> layouts = {{5, 5, 5, 1037, 1, 0, false}, {17, 17, 17, 211, 1, 0, false}, {8, 8, 8, 301, 1, 0, false}, {13, 6, 9, 101, 3, 0, false},
                                       {7, 11, 4, 53, 5, 3, false},  {9, 9, 9, 100, 2, 5, true},     {12, 10, 16, 77, 1, 0, true}, {22, 22, 22, 40, 2, 8, false}};
  unsigned at = 0;
  for (int t = 0; t < dtype_count; ++t)
    for (const layout& l : layouts)
      for (const bool beta : {false, true})
        for (const int shift : {0, 1, 3}) {
          if (at++ % parts != part) continue;
          const dtype type = static_cast<dtype>(t);
          std::mt19937 random(at);
          const memory m(type, l, shift);
          step_plan p;
          p.shape = shape_of(type, l, beta);
          p.kind = kernel_kind::general;
          m.fill(m.a, 1, true), m.fill(m.b, 2, true);
          const std::vector<char> sizes = run(p, m, true, d);
          m.fill(m.a, 1, false), m.fill(m.b, 2, false);
          const std::vector<char> wanted = run(p, m, false, d);
          p.kind = kernel_kind::small;
          REQUIRE(make_small(p.shape, p.small));
          const std::int64_t parts_of_one = is_complex(type) ? 2 : 1;
          for (const small_config& c : configs_of(p.small, random)) {
            p.config = c;
            CAPTURE(name_of(type), l.m, l.n, l.k, l.inner, l.outer, l.gap, l.one_b, beta, shift, to_string(c));
            CAPTURE(c.vectors, c.lined, c.over, c.bulk, c.together);
            const std::vector<char> got = run(p, m, false, d);
            const std::int64_t count = static_cast<std::int64_t>(got.size()) / static_cast<std::int64_t>(size_of(type)) * parts_of_one;
            std::int64_t wrong = -1;
            for (std::int64_t e = 0; e < count && wrong < 0; ++e) {
              const double x = part_of(type, got.data(), e), y = part_of(type, wanted.data(), e);
              if (!(std::abs(x - y) <= bound_of(type, l.k, part_of(type, sizes.data(), e / parts_of_one * parts_of_one), x, y))) wrong = e;
            }
            REQUIRE(wrong == -1);
          }
        }
}
