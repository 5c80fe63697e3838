// Copies through shared memory: what several threads read, or what lies so that neighbours would read far apart.
#include <algorithm>
#include <cstdlib>

#include "gpu/chain.hpp"

namespace ricci::cuda::chains {
namespace {

constexpr int most_lines = 8;                  // of memory that a warp may touch at a time
constexpr std::int64_t most_copied = 8192;     // elements

struct place {
  std::size_t op;
  operand what;
};

std::vector<int> inner_labels(const chain_plan& p, const operand& x) {
  std::vector<int> labels;
  for (const int l : x.labels)
    if (!contains(p.grid, l)) labels.push_back(l);
  return labels;
}

operand new_temporary(chain_plan& p, const operand& like) {
  operand t;
  t.where = operand::kind::temporary;
  t.id = static_cast<int>(p.temporaries.size());
  t.type = compute_type(like.type);
  t.name = "copy of " + like.name;
  t.labels = like.labels;
  t.strides.assign(t.labels.size(), 0);
  p.temporaries.push_back(t.labels);
  p.outside.push_back(0);
  return t;
}

chain_op copy_op(const chain_plan& p, const operand& from, const operand& to, const coefficient& beta, int statement) {
  chain_op x;
  x.op.b = from, x.op.c = to, x.op.beta = beta, x.op.statement = statement;
  x.op.a.type = to.type;
  x.labels = inner_labels(p, to);
  return x;
}

/// A factor that is read more than once, or by threads far apart.
bool needs_copy(const chain_plan& p, const chain_pass& pass, const chain_op& x, const operand& in) {
  if (x.op.what != action::contract || is_elementwise(x) || is_same(in, x.op.c)) return false;
  if (!is_in_memory(p, in) || !depends_on_element(p, in) || matrix_of(p, x, in) >= 0) return false;
  const std::vector<int> inner = inner_labels(p, in);
  if (inner.empty() || product_of(p, inner) > most_copied) return false;
  const bool shared = std::any_of(pass.fibre.begin(), pass.fibre.end(), [&](int l) { return !contains(in.labels, l); });
  return shared || lines_touched(p, pass, in, 32) > most_lines;
}

std::vector<place> reads_to_copy(const chain_plan& p) {
  std::vector<place> found;
  for (const chain_pass& pass : p.passes)
    for (const int n : pass.ops) {
      const chain_op& x = p.ops[static_cast<std::size_t>(n)];
      for (const operand* in : inputs_of(x.op))
        if (needs_copy(p, pass, x, *in)) found.push_back({static_cast<std::size_t>(n), *in});
    }
  return found;
}

std::vector<std::size_t> results_to_copy(const chain_plan& p) {
  std::vector<std::size_t> found;
  for (const chain_pass& pass : p.passes)
    for (const int n : pass.ops) {
      const chain_op& x = p.ops[static_cast<std::size_t>(n)];
      if (x.op.what != action::contract || is_elementwise(x) || x.line < 0 || !is_in_memory(p, x.op.c)) continue;
      if (std::abs(stride_of(x.op.c, x.line)) != 1 || x.labels.size() < 2 || product_of(p, x.labels) > most_copied) continue;
      if (lines_touched(p, pass, x.op.c, 32) > most_lines) found.push_back(static_cast<std::size_t>(n));
    }
  return found;
}

}  // namespace

void gather_sums(chain_plan& p) {
  std::vector<chain_op> out;
  for (std::size_t n = 0; n < p.ops.size();) {
    const operand target = p.ops[n].op.c;
    std::size_t end = n + 1;
    const auto continues = [&](const chain_op& x) {
      return x.op.what == action::contract && is_same(x.op.c, target) && x.op.c.labels == target.labels && x.op.beta == coefficient{1, -1, {}};
    };
    while (end < p.ops.size() && continues(p.ops[end])) ++end;
    if (end - n < 2 || p.ops[n].op.what != action::contract || !is_in_memory(p, target) || product_of(p, p.ops[n].labels) > most_copied) {
      out.push_back(p.ops[n++]);
      continue;
    }
    const operand t = new_temporary(p, target);
    const coefficient beta = p.ops[n].op.beta;
    const int statement = p.ops[n].op.statement;
    p.ops[n].op.beta = {0, -1, {}};
    for (; n < end; ++n) {
      out.push_back(p.ops[n]);
      out.back().op.c = t;
    }
    out.push_back(copy_op(p, t, target, beta, statement));
  }
  p.ops = std::move(out);
}

void add_copies(chain_plan& p) {
  make_passes(p);
  std::vector<place> reads = reads_to_copy(p);
  std::vector<std::size_t> results = results_to_copy(p);
  if (reads.empty() && results.empty()) return;
  std::vector<chain_op> out;
  std::vector<std::pair<operand, operand>> made;
  for (std::size_t n = 0; n < p.ops.size(); ++n) {
    chain_op x = p.ops[n];
    for (operand* in : {&x.op.a, &x.op.b}) {
      const bool wanted = std::any_of(reads.begin(), reads.end(), [&](const place& r) { return r.op == n && r.what == *in; });
      if (!wanted) continue;
      auto known = std::find_if(made.begin(), made.end(), [&](const auto& m) { return m.first == *in; });
      if (known == made.end()) {
        const operand t = new_temporary(p, *in);
        out.push_back(copy_op(p, *in, t, {0, -1, {}}, x.op.statement));
        known = made.insert(made.end(), {*in, t});
      }
      *in = known->second;
    }
    const bool aside = std::find(results.begin(), results.end(), n) != results.end();
    const operand target = x.op.c;
    const coefficient beta = x.op.beta;
    if (aside) x.op.c = new_temporary(p, target), x.op.beta = {0, -1, {}};
    const operand t = x.op.c;
    const int statement = x.op.statement;
    out.push_back(std::move(x));
    if (aside) out.push_back(copy_op(p, t, target, beta, statement));
    if (aside) made.clear();  // what was copied before may have been written since
  }
  p.ops = std::move(out);
  make_passes(p);
}

}  // namespace ricci::cuda::chains
