// The exact search: against stated optima, against brute force over all orders, and its rules.
#include <catch2/catch.hpp>

#include <random>

#include <ricci/core/error.hpp>

#include "networks.hpp"

using namespace ricci_test;

namespace {

// Cost of an order, worked out from the definition with sets of labels: flops, sum of sizes, largest.
struct plain_cost {
  double flops = 0, traffic = 0, largest = 0;
  auto key() const { return std::make_tuple(flops, traffic, largest); }
};

using label_set = std::vector<int>;

bool has(const label_set& set, int label) { return std::find(set.begin(), set.end(), label) != set.end(); }

plain_cost plain_step(const ricci::network& net, std::vector<label_set>& live, std::size_t a, std::size_t b) {
  const label_set left = live[a], right = live[b];
  live.erase(live.begin() + static_cast<std::ptrdiff_t>(std::max(a, b)));
  live.erase(live.begin() + static_cast<std::ptrdiff_t>(std::min(a, b)));
  label_set all = left, kept;
  for (int l : right) {
    if (!has(all, l)) all.push_back(l);
  }
  double involved = 1, size = 1;
  for (int l : all) {
    const double extent = static_cast<double>(net.extents[static_cast<std::size_t>(l)]);
    involved *= extent;
    const bool needed = has(net.result, l) || std::any_of(live.begin(), live.end(), [&](auto& s) { return has(s, l); });
    if (!needed) continue;
    kept.push_back(l);
    size *= extent;
  }
  live.push_back(kept);
  return {involved * (kept.size() < all.size() ? 2 : 1), size, size};
}

plain_cost plus(const plain_cost& a, const plain_cost& b) {
  return {a.flops + b.flops, a.traffic + b.traffic, std::max(a.largest, b.largest)};
}

plain_cost brute_force(const ricci::network& net, const std::vector<label_set>& live, const plain_cost& so_far = {}) {
  if (live.size() == 1) return so_far;
  plain_cost best{1e300, 0, 0};
  for (std::size_t a = 0; a < live.size(); ++a) {
    for (std::size_t b = a + 1; b < live.size(); ++b) {
      auto next = live;
      const auto step = plain_step(net, next, a, b);
      const auto c = brute_force(net, next, plus(so_far, step));
      if (c.key() < best.key()) best = c;
    }
  }
  return best;
}

plain_cost cost_of(const ricci::network& net, const ricci::path& p) {
  std::vector<label_set> live = net.factors;
  std::vector<int> position(net.factors.size());
  for (std::size_t i = 0; i < position.size(); ++i) position[i] = static_cast<int>(i);
  plain_cost total;
  int next = static_cast<int>(position.size());
  for (auto [l, r] : p.steps) {
    const auto a = std::find(position.begin(), position.end(), l), b = std::find(position.begin(), position.end(), r);
    REQUIRE(a != position.end());
    REQUIRE(b != position.end());
    const auto ia = static_cast<std::size_t>(a - position.begin()), ib = static_cast<std::size_t>(b - position.begin());
    position.erase(position.begin() + static_cast<std::ptrdiff_t>(std::max(ia, ib)));
    position.erase(position.begin() + static_cast<std::ptrdiff_t>(std::min(ia, ib)));
    position.push_back(next++);
    total = plus(total, plain_step(net, live, ia, ib));
  }
  REQUIRE(live.size() == 1);
  auto kept = live[0], wanted = net.result;
  std::sort(kept.begin(), kept.end());
  std::sort(wanted.begin(), wanted.end());
  REQUIRE(kept == wanted);
  return total;
}

ricci::network random_network(std::mt19937& random, int factors, int labels) {
  ricci::network net;
  net.factors.resize(static_cast<std::size_t>(factors));
  const auto pick = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  for (int l = 0; l < labels; ++l) {
    net.extents.push_back(1 + pick(5));
    bool used = false;
    for (auto& f : net.factors) {
      if (pick(factors) < 2) {
        f.push_back(l);
        used = true;
      }
    }
    if (used && pick(4) == 0) net.result.push_back(l);
  }
  return net;
}

}  // namespace

TEST_CASE("the exact search equals brute force in flops, traffic and largest intermediate") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const int factors = 2 + static_cast<int>(seed % 5);
    const auto net = random_network(random, factors, 1 + static_cast<int>(random() % 9));
    INFO("seed " << seed);
    const auto found = ricci::find_path(net);
    const auto cost = cost_of(net, found);
    const auto best = brute_force(net, net.factors);
    CHECK(found.flops == cost.flops);
    CHECK(found.largest == cost.largest);
    CHECK(ricci::path_flops(net, found.steps) == cost.flops);
    CHECK(cost.flops == best.flops);
    CHECK(cost.traffic == best.traffic);
    CHECK(cost.largest == best.largest);
  }
}

