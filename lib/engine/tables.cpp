// What is read of index tensors when a plan is made: whether every entry is an index, and which blocks may run at once.
#include <ricci/core/error.hpp>

#include <algorithm>
#include <bit>

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

void check_table(const program& p, const reference& r, const bindings& b) {
  for (const lookup& x : r.lookups) {
    std::vector<std::int64_t> at;
    for_each_entry(p, x.axes, at, [&](std::int64_t position) {
      const std::int64_t i = entry(b.pointers[x.slot], x.wide, position);
      if (i >= 0 && i < x.extent) return;
      std::string where;
      for (std::size_t d = 0; d < at.size(); ++d)
        where += (d ? ", " : "") + p.labels[static_cast<std::size_t>(x.axes[d].label)].name + " = " + std::to_string(at[d]);
      throw error(errc::bad_range, "ricci: index " + std::to_string(i) + " at " + where + " of an index tensor is outside axis " +
                                       std::to_string(x.axis) + " of extent " + std::to_string(x.extent) + " of " + r.name);
    });
  }
}

constexpr std::int64_t least_run = 8, most_runs = 128;  // blocks in a run, runs

class colouring {
 public:
  colouring(const plan& p, const bound_plan& bound, const bindings& b) : plan_(p), bound_(bound), bindings_(b) {}

  task_order make() {
    if (!bound_.has_blocks) return {};
    std::int64_t blocks = 1;
    for (std::int64_t n : bound_.block_counts) blocks *= n;
    if (!find_scatters()) return {};
    const std::int64_t runs = std::clamp<std::int64_t>(blocks / least_run, 1, most_runs);
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
    used_.assign(static_cast<std::size_t>(extent), 0);
    for (const plan_step& s : plan_.segments[0].steps) {
      if (s.how != method::scatter) continue;
      for (int l : plan_.block_labels)
        if (std::find(s.op.a.labels.begin(), s.op.a.labels.end(), l) == s.op.a.labels.end()) return false;
      scatters_.push_back(&s);
    }
    return true;
  }

  template <class F>
  void for_each_index(const task_order::run& run, const F& f) const {
    for (const plan_step* s : scatters_) {
      const place table = place_of(plan_, plan_.segments[0], s->op.a);
      const bool wide = size_of(s->op.a.type) == 8;
      for (std::int64_t block = run.first; block < run.last; ++block) {
        std::int64_t rest = block, offset = 0;
        for (std::size_t l = bound_.block_counts.size(); l-- > 0;) {
          offset += rest % bound_.block_counts[l] * table.blocks[l];
          rest /= bound_.block_counts[l];
        }
        const void* first = static_cast<const char*>(bindings_.pointers[table.slot]) + offset;
        inside(*s, 0, 0, [&](std::int64_t at) { f(entry(first, wide, at)); });
      }
    }
  }

  template <class F>
  static void inside(const plan_step& s, std::size_t d, std::int64_t at, const F& f) {
    if (d == s.axes.size()) return f(at);
    for (std::int64_t i = 0; i < s.axes[d].extent; ++i) inside(s, d + 1, at + i * s.axes[d].a, f);
  }

  /// The first colour that no run which shares an element has; 64 if there is none.
  int colour_of(const task_order::run& run) {
    std::uint64_t taken = 0;
    for_each_index(run, [&](std::int64_t i) { taken |= used_[static_cast<std::size_t>(i)]; });
    const int colour = std::countr_one(taken);
    if (colour < 64) for_each_index(run, [&](std::int64_t i) { used_[static_cast<std::size_t>(i)] |= std::uint64_t{1} << colour; });
    return colour;
  }

  const plan& plan_;
  const bound_plan& bound_;
  const bindings& bindings_;
  std::vector<const plan_step*> scatters_;
  std::vector<std::uint64_t> used_;  // the colours that touch each element
};

}  // namespace

void check_indices(const program& p, const bindings& b) {
  for (const statement& s : p.statements) {
    check_table(p, s.left, b);
    for (const product& t : s.terms)
      for (const reference& f : t.factors) check_table(p, f, b);
  }
}

task_order order_of(const plan& p, const bound_plan& bound, const bindings& b) { return colouring(p, bound, b).make(); }

}  // namespace ricci
