// Sums, products with short sides, transpositions and element by element: their kernels run on this CPU, beside the reference.
#include <catch2/catch.hpp>

#include <memory>
#include <vector>

#include "on_host.hpp"
#include "random_program.hpp"
#include "reduced.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

/// A GPU so small that sums of a few hundred terms are cut into parts.
cuda::gpu_machine small_gpu() {
  cuda::gpu_machine m = cuda::described_h200();
  m.multiprocessors = 4;
  return m;
}

/// What of the choices was met.
struct seen {
  int steps = 0, tiles = 0, chains = 0, permuted = 0, moved = 0, parts = 0, own = 0, runs = 0, runs_of_terms = 0, flat = 0, boxes = 0, turned = 0;

  void count(const cuda::program_plan& p) {
    moved += p.launches.size() > 1;
    for (const cuda::launch_plan& l : p.launches) {
      tiles += l.tiles.has_value(), chains += l.chain.has_value();
      if (l.tiles && cuda::is_transposition(*l.tiles)) {
        ++turned;
        CHECK(p.flops == 0);
        CHECK(cuda::to_string(p, cuda::described_h200()).find("C(") != std::string::npos);
        CHECK(cuda::to_string(p, cuda::described_h200()).find(": transposition in tiles of ") != std::string::npos);
      }
      if (l.chain || l.tiles || (l.step.kind != cuda::kernel_kind::general && l.step.kind != cuda::kernel_kind::permute)) continue;
      ++steps;
      if (l.step.kind == cuda::kernel_kind::permute) ++permuted;
      const cuda::general_config& c = l.step.general;
      parts += l.step.last != nullptr, own += !c.own.empty(), runs += c.run.count > 1 && !c.run.sums, runs_of_terms += c.run.count > 1 && c.run.sums;
      boxes += c.lanes.size() > 2, flat += c.run.is_flat();
    }
  }
};

void run_all(std::vector<std::unique_ptr<case_builder>>& cases, seen& met, const cuda::gpu_machine& machine = small_gpu()) {
  std::vector<cuda::program_plan> plans;
  for (const auto& c : cases) {
    plans.push_back(cuda::make_program_plan(cuda::placed_on_gpu(c->p), machine, {}));
    met.count(plans.back());
  }
  check_on_host(cases, plans, machine, [](const program&) { return 2; });
}

/// C(left) = A(a) B(b), or A(a) alone, packed in these orders.
std::unique_ptr<case_builder> packed(dtype t, unsigned seed, std::initializer_list<std::pair<char, std::int64_t>> extents, const char* left, const char* a, const char* b, update op) {
  auto c = std::make_unique<case_builder>(t, seed);
  for (const auto& [name, extent] : extents) c->label(name, extent);
  statement s;
  s.left = c->tensor("C", left), s.op = op;
  product term{c->scalar({0.75, -0.5}), false, {c->tensor("A", a)}};
  term.factors[0].conj = is_complex(t);
  if (*b) term.factors.push_back(c->tensor("B", b));
  s.terms.push_back(term);
  c->p.statements.push_back(s);
  return c;
}

}  // namespace

TEST_CASE("contractions of random labels") {
  std::vector<std::unique_ptr<case_builder>> cases;
  for (unsigned seed = 1; seed <= (reduced_tests() ? 30u : 150u); ++seed) {
    dice d{std::mt19937(seed)};
    cases.push_back(std::make_unique<case_builder>(any_type(d), seed));
    add_statement(*cases.back(), d, d(2, 5), d.chance(50) ? 5 : 17, 2, 1);
  }
  seen met;
  run_all(cases, met);
  CHECK(met.steps > static_cast<int>(cases.size()) / 2);
}

