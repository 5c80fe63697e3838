// Long sums with few results: parts of ragged length, several types, alpha and beta, the same bits for any number of threads.
#include <catch2/catch.hpp>

#include <omp.h>

#include <cstring>
#include <vector>

#include "build_program.hpp"
#include "plan/plan.hpp"
#include "reduced.hpp"
#include "run_plan.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

constexpr dtype types[] = {dtype::f32, dtype::f64, dtype::c128, dtype::f16};

struct sum_case {
  const char *left, *first, *second;  // second: null for a sum of one factor
  std::vector<std::pair<char, std::int64_t>> extents;
};

const sum_case cases[] = {
    {"", "i", "i", {{'i', 1200007}}},                                         // dot product
    {"", "i", nullptr, {{'i', 1100001}}},                                     // sum of a vector
    {"ij", "ki", "kj", {{'k', 150001}, {'i', 5}, {'j', 7}}},                   // matrix with itself, by columns
    {"ji", "ik", "jk", {{'k', 150001}, {'i', 5}, {'j', 7}}},                   // by rows, transposed
    {"i", "ki", nullptr, {{'k', 120001}, {'i', 19}}},                         // sums of columns
    {"i", "ki", "k", {{'k', 120001}, {'i', 19}}},                             // vector times matrix
    {"b", "bk", "bk", {{'b', 3}, {'k', 400003}}},                             // a few dot products
    {"", "kl", "lk", {{'k', 1031}, {'l', 1033}}},                             // two summed labels
    {"bi", "bkli", "lk", {{'b', 2}, {'k', 601}, {'l', 97}, {'i', 11}}},       // batch, free and two summed labels
    {"ab", "dc", "bacd", {{'a', 3}, {'b', 3}, {'c', 601}, {'d', 97}}},           // a small factor that lies the other way
};

/// In few cases: each with two of the types.
bool is_left_out(std::ptrdiff_t number, dtype t) { return reduced_tests() && (number % 2 == 0) == (t == dtype::f32 || t == dtype::c128); }

/// With so many results in parts where numbers are real.
const sum_case many_results = {"ij", "ki", "kj", {{'k', 5003}, {'i', 60}, {'j', 44}}};

case_builder build(const sum_case& s, dtype t, update op, bool scalar) {
  case_builder c(t);
  for (const auto& [name, extent] : s.extents) c.label(name, extent);
  statement st;
  st.op = op;
  st.left = c.tensor("C", s.left);
  product p;
  p.factors.push_back(c.tensor("A", s.first));
  if (s.second) p.factors.push_back(c.tensor("B", s.second));
  if (scalar) p.scalar = c.scalar({0.5, 0});
  p.negate = scalar;
  st.terms.push_back(p);
  c.p.statements.push_back(st);
  // Small integers: every sum is exact in float, so that a part that is missing or counted twice shows.
  quick_bits bits{7};
  const auto value = [&bits] { return static_cast<double>(bits() % 5) - 2; };
  for (std::size_t m = 0; m < c.pointers.size(); ++m)
    for (std::int64_t i = 0; i < c.sizes[m]; ++i) put(t, c.pointers[m], i, {value(), value()});
  return c;
}

/// The sums by a plain loop over all labels: exact, since everything is a small integer or half of one. The longest is the innermost.
std::vector<std::complex<double>> expected(const case_builder& c) {
  const statement& st = c.p.statements[0];
  const product& term = st.terms[0];
  const bindings b = c.bind();
  int longest = 0;
  for (std::size_t l = 0; l < c.p.labels.size(); ++l)
    if (c.p.labels[l].extent > c.p.labels[static_cast<std::size_t>(longest)].extent) longest = static_cast<int>(l);
  std::vector<std::vector<std::complex<double>>> tensors(c.sizes.size());
  for (const reference& f : term.factors)
    for (std::int64_t i = 0; i < c.sizes[f.slot]; ++i) tensors[f.slot].push_back(get(f.type, b.pointers[f.slot], i));
  std::vector<std::complex<double>>& sum = tensors[st.left.slot];
  sum.resize(static_cast<std::size_t>(c.sizes[st.left.slot]));
  std::vector<std::int64_t> index(c.p.labels.size(), 0);
  // A tensor's first element at the values of index, and the stride of the longest label.
  const auto line_of = [&](const reference& r) {
    std::pair<std::complex<double>*, std::int64_t> line{tensors[r.slot].data(), 0};
    for (const reference_axis& x : r.axes)
      if (x.label == longest) line.second += x.stride;
      else line.first += index[static_cast<std::size_t>(x.label)] * x.stride;
    return line;
  };
  const std::int64_t length = c.p.labels[static_cast<std::size_t>(longest)].extent;
  for (bool more = true; more;) {
    auto [to, to_stride] = line_of(st.left);
    auto [first, first_stride] = line_of(term.factors[0]);
    if (term.factors.size() == 1)
      for (std::int64_t i = 0; i < length; ++i) to[i * to_stride] += first[i * first_stride];
    else {
      auto [second, second_stride] = line_of(term.factors[1]);
      for (std::int64_t i = 0; i < length; ++i) to[i * to_stride] += first[i * first_stride] * second[i * second_stride];
    }
    more = false;
    for (std::size_t l = index.size(); l-- > 0 && !more;) {
      if (static_cast<int>(l) == longest) continue;
      more = ++index[l] < c.p.labels[l].extent;
      if (!more) index[l] = 0;
    }
  }
  for (std::size_t i = 0; i < sum.size(); ++i) {
    if (term.scalar >= 0) sum[i] *= -0.5;
    if (st.op == update::add) sum[i] += get(st.left.type, b.pointers[st.left.slot], static_cast<std::int64_t>(i));
  }
  return sum;
}

