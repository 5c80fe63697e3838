// Random products planned for machines whose caches are tiny, so that results stream past them, operands are fetched
// ahead and chains run in small blocks; run here, against the long-double reference.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <random>

#include "machine/machine.hpp"
#include "reduced.hpp"
#include "run_plan.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

struct dice {
  std::mt19937 rng;
  int operator()(int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); }
};

machine tiny(dice& d) {
  machine m = this_machine();
  m.caches = {{1024, 200}, {2048, 100}, {4096, 50}};
  m.peak_f32 = 160, m.peak_f64 = 80, m.memory_bandwidth = 24;  // not what was measured here: the choice is to be the same
  m.asks.second = m.asks.third = m.asks.memory = d(0, 2) * 512;
  m.fetches_blocks = d(0, 1) != 0;
  return m;
}

/// v(e,i,j) = sum of a chain of factors that all have e; dense, with large e.
program chain(case_builder& c, dice& d) {
  c.label('e', d(40, 400));
  for (char l : std::string("ijkl")) c.label(l, d(2, 12));
  statement s;
  s.left = c.tensor("C", "eij", d(0, 3) ? "" : "eji", 1);
  s.op = d(0, 4) ? update::assign : update::add;
  product t;
  const int kind = d(0, 5);
  if (kind == 0) t.factors = {c.tensor("A", "eik", "", 1), c.tensor("B", "ekj", "", 1)};
  else if (kind == 1) t.factors = {c.tensor("A", "ik", "", 1), c.tensor("B", "ekj", "", 1)};
  else if (kind == 2) t.factors = {c.tensor("A", "ik", "", 1), c.tensor("B", "jl", "", 1), c.tensor("U", "ekl", "", 1)};
  else if (kind == 3) t.factors = {c.tensor("A", "ik", "", 1), c.tensor("U", "ekj", "", 1), c.tensor("D", "eij", "", 1)};
  else if (kind == 4) t.factors = {c.tensor("A", "eij", "", 1)};
  else t.factors = {c.tensor("A", "ik", "", 1), c.tensor("U", "ekj", "", 1)};
  s.terms.push_back(t);
  if (kind == 5) {  // the second product adds to what the first has just written
    t.factors = {c.tensor("W", "eik", "", 1), c.tensor("B", "kj", "", 1)};
    s.terms.push_back(t);
  }
  c.p.statements.push_back(s);
  return c.p;
}

bool streams(const struct plan& p) {
  if (std::any_of(p.stages.begin(), p.stages.end(), streams)) return true;
  for (const segment& g : p.segments)
    for (const plan_step& s : g.steps)
      if (s.stream_c) return true;
  return false;
}

/// Moves a tensor to where a line begins, or some bytes behind that; its memory has room for that.
void to_line(case_builder& c, std::size_t slot, std::size_t behind = 0) {
  auto* const at = static_cast<char*>(c.pointers[slot]);
  char* const line = at + (64 - reinterpret_cast<std::uintptr_t>(at) % 64) % 64 + behind;
  std::memmove(line, at, static_cast<std::size_t>(c.sizes[slot]) * size_of(c.type));
  c.pointers[slot] = line;
}

/// Whether a kernel of this plan itself stores this result past the caches.
bool writes_past(const struct plan& p, const case_builder& c) {
  if (!p.stages.empty()) return false;
  for (const bound_segment& g : bind(p, kernels::best(), {}).segments)
    for (const bound_step& s : g.steps)
      if (s.c.where == operand::kind::external && s.writes_past(static_cast<const char*>(c.pointers[static_cast<std::size_t>(s.c.slot)]))) return true;
  return false;
}

}  // namespace

