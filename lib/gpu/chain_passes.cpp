// Which lines a thread owns in each operation, and which operations share a pass.
#include <algorithm>
#include <cmath>

#include "gpu/chain.hpp"

namespace ricci::cuda::chains {
namespace {

/// Registers for the values of a line; longer labels are no lines.
std::int64_t longest_line(dtype t) { return size_of(compute_type(t)) == 16 ? 12 : size_of(compute_type(t)) == 8 ? 20 : 32; }

class pass_maker {
 public:
  explicit pass_maker(chain_plan& p) : p_(p) {}

  bool run() {
    p_.passes.clear(), p_.buffers.clear(), p_.matrices.clear();
    pass_of_.assign(p_.ops.size(), -1);
    for (chain_op& x : p_.ops)
      if (!is_elementwise(x) && x.op.what == action::contract) x.line = line_of_sum(x);
      else x.line = -1;
    for (std::size_t n = 0; n < p_.ops.size(); ++n)
      if (is_elementwise(p_.ops[n])) p_.ops[n].line = line_of_elements(n);
    delay();
    for (std::size_t n = 0; n < p_.ops.size(); ++n) place(static_cast<int>(n));
    std::vector<chain_pass> sorted = p_.passes;
    std::stable_sort(sorted.begin(), sorted.end(), [](const chain_pass& x, const chain_pass& y) { return x.stage < y.stage; });
    p_.passes = std::move(sorted);
    for (chain_pass& pass : p_.passes) order_fibre(pass);
    find_stored();
    find_matrices();
    return true;
  }

 private:
  std::int64_t extent(int l) const { return p_.extents[static_cast<std::size_t>(l)]; }

  /// What only one factor has: the other is read once for all of it.
  int line_of_sum(const chain_op& x) const {
    int best = -1;
    double most = 0;
    for (const int l : x.labels) {
      const bool in_a = contains(x.op.a.labels, l), in_b = contains(x.op.b.labels, l);
      if (extent(l) > longest_line(p_.type) || in_a == in_b) continue;
      const operand& own = in_a ? x.op.a : x.op.b;
      const double worth = static_cast<double>(extent(l)) * (depends_on_element(p_, own) ? 1 : 100);
      if (worth > most) most = worth, best = l;
    }
    return best;
  }

  /// A line along which neighbours in the program have it too, and not the one that lies side by side in memory.
  int line_of_elements(std::size_t n) const {
    const chain_op& x = p_.ops[n];
    int best = -1;
    double most = -0.5;
    for (const int l : x.labels) {
      if (extent(l) > longest_line(p_.type)) continue;
      chain_op with = x;
      with.line = l;
      const double worth = score(with, n);
      if (worth > most) most = worth, best = l;
    }
    return best;
  }

  double score(const chain_op& x, std::size_t n) const {
    const std::vector<int> fibre = fibre_of(x);
    double sum = 0;
    for (const operand* in : inputs_of(x.op)) {
      if (is_in_memory(p_, *in)) {
        if (std::abs(stride_of(*in, x.line)) == 1 && in->labels.size() > 1) sum -= 3;
        continue;
      }
      for (std::size_t m = 0; m < n; ++m)
        if (is_same(p_.ops[m].op.c, *in) && p_.ops[m].op.what != action::scatter && fibre_of(p_.ops[m]) == fibre) sum += 2;
    }
    // What an operation before reads as well is read once if both own the same lines.
    for (std::size_t m = 0; m < n; ++m) {
      if (!is_elementwise(p_.ops[m]) || fibre_of(p_.ops[m]) != fibre) continue;
      for (const operand* in : inputs_of(x.op))
        for (const operand* other : inputs_of(p_.ops[m].op))
          if (*in == *other || (in->memory >= 0 && in->memory == other->memory && in->labels == other->labels)) sum += 1;
    }
    if (is_in_memory(p_, x.op.c) && std::abs(stride_of(x.op.c, x.line)) == 1 && x.op.c.labels.size() > 1) sum -= 3;
    for (std::size_t m = n + 1; m < p_.ops.size(); ++m) {
      if (is_elementwise(p_.ops[m])) continue;
      for (const operand* in : inputs_of(p_.ops[m].op))
        if (is_same(*in, x.op.c) && fibre_of(p_.ops[m]) == fibre) sum += 2;
    }
    return sum;
  }

  bool reads(const chain_op& x, const operand& what) const {
    const auto all = inputs_of(x.op);
    return std::any_of(all.begin(), all.end(), [&](const operand* in) { return is_same(*in, what); });
  }

