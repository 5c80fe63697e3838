// Products with even or odd matrices, and what stands between them, slice by slice along a label that all of them have:
// what they pass on is a slice then, which stays in the first cache where the whole does not.
#include <algorithm>
#include <set>
#include <utility>

#include "plan/cost.hpp"
#include "plan/plan.hpp"

namespace ricci::planning {
namespace {

constexpr std::int64_t least_slices = 2;
constexpr double least_touched = 0.7;  // of the first cache, by the temporaries that a run touches; measured
constexpr int most_turned = 2;       // inputs of a pointwise step: many streams are followed through whole blocks; measured


/// Calls f with everything that an operation writes.
template <class F>
void for_each_result(const pair_op& op, const F& f) {
  if (op.what != action::pointwise && op.c.where != operand::kind::one) f(op.c);
  if (op.what == action::pointwise && op.outputs.empty()) f(op.c);
  for (const pointwise_output& x : op.outputs)
    if (x.stored) f(x.c);
  if (op.after.at >= 0) f(op.after.tensor);
}

bool writes_to(const pair_op& op, const operand& x) {
  bool found = false;
  for_each_result(op, [&](const operand& y) { found = found || same_place(x, y); });
  return found;
}

bool touches(const pair_op& op, const operand& x) {
  bool found = false;
  for_each_operand(op, [&](const operand& y) { found = found || same_place(x, y); });
  return found;
}

class slicer {
 public:
  slicer(work& w, const std::vector<int>& block, int lane, const machine& m) : w_(w), block_(block), lane_(lane), m_(m) {}

  std::vector<slice_run> run() {
    if (m_.writes_kernels && m_.vector_bytes == 64 && !block_.empty() && lane_ >= 0 && w_.shares && !m_.caches.empty()) find(0, w_.ops.size());
    return std::move(found_);
  }

 private:
  /// A run that begins at an operation, behind others that it does not need.
  struct candidate {
    int label = -1;
    std::size_t first = 0, count = 0;
    double passed = 0, touched = 0;  // bytes of temporaries: from one of its operations to another; in all
    std::vector<std::size_t> before; // those that are moved to stand before it
    std::vector<std::size_t> run;    // in the old order
  };

  std::int64_t extent(int label) const { return w_.source.labels[static_cast<std::size_t>(label)].extent; }

  std::vector<int> labels_of(const pair_op& op) const {
    std::vector<int> out;
    for_each_result(op, [&](const operand& x) {
      for (int l : x.labels)
        if (l != lane_ && !contains(block_, l) && extent(l) >= least_slices && !contains(out, l)) out.push_back(l);
    });
    return out;
  }

  /// Whether a value of the label in what the operation writes needs that value alone of what varies in it, and slices
  /// are whole pieces of memory.
  bool is_apart(const pair_op& op, int label) const {
    bool all = true;
    for_each_operand(op, [&](const operand& x) {
      for (int l : x.labels)
        all = all && (!has(x, label) || l == lane_ || contains(block_, l) || stride_of(x, l) <= stride_of(x, label));
    });
    for_each_result(op, [&](const operand& x) { all = all && has(x, label); });
    if (op.what == action::contract) {
      const operand &matrix = op.a.parity != 0 ? op.a : op.b, &x = op.a.parity != 0 ? op.b : op.a;
      return all && matrix.parity != 0 && x.parity == 0 && op.turned < 0 && op.scale.where == operand::kind::one && !has(matrix, label) && has(x, label);
    }
    if (op.what != action::pointwise || (op.before.at < 0 && op.after.at < 0)) return false;
    const auto turned = std::count_if(op.inputs.begin(), op.inputs.end(), [&](const operand& x) { return stride_of(x, lane_) > 1; });
    if (turned > most_turned) return false;
    for (const fibre_product* x : {&op.before, &op.after})
      all = all && (x->at < 0 || (x->along != label && !has(x->matrix, label) && has(x->tensor, label)));
    return all;
  }

  /// What is written in the run has the label on one axis wherever the run has it.
  static bool agree(const pair_op& x, const pair_op& y, int label) {
    bool all = true;
    for_each_operand(x, [&](const operand& p) {
      for_each_operand(y, [&](const operand& q) {
        if (!same_place(p, q) || (!writes_to(x, p) && !writes_to(y, p))) return;
        all = all && has(p, label) && has(q, label) && stride_of(p, label) == stride_of(q, label);
      });
    });
    return all;
  }

  static bool independent(const pair_op& x, const pair_op& y) {
    bool free = true;
    for_each_result(x, [&](const operand& p) { free = free && !touches(y, p); });
    for_each_result(y, [&](const operand& p) { free = free && !touches(x, p); });
    return free;
  }