/// But for the last rounding to 16 bits.
bool is_exact(const case_builder& c, const std::vector<std::complex<double>>& want) {
  const reference& left = c.p.statements[0].left;
  const double store = epsilon_of(left.type) > 1e-4 ? epsilon_of(left.type) : 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const auto got = get(left.type, c.bind().pointers[left.slot], static_cast<std::int64_t>(i));
    if (!(std::abs(got - want[i]) <= store * std::abs(want[i]))) return false;
  }
  return true;
}

bool in_parts(const plan& p) {
  for (const plan_step& s : p.segments[0].steps)
    if (s.op.cut_label >= 0) return true;
  return false;
}

}  // namespace

TEST_CASE("long sums are right, assigned and added to") {
  for (const sum_case& s : cases)
    for (const dtype t : types)
      for (const update op : {update::assign, update::add}) {
        if (is_left_out(&s - cases, t) || (reduced_tests() && (op == update::add) != (t == dtype::f32 || t == dtype::c128))) continue;
        case_builder c = build(s, t, op, op == update::add);
        const auto want = expected(c);
        const auto plan = compile(c.p);
        run(*plan, c.bind());
        INFO(name_of(t) << "\n" << describe(*plan));
        REQUIRE(is_exact(c, want));
      }
}

TEST_CASE("sums with some thousand results are right") {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::c64}) {
    case_builder c = build(many_results, t, t == dtype::f32 ? update::add : update::assign, false);
    const auto want = expected(c);
    const auto plan = compile(c.p);
    run(*plan, c.bind());
    INFO(name_of(t) << "\n" << describe(*plan));
    REQUIRE(is_exact(c, want));
  }
}

TEST_CASE("they run in parts, and short sums and many results do not") {
  const machine m = *named_machine("avx512");
  for (const sum_case& s : cases) {
    const plan p = make_plan(build(s, dtype::c128, update::assign, false).p, m);
    INFO(to_string(p, m));
    CHECK(in_parts(p));
  }
  CHECK_FALSE(in_parts(make_plan(build({"", "i", "i", {{'i', 10000}}}, dtype::f64, update::assign, false).p, m)));
  CHECK(in_parts(make_plan(build(many_results, dtype::f64, update::assign, false).p, m)));
  const sum_case long_rows = {"ij", "ki", "kj", {{'k', 5000}, {'i', 200}, {'j', 16}}};
  CHECK(in_parts(make_plan(build(long_rows, dtype::f64, update::assign, false).p, m)));
  CHECK_FALSE(in_parts(make_plan(build(long_rows, dtype::c64, update::assign, false).p, m)));
  CHECK_FALSE(in_parts(make_plan(build({"abc", "abcde", "edab", {{'a', 22}, {'b', 11}, {'c', 16}, {'d', 29}, {'e', 80}}}, dtype::f64, update::assign, false).p, m)));
  CHECK_FALSE(in_parts(make_plan(build({"ij", "ki", "kj", {{'k', 5000}, {'i', 70}, {'j', 70}}}, dtype::f64, update::assign, false).p, m)));
}

/// Registers of 32 bytes and kernels that ask for what comes from memory.
machine that_asks() {
  machine m = *named_machine("avx2");
  m.asks.memory = 2048;
  return m;
}

/// Of the axis that is cut: values in all, in a part, in a piece.
std::vector<std::int64_t> pieces_of(const plan& p) {
  for (const plan_step& s : p.segments[0].steps)
    for (const step_axis& x : s.axes)
      if (x.part != 0) return {x.extent, x.part_extent, x.tile};
  return {};
}

