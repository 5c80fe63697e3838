// Configurations of chains that were measured: by bench_fem_cuda --tune 1 to 4 on an H200.
#include <string>

#include "gpu/chain.hpp"

namespace ricci::cuda {
namespace {

struct chain_entry {
  std::uint64_t signature;
  chain_config config;
};

constexpr chain_entry entries[] = {
    {0x5f4ca537449a268a, {32, 32, 2, 19, 1, 0, 8}},  // BK1, degree 1
    {0x2f98bfb48b8788ff, {16, 32, 2, 17, 1, 0, 1}},  // BK1, degree 2
    {0x57df7cfe5425adb8, {7, 32, 2, 15, 1, 0, 1, 0, 0, 2}},  // BK1, degree 3
    {0x228bfe7a98b41d45, {1, 32, 1, 21, 1, 0, 1, 0, 0, 2}},  // BK1, degree 4
    {0xd91241d08bab8706, {3, 64, 1, 10, 1, 0, 0, 0, 0, 2}},  // BK1, degree 5
    {0xb879b55692988afb, {1, 32, 2, 21, 1, 0, 1, 0, 0, 2}},  // BK1, degree 6
    {0xd9eeb06b012a6684, {1, 32, 2, 20, 1, 0, 1, 0, 0, 2}},  // BK1, degree 7
    {0xe970c75ebc2dc7dc, {2, 96, 1, 6, 1, 0, 1, 0, 0, 2}},  // BK1, degree 8
    {0xe394ec3f7e1695af, {1, 64, 1, 8, 1, 0, 1, 0, 0, 2, true}},  // BK1, degree 9
    {0x93a4496df314d284, {1, 64, 1, 6, 1, 0, 1, 0, 0, 2}},  // BK1, degree 10
    {0xf36b5e46cb0828ee, {7, 32, 2, 16, 1, 0, 8}},  // BK3, degree 1
    {0xb10c746c29915877, {2, 32, 1, 19, 0, 0, 8}},  // BK3, degree 2
    {0x48cd90176af781e4, {5, 64, 2, 6, 1, 0, 0, 0, 0, 2}},  // BK3, degree 3
    {0xca528c71367a74b5, {3, 64, 2, 4, 1, 0, 8, 2, 0, 2}},  // BK3, degree 4
    {0x1f332041ae1ed522, {1, 64, 1, 5, 1, 0, 8, 2, 0, 2}},  // BK3, degree 5
    {0xa3763bbfa7cd83fb, {1, 64, 1, 5, 1, 0, 4, 3, 0, 2}},  // BK3, degree 6
    {0x142a7b7b0542c168, {2, 96, 2, 4, 1, 0, 1, 0, 0, 0, true}},  // BK3, degree 7
    {0x4ad095d5ed56469c, {1, 128, 1, 4, 1, 0, 2, 0, 2}},  // BK3, degree 8
    {0x33b2bf4f1f17a3cb, {1, 128, 1, 4, 2, 0, 4, 0, 2}},  // BK3, degree 9
    {0xfebed1a3a6d15f12, {1, 160, 1, 3, 1, 0, 1, 0, 3}},  // BK3, degree 10
    {0xd05ea348b4fa72ae, {24, 32, 3, 16, 0, 4, 1}},  // BK5, degree 1
    {0x6f4da70f133e023f, {32, 96, 1, 9, 0, 0, 1}},  // BK5, degree 2
    {0x2967cb34c3d8a584, {6, 96, 1, 8, 0, 0, 1}},  // BK5, degree 3
    {0xb1078baf80b989ad, {5, 128, 1, 5, 0, 0, 8}},  // BK5, degree 4
    {0xd303dc2c7677774a, {5, 96, 2, 3, 0, 0, 1}},  // BK5, degree 5
    {0xeb9a946b6e3836db, {1, 32, 2, 12, 0, 0, 8}},  // BK5, degree 6
    {0x00c069a828482960, {1, 32, 2, 9, 0, 0, 1}},  // BK5, degree 7
    {0x0dc30dd31b6b7f99, {3, 128, 2, 3, 0, 0, 1}},  // BK5, degree 8
    {0x0872112869c64917, {1, 64, 1, 5, 0, 0, 1}},  // BK5, degree 9
    {0xb0fb96ec4abb14cc, {1, 128, 1, 4, 0, 0, 1}},  // BK5, degree 10
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
  for (const chain_pass& pass : p.joined) {
    add(pass.stage), add(pass.element_fastest), add_labels(pass.fibre);
    for (const int n : pass.ops) {
      const chain_op& x = p.ops[static_cast<std::size_t>(n)];
      add(static_cast<int>(x.op.what)), add(x.line < 0 ? 0 : p.extents[static_cast<std::size_t>(x.line)]), add(x.stored && !contains(p.split, n));
      add_labels(x.sum);
      for (const operand* in : chains::inputs_of(x.op)) {
        const int m = chains::matrix_of(p, x, *in);
        add(chains::is_in_memory(p, *in) + 2 * (m >= 0) + (m >= 0 && p.matrices[static_cast<std::size_t>(m)].may_halve ? 4 : 0));
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
