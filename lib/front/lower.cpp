// Flat program + numbers -> program.
#include "front/lowering.hpp"

#include <algorithm>

#include <ricci/core/error.hpp>
#include <ricci/expr/local.hpp>

namespace ricci::detail {
namespace {

/// Makes the slots of one statement and fills in what its axes are.
class resolver {
 public:
  explicit resolver(const front_call& call) : p_(*call.program), call_(call) {
    out_.numbers.assign(call.numbers, call.numbers + p_.number_count);
    out_.lengths.assign(p_.label_count, unknown);
    out_.slots.reserve(p_.slot_count);
    for (int l = 0; l < p_.label_count; ++l) out_.names.emplace_back(p_.labels[l].text, p_.labels[l].size);
  }

  lowering all() {
    for (int s = 0; s < p_.statement_count; ++s) one(s);
    return std::move(out_);
  }

 private:
  void one(int s) {
    const statement_info& info = p_.statements[s];
    for_each_factor(info, [&](const use_info& use) { read_local(use.index, s); });
    std::vector<label_facts> facts(p_.label_count);
    const verdict v = judge(p_, out_.numbers.data()).statement(s, facts.data());
    if (!v.ok()) throw_verdict(v, p_);
    for (int l = 0; l < p_.label_count; ++l) {
      if (facts[l].length == unknown) continue;
      if (out_.lengths[l] != unknown && out_.lengths[l] != facts[l].length)
        throw_verdict({fault::unequal_extents, l, -1, out_.lengths[l], facts[l].length}, p_);
      out_.lengths[l] = facts[l].length;
    }
    write_local(info.left, facts.data(), s);
    add(info.left, s, true, false, facts.data());
    for_each_factor(info, [&](const use_info& use) { add(use.index, s, false, use.conj, facts.data()); });
  }

  template <class F>
  void for_each_factor(const statement_info& info, F f) const {
    for (int t = info.first_term; t < info.first_term + info.term_count; ++t)
      for (int u = 0; u < p_.terms[t].use_count; ++u)
        if (const use_info& use = p_.uses[p_.terms[t].first_use + u]; use.what == use_info::kind::factor) f(use);
  }

  /// "g(i,j) in statement 2": the local's name, if it has one, and how it stands there.
  std::string words(int leaf, int s) const {
    const char* name = static_cast<const local_identity*>(call_.bases[leaf])->name;
    std::string text = std::string(name ? name : "local") + "(";
    const leaf_info& info = p_.leaves[leaf];
    for (int d = 0; d < info.rank; ++d) {
      const int label = p_.axes[info.first_axis + d].label;
      text += d ? "," : "";
      if (label >= 0) text.append(p_.labels[label].text, p_.labels[label].size);
    }
    return text + ") in statement " + std::to_string(s + 1);
  }

  /// A local's extents are those of the labels it was assigned with.
  void read_local(int leaf, int s) {
    const leaf_info& info = p_.leaves[leaf];
    if (!info.local) return;
    const auto at = std::find(out_.locals.begin(), out_.locals.end(), call_.bases[leaf]);
    if (at == out_.locals.end())
      throw error(errc::bad_argument, "ricci[R015]: a local is read before a statement of the fused program assigns it: " +
                                          words(leaf, s));
    const std::vector<std::int64_t>& extents = local_extents_[at - out_.locals.begin()];
    if (static_cast<int>(extents.size()) != info.rank)
      throw error(errc::bad_argument, "ricci[R015]: a local was assigned with " + std::to_string(extents.size()) +
                                          " labels and is read with " + std::to_string(info.rank) + ": " +
                                          words(leaf, s));
    for (int d = 0; d < info.rank; ++d) out_.numbers[p_.axes[info.first_axis + d].extent_at] = extents[d];
    for (int d = 0; d < info.rank; ++d)
      for (int e = 0; e < d; ++e)
        if (p_.axes[info.first_axis + d].label == p_.axes[info.first_axis + e].label)
          throw error(errc::bad_label, "ricci[R015]: a local is read without its diagonal, but one label stands on two of its axes: " +
                                           words(leaf, s));
  }

