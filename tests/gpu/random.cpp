// Random programs on the GPU against the long-double reference. RICCI_TEST_PART=3/16 runs a sixteenth of them.
#include "convolutions.hpp"
#include "on_gpu.hpp"
#include "part.hpp"
#include "random_sums.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

void run_single(unsigned seed, int labels, int largest, int most_factors, int most_terms) {
  if (!has_gpu() || !is_mine(seed)) return;
  dice d{std::mt19937(seed)};
  case_builder c(any_type(d), seed);
  add_statement(c, d, labels, largest, most_factors, most_terms);
  require_right_on_gpu(c, longest(c.p), d.chance(50) ? 0 : d(1, 3), "seed " + std::to_string(seed), c.p.statements[0].op == update::assign);
}

/// C(e,i,j) (=, +=) A(e,i,k) B(e,k,j) with any order of axes.
void run_batch(unsigned seed) {
  if (!has_gpu() || !is_mine(seed)) return;
  dice d{std::mt19937(seed)};
  case_builder c(any_type(d), seed);
  const int square = d.chance(50) ? d(2, 33) : 0;
  c.label('e', d(1, 9) * d(1, 30));
  c.label('i', square ? square : d(1, 40)), c.label('j', square ? square : d(1, 40)), c.label('k', square ? square : d(1, 40));
  const auto order = [&](const std::string& labels) { return d.chance(70) ? labels : d.chance(60) ? labels.substr(0, 1) + shuffled(labels.substr(1), d) : shuffled(labels, d); };
  const int gap = d.chance(80) ? 1 : 2;
  statement s;
  s.left = c.tensor("C", "eij", order("eij"), gap);
  s.op = static_cast<update>(d(0, 2));
  reference a = c.tensor("A", d.chance(85) ? "eik" : "ik"), b = c.tensor("B", "ekj", order("ekj"), d.chance(80) ? 1 : 3);
  a.conj = d.chance(30), b.conj = d.chance(30);
  s.terms.push_back({d.chance(50) ? c.scalar({1.5, -0.25}) : -1, d.chance(30), {a, b}});
  c.p.statements.push_back(s);
  require_right_on_gpu(c, 2, d.chance(60) ? 0 : d(1, 7), "batch seed " + std::to_string(seed), s.op == update::assign);
}

/// C(e,i,j) (=, +=) A(e,k,j) B(k,i): thousands of rows, or of small matrices, that share a factor.
void run_shared(unsigned seed) {
  if (!has_gpu() || !is_mine(seed)) return;
  dice d{std::mt19937(seed)};
  case_builder c(d.chance(70) ? (d.chance(50) ? dtype::f64 : dtype::f32) : any_type(d), seed);
  const bool rows = d.chance(60);
  c.label('e', d.chance(50) ? 8 * d(520, 700) : d(4200, 5500));
  c.label('i', d(1, d.chance(20) ? 90 : 20)), c.label('k', d(1, d.chance(20) ? 90 : 20)), c.label('j', rows ? 1 : d(1, 9));
  statement s;
  s.left = c.tensor("C", "eij", rows || d.chance(70) ? "eij" : "eji");
  s.op = static_cast<update>(d(0, 2));
  reference a = c.tensor("A", "ekj", rows || d.chance(70) ? "ekj" : "ejk", d.chance(90) ? 1 : 2), b = c.tensor("B", "ki", d.chance(50) ? "ki" : "ik");
  a.conj = d.chance(30), b.conj = d.chance(30);
  s.terms.push_back({d.chance(50) ? c.scalar({1.5, -0.25}) : -1, d.chance(30), {a, b}});
  c.p.statements.push_back(s);
  require_right_on_gpu(c, 2, d.chance(70) ? 0 : d(1, 7), "shared seed " + std::to_string(seed), s.op == update::assign);
}

void run_sum(unsigned seed) {
  if (!has_gpu() || !is_mine(seed)) return;
  dice d{std::mt19937(seed)};
  case_builder c(any_type(d), seed);
  const statement s = sum_of_tensors(c, d);
  c.p.statements.push_back(s);
  require_right_on_gpu(c, longest(c.p), d.chance(60) ? 0 : d(1, 3), "sum seed " + std::to_string(seed), s.op == update::assign && c.p.overlaps.empty());
}

void run_convolution(unsigned seed) {
  if (!has_gpu() || !is_mine(seed)) return;
  dice d{std::mt19937(seed)};
  const std::int64_t r = d(1, 6), s = d(2, 6), gap = d.chance(70) ? 1 : d(2, 3), stride = d.chance(70) ? 1 : d(2, 3), channels = d(1, 9), filters = d(1, 9);
  const std::int64_t h = (r - 1) * gap + d(1, 60), w = (s - 1) * gap + d(2, 60);
  const bool add = d.chance(50);
  const auto c = case_of(any_type(d), seed, convolution(d(1, 9), d.chance(50) ? 1 : d(2, 9), channels, filters, h, w, r, s, stride, gap, d.chance(50)), d.chance(50), add);
  require_right_on_gpu(*c, 2, d.chance(60) ? 0 : d(1, 7), "convolution seed " + std::to_string(seed), !add);
}

}  // namespace

TEST_CASE("convolutions") {
  for (unsigned seed = 50001; seed <= 50096; ++seed) run_convolution(seed);
  unsigned seed = 50096;
  for (int t = 0; t < dtype_count; ++t)
    for (const contraction& x : windowed()) {
      if (!is_mine(++seed) || !has_gpu()) continue;
      const auto c = case_of(static_cast<dtype>(t), seed, x, seed % 2 == 0, seed / 2 % 2 == 0);
      require_right_on_gpu(*c, 2, seed % 3 == 0 ? 1 : 0, "windows seed " + std::to_string(seed), seed / 2 % 2 != 0);
    }
}

TEST_CASE("batches of products in every layout") {
  for (unsigned seed = 1; seed <= 240; ++seed) run_batch(seed);
}

TEST_CASE("rows and small matrices without end that share a small factor") {
  for (unsigned seed = 40001; seed <= 40096; ++seed) run_shared(seed);
}

TEST_CASE("products of two factors") {
  for (unsigned seed = 1001; seed <= 1160; ++seed) run_single(seed, 5, 9, 2, 1);
}

TEST_CASE("products of two factors with larger extents") {
  for (unsigned seed = 10001; seed <= 10060; ++seed) run_single(seed, 4, 37, 2, 1);
}

TEST_CASE("sums of products of several factors") {
  for (unsigned seed = 20001; seed <= 20060; ++seed) run_single(seed, 6, 5, 5, 3);
}

TEST_CASE("sums of tensors in any order") {
  for (unsigned seed = 30001; seed <= 30120; ++seed) run_sum(seed);
}