TEST_CASE("results that stream past the caches, operands fetched ahead") {
  int streamed = 0, past = 0;
  for (unsigned seed = 1; seed <= seeds(300); ++seed) {
    dice d{std::mt19937(seed)};
    constexpr dtype types[] = {dtype::f32, dtype::f64, dtype::c64, dtype::c128};
    case_builder c(types[d(0, 3)], seed);
    const program p = chain(c, d);
    to_line(c, 0, d(0, 1) ? 0 : 16);
    const auto expected = evaluate(p, 0, c.bind());
    if (p.statements[0].op == update::assign)
      for (std::int64_t i = 0; i < c.sizes[0]; ++i) put(c.type, c.pointers[0], i, {std::nan(""), std::nan("")});
    const struct plan made = make_plan(p, tiny(d));
    streamed += streams(made), past += writes_past(made, c);
    run_planned(made, c);
    INFO("seed " << seed << ", " << name_of(c.type) << "\n" << to_string(made, this_machine()));
    REQUIRE(error_in_bounds(p, 0, c.bind(), expected, static_cast<int>(p.statements[0].terms[0].factors.size() * p.statements[0].terms.size())) <= 1.0);
  }
  CHECK(streamed > int(seeds(300) / 3));
  if (this_machine().writes_kernels && !reduced_tests()) CHECK(past > 0);
}

TEST_CASE("results whose rows are whole lines leave past the caches from kernels, wherever they begin") {
  int past = 0;
  for (const dtype t : {dtype::f32, dtype::f64, dtype::c64, dtype::c128})
    for (const std::int64_t n : {2, 4, 6, 8, 16, 24})
      for (const bool line : {true, false})
        for (const bool fused : {false, true}) {
          case_builder c(t, static_cast<unsigned>(n));
          c.label('e', 401), c.label('i', n), c.label('j', n), c.label('k', 2), c.label('l', 2);
          statement s;
          s.left = c.tensor("C", "eij");
          s.op = update::assign;
          s.terms.emplace_back().factors = fused ? std::vector{c.tensor("A", "ik"), c.tensor("B", "jl"), c.tensor("U", "ekl")} : std::vector{c.tensor("A", "eik"), c.tensor("B", "ekj")};
          c.p.statements.push_back(s);
          to_line(c, 0);
          if (!line) c.pointers[0] = static_cast<char*>(c.pointers[0]) + size_of(t);
          const auto expected = evaluate(c.p, 0, c.bind());
          dice d{std::mt19937(7)};
          const struct plan made = make_plan(c.p, tiny(d));
          run_planned(made, c);
          const bool direct = writes_past(made, c);
          past += direct;
          INFO(name_of(t) << ' ' << n << (line ? "" : " off a line") << '\n' << to_string(made, this_machine()));
          REQUIRE((line || !direct));
          REQUIRE(error_in_bounds(c.p, 0, c.bind(), expected, 3) <= 1.0);
        }
  if (this_machine().writes_kernels) CHECK(past >= 12);
}

