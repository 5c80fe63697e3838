// Index tables rewritten for their kernels when a plan is made: the offsets of rows of neighbours in the order of use.
#include <algorithm>

#include "engine/other.hpp"
#include "engine/tables.hpp"

namespace ricci {
namespace {

/// A gather or scatter as blocks of side-by-side problems: which axis the lanes are, the others from the outermost.
struct walk_order {
  std::vector<step_axis> axes;
  step_axis lanes;
  bool indexed_in_b = false;  // a gather: the table's element is in b
  std::int64_t table(const step_axis& x) const { return x.a; }
  std::int64_t indexed(const step_axis& x) const { return indexed_in_b ? x.b : x.c; }
  std::int64_t dense(const step_axis& x) const { return indexed_in_b ? x.c : x.b; }
};

/// False if the tensor that is not looked up has gaps.
bool make_order(const plan& p, const plan_step& s, walk_order& out) {
  out.indexed_in_b = s.how == method::gather;
  out.axes = s.axes;
  std::sort(out.axes.begin(), out.axes.end(),
            [&](const step_axis& x, const step_axis& y) { return out.dense(x) > out.dense(y); });
  std::int64_t step = 1;
  for (std::size_t d = out.axes.size(); d-- > 0; step *= out.axes[d].extent)
    if (out.dense(out.axes[d]) != step) return false;
  if (out.axes.empty()) return true;
  const bool is_block = !p.block_labels.empty() && out.axes.back().label == p.block_labels.back();
  // Problems of an interleaved tensor: neighbours here, not in the table.
  const bool is_lane = std::any_of(out.axes.begin(), out.axes.end() - 1, [&](const step_axis& x) {
    return x.extent > 1 && std::abs(out.table(x)) < std::abs(out.table(out.axes.back()));
  });
  if (is_block || is_lane) out.lanes = out.axes.back(), out.axes.pop_back();
  return true;
}

/// Appends the offsets of all entries of a problem in order.
template <class Index>
void add_entries(const walk_order& w, std::int64_t stride, std::size_t d, const Index* table, std::int64_t tensor, std::int64_t*& to) {
  if (d == w.axes.size()) {
    *to++ = *table * stride + tensor;
    return;
  }
  const step_axis& x = w.axes[d];
  if (d + 1 < w.axes.size()) {
    for (std::int64_t i = 0; i < x.extent; ++i)
      add_entries(w, stride, d + 1, table + i * w.table(x), tensor + i * w.indexed(x), to);
    return;
  }
  for (std::int64_t i = 0; i < x.extent; ++i) *to++ = table[i * w.table(x)] * stride + tensor + i * w.indexed(x);
}

/// The entries of a problem are its offsets, one after the other.
bool is_plain(const plan_step& s, const walk_order& w) {
  std::int64_t step = 1;
  for (std::size_t d = w.axes.size(); d-- > 0; step *= w.axes[d].extent)
    if (w.table(w.axes[d]) != step || w.indexed(w.axes[d]) != 0) return false;
  return size_of(s.op.a.type) == 4 && s.op.table_stride == 1 && w.indexed(w.lanes) == 0;
}

class rewriter {
 public:
  rewriter(const plan& p, const bound_plan& bound, const bindings& b) : plan_(p), bound_(bound), bindings_(b) {}

  /// Null if entry by entry is all that can be done.
  std::shared_ptr<const row_table> table_of(std::size_t segment, const plan_step& s) const {
    const dtype type = s.op.c.type;
    walk_order w;
    if ((type != dtype::f32 && type != dtype::f64) || !make_order(plan_, s, w)) return nullptr;
    std::int64_t size = 1;
    for (const step_axis& x : w.axes) size *= x.extent;
    row_table out;
    out.shape.lanes = w.lanes.extent;
    out.shape.row = row_of(segment, s, w, size);
    out.shape.rows = size / out.shape.row;
    out.each = out.shape.rows * out.shape.lanes;
    out.at.resize(static_cast<std::size_t>(blocks_of(segment) * out.each));
    bool fits = true;
    std::int32_t* block = out.at.data();  // of the problem at hand
    std::int64_t lane = 0;
    const kernels::rows_args g = out.shape;
    for_each_problem(segment, s, w, size, [&](const auto* entries, std::int64_t count, std::int64_t step) {
      for (std::int64_t n = 0; n < count; ++n, ++lane) {
        if (lane == g.lanes) lane = 0, block += g.rows * g.lanes;
        const auto* from = entries + n * step;
        std::int32_t* to = block + lane;
        for (std::int64_t r = 0; r < g.rows; ++r, from += g.row, to += g.lanes) {
          *to = static_cast<std::int32_t>(*from);
          if constexpr (sizeof *from == 8) fits = fits && *to == *from;
        }
      }
    });
    return fits ? std::make_shared<const row_table>(std::move(out)) : nullptr;
  }

 private:
  std::int64_t blocks_of(std::size_t segment) const {
    std::int64_t blocks = 1;
    for (std::size_t l = 0; l < bound_.block_counts.size(); ++l)
      blocks *= segment > 0 && l + 1 == bound_.block_counts.size() ? 1 : bound_.block_counts[l];
    return blocks;
  }

