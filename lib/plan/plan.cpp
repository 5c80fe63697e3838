// make_plan: order, blocks, layouts and steps, for one machine.
#include "plan/plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "plan/cost.hpp"

namespace ricci {
namespace {

using planning::work;

std::vector<std::int64_t> extents_of(const program& p) {
  std::vector<std::int64_t> extents;
  for (const label_info& l : p.labels) extents.push_back(l.extent);
  return extents;
}

/// A common label along which the tensors in memory have stride 1 (problems that lie side by side), or -1.
int side_by_side(const work& w, const std::vector<int>& common) {
  for (int l : common) {
    bool some = false, all = true;
    for (const pair_op& op : w.ops)
      for_each_operand(op, [&](const operand& x) {
        if (x.where != operand::kind::external || !contains(x.labels, l)) return;
        for (std::size_t d = 0; d < x.labels.size(); ++d)
          if (x.labels[d] == l) some = some || x.strides[d] == 1, all = all && x.strides[d] == 1;
      });
    if (some && all) return l;
  }
  return -1;
}

/// The steps for one extent of the block label (the last of `block`; the others are taken one at a time). lane >= 0: that
/// label is the innermost of every temporary.
segment make_segment(const work& base, const std::vector<int>& block, std::int64_t size, int lane, const machine& m,
                     const options& o) {
  work w = base;
  for (int l : block) w.source.labels[l].extent = 1;
  if (!block.empty()) w.source.labels[block.back()].extent = size;
  for (int l : block)  // a part of an even or odd matrix is neither
    for (pair_op& op : w.ops)
      for (operand* x : {&op.a, &op.b})
        if (contains(x->labels, l)) x->parity = 0;
  planning::choose_layouts(w, lane);
  planning::straighten(w, lane, m.writes_kernels, block);
  if (w.shares) planning::group_pointwise(w);
  planning::join_fibres(w, lane, m);
  planning::fold_turns(w, lane, m);
  const std::vector<planning::slice_run> slices = planning::find_slices(w, block, lane, m);
  auto next = slices.begin();
  segment s;
  s.block = size;
  const auto extents = extents_of(w.source);
  for (std::size_t i = 0; i < w.ops.size(); ++i) {
    if (next != slices.end() && next->first == i) {
      const planning::slice_run run = *next++;
      if (planning::lower_slices(w, run, extents, block, m, o, s.steps)) {
        i += run.count - 1;
        continue;
      }
    }
    const auto both = i + 1 < w.ops.size() ? planning::scaled(w.ops[i], w.ops[i + 1], w, m) : std::nullopt;
    if (both) {
      plan_step step = planning::lower(*both, extents, block, m, o);
      if (planning::runs_scaled(step)) {
        s.steps.push_back(std::move(step));
        ++i;
        continue;
      }
    }
    s.steps.push_back(planning::lower(w.ops[i], extents, block, m, o));
  }
  s.temporaries = w.temporaries;
  planning::place_temporaries(s);
  return s;
}

/// Estimates of the ways to cut a program into blocks, for one order of its contractions: other orders try again only
/// what came near the best.
class cuts {
 public:
  void note(const std::vector<int>& block, std::int64_t size, int lane, double seconds) {
    if (!complete_) seconds_[{block, size, lane}] = seconds, least_ = std::min(least_, seconds);
  }
  void complete() { complete_ = true; }
  bool is_hopeless(const std::vector<int>& block, std::int64_t size, int lane) const {
    constexpr double far = 1.6;
    const auto known = seconds_.find({block, size, lane});
    return complete_ && known != seconds_.end() && known->second > far * least_;
  }

 private:
  std::map<std::tuple<std::vector<int>, std::int64_t, int>, double> seconds_;
  double least_ = std::numeric_limits<double>::infinity();
  bool complete_ = false;
};

class blocker {
 public:
  /// known: of the orders that were tried before; null: this is the only one.
  blocker(const work& w, double footprint, const machine& m, const options& o, const hints& h, cuts* known)
      : work_(w), machine_(m), options_(o), hints_(h), footprint_(footprint), cuts_(known) {}