TEST_CASE("parts of products are added piece by piece, where kernels ask for the next piece") {
  const machine m = that_asks();
  const auto cut = [&](const sum_case& s, dtype t = dtype::f64) { return pieces_of(make_plan(build(s, t, update::assign, false).p, m)); };
  CHECK(cut({"ij", "ki", "kj", {{'k', 20001}, {'i', 64}, {'j', 8}}}) == std::vector<std::int64_t>{20001, 320, 32});
  CHECK(cut({"ij", "ki", "kj", {{'k', 20001}, {'i', 64}, {'j', 64}}}) == std::vector<std::int64_t>{20001, 512, 32});
  CHECK(cut({"ij", "ki", "kj", {{'k', 20003}, {'i', 150}, {'j', 160}}}) == std::vector<std::int64_t>{20003, 1222, 26});
  // One value of the label that is cut, whose terms are neighbours, is more than a piece; or less.
  CHECK(cut({"ij", "kli", "klj", {{'k', 300}, {'l', 300}, {'i', 30}, {'j', 20}}}) == std::vector<std::int64_t>{90000, 600, 40});
  CHECK(cut({"ij", "kli", "klj", {{'k', 30000}, {'l', 3}, {'i', 30}, {'j', 20}}}) == std::vector<std::int64_t>{90000, 780, 39});
  // Rows of a line or two, or one row, come by themselves; results that no near cache holds; rows that are too long.
  CHECK(cut({"ij", "ki", "kj", {{'k', 80001}, {'i', 8}, {'j', 8}}}) == std::vector<std::int64_t>{80001, 512, 512});
  CHECK(cut({"i", "ki", "k", {{'k', 20001}, {'i', 64}}}) == std::vector<std::int64_t>{20001, 64, 64});
  CHECK(cut({"ij", "ki", "kj", {{'k', 5003}, {'i', 200}, {'j', 200}}}).empty());
  CHECK(cut({"ij", "ki", "kj", {{'k', 5003}, {'i', 600}, {'j', 16}}}).empty());
  // A filter's gradient: windows lie over one another, so that a near cache has most of what is read.
  case_builder c(dtype::f64);
  for (const auto& [name, extent] : {std::pair{'n', 400}, {'p', 50}, {'k', 16}, {'r', 3}, {'c', 30}}) c.label(name, extent);
  statement s;
  s.op = update::assign, s.left = c.tensor("C", "krc");
  reference image = c.tensor("B", "npc");
  image.axes.push_back({c.find('r'), image.axes[1].stride});
  s.terms.emplace_back().factors = {c.tensor("A", "npk"), image};
  c.p.statements.push_back(s);
  const auto parts = pieces_of(make_plan(c.p, m));
  REQUIRE(parts.size() == 3);
  CHECK(parts[1] == parts[2]);
}

TEST_CASE("sums in pieces are right, whatever the last part and the last piece are") {
  const machine m = that_asks();
  const sum_case in_pieces[] = {
      {"ij", "ki", "kj", {{'k', 13201}, {'i', 33}, {'j', 8}}},                // the last part is short, and its last piece
      {"ij", "ki", "kj", {{'k', 13312}, {'i', 33}, {'j', 8}}},                // the last piece is not
      {"ij", "ki", "kj", {{'k', 13449}, {'i', 33}, {'j', 8}}},                // one value is left for a part of its own
      {"ji", "ki", "kj", {{'k', 13201}, {'i', 33}, {'j', 9}}},                // the result lies the other way
      {"ij", "kli", "klj", {{'k', 131}, {'l', 100}, {'i', 30}, {'j', 11}}},   // two summed labels that nest
      {"ij", "kil", "klj", {{'k', 131}, {'l', 100}, {'i', 30}, {'j', 11}}},   // and that do not
      {"ij", "kil", "lkj", {{'k', 131}, {'l', 100}, {'i', 30}, {'j', 11}}},
      {"ij", "ki", "kj", {{'k', 27001}, {'i', 70}, {'j', 11}}},               // long enough for 16 bits
  };
  int most = 0;
  for (const sum_case& s : in_pieces)
    for (const dtype t : {dtype::f32, dtype::f64, dtype::c64, dtype::c128, dtype::bf16}) {
      const bool is_long = s.extents[0].second > 20000;
      if (is_long != (t == dtype::bf16) || (!is_long && is_left_out(&s - in_pieces, t))) continue;
      const update op = t == dtype::f32 || t == dtype::c128 ? update::add : update::assign;
      case_builder c = build(s, t, op, op == update::add);
      const auto want = expected(c);
      const plan p = make_plan(c.p, m);
      most += !pieces_of(p).empty() && pieces_of(p)[2] < pieces_of(p)[1];
      run_planned(p, c);
      INFO(name_of(t) << "\n" << to_string(p, m));
      REQUIRE(is_exact(c, want));
    }
  CHECK(most >= (reduced_tests() ? 10 : 20));  // of 15 or 29
}

