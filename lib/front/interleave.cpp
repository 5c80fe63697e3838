// Statements over interleaved tensors become programs over plain strided memory.
//
// A label that runs along an axis of problems is cut: full blocks are two labels (block and lane), what stands before
// the first full block or behind the last is lanes of one block. Each piece is a program of its own.
#include "front/lowering.hpp"

#include <algorithm>

#include <ricci/core/error.hpp>

namespace ricci::detail {
namespace {

/// Part of a label's range: `count` values from `start` on.
struct piece {
  std::int64_t start = 0, count = 0;
  bool blocks = false;  // full blocks; else lanes of one block
};

/// The range [first, first + length) of an axis with blocks of `width`.
std::vector<piece> pieces_of(std::int64_t first, std::int64_t length, std::int64_t width) {
  std::vector<piece> out;
  const std::int64_t head = std::min(length, (width - first % width) % width);
  const std::int64_t full = (length - head) / width * width, tail = length - head - full;
  if (head > 0) out.push_back({0, head, false});
  if (full > 0) out.push_back({head, full, true});
  if (tail > 0 || out.empty()) out.push_back({head + full, tail, false});
  return out;
}

/// A label that is cut, and where.
struct cut_label {
  int label = 0;
  std::int64_t width = 0;
  std::vector<piece> pieces;
};

bool runs_along(const slot_use& s, int label) {
  return std::find(s.label, s.label + s.rank, label) != s.label + s.rank;
}

/// Appends an axis whose index 0 is the slot's present offset.
void add_axis(slot_use& s, int label, std::int64_t stride, std::int64_t extent) {
  s.label[s.rank] = label, s.strides[s.rank] = stride;
  s.first[s.rank] = 0, s.last[s.rank] = extent;
  ++s.rank;
}

/// One slot with the chosen piece of every cut label; lanes[i] is the label of the lanes of cut i.
slot_use cut_slot(const slot_use& whole, const std::vector<cut_label>& cuts, const std::vector<const piece*>& chosen,
                  const std::vector<int>& lanes) {
  slot_use out = whole;
  out.rank = 0;
  out.width = out.block = 0;
  for (int d = 0; d < whole.rank; ++d) {
    const int label = whole.label[d];
    if (label < 0 && label != looked_up) continue;  // a constant: it is in the offset
    const auto cut = std::find_if(cuts.begin(), cuts.end(), [&](const cut_label& c) { return c.label == label; });
    const std::int64_t length = whole.last[d] - whole.first[d];
    if (cut == cuts.end()) {
      add_axis(out, label, whole.strides[d], length);
      continue;
    }
    const auto at = static_cast<std::size_t>(cut - cuts.begin());
    const piece& p = *chosen[at];
    const bool problems = d == 0 && whole.width > 0;
    const std::int64_t first = whole.first[d] + p.start, width = cut->width;
    if (problems) out.offset += first / width * whole.block + first % width;
    else out.offset += p.start * whole.strides[d];
    if (p.blocks) {
      add_axis(out, label, problems ? whole.block : whole.strides[d] * width, p.count / width);
      add_axis(out, lanes[at], problems ? 1 : whole.strides[d], width);
    } else {
      add_axis(out, label, problems ? 1 : whole.strides[d], p.count);
    }
  }
  out.shift = out.offset;
  return out;
}

/// Calls f(lowering, which labels are in their first piece) for each combination of pieces.
template <class F>
void for_each_part(const lowering& whole, const std::vector<cut_label>& cuts, F f) {
  std::vector<std::size_t> at(cuts.size(), 0);
  for (bool more = true; more;) {
    lowering part;
    part.names = whole.names, part.lengths = whole.lengths, part.locals = whole.locals, part.numbers = whole.numbers;
    std::vector<const piece*> chosen;
    std::vector<int> lanes(cuts.size(), -1);
    std::vector<bool> first;
    for (std::size_t c = 0; c < cuts.size(); ++c) {
      const piece& p = cuts[c].pieces[at[c]];
      const auto label = static_cast<std::size_t>(cuts[c].label);
      chosen.push_back(&p);
      first.push_back(at[c] == 0);
      part.lengths[label] = p.blocks ? p.count / cuts[c].width : p.count;
      if (!p.blocks) continue;
      const std::string suffix = std::to_string(cuts[c].width);
      lanes[c] = static_cast<int>(part.lengths.size());
      part.lengths.push_back(cuts[c].width);
      part.names.push_back(part.names[label] + "%" + suffix);
      part.names[label] += "/" + suffix;
    }
    for (const slot_use& s : whole.slots) part.slots.push_back(cut_slot(s, cuts, chosen, lanes));
    f(part, first);
    more = false;
    for (std::size_t c = 0; c < cuts.size() && !more; ++c) {
      more = ++at[c] < cuts[c].pieces.size();
      if (!more) at[c] = 0;
    }
  }
}

class cutter {
 public:
  cutter(const front_call& call, const lowering& low, naming names) : call_(call), low_(low), names_(names) {}

