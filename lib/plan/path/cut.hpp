// One cut of a set of factors in two, by local moves.
#pragma once

#include <vector>

#include "plan/path/bisect.hpp"

namespace ricci::ordering {

/// Cuts sets of factors so that few and light labels are on both sides: a side grows from one factor, then single
/// factors change sides, best gain first, also through worse cuts (Fiduccia and Mattheyses). Keeps its scratch.
class cutter {
 public:
  cutter(const graph& g, random_source& random);

  /// Sorts `factors` (two or more) so that one side comes first; returns how many are on it.
  /// With ranks, factors outside that share a label pull: those of a lower rank to the first side, of a higher one
  /// to the second (all of `factors` have the same rank).
  int cut(std::vector<int>& factors, const bisect_options& options, const std::vector<int>* rank = nullptr);

 private:
  struct entry {
    double gain;
    int order, vertex, version;
    bool operator<(const entry& o) const { return gain != o.gain ? gain < o.gain : order < o.order; }
  };

  void load(const std::vector<int>& factors, const std::vector<int>* rank);
  void unload(const std::vector<int>& factors);
  void grow(int wanted);
  std::vector<int> walk_from(const std::vector<int>& starts) const;
  std::vector<int> pulled_to(int side) const;
  double weigh();
  bool improve(int least);
  void move(int vertex, bool queue);
  void raise(int vertex, double by, bool queue);
  int take(int least);

  const graph& graph_;
  random_source& random_;
  // The set as a graph of its own: vertices and nets (labels that two or more of its factors have).
  int count_ = 0;
  std::vector<int> local_;                    // by label: number of the net, -1
  std::vector<std::vector<int>> nets_, pins_; // by vertex: its nets; by net: its vertices
  std::vector<double> weight_;                // by net
  std::vector<char> pulls_[2];                // by net: factors outside are on that side
  std::vector<int> on_[2];                    // by net: how many of its vertices are on each side, and the outside
  std::vector<char> side_, locked_;           // by vertex
  std::vector<double> gain_;
  std::vector<int> version_;
  int size_[2] = {0, 0};
  std::vector<entry> heap_[2];
};

}  // namespace ricci::ordering