  /// What is read over the same fibres alone moves to its first reader, if its own inputs wait in shared memory anyway.
  void delay() {
    for (std::size_t n = p_.ops.size(); n-- > 0;) {
      const chain_op x = p_.ops[n];
      if (x.op.c.where != operand::kind::temporary || is_in_memory(p_, x.op.c) || x.op.what != action::contract || is_elementwise(x)) continue;
      std::size_t first = p_.ops.size();
      bool same = true, waits = true;
      for (std::size_t m = 0; m < p_.ops.size(); ++m) {
        if (m == n) continue;
        const chain_op& y = p_.ops[m];
        if (is_same(y.op.c, x.op.c)) same = false;
        if (!reads(y, x.op.c)) continue;
        first = std::min(first, m);
        same = same && fibre_of(y) == fibre_of(x);
      }
      if (!same || first == p_.ops.size()) continue;
      for (const operand* in : inputs_of(x.op)) {
        if (in->where != operand::kind::temporary || is_in_memory(p_, *in)) continue;
        bool other = false;
        for (std::size_t m = 0; m < p_.ops.size(); ++m) {
          other = other || (m != n && reads(p_.ops[m], *in) && fibre_of(p_.ops[m]) != fibre_of(x));
          if (m > n && m < first && is_same(p_.ops[m].op.c, *in)) same = false;  // written again in between
        }
        waits = waits && other;
      }
      if (!waits || !same) continue;
      p_.ops.erase(p_.ops.begin() + static_cast<std::ptrdiff_t>(n));
      p_.ops.insert(p_.ops.begin() + static_cast<std::ptrdiff_t>(first) - 1, x);
      glued_.push_back({x.op.c.id});
    }
  }

  /// The first stage in which everything an operation needs is there; joining `pass`, what was made in it is in hand.
  int stage_for(int n, int pass) const {
    const chain_op& x = p_.ops[static_cast<std::size_t>(n)];
    int stage = 0;
    for (int m = 0; m < n; ++m) {
      const chain_op& y = p_.ops[static_cast<std::size_t>(m)];
      const int where = pass_of_[static_cast<std::size_t>(m)];
      const auto after = [&](const operand& mine, bool forwarded) {
        if (where == pass && forwarded && in_registers(p_, p_.passes[static_cast<std::size_t>(pass)], n, mine) == m) return;
        if (where == pass && forwarded && is_in_memory(p_, mine)) return;  // the same thread, the same place
        stage = std::max(stage, p_.passes[static_cast<std::size_t>(where)].stage + 1);
      };
      for (const operand* in : inputs_of(x.op))
        if (is_same(*in, y.op.c)) {
          const bool again = written_between(m, n, *in);
          if (!again) after(*in, is_same(*in, x.op.c) || !is_in_memory(p_, *in));
        }
      // Written while others still read it, or written twice.
      const bool rewrites = is_same(x.op.c, y.op.c) || reads(y, x.op.c);
      if (rewrites && where != pass) stage = std::max(stage, p_.passes[static_cast<std::size_t>(where)].stage + 1);
      if (rewrites && where == pass && !lines_match(n, m)) stage = 1 << 20;
    }
    return stage;
  }

  bool written_between(int m, int n, const operand& x) const {
    for (int k = m + 1; k < n; ++k)
      if (is_same(p_.ops[static_cast<std::size_t>(k)].op.c, x)) return true;
    return false;
  }

  /// Both touch the same places of what operation n writes, in the same thread.
  bool lines_match(int n, int m) const {
    const chain_op &x = p_.ops[static_cast<std::size_t>(n)], &y = p_.ops[static_cast<std::size_t>(m)];
    const std::vector<int> fibre = fibre_of(x);
    const auto matches = [&](const operand& other) {
      for (std::size_t d = 0; d < other.labels.size(); ++d)
        if ((contains(fibre, x.op.c.labels[d]) || contains(fibre, other.labels[d])) && other.labels[d] != x.op.c.labels[d]) return false;
      return true;
    };
    for (const operand* in : inputs_of(y.op))
      if (is_same(*in, x.op.c) && !matches(*in)) return false;
    return !is_same(y.op.c, x.op.c) || matches(y.op.c);
  }

  /// Registers that the lines of a pass take, in words of 4 bytes, counted coarsely.
  std::int64_t registers(const chain_pass& pass) const {
    std::int64_t sum = 0;
    for (const int n : pass.ops) {
      const chain_op& x = p_.ops[static_cast<std::size_t>(n)];
      const std::int64_t words = static_cast<std::int64_t>(size_of(compute_type(p_.type))) / 4;
      sum += (x.line < 0 ? 1 : extent(x.line)) * words;
    }
    return sum;
  }

