// Long sums with few results: cut into parts, which threads share. The parts depend on the problem and the caches alone,
// and their sums are added in order, so the bits do not depend on the number of threads.
#include <algorithm>

#include "plan/plan.hpp"

namespace ricci::planning {
namespace {

constexpr double least_bytes = 2 << 20;                           // of the factors: less is done before threads have begun
constexpr std::int64_t most_results = 1024, fewest = 8, most = 4096;  // parts: at least, at most

std::int64_t divide_up(std::int64_t x, std::int64_t y) { return (x + y - 1) / y; }

struct cut {
  int label = -1;
  std::int64_t part = 0, count = 0;
};

/// How the sum of an operation is cut; label -1: not at all.
cut cut_of(const pair_op& op, const std::vector<label_info>& labels, const machine& m) {
  if (op.what != action::contract || op.scale.where != operand::kind::one || m.caches.size() < 2) return {};
  const auto extent = [&](int l) { return labels[static_cast<std::size_t>(l)].extent; };
  double results = 1;  // elements
  for (int l : op.c.labels) results *= static_cast<double>(extent(l));
  // The summed label of the largest steps through the larger factor (of factors of about the same size, the longer of the two),
  // and the bytes of the factors for one value of it.
  cut out;
  double bytes = 0, larger = 0;
  for (const operand* x : {&op.a, &op.b}) {
    if (x->where == operand::kind::one) continue;
    if (x->strides.size() != x->labels.size()) return {};  // a temporary: made by the step before, so it is not that long
    double size = static_cast<double>(size_of(x->type));
    std::int64_t widest = 0;
    int label = -1;
    for (std::size_t d = 0; d < x->labels.size(); ++d) {
      const int l = x->labels[d];
      size *= static_cast<double>(extent(l));
      if (!has(op.c, l) && extent(l) > 1 && std::abs(x->strides[d]) > widest) widest = std::abs(x->strides[d]), label = l;
    }
    bytes += size;
    if (label < 0) continue;
    const bool alike = size < 1.5 * larger && larger < 1.5 * size;
    if (out.label < 0 || (alike ? extent(label) > extent(out.label) : size > larger)) out.label = label;
    larger = std::max(larger, size);
  }
  if (out.label < 0 || results > static_cast<double>(most_results) || bytes < least_bytes) return {};
  const std::int64_t length = extent(out.label);
  const double each = bytes / static_cast<double>(length);
  const auto near = static_cast<double>(m.caches[1].bytes) / 8;  // the second cache, with room for what is read ahead
  // Results of the parts are few beside what the parts read.
  const double wanted = std::max(near, 16.0 * results * static_cast<double>(size_of(compute_type(op.c.type))));
  out.part = std::max({std::int64_t{1}, static_cast<std::int64_t>(wanted / each), divide_up(length, most)});
  // Whole lines of a factor in which the values are neighbours, and whole vectors.
  for (const operand* x : {&op.a, &op.b})
    for (std::size_t d = 0; d < x->labels.size(); ++d)
      if (x->labels[d] == out.label && x->strides[d] == 1 && x->labels.size() > 1) out.part = std::max(out.part, 64 / static_cast<std::int64_t>(size_of(x->type)));
  if (out.part > 64) out.part = out.part / 64 * 64;
  out.count = divide_up(length, out.part);
  return out.count < fewest ? cut{} : out;
}

}  // namespace

void cut_sums(work& w, const machine& m) {
  std::vector<pair_op> ops;
  for (pair_op& op : w.ops) {
    const cut c = cut_of(op, w.source.labels, m);
    if (c.label < 0) {
      ops.push_back(std::move(op));
      continue;
    }
    const int parts = static_cast<int>(w.source.labels.size());
    w.source.labels.push_back({w.source.labels[static_cast<std::size_t>(c.label)].name + "'", c.count});
    temporary t;
    t.type = compute_type(op.c.type), t.labels = {parts}, t.why = "sums of parts";
    t.labels.insert(t.labels.end(), op.c.labels.begin(), op.c.labels.end());
    operand sums;
    sums.where = operand::kind::temporary, sums.id = static_cast<int>(w.temporaries.size()), sums.type = t.type;
    sums.name = "t" + std::to_string(sums.id), sums.labels = t.labels;
    w.temporaries.push_back(std::move(t));
    operand one;
    one.type = sums.type;
    pair_op last{one, sums, op.c, op.alpha, op.beta, op.statement};
    op.c = sums, op.alpha = {}, op.beta = {0, -1, {}};
    op.cut_label = c.label, op.parts_label = parts, op.part = c.part;
    ops.push_back(std::move(op));
    ops.push_back(std::move(last));
  }
  w.ops = std::move(ops);
}

}  // namespace ricci::planning
