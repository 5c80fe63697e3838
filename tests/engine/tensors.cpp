// Products of tensors whose labels lie in any order, in cache blocks of packed panels, whatever else the planner would choose.
#include <catch2/catch.hpp>

#include <algorithm>

#include "machine/machine.hpp"
#include "plan/blocked.hpp"
#include "random_program.hpp"
#include "reduced.hpp"
#include "run_plan.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

/// Runs the only step in blocks, whichever of its factors gives the rows. False: it has no such way.
bool force_blocks(struct plan& p, const machine& m) {
  if (p.segments.size() != 1 || p.segments[0].steps.size() != 1 || !p.block_labels.empty()) return false;
  plan_step& s = p.segments[0].steps[0];
  for (const bool swapped : {false, true}) {
    pair_op op = s.op;
    std::vector<step_axis> axes = s.axes;
    if (swapped) std::swap(op.a, op.b);
    for (step_axis& x : axes) {
      x.tile = x.extent;
      if (!swapped) continue;
      std::swap(x.a, x.b);
      if (x.role == group::m || x.role == group::n) x.role = x.role == group::m ? group::n : group::m;
    }
    if (auto forced = planning::blocked_step(op, axes, m)) {
      forced->op = op;
      s = *forced;
      return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("an order of indices has every one of them once") {
  dice d{std::mt19937(7)};
  for (int round = 0; round < 300; ++round) {
    case_builder c(d(0, 1) ? dtype::f64 : dtype::f32, static_cast<unsigned>(round));
    const std::string rows = std::string("abc").substr(0, static_cast<std::size_t>(d(1, 3))), cols = "de", sums = std::string("klm").substr(0, static_cast<std::size_t>(d(1, 3)));
    for (const char l : rows + cols + sums) c.label(l, d(2, rows.size() + sums.size() > 3 ? 9 : 40));
    plan_step s;
    s.op.c.type = c.type;
    const auto strides = [&](const std::string& labels) { return c.tensor("T", labels, shuffled(labels, d)).axes; };
    for (const auto& [labels, role] : {std::pair{rows, group::m}, {cols, group::n}, {sums, group::k}})
      for (const char l : labels) {
        step_axis x;
        x.label = c.find(l), x.role = role, x.extent = x.tile = c.p.labels[static_cast<std::size_t>(x.label)].extent;
        s.axes.push_back(x);
      }
    const auto set = [&](const std::string& labels, std::int64_t step_axis::*stride) {
      for (const reference_axis& from : strides(labels))
        for (step_axis& x : s.axes)
          if (x.label == from.label) x.*stride = from.stride;
    };
    set(rows + sums, &step_axis::a), set(sums + cols, &step_axis::b), set(rows + cols, &step_axis::c);
    s.cut.tile_rows = 9, s.cut.tile_cols = 24;
    const flat_lists lists = flattened(s);
    const auto is_whole = [&](group g, const std::vector<std::int64_t>& x, const std::vector<std::int64_t>& y) {
      std::vector<std::pair<std::int64_t, std::int64_t>> got, want{{0, 0}};
      for (std::size_t i = 0; i < x.size(); ++i) got.push_back({x[i], y[i]});
      const auto [first, second] = g == group::m ? std::pair{&step_axis::a, &step_axis::c} : g == group::n ? std::pair{&step_axis::b, &step_axis::c} : std::pair{&step_axis::a, &step_axis::b};
      for (const step_axis& axis : s.axes) {
        if (axis.role != g) continue;
        const auto before = want;
        for (std::int64_t i = 1; i < axis.extent; ++i)
          for (const auto& [u, v] : before) want.push_back({u + i * (axis.*first), v + i * (axis.*second)});
      }
      std::sort(got.begin(), got.end()), std::sort(want.begin(), want.end());
      return got == want;
    };
    INFO("round " << round);
    REQUIRE(is_whole(group::m, lists.row_a, lists.row_c));
    REQUIRE(is_whole(group::n, lists.col_b, lists.col_c));
    REQUIRE(is_whole(group::k, lists.sum_a, lists.sum_b));
  }
}

TEST_CASE("neighbours of either factor come in boxes") {
  // a[i, l, k] b[k, l, j]: l is not in either's runs, k is in a's, j in b's and c's.
  std::vector<step_axis> axes{{0, 50, 50, 2000, 0, 60, group::m}, {1, 60, 60, 0, 1, 1, group::n}, {2, 50, 50, 40, 60, 0, group::k}, {3, 40, 40, 1, 3000, 0, group::k}};
  const planning::walk sums = planning::walk_of(axes, group::k, 8, {9, 24, 0, 0, 0});
  REQUIRE(!sums.digits.empty());
  CHECK(sums.box == 0);
  CHECK(axes[sums.digits[0].axis].label == 3);
  // b[l, k, j] with l as its neighbours: 13 values of either.
  axes[1].b = 2000, axes[2].b = 1, axes[3].b = 50;
  const planning::walk boxes = planning::walk_of(axes, group::k, 8, {9, 24, 0, 0, 0});
  CHECK(boxes.box == 13 * 14);
  CHECK(axes[boxes.digits[0].axis].label == 2);
  CHECK(axes[boxes.digits[1].axis].label == 3);
}

TEST_CASE("tensors in any order, in blocks") {
  constexpr double most_products = 4e6;  // the reference forms them one by one
  int blocked = 0, seen[dtype_count] = {};
  for (unsigned seed = 1; seed <= seeds(500); ++seed) {
    dice d{std::mt19937(seed)};
    case_builder c(static_cast<dtype>(d(0, dtype_count - 1)), seed);
    std::string rows, cols, sums, batch;
    const auto add = [&](std::string& to, const std::string& from, int least, int most) {
      for (const char l : from.substr(0, static_cast<std::size_t>(d(1, 3)))) to += l, c.label(l, d(least, most));
    };
    add(rows, "abc", 2, 11), add(cols, "def", 2, 13), add(sums, "klm", 2, 9);
    if (d(0, 4) == 0) batch = "g", c.label('g', d(2, 3));
    double products = 1;
    for (const label_info& l : c.p.labels) products *= static_cast<double>(l.extent);
    if (products > most_products) continue;
    statement s;
    s.left = c.tensor("C", batch + rows + cols, shuffled(batch + rows + cols, d), d(0, 4) ? 1 : 2);
    s.op = static_cast<update>(d(0, 2));
    reference x = c.tensor("A", batch + rows + sums, shuffled(batch + rows + sums, d), 1), y = c.tensor("B", batch + sums + cols, shuffled(batch + sums + cols, d), 1);
    x.conj = d(0, 3) == 0, y.conj = d(0, 3) == 0;
    s.terms.push_back({d(0, 2) ? -1 : c.scalar({1.5, -0.5}), d(0, 1) == 1, {x, y}});
    c.p.statements.push_back(s);
    machine m = this_machine();
    if (d(0, 1)) m.caches = {{1024, 200}, {4096, 100}, {1 << 16, 50}};
    options o;
    o.threads = d(1, 2);
    struct plan made = make_plan(c.p, m, o);
    if (!force_blocks(made, m)) continue;
    ++blocked, ++seen[static_cast<int>(c.type)];
    const auto expected = evaluate(c.p, 0, c.bind());
    if (s.op == update::assign)
      for (std::int64_t i = 0; i < c.sizes[0]; ++i) put(c.type, c.pointers[0], i, {std::nan(""), std::nan("")});
    const bound_plan bound = bind(made, kernels::best(), o);
    execute(bound, c.bind(), {});
    INFO("seed " << seed << ", " << name_of(c.type) << "\n" << to_string(made, m));
    REQUIRE(error_in_bounds(c.p, 0, c.bind(), expected, 2) <= 1.0);
  }
  CHECK(blocked > int(seeds(500) / 5));
  for (const int n : seen) CHECK(n > int(seeds(500) / 100));
}

TEST_CASE("columns near in c that fill whole panels, with others near in b") {
  int whole[dtype_count] = {};
  for (int type = 0; type < dtype_count; ++type)
    for (const std::int64_t near : {7, 14, 16, 24, 32, 48, 96})
      for (const std::int64_t other : {5, 21}) {
        case_builder c(static_cast<dtype>(type), static_cast<unsigned>(near));
        c.label('a', 10), c.label('e', other), c.label('i', near), c.label('k', 13);
        statement s;
        s.left = c.tensor("C", "aei"), s.op = other == 5 ? update::assign : update::subtract;
        s.terms.push_back({-1, false, {c.tensor("A", "ak"), c.tensor("B", "ike")}});
        c.p.statements.push_back(s);
        const machine m = this_machine();
        struct plan made = make_plan(c.p, m);
        if (!force_blocks(made, m)) continue;
        whole[type] += near % made.segments[0].steps[0].cut.tile_cols == 0;
        const auto expected = evaluate(c.p, 0, c.bind());
        run_planned(made, c);
        INFO(name_of(c.type) << ", " << near << " x " << other);
        REQUIRE(error_in_bounds(c.p, 0, c.bind(), expected, 2) <= 1.0);
      }
  for (int type = 0; type < dtype_count; ++type) CHECK(whole[type] >= 2);
}
