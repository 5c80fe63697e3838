// Kernels that keep rows of a or columns of b and go along the other factor, in every shape of theirs, beside the general kernel.
// RICCI_TEST_PART=3/16 runs a sixteenth.
#include <cmath>
#include <cstdlib>

#include "elements.hpp"
#include "gpu/measure.hpp"
#include "on_gpu.hpp"
#include "part.hpp"

using namespace ricci;
using namespace ricci::cuda;

namespace {

/// A step, and where its operands begin in their buffers.
struct layout {
  const char* what;
  step_shape s;
  std::int64_t first_a = 0, first_b = 0, first_c = 0;
  bool one_tensor = false;  // all three are parts of one
};

/// A(e,i,j,m.in(1,9),n.in(1,8)) -= A(e,i,k,m,0) * A(e,k,j,0,n)
layout tensor_by_itself(std::int64_t n, std::int64_t batch) {
  layout l{"a tensor by itself", {}, 8, 1, 9, true};
  l.s.batch = {{batch, 72 * n * n, 72 * n * n, 72 * n * n}};
  l.s.m = {{n, 72 * n, 0, 72 * n}, {8, 8, 0, 8}};
  l.s.n = {{n, 0, 72, 72}, {7, 0, 1, 1}};
  l.s.k = {{n, 72, 72 * n, 0}};
  return l;
}

/// Matrices with rows of so many elements, from `first` on; a and b as they are or transposed.
layout matrices(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t gap, bool turned, std::int64_t batch) {
  layout l{turned ? "transposed factors" : "matrices", {}, gap, gap, 3 * gap};
  const std::int64_t row_a = (turned ? m : k) + gap, row_b = (turned ? k : n) + gap, row_c = n + gap;
  l.s.batch = {{batch, row_a * (turned ? k : m) + gap, row_b * (turned ? n : k) + gap, row_c * m}};
  l.s.m = {{m, turned ? 1 : row_a, 0, row_c}};
  l.s.n = {{n, 0, turned ? row_b : 1, 1}};
  l.s.k = {{k, turned ? row_a : 1, turned ? 1 : row_b, 0}};
  return l;
}

/// c[f,e,d,c,b,a] = a[b,g,f,d] b[c,a,e,g], all packed.
layout six_labels(std::int64_t x, std::int64_t y, std::int64_t g) {
  layout l{"six labels", {}};
  const std::int64_t a = y, b = x, c = y, d = x + 1, e = y + 2, f = x;
  l.s.m = {{f, d, 0, e * d * c * b * a}, {d, 1, 0, c * b * a}, {b, g * f * d, 0, a}};
  l.s.n = {{e, 0, g, d * c * b * a}, {c, 0, a * e * g, b * a}, {a, 0, e * g, 1}};
  l.s.k = {{g, f * d, 1, 0}};
  return l;
}

/// c[f,e,d,c,b,a] = a[c,b,f,g] b[a,g,e,d]: neighbours of b and of c are in blocks among the columns.
layout blocks(std::int64_t a, std::int64_t d, std::int64_t g) {
  layout l{"blocks", {}};
  const std::int64_t b = 3, c = 5, e = 2, f = 7;
  l.s.m = {{f, g, 0, e * d * c * b * a}, {c * b, f * g, 0, a}};
  l.s.n = {{e, 0, d, d * c * b * a}, {d, 0, 1, c * b * a}, {a, 0, g * e * d, 1}};
  l.s.k = {{g, 1, e * d, 0}};
  return l;
}

std::int64_t reach(const step_shape& s, std::int64_t axis::*stride) {
  std::int64_t r = 1;
  for (const auto* group : {&s.batch, &s.m, &s.n, &s.k})
    for (const axis& x : *group) r += (x.extent - 1) * (x.*stride);
  return r;
}

std::vector<panel_config> configs_of(dtype t) {
  if (t != dtype::f64) {
    // Those of 8 x 8 read and store neighbours at once, in squares of threads; 3 x 16 threads have no squares.
    std::vector<panel_config> all = {panel_of_threads(64, 128, 8, 8, 1), panel_of_threads(128, 32, 8, 4, 1), panel_of_threads(24, 64, 6, 4, 1), panel_of_threads(32, 64, 4, 4, 1), panel_of_threads(64, 32, 4, 4, 1), panel_of_threads(24, 128, 8, 4, 1)};
    if (t == dtype::c128) all[0] = panel_of_threads(64, 64, 4, 4, 1);
    all[0].keeps_b = true, all[0].unroll = 2;
    all[3].keeps_b = true, all[3].teams = 2, all[3].block *= 2;
    all[4].teams = 3, all[4].block *= 3;
    all[5].block = 96;
    return all;
  }
  const auto columns = [](int warps, int rm, int rn, int teams) {
    panel_config c = panel_of_cores(1, warps, rm, rn, 1);
    c.keeps_b = true, c.teams = teams, c.block *= teams;
    return c;
  };
  std::vector<panel_config> all = {columns(4, 2, 2, 1), columns(3, 3, 1, 2), columns(8, 2, 2, 2), columns(2, 2, 2, 3), panel_of_cores(1, 2, 4, 2, 4), panel_of_cores(4, 1, 2, 2, 4), panel_of_cores(4, 1, 4, 2, 3), panel_of_cores(4, 2, 2, 2, 3),
                                   panel_of_cores(2, 2, 4, 2, 3), panel_of_cores(4, 2, 4, 2, 2), panel_of_cores(8, 2, 2, 2, 1)};
  return all;
}

}  // namespace