  void run(plan& p) {
    std::vector<int> common = planning::common_labels(work_);
    lane_ = side_by_side(work_, common);
    if (lane_ >= 0 && common.size() > 1) common.erase(std::find(common.begin(), common.end(), lane_));
    const auto is_other = [](const pair_op& op) { return op.what != action::contract; };
    const bool others = std::all_of(work_.ops.begin(), work_.ops.end(), is_other);
    const bool moves = std::any_of(work_.ops.begin(), work_.ops.end(), [](const pair_op& op) {
      return op.what == action::gather || op.what == action::scatter;
    });
    // A step that is not a contraction runs on several threads by its blocks alone.
    if ((!others && !moves && hints_.block <= 0) || hints_.block == 0 || common.empty()) offer({}, 1, false);
    const auto& labels = work_.source.labels;
    std::stable_sort(common.begin(), common.end(), [&](int x, int y) { return labels[x].extent > labels[y].extent; });
    std::stable_partition(common.begin(), common.end(), [&](int l) { return !in_symmetric(l); });
    if (hints_.block != 0 && !common.empty()) offer_sizes(copies() ? std::vector{outermost(common)} : companions(common, common[0]));
    p.block_labels = block_;
    p.segments.push_back(std::move(best_));
    p.seconds = least_;
    if (block_.empty()) return;
    const std::int64_t extent = work_.source.labels[block_.back()].extent, size = p.segments[0].block;
    // Elements that fill no register run as they lie.
    const int rest_lane = best_lane_ == block_.back() && extent % size % width() ? -1 : best_lane_;
    if (extent % size) p.segments.push_back(make_segment(work_, block_, extent % size, rest_lane, machine_, options_));
    p.notes.push_back("fused: the steps run block by block over " + work_.source.labels[block_.back()].name +
                      (best_lane_ == block_.back() ? ", elements interleaved across the lanes" : ""));
  }

 private:
  /// Sums of copies of tensors in memory: transposed ones want blocks of many rows and columns.
  bool copies() const {
    return std::all_of(work_.ops.begin(), work_.ops.end(), [](const pair_op& op) {
      const operand& x = op.a.where == operand::kind::one ? op.b : op.a;
      const bool one_factor = op.a.where == operand::kind::one || op.b.where == operand::kind::one;
      return op.what == action::contract && one_factor && x.where != operand::kind::temporary && op.c.where == operand::kind::external &&
             x.labels.size() == op.c.labels.size();
    });
  }

  /// Something has its neighbours along the label.
  bool is_transposed(int label) const {
    bool found = false;
    for (const pair_op& op : work_.ops)
      for_each_operand(op, [&](const operand& x) {
        for (std::size_t d = 0; d < x.labels.size(); ++d) found = found || (x.labels[d] == label && std::abs(x.strides[d]) == 1);
      });
    return found;
  }

  /// Whether blocks of the label would take parts of an even or odd matrix, which are neither.
  bool in_symmetric(int label) const {
    return std::any_of(work_.ops.begin(), work_.ops.end(), [&](const pair_op& op) {
      return (op.a.parity != 0 && contains(op.a.labels, label)) || (op.b.parity != 0 && contains(op.b.labels, label));
    });
  }

  /// Of these labels, that of the largest steps in the result.
  int outermost(const std::vector<int>& labels) const {
    const operand& c = work_.ops.front().c;
    int best = labels.front();
    std::int64_t most = 0;
    for (std::size_t d = 0; d < c.labels.size(); ++d)
      if (contains(labels, c.labels[d]) && std::abs(c.strides[d]) > most) most = std::abs(c.strides[d]), best = c.labels[d];
    return best;
  }

  /// The label to cut, behind the common labels that every tensor with it has as well: those are taken one by one.
  /// Another common label would make the blocks read again what does not have it.
  std::vector<int> companions(const std::vector<int>& common, int cut) const {
    std::vector<int> block;
    for (int l : common) {
      bool together = l != cut;
      for (const pair_op& op : work_.ops)
        for_each_operand(op, [&](const operand& x) {
          together = together && (x.where != operand::kind::external || contains(x.labels, l) == contains(x.labels, cut));
        });
      if (together) block.push_back(l);
    }
    block.push_back(cut);
    return block;
  }

  void offer_sizes(const std::vector<int>& block) {
    if (hints_.block > 0) return offer(block, hints_.block, hints_.interleave);
    if (copies()) {
      for (std::int64_t size : {1, 2, 4, 8, 16, 32})
        if (size >= 8 || !is_transposed(block.back())) offer(block, size, false);  // whole lines
      return;
    }
    const bool side_by_side = lane_ >= 0 && work_.source.labels[lane_].extent % width() == 0;
    if (!side_by_side)
      for (std::int64_t size : {1, 2, 4, 8}) offer(block, size * width(), true);
    for (std::int64_t size : {1, 2, 4, 8, 16, 32}) offer(block, size, false);
    if (std::all_of(work_.ops.begin(), work_.ops.end(), [](const pair_op& op) { return op.what != action::contract; }))
      for (std::int64_t size : {256, 2048}) offer(block, size, false);
  }

