// Products of one to three terms and long sides: which kernels they get, and what those compute, on this CPU and on a GPU.
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

#include "on_host.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

using extents = std::vector<std::pair<char, std::int64_t>>;

std::unique_ptr<case_builder> product_of(dtype t, const extents& sizes, const std::string& left, const std::string& a, const std::string& b, update op) {
  auto c = std::make_unique<case_builder>(t);
  for (const auto& [name, extent] : sizes) c->label(name, extent);
  statement s;
  s.left = c->tensor("C", left), s.op = op;
  product term{c->scalar({0.75, is_complex(t) ? -0.5 : 0}), false, {c->tensor("A", a), c->tensor("B", b)}};
  term.factors[0].conj = is_complex(t);
  s.terms.push_back(term);
  c->p.statements.push_back(s);
  return c;
}

cuda::gpu_machine large_gpu() {
  cuda::gpu_machine m = cuda::described_h200();
  m.blas = cuda::blas_use::never;
  return m;
}

cuda::program_plan plan_of(dtype t, const extents& sizes, const char* left, const char* a, const char* b) {
  case_builder c(t);  // what the planner sees; there is no memory
  for (const auto& [name, extent] : sizes) c.label(name, 2);
  statement s;
  const auto tensor = [&](const char* name, const std::string& labels) {
    reference r = c.tensor(name, labels);
    std::int64_t step = 1;
    for (std::size_t d = labels.size(); d-- > 0;) {
      r.axes[d].stride = step;
      for (const auto& [label, extent] : sizes)
        if (label == labels[d]) step *= extent;
    }
    return r;
  };
  s.left = tensor("C", left), s.op = update::assign;
  s.terms.push_back({-1, false, {tensor("A", a), tensor("B", b)}});
  c.p.statements.push_back(s);
  for (std::size_t l = 0; l < sizes.size(); ++l) c.p.labels[l].extent = sizes[l].second;
  return cuda::make_program_plan(cuda::placed_on_gpu(c.p), large_gpu(), {});
}

cuda::kernel_kind kind_of(dtype t, const extents& sizes, const char* left, const char* a, const char* b) {
  const cuda::program_plan p = plan_of(t, sizes, left, a, b);
  REQUIRE(p.launches.size() == 1);
  return p.launches[0].step.kind;
}

}  // namespace

TEST_CASE("which kernel two or three terms get") {
  using cuda::kernel_kind;
  for (const dtype t : {dtype::f32, dtype::f64, dtype::c64, dtype::c128}) {
    CAPTURE(name_of(t));
    const auto points = [&](std::int64_t b, std::int64_t i, std::int64_t j, std::int64_t k) { return kind_of(t, {{'b', b}, {'i', i}, {'j', j}, {'k', k}}, "bij", "bik", "bjk"); };
    CHECK(points(2000, 304, 120, 3) == kernel_kind::panel);    // short rows that begin at sectors
    CHECK(points(2001, 99, 101, 2) == kernel_kind::general);   // anywhere
    CHECK(points(2, 6000, 8000, 3) == kernel_kind::general);   // long rows
    CHECK(points(20000, 50, 50, 3) == kernel_kind::small);
    CHECK(points(2000, 304, 120, 4) != kernel_kind::general);  // as ever
    CHECK(kind_of(t, {{'b', 2000}, {'i', 300}, {'j', 80}, {'k', 3}}, "bij", "bik", "jk") == kernel_kind::small);  // one factor for all rows
  }
  CHECK(kind_of(dtype::f16, {{'i', 8000}, {'j', 6000}, {'k', 3}}, "ij", "ik", "jk") == kernel_kind::tile);
  CHECK(kind_of(dtype::f16, {{'i', 8000}, {'j', 6000}, {'k', 3}}, "ij", "ik", "kj") == kernel_kind::general);
}