TEST_CASE("stated optimal costs are reached") {
  int checked = 0, equal = 0;
  for (const char* file : {"opt_einsum.json", "einsum_paths.json"}) {
    for (const auto& item : items_of(file)) {
      if (!item.contains("optimal_cost") || !item.contains("subscripts") || !item.contains("shapes")) continue;
      const auto subscripts = item["subscripts"].get<std::string>();
      if (subscripts.find("...") != std::string::npos) continue;
      const auto net = network_of(item);
      if (net.factors.size() < 2) continue;
      INFO(item["id"] << " " << subscripts);
      const double found = ricci::find_path(net).flops, stated = item["optimal_cost"];
      CHECK(found <= stated);
      // The source's search is not quite exhaustive; a cheaper order must be the true optimum.
      if (found < stated) CHECK(found == brute_force(net, net.factors).flops);
      equal += found == stated;
      ++checked;
    }
  }
  CHECK(checked >= 60);
  CHECK(equal >= checked - 7);
}

TEST_CASE("stated path costs are as stated and not beaten by more than exactness allows") {
  int checked = 0;
  for (const auto& item : items_of("einsum_paths.json")) {
    INFO(item["id"]);
    if (item.contains("dp_flops_cost")) {
      const auto net = network_of(item);
      CHECK(ricci::find_path(net).flops <= item["dp_flops_cost"].get<double>());
      CHECK(ricci::find_path(net).flops <= item["greedy_cost"].get<double>());
      ++checked;
    }
    if (item.contains("cost_of_source_paths")) {
      const auto net = network_of(item);
      for (const auto& [name, cost] : item["cost_of_source_paths"].items()) {
        const auto steps = steps_of_removals(static_cast<int>(net.factors.size()), item["source_paths"][name]);
        CHECK(ricci::path_flops(net, steps) == cost.get<double>());
        ++checked;
      }
    }
  }
  CHECK(checked >= 20);
}

TEST_CASE("a limit on intermediates is kept where it can be") {
  const auto item_list = items_of("einsum_paths.json");
  const auto item = std::find_if(item_list.begin(), item_list.end(),
                                 [](const json& i) { return i["id"] == "paths/dp_minimize/001"; });
  REQUIRE(item != item_list.end());
  const auto net = network_of(*item);
  const auto free = ricci::find_path(net);
  CHECK(free.flops == 663054);
  ricci::path_options options;
  options.largest = 2016;  // the least that the source's search for size reaches
  const auto tight = ricci::find_path(net, options);
  CHECK(tight.largest <= 2016);
  CHECK(tight.flops > free.flops);
  CHECK(tight.flops <= 973518);  // the cheapest order with that size that the source states
  options.largest = 1;           // cannot be kept
  CHECK(ricci::find_path(net, options).largest <= free.largest);
}

TEST_CASE("degenerate networks") {
  using ricci::find_path;
  CHECK(find_path({}).steps.empty());
  CHECK(find_path({}).flops == 0);
  CHECK(find_path({{{0, 1}}, {0}, {3, 4}}) == ricci::path{{}, 24, 3});
  CHECK(find_path({{{0, 1}}, {1, 0}, {3, 4}}) == ricci::path{{}, 12, 12});
  CHECK(find_path({{{}, {}, {}}, {}, {}}).flops == 2);
  CHECK(find_path({{{0}, {0}, {0}}, {0}, {0}}).flops == 0);                  // empty extent
  CHECK(find_path({{{0}, {1}}, {0, 1}, {2, 3}}) == ricci::path{{{0, 1}}, 6, 6});
  CHECK(find_path({{{0, 1}, {0}}, {}, {2, 3}}) == ricci::path{{{0, 1}}, 12, 1});
}

TEST_CASE("bad networks and paths are refused with the label named") {
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(ricci::find_path({{{0, 1}, {7}}, {}, {2, 3}}), Contains("label 7") && Contains("factor 1"));
  CHECK_THROWS_WITH(ricci::find_path({{{0, -1}}, {}, {2, 3}}), Contains("label -1"));
  CHECK_THROWS_WITH(ricci::find_path({{{0, 0}}, {}, {2}}), Contains("label 0") && Contains("twice"));
  CHECK_THROWS_WITH(ricci::find_path({{{0}}, {0, 0}, {2}}), Contains("the result") && Contains("twice"));
  CHECK_THROWS_WITH(ricci::find_path({{{0}}, {1}, {2, 2}}), Contains("label 1") && Contains("no factor"));
  CHECK_THROWS_WITH(ricci::find_path({{{0}}, {}, {-2}}), Contains("label 0") && Contains("-2"));
  const ricci::network three{{{0}, {0}, {0}}, {}, {2}};
  for (const std::vector<std::pair<int, int>>& steps :
       {std::vector<std::pair<int, int>>{{0, 1}}, {{0, 1}, {0, 2}}, {{0, 0}, {1, 2}}, {{0, 3}, {1, 2}},
        {{-1, 0}, {1, 2}}, {{0, 1}, {2, 3}, {0, 1}}}) {
    try {
      ricci::path_flops(three, steps);
      FAIL("accepted a bad path");
    } catch (const ricci::error& e) {
      CHECK(e.code() == ricci::errc::bad_argument);
    }
  }
}