  /// A local has no slices: it is read whole.
  void read_whole(int leaf, const slot_use& slot, const std::int64_t* extents, int s) const {
    for (int d = 0; d < slot.rank; ++d) {
      if (slot.first[d] == 0 && slot.last[d] == extents[d]) continue;
      throw error(errc::bad_argument, "ricci[R015]: a local is read whole, but label " + out_.names[static_cast<std::size_t>(slot.label[d])] +
                                          " has the range [" + std::to_string(slot.first[d]) + ", " + std::to_string(slot.last[d]) +
                                          ") of extent " + std::to_string(extents[d]) + ": " + words(leaf, s));
    }
  }

  void write_local(int leaf, const label_facts* facts, int s) {
    const leaf_info& info = p_.leaves[leaf];
    if (!info.local) return;
    if (std::find(out_.locals.begin(), out_.locals.end(), call_.bases[leaf]) != out_.locals.end())
      throw error(errc::bad_argument, "ricci[R015]: a local is assigned twice in a fused program: " + words(leaf, s));
    std::vector<std::int64_t> extents;
    for (int d = 0; d < info.rank; ++d) {
      extents.push_back(facts[p_.axes[info.first_axis + d].label].length);
      out_.numbers[p_.axes[info.first_axis + d].extent_at] = extents.back();
    }
    out_.locals.push_back(call_.bases[leaf]);
    local_extents_.push_back(extents);
  }

  void add(int leaf, int s, bool is_left, bool conj, const label_facts* facts) {
    const leaf_info& info = p_.leaves[leaf];
    slot_use& slot = out_.slots.emplace_back();
    slot.leaf = leaf;
    slot.statement = s;
    slot.rank = info.rank;
    slot.is_left = is_left;
    slot.conj = conj && is_complex(info.type);
    std::int64_t extents[max_rank];
    for (int d = 0; d < info.rank; ++d) extents[d] = look(p_.axes[info.first_axis + d], out_.numbers.data()).extent;
    strides(info, extents, slot.strides);
    for (int d = 0; d < info.rank; ++d) {
      const axis_info& axis = p_.axes[info.first_axis + d];
      const known_axis k = look(axis, out_.numbers.data());
      slot.label[d] = axis.label;
      slot.first[d] = axis.label < 0 ? k.first : facts[axis.label].first;
      slot.last[d] = axis.label < 0 ? k.first + 1 : facts[axis.label].last;
      if (axis.table >= 0) slot.label[d] = looked_up, slot.first[d] = 0, slot.last[d] = k.extent;
      slot.offset += slot.first[d] * slot.strides[d];
    }
    if (info.local && !is_left) read_whole(leaf, slot, extents, s);
    if (info.local) slot.offset = 0;
    else if (info.width > 0) interleaved(info, extents, slot);
    else span(info, slot);
    if (!call_.bases[leaf] && slot.low < slot.high)
      throw error(errc::bad_argument, std::string("ricci: ") + (is_left ? "the left side" : info.index_bytes > 0 ? "an index tensor" : "a factor") +
                                          " has elements but no memory (null)");
    for (int d = 0; d < info.rank; ++d)
      if (const int table = p_.axes[info.first_axis + d].table; table >= 0) {
        add(table, s, false, false, facts);  // slot is gone
        out_.slots.back().is_table = true;
      }
  }

  /// Axis 0 was left out. An integer there says which problem; for a label the whole tensor counts as used.
  static void interleaved(const leaf_info& info, const std::int64_t* extents, slot_use& slot) {
    if (slot.label[0] == looked_up)
      throw error(errc::bad_argument, "ricci: an index tensor cannot choose the problems of an interleaved tensor; "
                                      "ricci::deinterleave() it first");
    std::int64_t block = info.width;
    for (int d = 1; d < info.rank; ++d) block = product_of(block, extents[d]);
    if (slot.label[0] < 0) slot.offset += slot.shift = slot.first[0] / info.width * block + slot.first[0] % info.width;
    else slot.width = info.width, slot.block = block;
    for (int d = 0; d < info.rank; ++d)
      if (slot.last[d] <= slot.first[d]) return;
    slot.high = (extents[0] + info.width - 1) / info.width * block * static_cast<std::int64_t>(size_of(info.type));
  }

