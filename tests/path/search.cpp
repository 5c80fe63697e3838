// The search beyond the exact limit: stated costs, structures with a known good order, and its rules.
#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <set>

#include "generators.hpp"
#include "networks.hpp"
#include "plan/path/bisect.hpp"
#include "plan/path/refine.hpp"
#include "plan/path/sweep.hpp"
#include "reduced.hpp"

using namespace ricci_test;
using ricci::find_path;
using ricci::network;
using ricci::path_flops;

namespace {

ricci::path_options patient(double seconds = 60) {
  ricci::path_options o;
  o.seconds = seconds;
  return o;
}

network network_of_numbers(const json& item, const char* sizes) {
  network net;
  net.factors = item.at("operands").get<std::vector<std::vector<int>>>();
  if (item.contains("output")) net.result = item["output"].get<std::vector<int>>();
  int labels = 0;
  for (const auto& f : net.factors) {
    for (int l : f) labels = std::max(labels, l + 1);
  }
  net.extents.assign(static_cast<std::size_t>(labels), 1);
  if (item.contains(sizes) && item[sizes].is_array()) {
    net.extents = item[sizes].get<std::vector<std::int64_t>>();
  } else if (item.contains(sizes)) {
    net.extents.assign(static_cast<std::size_t>(labels), item[sizes].at("all").get<std::int64_t>());
  } else {
    for (std::size_t f = 0; f < net.factors.size(); ++f) {
      for (std::size_t d = 0; d < net.factors[f].size(); ++d) {
        net.extents[static_cast<std::size_t>(net.factors[f][d])] = item.at("shapes").at(f).at(d);
      }
    }
  }
  return net;
}

json item_named(const std::string& file, const std::string& id) {
  for (auto& item : items_of(file)) {
    if (item.at("id") == id) return item;
  }
  throw std::runtime_error("no case " + id);
}

network random_network(unsigned seed, int factors, int labels) {
  std::mt19937 random(seed);
  network net;
  net.factors.resize(static_cast<std::size_t>(factors));
  for (int l = 0; l < labels; ++l) {
    net.extents.push_back(1 + below(random, 5));
    bool used = false;
    for (auto& f : net.factors) {
      if (below(random, factors) >= 2) continue;
      f.push_back(l);
      used = true;
    }
    if (used && below(random, 4) == 0) net.result.push_back(l);
  }
  return net;
}

}  // namespace

TEST_CASE("the search finds the optimum where the exact search can tell it") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const int factors = 4 + static_cast<int>(seed % 6);
    const auto net = random_network(seed, factors, 3 + static_cast<int>(seed % 11));
    INFO("seed " << seed);
    auto options = patient();
    options.exact_limit = 2;
    const auto best = find_path(net), found = find_path(net, options);
    CHECK(found.flops == Approx(best.flops).epsilon(1e-9));
    CHECK(path_flops(net, found.steps) == found.flops);
  }
}

TEST_CASE("networks with stated costs are planned at least as well") {
  int checked = 0;
  for (const auto& item : items_of("cotengra.json")) {
    if (!item.contains("opt_einsum_greedy")) continue;
    const auto net = network_of_numbers(item, "extents");
    INFO(item["id"] << " " << item["name"]);
    const auto found = find_path(net);
    CHECK(path_flops(net, found.steps) == found.flops);
    CHECK(std::log10(found.flops) <= item["opt_einsum_greedy"]["log10_cost"].get<double>() + 0.001);
    ++checked;
  }
  CHECK(checked == 7);
  for (const auto& item : items_of("random_contractions.json")) {
    if (!item.contains("path_from_source")) continue;
    const bool numbers = item.contains("operands");
    network net;
    if (numbers) {
      net = network_of_numbers(item, "sizes_by_index");
    } else {
      std::vector<std::vector<std::int64_t>> shapes;
      const auto text = item["subscripts"].get<std::string>();
      for (const auto& term : split(text.substr(0, text.find("->")), ',')) {
        auto& shape = shapes.emplace_back();
        for (char c : term) shape.push_back(item["sizes_by_label"].at(std::string(1, c)));
      }
      net = network_of(text, shapes);
    }
    INFO(item["id"] << " " << item["name"]);
    const auto stated =
        path_flops(net, steps_of_removals(static_cast<int>(net.factors.size()), item["path_from_source"]));
    const auto found = find_path(net, patient());
    CHECK(found.flops <= stated * 1.0001);
    ++checked;
  }
  CHECK(checked == 14);
}

