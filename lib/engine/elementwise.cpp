// Pointwise steps that are a whole plan, tile by tile: what lies another way round is packed, the result may be buffered.
#include <ricci/core/error.hpp>

#include <algorithm>
#include <map>

#include "engine/inner.hpp"
#include "engine/other.hpp"

namespace ricci {
namespace {

constexpr int most_cuts = 8;  // axes whose last tile is shorter

class tile_binder {
 public:
  tile_binder(other_step& out, const plan_step& step, const kernels::kernel_set& kernels)
      : out_(out), step_(step), op_(step.op), kernels_(kernels), type_(compute_type(op_.c.type)) {}

  void run() {
    out_.move_output = kernels_.move[static_cast<int>(type_)][static_cast<int>(op_.c.type)];
    int bits = 0;
    for (const step_axis& x : step_.axes) {
      const bool ragged = x.extent % x.tile != 0;
      add_loop(x, ragged ? 1 << bits : 0);
      bits += ragged;
    }
    if (bits > most_cuts) throw error(errc::no_memory, "more than 8 axes of a pointwise step are cut");
    place_scratch();
    for (int tails = 0; tails < 1 << bits; ++tails) out_.tiles.push_back(make_tile(tails));
  }

 private:
  const operand& input(int i) const { return op_.inputs[static_cast<std::size_t>(i)]; }

  void add_loop(const step_axis& x, int tail_bit) {
    if (x.tile == x.extent) return;
    tile_loop l{divide_up(x.extent, x.tile), {}, tail_bit};
    const auto bytes = [&](const operand& y) { return stride_of(y, x.label) * x.tile * static_cast<std::int64_t>(size_of(y.type)); };
    for (const operand& y : op_.inputs) l.steps.push_back(bytes(y));
    l.steps.push_back(bytes(op_.c));
    out_.tile_loops.push_back(l);
  }

  /// The axes that a tensor has, from the lanes on and then by their steps in c: the order in which it is packed.
  std::vector<std::size_t> order_of(const operand& x) const {
    std::vector<std::size_t> axes;
    for (std::size_t d = 0; d < step_.axes.size(); ++d)
      if (stride_of(x, step_.axes[d].label) != 0) axes.push_back(d);
    const auto key = [&](std::size_t d) { return step_.axes[d].label == step_.lane_label ? 0 : std::abs(step_.axes[d].c); };
    std::stable_sort(axes.begin(), axes.end(), [&](std::size_t p, std::size_t q) { return key(p) < key(q); });
    return axes;
  }

  /// One after the other, a line apart. What is turned has a place too: where no kernel can turn it, it is packed.
  void place_scratch() {
    const auto take = [&](const operand& x) {
      const std::int64_t here = out_.tile_bytes;
      auto bytes = static_cast<std::int64_t>(size_of(type_));
      for (std::size_t d : order_of(x)) bytes *= step_.axes[d].tile;
      out_.tile_bytes += divide_up(bytes, 64) * 64 + 64;
      return here;
    };
    for (const std::vector<int>* list : {&step_.packed, &step_.turned})
      for (int i : *list) places_[i] = take(input(i));
    if (step_.buffer_c) out_.buffer = take(op_.c);
  }

  point_tile make_tile(int tails) const {
    std::vector<std::int64_t> extents;
    int bit = 0;
    for (const step_axis& x : step_.axes) {
      const bool last = x.extent % x.tile != 0 && (tails >> bit++ & 1) != 0;
      extents.push_back(last ? x.extent % x.tile : x.tile);
    }
    std::vector<int> packed = step_.packed;
    point_tile t = make_tile(extents, packed);
    if (t.made || step_.turned.empty()) return t;
    packed.insert(packed.end(), step_.turned.begin(), step_.turned.end());
    return make_tile(extents, packed);
  }

  point_tile make_tile(const std::vector<std::int64_t>& extents, const std::vector<int>& packed) const {
    point_tile t;
    t.point = out_.point;
    std::vector<point_axis> axes;
    for (std::size_t d = 0; d < extents.size(); ++d) {
      point_axis& x = axes.emplace_back(point_axis{extents[d], {stride_of(op_.c, step_.axes[d].label)}});
      for (const operand& y : op_.inputs) x.strides.push_back(stride_of(y, step_.axes[d].label));
    }
    for (int i : packed)
      t.packed.push_back({i, places_.at(i), kernels_.move[static_cast<int>(input(i).type)][static_cast<int>(type_)],
                          pack(input(i), static_cast<std::size_t>(i) + 1, axes, false)});
    if (step_.buffer_c) t.store = pack(op_.c, 0, axes, true), t.store.streams = step_.stream_c;
    const std::vector<pointwise_output> statements{{op_.c, step_.buffer_c ? coefficient{0, -1, {}} : op_.beta, static_cast<int>(op_.terms.size())}};
    const bool streams = step_.stream_c && !step_.buffer_c;
    set_pointwise(t, in_order(std::move(axes)), op_, statements, kernels_.vector_bytes / static_cast<int>(size_of(type_)), streams, step_.repeats && !step_.buffer_c);
    return t;
  }

