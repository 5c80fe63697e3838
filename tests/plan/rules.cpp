// What programs are refused, and what the planner promises.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include <ricci/core/error.hpp>

#include "build_program.hpp"
#include "machines.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

const machine avx2 = *named_machine("avx2");

case_builder matrices() {
  case_builder c(dtype::f64);
  for (char l : {'i', 'j', 'k'}) c.label(l, 5);
  c.p.statements = {{c.tensor("C", "ij"), update::assign, {{-1, false, {c.tensor("A", "ik"), c.tensor("B", "kj")}}}}};
  return c;
}

template <class Break> errc refused(Break&& how) {
  case_builder c = matrices();
  how(c.p);
  try {
    check(c.p);
  } catch (const error& e) {
    return e.code();
  }
  return errc{};
}

}  // namespace

TEST_CASE("ill-formed programs are refused") {
  CHECK(refused([](program&) {}) == errc{});
  CHECK(refused([](program& p) { p.labels[0].extent = -1; }) == errc::bad_extent);
  CHECK(refused([](program& p) { p.statements[0].left.axes[0].label = 7; }) == errc::bad_label);
  CHECK(refused([](program& p) { p.statements[0].left.axes[0].label = 1; }) == errc::bad_label);
  CHECK(refused([](program& p) { p.statements[0].left.axes[0].stride = 0; }) == errc::bad_argument);
  CHECK(refused([](program& p) { p.statements[0].left.axes[0].stride = 4; }) == errc::bad_argument);
  CHECK(refused([](program& p) { p.statements[0].terms[0].factors[0].type = dtype::f32; }) == errc::bad_argument);
  CHECK(refused([](program& p) { p.statements[0].terms[0].factors[0].space = memory_space::gpu; }) == errc::wrong_space);
  CHECK(refused([](program& p) { p.statements[0].terms[0].factors[0].local = 0, p.local_count = 1; }) == errc::bad_argument);
  CHECK(refused([](program& p) {
          p.statements[0].left.local = 0, p.local_count = 1;
          p.statements.push_back(p.statements[0]);
        }) == errc::bad_argument);
}

TEST_CASE("gpu statements need a GPU") {
  case_builder c = matrices();
  c.p.statements[0].left.space = memory_space::gpu;
  for (reference& f : c.p.statements[0].terms[0].factors) f.space = memory_space::gpu;
  try {
    compile(c.p);
    SUCCEED("there is a GPU");
  } catch (const error& e) {
    CHECK(e.code() == errc::no_gpu);
  }
}

TEST_CASE("strict refuses the buffer that overlap needs") {
  case_builder c = matrices();
  c.p.overlaps = {{0, 1, overlap::kind::may}};
  CHECK_NOTHROW(make_plan(c.p, avx2));
  CHECK_THROWS_AS(make_plan(c.p, avx2, {.strict = true}), error);
}

TEST_CASE("equal programs share one plan, unequal ones do not") {
  case_builder c = matrices(), d = matrices();
  CHECK(compile(c.p) == compile(d.p));
  d.p.labels[2].extent = 4;
  d.p.statements[0].terms[0].factors[1].axes[1].stride = 5;
  CHECK(compile(c.p) != compile(d.p));
}

TEST_CASE("a plan is a value") {
  case_builder c = matrices();
  CHECK(make_plan(c.p, avx2) == make_plan(c.p, avx2));
  CHECK(!(make_plan(c.p, avx2) == make_plan(c.p, *named_machine("avx512"))));
}

TEST_CASE("flops count the best order, not the nest as written") {
  case_builder c(dtype::f64);
  for (auto [l, n] : {std::pair{'i', 10}, {'j', 20}, {'k', 30}, {'l', 40}}) c.label(l, n);
  c.p.statements = {{c.tensor("D", "il"), update::assign,
                     {{-1, false, {c.tensor("A", "ij"), c.tensor("B", "jk"), c.tensor("C", "kl")}}}}};
  const plan p = make_plan(c.p, avx2);
  CHECK(p.flops == 2.0 * (10 * 20 * 30 + 10 * 30 * 40));
  CHECK(p.written_flops == 3.0 * 10 * 20 * 30 * 40);
}

