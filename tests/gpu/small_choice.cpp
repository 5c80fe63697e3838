// Which kernel small products get, and into how many launches a step goes. No GPU is needed.
#include <catch2/catch.hpp>

#include <random>

#include "build_program.hpp"
#include "gpu/executable.hpp"
#include "gpu/measure.hpp"
#include "gpu/small_cost.hpp"

using namespace ricci;
using namespace ricci::cuda;

namespace {

/// c[e,i,j] = a[e,i,k] b[e,k,j], the factors row-major or transposed.
small_shape batch_of(dtype t, std::int64_t m, std::int64_t n, std::int64_t k, bool a_transposed = false, bool b_transposed = false) {
  step_shape s = product_step(t, m, n, k, false, 10000);
  if (a_transposed && m > 1 && k > 1) s.m[0].a = 1, s.k[0].a = m;
  if (b_transposed && n > 1 && k > 1) s.n[0].b = k, s.k[0].b = 1;
  small_shape out;
  REQUIRE(make_small(s, out));
  return out;
}

small_config threads_of_tiles(int problems, int group, int rm, int rn) {
  small_config c;
  c.problems = problems, c.group = c.block = group, c.rm = rm, c.rn = rn, c.stages = 1, c.unroll = 4;
  return c;
}

/// c[e,q] = a[q,i] b[e,i] over so many rows.
program_plan rows_beside_factor(dtype t, std::int64_t rows, std::int64_t i, std::int64_t q) {
  test::case_builder c(t);
  c.label('e', rows), c.label('i', i), c.label('q', q);
  statement s;
  s.left = c.tensor("C", "eq"), s.op = update::assign;
  s.terms.push_back({-1, false, {c.tensor("A", "qi"), c.tensor("B", "ei")}});
  c.p.statements.push_back(s);
  return make_program_plan(placed_on_gpu(c.p), described_h200(), {});
}

/// Adds what a step's shape says, every axis a loop: what its kernel would do.
void run_shape(const step_shape& s, const double* a, const double* b, double* c) {
  std::vector<axis> axes;
  for (const auto* group : {&s.batch, &s.m, &s.n, &s.k}) axes.insert(axes.end(), group->begin(), group->end());
  std::vector<std::int64_t> at(axes.size(), 0);
  for (bool more = true; more;) {
    *c += *a * *b;
    more = false;
    for (std::size_t d = axes.size(); d-- > 0 && !more;) {
      const axis& x = axes[d];
      a += x.a, b += x.b, c += x.c;
      if (++at[d] < x.extent) more = true;
      else at[d] = 0, a -= x.a * x.extent, b -= x.b * x.extent, c -= x.c * x.extent;
    }
  }
}

}  // namespace

TEST_CASE("whatever the sides and layouts, what is chosen fits and keeps most of its threads busy") {
  std::mt19937 random(1);
  const gpu_machine& m = described_h200();
  for (const dtype t : {dtype::f32, dtype::f64, dtype::c64, dtype::c128, dtype::f16, dtype::bf16})
    for (int turn = 0; turn < 60; ++turn) {
      const auto side = [&] { return static_cast<std::int64_t>(1 + random() % 64); };
      const std::int64_t rows = side(), columns = side(), sums = side();
      CAPTURE(name_of(t), rows, columns, sums, turn % 4);
      const small_shape s = batch_of(t, rows, columns, sums, turn & 1, turn & 2);
      const small_config c = choose_small(s, m);
      REQUIRE(fits(s, c, m));
      const auto counted = choose_by_counting(s, m);
      REQUIRE(counted);
      CHECK(fits(s, *counted, m));
      CHECK(std::isfinite(estimated_clocks(s, *counted, m)));
      if (counted->compute != arithmetic::threads) continue;
      const std::int64_t work = counted->problems * ((rows + counted->rm - 1) / counted->rm) * ((columns + counted->rn - 1) / counted->rn);
      CHECK(10 * work >= 6 * ((work + counted->group - 1) / counted->group * counted->group));
    }
}

TEST_CASE("counting sees conflicts, idle threads and copies") {
  const gpu_machine& m = described_h200();
  const small_shape across = batch_of(dtype::f32, 64, 64, 64, false, true);  // rows of both factors are two turns of the banks apart
  const small_config plain = threads_of_tiles(1, 64, 8, 8);
  small_config padded = plain;
  padded.pad_a = padded.pad_b = 4;
  CHECK(estimated_clocks(across, padded, m) < 0.8 * estimated_clocks(across, plain, m));
  const small_shape few = batch_of(dtype::f32, 8, 8, 24);
  CHECK(estimated_clocks(few, threads_of_tiles(8, 128, 2, 2), m) < 0.8 * estimated_clocks(few, threads_of_tiles(8, 128, 8, 8), m));  // 128 and 8 of 128 threads
  const small_shape odd = batch_of(dtype::f32, 13, 13, 13);
  small_config scattered = threads_of_tiles(4, 64, 4, 4);
  const double run = estimated_clocks(odd, scattered, m);
  scattered.pad_a = 4;
  CHECK(run < estimated_clocks(odd, scattered, m));
}