  /// The lanes in front, then the neighbours of what is turned, then by their steps in c.
  std::vector<point_axis> in_order(std::vector<point_axis> axes) const {
    point_axis lanes{1, std::vector<std::int64_t>(1 + op_.inputs.size(), 0)};
    lanes.strides[0] = 1;
    for (std::size_t d = 0; d < step_.axes.size(); ++d)
      if (step_.axes[d].label == step_.lane_label) std::swap(lanes, axes[d]), axes[d].extent = 1;
    std::erase_if(axes, [](const point_axis& x) { return x.extent == 1; });
    axes.insert(axes.begin(), lanes);
    fuse(axes, 1);
    const std::size_t turned = step_.turned.empty() ? 0 : static_cast<std::size_t>(step_.turned[0]) + 1;
    const auto key = [&](const point_axis& x) { return turned > 0 && x.strides[turned] == 1 ? 0 : std::abs(x.strides[0]); };
    std::sort(axes.begin() + 1, axes.end(), [&](const point_axis& x, const point_axis& y) { return key(x) < key(y); });
    return axes;
  }

  /// Gives a tensor dense strides in `axes`, and says how it is moved there (or back).
  kernels::move_args pack(const operand& x, std::size_t stream, std::vector<point_axis>& axes, bool back) const {
    std::vector<inner_axis> moved;
    std::int64_t step = 1;
    for (std::size_t d : order_of(x)) {
      const std::int64_t memory = stride_of(x, step_.axes[d].label);
      axes[d].strides[stream] = step;
      if (axes[d].extent == 1) continue;
      moved.emplace_back().eff = {axes[d].extent, 0, back ? step : memory, back ? memory : step};
      step *= axes[d].extent;
    }
    kernels::move_args out;
    if (!make_move(std::move(moved), out)) throw error(errc::no_memory, "a pointwise step has more axes than can be moved");
    return out;
  }

  other_step& out_;
  const plan_step& step_;
  const pair_op& op_;
  const kernels::kernel_set& kernels_;
  const dtype type_;
  std::map<int, std::int64_t> places_;  // of inputs, in the scratch
};

}  // namespace

void bind_tiles(other_step& out, const plan_step& step, const kernels::kernel_set& kernels) { tile_binder(out, step, kernels).run(); }

void run_tiles(const step_run& r, std::int64_t first, std::int64_t last) {
  const bound_step& s = *r.step;
  const other_step& o = *s.other;
  char* const scratch = r.scratch + std::max<std::int64_t>(0, s.pack_a);
  const int inputs = static_cast<int>(o.inputs.size());
  const void* at[kernels::max_pointwise_inputs];
  for (std::int64_t i = first; i < last; ++i) {
    std::copy_n(r.inputs, inputs, at);
    char* c = static_cast<char*>(r.outputs[0]);
    int tails = 0;
    std::int64_t rest = i;
    for (std::size_t l = o.tile_loops.size(); l-- > 0;) {
      const tile_loop& x = o.tile_loops[l];
      const std::int64_t n = rest % x.count;
      rest /= x.count;
      for (int k = 0; k < inputs; ++k) at[k] = static_cast<const char*>(at[k]) + n * x.steps[static_cast<std::size_t>(k)];
      c += n * x.steps.back();
      if (n == x.count - 1) tails |= x.tail_bit;
    }
    const point_tile& t = o.tiles[static_cast<std::size_t>(tails)];
    for (const packed_input& x : t.packed) {
      x.move(x.args, at[x.input], scratch + x.at, nullptr);
      at[x.input] = scratch + x.at;
    }
    void* const out = o.buffer >= 0 ? scratch + o.buffer : c;
    run_pointwise(t, {at, &out, r.alphas, o.buffer >= 0 ? zero_of(s.type) : r.betas, static_cast<std::int64_t>(size_of(s.type))});
    if (o.buffer >= 0) o.move_output(t.store, scratch + o.buffer, c, r.betas);
  }
}

}  // namespace ricci