TEST_CASE("a factor of a product without a sum is copied in the order of the result") {
  const auto launches = [](dtype t, const extents& sizes, const char* left, const char* a, const char* b) { return plan_of(t, sizes, left, a, b).launches.size(); };
  for (const dtype t : {dtype::f16, dtype::f32, dtype::f64, dtype::c64, dtype::c128}) {
    CAPTURE(name_of(t));
    CHECK(launches(t, {{'a', 1000}, {'b', 200}, {'c', 200}}, "abc", "a", "cb") == 2);
    CHECK(launches(t, {{'z', 20}, {'a', 150}, {'b', 120}, {'c', 140}}, "zabc", "za", "zcb") == 2);
    CHECK(launches(t, {{'a', 70}, {'b', 80}, {'c', 90}, {'d', 75}}, "abcd", "ca", "db") == 2);   // the other one has no neighbours there
    CHECK(launches(t, {{'a', 1000}, {'b', 200}, {'c', 200}}, "abc", "a", "bc") == 1);            // in that order already
    CHECK(launches(t, {{'a', 1000}, {'b', 2000}, {'c', 20}}, "abc", "a", "cb") == 1);            // not far apart
    CHECK(launches(t, {{'a', 3}, {'b', 2000}, {'c', 3000}}, "abc", "a", "cb") == 1);             // not small
    CHECK(launches(t, {{'a', 10}, {'b', 20}, {'c', 200}}, "abc", "a", "cb") == 1);               // nothing to win
  }
}

TEST_CASE("threads that have words of several rows") {
  cuda::gpu_machine tiny = large_gpu();
  tiny.multiprocessors = 1, tiny.threads = 32;
  std::vector<std::unique_ptr<case_builder>> cases;
  std::vector<cuda::program_plan> plans;
  int words = 0;
  for (int t = 0; t < dtype_count; ++t)
    for (const update op : {update::assign, update::subtract}) {
      const auto add = [&](const extents& sizes, const char* left, const char* a, const char* b) {
        cases.push_back(product_of(static_cast<dtype>(t), sizes, left, a, b, op));
        plans.push_back(cuda::make_program_plan(cuda::placed_on_gpu(cases.back()->p), tiny, {}));
        const cuda::step_plan& p = plans.back().launches[0].step;
        words += p.kind == cuda::kernel_kind::general && p.general.run.count > 1 && !p.general.own.empty();
      };
      add({{'e', 86}, {'i', 13}, {'j', 96}, {'k', 3}}, "eij", "eik", "ejk");
      add({{'i', 12}, {'j', 8208}, {'k', 2}}, "ij", "ik", "kj");
      add({{'i', 13}, {'j', 8212}, {'k', 3}}, "ij", "ki", "jk");
    }
  CHECK(words >= static_cast<int>(plans.size()) * 2 / 3);
  check_on_host(cases, plans, tiny, [](const program&) { return 2; });
}

TEST_CASE("one to three terms on the GPU") {
  if (!has_gpu()) return;
  for (int t = 0; t < dtype_count; ++t)
    for (const int shift : {0, 1}) {
      const auto run = [&](const extents& sizes, const char* left, const char* a, const char* b) {
        for (const update op : {update::assign, update::add}) {
          const auto c = product_of(static_cast<dtype>(t), sizes, left, a, b, op);
          require_right_on_gpu(*c, 2, shift, std::string(left) + " " + a + " " + b, op == update::assign);
        }
      };
      run({{'e', 300}, {'i', 40}, {'j', 72}, {'k', 3}}, "eij", "eik", "ejk");
      run({{'e', 50}, {'i', 99}, {'j', 101}, {'k', 2}}, "eij", "eik", "ejk");
      run({{'i', 900}, {'j', 1200}, {'k', 3}}, "ij", "ik", "jk");
      run({{'i', 901}, {'j', 1203}, {'k', 2}}, "ij", "ki", "kj");
      run({{'a', 300}, {'b', 64}, {'c', 70}}, "abc", "a", "cb");
      run({{'a', 40}, {'b', 30}, {'c', 33}, {'d', 36}}, "abcd", "ca", "db");
    }
}
