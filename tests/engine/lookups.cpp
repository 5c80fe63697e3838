// Gathers and scatter-adds alone: of every element type, along any axes, however tensors and tables lie, beside plain loops. Numbers are
// small integers, so that every sum is exact, and all memory of the left side is compared.
#include <catch2/catch.hpp>

#include <omp.h>

#include <algorithm>

#include "machine/machine.hpp"
#include "random_program.hpp"
#include "reduced.hpp"
#include "run_plan.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

/// A program of one statement that looks something up, and its table.
struct lookup_case {
  case_builder c;
  std::vector<std::int32_t> narrow;
  std::vector<std::int64_t> wide;
  std::vector<std::vector<char>> before;

  std::int64_t extent(int label) const { return c.p.labels[static_cast<std::size_t>(label)].extent; }

  /// The tensor over `labels` and, somewhere among them, an axis that a table over `table` looks up.
  reference looked_up(const std::string& name, const std::string& labels, const std::string& table, bool is_wide, bool every_index, dice& d) {
    std::string all = labels;
    all.insert(static_cast<std::size_t>(d(0, static_cast<int>(labels.size()))), "z");
    reference r = c.tensor(name, all, d.chance(40) ? shuffled(all, d) : all, d.chance(80) ? 1 : 2);
    lookup x;
    x.slot = c.p.slot_count++, x.wide = is_wide, x.name = "dof";
    const auto at = std::find_if(r.axes.begin(), r.axes.end(), [&](const reference_axis& a) { return a.label == c.find('z'); });
    x.stride = at->stride, x.extent = extent(at->label);
    r.axes.erase(at);
    const std::string order = d.chance(30) ? shuffled(table, d) : table;
    std::int64_t count = d.chance(80) ? 1 : 2;
    for (std::size_t k = order.size(); k-- > 0; count *= extent(c.find(order[k]))) x.axes.push_back({c.find(order[k]), count});
    for (std::int64_t n = 0; n < std::max<std::int64_t>(count, 1); ++n) {
      const int entry = every_index ? static_cast<int>((7 * n) % x.extent) : d(0, static_cast<int>(x.extent) - 1);
      narrow.push_back(entry), wide.push_back(entry);
    }
    c.pointers.push_back(is_wide ? static_cast<void*>(wide.data()) : narrow.data());
    c.sizes.push_back(0);
    r.lookups.push_back(x);
    return r;
  }

  std::int64_t place(const reference& r, const std::vector<std::int64_t>& at) const {
    std::int64_t offset = 0;
    for (const reference_axis& a : r.axes) offset += at[static_cast<std::size_t>(a.label)] * a.stride;
    for (const lookup& x : r.lookups) {
      std::int64_t entry = 0;
      for (const reference_axis& a : x.axes) entry += at[static_cast<std::size_t>(a.label)] * a.stride;
      offset += x.stride * wide[static_cast<std::size_t>(entry)];
    }
    return offset;
  }

  /// What the left side's memory holds afterwards, by plain loops over all labels but z.
  std::vector<std::complex<double>> expected() const {
    const statement& s = c.p.statements[0];
    const auto memory = [&](const reference& r, std::int64_t i) { return get(c.type, c.pointers[static_cast<std::size_t>(r.slot)], i); };
    std::vector<std::complex<double>> out;
    for (std::int64_t i = 0; i < c.sizes[static_cast<std::size_t>(s.left.slot)]; ++i) out.push_back(memory(s.left, i));
    std::vector<std::int64_t> at(c.p.labels.size(), 0);
    const int z = c.find('z');
    for (std::size_t l = 0; l < at.size(); ++l)
      if (static_cast<int>(l) != z && c.p.labels[l].extent == 0) return out;
    for (;;) {
      std::complex<double> sum = 0;
      for (const product& t : s.terms) {
        std::complex<double> x = memory(t.factors[0], place(t.factors[0], at));
        if (t.factors[0].conj) x = std::conj(x);
        if (t.scalar >= 0) x *= c.scalars[static_cast<std::size_t>(t.scalar)];
        sum += t.negate ? -x : x;
      }
      std::complex<double>& left = out[static_cast<std::size_t>(place(s.left, at))];
      if (s.op == update::assign) left = sum;
      else left += s.op == update::add ? sum : -sum;
      std::size_t l = at.size();
      for (; l-- > 0;) {
        if (static_cast<int>(l) == z) continue;
        if (++at[l] < c.p.labels[l].extent) break;
        at[l] = 0;
      }
      if (l == static_cast<std::size_t>(-1)) return out;
    }
  }
};