  std::int64_t width() const {
    const dtype type = compute_type(work_.ops.front().c.type);
    return std::max<std::int64_t>(1, machine_.vector_bytes / static_cast<std::int64_t>(size_of(type)));
  }

  void offer(const std::vector<int>& block, std::int64_t size, bool interleave) {
    offer_lane(block, size, interleave ? block.back() : -1);
    if (lane_ >= 0 && !interleave) offer_lane(block, size, lane_);
  }

  void offer_lane(const std::vector<int>& block, std::int64_t size, int lane) {
    double times = 1;
    for (int l : block) times *= static_cast<double>(work_.source.labels[l].extent);
    if (!block.empty()) size = std::min(size, work_.source.labels[block.back()].extent);
    times /= static_cast<double>(size);
    if (cuts_ && cuts_->is_hopeless(block, size, lane)) return;
    segment s = make_segment(work_, block, size, lane, machine_, options_);
    const double seconds = planning::seconds_of(s, block, footprint_, lane < 0 && lane_ < 0, machine_) * times * idle(block, times);
    if (cuts_) cuts_->note(block, size, lane, seconds);
    if (seconds >= least_) return;
    least_ = seconds, best_ = std::move(s), block_ = block, best_lane_ = lane;
  }

  /// Threads that too few blocks leave without work, by those that have some.
  double idle(const std::vector<int>& block, double blocks) const {
    const int threads = options_.threads > 0 ? std::min(options_.threads, machine_.cores) : machine_.cores;
    return block.empty() ? 1 : std::max(1.0, threads / std::max(1.0, std::floor(blocks)));
  }