TEST_CASE("more work takes longer") {
  const gpu_machine& m = described_h200();
  const small_config c = threads_of_tiles(1, 32, 4, 4);
  double before = 0;
  for (const std::int64_t sums : {4, 8, 16, 32, 64}) {
    const double clocks = estimated_clocks(batch_of(dtype::f32, 16, 32, sums), c, m);
    CHECK(clocks > before);
    before = clocks;
  }
  CHECK(estimated_clocks(batch_of(dtype::c64, 16, 32, 16), c, m) > estimated_clocks(batch_of(dtype::f32, 16, 32, 16), c, m));
}

TEST_CASE("square products in the table's layout run as they were measured, transposed ones as counted if that is better") {
  const gpu_machine& m = described_h200();
  const small_config table = choose_small(batch_of(dtype::f32, 64, 64, 64), m);
  CHECK(table.problems == 2);
  CHECK(table.rm == 11);
  const small_shape transposed = batch_of(dtype::f32, 64, 64, 64, false, true);
  const small_config other = choose_small(transposed, m);
  CHECK_FALSE(other == table);
  CHECK(estimated_clocks(transposed, other, m) < estimated_clocks(transposed, table, m));
}

TEST_CASE("a few rows that are no multiple of sixteen have a launch of their own") {
  const program_plan whole = rows_beside_factor(dtype::f64, 100000, 8, 27), odd = rows_beside_factor(dtype::f64, 100003, 8, 27);
  REQUIRE(whole.launches.size() == 1);
  REQUIRE(odd.launches.size() == 2);
  CHECK(odd.launches[0].step.shape == whole.launches[0].step.shape);
  CHECK(odd.launches[0].step.config == whole.launches[0].step.config);
  CHECK(odd.launches[1].step.flops == 3 * 27 * 8 * 2);
  CHECK(odd.launches[1].places[0].offset == 0);
  CHECK(odd.launches[1].places[1].offset == 100000LL * 8 * 8);
  CHECK(odd.launches[1].places[2].offset == 100000LL * 27 * 8);
  CHECK(odd.flops == Approx(2.0 * 27 * 8 * 100003));
  CHECK(rows_beside_factor(dtype::f64, 4099, 8, 27).launches.size() == 1);     // too little to be worth it
  CHECK(rows_beside_factor(dtype::f64, 100003, 4, 4).launches.size() == 1);   // single rows do
  CHECK(rows_beside_factor(dtype::c64, 100003, 8, 27).launches.size() == 2);
  CHECK(rows_beside_factor(dtype::c128, 100003, 64, 64).launches.size() == 1); // the factor is too large to keep
  CHECK(rows_beside_factor(dtype::c128, 100003, 45, 45).launches.size() == 1); // so much to multiply that panels do it
  CHECK(rows_beside_factor(dtype::f64, 100003, 1, 200).launches.size() == 1);  // no product of matrices
}

TEST_CASE("rows beside a factor are many a problem, as many as are some kilobytes") {
  const auto rows_of = [](dtype t, std::int64_t rows, std::int64_t i, std::int64_t q) {
    const step_plan p = rows_beside_factor(t, rows, i, q).launches[0].step;
    return p.kind == kernel_kind::small ? p.small.rows : 0;
  };
  CHECK(rows_of(dtype::f32, 16000, 8, 27) == 16);
  CHECK(rows_of(dtype::f64, 16000, 27, 27) == 16);
  CHECK(rows_of(dtype::f64, 16000, 8, 729) == 4);
  CHECK(rows_of(dtype::c64, 16000, 8, 27) == 8);
  CHECK(rows_of(dtype::f64, 4104, 8, 27) == 8);     // few rows: those that divide them
  CHECK(rows_of(dtype::f64, 16000, 4, 4) == 1);
  CHECK(rows_of(dtype::f64, 16000, 16, 64) == 0); // panels
  CHECK(rows_of(dtype::f64, 16000, 112, 9) == 8);   // long sums keep eight rows
  CHECK(rows_of(dtype::f16, 16000, 8, 27) == 64);
  CHECK(rows_of(dtype::f16, 16016, 8, 27) == 16);   // no fewer: a tile of the tensor cores has as many
  CHECK(rows_of(dtype::bf16, 16008, 8, 27) <= 1);
  CHECK(rows_of(dtype::f16, 16000, 27, 243) == 32);
}