lookup_case random_case(unsigned seed, bool scatters, dice& d) {
  lookup_case x{case_builder(any_type(d), seed), {}, {}, {}};
  case_builder& c = x.c;
  const bool is_large = d.chance(15);
  std::string all;
  for (char l : std::string("abcd").substr(0, static_cast<std::size_t>(is_large ? d(1, 2) : d(1, 4))))
    c.label(l, d.chance(5) ? 0 : d.chance(10) ? 1 : d(1, is_large ? 90 : 6)), all += l;
  c.label('z', d(1, 9) * (is_large ? 20 : 1));
  x.narrow.reserve(40000), x.wide.reserve(40000);
  const std::string order = shuffled(all, d);
  const auto in_table = static_cast<std::size_t>(d(1, std::min(2, static_cast<int>(all.size()))));
  const std::string table = order.substr(0, in_table), rest = order.substr(in_table);
  const std::string twice = !scatters && d.chance(15) ? table.substr(0, 1) : "";  // a label of the table and of the tensor
  statement s;
  const bool is_wide = d.chance(40);
  if (scatters) s.left = x.looked_up("C", rest, table, is_wide, size_of(c.type) == 2, d);
  else s.left = c.tensor("C", all, d.chance(50) ? shuffled(all, d) : all, d.chance(80) ? 1 : 2);
  s.op = scatters || d.chance(50) ? (d.chance(50) ? update::add : update::subtract) : update::assign;
  product t;
  t.factors.push_back(scatters ? c.tensor("A", all, d.chance(50) ? shuffled(all, d) : all, d.chance(80) ? 1 : 2)
                               : x.looked_up("A", d.chance(20) ? "" : rest + twice, table, is_wide, false, d));
  t.factors[0].conj = d.chance(25);
  t.negate = d.chance(30);
  const int real = size_of(c.type) == 2 ? 1 - 2 * d(0, 1) : d(-3, 3);
  if (d.chance(40)) t.scalar = c.scalar({static_cast<double>(real), d.chance(50) ? 0.0 : 2.0});
  s.terms.push_back(t);
  if (!scatters && s.op == update::assign && d.chance(40)) {  // the left side once more
    product own;
    own.factors.push_back(s.left), own.factors[0].slot = c.p.slot_count++;
    if (d.chance(60)) own.scalar = c.scalar({2, d.chance(50) ? 0.0 : 1.0});
    c.pointers.push_back(c.pointers[static_cast<std::size_t>(s.left.slot)]), c.sizes.push_back(0);
    c.p.overlaps.push_back({s.left.slot, own.factors[0].slot, overlap::kind::same});
    s.terms.push_back(own);
  }
  c.p.statements.push_back(s);
  for (std::size_t slot = 0; slot < c.pointers.size(); ++slot)
    for (std::int64_t i = 0; i < c.sizes[slot]; ++i) put(c.type, c.pointers[slot], i, {static_cast<double>(d(-1, 1)), is_complex(c.type) ? d(-1, 1) : 0.0});
  return x;
}

bool is_alone(const struct plan& p) {
  return p.block_labels.empty() && p.segments.size() == 1 && p.segments[0].temporaries.empty() && p.segments[0].steps.size() == 1 &&
         (p.segments[0].steps[0].how == method::gather || p.segments[0].steps[0].how == method::scatter);
}

/// Whether every element of the left side's memory is what plain loops made of it.
bool is_as(const lookup_case& x, const std::vector<std::complex<double>>& expected) {
  bool same = true;
  for (std::size_t i = 0; i < expected.size(); ++i)
    same = same && get(x.c.type, x.c.pointers[static_cast<std::size_t>(x.c.p.statements[0].left.slot)], static_cast<std::int64_t>(i)) == expected[i];
  return same;
}

}  // namespace

TEST_CASE("a gather or a scatter-add alone is one step, and what plain loops make") {
  int alone = 0;
  const unsigned last = seeds(1500);
  for (unsigned seed = 1; seed <= last; ++seed) {
    dice d{std::mt19937(seed)};
    lookup_case x = random_case(seed, seed % 2 == 0, d);
    const auto expected = x.expected();
    options o;
    o.threads = d(1, 2);
    const struct plan made = make_plan(x.c.p, this_machine(), o);
    alone += is_alone(made);
    INFO("seed " << seed << ", " << name_of(x.c.type) << "\n" << to_string(x.c.p) << to_string(made, this_machine()));
    run(*compile(x.c.p, o, x.c.bind()), x.c.bind());
    REQUIRE(is_as(x, expected));
  }
  CHECK(alone > int(last * 2 / 3));
}

