// A work in blocks of a common label, or in one piece: the steps of each way, and the one that costs least.
#include "plan/blocks.hpp"

#include <algorithm>
#include <cmath>

#include "plan/apart.hpp"
#include "plan/copies.hpp"
#include "plan/lookups.hpp"
#include "plan/rows.hpp"

namespace ricci::planning {
namespace {

std::vector<std::int64_t> extents_of(const program& p) {
  std::vector<std::int64_t> extents;
  for (const label_info& l : p.labels) extents.push_back(l.extent);
  return extents;
}

/// A common label along which the tensors in memory have stride 1 (problems that lie side by side), or -1. All of them; or
/// some, where others of the `common` labels are left for blocks, and it is as long as a few registers: the rest is turned.
int side_by_side(const work& w, const std::vector<int>& common, std::int64_t width) {
  constexpr std::int64_t most_registers = 4;
  int partly = -1;
  for (int l : common) {
    bool some = false, all = true;
    for (const pair_op& op : w.ops)
      for_each_operand(op, [&](const operand& x) {
        if (x.where != operand::kind::external || !contains(x.labels, l)) return;
        for (std::size_t d = 0; d < x.labels.size(); ++d)
          if (x.labels[d] == l) some = some || x.strides[d] == 1, all = all && x.strides[d] == 1;
      });
    if (some && all) return l;
    const std::int64_t extent = w.source.labels[static_cast<std::size_t>(l)].extent;
    if (some && partly < 0 && common.size() > 1 && extent > 1 && (extent % width == 0 || width % extent == 0) && extent <= most_registers * width) partly = l;
  }
  return partly;
}

/// How temporaries lie: as their consumers' results do, as estimates of the products want it, or as they were made.
enum class layouts { followed, ordered, as_made };

/// The steps for one extent of the block label (the last of `block`; the others are taken one at a time). lane >= 0: that
/// label is the innermost of every temporary.
segment make_segment(const work& base, const std::vector<int>& block, std::int64_t size, int lane, const machine& m,
                     const options& o, layouts how = layouts::followed) {
  work w = base;
  for (int l : block) w.source.labels[l].extent = 1;
  if (!block.empty()) w.source.labels[block.back()].extent = size;
  for (int l : block)  // a part of an even or odd matrix is neither
    for (pair_op& op : w.ops)
      for (operand* x : {&op.a, &op.b})
        if (contains(x->labels, l)) x->parity = 0;
  choose_layouts(w, lane);
  if (how == layouts::ordered) order_products(w, m, o);
  if (how == layouts::as_made) lay_as_made(w);
  straighten(w, lane, m, block);
  if (w.shares) group_pointwise(w);
  join_fibres(w, lane, m);
  fold_turns(w, lane, m);
  const std::vector<slice_run> slices = find_slices(w, block, lane, m);
  auto next = slices.begin();
  segment s;
  s.block = size;
  const auto extents = extents_of(w.source);
  for (std::size_t i = 0; i < w.ops.size(); ++i) {
    if (next != slices.end() && next->first == i) {
      const slice_run run = *next++;
      if (lower_slices(w, run, extents, block, m, o, s.steps)) {
        i += run.count - 1;
        continue;
      }
    }
    const auto both = i + 1 < w.ops.size() ? scaled(w.ops[i], w.ops[i + 1], w, m) : std::nullopt;
    if (both) {
      plan_step step = lower(*both, extents, block, m, o);
      if (runs_scaled(step)) {
        s.steps.push_back(std::move(step));
        ++i;
        continue;
      }
    }
    s.steps.push_back(lower(w.ops[i], extents, block, m, o));
  }
  s.temporaries = w.temporaries;
  place_temporaries(s);
  return s;
}

class blocker {
 public:
  blocker(const work& w, double footprint, const machine& m, const options& o, const hints& h, cuts* known)
      : work_(w), machine_(m), options_(o), hints_(h), footprint_(footprint), cuts_(known) {}