  lowered_parts all(const options& o) {
    if (find_cuts() && is_separable()) {
      add_parts(low_);
      return std::move(out_);
    }
    if (o.strict)
      throw error(errc::too_slow, "the statement needs copies of its interleaved tensors, and options::strict is set");
    add_with_copies();
    return std::move(out_);
  }

 private:
  const leaf_info& leaf(const slot_use& s) const { return call_.program->leaves[s.leaf]; }

  /// The labels to be cut. False if two tensors want one label cut in different places.
  bool find_cuts() {
    std::vector<std::int64_t> phases;
    for (const slot_use& s : low_.slots) {
      if (s.width == 0) continue;
      const int label = s.label[0];
      const auto found = std::find_if(cuts_.begin(), cuts_.end(), [&](const cut_label& c) { return c.label == label; });
      const std::int64_t phase = s.first[0] % s.width;
      if (found == cuts_.end()) {
        cuts_.push_back({label, s.width, pieces_of(s.first[0], low_.lengths[static_cast<std::size_t>(label)], s.width)});
        phases.push_back(phase);
      } else if (found->width != s.width || phases[static_cast<std::size_t>(found - cuts_.begin())] != phase) {
        return false;
      }
    }
    return true;
  }

  /// May the parts run one after the other?
  bool is_separable() const {
    const bool several = call_.program->statement_count > 1;
    for (const slot_use& left : low_.slots) {
      if (!left.is_left) continue;
      const dtype type = leaf(left).type;
      for (const cut_label& c : cuts_)
        if (!runs_along(left, c.label) && !is_looked_up_along(left, c.label) && (several || compute_type(type) != type)) return false;
      if (leaf(left).local) {
        for (const slot_use& other : low_.slots)
          if (leaf(other).local && call_.bases[other.leaf] == call_.bases[left.leaf] && !is_cut_alike(left, other)) return false;
        continue;
      }
      for (const slot_use& other : low_.slots)
        if (&other != &left && !leaf(other).local && !keeps_parts_apart(left, other)) return false;
    }
    return true;
  }

  /// Is the local cut in the same places where it is written and where it is read?
  bool is_cut_alike(const slot_use& left, const slot_use& other) const {
    return std::all_of(cuts_.begin(), cuts_.end(), [&](const cut_label& c) {
      for (int d = 0; d < leaf(left).rank; ++d)
        if ((left.label[d] == c.label) != (other.label[d] == c.label)) return false;
      return true;
    });
  }

  /// Does a table of the slot run along the label? Its parts add to what they find.
  bool is_looked_up_along(const slot_use& s, int label) const {
    bool found = false;
    for (auto next = low_.slots.begin() + (&s - low_.slots.data()) + 1; next != low_.slots.end() && next->is_table; ++next)
      found = found || runs_along(*next, label);
    return found;
  }

  /// Does no part write what another part reads? Either the memory is apart, or it is the same tensor and a cut label
  /// runs along the same axis of both.
  bool keeps_parts_apart(const slot_use& left, const slot_use& other) const {
    const auto base = [&](const slot_use& s) { return reinterpret_cast<std::intptr_t>(call_.bases[s.leaf]); };
    if (left.low == left.high || other.low == other.high) return true;
    if (base(left) + left.high <= base(other) + other.low || base(other) + other.high <= base(left) + left.low) return true;
    const leaf_info &x = leaf(left), &y = leaf(other);
    const bool same = base(left) == base(other) && x.type == y.type && x.rank == y.rank && x.order == y.order &&
                      left.width == other.width && left.block == other.block && x.order != layout::strided &&
                      std::equal(left.strides, left.strides + left.rank, other.strides);
    return same && std::all_of(cuts_.begin(), cuts_.end(), [&](const cut_label& c) {
      for (int d = 0; d < left.rank; ++d)
        if (left.label[d] == c.label && other.label[d] == c.label && left.first[d] == other.first[d]) return true;
      return false;
    });
  }

