// Networks of the kinds that applications have, made from a seed.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include <ricci/plan/path.hpp>

namespace ricci_test {

inline int below(std::mt19937& random, int bound) {
  return static_cast<int>(random() % static_cast<unsigned>(bound));
}

inline int new_label(ricci::network& net, std::int64_t extent) {
  net.extents.push_back(extent);
  return static_cast<int>(net.extents.size()) - 1;
}

/// Factors at the points of a grid, a label along every edge; factor number (x * ny + y) * nz + z.
inline ricci::network grid(int nx, int ny, int nz, std::int64_t extent) {
  ricci::network net;
  net.factors.resize(static_cast<std::size_t>(nx) * static_cast<std::size_t>(ny) * static_cast<std::size_t>(nz));
  const auto at = [&](int x, int y, int z) -> std::vector<int>& {
    return net.factors[static_cast<std::size_t>((x * ny + y) * nz + z)];
  };
  const auto link = [&](std::vector<int>& a, std::vector<int>& b) {
    const int label = new_label(net, extent);
    a.push_back(label);
    b.push_back(label);
  };
  for (int x = 0; x < nx; ++x) {
    for (int y = 0; y < ny; ++y) {
      for (int z = 0; z < nz; ++z) {
        if (x + 1 < nx) link(at(x, y, z), at(x + 1, y, z));
        if (y + 1 < ny) link(at(x, y, z), at(x, y + 1, z));
        if (z + 1 < nz) link(at(x, y, z), at(x, y, z + 1));
      }
    }
  }
  return net;
}

/// One product that grows by the factors in their order: the usual sweep of a grid.
inline std::vector<std::pair<int, int>> sweep_steps(int factors) {
  std::vector<std::pair<int, int>> steps;
  for (int f = 1; f < factors; ++f) steps.emplace_back(f == 1 ? 0 : factors + f - 2, f);
  return steps;
}

/// Layers of two-wire gates on neighbouring wires in a random brick pattern with one-wire gates between, closed by
/// vectors: an amplitude of a quantum circuit.
inline ricci::network circuit(int wires, int layers, unsigned seed) {
  std::mt19937 random(seed);
  ricci::network net;
  std::vector<int> wire;
  for (int w = 0; w < wires; ++w) {
    wire.push_back(new_label(net, 2));
    net.factors.push_back({wire.back()});
  }
  const auto advance = [&](int w) {
    const int old = wire[static_cast<std::size_t>(w)];
    const int now = wire[static_cast<std::size_t>(w)] = new_label(net, 2);
    net.factors.back().push_back(old);
    net.factors.back().push_back(now);
  };
  for (int layer = 0; layer < layers; ++layer) {
    for (int w = layer % 2; w + 1 < wires; w += 2) {
      if (below(random, 4) == 0) continue;
      net.factors.emplace_back();
      advance(w);
      advance(w + 1);
    }
    for (int w = 0; w < wires; ++w) {
      if (below(random, 2) == 0) continue;
      net.factors.emplace_back();
      advance(w);
    }
  }
  for (int label : wire) net.factors.push_back({label});
  return net;
}

/// Clauses over variables: a factor for each clause, a label for each variable, which is in all its clauses. Clauses
/// take variables near each other; one variable in fifty is in many clauses everywhere.
inline ricci::network model_count(int variables, int clauses, unsigned seed) {
  std::mt19937 random(seed);
  ricci::network net;
  for (int v = 0; v < variables; ++v) new_label(net, 2);
  for (int c = 0; c < clauses; ++c) {
    std::vector<int> clause;
    const int near = below(random, variables), width = 2 + below(random, 2);
    for (int i = 0; i < width; ++i) {
      int v = below(random, 20) == 0 ? below(random, std::max(variables / 50, 1)) * 50 : near + below(random, 7);
      v = std::min(v, variables - 1);
      if (std::find(clause.begin(), clause.end(), v) == clause.end()) clause.push_back(v);
    }
    net.factors.push_back(clause);
  }
  return net;
}

/// A tree of factors with random extents; every tenth factor has a label of its own in the result if `open`.
inline ricci::network random_tree(int factors, bool open, unsigned seed) {
  std::mt19937 random(seed);
  ricci::network net;
  net.factors.resize(static_cast<std::size_t>(factors));
  for (int f = 1; f < factors; ++f) {
    const int label = new_label(net, 2 + below(random, 5));
    net.factors[static_cast<std::size_t>(f)].push_back(label);
    net.factors[static_cast<std::size_t>(below(random, f))].push_back(label);
  }
  for (int f = 0; open && f < factors; f += factors / 5) {
    net.result.push_back(new_label(net, 2));
    net.factors[static_cast<std::size_t>(f)].push_back(net.result.back());
  }
  return net;
}

/// Every factor has `degree` labels on average, each shared with a random other factor.
inline ricci::network random_graph(int factors, int degree, unsigned seed) {
  std::mt19937 random(seed);
  ricci::network net;
  net.factors.resize(static_cast<std::size_t>(factors));
  for (int e = 0; e < factors * degree / 2; ++e) {
    const int a = below(random, factors), b = below(random, factors);
    const int label = new_label(net, 2 + below(random, 2));
    net.factors[static_cast<std::size_t>(a)].push_back(label);
    if (a != b) net.factors[static_cast<std::size_t>(b)].push_back(label);
  }
  return net;
}

}  // namespace ricci_test
