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

/// Writes the kernel of a step, stream by stream: outputs and what the second product writes, inputs and what the first
/// one reads, then the matrices.
class fibre_binder {
 public:
  fibre_binder(other_step& out, const plan& p, const segment& s, const plan_step& step)
      : out_(out), plan_(p), segment_(s), step_(step), op_(step.op), along_(op_.before.at >= 0 ? op_.before.along : op_.after.along) {}

  void bind() {
    wanted_.points.type = op_.c.type;
    add_statements(args_, op_, op_.outputs);
    add_outputs();
    add_inputs();
    add_loops();
    add_matrix(op_.before, true, wanted_.before), add_matrix(op_.after, false, wanted_.after);
    add_coefficients();
    find_late();
    out_.made = codegen::make(wanted_, codegen::best_target());
    if (!out_.made) throw kernel_refused();
    auto args = std::make_shared<kernels::pointwise_args>(args_);
    args->loop_count = 0;  // the kernel walks them
    out_.pointwise = std::move(args);
  }

 private:
  place place_of(const operand& x) const { return ricci::place_of(plan_, segment_, x, step_.slice_label); }

  std::int64_t extent_of(int label) const { return plan_.source.labels[static_cast<std::size_t>(label)].extent; }
  /// The same, of the block.
  std::int64_t extent_in_block(int label) const {
    for (const step_axis& a : step_.axes)
      if (a.label == label) return a.extent;
    return extent_of(label);
  }

  void add_stream(const operand& x, int row, std::vector<place>& to) {
    streams_.push_back(&x), rows_.push_back(stride_of(x, row));
    to.push_back(place_of(x));
  }

  void add_outputs() {
    for (const pointwise_output& x : op_.outputs)
      if (x.stored) add_stream(x.c, along_, out_.outputs);
    if (op_.after.at >= 0) {
      wanted_.after.tensor = static_cast<int>(streams_.size());
      add_stream(op_.after.tensor, op_.after.own, out_.outputs);
    }
    outputs_ = streams_.size();
    args_.output_count = static_cast<int>(outputs_);
  }

  void add_inputs() {
    for (const operand& x : op_.inputs) add_stream(x, along_, out_.inputs);
    if (op_.before.at >= 0) {
      wanted_.before.tensor = static_cast<int>(streams_.size() - outputs_);
      add_stream(op_.before.tensor, op_.before.own, out_.inputs);
    }
    args_.input_count = static_cast<int>(streams_.size() - outputs_);
  }

  kernels::pointwise_args::stream& stream(std::size_t i) { return i < outputs_ ? args_.outputs[i] : args_.inputs[i - outputs_]; }
  /// What the first product hands on in registers.
  bool is_passed(std::size_t i) const { return op_.before.at >= 0 && i == outputs_ + static_cast<std::size_t>(op_.before.at); }

  point_axis axis_of(const step_axis& a) const {
    point_axis l{a.extent, {}};
    for (std::size_t i = 0; i < streams_.size(); ++i) l.strides.push_back(is_passed(i) ? 0 : stride_of(*streams_[i], a.label));
    return l;
  }

  void add_loops() {
    const auto width = static_cast<std::int64_t>(64 / size_of(op_.c.type));
    bool turns = false;
    point_axis lanes{extent_in_block(step_.lane_label) / width, {}};
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      const std::int64_t lane = is_passed(i) ? 1 : stride_of(*streams_[i], step_.lane_label);
      turns = turns || lane > 1;
      lanes.strides.push_back(is_passed(i) ? 0 : lane * width);
      stream(i).lane = lane, stream(i).row = is_passed(i) ? 0 : rows_[i];
    }
    std::vector<point_axis> loops;
    for (const step_axis& a : step_.axes)
      if (a.label != step_.lane_label && a.label != along_) loops.push_back(axis_of(a));
    fuse(loops, 0);
    std::sort(loops.begin(), loops.end(), [](const point_axis& x, const point_axis& y) { return std::abs(x.strides[0]) < std::abs(y.strides[0]); });
    if (lanes.extent > 1) loops.insert(turns ? loops.end() : loops.begin(), lanes);
    if (loops.size() > kernels::max_loops) throw kernel_refused();
    args_.lane_extent = width, args_.row_extent = extent_in_block(along_), args_.loop_count = static_cast<int>(loops.size());
    for (std::size_t d = 0; d < loops.size(); ++d) {
      args_.loops[d] = loops[d].extent;
      for (std::size_t i = 0; i < streams_.size(); ++i) stream(i).loops[d] = loops[d].strides[i];
    }
  }

  void add_matrix(const fibre_product& x, bool first, codegen::fibre_end& to) {
    if (x.at < 0) return;
    const std::int64_t own = extent_of(x.own);
    to.at = x.at, to.size = static_cast<int>(own), to.parity = x.matrix.parity, to.matrix = args_.input_count++;
    to.beta = known_factor(x.beta);
    out_.inputs.push_back(place_of(x.matrix));
    out_.ends.push_back({to.matrix, halves_of(x, first, args_.row_extent, own)});
  }

  void add_coefficients() {
    for (const pointwise_term& t : op_.terms) out_.alphas.push_back(t.alpha);
    for (const pointwise_output& x : op_.outputs) out_.betas.push_back(x.beta);
    for (const coefficient& c : out_.alphas) wanted_.points.alphas.push_back(known_factor(c));
    wanted_.points.betas.assign(op_.outputs.size(), codegen::factor::zero);
    out_.asks_for = step_.asks_for;
    for (const place& x : out_.inputs) wanted_.points.ahead.push_back(contains(step_.asks_for, x.slot) ? next_block(x) : 0);
  }

  /// Results that stand where an input stood are stored late.
  void find_late() {
    std::size_t output = 0;
    for (std::size_t n = 0; n < op_.outputs.size(); ++n) {
      if (!op_.outputs[n].stored) continue;
      const place& to = out_.outputs[output++];
      const auto replaced = [&](const place& x) { return x.where == operand::kind::temporary && to.where == x.where && x.offset == to.offset; };
      if (std::any_of(out_.inputs.begin(), out_.inputs.end(), replaced)) wanted_.points.late.push_back(static_cast<int>(n));
    }
  }

  other_step& out_;
  const plan& plan_;
  const segment& segment_;
  const plan_step& step_;
  const pair_op& op_;
  const int along_;
  codegen::fibres_request wanted_;
  kernels::pointwise_args& args_ = wanted_.points.args;
  std::vector<const operand*> streams_;
  std::vector<std::int64_t> rows_;  // strides of the streams along the fibres
  std::size_t outputs_ = 0;         // the first of the streams
};

}  // namespace

bool has_fibres(const plan_step& s) { return s.op.before.at >= 0 || s.op.after.at >= 0; }

void bind_fibres(other_step& out, const plan& p, const segment& s, const plan_step& step) { fibre_binder(out, p, s, step).bind(); }

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
  std::copy_n(r.inputs, o.pointwise->input_count, inputs);
  char* at = r.scratch + s.pack_a;
  for (const matrix_end& x : o.ends) {
    if (!packed) codegen::make_halves(x.halves, s.type, inputs[x.input], one_of(s.type), at);
    inputs[x.input] = at;
    at += codegen::halves_bytes(x.halves, s.type);
  }
  (*o.made)(inputs, r.outputs, r.alphas, r.betas);
}

}  // namespace ricci
