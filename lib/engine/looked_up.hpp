// A gather or a scatter-add that is all of a plan: loops over a table and two tensors, which are read and written where they lie.
#pragma once

#include <memory>
#include <vector>

#include "engine/bound.hpp"

namespace ricci {

/// Steps in elements of the table, of the tensor that it looks up, and of the other one, which lies densely.
struct lookup_loop {
  std::int64_t extent = 1, table = 0, indexed = 0, dense = 0;
};

/// The two innermost loops: rows of `inner` one after the other, in pieces of so many elements, each for all of `outer` before the next.
struct lookup_strip {
  lookup_loop outer, inner;
  std::int64_t piece = 1;
  std::int64_t step = 1;  // elements of the looked-up tensor for each step of the index
};

class lookup_walk {
 public:
  /// Null if the step has more loops than there is room for.
  static std::shared_ptr<const lookup_walk> of(const plan_step& s, const kernels::kernel_set& kernels);

  /// Parts that threads may share: each element of the result is in one of them, with all that is added to it in one order.
  std::int64_t tasks() const { return tasks_; }
  void run(const step_run& r, std::int64_t first, std::int64_t last) const;

 private:
  static constexpr int most_loops = 16;

  lookup_walk(const plan_step& s, const kernels::kernel_set& kernels);
  void put_rows_inside(std::int64_t size);
  void share_loop(const plan_step& s);
  template <class T> void run_as(const step_run& r, const lookup_loop* loops) const;
  template <class T, class Apply> void walk(const step_run& r, const lookup_loop* loops, const Apply& apply) const;

  std::vector<lookup_loop> loops_;  // from the outermost; two or more
  std::int64_t piece_ = 0;          // of the last loop; 0: all of it
  std::int64_t step_;
  bool gathers_, wide_, conj_;
  int shared_ = -1;                 // the loop that is cut into tasks of so many iterations; -1: none
  std::int64_t each_ = 1, tasks_ = 1;
  kernels::found_fn in_rows_ = nullptr;  // for rows of neighbours in both tensors
};

}  // namespace ricci
