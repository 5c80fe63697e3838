// What an operation of a chain reads, over which labels, and what of that is near.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "gpu/chain.hpp"

namespace ricci::cuda::chains {

bool reads_result(const coefficient& beta) { return !is_zero(beta); }

bool is_in_memory(const chain_plan& p, const operand& x) {
  return x.where == operand::kind::external || (x.where == operand::kind::temporary && p.outside[static_cast<std::size_t>(x.id)]);
}

bool is_same(const operand& x, const operand& y) { return same_place(x, y) && x.where != operand::kind::one; }

bool is_same_memory(const operand& x, const operand& y) {
  return is_same(x, y) || (x.where == operand::kind::external && y.where == x.where && x.memory >= 0 && x.memory == y.memory && x.type == y.type);
}

std::vector<const operand*> inputs_of(const pair_op& op) {
  std::vector<const operand*> all;
  for (const operand* x : {&op.a, &op.b})
    if (x->where != operand::kind::one) all.push_back(x);
  for (const operand& x : op.inputs) all.push_back(&x);
  if (op.what != action::scatter && reads_result(op.beta)) all.push_back(&op.c);
  return all;
}

std::int64_t product_of(const chain_plan& p, const std::vector<int>& labels) {
  std::int64_t n = 1;
  for (const int l : labels) n *= p.extents[static_cast<std::size_t>(l)];
  return n;
}

std::vector<int> fibre_of(const chain_op& op) {
  std::vector<int> fibre;
  for (const int l : op.labels)
    if (l != op.line) fibre.push_back(l);
  std::sort(fibre.begin(), fibre.end());
  return fibre;
}

bool is_elementwise(const chain_op& op) { return op.sum.empty(); }

bool depends_on_element(const chain_plan& p, const operand& x) {
  return std::any_of(x.labels.begin(), x.labels.end(), [&](int l) { return contains(p.grid, l); });
}

int matrix_of(const chain_plan& p, const chain_op& op, const operand& x) {
  if (op.op.what != action::contract || is_elementwise(op)) return -1;
  for (std::size_t m = 0; m < p.matrices.size(); ++m) {
    const chain_matrix& y = p.matrices[m];
    if (y.may_halve && y.halves == op.tensor) continue;
    const bool same = is_same(x, y.source) || (x.memory >= 0 && x.memory == y.source.memory);
    if (!same || x.conj != y.source.conj || x.parity != y.source.parity) continue;
    // Equal labels in equal places: the rows and the line of this operation walk the matrix as they did when it was made.
    const int line = contains(x.labels, op.line) ? op.line : -1;
    std::vector<int> rows;
    for (const int l : op.sum)
      if (contains(x.labels, l)) rows.push_back(l);
    if ((line < 0) != (y.line < 0) || rows.size() != y.rows.size() || rows.size() + (line >= 0) != x.labels.size()) continue;
    const auto equal = [&](int l, int other) {
      return p.extents[static_cast<std::size_t>(l)] == p.extents[static_cast<std::size_t>(other)] && stride_of(x, l) == stride_of(y.source, other);
    };
    bool fits = line < 0 || equal(line, y.line);
    for (std::size_t d = 0; d < rows.size(); ++d) fits = fits && equal(rows[d], y.rows[d]);
    if (fits) return static_cast<int>(m);
  }
  return -1;
}

std::vector<int> kept_by(const chain_plan& p, const chain_pass& pass) {
  constexpr std::int64_t most_words = 192;  // of 4 bytes: with more, lines would spill
  const std::int64_t at_once = std::int64_t{p.config.threads} * pass.lines, turns = (product_of(p, pass.fibre) * p.config.elements + at_once - 1) / at_once;
  std::vector<int> all, again;
  for (const int n : pass.ops) {
    const chain_op& x = p.ops[static_cast<std::size_t>(n)];
    for (const operand* f : {&x.op.a, &x.op.b}) {
      const int m = matrix_of(p, x, *f), kept = m < 0 ? -1 : p.matrices[static_cast<std::size_t>(m)].kept;
      if (kept >= 0) (contains(all, kept) ? again : all).push_back(kept);
    }
  }
  if (p.config.keep > 1) return all;
  // What a thread reads once may as well stay where it is.
  if (turns == 1) std::erase_if(all, [&](int m) { return !contains(again, m); });
  const auto words = [&](int m) { return p.matrices[static_cast<std::size_t>(m)].count * p.matrices[static_cast<std::size_t>(m)].columns * static_cast<std::int64_t>(size_of(compute_type(p.type))) / 4; };
  std::stable_sort(all.begin(), all.end(), [&](int x, int y) { return words(x) > words(y); });
  std::int64_t sum = 0;
  std::erase_if(all, [&](int m) {
    const bool fits = sum + words(m) <= most_words;
    sum += fits ? words(m) : 0;
    return !fits;
  });
  return all;
}

int in_registers(const chain_plan& p, const chain_pass& pass, int op, const operand& x) {
  if (x.where != operand::kind::temporary || is_in_memory(p, x)) return -1;
  for (std::size_t n = pass.ops.size(); n-- > 0;) {
    if (pass.ops[n] >= op) continue;
    const chain_op& made = p.ops[static_cast<std::size_t>(pass.ops[n])];
    if (made.op.what == action::scatter || !is_same(made.op.c, x)) continue;
    for (std::size_t d = 0; d < x.labels.size(); ++d) {
      const int l = made.op.c.labels[d];
      const bool fixed = l != made.line;
      if (fixed ? x.labels[d] != l : contains(pass.fibre, x.labels[d])) return -1;
    }
    return pass.ops[n];
  }
  return -1;
}

int lines_touched(const chain_plan& p, const chain_pass& pass, const operand& x, std::int64_t elements) {
  const auto size = static_cast<std::int64_t>(size_of(x.type));
  const std::int64_t fibres = product_of(p, pass.fibre);
  const std::int64_t step = p.grid.empty() ? 0 : stride_of(x, p.grid.back());
  std::set<std::int64_t> lines;
  for (std::int64_t task = 0; task < std::min<std::int64_t>(32, fibres * elements); ++task) {
    std::int64_t f = pass.element_fastest ? task / elements : task % fibres;
    std::int64_t at = (pass.element_fastest ? task % elements : task / fibres) * step;
    for (std::size_t d = pass.fibre.size(); d-- > 0;) {
      const std::int64_t extent = p.extents[static_cast<std::size_t>(pass.fibre[d])];
      at += f % extent * stride_of(x, pass.fibre[d]);
      f /= extent;
    }
    lines.insert((at * size) >> 7);
  }
  return static_cast<int>(lines.size());
}

}  // namespace ricci::cuda::chains
