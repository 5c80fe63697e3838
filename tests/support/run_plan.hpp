// Runs plans that tests made for machines of their own; those of many steps may have stages.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "build_program.hpp"
#include "engine/bound.hpp"
#include "engine/chain.hpp"
#include "engine/tables.hpp"

namespace ricci::test {

/// The plan, or its stages one after the other with tensors between them. All are bound before the first runs: one may be refused.
inline void run_planned(const struct plan& p, case_builder& c, const options& o = {}) {
  std::vector<void*> pointers = c.pointers;
  std::vector<std::unique_ptr<char[]>> between;
  for (const std::int64_t bytes : p.between) {
    between.push_back(std::make_unique<char[]>(static_cast<std::size_t>(bytes) + 64));
    pointers.push_back(reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(between.back().get()) + 63) / 64 * 64));
  }
  const bindings b{pointers.data(), c.scalars.data()};
  std::vector<bound_plan> stages;
  if (p.stages.empty()) stages.push_back(bind(p, kernels::best(), o));
  for (const struct plan& stage : p.stages) stages.push_back(bind(stage, kernels::best(), o));
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const struct plan& stage = p.stages.empty() ? p : p.stages[i];
    read_tables tables;
    if (stages[i].scatters) tables.order = order_of(stage, stages[i], b);
    if (stages[i].has_blocks) tables.rows = rows_of(stage, stages[i], b);
    execute(stages[i], b, tables);
  }
}

}  // namespace ricci::test