  void run(plan& p) {
    if (hints_.block <= 0) {
      const std::vector<std::int64_t> extents = extents_of(work_.source);
      segment s;
      std::optional<plan_step> step = lower_small_turn(work_, extents, machine_, options_);
      if (!step) step = lower_lookup(work_, extents, footprint_, machine_);
      if (step) s.steps.push_back(*std::move(step));
      else if (is_elementwise(work_)) s = lower_elementwise(work_, extents, machine_, options_);
      if (!s.steps.empty()) {
        for (const plan_step& x : s.steps) p.seconds += std::max(x.seconds, x.memory_seconds);
        p.segments.push_back(std::move(s));
        return;
      }
    }
    std::vector<int> common = common_labels(work_);
    lane_ = side_by_side(work_, common, width());
    if (lane_ >= 0 && common.size() > 1) common.erase(std::find(common.begin(), common.end(), lane_));
    const auto is_other = [](const pair_op& op) { return op.what != action::contract; };
    const bool others = std::all_of(work_.ops.begin(), work_.ops.end(), is_other);
    const bool moves = std::any_of(work_.ops.begin(), work_.ops.end(), [](const pair_op& op) {
      return op.what == action::gather || op.what == action::scatter;
    });
    // A step that is not a contraction runs on several threads by its blocks alone.
    if ((!others && !moves && hints_.block <= 0) || hints_.block == 0 || common.empty() || is_alone()) offer({}, 1, false);
    const auto& labels = work_.source.labels;
    std::stable_sort(common.begin(), common.end(), [&](int x, int y) { return labels[x].extent > labels[y].extent; });
    std::stable_partition(common.begin(), common.end(), [&](int l) { return !in_symmetric(l); });
    if (hints_.block != 0 && !common.empty()) offer_sizes(copies() ? std::vector{outermost(common)} : companions(common, common[0]));
    offer_ordered();
    offer_copied();
    offer_apart();
    p.block_labels = block_;
    p.segments.push_back(std::move(best_));
    p.seconds = least_;
    if (apart_) p.notes.push_back("problems side by side over " + work_.source.labels[apart_->block.back()].name + ": copied so that each lies by itself");
    if (block_.empty()) return;
    const std::int64_t extent = work_.source.labels[block_.back()].extent, size = p.segments[0].block;
    if (apart_) {
      if (extent % size) p.segments.push_back(make_segment(apart_->copied, block_, extent % size, -1, machine_, options_, layouts::as_made));
      return;
    }
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
    // Blocks of a single product pay if they bring its lanes together.
    if (!is_alone() || block.empty()) offer_lane(block, size, interleave ? block.back() : -1);
    if (lane_ >= 0 && !interleave) offer_lane(block, size, lane_);
  }

  /// In units of whole ones: a shorter one costs calls as well.
  static double blocks_of(std::int64_t extent, std::int64_t size) {
    const double rest = static_cast<double>(extent % size) / static_cast<double>(size);
    return static_cast<double>(extent / size) + (rest > 0 ? 0.5 + 0.5 * rest : 0);
  }

  bool is_alone() const { return work_.ops.size() == 1 && work_.ops[0].what == action::contract; }

  void offer_lane(const std::vector<int>& block, std::int64_t size, int lane) {
    double times = 1;
    for (int l : block) times *= static_cast<double>(work_.source.labels[l].extent);
    if (!block.empty()) {
      const std::int64_t extent = work_.source.labels[block.back()].extent;
      size = std::min(size, extent);
      if (size == extent) {  // sizes from the extent on are one
        if (contains(whole_, lane)) return;
        whole_.push_back(lane);
      }
      times *= blocks_of(extent, size) / static_cast<double>(extent);
    }
    if (cuts_ && cuts_->is_hopeless(block, size, lane)) return;
    segment s = make_segment(work_, block, size, lane, machine_, options_);
    const double seconds = estimate(s, block, lane < 0 && lane_ < 0) * times * idle(block, times);
    if (cuts_) cuts_->note(block, size, lane, seconds);
    if (block.empty()) in_one_piece_ = seconds;
    if (seconds >= least_) return;
    least_ = seconds, best_ = std::move(s), block_ = block, best_lane_ = lane;
  }

  /// In one piece, with temporaries in orders of their own; where that came near the best.
  void offer_ordered() {
    constexpr double near = 1.3;
    if (in_one_piece_ < worth_looking || in_one_piece_ > near * least_ || lane_ >= 0 || machine_.caches.size() < 2 || !is_network()) return;
    segment s = make_segment(work_, {}, 1, -1, machine_, options_, layouts::ordered);
    const double seconds = estimate(s, {}, true);
    if (seconds >= std::min(least_, 0.98 * in_one_piece_)) return;
    least_ = seconds, best_ = std::move(s), block_ = {}, best_lane_ = -1;
  }

  /// A product with its smaller factor in another order.
  void offer_copied() {
    constexpr double worth = 0.9;  // of what it would take
    if (hints_.block >= 0 || least_ < worth_looking) return;
    const double limit = worth * least_;
    for (const work& copied : smaller_factor_copied(work_)) {
      segment s = make_segment(copied, {}, 1, -1, machine_, options_, layouts::as_made);
      const double seconds = estimate(s, {}, true);
      if (seconds >= std::min(limit, least_)) continue;
      least_ = seconds, best_ = std::move(s), block_ = {}, best_lane_ = -1;
    }
  }