TEST_CASE("panels of every shape give the same products") {
  if (!test::has_gpu()) return;
  const device& d = current_device();
  const use_device use(d);
  const std::vector<layout> layouts = {tensor_by_itself(5, 7),  tensor_by_itself(16, 3), matrices(64, 64, 64, 2, false, 5), matrices(70, 45, 13, 0, false, 3),
                                       matrices(33, 131, 8, 1, true, 2), matrices(130, 200, 72, 4, true, 1), six_labels(4, 6, 24), six_labels(5, 8, 9), blocks(8, 32, 10), blocks(12, 20, 16)};
  unsigned at = 0;
  for (const dtype t : {dtype::f64, dtype::f32, dtype::c64, dtype::c128})
    for (const layout& l : layouts)
      for (const bool beta : {false, true}) {
        const std::vector<panel_config> configs = configs_of(t);
        for (std::size_t n = 0; n < configs.size(); ++n) {
          if (!test::is_mine(at++)) continue;
          step_plan p;
          p.shape = l.s;
          p.shape.a = p.shape.b = p.shape.c = t, p.shape.beta = beta;
          p.shape.conj_a = is_complex(t) && n % 2 == 0, p.shape.conj_b = is_complex(t) && n % 3 == 0;
          p.kind = kernel_kind::general;
          const auto size = static_cast<std::int64_t>(size_of(t));
          const buffer a((reach(l.s, &axis::a) + l.first_a) * size), b((reach(l.s, &axis::b) + l.first_b) * size), c((reach(l.s, &axis::c) + l.first_c + 64) * size);
          const auto data = [&](const buffer& x, unsigned seed, bool sizes) {
            std::vector<char> bytes = test::random_bytes(t, x.bytes(), seed);
            copy_to_device(x.data(), (sizes ? test::sizes_of(t, std::move(bytes)) : bytes).data(), x.bytes());
          };
          const auto run = [&](const step_plan& plan, bool sizes) {
            data(c, 3, sizes);
            operands o;
            o.a = (l.one_tensor ? c : a).data() + l.first_a * size, o.b = (l.one_tensor ? c : b).data() + l.first_b * size, o.c = c.data() + l.first_c * size;
            const double alpha = n % 2 && !sizes ? -1 : n % 2 ? 1 : 0.75, turned = is_complex(t) ? 0.5 : 0;
            o.alpha[0] = sizes ? alpha + turned : alpha, o.alpha[1] = sizes ? 0 : turned, o.beta[0] = beta ? 0.5 : 0;
            launch_step(plan, load_kernel(d, request_of(plan, alignments_of(plan.shape, o.a, o.b, o.c))), o, d);
            std::vector<char> host(static_cast<std::size_t>(c.bytes()));
            copy_to_host(host.data(), c.data(), c.bytes());
            return host;
          };
          data(a, 1, true), data(b, 2, true);
          const std::vector<char> sizes = run(p, true);
          data(a, 1, false), data(b, 2, false);
          const std::vector<char> wanted = run(p, false);
          p.kind = kernel_kind::panel;
          p.shape = arranged_for_panels(p.shape);
          // Both results round each of the terms, with alpha, and c.
          const double eps = t == dtype::f64 || t == dtype::c128 ? 1.2e-16 : 6e-8, each = 4.0 * static_cast<double>(count_of(l.s.k) + 3) * eps;
          const std::int64_t real_parts = is_complex(t) ? 2 : 1;
          for (const std::int64_t turns : {1, 2, 5})
            for (const int slots : {1, 2}) {
              p.panel = configs[n];
              p.panel.turns = turns, p.panel.slots = slots;
              const kernel_request r = request_of(p, {});
              if (r.shared_bytes > d.machine.shared_most || (turns == 1 && slots == 2)) continue;
              CAPTURE(name_of(t), l.what, count_of(l.s.m), count_of(l.s.n), count_of(l.s.k), beta, to_string(p.panel), slots);
              const std::vector<char> got = run(p, false);
              const std::int64_t count = c.bytes() / size * real_parts;
              std::int64_t wrong = -1;
              for (std::int64_t e = 0; e < count && wrong < 0; ++e)
                if (!(std::abs(test::part_of(t, got.data(), e) - test::part_of(t, wanted.data(), e)) <= each * test::part_of(t, sizes.data(), e / real_parts * real_parts))) wrong = e;
              REQUIRE(wrong == -1);
            }
        }
      }
}