  /// Calls f(entries, count, step) with the offsets of all entries of so many problems, block after block.
  template <class F>
  void for_each_problem(std::size_t segment, const plan_step& s, const walk_order& w, std::int64_t size, const F& f) const {
    const place table = place_of(plan_, plan_.segments[segment], s.op.a, -1);
    const bool wide = size_of(s.op.a.type) == 8;
    const bool plain = is_plain(s, w);
    std::vector<std::int64_t> entries(static_cast<std::size_t>(size));
    for (std::int64_t block = 0, blocks = blocks_of(segment); block < blocks; ++block) {
      std::int64_t index[most_block_labels], bytes = 0;
      locate(bound_.block_counts, segment > 0, block, index);
      for (std::size_t l = 0; l < table.blocks.size(); ++l) bytes += index[l] * table.blocks[l];
      const char* first = static_cast<const char*>(bindings_.pointers[table.slot]) + bytes;
      if (plain) {
        f(reinterpret_cast<const std::int32_t*>(first), w.lanes.extent, w.table(w.lanes));
        continue;
      }
      for (std::int64_t lane = 0; lane < w.lanes.extent; ++lane) {
        const std::int64_t at = lane * w.table(w.lanes), tensor = lane * w.indexed(w.lanes);
        std::int64_t* to = entries.data();
        if (wide) add_entries(w, s.op.table_stride, 0, reinterpret_cast<const std::int64_t*>(first) + at, tensor, to);
        else add_entries(w, s.op.table_stride, 0, reinterpret_cast<const std::int32_t*>(first) + at, tensor, to);
        f(static_cast<const std::int64_t*>(entries.data()), 1, 0);
      }
    }
  }

  /// The longest rows of neighbours that all problems have: one axis, or several from the innermost on.
  std::int64_t row_of(std::size_t segment, const plan_step& s, const walk_order& w, std::int64_t size) const {
    std::vector<std::int64_t> breaks(static_cast<std::size_t>(size), 0);
    std::vector<std::uint32_t> near(static_cast<std::size_t>(size), 0);  // the same of plain entries
    for_each_problem(segment, s, w, size, [&](const auto* first, std::int64_t count, std::int64_t step) {
      for (std::int64_t n = 0; n < count; ++n) {
        const auto* const entries = first + n * step;
        if constexpr (sizeof *entries == 4) {
          std::uint32_t* const out = near.data();
          for (std::int64_t q = 1; q < size; ++q)
            out[q] |= static_cast<std::uint32_t>(entries[q]) - static_cast<std::uint32_t>(entries[q - 1]) - 1;
        } else {
          for (std::int64_t q = 1; q < size; ++q) breaks[static_cast<std::size_t>(q)] |= entries[q] - entries[q - 1] - 1;
        }
      }
    });
    for (std::size_t q = 0; q < near.size(); ++q) breaks[q] |= near[q];
    std::int64_t row = 1, longest = 1;
    for (std::size_t d = w.axes.size(); d-- > 0;) {
      row *= w.axes[d].extent;
      for (std::int64_t q = 1; q < size; ++q)
        if (q % row != 0 && breaks[static_cast<std::size_t>(q)]) return longest;
      longest = row;
    }
    return longest;
  }

  const plan& plan_;
  const bound_plan& bound_;
  const bindings& bindings_;
};

/// Whether two steps of a segment walk the same table in the same way, in every block.
bool alike(const plan& p, const segment& g, const plan_step& x, const plan_step& y, const bindings& b) {
  walk_order v, w;
  if (b.pointers[x.op.a.id] != b.pointers[y.op.a.id] || x.op.a.type != y.op.a.type || x.op.table_stride != y.op.table_stride || x.op.c.type != y.op.c.type) return false;
  if (!make_order(p, x, v) || !make_order(p, y, w) || v.axes.size() != w.axes.size()) return false;
  const auto same = [&](const step_axis& n, const step_axis& m) {
    return n.extent == m.extent && v.table(n) == w.table(m) && v.indexed(n) == w.indexed(m);
  };
  return same(v.lanes, w.lanes) && std::equal(v.axes.begin(), v.axes.end(), w.axes.begin(), same) &&
         place_of(p, g, x.op.a, -1).blocks == place_of(p, g, y.op.a, -1).blocks;
}

}  // namespace

row_tables rows_of(const plan& p, const bound_plan& bound, const bindings& b) {
  const rewriter made(p, bound, b);
  row_tables out;
  for (std::size_t g = 0; g < p.segments.size(); ++g) {
    const std::vector<plan_step>& steps = p.segments[g].steps;
    auto& rows = out.emplace_back(steps.size());
    for (std::size_t s = 0; s < steps.size(); ++s) {
      if (steps[s].how != method::gather && steps[s].how != method::scatter) continue;
      for (std::size_t before = 0; before < s && !rows[s]; ++before)
        if (rows[before] && alike(p, p.segments[g], steps[before], steps[s], b)) rows[s] = rows[before];
      if (!rows[s]) rows[s] = made.table_of(g, steps[s]);
    }
  }
  return out;
}

}  // namespace ricci
