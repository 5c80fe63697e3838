// Every way of copying, of sharing work and of placing results of the kernels for small products, beside the general kernel.
// RICCI_TEST_PART=3/16 runs a sixteenth.
#include <random>

#include "gpu/small.hpp"
#include "part.hpp"
#include "step_memory.hpp"

using namespace ricci;
using namespace ricci::cuda;

namespace {

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
  const use_device use(current_device());
  const std::vector<layout> layouts = {{5, 5, 5, 1037, 1, 0, false}, {17, 17, 17, 211, 1, 0, false}, {8, 8, 8, 301, 1, 0, false}, {13, 6, 9, 101, 3, 0, false},
                                       {7, 11, 4, 53, 5, 3, false},  {9, 9, 9, 100, 2, 5, true},     {12, 10, 16, 77, 1, 0, true}, {22, 22, 22, 40, 2, 8, false}};
  unsigned at = 0;
  for (int t = 0; t < dtype_count; ++t)
    for (const layout& l : layouts)
      for (const bool beta : {false, true})
        for (const int shift : {0, 1, 3}) {
          if (!test::is_mine(at++)) continue;
          const dtype type = static_cast<dtype>(t);
          std::mt19937 random(at);
          const auto elements = [&](int each, bool one) { return l.outer * ((one ? 1 : l.inner) * each + l.gap); };
          const test::step_memory m(type, elements(l.m * l.k, false), elements(l.k * l.n, l.one_b), elements(l.m * l.n, false), shift);
          step_plan p;
          p.shape = shape_of(type, l, beta);
          const test::by_general_kernel wanted(m, p.shape, l.k);
          p.kind = kernel_kind::small;
          REQUIRE(make_small(p.shape, p.small));
          for (const small_config& c : configs_of(p.small, random)) {
            p.config = c;
            CAPTURE(name_of(type), l.m, l.n, l.k, l.inner, l.outer, l.gap, l.one_b, beta, shift, to_string(c));
            CAPTURE(c.vectors, c.lined, c.over, c.bulk, c.together);
            REQUIRE(wanted.first_wrong(p) == -1);
          }
        }
}