TEST_CASE("large products in blocks of rows, columns and sums, with what is left over of each") {
  int blocked = 0, buffered = 0;
  for (unsigned seed = 1; seed <= seeds(250); ++seed) {
    dice d{std::mt19937(seed)};
    case_builder c(static_cast<dtype>(d(0, dtype_count - 1)), seed);
    const bool split = d(0, 2) == 0;  // two labels each for rows, columns and sums
    std::string rows = "a", cols = "c", sums = "k";
    c.label('a', d(8, split ? 12 : 70)), c.label('c', d(8, split ? 20 : 90)), c.label('k', d(8, split ? 12 : 60));
    if (split) c.label('b', d(2, 9)), c.label('d', d(2, 9)), c.label('l', d(2, 9)), rows = "ab", cols = "cd", sums = "kl";
    const std::string batch = d(0, 4) ? "" : "e";
    if (!batch.empty()) c.label('e', d(2, 3));
    const auto shuffled = [&](std::string x) { return std::shuffle(x.begin(), x.end(), d.rng), x; };
    statement s;
    s.left = c.tensor("C", batch + rows + cols, d(0, 1) ? batch + rows + cols : shuffled(batch + rows + cols), d(0, 3) ? 1 : 2);
    s.op = static_cast<update>(d(0, 2));
    reference x = c.tensor("A", batch + rows + sums, d(0, 1) ? batch + rows + sums : batch + sums + rows, 1);
    reference y = c.tensor("B", batch + sums + cols, d(0, 1) ? batch + sums + cols : shuffled(batch + cols + sums), 1);
    x.conj = d(0, 3) == 0, y.conj = d(0, 3) == 0;
    s.terms.push_back({d(0, 1) ? c.scalar({1.5, -0.5}) : -1, d(0, 1) == 1, {x, y}});
    c.p.statements.push_back(s);
    const auto expected = evaluate(c.p, 0, c.bind());
    if (s.op == update::assign)
      for (std::int64_t i = 0; i < c.sizes[0]; ++i) put(c.type, c.pointers[0], i, {std::nan(""), std::nan("")});
    options o;
    o.threads = d(1, 2);
    const struct plan made = make_plan(c.p, tiny(d), o);
    const bound_plan bound = bind(made, kernels::best(), o);
    for (const bound_segment& g : bound.segments)
      for (const bound_step& b : g.steps)
        if (b.how == method::blocked) ++blocked, buffered += b.blocked.lists.row_c.size() > 1 && split;
    execute(bound, c.bind(), {});
    INFO("seed " << seed << ", " << name_of(c.type) << "\n" << to_string(made, this_machine()));
    REQUIRE(error_in_bounds(c.p, 0, c.bind(), expected, 2) <= 1.0);
  }
  CHECK(blocked > int(seeds(250) / 8));  // 48 of 250 with AVX-512
  CHECK(buffered > int(seeds(250) / 25));
}

TEST_CASE("b is packed where each of its rows turns a page, rows of lanes begin at vectors") {
  int packed = 0;
  for (int type = 0; type < dtype_count; ++type)
    for (const std::int64_t lanes : {5, 6, 7, 8, 13, 15}) {
      case_builder c(static_cast<dtype>(type), static_cast<unsigned>(lanes));
      c.label('i', 24), c.label('m', 6), c.label('j', 16), c.label('n', lanes), c.label('k', 64);
      const int apart = c.label('q', 256 / static_cast<std::int64_t>(size_of(c.type)));  // rows of b are 4 KiB times the lanes apart
      statement s;
      s.left = c.tensor("C", "ijmn"), s.op = lanes % 2 ? update::subtract : update::assign;
      reference x = c.tensor("A", "ikm"), y = c.tensor("B", "kjqn");
      std::erase_if(y.axes, [&](const reference_axis& a) { return a.label == apart; });
      c.p.labels.pop_back();
      s.terms.push_back({-1, false, {x, y}});
      c.p.statements.push_back(s);
      const auto expected = evaluate(c.p, 0, c.bind());
      if (s.op == update::assign)
        for (std::int64_t i = 0; i < c.sizes[0]; ++i) put(c.type, c.pointers[0], i, {std::nan(""), std::nan("")});
      machine m = this_machine();
      m.fetches_blocks = false;
      const struct plan made = make_plan(c.p, m, {});
      for (const segment& g : made.segments)
        for (const plan_step& t : g.steps) packed += t.how == method::direct && t.lanes == kernels::lanes::n && t.pack_b && t.lane_label == 3;
      execute(bind(made, kernels::best(), {}), c.bind(), {});
      INFO(name_of(c.type) << "\n" << to_string(made, m));
      REQUIRE(error_in_bounds(c.p, 0, c.bind(), expected, 2) <= 1.0);
    }
  if (this_machine().writes_kernels) CHECK(packed >= 12);
}

