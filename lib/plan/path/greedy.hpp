// Orders of contraction pair by pair: always the pair that looks best now.
#pragma once

#include <limits>
#include <vector>

#include "plan/path/random.hpp"
#include "plan/path/tree.hpp"

namespace ricci::ordering {

/// What the searches for large networks read: sizes as logarithms (base 2), and who has which label.
struct graph {
  int factor_count = 0;
  std::vector<double> extent, weight;      // by label: the extent (1 for an empty one) and its log2
  std::vector<char> kept;                  // by label: in the result
  std::vector<std::vector<int>> labels;    // by factor: all its labels
  std::vector<std::vector<int>> holders;   // by label: the factors that have it
  double limit = std::numeric_limits<double>::infinity();  // log2 of the elements an intermediate may have
  int hub = 0;                             // labels in more factors than this say nothing about who is near whom

  graph(const network& net, double largest);
  bool lone(int label) const { return holders[label].size() == 1 && !kept[label]; }
};

struct greedy_options {
  enum class rule : char {
    growth,  // size of the result less alpha times the sizes of the two: what the memory grows by
    work,    // cheapest step first
  };
  rule by = rule::growth;
  double alpha = 1;
  double temperature = 0;  // of the noise on the (logarithmic) score; 0: none
};

/// Always gives a tree, of two or more factors.
binary_tree greedy_tree(const graph& g, const greedy_options& options, random_source& random);

}  // namespace ricci::ordering
