// Products of 16 bits whose rows begin at any element: which factors are copied into rows that do not, how those lie, and what becomes of
// the product. The plans need no GPU.
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpu/executable.hpp"
#include "on_gpu.hpp"
#include "part.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

using extents = std::vector<std::pair<char, std::int64_t>>;

struct product_case {
  extents sizes;
  std::string c, a, b;
  std::string copied;  // "a", "b", "ab" or nothing
};

std::unique_ptr<case_builder> case_of(dtype t, const product_case& x, update op) {
  auto c = std::make_unique<case_builder>(t, 7);
  for (const auto& [name, extent] : x.sizes) c->label(name, extent);
  statement s;
  s.left = c->tensor("C", x.c.c_str()), s.op = op;
  s.terms.push_back({c->scalar({1.5, 0}), false, {c->tensor("A", x.a.c_str()), c->tensor("B", x.b.c_str())}});
  c->p.statements.push_back(s);
  return c;
}

/// The same for the planner: its memory stays small.
std::unique_ptr<case_builder> case_without_memory(dtype t, const product_case& x, update op) {
  product_case one = x;
  for (auto& [name, extent] : one.sizes) extent = 1;
  auto c = case_of(t, one, op);
  for (std::size_t l = 0; l < x.sizes.size(); ++l) c->p.labels[l].extent = x.sizes[l].second;
  product& term = c->p.statements[0].terms[0];
  for (reference* r : {&c->p.statements[0].left, &term.factors[0], &term.factors[1]}) {
    std::int64_t step = 1;
    for (std::size_t d = r->axes.size(); d-- > 0; step *= c->p.labels[static_cast<std::size_t>(r->axes[d].label)].extent) r->axes[d].stride = step;
  }
  return c;
}

cuda::program_plan plan_of(const case_builder& c, cuda::blas_use blas) {
  cuda::gpu_machine m = cuda::described_h200();
  m.blas = blas;
  return cuda::make_program_plan(cuda::placed_on_gpu(c.p), m, {});
}

/// The names of what the plan copies into temporaries, in order.
std::string copied_by(const cuda::program_plan& p) {
  std::string names;
  for (const cuda::launch_plan& l : p.launches)
    if (const pair_op& op = p.ops[static_cast<std::size_t>(l.op)]; op.a.where == operand::kind::one) names += op.b.name == "A" ? 'a' : 'b';
  return names;
}

/// Copies have one axis of neighbours, and begin all others at multiples of 16 bytes.
bool has_whole_rows(const operand& x, const std::vector<label_info>& labels) {
  std::int64_t inside = 1;
  for (std::size_t d = x.labels.size(); d-- > 0;) {
    if (x.strides[d] != inside && x.strides[d] % 8 != 0) return false;
    inside = x.strides[d] * labels[static_cast<std::size_t>(x.labels[d])].extent;
  }
  return true;
}

const std::vector<product_case>& large() {
  static const std::vector<product_case> all = {
      {{{'i', 4096}, {'j', 4096}, {'k', 1023}}, "ij", "ik", "kj", "a"},
      {{{'i', 4096}, {'j', 4096}, {'k', 1023}}, "ij", "ik", "jk", "ab"},
      {{{'i', 4095}, {'j', 4095}, {'k', 1023}}, "ij", "ki", "kj", "ab"},
      {{{'i', 4095}, {'j', 4096}, {'k', 1024}}, "ij", "ki", "jk", "a"},
      {{{'i', 4096}, {'j', 4097}, {'k', 4096}}, "ij", "ik", "jk", ""},  // the result's rows alone
      {{{'i', 4098}, {'j', 4098}, {'k', 4098}}, "ij", "ik", "jk", "ab"},
      {{{'z', 50}, {'i', 511}, {'j', 511}, {'k', 511}}, "zij", "zik", "zjk", "ab"},
      {{{'a', 77}, {'b', 99}, {'c', 2001}, {'d', 1001}}, "abd", "acb", "cd", "ab"},
      {{{'a', 65}, {'b', 31}, {'c', 33}, {'d', 63}, {'e', 41}, {'f', 37}}, "abcd", "aefb", "fecd", "ab"},
      {{{'i', 4096}, {'j', 4096}, {'k', 1024}}, "ij", "ik", "kj", ""},
      {{{'i', 255}, {'j', 255}, {'k', 255}}, "ij", "ik", "kj", ""},      // too little
      {{{'i', 4095}, {'j', 4095}, {'k', 65}}, "ij", "ik", "kj", ""},     // short sums
      {{{'i', 40000}, {'j', 35}, {'k', 1001}}, "ij", "ik", "kj", ""},    // few columns
  };
  return all;
}

