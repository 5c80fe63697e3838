// The kernels of fused programs, run on this CPU: their text is compiled as C++ and compared with the reference.
#include <catch2/catch.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "fused_check.hpp"
#include "host_gpu.hpp"
#include "random_program.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

/// Every fifth case with other choices than the planner's: they must not change the result.
void vary(cuda::program_plan& p, std::size_t n) {
  if (n % 5 != 3) return;
  for (cuda::launch_plan& l : p.launches)
    if (l.chain) cuda::set_config(*l.chain, {.elements = 3, .threads = n % 2 ? 32 : 96, .lines = 3, .blocks = 1, .early = 1, .unroll = 2, .turns = 2});
}

/// Plans of some of the cases.
struct picked_plans {
  std::vector<cuda::program_plan> plans;
  std::vector<std::size_t> which;
};

/// The plans that have a chain for which configure(chain, n) says so; n is their case.
template <class Configure> picked_plans pick(host_gpu& gpu, const std::vector<fused_case>& cases, const Configure& configure) {
  picked_plans out;
  for (std::size_t n = 0; n < cases.size(); ++n) {
    cuda::program_plan p = cuda::make_program_plan(cuda::placed_on_gpu(cases[n].c->p), cuda::described_h200(), {});
    bool any = false;
    for (cuda::launch_plan& l : p.launches)
      if (l.chain && configure(*l.chain, n)) any = true;
    if (!any) continue;
    gpu.add(p);
    out.plans.push_back(std::move(p)), out.which.push_back(n);
  }
  return out;
}

/// Compiles the plans of cases[which[n]] and runs each as it is and in a second way, which errors name.
void check_both_ways(host_gpu& gpu, const std::vector<fused_case>& cases, const std::vector<cuda::program_plan>& plans,
                     const std::vector<std::size_t>& which, const char* second_way) {
  const std::string failure = gpu.compile();
  INFO(failure);
  REQUIRE(failure.empty());
  for (std::size_t n = 0; n < plans.size(); ++n) {
    const fused_case& c = cases[which[n]];
    fused_check check(c);
    for (const bool second : {false, true}) {
      check.restore();
      gpu.run(plans[n], c.c->bind(), second);
      INFO(c.name << (second ? second_way : "") << "\n" << to_string(c.c->p));
      CHECK(check.error() <= 1);
    }
  }
}

}  // namespace

