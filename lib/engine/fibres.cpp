// Pointwise steps between products with even or odd matrices: their streams and loops, and their call.
#include <algorithm>

#include "engine/other.hpp"

namespace ricci {
namespace {

/// The matrix of a product as make_halves() wants it.
kernels::halves_args halves_of(const fibre_product& x, bool before, std::int64_t rows, std::int64_t own) {
  kernels::halves_args g;
  g.parity = x.matrix.parity;
  g.q = static_cast<int>(before ? rows : own), g.n = static_cast<int>(before ? own : rows);
  g.m_q = stride_of(x.matrix, before ? x.row : x.own), g.m_n = stride_of(x.matrix, before ? x.own : x.row);
  return g;
}

/// Bytes to the same place of the next block in memory; 0 if there is none near enough.
std::int64_t next_block(const place& x) {
  constexpr std::int64_t farthest = 1 << 24;
  const bool moves = x.where == operand::kind::external && x.blocks.size() == 1;
  return moves && std::abs(x.blocks[0]) < farthest ? x.blocks[0] : 0;
}

}  // namespace

bool has_fibres(const plan_step& s) { return s.op.before.at >= 0 || s.op.after.at >= 0; }

void bind_fibres(other_step& out, const plan& p, const segment& s, const plan_step& step) {
  const pair_op& op = step.op;
  const fibre_product &before = op.before, &after = op.after;
  const int along = before.at >= 0 ? before.along : after.along;
  const dtype type = op.c.type;
  const auto width = static_cast<std::int64_t>(64 / size_of(type));
  const auto extent = [&](int label) {  // of the block
    for (const step_axis& a : step.axes)
      if (a.label == label) return a.extent;
    return p.source.labels[static_cast<std::size_t>(label)].extent;
  };
  codegen::fibres_request wanted;
  kernels::pointwise_args& g = wanted.points.args;
  add_statements(g, op, op.outputs);
  // Streams: outputs and what the second product writes, inputs and what the first one reads, then the matrices.
  std::vector<const operand*> streams;
  std::vector<std::int64_t> rows;
  const auto add = [&](const operand& x, int row) { streams.push_back(&x), rows.push_back(stride_of(x, row)); };
  for (const pointwise_output& x : op.outputs)
    if (x.stored) add(x.c, along), out.outputs.push_back(place_of(p, s, x.c, step.slice_label));
  if (after.at >= 0) {
    wanted.after.tensor = static_cast<int>(streams.size());
    add(after.tensor, after.own), out.outputs.push_back(place_of(p, s, after.tensor, step.slice_label));
  }
  const std::size_t outputs = streams.size();
  for (const operand& x : op.inputs) add(x, along), out.inputs.push_back(place_of(p, s, x, step.slice_label));
  if (before.at >= 0) {
    wanted.before.tensor = static_cast<int>(streams.size() - outputs);
    add(before.tensor, before.own), out.inputs.push_back(place_of(p, s, before.tensor, step.slice_label));
  }
  g.output_count = static_cast<int>(outputs), g.input_count = static_cast<int>(streams.size() - outputs);
  const auto passed = [&](std::size_t i) { return i == outputs + static_cast<std::size_t>(before.at) && before.at >= 0; };

  std::vector<point_axis> loops;
  bool turns = false;
  point_axis lanes{extent(step.lane_label) / width, {}};
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const std::int64_t lane = passed(i) ? 1 : stride_of(*streams[i], step.lane_label);
    turns = turns || lane > 1;
    lanes.strides.push_back(passed(i) ? 0 : lane * width);
    kernels::pointwise_args::stream& x = i < outputs ? g.outputs[i] : g.inputs[i - outputs];
    x.lane = lane, x.row = passed(i) ? 0 : rows[i];
  }
  for (const step_axis& a : step.axes) {
    if (a.label == step.lane_label || a.label == along) continue;
    point_axis l{a.extent, {}};
    for (std::size_t i = 0; i < streams.size(); ++i) l.strides.push_back(passed(i) ? 0 : stride_of(*streams[i], a.label));
    loops.push_back(std::move(l));
  }
  fuse(loops, 0);
  std::sort(loops.begin(), loops.end(), [](const point_axis& x, const point_axis& y) { return std::abs(x.strides[0]) < std::abs(y.strides[0]); });
  if (lanes.extent > 1) loops.insert(turns ? loops.end() : loops.begin(), lanes);
  if (loops.size() > kernels::max_loops) throw kernel_refused();
  g.lane_extent = width, g.row_extent = extent(along), g.loop_count = static_cast<int>(loops.size());
  for (std::size_t d = 0; d < loops.size(); ++d) {
    g.loops[d] = loops[d].extent;
    for (std::size_t i = 0; i < streams.size(); ++i) (i < outputs ? g.outputs[i] : g.inputs[i - outputs]).loops[d] = loops[d].strides[i];
  }
  const auto matrix = [&](const fibre_product& x, bool first, codegen::fibre_end& to) {
    if (x.at < 0) return;
    const std::int64_t own = p.source.labels[static_cast<std::size_t>(x.own)].extent;
    to.at = x.at, to.size = static_cast<int>(own), to.parity = x.matrix.parity, to.matrix = g.input_count++;
    to.beta = known_factor(x.beta);
    out.inputs.push_back(place_of(p, s, x.matrix, step.slice_label));
    out.ends.push_back({to.matrix, halves_of(x, first, g.row_extent, own)});
  };
  matrix(before, true, wanted.before), matrix(after, false, wanted.after);
  for (const pointwise_term& t : op.terms) out.alphas.push_back(t.alpha);
  for (const pointwise_output& x : op.outputs) out.betas.push_back(x.beta);
  wanted.points.type = type;
  out.asks_for = step.asks_for;
  for (const place& x : out.inputs) wanted.points.ahead.push_back(contains(step.asks_for, x.slot) ? next_block(x) : 0);
  for (const coefficient& c : out.alphas) wanted.points.alphas.push_back(known_factor(c));
  wanted.points.betas.assign(op.outputs.size(), codegen::factor::zero);
  for (std::size_t n = 0, output = 0; n < op.outputs.size(); ++n) {
    if (!op.outputs[n].stored) continue;
    const place& to = out.outputs[output++];
    const auto replaced = [&](const place& x) { return x.where == operand::kind::temporary && to.where == x.where && x.offset == to.offset; };
    if (std::any_of(out.inputs.begin(), out.inputs.end(), replaced)) wanted.points.late.push_back(static_cast<int>(n));
  }
  out.made = codegen::make(wanted, codegen::best_target());
  if (!out.made) throw kernel_refused();
  out.pointwise = g;
  out.pointwise.loop_count = 0;  // the kernel walks them
  out.rest.lane_extent = 0;
}