TEST_CASE("empty extents mean empty sums and empty results") {
  for (const char* empty : {"i", "k"}) {
    case_builder c(dtype::f64);
    for (char l : {'i', 'j', 'k'}) c.label(l, l == empty[0] ? 0 : 3);
    c.p.statements = {{c.tensor("C", "ij"), update::assign, {{-1, false, {c.tensor("A", "ik"), c.tensor("B", "kj")}}}}};
    for (std::int64_t i = 0; i < c.sizes[0]; ++i) put(c.type, c.pointers[0], i, std::nan(""));
    run(*compile(c.p), c.bind());
    if (empty[0] == 'k')
      for (std::int64_t i = 0; i < 9; ++i) CHECK(get(c.type, c.pointers[0], i) == 0.0);
  }
}

TEST_CASE("pointwise statements read what they share once") {
  const auto inputs_of = [](int memory) {
    case_builder c(dtype::f64);
    c.label('e', 40), c.label('q', 9);
    reference first = c.tensor("G", "eq"), second = first;
    second.slot = c.p.slot_count++;
    first.memory = second.memory = memory;
    const reference x = c.tensor("x", "eq"), y = c.tensor("y", "eq");
    c.p.statements = {{c.tensor("v", "eq"), update::assign, {{-1, false, {first, x}}, {-1, false, {y, y}}}},
                      {c.tensor("w", "eq"), update::assign, {{-1, false, {second, y}}, {-1, false, {x, x}}}}};
    for (int left : {4, 5})
      for (int other = 0; other < 4; ++other) c.p.overlaps.push_back({left, other, overlap::kind::disjoint});
    std::size_t inputs = 0;
    const plan made = make_plan(c.p, avx2);
    for (const plan_step& s : made.segments[0].steps)
      if (s.how == method::pointwise) inputs += s.op.inputs.size();
    return inputs;
  };
  CHECK(inputs_of(7) == 3);
  CHECK(inputs_of(-1) == 4);
}

