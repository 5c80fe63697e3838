// Where temporaries lie in the scratch of a segment.
#include <algorithm>

#include "plan/plan.hpp"

namespace ricci::planning {
namespace {

constexpr std::size_t most_replaced = 4;  // results of one step: their vectors wait in registers

bool same_strides(const operand& x, const operand& y, int but_x = -1, int but_y = -1) {
  const auto same = [&](int label) { return label == but_x || stride_of(x, label) == stride_of(y, label); };
  return x.labels.size() == y.labels.size() && std::all_of(x.labels.begin(), x.labels.end(), same) &&
         (but_x < 0 || stride_of(x, but_x) == stride_of(y, but_y));
}

/// Whether a result of a pointwise step beside products may stand where a tensor does that it reads: the result of the
/// second product in the place of what the first one reads, since a fibre is read whole before it is written, or that of a
/// statement in the place of an input, since the kernel writes an element behind all statements.
bool takes_place(const plan_step& s, int gone, int fresh) {
  const fibre_product &from = s.op.before, &to = s.op.after;
  if (from.at < 0 && to.at < 0) return false;
  const auto is = [](const operand& x, int id) { return x.where == operand::kind::temporary && x.id == id; };
  int uses = 0;
  for_each_operand(s.op, [&](const operand& x) { uses += is(x, gone); });
  if (uses != 1) return false;
  if (from.at >= 0 && to.at >= 0 && is(from.tensor, gone) && is(to.tensor, fresh))
    return is_zero(to.beta) && same_strides(from.tensor, to.tensor, from.own, to.own);
  const auto read = std::find_if(s.op.inputs.begin(), s.op.inputs.end(), [&](const operand& x) { return is(x, gone); });
  const auto written = std::find_if(s.op.outputs.begin(), s.op.outputs.end(), [&](const pointwise_output& x) { return x.stored && is(x.c, fresh); });
  if (read == s.op.inputs.end() || written == s.op.outputs.end() || s.op.outputs.size() > most_replaced) return false;
  const auto own = static_cast<int>(written - s.op.outputs.begin());
  const bool read_again = std::any_of(s.op.terms.begin(), s.op.terms.end(), [&](const pointwise_term& t) {
    return std::any_of(t.factors.begin(), t.factors.end(), [&](const auto& f) { return f.first == -1 - own; });
  });
  return !read_again && is_zero(written->beta) && same_strides(*read, written->c);
}

}  // namespace

void place_temporaries(segment& s) {
  for (std::size_t i = 0; i < s.temporaries.size(); ++i) s.temporaries[i].born = -1;
  for (int step = 0; step < static_cast<int>(s.steps.size()); ++step)
    for_each_operand(s.steps[step].op, [&](const operand& x) {
      if (x.where != operand::kind::temporary) return;
      temporary& t = s.temporaries[x.id];
      if (t.born < 0) t.born = step;
      t.dies = step;
    });
  // What lives in some of the steps that run slice by slice does so in all of them.
  std::vector<std::pair<int, int>> together;
  for (int step = 0; step < static_cast<int>(s.steps.size()); ++step) {
    const int count = s.steps[static_cast<std::size_t>(step)].slice_steps, first = step;
    if (count == 0) together.push_back({step, step});
    for (int n = 0; n < count; ++n) together.push_back({first, first + count - 1});
    step += std::max(count - 1, 0);
  }
  const auto begins = [&](const temporary& x) { return together[static_cast<std::size_t>(x.born)].first; };
  const auto ends = [&](const temporary& x) { return together[static_cast<std::size_t>(x.dies)].second; };
  const auto exact = [](const temporary& x) { return x.size * static_cast<std::int64_t>(size_of(x.type)); };
  // Neighbours that lie whole pages apart would share the lines of the first cache, and loads of one would wait for
  // stores to the other.
  const auto bytes = [&](const temporary& x) {
    const std::int64_t lines = (exact(x) + 127) / 64 * 64, page = lines % 4096;
    return lines >= 16384 && (page < 512 || page > 3584) ? lines + 1024 : lines;
  };
  const auto replaces = [&](const temporary& x, const temporary& y) {  // in either order
    const temporary &gone = x.born < y.born ? x : y, &fresh = x.born < y.born ? y : x;
    const auto id = [&](const temporary& t) { return static_cast<int>(&t - s.temporaries.data()); };
    return gone.dies == fresh.born && exact(gone) == exact(fresh) && gone.type == fresh.type &&
           takes_place(s.steps[static_cast<std::size_t>(fresh.born)], id(gone), id(fresh));
  };
  std::vector<temporary*> waiting;
  for (temporary& t : s.temporaries)
    if (t.born >= 0) waiting.push_back(&t);
  std::stable_sort(waiting.begin(), waiting.end(), [&](const temporary* x, const temporary* y) { return exact(*x) > exact(*y); });
  std::vector<const temporary*> placed;
  const auto meet = [&](const temporary& x, const temporary& y) { return begins(x) <= ends(y) && begins(y) <= ends(x); };
  const auto is_in_the_way = [&](const temporary& t, const temporary& other) {
    const bool apart = t.offset + bytes(t) <= other.offset || other.offset + bytes(other) <= t.offset;
    return meet(t, other) && !apart && !(t.offset == other.offset && replaces(t, other));
  };
  s.scratch_bytes = 0;
  for (temporary* t : waiting) {
    const auto fits = [&](const temporary* other) {
      t->offset = other->offset;
      return replaces(*t, *other) && std::none_of(placed.begin(), placed.end(), [&](const temporary* x) { return is_in_the_way(*t, *x); });
    };
    if (std::none_of(placed.begin(), placed.end(), fits)) {  // the first gap; those placed are sorted by where they begin
      t->offset = 0;
      for (const temporary* other : placed) {
        if (other->offset >= t->offset + bytes(*t)) break;
        if (meet(*t, *other)) t->offset = std::max(t->offset, other->offset + bytes(*other));
      }
    }
    placed.insert(std::upper_bound(placed.begin(), placed.end(), t, [](const temporary* x, const temporary* y) { return x->offset < y->offset; }), t);
    s.scratch_bytes = std::max(s.scratch_bytes, t->offset + bytes(*t));
  }
}

}  // namespace ricci::planning