TEST_CASE("a result that a later statement reads in the same block is whole by then") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    dice d{std::mt19937(seed)};
    case_builder c(dtype::f64, seed);
    c.label('e', d(40, 400));
    for (char l : std::string("ijk")) c.label(l, d(2, 12));
    const reference C = c.tensor("C", "eij"), again = c.tensor("C", "eij"), F = c.tensor("F", "eij"), D = c.tensor("D", "eij");
    c.pointers[static_cast<std::size_t>(again.slot)] = c.pointers[static_cast<std::size_t>(C.slot)];
    c.p.overlaps.push_back({C.slot, again.slot, overlap::kind::same});
    statement product_of, scaled;
    product_of.left = C, scaled.left = D;
    product_of.op = scaled.op = update::assign;
    product_of.terms.emplace_back().factors = {c.tensor("A", "eik"), c.tensor("B", "ekj")};
    scaled.terms.emplace_back().factors = {again, F};
    c.p.statements = {product_of, scaled};
    const auto expected = evaluate(c.p, 0, c.bind());
    run_planned(make_plan(c.p, tiny(d)), c);
    INFO("seed " << seed);
    REQUIRE(error_in_bounds(c.p, 0, c.bind(), expected, 2) <= 1.0);
    const auto at = [&](const reference& r, std::int64_t n) { return get(c.type, c.pointers[static_cast<std::size_t>(r.slot)], n); };
    for (std::int64_t n = 0; n < c.sizes[0]; ++n) REQUIRE(at(D, n).real() == at(C, n).real() * at(F, n).real());
  }
}

TEST_CASE("a streamed copy writes its bytes and no others") {
  const kernels::kernel_sets sets = kernels::available();
  for (int k = 0; k < sets.count; ++k)
    for (int offset = 0; offset < 80; offset += 7)
      for (int bytes : {0, 1, 8, 63, 64, 65, 127, 128, 200, 1000}) {
        std::vector<char> from(1200), to(1200, 'x');
        for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>('a' + i % 23);
        sets.first[k]->stream(from.data() + 3, to.data() + offset, bytes);
        INFO(sets.first[k]->isa << " offset " << offset << " bytes " << bytes);
        REQUIRE(std::memcmp(to.data() + offset, from.data() + 3, static_cast<std::size_t>(bytes)) == 0);
        REQUIRE(std::count(to.begin(), to.begin() + offset, 'x') == offset);
        REQUIRE(std::count(to.begin() + offset + bytes, to.end(), 'x') == 1200 - offset - bytes);
      }
}

TEST_CASE("pieces that follow each other are streamed without gaps") {
  const kernels::kernel_sets sets = kernels::available();
  const auto letter = [](std::int64_t n) { return static_cast<char>('a' + n % 23); };
  struct alignas(64) block {
    char bytes[64];
  };
  for (int k = 0; k < sets.count; ++k)
    for (unsigned seed = 1; seed <= 200; ++seed) {
      dice d{std::mt19937(seed)};
      // Pieces that leave in shares while the next is written, and larger ones that leave at once.
      const int piece = d.rng() % 8 == 0 ? d(6000, 6300) : d(1, 300), pieces = d(1, 9), offset = 64 + d(0, 63);
      std::vector<block> buffer(static_cast<std::size_t>(line_writer::needs(piece)) / sizeof(block));
      REQUIRE(line_writer::needs(piece) % 64 == 0);
      std::vector<char> to(static_cast<std::size_t>(64 + 64 + pieces * piece + 64), 'x');
      const int shares = d(1, 4);
      line_writer writer(sets.first[k]->stream, buffer[0].bytes, piece, shares);
      char* c = to.data() + offset;
      for (int i = 0; i < pieces; ++i, c += piece) {
        for (int s = d(0, shares); s < shares; ++s) writer.leave();
        for (int n = 0; n < piece; ++n) writer.place(c)[n] = letter(i * piece + n);
        for (int s = d(0, shares); s < shares; ++s) writer.leave();
        writer.store(c, piece);
      }
      writer.finish(c);
      INFO(sets.first[k]->isa << ", " << pieces << " pieces of " << piece << " bytes at " << offset);
      for (int n = 0; n < pieces * piece; ++n) REQUIRE(to[static_cast<std::size_t>(offset + n)] == letter(n));
      REQUIRE(std::count(to.begin(), to.end(), 'x') == static_cast<std::ptrdiff_t>(to.size()) - pieces * piece);
    }
}