  void add_parts(const lowering& whole) {
    std::vector<bool> summed;
    for (const cut_label& c : cuts_)
      summed.push_back(std::none_of(whole.slots.begin(), whole.slots.end(), [&](const slot_use& s) { return s.is_left && runs_along(s, c.label); }));
    for_each_part(whole, cuts_, [&](const lowering& part, const std::vector<bool>& first) {
      program p = make_program(call_, part, names_);
      statement& s = p.statements[0];
      bool again = false;
      for (std::size_t c = 0; c < cuts_.size(); ++c) {
        if (!summed[c] || first[c]) continue;
        again = true;
        std::erase_if(s.terms, [&](const product& t) { return lacks(t, cuts_[c].label); });  // added once
      }
      if (again && s.terms.empty()) return;
      if (again && s.op == update::assign) s.op = update::add;
      add_part(std::move(p), part);
    });
  }

  static bool lacks(const product& t, int label) {
    return std::none_of(t.factors.begin(), t.factors.end(), [&](const reference& r) {
      const std::vector<int> labels = labels_of(r);
      return std::find(labels.begin(), labels.end(), label) != labels.end();
    });
  }

  void add_part(program p, const lowering& part) {
    lowered_part made{std::move(p), {}};
    for (const slot_use& s : part.slots)
      made.slots.push_back({leaf(s).local ? -1 : s.leaf, s.copy, s.kept, s.offset * element_bytes(leaf(s))});
    out_.parts.push_back(std::move(made));
  }

  /// Every interleaved operand as a dense copy: in, the statement, out.
  void add_with_copies() {
    refuse_shared_memory();
    cuts_.clear();
    lowering plain = low_;
    std::vector<std::size_t> written;
    for (std::size_t s = 0; s < plain.slots.size(); ++s) {
      if (low_.slots[s].width == 0) continue;
      make_dense(plain.slots[s]);
      if (low_.slots[s].is_table) {
        keep_table(low_.slots[s], plain.slots[s]);
        continue;
      }
      add_run_copy(plain.slots[s]);
      const bool left = low_.slots[s].is_left;
      if (left) written.push_back(s);
      if (!left || call_.program->statements[low_.slots[s].statement].op != update::assign)
        add_copy(low_.slots[s], plain.slots[s], true);
    }
    add_part(make_program(call_, plain, names_), plain);
    for (const std::size_t s : written) add_copy(low_.slots[s], plain.slots[s], false);
  }

  /// A copy holds what a tensor was before all statements. Within one, and before the one that writes, that is right: what
  /// is read is copied before, and what is written after.
  void refuse_shared_memory() const {
    if (call_.program->statement_count == 1) return;
    for (const slot_use& left : low_.slots)
      for (const slot_use& other : low_.slots) {
        if (!left.is_left || left.statement >= other.statement || leaf(left).local || leaf(other).local) continue;
        if (left.width == 0 && other.width == 0) continue;
        const auto base = [&](const slot_use& s) { return reinterpret_cast<std::intptr_t>(call_.bases[s.leaf]); };
        if (base(left) + left.high > base(other) + other.low && base(other) + other.high > base(left) + left.low)
          throw error(errc::bad_argument,
                      "ricci: a fused program reads or writes an interleaved tensor that it has written, and their problems "
                      "do not run along one label of every statement; write separate statements");
      }
  }

