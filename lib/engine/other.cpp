// Steps that are no contractions: their arguments, and their loops over tables.
#include "engine/other.hpp"

#include <algorithm>

namespace ricci {
namespace {

std::int64_t stride_of(const operand& x, int label) {
  for (std::size_t d = 0; d < x.labels.size(); ++d)
    if (x.labels[d] == label) return x.strides[d];
  return 0;
}

bool has(const operand& x, int label) { return std::find(x.labels.begin(), x.labels.end(), label) != x.labels.end(); }

/// An axis of a pointwise step with the strides of c and of every input.
struct point_axis {
  std::int64_t extent, c;
  std::vector<std::int64_t> inputs;
};

/// Joins axes whose strides nest in all operands; the one with stride 1 in c only grows outwards.
void fuse(std::vector<point_axis>& axes) {
  const auto nests = [](const point_axis& in, const point_axis& out) {
    bool all = out.c == in.c * in.extent;
    for (std::size_t i = 0; i < in.inputs.size(); ++i) all = all && out.inputs[i] == in.inputs[i] * in.extent;
    return all;
  };
  for (bool joined = true; joined;) {
    joined = false;
    for (std::size_t p = 0; p < axes.size() && !joined; ++p)
      for (std::size_t q = 0; q < axes.size() && !joined; ++q) {
        if (p == q || !nests(axes[p], axes[q])) continue;
        axes[p].extent *= axes[q].extent;
        axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(q));
        joined = true;
      }
  }
}

kernels::pointwise_args pointwise_args_of(const plan_step& step, int width) {
  const pair_op& op = step.op;
  std::vector<point_axis> axes;
  point_axis lane{1, 1, std::vector<std::int64_t>(op.inputs.size(), 0)};
  for (const step_axis& x : step.axes) {
    point_axis a{x.extent, x.c, {}};
    for (const operand& y : op.inputs) a.inputs.push_back(stride_of(y, x.label));
    if (x.label == step.lane_label) lane = a;
    else axes.push_back(a);
  }
  axes.insert(axes.begin(), lane);
  fuse(axes);
  lane = axes[0];
  axes.erase(axes.begin());
  std::sort(axes.begin(), axes.end(), [](const point_axis& x, const point_axis& y) { return std::abs(x.c) < std::abs(y.c); });
  if (axes.empty() && lane.extent >= 2 * width) {  // rows of one vector, so that several go together
    point_axis rows{lane.extent / width, width, {}};
    for (std::int64_t s : lane.inputs) rows.inputs.push_back(s * width);
    const std::int64_t rest = lane.extent % width;
    if (rest == 0) {
      lane.extent = width;
      axes.push_back(rows);
    }
  }
  kernels::pointwise_args g;
  g.lane_extent = lane.extent;
  g.input_count = static_cast<int>(op.inputs.size());
  g.c.lane = 1;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) g.inputs[i].lane = lane.inputs[i];
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const auto set = [&](kernels::pointwise_args::stream& s, std::int64_t stride) {
      (d == 0 ? s.row : s.loops[d - 1]) = stride;
    };
    (d == 0 ? g.row_extent : g.loops[d - 1]) = axes[d].extent;
    set(g.c, axes[d].c);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) set(g.inputs[i], axes[d].inputs[i]);
  }
  g.loop_count = static_cast<int>(axes.size()) - (axes.empty() ? 0 : 1);
  int factor = 0;
  for (const pointwise_term& t : op.terms) {
    g.terms[g.term_count++] = {factor, static_cast<int>(t.factors.size()), t.how};
    for (const auto& [input, f] : t.factors) g.factors[factor++] = {input, f};
  }
  return g;
}

kernels::halves_args halves_args_of(const plan_step& step) {
  const pair_op& op = step.op;
  kernels::halves_args g;
  g.parity = op.a.parity;
  struct loop {
    std::int64_t extent, x, y;
  };
  std::vector<loop> loops;
  for (const step_axis& x : step.axes) {
    if (x.label == step.lane_label) g.lane_extent = x.extent;
    else if (has(op.a, x.label) && has(op.c, x.label)) g.q = static_cast<int>(x.extent), g.m_q = x.a, g.y_q = x.c;
    else if (has(op.a, x.label)) g.n = static_cast<int>(x.extent), g.m_n = x.a, g.x_n = x.b;
    else loops.push_back({x.extent, x.b, x.c});
  }
  for (bool joined = true; joined;) {  // the lanes take what nests with them, and loops each other
    joined = false;
    for (std::size_t i = 0; i < loops.size() && !joined; ++i) {
      if (loops[i].x == g.lane_extent && loops[i].y == g.lane_extent) {
        g.lane_extent *= loops[i].extent;
        loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
        joined = true;
      }
    }
  }
  std::sort(loops.begin(), loops.end(), [](const loop& x, const loop& y) { return std::abs(x.y) < std::abs(y.y); });
  for (const loop& l : loops) {
    g.loops[g.loop_count] = l.extent, g.x_loops[g.loop_count] = l.x, g.y_loops[g.loop_count] = l.y;
    ++g.loop_count;
  }
  return g;
}