TEST_CASE("the lattice with a stated optimum is solved") {
  const auto item = item_named("cotengra.json", "cotengra/lattice/001");
  const auto found = find_path(network_of(item), patient());
  // Every step of this lattice sums something: two flops for each of the stated multiplications.
  CHECK(found.flops == 2 * item["source_asserts"]["optimal_scalar_multiplications"].get<double>());
  const auto square = network_of_numbers(item_named("cotengra.json", "cotengra/lattice/003"), "none");
  CHECK(find_path(square, patient()).flops <= path_flops(square, sweep_steps(64)));
}

TEST_CASE("grids cost no more than the usual sweep") {
  const std::vector<std::array<int, 4>> grids{{12, 6, 1, 3}, {30, 4, 1, 4}, {5, 3, 3, 2}, {60, 2, 2, 2}};
  for (const auto& [nx, ny, nz, extent] : grids) {
    const auto net = grid(nx, ny, nz, extent);
    INFO(nx << " x " << ny << " x " << nz << ", extent " << extent);
    const auto found = find_path(net, patient());
    CHECK(found.flops <= path_flops(net, sweep_steps(static_cast<int>(net.factors.size()))));
  }
}

TEST_CASE("every kind of start gives an order, whatever the network") {
  const std::vector<network> nets{grid(7, 7, 1, 2), circuit(9, 12, 3), model_count(40, 160, 4),
                                  random_tree(70, true, 5), random_graph(60, 3, 6), random_graph(80, 1, 7),
                                  random_network(8, 30, 40)};
  for (std::size_t i = 0; i < nets.size(); ++i) {
    INFO("network " << i);
    const auto& net = nets[i];
    const ricci::ordering::graph g(net, INFINITY);
    ricci::ordering::random_source random(i);
    const auto deadline = ricci::ordering::refiner::clock::now() + std::chrono::minutes(5);
    ricci::ordering::refiner refiner(g, random, deadline);
    for (int kind = 0; kind < 5; ++kind) {
      using namespace ricci::ordering;
      INFO("kind " << kind);
      greedy_options noisy;
      noisy.temperature = 1;
      noisy.by = kind == 1 ? greedy_options::rule::work : greedy_options::rule::growth;
      weighed_tree t(g, kind < 2    ? greedy_tree(g, noisy, random)
                        : kind == 2 ? bisected_tree(g, {}, random)
                        : kind == 3 ? arranged_tree(g, {}, random)
                                    : swept_tree(g, 0.5, random));
      REQUIRE(t.complete());
      const double before = path_flops(net, steps_of(t.tree(), g.factor_count, t.sizes()));
      CHECK(t.cost() == Approx(std::log2(before)).epsilon(1e-9));
      refiner.refine(t, 7, 6);
      // The tree's own book-keeping must agree with the costs worked out afresh.
      const double after = path_flops(net, steps_of(t.tree(), g.factor_count, t.sizes()));
      CHECK(t.cost() == Approx(std::log2(after)).epsilon(1e-9));
      CHECK(after <= before);
    }
  }
}

TEST_CASE("large networks are planned within the time, better than greedily") {
  const int side = reduced_tests() ? 35 : 70, length = reduced_tests() ? 60 : 250, many = reduced_tests() ? 1200 : 5000;
  const std::vector<std::pair<const char*, network>> nets{
      {"grid", grid(side, side, 1, 2)},       {"long grid", grid(20, length, 1, 2)},
      {"circuit", circuit(20, length, 1)},    {"model count", model_count(many / 4, many, 1)},
      {"tree", random_tree(many, true, 1)},   {"random graph", random_graph(many, 2, 1)}};
  for (const auto& [name, net] : nets) {
    INFO(name);
    const auto found = find_path(net);  // default time
    const ricci::ordering::graph g(net, INFINITY);
    ricci::ordering::random_source random(0);
    const auto greedy = steps_of(ricci::ordering::greedy_tree(g, {}, random), g.factor_count, {});
    CHECK(found.steps.size() + 1 == net.factors.size());
    CHECK(path_flops(net, found.steps) == found.flops);
    CHECK(found.flops <= path_flops(net, greedy));
  }
  // No time at all still gives an order.
  CHECK(find_path(nets[0].second, patient(0)).steps.size() == static_cast<std::size_t>(side * side - 1));
}