TEST_CASE("every way of sharing") {
  std::vector<std::unique_ptr<case_builder>> cases;
  unsigned seed = 0;
  for (int t = 0; t < dtype_count; ++t) {
    const dtype type = static_cast<dtype>(t);
    const update op = t % 2 ? update::add : update::assign;
    const auto add = [&](std::initializer_list<std::pair<char, std::int64_t>> extents, const char* left, const char* a, const char* b) {
      cases.push_back(packed(type, ++seed, extents, left, a, b, op));
    };
    add({{'i', 7}, {'k', 4096}}, "i", "ik", "");                              // along the terms
    add({{'i', 16}, {'k', 600}}, "i", "ki", "k");                             // along the elements, and terms beside them
    add({{'i', 3}, {'k', 1001}, {'l', 2}}, "i", "kil", "");                   // few neighbours, then terms
    add({{'i', 5}, {'j', 8}, {'k', 512}}, "ij", "ik", "jk");                  // columns of a thread's own
    add({{'i', 24}, {'j', 9}, {'k', 40}}, "ji", "ik", "kj");
    add({{'e', 40}, {'i', 6}, {'j', 5}, {'k', 3}}, "ije", "eki", "jke");      // problems side by side
    add({{'i', 24}, {'j', 40}}, "", "ij", "ji");                              // factors that lie across each other
    add({{'i', 12}, {'j', 16}, {'k', 9}}, "kij", "ij", "k");                  // element by element
    add({{'i', 33}, {'j', 21}, {'k', 2}}, "jki", "ijk", "");                  // transpositions
    add({{'i', 4}, {'j', 3}, {'k', 8}}, "kji", "ijk", "");
    add({{'i', 96}, {'j', 64}}, "ji", "ij", "");                              // in squares
    add({{'e', 2}, {'i', 62}, {'j', 65}}, "eji", "eij", "");
    add({{'e', 3}, {'i', 15}, {'j', 34}, {'k', 70}}, "keji", "ijek", "");
    for (const char* const left : {"ij", "i"}) {  // rows of b are an odd number of elements apart
      add({{'i', 9}, {'j', 16}, {'p', 17}}, left, "ij", "ip");
      reference& b = cases.back()->p.statements[0].terms[0].factors[1];
      b.axes[1].label = cases.back()->p.statements[0].terms[0].factors[0].axes[1].label;
    }
  }
  seen met;
  run_all(cases, met);
  CHECK(met.steps + met.tiles + met.chains >= static_cast<int>(cases.size()) * 3 / 4);
  CHECK(met.tiles > 0);
  CHECK(met.permuted > 0);
  CHECK(met.turned > 0);
  CHECK(met.parts > 0);
  CHECK(met.own > 0);
  CHECK(met.runs > 0);
  CHECK(met.runs_of_terms > 0);
  CHECK(met.boxes > 0);
}

TEST_CASE("words of a result whose rows are shorter or no whole words") {
  cuda::gpu_machine tiny = small_gpu();
  tiny.multiprocessors = 1, tiny.threads = 32;
  std::vector<std::unique_ptr<case_builder>> cases;
  unsigned seed = 0;
  for (int t = 0; t < dtype_count; ++t)
    for (const update op : {update::assign, update::add}) {
      const auto add = [&](std::initializer_list<std::pair<char, std::int64_t>> extents, const char* left, const char* a, const char* b) {
        cases.push_back(packed(static_cast<dtype>(t), ++seed, extents, left, a, b, op));
      };
      add({{'e', 43}, {'i', 3}, {'j', 5}}, "eij", "ei", "ej");  // 645 elements: the last word is not whole
      add({{'e', 41}, {'i', 5}, {'j', 7}}, "eij", "eij", "e");
      add({{'e', 40}, {'i', 5}, {'j', 7}}, "eij", "j", "eij");
      add({{'e', 41}, {'i', 5}, {'j', 7}}, "eji", "eij", "");
      add({{'e', 33}, {'i', 8}, {'j', 8}}, "eji", "eij", "");   // rows are whole words
      add({{'e', 19}, {'i', 3}, {'j', 4}, {'k', 5}}, "ekji", "eijk", "");
      add({{'i', 31}, {'j', 67}}, "ij", "i", "j");
    }
  seen met;
  run_all(cases, met, tiny);
  CHECK(met.flat >= static_cast<int>(cases.size()) * 2 / 3);
}

TEST_CASE("problems side by side are moved, worked on one by one, and moved back") {
  cuda::gpu_machine slow = small_gpu();
  slow.bandwidth = 1;  // what is read in vain costs most
  slow.shares = false;
  std::vector<std::unique_ptr<case_builder>> cases;
  unsigned seed = 0;
  for (const dtype t : {dtype::f32, dtype::f64, dtype::c64, dtype::f16})
    for (const update op : {update::assign, update::add}) {
      cases.push_back(packed(t, ++seed, {{'e', 20}, {'i', 70}, {'j', 14}, {'k', 20}}, "ije", "eik", "ejk", op));
      cases.push_back(packed(t, ++seed, {{'e', 12}, {'f', 3}, {'i', 13}, {'j', 67}, {'k', 9}}, "fiej", "jfke", "fike", op));
      cases.push_back(packed(t, ++seed, {{'e', 24}, {'i', 12}, {'j', 65}, {'k', 5}, {'l', 7}}, "eij", "klie", "jkle", op));
      cases.push_back(packed(t, ++seed, {{'e', 16}, {'i', 67}, {'j', 13}, {'k', 20}}, "jie", "kie", "kje", op));
    }
  seen met;
  run_all(cases, met, slow);
  CHECK(met.moved > static_cast<int>(cases.size()) / 2);
}
