// Networks of tensors on a machine of small caches: temporaries in orders of their own, results and copies that leave past the caches.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include "machine/machine.hpp"
#include "random_program.hpp"
#include "reduced.hpp"
#include "run_plan.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

constexpr double most_products = 5e5;  // the reference forms them one by one

/// Everything is far away and takes long.
machine small_machine() {
  machine m = this_machine();
  m.caches = {{1024, 200}, {4096, 100}, {8192, 50}};
  m.peak_f64 = m.peak_f32 = 0.05, m.memory_bandwidth = 10;
  return m;
}

double products_of(const struct program& p) {
  double n = 1;
  for (const label_info& l : p.labels) n *= static_cast<double>(l.extent);
  return n;
}

struct seen {
  int apart = 0, streamed = 0, pieces = 0, copies = 0;  // plans of several steps; steps that stream, with axes outside of a piece; copies that do

  void add(const struct plan& made) {
    REQUIRE((made.block_labels.empty() && made.stages.empty()));
    apart += made.segments[0].steps.size() > 1;
    for (const plan_step& s : made.segments[0].steps) {
      copies += s.stream_c && s.how == method::move;
      if (!s.stream_c || s.how != method::direct) continue;
      ++streamed;
      pieces += std::count_if(s.axes.begin(), s.axes.end(), [](const step_axis& x) { return x.role != group::k && x.tile == 1 && x.extent > 1; }) > 0;
    }
  }
};

void check(case_builder& c, const struct plan& made, const options& o, int factors, unsigned seed) {
  const statement& s = c.p.statements[0];
  const auto expected = evaluate(c.p, 0, c.bind());
  if (s.op == update::assign)
    for (std::int64_t i = 0; i < c.sizes[0]; ++i) put(c.type, c.pointers[0], i, {std::nan(""), std::nan("")});
  run_planned(made, c, o);
  INFO("seed " << seed << ", " << name_of(c.type) << "\n" << to_string(made, small_machine()));
  REQUIRE(error_in_bounds(c.p, 0, c.bind(), expected, factors) <= 1.0);
}

}  // namespace

TEST_CASE("networks of tensors") {
  seen all;
  for (unsigned seed = 1; seed <= seeds(400); ++seed) {
    dice d{std::mt19937(seed)};
    case_builder c(d(0, 1) ? dtype::f64 : static_cast<dtype>(d(0, 3)), seed);
    const int factors = d(3, 6);
    std::vector<std::string> labels(static_cast<std::size_t>(factors));
    std::string open;
    char next = 'a';
    const auto label = [&] { return c.label(next, d(2, 5)), next++; };
    for (int f = 1; f < factors; ++f) {  // a tree, then what makes loops
      const char l = label();
      labels[static_cast<std::size_t>(f)] += l, labels[static_cast<std::size_t>(d(0, f - 1))] += l;
    }
    for (int n = d(0, 3); n-- > 0;) {
      const int f = d(1, factors - 1);
      const char l = label();
      labels[static_cast<std::size_t>(f)] += l, labels[static_cast<std::size_t>(d(0, f - 1))] += l;
    }
    for (int n = d(0, 4); n-- > 0;) {
      const char l = label();
      labels[static_cast<std::size_t>(d(0, factors - 1))] += l, open += l;
    }
    if (products_of(c.p) > most_products) continue;
    statement s;
    s.left = c.tensor("C", open, shuffled(open, d));
    s.op = static_cast<update>(d(0, 2));
    product term{d(0, 2) ? -1 : c.scalar({1.5, -0.5}), d(0, 1) == 1, {}};
    for (const std::string& x : labels) term.factors.push_back(c.tensor("T", x, shuffled(x, d)));
    s.terms.push_back(term);
    c.p.statements.push_back(s);
    options o;
    o.threads = d(1, 2);
    const struct plan made = make_plan(c.p, small_machine(), o, {0, false});
    all.add(made);
    check(c, made, o, factors, seed);
  }
  CHECK(all.apart > int(seeds(400) / 4));
}

TEST_CASE("results of many labels leave in pieces") {
  seen all;
  for (unsigned seed = 1; seed <= seeds(400); ++seed) {
    dice d{std::mt19937(seed)};
    case_builder c(d(0, 1) ? dtype::f64 : static_cast<dtype>(d(0, 3)), seed);
    std::string rows, cols, sums;
    const auto add = [&](std::string& to, const std::string& from, int least, int most) {
      for (const char l : from.substr(0, static_cast<std::size_t>(d(1, 4)))) to += l, c.label(l, d(least, most));
    };
    add(rows, "abcg", 2, 6), add(cols, "defh", 2, 8), add(sums, "klmn", 2, 4);
    if (products_of(c.p) > most_products) continue;
    const bool powers = d(0, 1);  // lines that share sets, rows of whole lines
    if (powers)
      for (label_info& l : c.p.labels) l.extent = l.extent > 4 ? 8 : 4;
    if (products_of(c.p) > most_products) continue;
    statement s;
    s.left = c.tensor("C", rows + cols, shuffled(rows + cols, d));
    s.terms.push_back({-1, d(0, 1) == 1, {c.tensor("A", rows + sums, shuffled(rows + sums, d)), c.tensor("B", sums + cols, shuffled(sums + cols, d))}});
    c.p.statements.push_back(s);
    options o;
    o.threads = d(1, 2);
    const struct plan made = make_plan(c.p, small_machine(), o, {0, false});
    all.add(made);
    check(c, made, o, 2, seed);
  }
  CHECK(all.streamed > int(seeds(400) / 7));
  CHECK(all.pieces > int(seeds(400) / 14));
}

TEST_CASE("copies of large tensors leave past the caches") {
  seen all;
  for (unsigned seed = 1; seed <= seeds(300); ++seed) {
    dice d{std::mt19937(seed)};
    case_builder c(d(0, 1) ? dtype::f64 : static_cast<dtype>(d(0, 3)), seed);
    const std::string labels = std::string("abcde").substr(0, static_cast<std::size_t>(d(2, 5)));
    for (const char l : labels) c.label(l, d(0, 1) ? 8 * d(1, 4) : d(2, 9));
    if (products_of(c.p) > most_products) continue;
    statement s;
    s.left = c.tensor("C", labels, shuffled(labels, d));
    s.op = d(0, 3) ? update::assign : update::add;
    s.terms.push_back({-1, false, {c.tensor("A", labels, shuffled(labels, d))}});
    c.p.statements.push_back(s);
    options o;
    o.threads = d(1, 2);
    const struct plan made = make_plan(c.p, small_machine(), o, {0, false});
    all.add(made);
    check(c, made, o, 1, seed);
  }
  CHECK(all.copies > int(seeds(300) / 3));
}
