// Statements without a sum that run in tiles: sums and products of tensors that lie in any order, of every type, for this machine and
// for one whose caches are tiny, so that results leave past them. Against the long-double reference.
#include <catch2/catch.hpp>

#include <algorithm>

#include "machine/machine.hpp"
#include "random_sums.hpp"
#include "reduced.hpp"
#include "run_plan.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

machine machine_with(bool tiny_caches) {
  machine m = this_machine();
  if (tiny_caches) m.caches = {{1024, 200}, {2048, 100}, {4096, 50}};
  m.peak_f32 = 160, m.peak_f64 = 80, m.memory_bandwidth = 24;  // not what was measured here: the choice is to be the same
  m.cores = 2;
  return m;
}

struct aligned_free {
  void operator()(void* p) const { std::free(p); }
};

}  // namespace

TEST_CASE("sums and products of tensors element by element, however they lie") {
  int in_tiles = 0, packed = 0, turned = 0, buffered = 0, streamed = 0, cut = 0, copied = 0;
  const unsigned last = seeds(1000);
  for (unsigned seed = 1; seed <= last; ++seed) {
    dice d{std::mt19937(seed)};
    case_builder c(any_type(d), seed);
    const statement s = sum_of_tensors(c, d);
    c.p.statements.push_back(s);
    // Whole registers leave past the caches where the result begins at one.
    const std::size_t bytes = static_cast<std::size_t>(c.sizes[0]) * size_of(c.type);
    const std::unique_ptr<void, aligned_free> own(std::aligned_alloc(64, (bytes + 127) / 64 * 64));
    std::memcpy(own.get(), c.pointers[0], bytes);
    for (void*& p : c.pointers)
      if (&p != c.pointers.data() && p == c.pointers[0]) p = own.get();
    c.pointers[0] = own.get();
    const auto expected = evaluate(c.p, 0, c.bind());
    const bool reads = std::any_of(s.terms.begin(), s.terms.end(), [&](const product& t) { return c.pointers[static_cast<std::size_t>(t.factors[0].slot)] == own.get(); });
    if (s.op == update::assign && !reads)
      for (std::int64_t i = 0; i < c.sizes[0]; ++i) put(c.type, c.pointers[0], i, {std::nan(""), std::nan("")});
    const std::vector<char> before(static_cast<char*>(own.get()), static_cast<char*>(own.get()) + bytes);
    const machine m = machine_with(d.chance(50));
    options o;
    o.threads = d(1, 2);
    const struct plan made = make_plan(c.p, m, o);
    for (const segment& g : made.segments) {
      copied += g.steps.size() == 2 && g.steps[0].how == method::move && g.steps[1].in_tiles && g.temporaries.size() == 1;
      for (const plan_step& x : g.steps) {
        in_tiles += x.in_tiles, packed += !x.packed.empty(), turned += !x.turned.empty();
        buffered += x.in_tiles && x.buffer_c, streamed += x.in_tiles && x.stream_c;
        cut += x.in_tiles && std::any_of(x.axes.begin(), x.axes.end(), [](const step_axis& a) { return a.tile < a.extent; });
      }
    }
    try {
      run_planned(made, c, o);
    } catch (const kernel_refused&) {  // a product of 16 bits for which there is no written kernel: planned anew where it matters
      continue;
    }
    INFO("seed " << seed << ", " << name_of(c.type) << "\n" << to_string(made, m));
    REQUIRE(error_in_bounds(c.p, 0, c.bind(), expected, longest(c.p)) <= 1.0);
    std::vector<bool> written(static_cast<std::size_t>(c.sizes[0]));
    std::vector<std::int64_t> offsets{0};
    for (const reference_axis& a : s.left.axes) {
      const std::vector<std::int64_t> inner = offsets;
      for (std::int64_t i = 1; i < c.p.labels[static_cast<std::size_t>(a.label)].extent; ++i)
        for (const std::int64_t x : inner) offsets.push_back(x + i * a.stride);
    }
    for (const std::int64_t x : offsets) written[static_cast<std::size_t>(x)] = true;
    const std::size_t size = size_of(c.type);
    int touched = 0;
    for (std::size_t i = 0; i < written.size(); ++i)
      touched += !written[i] && std::memcmp(&before[i * size], static_cast<char*>(own.get()) + i * size, size) != 0;
    REQUIRE(touched == 0);
  }
  CHECK(in_tiles > int(last / 2));
  CHECK(packed > int(last / 10));
  CHECK(buffered > int(last / 20));
  CHECK(streamed > int(last / 20));
  CHECK(cut > int(last / 10));
  CHECK(copied > int(last / 50));
  if (this_machine().writes_kernels) CHECK(turned > int(last / 100));
}
