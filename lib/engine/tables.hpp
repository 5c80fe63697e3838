// What is read of index tensors when a plan is made.
#pragma once

#include <ricci/engine/engine.hpp>

#include "engine/bound.hpp"

namespace ricci {

/// Blocks in runs that may run at once, colour after colour. Empty: one thread takes all blocks in order.
struct task_order {
  struct run {
    std::int64_t first, last;
  };
  std::vector<std::vector<run>> colours;
};

/// Runs of blocks of one colour add to different elements. Depends on the plan and the tables alone.
task_order order_of(const plan& p, const bound_plan& bound, const bindings& b);

/// A table as the offsets of rows of neighbours, block after block.
struct row_table {
  kernels::rows_args shape;
  std::vector<std::int32_t> at;
  std::int64_t each = 0;  // offsets of one block
};

/// For every segment and step; null where a step looks nothing up or goes entry by entry.
using row_tables = std::vector<std::vector<std::shared_ptr<const row_table>>>;
row_tables rows_of(const plan& p, const bound_plan& bound, const bindings& b);

struct read_tables {
  task_order order;
  row_tables rows;
};

}  // namespace ricci