namespace {

/// Diffusion at the nodes of elements of degree 4: six stored tensors. Side by side: eight elements in each of `elements`.
plan diffusion(std::int64_t elements, bool side_by_side = false) {
  case_builder c(dtype::f64);
  c.label('e', 8), c.label('t', 5), c.label('s', 5), c.label('r', 5), c.label('o', 5);
  if (side_by_side) c.label('l', 8);
  const auto all = [&](std::string labels) { return labels + (side_by_side ? "l" : ""); };
  const auto tensor = [&](const char* name, const char* labels) { return c.tensor(name, all(labels).c_str()); };
  c.p.local_count = 6;
  const reference v = tensor("v", "etsr");
  const auto local = [&](int n, const char* labels) {
    reference x = v;
    x.name = "t", x.local = n, x.slot = 0, x.axes.clear();
    for (const char l : all(labels)) x.axes.push_back({c.find(l), 1});
    return x;
  };
  const auto odd = [&](const char* labels) {
    reference x = c.tensor("D", labels);
    x.parity = -1, x.memory = 1;
    return x;
  };
  reference G[6];
  for (int n = 0; n < 6; ++n) G[n] = tensor("G", "etsr"), G[n].memory = 2 + n;
  const auto again = [&](int n) {
    reference x = G[n];
    x.slot = c.p.slot_count++;
    return x;
  };
  const auto assign = [&](int n, std::vector<product> terms) {
    c.p.statements.push_back({local(n, "etsr"), update::assign, std::move(terms)});
  };
  reference u = tensor("u", "etso");
  u.memory = 9;
  assign(0, {{-1, false, {odd("ro"), u}}});
  assign(1, {{-1, false, {odd("so"), tensor("u", "etor")}}});
  assign(2, {{-1, false, {odd("to"), tensor("u", "eosr")}}});
  const int rows[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
  for (int n = 0; n < 3; ++n) {
    std::vector<product> terms;
    for (int k = 0; k < 3; ++k) terms.push_back({-1, false, {again(rows[n][k]), local(k, "etsr")}});
    assign(3 + n, terms);
  }
  c.p.statements.push_back({v, update::assign,
                            {{-1, false, {odd("or"), local(3, "etso")}},
                             {-1, false, {odd("os"), local(4, "etor")}},
                             {-1, false, {odd("ot"), local(5, "eosr")}}}});
  for (int other = 1; other < c.p.slot_count; ++other) c.p.overlaps.push_back({0, other, overlap::kind::disjoint});
  c.p.labels[0].extent = elements;  // what the planner sees; the memory stays small
  return make_plan(c.p, zen4());
}

}  // namespace

TEST_CASE("blocks that read several stored tensors from memory stay as they lie, and are large") {
  const auto is_turned = [](const plan& p) {
    return std::any_of(p.notes.begin(), p.notes.end(), [](const std::string& n) { return n.find("across the lanes") != std::string::npos; });
  };
  const plan near = diffusion(100), far = diffusion(20000);
  CHECK(is_turned(near));
  CHECK_FALSE(is_turned(far));
  INFO(far.segments[0].block);
  CHECK(far.segments[0].block >= 16);
}

TEST_CASE("fluxes stand where the derivatives did that they are made of") {
  const plan p = diffusion(100, true);
  const segment& s = p.segments[0];
  INFO(to_string(p, zen4()));
  int replaced = 0;
  for (const temporary& x : s.temporaries)
    for (const temporary& y : s.temporaries) {
      if (x.born < 0 || y.born < x.born || &x == &y || x.dies < y.born) continue;  // never at the same time
      if (x.offset + 8 * x.size <= y.offset || y.offset + 8 * y.size <= x.offset) continue;
      CHECK((x.offset == y.offset && x.dies == y.born && s.steps[static_cast<std::size_t>(x.dies)].how == method::pointwise));
      ++replaced;
    }
  CHECK(replaced == 2);
}

namespace {

/// C(e,q,r,s) = A(q,i) A(r,j) A(s,k) u(e,i,j,k), times as many D(e,q,r,s) as said: n a side on u, n + 1 on C.
plan to_points(int n, int scales, bool even = false, hints h = {}, const machine& m = zen4(), dtype type = dtype::f64) {
  case_builder c(type);
  c.label('e', 4);
  for (char l : {'q', 'r', 's'}) c.label(l, n + 1);
  for (char l : {'i', 'j', 'k'}) c.label(l, n);
  std::vector<reference> factors{c.tensor("A", "qi"), c.tensor("A", "rj"), c.tensor("A", "sk"), c.tensor("u", "eijk")};
  const reference left = c.tensor("C", "eqrs");
  for (int f = 0; even && f < 3; ++f) factors[static_cast<std::size_t>(f)].parity = 1;
  for (int d = 0; d < scales; ++d) factors.push_back(c.tensor("D", "eqrs"));
  c.p.statements = {{left, update::assign, {{-1, false, factors}}}};
  for (int other = 0; other < c.p.slot_count; ++other)
    if (other != left.slot) c.p.overlaps.push_back({left.slot, other, overlap::kind::disjoint});
  c.p.labels[0].extent = 60000000 / (n * n * n);  // what the planner sees; the memory stays small
  return make_plan(c.p, m, {}, h);
}

}  // namespace

TEST_CASE("the last step of a chain out of memory goes along the rows of what it reads and writes") {
  for (const int scales : {0, 1})
    for (int n : {5, 6}) {
      const plan p = to_points(n, scales);
      INFO(to_string(p, zen4()));
      REQUIRE(p.segments[0].steps.size() == 3);
      // Not along q alone, whose rows are a plane apart each.
      const plan_step& last = p.segments[0].steps.back();
      for (const step_axis& x : last.axes)
        if (x.role == group::m) CHECK(p.source.labels[static_cast<std::size_t>(x.label)].name != "q");
    }
}

TEST_CASE("the next block is asked for where it is large; what all blocks share does not count") {
  const auto asks = [](int n) { return to_points(n, 0).segments[0].steps.front().fetch_next; };
  CHECK_FALSE(asks(8));  // 9.9 KB, and 1.7 KB of A that stay in the first cache
  CHECK(asks(9));        // 13.8 KB
}

TEST_CASE("with registers of 32 bytes even and odd products have a register of elements side by side, others run as they lie") {
  const machine m = *named_machine("avx2");
  for (int n : {8, 9, 10}) {
    INFO(n);
    const plan halves = to_points(n, 0, true, {}, m), whole = to_points(n, 0, false, {}, m);
    CHECK(halves.segments[0].block == 4);
    CHECK(halves.notes.back().find("interleaved across the lanes") != std::string::npos);
    CHECK(whole.notes.back().find("interleaved") == std::string::npos);
  }
}

TEST_CASE("with registers of 32 bytes elements of whole rows are turned in blocks on their way into a chain") {
  const auto first_to_second = [](const machine& m) {
    const plan p = to_points(5, 0, false, {32, true}, m, dtype::f32);
    return p.segments[0].steps[0].seconds / p.segments[0].steps[1].seconds;
  };
  CHECK(first_to_second(*named_machine("avx2")) < 2);  // 3.9 if one number after the other was turned
}

TEST_CASE("products of halves ask for the next block of elements side by side alone") {
  const auto asks = [](int scales, hints h) {
    const plan p = to_points(7, scales, true, h);
    const auto& steps = p.segments[0].steps;
    const auto product = std::find_if(steps.begin(), steps.end(), [](const plan_step& s) { return s.how == method::halves; });
    REQUIRE(product != steps.end());
    return product->fetch_next;
  };
  const hints across{8, true}, as_they_lie{8, false};
  CHECK(asks(1, across));
  CHECK(asks(3, across));
  CHECK_FALSE(asks(1, as_they_lie));
}

TEST_CASE("lanes that several products want side by side are copied once, a conjugate for itself") {
  const auto copies = [](dtype type, bool conj, bool again) {
    case_builder c(type);
    c.label('e', 64), c.label('i', 3), c.label('j', 3);
    reference x = c.tensor("x", "ej");
    x.memory = 1;
    const reference left = c.tensor("C", "ei"), p = c.local("p", 0, "ei"), q = c.local("q", 1, "ei");
    c.p.statements = {{p, update::assign, {{-1, false, {c.tensor("A", "ij"), x}}}}, {left, update::assign, {{-1, false, {p}}}}};
    x.conj = conj, x.slot = c.p.slot_count++;
    if (again) c.p.statements.push_back({q, update::assign, {{-1, false, {c.tensor("B", "ij"), x}}}}), c.p.statements.push_back({left, update::add, {{-1, false, {q}}}});
    for (int other = 0; other < c.p.slot_count; ++other) c.p.overlaps.push_back({left.slot, other, overlap::kind::disjoint});
    const plan made = make_plan(c.p, zen4(), {}, {8, true});
    const auto& steps = made.segments[0].steps;
    return std::count_if(steps.begin(), steps.end(), [](const plan_step& s) { return s.op.b.name == "x" && s.op.a.where == operand::kind::one; });
  };
  CHECK(copies(dtype::f64, false, false) == 0);
  CHECK(copies(dtype::f64, false, true) == 1);
  CHECK(copies(dtype::c128, false, true) == 1);
  CHECK(copies(dtype::c128, true, true) == 0);  // each is packed by its product
}

TEST_CASE("what is only added meets a one as its first factor, whatever the caches") {
  machine m = avx2;
  m.isa = "portable", m.vector_bytes = 16, m.writes_kernels = false;
  m.peak_f64 = 19.6, m.peak_f32 = 39.1;
  for (const std::int64_t second : {256 << 10, 512 << 10, 2048 << 10})
    for (const dtype type : {dtype::f32, dtype::f64, dtype::c64, dtype::c128})
      for (const std::int64_t side : {5, 17, 40, 80}) {
        m.caches = {{32 << 10, 78}, {second, 39}, {32 << 20, 24}};
        case_builder c(type);
        c.label('i', side), c.label('j', side);
        const reference left = c.tensor("C", "");
        reference diagonal = c.tensor("A", "ij");
        diagonal.axes[0].stride = side * side + side;  // A(i,i,j)
        c.p.statements = {{left, update::assign, {{-1, false, {diagonal}}}}};
        c.p.overlaps.push_back({left.slot, 1, overlap::kind::disjoint});
        const plan made = make_plan(c.p, m, {}, {1, true});
        INFO(side << " a side, " << name_of(type) << ", second cache " << second);
        for (const plan_step& s : made.segments[0].steps) CHECK(s.op.b.where != operand::kind::one);
      }
}

TEST_CASE("sums of numbers that lie apart are read where they lie, also out of memory, where kernels are written") {
  const auto text_of = [](machine m, dtype type, std::int64_t batch, std::int64_t side) {
    case_builder c(type);
    c.label('b', batch), c.label('i', side);
    const reference left = c.tensor("C", "b");
    reference diagonal = left;
    diagonal.name = "A", diagonal.slot = c.p.slot_count++;
    diagonal.axes[0].stride = side * side, diagonal.axes.push_back({1, side + 1});
    c.p.statements = {{left, update::assign, {{-1, false, {diagonal}}}}};
    c.p.overlaps.push_back({left.slot, diagonal.slot, overlap::kind::disjoint});
    return to_string(make_plan(c.p, m, {}, {1, true}), m);
  };
  const auto apart = [](const std::string& text) { return text.find("read number by number") != std::string::npos && text.find("streamed") == std::string::npos; };
  for (const dtype type : {dtype::f32, dtype::f64, dtype::c64, dtype::c128}) {
    INFO(name_of(type));
    CHECK(apart(text_of(avx2, type, 1000, 4)));
    CHECK(apart(text_of(avx2, type, 8000000, 8)));
    CHECK(!apart(text_of(avx2, type, 1000, 40)));
    machine other = avx2;
    other.writes_kernels = false;
    CHECK(!apart(text_of(other, type, 1000, 4)));
  }
}

TEST_CASE("a pointwise step between products asks for its share of the tensors") {
  case_builder c(dtype::f64);
  c.label('e', 2), c.label('l', 8), c.label('i', 6), c.label('j', 6), c.label('q', 6), c.label('s', 6);
  reference D = c.tensor("D", "qi");
  D.parity = -1;
  const reference p = c.local("p", 0, "eisl"), x = c.local("x", 1, "eqsl"), y = c.local("y", 2, "eqsl");
  const auto read = [&](reference r, const char* labels) {
    for (std::size_t n = 0; n < r.axes.size(); ++n) r.axes[n].label = c.find(labels[n]);
    return r;
  };
  const reference G = c.tensor("G", "eqsl"), H = c.tensor("H", "eqsl"), left = c.tensor("C", "eisl");
  c.p.statements = {{p, update::assign, {{-1, false, {read(D, "sj"), c.tensor("u", "eijl")}}}},
                    {x, update::assign, {{-1, false, {read(D, "qi"), p}}}},
                    {y, update::assign, {{-1, false, {G, x}}, {-1, false, {H, x}}}},
                    {left, update::assign, {{-1, false, {read(D, "qi"), y}}}}};
  for (int other = 0; other < c.p.slot_count; ++other)
    if (other != left.slot) c.p.overlaps.push_back({left.slot, other, overlap::kind::disjoint});
  c.p.labels[0].extent = 50000;  // what the planner sees; the memory stays small
  const plan made = make_plan(c.p, zen4(), {}, {1, false});
  INFO(to_string(made, zen4()));
  const auto& steps = made.segments[0].steps;
  const auto joined = std::find_if(steps.begin(), steps.end(), [](const plan_step& s) { return s.op.before.at >= 0; });
  REQUIRE(joined != steps.end());
  CHECK(!joined->asks_for.empty());
  for (int slot : joined->asks_for) CHECK((slot == G.slot || slot == H.slot));
}

TEST_CASE("a product is not joined to a part of the sum that it reads") {
  case_builder c(dtype::f64);
  c.label('q', 7), c.label('s', 7), c.label('a', 7), c.label('e', 64);
  const reference h = c.local("h", 0, "qse");
  reference even = c.tensor("S", "qa");
  even.parity = 1;
  c.p.statements = {
      {h, update::assign, {{-1, false, {c.tensor("D", "qse"), c.tensor("t", "qse")}}, {-1, false, {c.tensor("F", "qse"), c.tensor("u", "qse")}}}},
      {c.tensor("v", "ase"), update::assign, {{-1, false, {even, c.local("h", 0, "qse")}}}}};
  c.p.overlaps.push_back({c.p.statements[1].left.slot, even.slot, overlap::kind::may});
  planning::work w = planning::make_work(c.p, {});  // each term of the sum is an operation
  w.may_overlap = false, w.shares = true;           // as in a stage of its own
  planning::choose_layouts(w, c.find('e'));
  planning::join_fibres(w, c.find('e'), zen4());
  for (const pair_op& op : w.ops) CHECK(op.after.at < 0);
}
