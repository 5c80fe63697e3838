// Products of problems that lie side by side: which kernels plans take, and every kind of kernel on the GPU. RICCI_TEST_PART=3/16 runs a
// sixteenth of the cases.
#include <map>

#include "on_gpu.hpp"
#include "part.hpp"
#include "random_program.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

/// C = A B of so many problems z, a side in all letters but z, neighbours as the tensors are written.
cuda::program_plan plan_of(dtype t, const std::string& a, const std::string& b, const std::string& c, std::int64_t z, std::int64_t side, std::int64_t sum) {
  case_builder x(t);
  for (const char l : {'a', 'b', 'c'}) x.label(l, 1);
  x.label('z', 1);
  statement s;
  s.left = x.tensor("C", c);
  s.terms.push_back({-1, false, {x.tensor("A", a), x.tensor("B", b)}});
  x.p.statements.push_back(s);
  // What the planner sees; the memory stays small.
  const std::int64_t extents[] = {side, sum, side, z};
  for (std::size_t l = 0; l < 4; ++l) x.p.labels[l].extent = extents[l];
  const auto widen = [&](reference& r) {
    std::int64_t step = 1;
    for (std::size_t d = r.axes.size(); d-- > 0;) r.axes[d].stride = step, step *= x.p.labels[static_cast<std::size_t>(r.axes[d].label)].extent;
  };
  widen(x.p.statements[0].left);
  for (reference& f : x.p.statements[0].terms[0].factors) widen(f);
  return cuda::make_program_plan(cuda::placed_on_gpu(x.p), cuda::described_h200(), {});
}

bool is_abreast(const cuda::program_plan& p) { return p.launches.size() == 1 && p.launches[0].step.kind == cuda::kernel_kind::abreast; }

/// C(y,z,i,j) (=, +=) A(y,z,i,k) B(y,z,k,j), z innermost in at least one of them, by a kernel that the seed picks of all that there are.
void run(unsigned seed) {
  if (!has_gpu() || !is_mine(seed)) return;
  dice d{std::mt19937(seed)};
  case_builder c(any_type(d), seed);
  const bool small = d.chance(30);
  const auto side = [&] { return d.chance(10) ? 1 : d(2, small ? 9 : 45); };
  c.label('z', d.chance(40) ? 16 * d(1, 5) : d(2, 75)), c.label('i', side()), c.label('j', side()), c.label('k', side());
  const bool more = d.chance(40), rows = d.chance(20);
  if (more) c.label('y', d(2, 4));
  if (rows) c.label('l', d(2, 3));
  const int first = d(0, 2);  // the tensor whose neighbours are problems, whatever the others' are
  const auto tensor = [&](const char* name, std::string labels, int which) {
    std::string order = d.chance(50) ? labels : shuffled(labels, d);
    if (more) order.insert(order.begin() + d(0, static_cast<int>(order.size())), 'y'), labels += 'y';
    if (which == first || d.chance(70)) order += 'z';
    else order.insert(order.begin() + d(0, static_cast<int>(order.size())), 'z');
    return c.tensor(name, labels + "z", order, which != first && d.chance(10) ? 2 : 1);
  };
  statement s;
  s.left = tensor("C", rows ? "ilj" : "ij", 0), s.op = static_cast<update>(d(0, 2));
  reference a = tensor("A", rows ? "ilk" : "ik", 1), b = tensor("B", "kj", 2);
  a.conj = d.chance(30), b.conj = d.chance(30);
  s.terms.push_back({d.chance(50) ? c.scalar({1.5, -0.25}) : -1, d.chance(30), {a, b}});
  c.p.statements.push_back(s);
  cuda::gpu_machine m = cuda::current_device().machine;
  m.shares = false, m.blas = cuda::blas_use::never;
  cuda::program_plan p = cuda::make_program_plan(cuda::placed_on_gpu(c.p), m, {});
  for (cuda::launch_plan& l : p.launches) {
    if (l.chain || l.tiles || l.step.last) continue;
    const cuda::step_shape x = cuda::arranged_for_abreast(l.step.shape);
    if (x.batch.empty() || !x.has_a || !x.has_b) continue;
    const auto all = cuda::abreast_candidates(x, m);
    if (all.empty()) continue;  // a row and a column have too few threads
    l.step.kind = cuda::kernel_kind::abreast, l.step.shape = x, l.step.blas = {};
    l.step.abreast = all[static_cast<std::size_t>(d(0, static_cast<int>(all.size()) - 1))];
    if (const auto chosen = cuda::choose_abreast(x, m); chosen && d.chance(30)) l.step.abreast = *chosen;
  }
  const auto expected = evaluate(c.p, 0, c.bind());
  if (s.op == update::assign)
    for (std::int64_t i = 0; i < c.sizes[0]; ++i) put(c.type, c.pointers[0], i, {std::nan(""), std::nan("")});
  gpu_memory memory(c, d.chance(60) ? 0 : d(1, 7));
  const cuda::executable plan(p);
  plan.run(memory.bind(), nullptr);
  const bool untouched = memory.fetch();
  INFO("abreast seed " << seed << ", " << name_of(c.type) << "\n" << plan.describe());
  REQUIRE(untouched);
  REQUIRE(error_in_bounds(c.p, 0, c.bind(), expected, 2) <= 1.0);
}

}  // namespace

TEST_CASE("problems that lie side by side are multiplied as they lie") {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::c64, dtype::c128, dtype::f16, dtype::bf16}) {
    CAPTURE(name_of(t));
    CHECK(is_abreast(plan_of(t, "abz", "bcz", "acz", 32768, 32, 32)));
    CHECK(is_abreast(plan_of(t, "baz", "cbz", "acz", 120000, 16, 16)));
    CHECK(is_abreast(plan_of(t, "abz", "cbz", "caz", 8192, 64, 64)));
    CHECK_FALSE(is_abreast(plan_of(t, "abz", "bcz", "acz", 8000000, 2, 2)));   // threads read them at once
    CHECK_FALSE(is_abreast(plan_of(t, "zab", "zbc", "zac", 8192, 64, 64)));    // one after the other
    CHECK_FALSE(is_abreast(plan_of(t, "zab", "zbc", "acz", 2048, 200, 200)));  // the result alone
  }
}

TEST_CASE("every kernel fits where plans may take it") {
  const cuda::gpu_machine& m = cuda::described_h200();
  for (int t = 0; t < dtype_count; ++t)
    for (const auto& [z, side] : std::map<std::int64_t, std::int64_t>{{2, 200}, {33, 64}, {1000, 16}, {20001, 33}, {200000, 12}}) {
      const cuda::program_plan p = plan_of(static_cast<dtype>(t), "abz", "bcz", "acz", z, side, side);
      const cuda::step_shape s = cuda::arranged_for_abreast(p.launches.size() == 1 ? p.launches[0].step.shape : cuda::shape_of(p.ops[0], {side, side, side, z}));
      const auto all = cuda::abreast_candidates(s, m);
      CHECK(!all.empty());
      for (const cuda::abreast_config& c : all) {
        CHECK(c.block <= 512);
        CHECK(c.blocks * cuda::abreast_shared_bytes(s, c) < m.shared_bytes);
        CHECK(cuda::abreast_seconds(s, c, m) > 0);
      }
    }
}

TEST_CASE("problems that lie side by side on the GPU") {
  for (unsigned seed = 1; seed <= 480; ++seed) run(seed);
}