std::int64_t fibres_bytes(const other_step& s, dtype type) {
  std::int64_t bytes = 0;
  for (const matrix_end& x : s.ends) bytes += codegen::halves_bytes(x.halves, type);
  return bytes;
}

void set_packed_ends(step_run& r, char* packs) {
  const std::vector<matrix_end>& ends = r.step->other->ends;
  if (ends.empty()) return;  // nothing is packed, and there may be no memory for it
  const char* at = packs + r.step->pack_a;
  for (const matrix_end& x : ends) {
    r.inputs[x.input] = at;
    at += codegen::halves_bytes(x.halves, r.step->type);
  }
}

void run_fibres(const bound_step& s, const step_run& r, bool packed) {
  const other_step& o = *s.other;
  const void* inputs[kernels::max_pointwise_inputs];
  std::copy_n(r.inputs, o.pointwise.input_count, inputs);
  char* at = r.scratch + s.pack_a;
  for (const matrix_end& x : o.ends) {
    if (!packed) codegen::make_halves(x.halves, s.type, inputs[x.input], one_of(s.type), at);
    inputs[x.input] = at;
    at += codegen::halves_bytes(x.halves, s.type);
  }
  (*o.made)(inputs, r.outputs, r.alphas, r.betas);
}

}  // namespace ricci