  void strides(const leaf_info& info, const std::int64_t* extents, std::int64_t* to) const {
    std::int64_t step = info.width > 0 ? info.width : 1;
    for (int a = 0; a < info.rank; ++a) {
      const int d = info.order == layout::column_major ? a : info.rank - 1 - a;
      if (info.order == layout::strided) to[d] = out_.numbers[p_.axes[info.first_axis + d].stride_at];
      else to[d] = step, step = product_of(step, extents[d]);
    }
    if (info.width > 0) to[0] = 0;
  }

  static void span(const leaf_info& info, slot_use& slot) {
    const std::int64_t size = element_bytes(info);
    std::int64_t low = 0, high = 0;
    for (int d = 0; d < info.rank; ++d)
      if (slot.last[d] <= slot.first[d]) return;
    for (int d = 0; d < info.rank; ++d) {
      const std::int64_t x = slot.first[d] * slot.strides[d], y = (slot.last[d] - 1) * slot.strides[d];
      low += std::min(x, y);
      high += std::max(x, y);
    }
    slot.low = low * size;
    slot.high = (high + 1) * size;
  }

  const flat_program& p_;
  const front_call& call_;
  lowering out_;
  std::vector<std::vector<std::int64_t>> local_extents_;
};

/// The name that the user gave it, unless another local of the program has the same.
std::string name_of_local(const lowering& low, int local) {
  const auto given = [](const void* identity) -> std::string {
    const char* const name = static_cast<const local_identity*>(identity)->name;
    return name ? name : "";
  };
  const std::string own = given(low.locals[static_cast<std::size_t>(local)]);
  const auto same = std::count_if(low.locals.begin(), low.locals.end(), [&](const void* other) { return given(other) == own; });
  return own.empty() || same > 1 ? "local" + std::to_string(local + 1) : own;
}

std::string name_of_slot(const front_call& call, const lowering& low, int slot, int local, naming names) {
  if (local >= 0) return name_of_local(low, local);
  const flat_program& p = *call.program;
  const slot_use& s = low.slots[slot];
  int lefts = 0, factors = 0;
  for (int other = 0; other < slot; ++other) {
    const slot_use& o = low.slots[other];
    if (p.leaves[o.leaf].local || o.is_table) continue;
    if (o.is_left) {
      ++lefts;
      if (call.bases[o.leaf] == call.bases[s.leaf]) return name_of_slot(call, low, other, -1, names);
    } else if (!s.is_left) {
      if (names == naming::by_memory && call.bases[o.leaf] == call.bases[s.leaf])
        return name_of_slot(call, low, other, -1, names);
      ++factors;
    }
  }
  if (s.is_left) return lefts == 0 ? "C" : "C" + std::to_string(lefts + 1);
  const std::string letters = "ABDEFGHKMNPQRSTUVWXYZ";
  return factors < static_cast<int>(letters.size()) ? letters.substr(factors, 1) : "A" + std::to_string(factors + 1);
}

/// Where a program's tensors are; its locals live there as well.
memory_space space_of(const flat_program& p) {
  for (int l = 0; l < p.leaf_count; ++l)
    if (!p.leaves[l].local) return p.leaves[l].space;
  return memory_space::host;
}

std::vector<reference_axis> axes_of(const slot_use& s) {
  std::vector<reference_axis> axes;
  for (int d = 0; d < s.rank; ++d) {
    if (s.label[d] < 0) continue;
    const auto same = [&](const reference_axis& a) { return a.label == s.label[d]; };
    const auto at = std::find_if(axes.begin(), axes.end(), same);
    if (at != axes.end()) at->stride += s.strides[d];
    else axes.push_back({s.label[d], s.strides[d]});
  }
  return axes;
}

/// Where the ranges of the axes begin.
std::vector<std::int64_t> firsts_of(const slot_use& s) {
  std::vector<std::int64_t> firsts;
  for (int d = 0; d < s.rank; ++d)
    if (s.label[d] >= 0 && std::find(s.label, s.label + d, s.label[d]) == s.label + d) firsts.push_back(s.first[d]);
  return firsts;
}

/// The first slot whose first element this slot's is.
int memory_of(const front_call& call, const lowering& low, int slot) {
  const auto first = [&](int s) {
    const leaf_info& info = call.program->leaves[low.slots[s].leaf];
    return static_cast<const char*>(call.bases[low.slots[s].leaf]) + low.slots[s].offset * element_bytes(info);
  };
  for (int other = 0; other < slot; ++other)
    if (!call.program->leaves[low.slots[other].leaf].local && low.slots[other].copy < 0 && low.slots[other].kept < 0 && first(other) == first(slot))
      return other;
  return slot;
}

reference make_reference(const front_call& call, const lowering& low, int slot, naming names) {
  const slot_use& s = low.slots[slot];
  const leaf_info& info = call.program->leaves[s.leaf];
  reference r;
  r.slot = slot;
  r.type = info.type;
  r.space = info.local ? space_of(*call.program) : info.space;
  r.conj = s.conj;
  if (info.local) {
    const auto at = std::find(low.locals.begin(), low.locals.end(), call.bases[s.leaf]);
    r.local = static_cast<int>(at - low.locals.begin());
  }
  r.name = name_of_slot(call, low, slot, r.local, names);
  r.axes = axes_of(s);
  for (int d = 0; d < s.rank; ++d) {
    if (s.label[d] != looked_up) continue;
    const slot_use& table = low.slots[static_cast<std::size_t>(slot) + 1];
    const leaf_info& entries = call.program->leaves[table.leaf];
    r.lookups.push_back({slot + 1, entries.index_bytes == 8, s.strides[d], s.last[d], d, "dof", axes_of(table), -1, firsts_of(table)});
  }
  if (names == naming::by_memory && !info.local && s.copy < 0) {
    r.memory = memory_of(call, low, slot);
    if (!r.lookups.empty() && low.slots[static_cast<std::size_t>(slot) + 1].kept < 0) r.lookups[0].memory = memory_of(call, low, slot + 1);
  }
  const auto first = reinterpret_cast<std::uintptr_t>(call.bases[s.leaf]) + static_cast<std::uintptr_t>(s.shift) * size_of(info.type);
  r.within_line = !info.local && r.space == memory_space::host && first % 64 != 0;
  if (info.even_odd && r.axes.size() == 2) r.parity = parity_of(call, low, slot);
  return r;
}

product make_product(const front_call& call, const lowering& low, const term_info& term, int& slot, int& scalar,
                     naming names) {
  product t;
  t.negate = term.negate;
  t.how = term.how;
  bool scaled = false;
  for (int u = term.first_use; u < term.first_use + term.use_count; ++u) {
    const use_info::kind what = call.program->uses[u].what;
    if (what == use_info::kind::factor) {
      t.factors.push_back(make_reference(call, low, slot, names));
      t.factors.back().apply = call.program->uses[u].apply;
      slot += 1 + static_cast<int>(t.factors.back().lookups.size());
    }
    scaled = scaled || what == use_info::kind::real_scalar || what == use_info::kind::complex_scalar;
  }
  if (scaled) t.scalar = scalar++;
  return t;
}

}  // namespace

lowering resolve(const front_call& call) { return resolver(call).all(); }

overlap::kind relation(const front_call& call, const lowering& low, int left_slot, int other_slot) {
  const slot_use &x = low.slots[left_slot], &y = low.slots[other_slot];
  if (x.copy >= 0 || y.copy >= 0 || x.is_table || y.is_table) return overlap::kind::disjoint;
  const auto footprint_of = [&](const slot_use& s) {
    const dtype type = call.program->leaves[s.leaf].type;
    const void* const base = static_cast<const char*>(call.bases[s.leaf]) + s.shift * static_cast<std::int64_t>(size_of(type));
    return footprint{base, type, s.rank, s.strides, s.first, s.last, s.label};
  };
  const overlap::kind verdict = classify(footprint_of(x), footprint_of(y));
  // Labels of looked-up axes say nothing about places.
  const bool is_looked_up = std::count(x.label, x.label + x.rank, looked_up) > 0;
  return is_looked_up && verdict == overlap::kind::same ? overlap::kind::may : verdict;
}

program make_program(const front_call& call, const lowering& low, naming names) {
  const flat_program& flat = *call.program;
  program p;
  for (std::size_t l = 0; l < low.lengths.size(); ++l) p.labels.push_back({low.names[l], low.lengths[l]});
  p.local_count = static_cast<int>(low.locals.size());
  p.slot_count = static_cast<int>(low.slots.size());
  int slot = 0;
  for (int s = 0; s < flat.statement_count; ++s) {
    const statement_info& info = flat.statements[s];
    statement& made = p.statements.emplace_back();
    made.op = info.op;
    made.left = make_reference(call, low, slot, names);
    slot += 1 + static_cast<int>(made.left.lookups.size());
    for (int t = info.first_term; t < info.first_term + info.term_count; ++t)
      made.terms.push_back(make_product(call, low, flat.terms[t], slot, p.scalar_count, names));
  }
  for (int left = 0; left < slot; ++left) {
    if (!low.slots[left].is_left || flat.leaves[low.slots[left].leaf].local) continue;
    for (int other = 0; other < slot; ++other) {
      const slot_use &x = low.slots[left], &y = low.slots[other];
      if (other == left || flat.leaves[y.leaf].local) continue;
      const overlap::kind verdict = relation(call, low, left, other);
      if (y.is_table) continue;
      const bool same_tensor =
          call.bases[x.leaf] == call.bases[y.leaf] && x.low < x.high && y.low < y.high && x.copy < 0 && y.copy < 0;
      if (verdict != overlap::kind::disjoint || same_tensor) p.overlaps.push_back({left, other, verdict});
    }
  }
  return p;
}

void bind_coefficients(const front_call& call) {
  const flat_program& p = *call.program;
  std::complex<double>* to = call.coefficients;
  for (int t = 0; t < p.term_count; ++t) {
    std::complex<double> x = 1;
    bool scaled = false;
    for (int u = p.terms[t].first_use; u < p.terms[t].first_use + p.terms[t].use_count; ++u) {
      const use_info& use = p.uses[u];
      if (use.what != use_info::kind::real_scalar && use.what != use_info::kind::complex_scalar) continue;
      std::complex<double> s = use.conj ? std::conj(call.scalars[use.index]) : call.scalars[use.index];
      const bool real = use.what == use_info::kind::real_scalar;
      if (use.apply == function::reciprocal) s = real ? 1.0 / s.real() : 1.0 / s;
      if (!scaled) x = s;
      else if (!real) x *= s;
      else if (x.imag() != 0) x *= s.real();
      else x = x.real() * s.real();  // 0 times infinity would be a NaN
      scaled = true;
    }
    if (scaled) *to++ = x;
  }
}

void bind(const front_call& call, const lowering& low) {
  for (std::size_t s = 0; s < low.slots.size(); ++s) {
    const leaf_info& info = call.program->leaves[low.slots[s].leaf];
    const auto base = static_cast<const char*>(call.bases[low.slots[s].leaf]);
    const auto bytes = low.slots[s].offset * element_bytes(info);
    call.pointers[s] = info.local || !base ? nullptr : const_cast<char*>(base + bytes);
  }
  bind_coefficients(call);
}

void check(const front_call& call) { static_cast<void>(resolve(call)); }

program lower(const front_call& call) { return make_program(call, resolve(call), naming::by_memory); }

bool is_interleaved(const lowering& low) {
  for (const slot_use& s : low.slots)
    if (s.width > 0) return true;
  return false;
}

}  // namespace ricci::detail