  /// A product of problems side by side, copied so that each lies by itself.
  void offer_apart() {
    if (hints_.block >= 0 && !hints_.apart) return;
    std::optional<apart> found = problems_apart(work_);
    if (!found) return;
    if (hints_.apart) least_ = std::numeric_limits<double>::infinity();
    constexpr std::int64_t most_copied = std::int64_t{1} << 30;  // bytes
    const auto extent = [&](int l) { return work_.source.labels[static_cast<std::size_t>(l)].extent; };
    const std::int64_t last = extent(found->block.back());
    double others = 1;
    for (std::size_t l = 0; l + 1 < found->block.size(); ++l) others *= static_cast<double>(extent(found->block[l]));
    bool best = false;
    for (const std::int64_t size : hints_.apart ? std::vector{std::min(last, hints_.block)} : sizes_apart(last, others)) {
      const std::vector<int> block = size > 0 ? found->block : std::vector<int>{};
      const double times = size > 0 ? others * blocks_of(last, size) : 1;
      segment s = make_segment(found->copied, block, std::max<std::int64_t>(1, size), -1, machine_, options_, layouts::as_made);
      const double seconds = seconds_of_apart(s, footprint_, machine_) * times * idle(block, times);
      if (seconds >= least_ || s.scratch_bytes > most_copied) continue;
      least_ = seconds, best_ = std::move(s), block_ = block, best_lane_ = -1, best = true;
    }
    if (best) apart_ = std::move(found);
  }

  /// So many problems side by side that their neighbours fill some lines of memory, or, where threads would have too few blocks, no
  /// blocks (0): all are copied before any is multiplied.
  std::vector<std::int64_t> sizes_apart(std::int64_t problems, double others) const {
    constexpr std::int64_t most_lines = 8;
    const std::int64_t line = std::max<std::int64_t>(1, 64 / static_cast<std::int64_t>(size_of(work_.ops[0].c.type)));
    std::vector<std::int64_t> sizes;
    for (std::int64_t lines = 1; lines <= most_lines && lines * line < problems; lines *= 2) sizes.push_back(lines * line);
    if (others * static_cast<double>(divide_up(problems, line)) < threads()) sizes.push_back(0);
    else if (problems <= line) sizes.push_back(problems);
    return sizes;
  }

  double estimate(const segment& s, const std::vector<int>& block, bool as_stored) const {
    const bool leaves = machine_.caches.size() > 1 && s.scratch_bytes > machine_.caches[1].bytes;
    if (block.empty() && leaves && are_products(s) && is_network()) return seconds_of_network(s, footprint_, machine_);
    return seconds_of(s, block, footprint_, as_stored, machine_);
  }

  /// Products alone, with tensors between them, that no label makes a chain of.
  bool is_network() const {
    const auto is_product = [](const pair_op& op) { return op.what == action::contract; };
    if (work_.temporaries.empty() || !std::all_of(work_.ops.begin(), work_.ops.end(), is_product)) return false;
    for (std::size_t l = 0; l < work_.source.labels.size(); ++l)
      if (makes_chain(static_cast<int>(l))) return false;
    return true;
  }

  /// A long label that runs through most products, and what its blocks would all read stays in the second cache.
  bool makes_chain(int label) const {
    constexpr std::int64_t is_long = 64;
    if (work_.source.labels[static_cast<std::size_t>(label)].extent < is_long) return false;
    std::size_t uses = 0;
    double shared = 0;
    for (const pair_op& op : work_.ops) {
      uses += has(op.a, label) || has(op.b, label);
      for (const auto& [x, other] : {std::pair{&op.a, &op.b}, {&op.b, &op.a}})
        if (x->where == operand::kind::external && !has(*x, label) && has(*other, label)) {
          double bytes = static_cast<double>(size_of(x->type));
          for (const int l : x->labels) bytes *= static_cast<double>(work_.source.labels[static_cast<std::size_t>(l)].extent);
          shared += bytes;
        }
    }
    return 2 * uses > work_.ops.size() && shared < 0.5 * static_cast<double>(machine_.caches[1].bytes);
  }

  /// Threads that too few blocks leave without work, by those that have some.
  double idle(const std::vector<int>& block, double blocks) const {
    return block.empty() ? 1 : std::max(1.0, threads() / std::max(1.0, std::floor(blocks)));
  }

  int threads() const { return options_.threads > 0 ? std::min(options_.threads, machine_.cores) : machine_.cores; }

  static constexpr double worth_looking = 20e-6;  // seconds of a run

  const work& work_;
  const machine& machine_;
  const options& options_;
  const hints hints_;
  double footprint_;
  cuts* const cuts_;
  segment best_;
  std::optional<apart> apart_;  // of which best_ is a block
  std::vector<int> block_, whole_;  // the lanes that were tried with blocks as long as their label
  int lane_ = -1, best_lane_ = -1;  // problems that lie side by side in memory; what was best
  double least_ = std::numeric_limits<double>::infinity(), in_one_piece_ = least_;
};

}  // namespace

void run_in_blocks(const work& w, plan& p, const machine& m, const options& o, const hints& h, cuts* known) {
  blocker(w, p.bytes, m, o, h, known).run(p);
}

}  // namespace ricci::planning
