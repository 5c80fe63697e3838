// Configurations of chains that were measured: by bench_fem_cuda --tune 1 on an H200.
#include <string>

#include "gpu/chain.hpp"

namespace ricci::cuda {
namespace {

struct chain_entry {
  std::uint64_t signature;
  chain_config config;
};

constexpr chain_entry entries[] = {
    {0, {}},
};

}  // namespace

/// What the speed depends on: passes, fibres, lines and sums; not where tensors are or how many elements there are.
std::uint64_t signature_of(const chain_plan& p) {
  std::string text = std::to_string(static_cast<int>(p.type));
  const auto add = [&](std::int64_t x) { text += ' ' + std::to_string(x); };
  const auto add_labels = [&](const std::vector<int>& labels) {
    for (const int l : labels) add(p.extents[static_cast<std::size_t>(l)]);
    text += ';';
  };
  for (const chain_pass& pass : p.passes) {
    add(pass.stage), add(pass.element_fastest), add_labels(pass.fibre);
    for (const int n : pass.ops) {
      const chain_op& x = p.ops[static_cast<std::size_t>(n)];
      add(static_cast<int>(x.op.what)), add(x.line < 0 ? 0 : p.extents[static_cast<std::size_t>(x.line)]), add(x.stored);
      add_labels(x.sum);
      for (const operand* in : chains::inputs_of(x.op)) {
        const int m = chains::matrix_of(p, x, *in);
        add(chains::is_in_memory(p, *in) + 2 * (m >= 0) + (m >= 0 && p.matrices[static_cast<std::size_t>(m)].halves ? 4 : 0));
      }
    }
  }
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::optional<chain_config> measured_config(const chain_plan& p, const gpu_machine& m) {
  if (m.architecture != described_h200().architecture) return std::nullopt;
  const std::uint64_t signature = signature_of(p);
  for (const chain_entry& e : entries)
    if (e.signature == signature) return e.config;
  return std::nullopt;
}

}  // namespace ricci::cuda
