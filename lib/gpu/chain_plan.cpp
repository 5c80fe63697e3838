// From operations of the work to a chain: its elements, the order of its operations, copies, and what it costs.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "gpu/chain.hpp"

namespace ricci::cuda {

using namespace chains;

namespace {

constexpr std::size_t most_pointers = 200, most_scalars = 100;
constexpr double most_orders = 64;

std::vector<int> result_labels(const pair_op& op) { return op.what == action::scatter ? op.b.labels : op.c.labels; }

/// The element type of the tensors; temporaries hold what it is computed in.
dtype type_of(const chain_plan& p) {
  dtype found = p.ops.back().op.c.type;
  for (const chain_op& x : p.ops) {
    const bool looked_up = x.op.what == action::gather || x.op.what == action::scatter;
    for (const operand* in : inputs_of(x.op)) {
      if (in->where == operand::kind::external && !(looked_up && in == &x.op.a)) return in->type;
      if (compute_type(in->type) != in->type) found = in->type;  // what another kernel gathered is as narrow as it was
    }
    if (x.op.c.where == operand::kind::external) return x.op.c.type;
    if (x.op.what == action::gather) found = x.op.b.type;
  }
  return found;
}

/// Labels that every result has, outermost first by the first result in memory.
std::vector<int> common_labels(const planning::work& w, int first, int last) {
  std::vector<int> common = result_labels(w.ops[static_cast<std::size_t>(first)]);
  for (int n = first + 1; n < last; ++n) {
    const std::vector<int> here = result_labels(w.ops[static_cast<std::size_t>(n)]);
    std::erase_if(common, [&](int l) { return !contains(here, l); });
  }
  const operand* like = nullptr;
  for (int n = first; n < last; ++n) {
    const pair_op& op = w.ops[static_cast<std::size_t>(n)];
    const operand& x = op.what == action::scatter ? op.b : op.c;
    if (x.where == operand::kind::external || !like) like = &x;
  }
  std::stable_sort(common.begin(), common.end(), [&](int x, int y) { return std::abs(stride_of(*like, x)) > std::abs(stride_of(*like, y)); });
  return common;
}

/// A temporary's axis that tells elements apart does so wherever it stands.
void drop_crossed(const planning::work& w, int first, int last, std::vector<int>& common) {
  for (bool again = true; again;) {
    again = false;
    for (int n = first; n < last; ++n) {
      const pair_op& op = w.ops[static_cast<std::size_t>(n)];
      const auto look = [&](const operand& x) {
        if (x.where != operand::kind::temporary) return;
        const std::vector<int>& made = w.temporaries[static_cast<std::size_t>(x.id)].labels;
        for (std::size_t d = 0; d < made.size(); ++d) {
          if (made[d] == x.labels[d] || (!contains(common, made[d]) && !contains(common, x.labels[d]))) continue;
          std::erase(common, made[d]), std::erase(common, x.labels[d]);
          again = true;
        }
      };
      for (const operand* x : inputs_of(op)) look(*x);
      look(op.c);
    }
  }
}

std::vector<char> crossing(const planning::work& w, int first, int last) {
  std::vector<char> outside(w.temporaries.size(), 0);
  for (int n = 0; n < static_cast<int>(w.ops.size()); ++n) {
    if (n >= first && n < last) continue;
    const auto mark = [&](const operand& x) {
      if (x.where == operand::kind::temporary) outside[static_cast<std::size_t>(x.id)] = 1;
    };
    for (const operand* x : inputs_of(w.ops[static_cast<std::size_t>(n)])) mark(*x);
    mark(w.ops[static_cast<std::size_t>(n)].c);
  }
  return outside;
}

/// Bytes that must move: every tensor in memory once.
double bytes_of(const chain_plan& p) {
  double sum = 0;
  std::vector<operand> seen;
  const auto add = [&](const operand& x) {
    if (!is_in_memory(p, x)) return;
    for (const operand& y : seen)
      if (is_same(x, y) || (x.memory >= 0 && x.memory == y.memory && x.strides == y.strides)) return;
    seen.push_back(x);
    double bytes = static_cast<double>(size_of(x.type));
    for (std::size_t d = 0; d < x.labels.size(); ++d)
      if (x.strides[d] != 0) bytes *= static_cast<double>(p.extents[static_cast<std::size_t>(x.labels[d])]);
    sum += bytes;
  };
  for (const chain_op& x : p.ops) {
    for (const operand* in : inputs_of(x.op)) add(*in);
    seen.erase(std::remove_if(seen.begin(), seen.end(), [&](const operand& y) { return is_same(y, x.op.c); }), seen.end());
    add(x.op.c);
  }
  return sum;
}

double flops_of(const chain_plan& p, const chain_op& x) {
  const bool complex = is_complex(p.type);
  double each = complex ? 8 : 2;
  if (x.op.what == action::gather) each = 0;
  if (x.op.what == action::scatter) each = 1;
  if (x.op.what == action::contract && is_elementwise(x)) each = x.op.a.where == operand::kind::one ? 0 : complex ? 6 : 1;
  if (x.op.what == action::pointwise) {
    each = -1;
    for (const pointwise_term& t : x.op.terms) {
      each += 1 + static_cast<double>(t.factors.size());
      for (const auto& [input, f] : t.factors) each += f == function::identity ? 0 : 1;
    }
  }
  return each * static_cast<double>(p.count) * static_cast<double>(product_of(p, x.labels)) * static_cast<double>(product_of(p, x.sum));
}

/// A common label that a large tensor lacks stays inside, so that the tensor is read once.
void keep_reused_inside(const chain_plan& p, std::vector<int>& grid) {
  const double total = bytes_of(p);
  const std::vector<int> all = grid;
  for (const int l : all) {
    if (grid.size() == 1 || p.extents[static_cast<std::size_t>(l)] > 8) continue;
    for (const chain_op& x : p.ops)
      for (const operand* in : inputs_of(x.op)) {
        if (!is_in_memory(p, *in) || contains(in->labels, l) || !contains(grid, l)) continue;
        double bytes = static_cast<double>(size_of(in->type));
        for (const int m : in->labels) bytes *= static_cast<double>(p.extents[static_cast<std::size_t>(m)]);
        const bool moves = std::any_of(in->labels.begin(), in->labels.end(), [&](int m) { return m != l && contains(grid, m); });
        if (moves && bytes > 0.02 * total) std::erase(grid, l);
      }
  }
}

/// Neighbouring grid labels become one digit where every tensor's strides nest.
void find_digits(chain_plan& p) {
  p.digits.clear();
  p.count = 1;
  std::vector<const operand*> all;
  for (const chain_op& x : p.ops) {
    for (const operand* in : inputs_of(x.op))
      if (is_in_memory(p, *in)) all.push_back(in);
    if (is_in_memory(p, x.op.c)) all.push_back(&x.op.c);
  }
  for (std::size_t g = p.grid.size(); g-- > 0;) {
    const int l = p.grid[g];
    const std::int64_t extent = p.extents[static_cast<std::size_t>(l)];
    p.count *= extent;
    const bool nests = !p.digits.empty() && std::all_of(all.begin(), all.end(), [&](const operand* x) {
      return stride_of(*x, l) == stride_of(*x, p.digits.front().first) * p.digits.front().second;
    });
    if (nests) p.digits.front().second *= extent;
    else p.digits.insert(p.digits.begin(), {l, extent});
  }
}

void find_inner(chain_plan& p) {
  for (chain_op& x : p.ops) {
    x.labels.clear(), x.sum.clear();
    for (const int l : result_labels(x.op))
      if (!contains(p.grid, l)) x.labels.push_back(l);
    if (x.op.what != action::contract) continue;
    for (const operand* f : {&x.op.a, &x.op.b})
      for (const int l : f->labels)
        if (!contains(x.op.c.labels, l) && !contains(x.sum, l)) x.sum.push_back(l);
  }
}

/// Cycles of a multiprocessor for one element: shared memory and the first cache at 128 bytes each, barriers besides.
double estimate(const chain_plan& p) {
  double cycles = 0;
  int stages = 0;
  const auto size = static_cast<double>(size_of(compute_type(p.type)));
  for (const chain_pass& pass : p.passes) {
    stages = std::max(stages, pass.stage + 1);
    const auto fibres = static_cast<double>(product_of(p, pass.fibre));
    std::vector<const operand*> read;
    const auto access = [&](const operand& x, double words, double weight) {
      if (!is_in_memory(p, x)) return words * size / 128 * weight;
      const double ideal = std::max(1.0, 32 * static_cast<double>(size_of(x.type)) / 128);
      return words * static_cast<double>(size_of(x.type)) / 128 * std::max(1.0, lines_touched(p, pass, x, 32) / ideal) * weight;
    };
    for (const int n : pass.ops) {
      const chain_op& x = p.ops[static_cast<std::size_t>(n)];
      const double line = x.line < 0 ? 1 : static_cast<double>(p.extents[static_cast<std::size_t>(x.line)]);
      const auto sum = static_cast<double>(product_of(p, x.sum));
      double products = fibres * line * sum;
      for (const operand* in : inputs_of(x.op)) {
        const double words = fibres * sum * (contains(in->labels, x.line) ? line : 1);
        if (in_registers(p, pass, n, *in) >= 0) continue;
        if (const int m = matrix_of(p, x, *in); m >= 0) {
          if (p.matrices[static_cast<std::size_t>(m)].halves) products *= 0.5;
          continue;
        }
        const bool again = std::any_of(read.begin(), read.end(), [&](const operand* y) { return *y == *in; });
        if (!again) cycles += access(*in, words, 1), read.push_back(in);
      }
      if (x.stored) cycles += access(x.op.c, fibres * line, is_in_memory(p, x.op.c) ? 1.5 : 1);
      // Multiply-adds overlap with memory for the most part, and rows of matrices are read for two lines or so at a time.
      cycles += products * (is_complex(p.type) ? 4 : 1) / (size == 4 ? 128 : 64) * 0.5 + products * size / 16 / 32 / 2;
    }
  }
  return cycles + stages * 8.0;
}

/// Runs of products with one matrix after the other, whose order is free: positions in the list of operations.
std::vector<std::vector<int>> free_runs(const chain_plan& p) {
  std::vector<std::vector<int>> runs;
  const auto readers = [&](const operand& x) {
    std::vector<int> all;
    for (std::size_t m = 0; m < p.ops.size(); ++m)
      for (const operand* in : inputs_of(p.ops[m].op))
        if (is_same(*in, x)) all.push_back(static_cast<int>(m));
    return all;
  };
  const auto is_matrix_product = [&](const chain_op& x) {
    if (x.op.what != action::contract || x.sum.size() != 1 || reads_result(x.op.beta) || x.op.alpha != coefficient{1, -1, {}}) return false;
    const bool a = depends_on_element(p, x.op.a), b = depends_on_element(p, x.op.b);
    const operand &m = a ? x.op.b : x.op.a, &of = a ? x.op.a : x.op.b;
    // It takes the sum away and brings its other label: a label of both factors that stays would be no matrix's.
    return a != b && m.where == operand::kind::external && m.labels.size() == 2 && contains(m.labels, x.sum[0]) &&
           contains(of.labels, x.sum[0]) && !(contains(of.labels, m.labels[0]) && contains(of.labels, m.labels[1]));
  };
  std::vector<char> used(p.ops.size(), 0);
  for (std::size_t n = 0; n < p.ops.size(); ++n) {
    if (used[n] || !is_matrix_product(p.ops[n])) continue;
    std::vector<int> run{static_cast<int>(n)};
    for (;;) {
      const operand& c = p.ops[static_cast<std::size_t>(run.back())].op.c;
      if (c.where != operand::kind::temporary || is_in_memory(p, c)) break;
      const std::vector<int> next = readers(c);
      if (next.size() != 1 || p.ops[static_cast<std::size_t>(next[0])].op.what != action::contract) break;
      const chain_op& y = p.ops[static_cast<std::size_t>(next[0])];
      const operand& read = is_same(y.op.a, c) ? y.op.a : y.op.b;
      if (read.labels != c.labels) break;  // under others, or in another order
      // The last of a run may scale and add: it stays last.
      chain_op plain = y;
      plain.op.alpha = {1, -1, {}}, plain.op.beta = {0, -1, {}};
      if (!is_matrix_product(plain) || contains(p.ops[static_cast<std::size_t>(run.back())].labels, y.sum[0]) == false) break;
      if (contains(p.ops[n].sum, y.sum[0])) break;
      run.push_back(next[0]);
      if (!is_matrix_product(y)) break;
    }
    // Every matrix takes a label of the first operand away and brings one of the last result.
    for (const int m : run) used[static_cast<std::size_t>(m)] = 1;
    if (run.size() > 1) runs.push_back(run);
  }
  return runs;
}

/// The run with its matrices in another sequence; false if labels do not allow it.
bool permute(chain_plan& p, const std::vector<int>& run, const std::vector<int>& sequence) {
  std::vector<operand> matrices;
  std::vector<pair_op> ops;
  for (const int n : run) {
    const chain_op& x = p.ops[static_cast<std::size_t>(n)];
    matrices.push_back(depends_on_element(p, x.op.a) ? x.op.b : x.op.a);
    ops.push_back(x.op);
  }
  const pair_op& head = ops[0];
  operand x = depends_on_element(p, head.a) ? head.a : head.b;
  for (std::size_t s = 0; s < run.size(); ++s) {
    const operand& m = matrices[static_cast<std::size_t>(sequence[s])];
    int gone = -1, fresh = -1;
    for (const int l : m.labels) (contains(x.labels, l) ? gone : fresh) = l;
    if (gone < 0 || fresh < 0) return false;
    pair_op op = ops[s];
    op.a = m, op.b = x;
    if (s + 1 < run.size()) {
      op.c.labels = x.labels;
      std::replace(op.c.labels.begin(), op.c.labels.end(), gone, fresh);
      op.c.strides.assign(op.c.labels.size(), 0);
      p.temporaries[static_cast<std::size_t>(op.c.id)] = op.c.labels;
    }
    x = op.c;
    p.ops[static_cast<std::size_t>(run[s])].op = op;
  }
  return true;
}

/// Additions to one temporary, whose order is free: all over one sum.
std::vector<std::vector<int>> free_sums(const chain_plan& p) {
  std::vector<std::vector<int>> sums;
  for (std::size_t n = 0; n < p.ops.size(); ++n) {
    const chain_op& x = p.ops[n];
    if (x.op.what != action::contract || reads_result(x.op.beta)) continue;
    std::vector<int> all{static_cast<int>(n)};
    for (std::size_t m = n + 1; m < p.ops.size(); ++m) {
      const pair_op& y = p.ops[m].op;
      if (!is_same(y.c, x.op.c) || y.what != action::contract || y.beta != coefficient{1, -1, {}} || y.c.labels != x.op.c.labels) break;
      all.push_back(static_cast<int>(m));
    }
    if (all.size() > 1 && static_cast<std::size_t>(all.back() - all.front()) + 1 == all.size()) sums.push_back(all);
  }
  return sums;
}

void permute_sum(chain_plan& p, const std::vector<int>& sum, const std::vector<int>& sequence) {
  std::vector<pair_op> ops;
  for (const int n : sum) ops.push_back(p.ops[static_cast<std::size_t>(n)].op);
  for (std::size_t s = 0; s < sum.size(); ++s) {
    pair_op op = ops[static_cast<std::size_t>(sequence[s])];
    op.beta = ops[s].beta;
    p.ops[static_cast<std::size_t>(sum[s])].op = op;
  }
}

/// Tries orders of everything whose order is free, and keeps the one with the least work.
void choose_order(chain_plan& p) {
  const auto runs = free_runs(p), sums = free_sums(p);
  std::vector<std::vector<std::vector<int>>> choices;
  double orders = 1;
  for (const auto* group : {&runs, &sums})
    for (const auto& x : *group) {
      std::vector<int> sequence(x.size());
      std::iota(sequence.begin(), sequence.end(), 0);
      std::vector<std::vector<int>> all;
      do all.push_back(sequence);
      while (std::next_permutation(sequence.begin(), sequence.end()) && all.size() < 24);
      orders *= static_cast<double>(all.size());
      choices.push_back(std::move(all));
    }
  const chain_plan original = p;
  const auto made = [&](const std::vector<std::size_t>& pick) {
    chain_plan q = original;
    for (std::size_t c = 0; c < choices.size(); ++c) {
      const std::vector<int>& sequence = choices[c][pick[c]];
      if (c >= runs.size()) permute_sum(q, sums[c - runs.size()], sequence);
      else if (!permute(q, runs[c], sequence)) return std::optional<chain_plan>{};
    }
    find_inner(q);
    add_copies(q);
    q.work = estimate(q);
    return std::optional<chain_plan>(std::move(q));
  };
  std::vector<std::size_t> pick(choices.size(), 0);
  std::optional<chain_plan> best = made(pick);
  // All of them if they are few; else one group after the other, twice.
  if (orders <= most_orders * 4) {
    std::function<void(std::size_t)> visit = [&](std::size_t c) {
      if (c == choices.size()) {
        if (auto q = made(pick); q && q->work < best->work * 0.9999) best = std::move(q);
        return;
      }
      for (pick[c] = 0; pick[c] < choices[c].size(); ++pick[c]) visit(c + 1);
      pick[c] = 0;
    };
    visit(0);
  } else {
    for (int round = 0; round < 2; ++round)
      for (std::size_t c = 0; c < choices.size(); ++c) {
        std::size_t kept = pick[c];
        for (pick[c] = 0; pick[c] < choices[c].size(); ++pick[c])
          if (auto q = made(pick); q && q->work < best->work * 0.9999) best = std::move(q), kept = pick[c];
        pick[c] = kept;
      }
  }
  p = std::move(*best);
}

}  // namespace

std::optional<chain_plan> plan_chain(const planning::work& w, int first, int last, const gpu_machine& m) {
  chain_plan p;
  for (const label_info& l : w.source.labels) p.extents.push_back(l.extent);
  p.outside = crossing(w, first, last);
  for (const temporary& t : w.temporaries) p.temporaries.push_back(t.labels);
  for (int n = first; n < last; ++n) p.ops.push_back({w.ops[static_cast<std::size_t>(n)], {}, {}, -1, true});
  p.type = type_of(p);
  p.grid = common_labels(w, first, last);
  drop_crossed(w, first, last, p.grid);
  if (p.grid.empty() && last - first > 1) return std::nullopt;
  keep_reused_inside(p, p.grid);
  find_inner(p);
  if (pointers_of(p).size() > most_pointers || scalars_of(p).size() > most_scalars) return std::nullopt;
  p.bytes = bytes_of(p);
  find_digits(p);
  gather_sums(p);
  choose_order(p);
  for (const chain_op& x : p.ops) p.flops += flops_of(p, x);
  p.bound_seconds = std::max(p.bytes / (m.bandwidth * 1e9), p.flops / ((size_of(compute_type(p.type)) >= 8 && p.type != dtype::c64 ? m.peak_f64 : m.peak_f32) * 1e9));
  if (const auto known = measured_config(p, m)) {
    set_config(p, *known);
    if (p.shared_bytes <= m.shared_most) return p;
  }
  const std::vector<chain_config> candidates = chain_candidates(p, m);
  if (candidates.empty()) return std::nullopt;
  set_config(p, candidates[0]);
  return p;
}

}  // namespace ricci::cuda
