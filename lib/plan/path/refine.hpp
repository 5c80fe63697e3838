// Improving a tree piece by piece: subtrees of a few leaves are replaced by the best order of these leaves.
#pragma once

#include <chrono>
#include <vector>

#include "plan/path/exact.hpp"
#include "plan/path/greedy.hpp"

namespace ricci::ordering {

/// A tree with the labels, size and work of every node.
class weighed_tree {
 public:
  weighed_tree(const graph& g, binary_tree tree);

  /// False if the tree's label lists would fill the memory (a poor order of a huge network); nothing else may then be
  /// asked of it.
  bool complete() const { return complete_; }

  /// log2 of the flops of all steps; larger than any honest cost if a result is above the limit.
  double cost() const;
  const binary_tree& tree() const { return tree_; }
  const std::vector<double>& sizes() const { return size_; }  // log2 of the elements, by node

 private:
  friend class refiner;

  const graph* graph_;
  binary_tree tree_;
  std::vector<std::vector<int>> labels_;  // by node: those it still has
  std::vector<double> size_, work_;       // by node: log2 of elements, log2 of the flops of its step
  bool complete_ = true;
};

/// log2(sum of 2^logs[i])
double sum_of_logs(const std::vector<double>& logs);

/// Refines trees of one graph; keeps its scratch between calls.
class refiner {
 public:
  using clock = std::chrono::steady_clock;

  refiner(const graph& g, random_source& random, clock::time_point deadline);

  /// Goes over all subtrees of up to `leaves` leaves until that gains little, at most `sweeps` times.
  void refine(weighed_tree& t, int leaves, int sweeps);

 private:
  bool sweep(weighed_tree& t, int leaves, bool by_work);
  bool improve(weighed_tree& t, int top, int leaves, bool by_work);
  void pick_leaves(const weighed_tree& t, int top, int leaves, bool by_work);
  void pose(const weighed_tree& t, int top);
  void rebuild(weighed_tree& t, int top);
  void describe(weighed_tree& t, int node, std::uint32_t subset);

  const graph& graph_;
  random_source& random_;
  clock::time_point deadline_;
  subset_solver solver_;
  double negligible_ = 0;                        // log2 of flops that are not worth a look
  double scale_ = 1;                             // exponents are scaled where products would overflow
  std::vector<int> leaves_, inner_, touched_;    // inner_[0] is the top
  std::vector<std::uint32_t> mask_;              // by label: the leaves that have it
  std::vector<char> open_;                       // by label: the top has it
};

}  // namespace ricci::ordering
