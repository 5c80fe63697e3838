// Windows of a convolution lie over one another: what a plan counts of them, and which way their lanes run.
#include <catch2/catch.hpp>

#include <set>
#include <string>

#include "machines.hpp"
#include "plan/distinct.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

struct image {
  std::vector<std::int64_t> sides, filter;  // of the result, outermost first; of the filter
  std::int64_t step = 1, dilation = 1;      // between windows (not along the last axis), between the elements of one
};

/// c(x...) = a(w...) * b(x..., w...). No memory is behind it.
plan filtered(dtype type, const image& z, const machine& m) {
  program p;
  const auto axes = z.sides.size();
  for (std::size_t d = 0; d < axes; ++d) p.labels.push_back({"x" + std::to_string(d), z.sides[d]});
  for (std::size_t d = 0; d < axes; ++d) p.labels.push_back({"w" + std::to_string(d), z.filter[d]});
  const auto tensor = [&](const char* name) {
    reference r;
    r.slot = p.slot_count++, r.type = type, r.name = name;
    return r;
  };
  reference c = tensor("c"), a = tensor("a"), b = tensor("b");
  std::int64_t in_c = 1, in_a = 1, in_b = 1;
  for (std::size_t d = axes; d-- > 0;) {
    const int x = static_cast<int>(d), w = static_cast<int>(d + axes);
    const std::int64_t step = d + 1 < axes ? z.step : 1;
    c.axes.push_back({x, in_c}), in_c *= z.sides[d];
    a.axes.push_back({w, in_a}), in_a *= z.filter[d];
    b.axes.push_back({x, in_b * step}), b.axes.push_back({w, in_b * z.dilation});
    in_b *= (z.sides[d] - 1) * step + (z.filter[d] - 1) * z.dilation + 1;
  }
  p.statements = {{c, update::assign, {{-1, false, {a, b}}}}};
  return make_plan(p, m);
}

bool says(const plan& p, const machine& m, const std::string& text) { return to_string(p, m).find(text) != std::string::npos; }

double by_looking(const std::vector<strided_axis>& axes) {
  std::set<std::int64_t> places{0};
  for (const strided_axis& x : axes) {
    std::set<std::int64_t> more;
    for (const std::int64_t at : places)
      for (std::int64_t i = 0; i < x.extent; ++i) more.insert(at + i * x.stride);
    places = std::move(more);
  }
  return static_cast<double>(places.size());
}

double counted(const std::vector<strided_axis>& axes) {
  return distinct_elements(axes, [](const strided_axis& x) { return x; });
}

}  // namespace

TEST_CASE("elements of windows are counted once") {
  const std::vector<strided_axis> exact[] = {
      {},
      {{5, 0}},
      {{1, 7}, {4, 1}},
      {{10, 12}, {12, 1}},                        // a matrix
      {{12, 1}, {10, 12}},
      {{10, 20}, {12, 1}},                        // within a larger one
      {{10, 14}, {10, 1}, {5, 14}, {5, 1}},       // all windows of an image
      {{10, 20}, {10, 1}, {3, 20}, {5, 1}},       // whose rows go on
      {{10, 42}, {10, 2}, {3, 21}, {3, 1}},       // every second one, both ways
      {{10, 1}, {3, 4}},                          // dilated
      {{10, 1}, {5, -1}},                         // backwards
      {{10, 4}, {8, 1}},
      {{9, 1}, {9, 10}, {4, 90}, {3, 1}, {2, 10}},
      {{6, 0}, {10, 1}, {3, 1}},
      {{0, 1}, {3, 1}},
  };
  for (const auto& axes : exact) CHECK(counted(axes) == by_looking(axes));
  const std::vector<strided_axis> gaps{{10, 6}, {3, 2}, {3, 3}};  // steps of 2 and 3: an estimate
  CHECK(counted(gaps) <= 90);
  CHECK(counted(gaps) >= by_looking(gaps));
}

TEST_CASE("bytes and bound of a plan have every element of an image once") {
  const plan p = filtered(dtype::f32, {{1000, 1000}, {5, 5}}, zen4());
  CHECK(p.bytes == 4.0 * (1000 * 1000 + 25 + 1004 * 1004));
  const plan wide = filtered(dtype::f64, {{512, 512}, {9, 9}}, zen4());
  CHECK(wide.bytes == 8.0 * (512 * 512 + 81 + 520 * 520));
  CHECK(wide.bound_seconds == Approx(2.0 * 512 * 512 * 81 / 58.7e9));
}

TEST_CASE("lanes of a single filter run along the rows of the image") {
  machine avx2 = *named_machine("avx2");
  avx2.writes_kernels = true;
  const image images[] = {
      {{1000, 1000}, {5, 5}}, {{512, 512}, {9, 9}}, {{60, 70}, {3, 3}}, {{300, 300}, {11, 11}},
      {{1000, 1000}, {1, 9}}, {{1000, 1000}, {9, 1}}, {{15000}, {80}}, {{100000}, {7}},
      {{500, 500}, {3, 3}, 2}, {{500, 500}, {3, 3}, 1, 2}, {{500, 500}, {5, 5}, 2, 4},
      {{64, 64, 64}, {3, 3, 3}}, {{30, 40, 50}, {5, 5, 5}, 2},
  };
  for (const machine& m : {zen4(), avx2})
    for (const dtype type : {dtype::f32, dtype::f64, dtype::c64, dtype::c128})
      for (const image& z : images) {
        const plan p = filtered(type, z, m);
        INFO(name_of(type) << "\n" << to_string(p, m));
        CHECK(says(p, m, "lanes along x" + std::to_string(z.sides.size() - 1)));
        CHECK_FALSE(says(p, m, "packed"));
        for (const plan_step& s : p.segments.at(0).steps)  // sums are not cut: their rows come from a cache
          for (const step_axis& x : s.axes)
            if (x.role == group::k) CHECK(x.tile == x.extent);
      }
}

TEST_CASE("gradients of a filter for each channel, channels side by side, have the filter's elements as columns") {
  // c(g, r, s) = a(n, p, q, g) b(n, p + r, q + s, g): a tile of a kernel takes columns of two axes, rows of one.
  for (const std::int64_t step : {1, 2})
    for (const dtype type : {dtype::f32, dtype::f64, dtype::c64}) {
      constexpr std::int64_t channels = 64, side = 30, filter = 3;
      const std::int64_t row = ((side - 1) * step + filter) * channels, plane = row * row / channels;
      program p;
      p.labels = {{"g", channels}, {"r", filter}, {"s", filter}, {"n", 4}, {"p", side}, {"q", side}};
      const auto tensor = [&](const char* name, std::vector<reference_axis> axes) {
        reference r;
        r.slot = p.slot_count++, r.type = type, r.name = name, r.axes = std::move(axes);
        return r;
      };
      const reference c = tensor("c", {{0, filter * filter}, {1, filter}, {2, 1}}), a = tensor("a", {{3, side * side * channels}, {0, 1}, {4, side * channels}, {5, channels}});
      const reference b = tensor("b", {{3, plane}, {0, 1}, {4, step * row}, {5, step * channels}, {1, row}, {2, channels}});
      p.statements = {{c, update::assign, {{-1, false, {a, b}}}}};
      const plan made = make_plan(p, zen4());
      INFO(name_of(type) << ", every " << step << "\n" << to_string(made, zen4()));
      CHECK(says(made, zen4(), "n [r:3 s:3]"));
      CHECK(says(made, zen4(), "lanes along g (a problem a lane)"));
    }
}
