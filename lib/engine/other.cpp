// Steps that are no contractions: their arguments, and their loops over tables.
#include "engine/other.hpp"
#include "engine/tables.hpp"
#include "plan/lookups.hpp"

#include <algorithm>

namespace ricci {
namespace {

/// The lanes, then the other axes of a step, joined, those with small steps first.
std::vector<point_axis> axes_of(const plan_step& step, const std::vector<const operand*>& streams, std::size_t outputs) {
  std::vector<point_axis> axes{{1, std::vector<std::int64_t>(streams.size(), 0)}};
  std::fill_n(axes[0].strides.begin(), outputs, 1);
  for (const step_axis& x : step.axes) {
    point_axis a{x.extent, {}};
    for (const operand* y : streams) a.strides.push_back(stride_of(*y, x.label));
    if (x.label == step.lane_label) axes[0] = a;
    else axes.push_back(a);
  }
  fuse(axes, 1);
  std::sort(axes.begin() + 1, axes.end(),
            [](const point_axis& x, const point_axis& y) { return std::abs(x.strides[0]) < std::abs(y.strides[0]); });
  return axes;
}

/// The tensors of a pointwise step: outputs, then inputs.
std::vector<const operand*> streams_of(const pair_op& op, const std::vector<pointwise_output>& statements) {
  std::vector<const operand*> streams;
  for (const pointwise_output& x : statements)
    if (x.stored) streams.push_back(&x.c);
  for (const operand& x : op.inputs) streams.push_back(&x);
  return streams;
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
      if (op.turned < 0 && loops[i].x == g.lane_extent && loops[i].y == g.lane_extent) {
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

/// From: the element type of what is added, T's own or the one its sums are in.
template <class T, class From, class Index>
void scatter(const other_step& s, const step_run& r) {
  using sum = std::conditional_t<size_of(dtype_of<T>) == 2, float, T>;
  const Index* table = reinterpret_cast<const Index*>(r.a);
  const From* from = reinterpret_cast<const From*>(r.b);
  T* to = reinterpret_cast<T*>(r.c);
  const std::int64_t step = s.table_stride;
  const sum alpha = *reinterpret_cast<const sum*>(r.alpha);
  const auto add = [=](const auto& coefficient) {
    walk(s.loops, 0, 0, 0, 0, [=](std::int64_t a, std::int64_t b, std::int64_t c) {
      T& x = to[c + table[a] * step];
      x = static_cast<T>(static_cast<sum>(x) + coefficient * static_cast<sum>(from[b]));
    });
  };
  if constexpr (is_complex(dtype_of<T>)) {
    if (alpha.imag() == 0) return add(alpha.real());  // parts stay apart, which infinite ones show
  }
  add(alpha);
}

template <class T>
void move_indexed(const bound_step& b, const step_run& r) {
  const other_step& s = *b.other;
  if (b.how == method::gather) return s.wide ? gather<T, std::int64_t>(s, r) : gather<T, std::int32_t>(s, r);
  if constexpr (size_of(dtype_of<T>) == 2)
    if (b.type_b == dtype::f32) return s.wide ? scatter<T, float, std::int64_t>(s, r) : scatter<T, float, std::int32_t>(s, r);
  s.wide ? scatter<T, T, std::int64_t>(s, r) : scatter<T, T, std::int32_t>(s, r);
}

}  // namespace

place place_of(const plan& p, const segment& s, const operand& x, int slice_label) {
  place out;
  if (has(x, slice_label)) out.slice = stride_of(x, slice_label) * static_cast<std::int64_t>(size_of(x.type));
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
  const dtype type = compute_type(step.op.c.type);
  const int kind = type == dtype::f64;
  if (has_fibres(step)) {
    bind_fibres(*out, p, s, step);
  } else if (step.how == method::pointwise) {
    std::vector<pointwise_output> statements = step.op.outputs;
    if (statements.empty()) statements.push_back({step.op.c, step.op.beta, static_cast<int>(step.op.terms.size())});
    out->point = kernels.pointwise[static_cast<int>(type)];
    for (const operand& x : step.op.inputs) out->inputs.push_back(place_of(p, s, x, step.slice_label));
    for (const pointwise_output& x : statements) {
      if (x.stored) out->outputs.push_back(place_of(p, s, x.c, step.slice_label));
      out->betas.push_back(x.beta);
    }
    for (const pointwise_term& t : step.op.terms) out->alphas.push_back(t.alpha);
    if (step.in_tiles) bind_tiles(*out, step, kernels);
    else set_pointwise(*out, axes_of(step, streams_of(step.op, statements), out->outputs.size()), step.op, statements, kernels.vector_bytes / static_cast<int>(size_of(type)));
  } else if (step.how == method::halves) {
    out->halves = halves_args_of(step);
    out->x_lane = stride_of(step.op.b, step.lane_label), out->y_lane = stride_of(step.op.c, step.lane_label);
    if (step.op.turned < 0) out->half = kernels.halves[kind];
  } else {
    out->loops = joined(step.axes);
    out->wide = size_of(step.op.a.type) == 8;
    out->table_stride = step.op.table_stride;
    out->gather = kernels.gather[kind], out->scatter = kernels.scatter[kind];
    if (p.block_labels.empty() && planning::is_lookup_alone(step.op)) out->alone = lookup_walk::of(step, kernels);
  }
  return out;
}

namespace {

void run_halves(const bound_step& s, const step_run& r, bool packed) {
  char* matrix = r.scratch + s.pack_a;
  if (!packed) codegen::make_halves(s.other->halves, s.type, r.a, r.alpha, matrix);
  (*s.other->written_half)(matrix, r.b, r.c, r.fetch ? r.fetch : r.b, nullptr);
}

void move_rows(const bound_step& s, const step_run& r) {
  if (s.how == method::gather) s.other->gather(r.table->shape, r.rows, r.rows_end, r.b, r.c);
  else s.other->scatter(r.table->shape, r.rows, r.rows_end, r.b, r.c, r.alpha);
}

}  // namespace

void run_other(const step_run& r, bool packed) {
  const bound_step& s = *r.step;
  if (!s.other->ends.empty()) return run_fibres(s, r, packed);
  if (s.how == method::pointwise)
    return run_pointwise(*s.other, {r.inputs, r.outputs, r.alphas, r.betas, static_cast<std::int64_t>(size_of(s.type))});
  if (r.table) return move_rows(s, r);
  if (s.how == method::halves && s.other->written_half) return run_halves(s, r, packed);
  if (s.how == method::halves) return s.other->half(s.other->halves, r.a, r.b, r.c, r.alpha, r.beta);
  switch (s.type_c) {
    case dtype::f32: return move_indexed<float>(s, r);
    case dtype::f64: return move_indexed<double>(s, r);
    case dtype::c64: return move_indexed<std::complex<float>>(s, r);
    case dtype::c128: return move_indexed<std::complex<double>>(s, r);
    case dtype::f16: return move_indexed<half>(s, r);
    case dtype::bf16: return move_indexed<bfloat16>(s, r);
  }
}

}  // namespace ricci