/// The loops of a gather or scatter, those that nest in the table and both tensors joined; the order stays.
std::vector<step_axis> joined(std::vector<step_axis> loops) {
  for (std::size_t d = 1; d < loops.size();) {
    step_axis &out = loops[d - 1], &in = loops[d];
    if (out.a == in.a * in.extent && out.b == in.b * in.extent && out.c == in.c * in.extent) {
      in.extent *= out.extent;
      loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(d) - 1);
      d = d > 1 ? d - 1 : 1;
    } else {
      ++d;
    }
  }
  return loops;
}

/// Calls f(table, b, c) for every element, offsets in elements; the last loop is the innermost.
template <class F>
void walk(const std::vector<step_axis>& loops, std::size_t d, std::int64_t a, std::int64_t b, std::int64_t c, const F& f) {
  if (d == loops.size()) return f(a, b, c);
  const step_axis x = loops[d];
  if (d + 1 == loops.size()) {
    if (x.a == 1 && x.c == 1 && x.b == 0) {
      for (std::int64_t i = 0; i < x.extent; ++i) f(a + i, b, c + i);
    } else if (x.a == 1 && x.b == 1 && x.c == 0) {
      for (std::int64_t i = 0; i < x.extent; ++i) f(a + i, b + i, c);
    } else {
      for (std::int64_t i = 0; i < x.extent; ++i) f(a + i * x.a, b + i * x.b, c + i * x.c);
    }
    return;
  }
  for (std::int64_t i = 0; i < x.extent; ++i) walk(loops, d + 1, a + i * x.a, b + i * x.b, c + i * x.c, f);
}

template <class T, class Index>
void gather(const other_step& s, const step_run& r) {
  const Index* table = reinterpret_cast<const Index*>(r.a);
  const T* from = reinterpret_cast<const T*>(r.b);
  T* to = reinterpret_cast<T*>(r.c);
  const std::int64_t step = s.table_stride;
  walk(s.loops, 0, 0, 0, 0, [=](std::int64_t a, std::int64_t b, std::int64_t c) { to[c] = from[b + table[a] * step]; });
}

template <class T, class Index>
void scatter(const other_step& s, const step_run& r) {
  const Index* table = reinterpret_cast<const Index*>(r.a);
  const T* from = reinterpret_cast<const T*>(r.b);
  T* to = reinterpret_cast<T*>(r.c);
  const std::int64_t step = s.table_stride;
  const T alpha = *reinterpret_cast<const T*>(r.alpha);
  walk(s.loops, 0, 0, 0, 0, [=](std::int64_t a, std::int64_t b, std::int64_t c) { to[c + table[a] * step] += alpha * from[b]; });
}

template <class T>
void move_indexed(const bound_step& b, const step_run& r) {
  const other_step& s = *b.other;
  if (b.how == method::gather) s.wide ? gather<T, std::int64_t>(s, r) : gather<T, std::int32_t>(s, r);
  else if constexpr (!std::is_same_v<T, std::uint16_t>)
    s.wide ? scatter<T, std::int64_t>(s, r) : scatter<T, std::int32_t>(s, r);
}

}  // namespace

place place_of(const plan& p, const segment& s, const operand& x) {
  place out;
  out.where = x.where;
  out.slot = x.id;
  if (x.where == operand::kind::temporary) out.offset = s.temporaries[static_cast<std::size_t>(x.id)].offset;
  for (int l : p.block_labels) {
    const std::int64_t step =
        x.where == operand::kind::external ? stride_of(x, l) * static_cast<std::int64_t>(size_of(x.type)) : 0;
    // The cut label advances by whole blocks of the first segment.
    out.blocks.push_back(l == p.block_labels.back() ? step * p.segments[0].block : step);
  }
  return out;
}

std::shared_ptr<const other_step> bind_other(const plan& p, const segment& s, const plan_step& step,
                                             const kernels::kernel_set& kernels) {
  auto out = std::make_shared<other_step>();
  const int kind = compute_type(step.op.c.type) == dtype::f64;
  if (step.how == method::pointwise) {
    out->pointwise = pointwise_args_of(step, kernels.vector_bytes / (kind ? 8 : 4));
    out->point = kernels.pointwise[kind];
    for (const operand& x : step.op.inputs) out->inputs.push_back(place_of(p, s, x));
    for (const pointwise_term& t : step.op.terms) out->alphas.push_back(t.alpha);
  } else if (step.how == method::halves) {
    out->halves = halves_args_of(step);
    out->half = kernels.halves[kind];
  } else {
    out->loops = joined(step.axes);
    out->wide = size_of(step.op.a.type) == 8;
    out->table_stride = step.op.table_stride;
  }
  return out;
}

void run_other(const step_run& r) {
  const bound_step& s = *r.step;
  if (s.how == method::pointwise) return s.other->point(s.other->pointwise, r.inputs, r.c, r.alphas, r.beta);
  if (s.how == method::halves) return s.other->half(s.other->halves, r.a, r.b, r.c, r.alpha, r.beta);
  switch (s.type_c) {
    case dtype::f32: return move_indexed<float>(s, r);
    case dtype::f64: return move_indexed<double>(s, r);
    case dtype::c64: return move_indexed<std::complex<float>>(s, r);
    case dtype::c128: return move_indexed<std::complex<double>>(s, r);
    default: return move_indexed<std::uint16_t>(s, r);
  }
}

}  // namespace ricci
