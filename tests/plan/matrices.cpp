// Statements over large matrices: which way lanes run, what is packed, and how they are cut.
#include <catch2/catch.hpp>

#include <string>

#include "build_program.hpp"
#include "machines.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

/// C = the sum of the factors' products over large square matrices; a term is a list of references "ij" or one label.
plan over_matrices(std::int64_t n, const std::vector<std::vector<const char*>>& terms) {
  case_builder c(dtype::f64);
  for (char l : {'i', 'j', 'k'}) c.label(l, 3);
  std::vector<product> products;
  const reference left = c.tensor("C", "ij");
  for (const auto& term : terms) {
    product t;
    for (const char* labels : term) t.factors.push_back(c.tensor("A", labels));
    products.push_back(t);
  }
  c.p.statements = {{left, update::assign, products}};
  for (label_info& l : c.p.labels) l.extent = n;  // what the planner sees; the memory stays small
  const auto stretch = [&](reference& r) {
    if (r.axes.size() == 2) r.axes[0].stride = r.axes[0].stride > 1 ? n : 1, r.axes[1].stride = r.axes[1].stride > 1 ? n : 1;
  };
  stretch(c.p.statements[0].left);
  for (product& t : c.p.statements[0].terms)
    for (reference& f : t.factors) stretch(f);
  machine m = zen4();
  m.cores = 2;
  return make_plan(c.p, m);
}

/// C(i,j) = A(k,i) B(k,j) for threads to share.
plan of_sides(std::int64_t i, std::int64_t j, std::int64_t k, int cores) {
  case_builder c(dtype::f64);
  for (char l : {'i', 'j', 'k'}) c.label(l, 3);
  c.p.statements = {{c.tensor("C", "ij"), update::assign, {{-1, false, {c.tensor("A", "ki"), c.tensor("B", "kj")}}}}};
  const std::int64_t extents[] = {i, j, k};
  for (std::size_t l = 0; l < 3; ++l) c.p.labels[l].extent = extents[l];  // what the planner sees; the memory stays small
  c.p.statements[0].left.axes[0].stride = j;
  c.p.statements[0].terms[0].factors[0].axes[0].stride = i, c.p.statements[0].terms[0].factors[1].axes[0].stride = j;
  machine m = zen4();
  m.cores = cores;
  return make_plan(c.p, m);
}

const step_axis& axis_of(const plan& p, const plan_step& s, const char* label) {
  for (const step_axis& x : s.axes)
    if (p.source.labels[static_cast<std::size_t>(x.label)].name == label) return x;
  FAIL("no axis " << label);
  return s.axes.front();
}

}  // namespace

TEST_CASE("a matrix and its transpose are added in tiles: turned in registers, out of memory packed along the rows of the transpose") {
  const plan near = over_matrices(300, {{"ij"}, {"ji"}}), far = over_matrices(4000, {{"ij"}, {"ji"}});
  INFO(to_string(near, zen4()) << to_string(far, zen4()));
  const plan_step &s = near.segments[0].steps[0], &t = far.segments[0].steps[0];
  CHECK((near.block_labels.empty() && s.in_tiles && s.turned == std::vector{1} && s.packed.empty() && !s.stream_c));
  CHECK((t.in_tiles && t.packed == std::vector{1} && t.turned.empty() && t.stream_c && !t.buffer_c));
  CHECK(axis_of(far, t, "i").tile > axis_of(far, t, "j").tile);
}

TEST_CASE("a sum is packed where it is read, or buffered where it is written, whichever is less") {
  const plan one = over_matrices(4000, {{"ij"}, {"ij"}, {"ji"}}), two = over_matrices(4000, {{"ji"}, {"ji"}});
  INFO(to_string(one, zen4()) << to_string(two, zen4()));
  CHECK((one.segments[0].steps[0].packed.size() == 1 && !one.segments[0].steps[0].buffer_c));
  CHECK((two.segments[0].steps[0].packed.empty() && two.segments[0].steps[0].buffer_c));
}

