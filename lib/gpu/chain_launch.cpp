// A chain's arguments and grid, and how it reads in a plan.
#include <algorithm>

#include "gpu/chain.hpp"
#include "gpu/code_info.hpp"
#include "gpu/compiler.hpp"

namespace ricci::cuda {

chain_args::chain_args(const chain_plan& p, int multiprocessors) {
  const std::int64_t groups = (p.count + p.config.elements - 1) / p.config.elements;
  const std::int64_t resident = std::int64_t{multiprocessors} * p.config.blocks;
  grid_ = std::min<std::int64_t>(p.config.turns > 0 ? (groups + p.config.turns - 1) / p.config.turns : std::min(groups, resident), 0x7fffffff);
  counts_[0] = p.count, counts_[1] = groups;
}

void settle(chain_plan& p, const gpu_machine& m) {
  const compiler_info& c = find_compiler();
  const bool exact = std::find(c.architectures.begin(), c.architectures.end(), m.architecture) != c.architectures.end();
  while (exact && p.config.blocks > 1) {
    const kernel_request r = request_of(p);
    if (read_code_info(machine_code(r.text, m.architecture), r.name).stack_bytes == 0) return;
    // The next number of blocks that leaves each thread eight registers more.
    const auto registers = [&](int blocks) { return m.registers / (p.config.threads * blocks) / 8; };
    const int before = registers(p.config.blocks);
    while (p.config.blocks > 1 && registers(p.config.blocks) == before) --p.config.blocks;
  }
}

void chain_args::add_counts() {
  if (is_empty()) add(nullptr);  // the kernel's array has one at least
  for (const std::int64_t x : counts_) add(x);
}

std::string to_string(const chain_plan& p) {
  const int stages = p.passes.empty() ? 0 : p.passes.back().stage + 1;
  return std::to_string(p.ops.size()) + " operations in " + std::to_string(p.passes.size()) + " passes and " + std::to_string(stages) + " stages, " +
         to_string(p.config);
}

}  // namespace ricci::cuda