TEST_CASE("sums are cut along the larger factor, lines whole") {
  const machine m = *named_machine("avx512");
  const auto cut_of = [&](const sum_case& s) {
    const plan p = make_plan(build(s, dtype::f64, update::assign, false).p, m);
    for (const plan_step& x : p.segments[0].steps)
      if (x.op.cut_label >= 0) return p.source.labels[static_cast<std::size_t>(x.op.cut_label)].name + " by " + std::to_string(x.op.part);
    return std::string("no label");
  };
  // Along d, the outer label of the smaller factor, each part would be one value of the label that lies innermost in the other.
  CHECK(cut_of({"ab", "dc", "bacd", {{'a', 3}, {'b', 3}, {'c', 900}, {'d', 128}}}) == "c by 56");
  CHECK(cut_of({"", "ab", "ba", {{'a', 24}, {'b', 18488}}}) == "b by 640");
  // Rows long enough to be read at full speed; as many as all threads can share are not cut.
  CHECK(cut_of({"a", "ab", "ab", {{'a', 30}, {'b', 78000}}}) == "b by 4864");
  CHECK(cut_of({"a", "ab", "b", {{'a', 4}, {'b', 1146000}}}) == "b by 52416");
  CHECK(cut_of({"ab", "abc", "abc", {{'a', 150}, {'b', 4}, {'c', 4584}}}) == "no label");
  CHECK(cut_of({"a", "ba", "ba", {{'a', 600}, {'b', 4584}}}) == "b by 27");
}

TEST_CASE("traces of many matrices are added where they lie, by written kernels where there are any") {
  const bool writes = codegen::best_target() != codegen::target::none;
  for (const dtype t : {dtype::f32, dtype::f64, dtype::c64, dtype::c128})
    for (const std::int64_t side : {2, 3, 7, 20})
      for (const update op : {update::assign, update::add, update::subtract}) {
        case_builder c(t, static_cast<unsigned>(side));
        c.label('b', 1003), c.label('i', side), c.label('j', side);
        statement s;
        s.left = c.tensor("C", "b"), s.op = op;
        reference diagonal = c.tensor("A", "bij");
        diagonal.axes = {{0, side * side}, {1, side + 1}};
        const int scalar = side == 7 && !is_complex(t) ? c.scalar({1.5, 0}) : -1;
        s.terms.push_back({scalar, false, {diagonal}});
        c.p.statements.push_back(s);
        const machine m = this_machine();
        const struct plan made = make_plan(c.p, m, {}, {1, true});
        const bound_plan bound = bind(made, kernels::best(), {});
        const auto want = evaluate(c.p, 0, c.bind());
        execute(bound, c.bind(), {});
        INFO(name_of(t) << ", " << side << " a side\n" << to_string(made, m));
        REQUIRE(error_in_bounds(c.p, 0, c.bind(), want, 1) <= 1.0);
        const bound_step& step = bound.segments[0].steps[0];
        CHECK((!writes || (made.segments[0].steps[0].apart && step.pack_b < 0 && step.tiles[0].first)));
      }
}

TEST_CASE("the bits of a long sum do not depend on the number of threads") {
  const int before = omp_get_max_threads();
  for (const sum_case& s : cases) {
    case_builder c = build(s, dtype::f64, update::assign, false);
    for (std::size_t slot = 0; slot < c.pointers.size(); ++slot)  // sums that round, each in its own way
      for (std::int64_t i = 0; i < c.sizes[slot]; ++i) static_cast<double*>(c.pointers[slot])[i] *= 1.0 / static_cast<double>(3 + i % 7);
    const auto plan = compile(c.p);
    std::vector<double> one;
    for (const int threads : {1, 2, 3, 7}) {
      omp_set_num_threads(threads);
      run(*plan, c.bind());
      const auto* left = static_cast<const double*>(c.bind().pointers[c.p.statements[0].left.slot]);
      std::int64_t results = 1;
      for (const char* l = s.left; *l; ++l) results *= c.p.labels[static_cast<std::size_t>(c.find(*l))].extent;
      if (one.empty()) one.assign(left, left + results);
      else CHECK(std::memcmp(one.data(), left, one.size() * sizeof(double)) == 0);
    }
    omp_set_num_threads(before);
  }
}

TEST_CASE("nor on the threads that a plan was made for: parts are added in pieces of one width") {
  machine m = *named_machine("avx512");
  m.cores = 2;
  case_builder c = build({"ij", "ki", "kj", {{'k', 8000}, {'i', 55}, {'j', 58}}}, dtype::c128, update::subtract, false);
  std::vector<std::vector<step_axis>> axes;
  for (const int threads : {1, 2}) {
    options o;
    o.threads = threads;
    const plan p = make_plan(c.p, m, o);
    INFO(to_string(p, m));
    REQUIRE((in_parts(p) && p.segments[0].steps.size() == 2));
    axes.push_back(p.segments[0].steps[1].axes);
  }
  CHECK(axes[0] == axes[1]);
}