TEST_CASE("threads share gathers and scatter-adds, and every sum keeps its order") {
  const int before = omp_get_max_threads();
  omp_set_num_threads(4);
  const bool is_reduced = reduced_tests();
  for (const dtype type : {dtype::f32, dtype::f64, dtype::c128, dtype::bf16})
    for (const auto& [scatters, scaled] : {std::pair{false, false}, {true, false}, {false, true}, {true, true}})
      for (const auto& [rows, columns] : {std::pair{1000, 203}, {203, 1000}, {3, 60001}, {60001, 3}, {150000, 1}}) {
        if ((is_reduced && rows * columns > 190000) || (scaled && type == dtype::bf16)) continue;
        std::vector<std::vector<char>> results;
        for (const int threads : {1, 2, 3, 4}) {
          dice d{std::mt19937(3)};
          lookup_case x{case_builder(type, 5), {}, {}, {}};  // random fractions: an order shows
          x.c.label('a', rows), x.c.label('b', columns), x.c.label('z', std::max(2, rows / 3));
          x.narrow.reserve(static_cast<std::size_t>(2 * rows)), x.wide.reserve(static_cast<std::size_t>(2 * rows));
          statement s;
          if (scatters) s.left = x.looked_up("C", "b", "a", false, false, d);
          else s.left = x.c.tensor("C", "ab");
          if (scatters || scaled) s.op = update::add;
          s.terms.push_back({scaled ? x.c.scalar(0.3) : -1, false, {scatters ? x.c.tensor("A", "ab") : x.looked_up("A", "b", "a", false, false, d)}});
          x.c.p.statements.push_back(s);
          const std::int64_t size = x.c.sizes[static_cast<std::size_t>(s.left.slot)];
          void* const left = x.c.pointers[static_cast<std::size_t>(s.left.slot)];
          std::vector<char> expected(static_cast<std::size_t>(size) * size_of(type));
          std::memcpy(expected.data(), left, expected.size());
          std::vector<std::int64_t> at(3, 0);
          for (at[0] = 0; at[0] < rows; ++at[0])
            for (at[1] = 0; at[1] < columns; ++at[1]) {
              const std::int64_t to = x.place(s.left, at);
              const auto y = get(type, x.c.pointers[static_cast<std::size_t>(s.terms[0].factors[0].slot)], x.place(s.terms[0].factors[0], at));
              put(type, expected.data(), to, scatters ? get(type, expected.data(), to) + y : y);
            }
          options o;
          o.threads = threads;
          run(*compile(x.c.p, o, x.c.bind()), x.c.bind());
          const char* const bytes = static_cast<const char*>(left);
          results.emplace_back(bytes, bytes + expected.size());
          INFO(name_of(type) << (scaled ? " scaled" : "") << (scatters ? " scatter " : " gather ") << rows << " x " << columns << ", threads " << threads);
          if (!scaled) CHECK(results.back() == expected);
          CHECK(results.back() == results.front());
        }
      }
  omp_set_num_threads(before);
}

TEST_CASE("what may be written while it is read is set aside") {
  for (const bool scatters : {false, true}) {
    lookup_case x{case_builder(dtype::f64), {}, {}, {}};
    x.c.label('a', 40), x.c.label('z', 40);
    x.narrow.reserve(200), x.wide.reserve(200);
    dice d{std::mt19937(1)};
    statement s;
    if (scatters) s.left = x.looked_up("C", "", "a", false, false, d), s.op = update::add;
    else s.left = x.c.tensor("C", "a");
    reference other = scatters ? x.c.tensor("A", "a") : x.looked_up("A", "", "a", false, false, d);
    x.c.pointers[static_cast<std::size_t>(other.slot)] = x.c.pointers[static_cast<std::size_t>(s.left.slot)];
    if (scatters) other.axes[0].stride = s.left.lookups[0].stride;
    else other.lookups[0].stride = s.left.axes[0].stride;
    s.terms.push_back({-1, false, {other}});
    x.c.p.statements.push_back(s);
    x.c.p.overlaps.push_back({s.left.slot, other.slot, overlap::kind::may});
    CHECK_FALSE(is_alone(make_plan(x.c.p, this_machine())));
  }
}