TEST_CASE("a matrix times a vector, element by element, goes along the rows, and past the caches in pieces of them") {
  const plan near = over_matrices(1000, {{"ij", "j"}}), far = over_matrices(4000, {{"ij", "j"}});
  INFO(to_string(near, zen4()) << to_string(far, zen4()));
  const plan_step &s = near.segments[0].steps[0], &t = far.segments[0].steps[0];
  CHECK((axis_of(near, s, "j").tile == 1000 && axis_of(near, s, "i").tile <= 125));
  CHECK((t.stream_c && axis_of(far, t, "j").tile * 8 <= 4096 && axis_of(far, t, "i").tile == 1));
}

TEST_CASE("rows of b that lie far apart are packed") {
  const plan p = over_matrices(1000, {{"ik", "kj"}});
  INFO(to_string(p, zen4()));
  const plan_step& s = p.segments[0].steps[0];
  CHECK(s.pack_b);
  // In place, if not in blocks: along the rows of c, with b packed or not.
  const auto along_rows = [&](bool packed) {
    const int label = axis_of(p, s, "j").label;
    if (s.how == method::direct && s.lanes == kernels::lanes::n && s.lane_label == label && s.pack_b == packed) return s.seconds;
    for (const rejected_way& x : s.rejected)
      if (x.what.how == method::direct && x.what.lanes == kernels::lanes::n && x.what.lane_label == label && x.what.pack_b == packed) return x.seconds;
    FAIL("no such way");
    return 0.0;
  };
  CHECK(along_rows(true) < along_rows(false));
}

TEST_CASE("short rows of b that other problems lie between are packed") {
  machine m = zen4();
  m.fetches_blocks = false, m.caches[0].bytes = 49152, m.caches[1].bytes = 2 << 20;  // as Intel's
  const auto is_packed = [&](const char* left, const char* a, const char* b) {
    case_builder c(dtype::f64);
    c.label('t', 250), c.label('b', 64), c.label('n', 64), c.label('m', 64);
    c.p.statements = {{c.tensor("C", left), update::assign, {{-1, false, {c.tensor("A", a), c.tensor("B", b)}}}}};
    const plan p = make_plan(c.p, m);
    INFO(to_string(p, m));
    const plan_step& s = p.segments[0].steps[0];
    CHECK((s.how == method::direct && s.lanes == kernels::lanes::n && s.lane_label == axis_of(p, s, "m").label));
    return s.pack_b;
  };
  CHECK(is_packed("tbm", "tbn", "nbm"));
  CHECK_FALSE(is_packed("btm", "btn", "bnm"));
}

TEST_CASE("threads share long rows of few, not the few rows; and rows where they are many") {
  for (const int cores : {1, 2, 8}) {
    const plan few = of_sides(4, 2000, 2000, cores), many = of_sides(2000, 16, 300, cores);
    INFO(to_string(few, zen4()) << to_string(many, zen4()));
    const plan_step &s = few.segments[0].steps[0], &t = many.segments[0].steps[0];
    CHECK(axis_of(few, s, "i").tile == 4);
    CHECK((axis_of(few, s, "j").tile < 2000) == (cores > 1));
    CHECK(axis_of(many, t, "j").tile == 16);
    CHECK((axis_of(many, t, "i").tile < 2000) == (cores > 1));
  }
}

TEST_CASE("few rows read a long factor where it lies") {
  for (const std::int64_t rows : {2, 5, 8}) {
    const plan p = of_sides(rows, 4000, 100, 1);
    INFO(to_string(p, zen4()));
    const plan_step& s = p.segments[0].steps[0];
    CHECK((s.lanes == kernels::lanes::n && s.lane_label == axis_of(p, s, "j").label && !s.pack_a && !s.pack_b && !s.buffer_c));
  }
}

TEST_CASE("b that begins within a line is packed for many rows, unless the same bits are asked for") {
  machine m = *named_machine("avx512");
  m.writes_kernels = true;
  const auto product_of = [&](bool within, const options& o) {
    case_builder c(dtype::f64);
    for (char l : {'i', 'j', 'k'}) c.label(l, 3);
    c.p.statements = {{c.tensor("C", "ij"), update::assign, {{-1, false, {c.tensor("A", "ik"), c.tensor("B", "kj")}}}}};
    const std::int64_t rows = 256, columns = 240, sums = 160;
    c.p.labels[0].extent = rows, c.p.labels[1].extent = columns, c.p.labels[2].extent = sums;
    reference &left = c.p.statements[0].left, &a = c.p.statements[0].terms[0].factors[0], &b = c.p.statements[0].terms[0].factors[1];
    left.axes[0].stride = columns, a.axes[0].stride = sums, b.axes[0].stride = columns;
    b.within_line = within;
    return make_plan(c.p, m, o);
  };
  options one, same;
  one.threads = same.threads = 1, same.deterministic = true;
  const plan at_line = product_of(false, one), within = product_of(true, one), fixed = product_of(true, same);
  INFO(to_string(at_line, m) << to_string(within, m) << to_string(fixed, m));
  const auto packs = [](const plan& p) { return p.segments[0].steps[0].pack_b; };
  CHECK((!packs(at_line) && packs(within) && !packs(fixed)));
}