TEST_CASE("the same seed gives the same path, on any day") {
  const auto net = circuit(10, 10, 2);
  auto options = patient();
  const auto first = find_path(net, options);
  CHECK(find_path(net, options) == first);
  options.seed = 1;
  CHECK(find_path(net, options).flops < 2 * first.flops);
}

TEST_CASE("a limit on intermediates steers the large search") {
  const auto net = grid(6, 6, 1, 4);
  const auto free = find_path(net, patient());
  auto options = patient();
  options.largest = free.largest / 4;
  const auto tight = find_path(net, options);
  CHECK(tight.largest <= free.largest);
  options.largest = free.largest;
  CHECK(find_path(net, options).largest <= free.largest);
  // One label of the result in a chain of large factors: without the limit the ends may meet first.
  const auto chain = random_tree(40, true, 3);
  options.largest = find_path(chain, patient()).largest;
  CHECK(find_path(chain, options).largest <= options.largest);
}

TEST_CASE("degenerate large networks") {
  const auto plan = [](const network& net) {
    const auto found = find_path(net, patient());
    CHECK(path_flops(net, found.steps) == found.flops);
    return found;
  };
  network scalars;
  scalars.factors.resize(40);
  CHECK(plan(scalars).flops == 39);

  network outer;  // nothing in common: the products must grow one by one, smallest first
  for (int f = 0; f < 12; ++f) {
    outer.factors.push_back({f});
    outer.result.push_back(f);
    outer.extents.push_back(2);
  }
  CHECK(plan(outer).flops <= 4 * 6 + 16 * 2 + 256 + 4096 + 256);

  network star;  // one label in all factors and the result, one of its own in each
  star.extents.push_back(3);
  star.result = {0};
  const int rays = reduced_tests() ? 100 : 400;
  for (int f = 1; f <= rays; ++f) {
    star.factors.push_back({0, f});
    star.extents.push_back(2);
  }
  // A factor can be summed only when it is first used: 3*2*2*2 for the first two, then 3*2*2 for one more.
  CHECK(plan(star).flops == 24 + (rays - 2) * 12);

  network ones;  // every pair of twenty factors shares a label of extent one
  ones.factors.resize(20);
  for (std::size_t a = 0; a < 20; ++a) {
    for (std::size_t b = a + 1; b < 20; ++b) {
      const int label = new_label(ones, 1);
      ones.factors[a].push_back(label);
      ones.factors[b].push_back(label);
    }
  }
  CHECK(plan(ones).flops <= 38);

  network empty = grid(5, 5, 1, 2);
  empty.extents[7] = 0;
  CHECK(plan(empty).steps.size() == 24);

  network same;  // the same labels everywhere
  same.extents = {5, 6};
  same.factors.assign(300, {0, 1});
  CHECK(plan(same).flops == 298 * 30 + 60);

  const auto chain = [] {  // ends open
    network net;
    new_label(net, 2);
    for (int f = 0; f < 300; ++f) net.factors.push_back({f, new_label(net, 2 + (f + 1) % 3)});
    net.result = {0, 300};
    return net;
  }();
  CHECK(plan(chain).steps.size() == 299);
}

TEST_CASE("hopeless networks are ordered without overflow of the order itself") {
  // Forty factors, every pair shares a label of extent 1000: no order fits any memory.
  network net;
  net.factors.resize(40);
  for (std::size_t a = 0; a < 40; ++a) {
    for (std::size_t b = a + 1; b < 40; ++b) {
      const int label = new_label(net, 1000);
      net.factors[a].push_back(label);
      net.factors[b].push_back(label);
    }
  }
  const auto found = find_path(net, patient(2));
  std::set<int> used;
  for (auto [a, b] : found.steps) {
    used.insert(a);
    used.insert(b);
  }
  CHECK(used.size() == 78);
  CHECK(std::isinf(found.flops));
}