TEST_CASE("blocks have as many tiles as pay for the factor that they keep") {
  const gpu_machine& m = described_h200();
  const auto tiles_of = [&](std::int64_t i, std::int64_t q, int problems, int pad) {
    const step_plan p = rows_beside_factor(dtype::f32, 16000, i, q).launches[0].step;
    small_config c = p.config;
    c.problems = problems, c.stages = 1, c.bulk = 0, (is_common(p.small, &axis::a) ? c.pad_a : c.pad_b) = pad;
    CHECK(keeps_factor(p.small, c));
    return tiles_of_block(p.small, c, m);
  };
  CHECK(tiles_of(8, 27, 16, 0) == 1);
  CHECK(tiles_of(8, 27, 1, 0) > 1);
  CHECK(tiles_of(8, 27, 16, 4) > tiles_of(8, 27, 16, 0));
  CHECK(tiles_of(8, 729, 1, 0) >= 2);
  small_config two = rows_beside_factor(dtype::f32, 16000, 8, 27).launches[0].step.config;
  two.stages = 2;
  CHECK(tiles_of_block(rows_beside_factor(dtype::f32, 16000, 8, 27).launches[0].step.small, two, m) == 1);
}

TEST_CASE("launches of most rows and of the last few are all rows, whatever lies where") {
  for (const auto& [left, first, second] : {std::array<const char*, 3>{"eq", "qi", "ei"}, {"eq", "ei", "qi"}, {"eq", "ei", "iq"}, {"eq", "iq", "ei"}, {"qe", "qi", "ie"}, {"qe", "ie", "iq"}, {"qe", "qi", "ei"}, {"eq", "iq", "ie"}})
    for (const std::int64_t i : {8, 27}) {
      CAPTURE(left, first, second, i);
      test::case_builder c(dtype::f64);
      const std::int64_t rows = 60003;
      c.label('e', rows), c.label('i', i), c.label('q', 27);
      statement s;
      s.left = c.tensor("C", left), s.op = update::assign;
      s.terms.push_back({-1, false, {c.tensor("A", first), c.tensor("B", second)}});
      c.p.statements.push_back(s);
      const program_plan plan = make_program_plan(placed_on_gpu(c.p), described_h200(), {});
      const bool in_order = left[0] == 'e' && (first[0] == 'e' || second[0] == 'e');  // rows of both lie one behind the other
      REQUIRE(plan.launches.size() == (in_order ? 2 : 1));
      // Slots are numbered as tensors are named.
      const auto size = [&](const std::string& labels) { return (labels.find('e') != labels.npos ? rows : 1) * (labels.find('i') != labels.npos ? i : 1) * (labels.find('q') != labels.npos ? 27 : 1); };
      std::vector<double> memory[3];
      const char* const tensors[] = {left, first, second};
      for (int slot = 0; slot < 3; ++slot)
        for (std::int64_t n = 0; n < size(tensors[slot]); ++n) memory[slot].push_back(slot == 0 ? 0 : static_cast<double>(n % (slot == 1 ? 7 : 5) - 2));
      for (const launch_plan& l : plan.launches) {
        const auto pointer = [&](const place& x) { return memory[x.slot].data() + x.offset / 8; };
        const double *a = pointer(l.places[0]), *b = pointer(l.places[1]);
        if (l.step.shape.swapped) std::swap(a, b);
        run_shape(l.step.shape, a, b, pointer(l.places[2]));
      }
      const auto at = [&](const char* labels, std::int64_t e, std::int64_t k, std::int64_t q) {
        std::int64_t offset = 0;
        for (const char* l = labels; *l; ++l) offset = offset * (*l == 'e' ? rows : *l == 'i' ? i : 27) + (*l == 'e' ? e : *l == 'i' ? k : q);
        return static_cast<std::size_t>(offset);
      };
      std::int64_t wrong = 0;
      for (std::int64_t e = 0; e < rows; e = e + 997 < rows - 8 ? e + 997 : std::max(e + 1, rows - 8))
        for (std::int64_t q = 0; q < 27; ++q) {
          double sum = 0;
          for (std::int64_t k = 0; k < i; ++k) sum += memory[1][at(first, e, k, q)] * memory[2][at(second, e, k, q)];
          wrong += memory[0][at(left, e, 0, q)] != sum;
        }
      CHECK(wrong == 0);
    }
}
