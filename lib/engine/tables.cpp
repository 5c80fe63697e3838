// What is read of index tensors when a plan is made: whether every entry is an index, and which blocks may run at once.
#include <ricci/core/error.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/other.hpp"
#include "engine/tables.hpp"

namespace ricci {
namespace {

/// Calls f(position) for every entry, positions in elements from the first; the labels' indices are in `at`.
template <class F>
void for_each_entry(const program& p, const std::vector<reference_axis>& axes, std::vector<std::int64_t>& at, const F& f) {
  at.assign(axes.size(), 0);
  for (const auto& axis : axes)
    if (p.labels[static_cast<std::size_t>(axis.label)].extent == 0) return;
  std::int64_t position = 0;
  for (;;) {
    f(position);
    std::size_t d = axes.size();
    for (; d > 0; --d) {
      const std::int64_t extent = p.labels[static_cast<std::size_t>(axes[d - 1].label)].extent;
      position += axes[d - 1].stride;
      if (++at[d - 1] < extent) break;
      position -= extent * axes[d - 1].stride;
      at[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

std::int64_t entry(const void* table, bool wide, std::int64_t at) {
  return wide ? static_cast<const std::int64_t*>(table)[at] : static_cast<const std::int32_t*>(table)[at];
}

/// Whether all of n neighbouring entries are in [0, extent): no sign bit in them, nor in their distance from the last.
template <class Unsigned> bool all_inside(const Unsigned* entries, std::int64_t n, std::int64_t extent) {
  const auto most = static_cast<std::int64_t>(static_cast<Unsigned>(-1) >> 1);
  const auto last = static_cast<Unsigned>(std::min(extent - 1, most));
  typedef Unsigned lanes __attribute__((vector_size(64)));  // several registers: compilers make none of a plain loop at -O2
  constexpr std::int64_t width = sizeof(lanes) / sizeof(Unsigned);
  lanes apart{};
  Unsigned signs = 0;
  std::int64_t i = 0;
  for (; i + width <= n; i += width) {
    lanes x;
    std::memcpy(&x, entries + i, sizeof x);
    apart |= x | (last - x);
  }
  for (; i < n; ++i) signs |= entries[i] | (last - entries[i]);
  for (int k = 0; k < width; ++k) signs |= apart[k];
  return signs >> (8 * sizeof(Unsigned) - 1) == 0;
}

/// The table has no gaps, and all of it is inside.
bool is_inside(const program& p, const lookup& x, const void* table) {
  std::int64_t count = 1;
  for (std::size_t d = x.axes.size(); d-- > 0;) {
    if (x.axes[d].stride != count) return false;
    count *= p.labels[static_cast<std::size_t>(x.axes[d].label)].extent;
  }
  if (count == 0 || x.extent == 0) return false;
  return x.wide ? all_inside(static_cast<const std::uint64_t*>(table), count, x.extent)
                : all_inside(static_cast<const std::uint32_t*>(table), count, x.extent);
}

/// The same memory walked in the same way under other labels, into an axis of the same extent.
bool is_same(const program& p, const lookup& x, const lookup& y, const bindings& b) {
  const auto extent = [&](const reference_axis& a) { return p.labels[static_cast<std::size_t>(a.label)].extent; };
  return b.pointers[x.slot] == b.pointers[y.slot] && x.wide == y.wide && x.extent == y.extent &&
         std::equal(x.axes.begin(), x.axes.end(), y.axes.begin(), y.axes.end(), [&](const reference_axis& v, const reference_axis& w) {
           return v.stride == w.stride && extent(v) == extent(w);
         });
}

void check_table(const program& p, const reference& r, const bindings& b, std::vector<const lookup*>& checked) {
  for (const lookup& x : r.lookups) {
    if (std::any_of(checked.begin(), checked.end(), [&](const lookup* y) { return is_same(p, x, *y, b); })) continue;
    checked.push_back(&x);
    if (is_inside(p, x, b.pointers[x.slot])) continue;
    std::vector<std::int64_t> at;
    for_each_entry(p, x.axes, at, [&](std::int64_t position) {
      const std::int64_t i = entry(b.pointers[x.slot], x.wide, position);
      if (i >= 0 && i < x.extent) return;
      std::string where;
      for (std::size_t d = 0; d < at.size(); ++d)
        where += (d ? ", " : "") + p.labels[static_cast<std::size_t>(x.axes[d].label)].name + " = " + std::to_string(at[d] + (x.first.empty() ? 0 : x.first[d]));
      throw error(errc::bad_range, "ricci: index " + std::to_string(i) + " at " + where + " of an index tensor is outside axis " +
                                       std::to_string(x.axis) + " of extent " + std::to_string(x.extent) + " of " + r.name);
    });
  }
}

constexpr std::int64_t least_blocks = 8, most_runs = 128;  // blocks in a run, runs

/// Elements are told apart in groups of neighbours, but for small tensors: this many groups stay in the caches.
constexpr std::int64_t least_groups = 8192;

/// A loop over a table, whatever lies on the other side.
struct table_loop {
  std::int64_t extent = 1, step = 0;
};

/// The loops of a block from the widest steps on, those that nest as one.
std::vector<table_loop> loops_of(const plan_step& s) {
  std::vector<table_loop> loops;
  for (const step_axis& x : s.axes) loops.push_back({x.extent, x.a});
  std::sort(loops.begin(), loops.end(), [](const table_loop& x, const table_loop& y) { return x.step > y.step; });
  std::vector<table_loop> out;
  for (const table_loop& l : loops) {
    if (!out.empty() && out.back().step == l.step * l.extent) out.back() = {out.back().extent * l.extent, l.step};
    else out.push_back(l);
  }
  if (out.empty()) out.push_back({});
  return out;
}

class colouring {
 public:
  colouring(const plan& p, const bound_plan& bound, const bindings& b) : plan_(p), bound_(bound), bindings_(b) {}

  task_order make() {
    if (!bound_.has_blocks) return {};
    std::int64_t blocks = 1;
    for (std::int64_t n : bound_.block_counts) blocks *= n;
    if (!find_scatters()) return {};
    const std::int64_t runs = std::clamp<std::int64_t>(blocks / least_blocks, 1, most_runs);
    task_order out;
    for (std::int64_t r = 0; r < runs; ++r) {
      const task_order::run run{blocks * r / runs, blocks * (r + 1) / runs};
      const int colour = colour_of(run);
      if (colour == 64) return {};
      if (out.colours.size() <= static_cast<std::size_t>(colour)) out.colours.resize(static_cast<std::size_t>(colour) + 1);
      out.colours[static_cast<std::size_t>(colour)].push_back(run);
    }
    return out;
  }

 private:
  /// False if a table does not follow the blocks: then all of them write everywhere.
  bool find_scatters() {
    std::int64_t extent = 0;
    for (const statement& s : plan_.source.statements)
      for (const lookup& x : s.left.lookups) extent = std::max(extent, x.extent);
    while (extent >> (shift_ + 1) >= least_groups) ++shift_;
    used_.assign(static_cast<std::size_t>((extent >> shift_) + 1), 0);
    touched_.assign(used_.size(), 0);
    for (const plan_step& s : plan_.segments[0].steps) {
      if (s.how != method::scatter) continue;
      for (int l : plan_.block_labels)
        if (!has(s.op.a, l)) return false;
      scatters_.push_back(&s);
    }
    return true;
  }

  /// Marks the groups that a run adds to.
  void touch(const task_order::run& run) {
    std::fill(touched_.begin(), touched_.end(), std::uint8_t{0});
    for (const plan_step* s : scatters_) {
      const place table = place_of(plan_, plan_.segments[0], s->op.a, -1);
      const bool wide = size_of(s->op.a.type) == 8;
      const std::vector<table_loop> loops = loops_of(*s);
      for (std::int64_t block = run.first; block < run.last; ++block) {
        std::int64_t rest = block, offset = 0;
        for (std::size_t l = bound_.block_counts.size(); l-- > 0;) {
          offset += rest % bound_.block_counts[l] * table.blocks[l];
          rest /= bound_.block_counts[l];
        }
        const char* first = static_cast<const char*>(bindings_.pointers[table.slot]) + offset;
        if (wide) touch(loops, 0, reinterpret_cast<const std::int64_t*>(first));
        else touch(loops, 0, reinterpret_cast<const std::int32_t*>(first));
      }
    }
  }

  template <class Index> void touch(const std::vector<table_loop>& loops, std::size_t d, const Index* table) {
    const table_loop x = loops[d];
    if (d + 1 < loops.size()) {
      for (std::int64_t i = 0; i < x.extent; ++i) touch(loops, d + 1, table + i * x.step);
    } else {
      for (std::int64_t i = 0; i < x.extent; ++i) touched_[static_cast<std::size_t>(table[i * x.step] >> shift_)] = 1;
    }
  }

  /// The first colour that no run which shares an element has; 64 if there is none.
  int colour_of(const task_order::run& run) {
    touch(run);
    std::uint64_t taken = 0;
    for (std::size_t g = 0; g < used_.size(); ++g) taken |= touched_[g] ? used_[g] : 0;
    const int colour = std::countr_one(taken);
    if (colour == 64) return colour;
    for (std::size_t g = 0; g < used_.size(); ++g) used_[g] |= static_cast<std::uint64_t>(touched_[g]) << colour;
    return colour;
  }

  const plan& plan_;
  const bound_plan& bound_;
  const bindings& bindings_;
  std::vector<const plan_step*> scatters_;
  std::vector<std::uint64_t> used_;    // the colours that touch each group of 2^shift_ elements
  std::vector<std::uint8_t> touched_;  // groups of the run at hand
  int shift_ = 0;
};

}  // namespace

void check_indices(const program& p, const bindings& b) {
  std::vector<const lookup*> checked;
  for (const statement& s : p.statements) {
    check_table(p, s.left, b, checked);
    for (const product& t : s.terms)
      for (const reference& f : t.factors) check_table(p, f, b, checked);
  }
}

task_order order_of(const plan& p, const bound_plan& bound, const bindings& b) { return colouring(p, bound, b).make(); }

}  // namespace ricci