  const work& work_;
  const machine& machine_;
  const options& options_;
  const hints hints_;
  double footprint_;
  cuts* const cuts_;
  segment best_;
  std::vector<int> block_;
  int lane_ = -1, best_lane_ = -1;  // problems that lie side by side in memory; what was best
  double least_ = std::numeric_limits<double>::infinity();
};

/// Bytes of every external tensor once (the left side twice if it is read), and flops as written.
void count(plan& p) {
  const auto size = [&](const reference& r) {
    double n = static_cast<double>(size_of(r.type));
    for (const auto& axis : r.axes)
      if (axis.stride != 0) n *= static_cast<double>(p.source.labels[axis.label].extent);
    if (!r.lookups.empty()) {  // every element of the axis once, and the table
      n *= static_cast<double>(r.lookups[0].extent);
      double table = r.lookups[0].wide ? 8 : 4;
      for (const auto& axis : r.lookups[0].axes) table *= static_cast<double>(p.source.labels[axis.label].extent);
      n += table;
    }
    return r.local >= 0 ? 0 : n;
  };
  for (const statement& s : p.source.statements) {
    p.bytes += size(s.left) * (s.op == update::assign ? 1 : 2);
    std::set<std::string> seen;
    for (const product& t : s.terms) {
      std::set<int> labels;
      for (int l : labels_of(s.left)) labels.insert(l);
      for (const reference& f : t.factors) {
        for (int l : labels_of(f)) labels.insert(l);
        std::string key = f.name;
        for (const auto& axis : f.axes) key += "," + std::to_string(p.source.labels[axis.label].extent) + ":" + std::to_string(axis.stride);
        if (seen.insert(key).second) p.bytes += size(f);
      }
      double nest = is_complex(s.left.type) ? 4 : 1;
      for (int l : labels) nest *= static_cast<double>(p.source.labels[l].extent);
      p.written_flops += nest * static_cast<double>(std::max<std::size_t>(2, t.factors.size()));
    }
  }
}

void count_flops(plan& p) {
  for (std::size_t i = 0; i < p.segments.size(); ++i) {
    double once = 0, times = 1;
    for (const plan_step& s : p.segments[i].steps) once += s.how == method::move ? 0 : s.flops;
    for (std::size_t l = 0; l < p.block_labels.size(); ++l) {
      const std::int64_t extent = p.source.labels[p.block_labels[l]].extent;
      const bool cut = l + 1 == p.block_labels.size();
      times *= static_cast<double>(!cut ? extent : i == 0 ? extent / p.segments[0].block : 1);
    }
    p.flops += once * times;
  }
}

/// Whether orders of equal cost are worth comparing: several factors, few enough for the exact search.
bool has_variants(const program& p) {
  for (const statement& s : p.statements)
    for (const product& t : s.terms)
      if (t.factors.size() > 2 && t.factors.size() <= 10) return true;
  return false;
}

void note_disjoint(const program& source, plan& p) {
  for (const overlap& x : source.overlaps) {
    if (x.verdict != overlap::kind::disjoint) continue;
    for (const statement& s : source.statements)
      if (s.left.slot == x.left_slot && s.left.local < 0)
        for (const product& t : s.terms)
          for (const reference& f : t.factors)
            if (f.slot == x.other_slot && f.local < 0)
              p.notes.push_back("the left side " + s.left.name + " and the factor " + f.name +
                                " are the same tensor: proven disjoint, no copy");
  }
}

/// All operations in blocks of their own, or none.
void run_together(work w, plan& p, const machine& m, const options& o, const hints& h, cuts* known) {
  if (planning::common_labels(w).empty()) {
    planning::cut_sums(w, m);
    p.source.labels = w.source.labels;
  }
  blocker(w, p.bytes, m, o, h, known).run(p);
  count_flops(p);
}

/// p: what the stages are of, before it is planned.
plan in_stages(const planning::staged& parts, plan p, const machine& m, const options& o) {
  p.between = parts.between;
  p.notes.push_back("in " + std::to_string(parts.works.size()) + " stages: no long label runs through all of its steps");
  for (std::int64_t bytes : parts.between) p.bytes += 2 * static_cast<double>(bytes);
  for (const work& w : parts.works) {
    plan stage;
    stage.source = w.source;
    stage.bytes = p.bytes;
    run_together(w, stage, m, o, {w.once > 0 ? 0 : -1, false}, nullptr);
    p.flops += stage.flops, p.seconds += stage.seconds;
    p.stages.push_back(std::move(stage));
  }
  return p;
}

plan plan_variant(const program& source, const machine& m, const options& o, const hints& h, int variant, cuts& known) {
  work w = planning::make_work(source, o, variant, true);
  plan p;
  p.source = source;
  p.notes = w.notes;
  note_disjoint(source, p);
  count(p);
  if (w.ops.empty()) {
    p.segments.push_back({});
    return p;
  }
  const planning::staged parts = h.block >= 0 ? planning::staged{} : planning::stages_of(w);
  const plan bare = parts.works.empty() ? plan{} : p;
  run_together(std::move(w), p, m, o, h, &known);
  if (parts.works.empty()) return p;
  plan apart = in_stages(parts, bare, m, o);
  return apart.seconds < 0.95 * p.seconds ? apart : p;
}

/// The best of these plans, or the one in which small factors are multiplied with one another first.
plan or_multiplied(plan best, const program& source, const machine& m, const options& o) {
  const work w = planning::make_work(source, o, 0, true, true);
  if (w.once == 0) return best;
  plan p;
  p.source = source;
  p.notes = w.notes;
  note_disjoint(source, p);
  count(p);
  p = in_stages(planning::stages_of(w), std::move(p), m, o);
  const double memory = p.bytes < planning::last_cache(m) ? 0 : p.bytes / (m.memory_bandwidth * 1e9);
  return std::max(p.seconds, memory) < 0.9 * best.seconds ? p : best;
}

}  // namespace

plan make_plan(const program& source, const machine& m, const options& o, const hints& h) {
  check(source);
  cuts known;
  plan best = plan_variant(source, m, o, h, 0, known);
  known.complete();
  if (has_variants(source))
    for (int v = 1; v < (planning::joins_fibres(source, m) ? 2 : 1) * planning::variant_count; ++v) {
      plan other = plan_variant(source, m, o, h, v, known);
      const bool wanted = v < planning::variant_count || planning::has_joined(other);
      if (wanted && other.seconds < best.seconds * 0.999) best = std::move(other);
    }
  if (has_variants(source) && h.block < 0) best = or_multiplied(std::move(best), source, m, o);
  if (source.statements.empty()) return best;
  planning::stream_results(best, m);
  for (plan& stage : best.stages) planning::stream_results(stage, m);
  const dtype type = source.statements[0].left.type;
  const bool narrow = size_of(compute_type(type)) == 4 || type == dtype::c64;
  const double peak = (narrow ? m.peak_f32 : m.peak_f64) * 1e9;
  if (peak > 0 && m.memory_bandwidth > 0)
    best.bound_seconds = std::max(best.flops / peak, best.bytes / (m.memory_bandwidth * 1e9));
  return best;
}

}  // namespace ricci