  /// The run of operations [i, end) that passes on the most, then those before and behind it.
  void find(std::size_t i, std::size_t end) {
    candidate best;
    for (std::size_t n = i; n < end; ++n)
      for (int l : labels_of(w_.ops[n])) {
        candidate x = along(l, n, end);
        if (x.passed > best.passed && x.touched >= least_touched * static_cast<double>(m_.caches[0].bytes)) best = std::move(x);
      }
    if (best.passed == 0) return;
    reorder(best);
    find(i, best.first);
    found_.push_back({best.first, best.count, best.label});
    find(best.first + best.count, end);
  }

  void reorder(const candidate& x) {
    std::vector<pair_op> ops;
    for (const auto* part : {&x.before, &x.run})
      for (std::size_t n : *part) ops.push_back(std::move(w_.ops[n]));
    std::move(ops.begin(), ops.end(), w_.ops.begin() + static_cast<std::ptrdiff_t>(x.run.front()));
  }

  candidate along(int label, std::size_t i, std::size_t end) const {
    candidate out;
    if (!is_apart(w_.ops[i], label)) return out;
    out.label = label;
    std::vector<std::size_t> &run = out.run, &before = out.before;
    run.push_back(i);
    for (std::size_t k = i + 1; k < end; ++k) {
      const pair_op& op = w_.ops[k];
      const auto all = [&](const auto& test) { return std::all_of(run.begin(), run.end(), [&](std::size_t x) { return test(w_.ops[x], op); }); };
      if (is_apart(op, label) && all([&](const pair_op& x, const pair_op& y) { return agree(x, y, label); })) run.push_back(k);
      else if (all(independent)) before.push_back(k);
      else break;
    }
    // What would stand before the run for nothing stays behind it.
    while (!before.empty() && before.back() > run.back()) before.pop_back();
    out.first = i + before.size(), out.count = run.size();
    std::set<int> known;
    for (std::size_t n : run)
      for_each_operand(w_.ops[n], [&](const operand& x) {
        if (x.where != operand::kind::temporary || !has(x, lane_) || !known.insert(x.id).second) return;
        double bytes = static_cast<double>(size_of(x.type));
        for (int l : x.labels) bytes *= static_cast<double>(extent(l));
        out.touched += bytes;
        const auto writer = std::find_if(run.begin(), run.end(), [&](std::size_t y) { return writes_to(w_.ops[y], x); });
        if (writer != run.end() && std::any_of(writer + 1, run.end(), [&](std::size_t y) { return touches(w_.ops[y], x); })) out.passed += bytes;
      });
    return out;
  }

  work& w_;
  const std::vector<int>& block_;
  const int lane_;
  const machine& m_;
  std::vector<slice_run> found_;
};

}  // namespace

std::vector<slice_run> find_slices(work& w, const std::vector<int>& block, int lane, const machine& m) { return slicer(w, block, lane, m).run(); }

bool lower_slices(work& w, const slice_run& run, std::vector<std::int64_t> extents, const std::vector<int>& block, const machine& m, const options& o,
                  std::vector<plan_step>& steps) {
  const std::int64_t count = std::exchange(extents[static_cast<std::size_t>(run.label)], 1);
  const auto first = w.ops.begin() + static_cast<std::ptrdiff_t>(run.first), last = first + static_cast<std::ptrdiff_t>(run.count);
  std::vector<pair_op> ops(first, last);
  std::set<int> own;  // temporaries that only the run touches
  for (const pair_op& op : ops)
    for_each_operand(op, [&](const operand& x) {
      const auto here = [&](const pair_op& y) { return touches(y, x); };
      if (x.where == operand::kind::temporary && has(x, run.label) && std::none_of(w.ops.begin(), first, here) && std::none_of(last, w.ops.end(), here)) own.insert(x.id);
    });
  for (pair_op& op : ops)
    for_each_operand(op, [&](operand& x) {
      if (x.where != operand::kind::temporary || !own.contains(x.id)) return;
      const std::int64_t stride = stride_of(x, run.label);
      for (std::size_t d = 0; d < x.labels.size(); ++d) x.strides[d] = x.labels[d] == run.label ? 0 : x.strides[d] > stride ? x.strides[d] / count : x.strides[d];
    });
  std::vector<plan_step> made;
  for (const pair_op& op : ops) {
    plan_step s = lower(op, extents, block, m, o);
    if (s.how != method::halves && s.how != method::pointwise) return false;
    // A call for each slice counts as one: it is little, and the choice of blocks is not to hang on it.
    const double calls = static_cast<double>(count - 1) * (s.how == method::halves ? halves_call_cycles : other_call_cycles);
    s.flops *= static_cast<double>(count), s.seconds = static_cast<double>(count) * s.seconds - calls / cycles_per_second(m);
    s.slices = count, s.slice_label = run.label;
    made.push_back(std::move(s));
  }
  made.front().slice_steps = static_cast<int>(run.count);
  for (int t : own) w.temporaries[static_cast<std::size_t>(t)].size /= count;
  for (plan_step& s : made) steps.push_back(std::move(s));
  return true;
}

}  // namespace ricci::planning