TEST_CASE("with registers of 32 bytes b is packed whose rows share sets of the caches and are read again") {
  machine m = *named_machine("avx2");
  m.fetches_blocks = true;  // as AMD's
  const auto packs = [&](std::int64_t rows, std::int64_t sums, std::int64_t apart, dtype type = dtype::f64) {
    case_builder c(type);
    for (char l : {'i', 'j', 'k'}) c.label(l, 3);
    c.p.statements = {{c.tensor("C", "ij"), update::assign, {{-1, false, {c.tensor("A", "ik"), c.tensor("B", "kj")}}}}};
    const std::int64_t columns = 60;
    c.p.labels[0].extent = rows, c.p.labels[1].extent = columns, c.p.labels[2].extent = sums;  // what the planner sees; the memory stays small
    reference &left = c.p.statements[0].left, &a = c.p.statements[0].terms[0].factors[0], &b = c.p.statements[0].terms[0].factors[1];
    left.axes[0].stride = columns, a.axes[0].stride = sums, b.axes[0].stride = apart;
    const plan p = make_plan(c.p, m);
    INFO(to_string(p, m));
    REQUIRE(p.segments[0].steps[0].how == method::direct);
    return p.segments[0].steps[0].pack_b;
  };
  CHECK((packs(128, 64, 512) && packs(32, 100, 1536) && packs(64, 96, 256) && packs(64, 64, 1024, dtype::f32)));
  CHECK_FALSE((packs(128, 64, 600) || packs(128, 63, 512) || packs(19, 64, 512) || packs(64, 96, 128)));
}

TEST_CASE("problems side by side are copied where their matrices leave the caches") {
  machine m = *named_machine("avx2");
  m.cores = 8;
  const auto steps_of = [&](std::int64_t side, std::int64_t problems, dtype type, const char* first = "abz") {
    case_builder c(type);
    for (char l : {'a', 'b', 'c', 'z'}) c.label(l, 2);
    c.p.statements = {{c.tensor("C", "acz"), update::assign, {{-1, false, {c.tensor("A", first), c.tensor("B", "bcz")}}}}};
    for (label_info& l : c.p.labels) l.extent = l.name == "z" ? problems : side;  // what the planner sees; the memory stays small
    product& t = c.p.statements[0].terms[0];
    for (reference* r : {&c.p.statements[0].left, &t.factors[0], &t.factors[1]})
      for (std::size_t d = r->axes.size(), step = 1; d-- > 0;) {
        r->axes[d].stride = static_cast<std::int64_t>(step);
        step *= static_cast<std::size_t>(c.p.labels[static_cast<std::size_t>(r->axes[d].label)].extent);
      }
    const plan p = make_plan(c.p, m);
    INFO(to_string(p, m));
    const bool in_blocks = !p.block_labels.empty();
    REQUIRE((!in_blocks || p.block_labels[0] == 3));
    return std::pair{p.segments[0].steps.size(), in_blocks};
  };
  for (const dtype type : {dtype::f32, dtype::f64, dtype::c64, dtype::c128}) {
    INFO(name_of(type));
    CHECK(steps_of(100, 256, type) == std::pair<std::size_t, bool>{4, true});
    CHECK(steps_of(100, 256, type, "zab") == std::pair<std::size_t, bool>{3, true});
    CHECK(steps_of(200, 5, type) == std::pair<std::size_t, bool>{4, false});  // a line of them: threads share the matrices
    CHECK(steps_of(12, 16, type).first == 1);
    CHECK(steps_of(4, 10000, type).first == 1);
    CHECK(steps_of(8000, 3, type).first == 1);  // gigabytes of copies
  }
}
