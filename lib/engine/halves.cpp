// Even and odd products of a chain: their kernels, and the memory that these ask for on the way, to the second cache. Other
// steps read stored tensors in bursts and would wait for them; the products take long enough to hide it.
#include <algorithm>
#include <cstdlib>

#include "engine/other.hpp"

namespace ricci {
namespace {

/// What a segment reads from memory or writes there block by block, and nobody has asked for yet: a line must be here before
/// a part of it is written.
std::vector<place> stored(const bound_segment& s) {
  std::vector<place> out;
  std::vector<int> asked;
  const auto add = [&](const place& p) {
    const bool moves = p.where == operand::kind::external && p.blocks.size() == 1 && p.blocks[0] > 0;
    const bool known = contains(asked, p.slot) || std::any_of(out.begin(), out.end(), [&](const place& x) { return x.slot == p.slot; });
    if (moves && !known) out.push_back(p);
  };
  for (const bound_step& b : s.steps)
    if (b.other) asked.insert(asked.end(), b.other->asks_for.begin(), b.other->asks_for.end());
  for (const bound_step& b : s.steps) {
    if (!b.far || b.how == method::gather || b.how == method::scatter) continue;
    if (b.how == method::pointwise) {
      std::for_each(b.other->inputs.begin(), b.other->inputs.end(), add);
      std::for_each(b.other->outputs.begin(), b.other->outputs.end(), add);
    } else {
      add(b.a), add(b.b), add(b.c);
    }
  }
  return out;
}

void set_fetches(bound_segment& s, const std::vector<bound_step*>& products) {
  const std::vector<place> all = stored(s);
  if (all.empty()) return;
  // Every tensor is asked for by a run of neighbouring products, in equal parts.
  const std::size_t count = products.size(), tensors = std::min(all.size(), count);
  for (std::size_t t = 0; t < tensors; ++t) {
    const std::size_t first = count * t / tensors, last = count * (t + 1) / tensors;
    const std::int64_t bytes = all[t].blocks[0], pieces = static_cast<std::int64_t>(last - first);
    for (std::size_t n = first; n < last; ++n) {
      const auto piece = static_cast<std::int64_t>(n - first);
      bound_step& b = *products[n];
      b.fetch = all[t];
      b.fetch_first = bytes + bytes * piece / pieces / 64 * 64;  // of the next block
      b.fetch.slice = (bytes / pieces / b.slices + 63) / 64 * 64;
      b.fetch_bytes = b.slices == 1 ? bytes / pieces + 64 : b.fetch.slice;
    }
  }
}

}  // namespace

void generate_halves(bound_segment& s) {
  const codegen::target t = codegen::best_target();
  std::vector<bound_step*> products;
  for (bound_step& b : s.steps)
    if (b.how == method::halves) products.push_back(&b);
  const auto written_alone = [](const bound_step* b) { return !b->other->half; };
  if (t == codegen::target::none && std::any_of(products.begin(), products.end(), written_alone)) throw kernel_refused();
  if (products.empty() || t == codegen::target::none) return;
  if (products.front()->fetch_next) set_fetches(s, products);
  for (bound_step* b : products) {
    auto with = std::make_shared<other_step>(*b->other);
    with->written_half = codegen::make({b->type, with->halves, known_factor(b->beta), b->fetch_bytes, with->x_lane, with->y_lane}, t);
    if (!with->written_half && !with->half) throw kernel_refused();
    b->other = std::move(with);
  }
}

}  // namespace ricci