TEST_CASE("fused kernels on the host") {
  std::vector<fused_case> cases = fused_cases(false);
  std::vector<cuda::program_plan> plans;
  host_gpu gpu;
  for (const fused_case& c : cases) {
    plans.push_back(cuda::make_program_plan(cuda::placed_on_gpu(c.c->p), cuda::described_h200(), {}));
    vary(plans.back(), plans.size());
    gpu.add(plans.back());
  }
  std::vector<std::size_t> all(cases.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  check_both_ways(gpu, cases, plans, all, ", threads in reverse");
}

TEST_CASE("products on tensor cores, and elements copied while the ones before are computed") {
  const std::vector<fused_case> cases = fused_cases(false);
  host_gpu gpu;
  std::size_t ahead = 0, tensor = 0;
  const auto [plans, which] = pick(gpu, cases, [&](auto& chain, std::size_t n) {
    cuda::set_config(chain, {.elements = n % 3 == 0 ? 1 : n % 3 == 1 ? 2 : 3, .threads = n % 2 ? 32 : 96, .lines = 2, .turns = n % 4 == 0 ? 0 : 3, .ahead = n % 5 == 0 ? 1 : n % 5 == 1 ? 0 : 2, .tensor = n % 2 == 0 || n % 5 == 1 ? 1 + static_cast<int>(n / 2) % 3 : 0});
    const bool cores = std::any_of(chain.passes.begin(), chain.passes.end(), [](const cuda::chain_pass& x) { return x.tensor; });
    ahead += !chain.inputs.empty(), tensor += cores;
    return !chain.inputs.empty() || cores;
  });
  CHECK(ahead > 20);
  CHECK(tensor > 10);
  check_both_ways(gpu, cases, plans, which, ", copies as late as may be");
}

TEST_CASE("even and odd matrices in registers") {
  const std::vector<fused_case> cases = fused_cases(false);
  host_gpu gpu;
  std::size_t turned = 0;
  const auto [plans, which] = pick(gpu, cases, [&](auto& chain, std::size_t n) {
    cuda::set_config(chain, {.elements = n % 3 == 0 ? 1 : 3, .threads = n % 2 ? 32 : 96, .lines = 1 + static_cast<int>(n) % 3, .turns = n % 2 ? 1 : 3, .ahead = n % 4 == 0 ? 3 : 0, .keep = 1 + static_cast<int>(n) % 2});
    bool any = false;
    for (std::size_t m = 0; m < chain.matrices.size(); ++m) {
      const int kept = chain.matrices[m].kept;
      any = any || kept >= 0, turned += kept >= 0 && kept != static_cast<int>(m);
    }
    return any;
  });
  CHECK(plans.size() > 8);
  CHECK(turned > 8);
  check_both_ways(gpu, cases, plans, which, ", threads in reverse");
}

TEST_CASE("lines dealt out by tables") {
  const std::vector<fused_case> cases = fused_cases(false);
  host_gpu gpu;
  std::size_t dealt = 0, idle = 0;
  const auto [plans, which] = pick(gpu, cases, [&](auto& chain, std::size_t n) {
    cuda::set_config(chain, {.elements = 1 + static_cast<int>(n) % 3, .threads = n % 2 ? 32 : 64, .lines = 1 + static_cast<int>(n) % 2, .turns = n % 2 ? 1 : 3, .keep = static_cast<int>(n) % 3, .deal = true});
    bool any = false;
    for (const cuda::chain_pass& pass : chain.passes) {
      std::vector<int> tasks = pass.order;
      idle += static_cast<std::size_t>(std::erase(tasks, -1)), dealt += !tasks.empty(), any = any || !tasks.empty();
      std::sort(tasks.begin(), tasks.end());
      for (std::size_t t = 0; t < tasks.size(); ++t) REQUIRE(tasks[t] == static_cast<int>(t));
    }
    return any;
  });
  CHECK(dealt > 20);
  CHECK(idle > 20);
  check_both_ways(gpu, cases, plans, which, ", threads in reverse");
}

TEST_CASE("the bake-off operators are one kernel each") {
  for (const int degree : {1, 6, 15})
    for (const int which : {1, 3, 5}) {
      const int P = degree + 1, Q = degree + 2;
      const fused_case c = which == 1 ? bk1(dtype::f64, P, Q, 1000) : which == 3 ? bk3(dtype::f64, P, Q, 1000) : bk5(dtype::f64, P, 1000);
      INFO(c.name);
      const auto plan = cuda::make_program_plan(cuda::placed_on_gpu(c.c->p), cuda::described_h200(), {});
      CHECK(plan.launches.size() == 1);
      CHECK(plan.workspace == 0);
    }
}

TEST_CASE("chains of 16-bit programs read temporaries in float") {
  for (const unsigned seed : {20001u, 20007u, 20020u}) {  // as in gpu.random
    dice d{std::mt19937(seed)};
    case_builder c(any_type(d), seed);
    add_statement(c, d, 6, 5, 5, 3);
    REQUIRE(size_of(c.type) == 2);
    const cuda::program_plan p = cuda::make_program_plan(cuda::placed_on_gpu(c.p), cuda::described_h200(), {});
    REQUIRE(std::any_of(p.launches.begin(), p.launches.end(), [](const cuda::launch_plan& l) { return l.chain.has_value(); }));
    host_gpu gpu;
    gpu.add(p);
    REQUIRE(gpu.compile().empty());
    const auto expected = evaluate(c.p, 0, c.bind());
    gpu.run(p, c.bind(), false);
    INFO("seed " << seed << "\n" << to_string(c.p));
    CHECK(error_in_bounds(c.p, 0, c.bind(), expected, longest(c.p)) <= 1);
  }
}

/// Networks of few labels: factors share several of them, and some are summed within one factor alone.
TEST_CASE("networks with factors that are no matrices") {
  std::vector<std::vector<std::string>> networks = {{"bwv", "tu", "ud", "vdw", "but"}};  // left, factors
  for (unsigned seed = 1; seed <= 150; ++seed) {
    dice d{std::mt19937(seed)};
    std::vector<std::string>& n = networks.emplace_back(1);
    for (int f = d(3, 5); f > 0; --f) n.push_back(subset("btuvwd", 45, d));
    std::string there;
    for (std::size_t f = 1; f < n.size(); ++f) there += n[f];
    for (const char l : subset("bvutd", 50, d))
      if (there.find(l) != std::string::npos) n[0] += l;
  }
  host_gpu gpu;
  std::vector<std::unique_ptr<case_builder>> cases;
  std::vector<cuda::program_plan> plans;
  for (const std::vector<std::string>& n : networks) {
    auto c = std::make_unique<case_builder>(dtype::f64, 3);
    c->label('b', 70), c->label('t', 5), c->label('u', 4), c->label('v', 3), c->label('w', 6), c->label('d', 2);
    statement s;
    s.left = c->tensor("C", n[0]), s.op = update::assign;
    s.terms.push_back({-1, false, {}});
    for (std::size_t f = 1; f < n.size(); ++f) s.terms[0].factors.push_back(c->tensor("A", n[f]));
    c->p.statements.push_back(s);
    cuda::program_plan p = cuda::make_program_plan(cuda::placed_on_gpu(c->p), cuda::described_h200(), {});
    if (std::none_of(p.launches.begin(), p.launches.end(), [](const cuda::launch_plan& l) { return l.chain && l.chain->ops.size() > 1; })) continue;
    gpu.add(p);
    plans.push_back(std::move(p)), cases.push_back(std::move(c));
  }
  CHECK(plans.size() > 40);
  REQUIRE(gpu.compile().empty());
  for (std::size_t n = 0; n < plans.size(); ++n) {
    const case_builder& c = *cases[n];
    const auto expected = evaluate(c.p, 0, c.bind());
    gpu.run(plans[n], c.bind(), false);
    INFO(to_string(c.p));
    CHECK(error_in_bounds(c.p, 0, c.bind(), expected, longest(c.p)) <= 1);
  }
}

/// A local that is made under some labels may be read under others, and in another order.
TEST_CASE("one matrix after the other, between them a local in another order") {
  const std::pair<const char*, const char*> all[] = {{"v(eki)", "B(kj) g(eji)"}, {"v(ekj)", "B(ki) g(eji)"}, {"v(eki)", "B(kj) g(eij)"},
                                                     {"v(eki)", "B(kb) g(ebi)"}, {"v(eki)", "B(kb) g(eib)"}};
  for (const auto& [left, right] : all) {
    program_writer w(dtype::f64, 4);
    w.labels("e", 70), w.labels("abijk", 5);
    w.tensor("A", "ia"), w.tensor("B", "kj"), w.tensor("u", "eaj"), w.tensor("v", "eki");
    w.assign("g(eij)", "A(ia) u(eaj)");
    w.assign(left, right);
    const fused_case c{right, std::move(w.made), 3};
    const cuda::program_plan p = cuda::make_program_plan(cuda::placed_on_gpu(c.c->p), cuda::described_h200(), {});
    host_gpu gpu;
    gpu.add(p);
    REQUIRE(gpu.compile().empty());
    fused_check check(c);
    gpu.run(p, c.c->bind(), false);
    INFO(to_string(c.c->p));
    CHECK(check.error() <= 1);
  }
}

TEST_CASE("contractions by transpositions and one product of matrices") {
  cuda::gpu_machine m = cuda::described_h200();
  m.blas = cuda::blas_use::always;
  struct orders {
    const char *c, *a, *b;
  };
  constexpr orders all[] = {{"dcba", "aebd", "ce"}, {"edcba", "dabfe", "fc"}, {"dcba", "ceda", "dbe"}, {"dcba", "fbea", "cedf"}, {"dcba", "bfae", "cedf"},
                            {"ba", "dac", "bcd"}, {"cba", "cda", "bd"}, {"fedcba", "aged", "cbfg"}, {"fedcba", "cgfe", "badg"}, {"cb", "ca", "ba"}};
  host_gpu gpu;
  int split = 0;
  for (const dtype t : {dtype::f64, dtype::f32, dtype::c64, dtype::c128})
    for (const orders& o : all)
      for (const update op : {update::assign, update::add, update::subtract}) {
        case_builder c(t, 5);
        for (const auto& [name, extent] : {std::pair{'a', 4}, {'b', 3}, {'c', 5}, {'d', 2}, {'e', 4}, {'f', 3}, {'g', 2}}) c.label(name, extent);
        statement s;
        s.left = c.tensor("C", o.c), s.op = op;
        reference x = c.tensor("A", o.a), y = c.tensor("B", o.b);
        x.conj = op == update::add, y.conj = op == update::subtract;
        s.terms.push_back({c.scalar({1.5, -0.5}), false, {x, y}});
        c.p.statements.push_back(s);
        const cuda::program_plan p = cuda::make_program_plan(cuda::placed_on_gpu(c.p), m, {});
        if (p.launches.size() > 1) ++split;
        for (const cuda::launch_plan& l : p.launches) CHECK(!l.chain);
        const auto expected = evaluate(c.p, 0, c.bind());
        gpu.run(p, c.bind(), false);
        INFO(o.c << " " << o.a << " " << o.b << "\n" << cuda::to_string(p, m));
        CHECK(error_in_bounds(c.p, 0, c.bind(), expected, 2) <= 1);
      }
  CHECK(split > 60);
  // By itself only where it is expected to be faster, and never without the library.
  const auto launches = [&](std::int64_t n) {
    program p;
    for (const char* l : {"a", "b", "c", "d", "e", "f"}) p.labels.push_back({l, n});
    const auto tensor_of = [&](int slot, const char* name, const char* labels) {
      reference r;
      r.slot = slot, r.name = name, r.space = memory_space::gpu;
      for (int d = 0; d < 4; ++d) r.axes.push_back({labels[d] - 'a', d == 0 ? n * n * n : d == 1 ? n * n : d == 2 ? n : 1});
      return r;
    };
    p.slot_count = 3;
    p.statements = {{tensor_of(0, "C", "dcba"), update::assign, {{-1, false, {tensor_of(1, "A", "bfae"), tensor_of(2, "B", "cedf")}}}}};
    return cuda::make_program_plan(p, m, {}).launches.size();
  };
  m.blas = cuda::blas_use::where_it_wins;
  CHECK(launches(72) > 2);
  CHECK(launches(6) == 1);
  m.blas = cuda::blas_use::never;
  CHECK(launches(72) == 1);
}

TEST_CASE("chains over a tensor that reaches further than 2^31 elements") {
  constexpr std::int64_t step = std::int64_t{1} << 28, elements = 64, points = 12;
  struct far_memory {
    std::size_t bytes = static_cast<std::size_t>(points * step) * sizeof(float);
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ~far_memory() { munmap(at, bytes); }
  } const far;
  REQUIRE(far.at != MAP_FAILED);
  program_writer w(dtype::f32, 3);
  w.labels("e", elements), w.labels("q", points), w.labels("i", points);
  w.tensor("M", "iq"), w.tensor("w", "ie", "ie"), w.tensor("v", "ie", "ie"), w.tensor("D", "qe", "qe");
  reference& D = w.find("D");
  for (std::int64_t q = 0; q < points; ++q)
    for (std::int64_t e = 0; e < elements; ++e) static_cast<float*>(far.at)[q * step + e] = 0.01f * static_cast<float>(q * 7 % 11) + 0.001f * static_cast<float>(e);
  w.made->pointers[static_cast<std::size_t>(D.slot)] = static_cast<char*>(far.at);
  D.axes[0].stride = step, D.axes[1].stride = 1;
  w.assign("u(ie)", "M(iq) D(qe)");
  w.assign("v(ie)", "u(ie) w(ie)");
  std::vector<fused_case> cases;
  cases.push_back({"far", std::move(w.made), 3});
  host_gpu gpu;
  const auto [plans, which] = pick(gpu, cases, [](auto&, std::size_t) { return true; });
  REQUIRE(plans.size() == 1);
  check_both_ways(gpu, cases, plans, which, ", far");
}