  /// The slot as an axis for each of its labels in a dense copy.
  void make_dense(slot_use& s) {
    if (runs_along(s, looked_up))
      throw error(errc::bad_argument, "ricci: an index tensor chooses elements of an interleaved tensor that the statement "
                                      "would have to copy; ricci::deinterleave() it first");
    slot_use out = s;
    out.rank = 0;
    std::int64_t size = 1;
    for (int d = s.rank - 1; d >= 0; --d) {
      if (s.label[d] < 0 || std::find(s.label + d + 1, s.label + s.rank, s.label[d]) != s.label + s.rank) continue;
      const std::int64_t length = s.last[d] - s.first[d];
      add_axis(out, s.label[d], size, length);
      size *= length;
    }
    std::reverse(out.label, out.label + out.rank), std::reverse(out.strides, out.strides + out.rank);
    std::reverse(out.last, out.last + out.rank);
    out.offset = out.shift = out.width = out.block = 0;
    s = out;
  }

  static std::int64_t size_of_dense(const slot_use& s) {
    std::int64_t size = 1;
    for (int d = 0; d < s.rank; ++d) size *= s.last[d];
    return size;
  }

  /// Memory of every run for a dense slot.
  void add_run_copy(slot_use& s) {
    s.copy = static_cast<int>(out_.copies.size());
    out_.copies.push_back(size_of_dense(s) * element_bytes(leaf(s)));
    out_.space = leaf(s).space;
  }

  /// The entries of a table, read now: it stays as it is as long as the plan runs.
  void keep_table(const slot_use& table, slot_use& dense) {
    if (leaf(table).space == memory_space::gpu)
      throw error(errc::bad_argument, "ricci: an interleaved index tensor on the GPU stands in a statement that would have to "
                                      "copy it; give it plain memory first");
    const std::int64_t bytes = element_bytes(leaf(table)), size = size_of_dense(dense);
    const char* const from = static_cast<const char*>(call_.bases[table.leaf]);
    std::vector<char>& to = out_.kept.emplace_back(static_cast<std::size_t>(size * bytes));
    for (std::int64_t entry = 0; entry < size; ++entry) {
      std::int64_t at = table.offset;
      for (int d = 0; d < table.rank; ++d) {
        if (table.label[d] < 0) continue;
        const auto axis = std::find(dense.label, dense.label + dense.rank, table.label[d]) - dense.label;
        const std::int64_t x = entry / dense.strides[axis] % dense.last[axis], problem = table.first[d] + x;
        at += d == 0 ? problem / table.width * table.block + problem % table.width : x * table.strides[d];
      }
      std::copy_n(from + at * bytes, bytes, to.data() + entry * bytes);
    }
    dense.kept = static_cast<int>(out_.kept.size()) - 1;
  }

  /// copy = tensor, or tensor = copy.
  void add_copy(const slot_use& tensor, const slot_use& copy, bool in) {
    lowering both;
    both.names = low_.names, both.lengths = low_.lengths;
    both.slots = in ? std::vector{copy, tensor} : std::vector{tensor, copy};
    const int label = tensor.label[0];
    const std::vector<cut_label> cuts{{label, tensor.width, pieces_of(tensor.first[0], both.lengths[static_cast<std::size_t>(label)], tensor.width)}};
    for_each_part(both, cuts, [&](const lowering& part, const std::vector<bool>&) {
      program p;
      for (std::size_t l = 0; l < part.lengths.size(); ++l) p.labels.push_back({part.names[l], part.lengths[l]});
      p.slot_count = 2;
      statement& s = p.statements.emplace_back();
      s.left = plain_reference(part.slots[0], 0);
      s.terms.emplace_back().factors.push_back(plain_reference(part.slots[1], 1));
      add_part(std::move(p), part);
    });
  }

  reference plain_reference(const slot_use& s, int slot) const {
    reference r;
    r.slot = slot;
    r.type = leaf(s).type;
    r.space = leaf(s).space;
    r.name = s.copy >= 0 ? "copy" : "interleaved";
    for (int d = 0; d < s.rank; ++d) {
      const auto same = [&](const reference_axis& a) { return a.label == s.label[d]; };
      const auto at = std::find_if(r.axes.begin(), r.axes.end(), same);
      if (at != r.axes.end()) at->stride += s.strides[d];
      else r.axes.push_back({s.label[d], s.strides[d]});
    }
    return r;
  }

  const front_call& call_;
  const lowering& low_;
  naming names_;
  std::vector<cut_label> cuts_;
  lowered_parts out_;
};

}  // namespace

lowered_parts lower_interleaved(const front_call& call, const lowering& low, naming names, const options& o) {
  return cutter(call, low, names).all(o);
}

}  // namespace ricci::detail