/// Small enough for the reference.
const std::vector<product_case>& small() {
  static const std::vector<product_case> all = {
      {{{'i', 509}, {'j', 601}, {'k', 999}}, "ij", "ik", "kj", "ab"},
      {{{'i', 701}, {'j', 515}, {'k', 801}}, "ij", "ki", "jk", "ab"},
      {{{'i', 513}, {'j', 610}, {'k', 1002}}, "ji", "ki", "kj", "ab"},
      {{{'z', 3}, {'i', 301}, {'j', 399}, {'k', 755}}, "zij", "zik", "zkj", "ab"},
      {{{'a', 27}, {'b', 23}, {'c', 601}, {'d', 801}}, "abd", "acb", "cd", "ab"},
      {{{'a', 25}, {'b', 31}, {'c', 33}, {'d', 23}, {'e', 21}, {'f', 37}}, "abcd", "aefb", "fecd", "ab"},
  };
  return all;
}

}  // namespace

TEST_CASE("factors whose rows begin anywhere are copied where products gain more than that takes") {
  for (const dtype t : {dtype::f16, dtype::bf16})
    for (const cuda::blas_use blas : {cuda::blas_use::never, cuda::blas_use::where_it_wins})
      for (const update op : {update::assign, update::add})
        for (const product_case& x : large()) {
          const auto c = case_without_memory(t, x, op);
          const cuda::program_plan p = plan_of(*c, blas);
          INFO(cuda::to_string(p, cuda::described_h200()));
          CHECK(copied_by(p) == x.copied);
          if (x.copied.empty()) continue;
          REQUIRE(p.launches.size() == x.copied.size() + 1);
          const cuda::step_plan& product = p.launches.back().step;
          CHECK(product.kind == cuda::kernel_kind::tile);
          CHECK(!product.blas.used);
          for (const cuda::launch_plan& l : p.launches)
            if (const pair_op& move = p.ops[static_cast<std::size_t>(l.op)]; move.a.where == operand::kind::one) CHECK(has_whole_rows(move.c, p.source.labels));
        }
  for (const dtype t : {dtype::f32, dtype::f64, dtype::c64, dtype::c128})
    for (const product_case& x : large())
      if (x.sizes.size() == 3) CHECK(copied_by(plan_of(*case_without_memory(t, x, update::assign), cuda::blas_use::never)).empty());
}

TEST_CASE("results with odd rows are the library's where they leave faster than they are made") {
  const auto is_called = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    cuda::step_shape s;
    s.a = s.b = s.c = dtype::f16;
    s.m = {{m, k, 0, n}}, s.n = {{n, 0, k, 1}}, s.k = {{k, 1, 1, 0}};
    const cuda::blas_call c = cuda::blas_call_of(s);
    REQUIRE(c.used);
    return cuda::blas_wins(s, c, true);
  };
  CHECK(is_called(4096, 4096, 4096));
  CHECK(is_called(4097, 4096, 4096));   // rows of a's are whole
  CHECK(!is_called(4096, 4097, 4096));
  CHECK(!is_called(4096, 4096, 1023));
  CHECK(!is_called(4096, 4100, 4096));
  CHECK(is_called(4096, 4097, 64));
}

TEST_CASE("products of copies on the GPU") {
  unsigned at = 0;
  for (const dtype t : {dtype::f16, dtype::bf16})
    for (std::size_t n = 0; n < small().size(); ++n) {
      if (!is_mine(at++)) continue;
      const product_case& x = small()[n];
      const update op = (n + static_cast<std::size_t>(t)) % 2 == 0 ? update::assign : update::add;
      const auto c = case_of(t, x, op);
      // Planned for so few multiprocessors that products of this size gain.
      cuda::gpu_machine m = has_gpu() ? cuda::current_device().machine : cuda::described_h200();
      m.multiprocessors = 8, m.blas = cuda::blas_use::never;
      CAPTURE(x.a, x.b);
      CHECK(copied_by(cuda::make_program_plan(cuda::placed_on_gpu(c->p), m, {})) == x.copied);
      if (has_gpu()) require_right_on_gpu(*c, m, 2, n % 3 == 1 ? 1 : 0, x.c + "=" + x.a + "*" + x.b, op == update::assign);
    }
}