  void place(int n) {
    chain_op& x = p_.ops[static_cast<std::size_t>(n)];
    const std::vector<int> fibre = fibre_of(x);
    int best = -1, at = 0;
    // A delayed operation opens its reader's pass: it waits for what that reads besides.
    const bool opens = x.op.c.where == operand::kind::temporary && contains(glued_, x.op.c.id);
    for (int q = static_cast<int>(p_.passes.size()); q-- > 0 && best < 0 && !opens;) {
      chain_pass& pass = p_.passes[static_cast<std::size_t>(q)];
      if (pass.fibre != fibre || registers(pass) > 320) continue;
      pass.ops.push_back(n);
      const int stage = stage_for(n, q);
      pass.ops.pop_back();
      if (stage <= pass.stage) best = q, at = pass.stage;
    }
    if (best < 0) {
      best = static_cast<int>(p_.passes.size());
      at = stage_for(n, -1);
      if (opens)
        for (std::size_t m = static_cast<std::size_t>(n) + 1; m < p_.ops.size(); ++m)
          if (reads(p_.ops[m], x.op.c)) at = std::max(at, reader_stage(static_cast<int>(m), n));
      p_.passes.push_back({.fibre = fibre, .stage = at, .ops = {}});
    }
    p_.passes[static_cast<std::size_t>(best)].ops.push_back(n);
    pass_of_[static_cast<std::size_t>(n)] = best;
  }

  /// When what a reader needs from operations before n is there.
  int reader_stage(int reader, int n) const {
    int stage = 0;
    for (const operand* in : inputs_of(p_.ops[static_cast<std::size_t>(reader)].op))
      for (int m = 0; m < n; ++m)
        if (is_same(*in, p_.ops[static_cast<std::size_t>(m)].op.c))
          stage = std::max(stage, p_.passes[static_cast<std::size_t>(pass_of_[static_cast<std::size_t>(m)])].stage + 1);
    return stage;
  }

  /// Neighbouring threads take what lies side by side in the largest tensor that the pass reads or writes.
  void order_fibre(chain_pass& pass) const {
    const operand* like = nullptr;
    std::size_t most = 0;
    const auto look = [&](const operand& x) {
      std::size_t labels = 0;
      for (const int l : x.labels) labels += contains(pass.fibre, l);
      const bool better = (is_in_memory(p_, x) && depends_on_element(p_, x)) && (!like || labels > most);
      if (better) like = &x, most = labels;
    };
    for (const int n : pass.ops) {
      const pair_op& op = p_.ops[static_cast<std::size_t>(n)].op;
      for (const operand* x : inputs_of(op)) look(*x);
      look(op.c);
    }
    if (like) {
      std::stable_sort(pass.fibre.begin(), pass.fibre.end(), [&](int x, int y) {
        const std::int64_t sx = std::abs(stride_of(*like, x)), sy = std::abs(stride_of(*like, y));
        return sx == 0 || sy == 0 ? sx < sy && sx == 0 : sx > sy;
      });
      const int here = lines_touched(p_, pass, *like, 32);
      pass.element_fastest = true;
      if (lines_touched(p_, pass, *like, 32) >= here) pass.element_fastest = false;
      return;
    }
    const std::vector<int>& labels = p_.ops[static_cast<std::size_t>(pass.ops[0])].op.c.labels;
    std::vector<int> ordered;
    for (const int l : labels)
      if (contains(pass.fibre, l)) ordered.push_back(l);
    if (ordered.size() == pass.fibre.size()) pass.fibre = ordered;
  }

  void find_stored() {
    for (std::size_t q = 0; q < p_.passes.size(); ++q)
      for (const int n : p_.passes[q].ops) {
        chain_op& x = p_.ops[static_cast<std::size_t>(n)];
        x.stored = is_in_memory(p_, x.op.c) || x.op.what == action::scatter;
        for (std::size_t r = 0; r < p_.passes.size() && !x.stored; ++r)
          for (const int m : p_.passes[r].ops) {
            if (m <= n || !reads(p_.ops[static_cast<std::size_t>(m)], x.op.c)) continue;
            if (r != q || !forwarded(p_.passes[q], m, x.op.c)) x.stored = true;
          }
      }
  }

  bool forwarded(const chain_pass& pass, int reader, const operand& c) const {
    for (const operand* in : inputs_of(p_.ops[static_cast<std::size_t>(reader)].op))
      if (is_same(*in, c) && in_registers(p_, pass, reader, *in) < 0) return false;
    return true;
  }

  /// One sum with an even or odd matrix: sums and differences of mirrored values meet half of it each.
  bool may_halve(const chain_op& x, const operand& f, const chain_matrix& m) const {
    const operand& other = &f == &x.op.a ? x.op.b : x.op.a;
    return f.parity != 0 && m.line >= 0 && m.rows.size() == 1 && x.sum.size() == 1 && m.columns > 1 && m.count > 1 &&
           !is_complex(p_.type) && !contains(other.labels, x.line) && other.where != operand::kind::one;
  }

  void find_matrices() {
    constexpr std::int64_t most = 48 * 1024;
    std::int64_t bytes = 0;
    const auto size = static_cast<std::int64_t>(size_of(compute_type(p_.type)));
    for (const chain_op& x : p_.ops) {
      if (is_elementwise(x) || x.op.what != action::contract) continue;
      for (const operand* f : {&x.op.a, &x.op.b}) {
        if (f->where == operand::kind::one || !is_in_memory(p_, *f) || depends_on_element(p_, *f) || matrix_of(p_, x, *f) >= 0) continue;
        chain_matrix m;
        m.source = *f;
        std::size_t known = 0;
        if (contains(f->labels, x.line)) m.line = x.line, m.columns = extent(x.line), ++known;
        for (const int l : x.sum)
          if (contains(f->labels, l)) m.rows.push_back(l), m.count *= extent(l), ++known;
        if (known != f->labels.size()) continue;
        const std::int64_t wide = std::max<std::int64_t>(1, 16 / size);
        m.halves = m.may_halve = may_halve(x, *f, m);
        if (m.halves) m.columns = (m.columns + 1) / 2;
        m.pitch = m.line < 0 ? 1 : (m.columns + wide - 1) / wide * wide;
        if (bytes + m.count * m.pitch * size > most) continue;
        bytes += (m.count * m.pitch * size + 15) / 16 * 16;
        p_.matrices.push_back(m);
      }
    }
  }

  chain_plan& p_;
  std::vector<int> pass_of_;
  std::vector<int> glued_;  // temporaries whose operation was delayed
};

}  // namespace

bool make_passes(chain_plan& p) {
  const bool made = pass_maker(p).run();
  p.joined = p.passes, p.split.clear();
  return made;
}

void split_passes(chain_plan& p) {
  p.passes = p.joined;
  for (const int n : p.split) p.ops[static_cast<std::size_t>(n)].stored = false;
  p.split.clear();
  if (p.config.tensor < 3) return;
  std::vector<chain_pass> all;
  int later = 0, most = 0;  // stages more: of the stages before, and of this one
  for (std::size_t q = 0; q < p.joined.size(); ++q) {
    const chain_pass& pass = p.joined[q];
    if (q > 0 && pass.stage != p.joined[q - 1].stage) later += most, most = 0;
    std::vector<chain_pass> parts;
    for (const int n : pass.ops) {
      const bool product = !is_elementwise(p.ops[static_cast<std::size_t>(n)]);
      if (parts.empty() || product == is_elementwise(p.ops[static_cast<std::size_t>(parts.back().ops[0])])) parts.push_back(pass), parts.back().ops.clear();
      parts.back().ops.push_back(n);
    }
    const bool splits = touches_memory(p, pass) && parts.size() > 1 && std::all_of(parts.begin(), parts.end(), [&](const chain_pass& x) {
      return is_elementwise(p.ops[static_cast<std::size_t>(x.ops[0])]) || (suits_tensor_cores(p, x) && !touches_memory(p, x));
    });
    if (!splits) parts = {pass};
    for (std::size_t k = 0; k < parts.size(); ++k) {
      parts[k].stage = pass.stage + later + static_cast<int>(k);
      for (const int n : parts[k].ops) {
        chain_op& x = p.ops[static_cast<std::size_t>(n)];
        const bool read = std::any_of(pass.ops.begin(), pass.ops.end(), [&](int m) {
          if (std::find(parts[k].ops.begin(), parts[k].ops.end(), m) != parts[k].ops.end() || m < n) return false;
          const auto in = inputs_of(p.ops[static_cast<std::size_t>(m)].op);
          return std::any_of(in.begin(), in.end(), [&](const operand* y) { return is_same(*y, x.op.c); });
        });
        if (read && !x.stored) x.stored = true, p.split.push_back(n);
      }
      all.push_back(parts[k]);
    }
    most = std::max(most, static_cast<int>(parts.size()) - 1);
  }
  std::stable_sort(all.begin(), all.end(), [](const chain_pass& x, const chain_pass& y) { return x.stage < y.stage; });
  p.passes = std::move(all);
}

}  // namespace ricci::cuda::chains
