// What written kernels for dot products ask of a step.
#include "plan/candidate.hpp"

#include <algorithm>
#include <cstdlib>

namespace ricci::planning {
namespace {

bool in_compute_type(const operand& x, bool packed) { return packed || x.type == compute_type(x.type) || x.where == operand::kind::one; }

}  // namespace

bool candidate::is_alone() const {
  return std::all_of(step.axes.begin(), step.axes.end(), [](const step_axis& x) { return x.role == group::k || x.tile == 1; });
}

bool candidate::is_one_run() const {
  const auto lane = std::find_if(step.axes.begin(), step.axes.end(), [&](const step_axis& x) { return x.label == step.lane_label; });
  if (!step.pack_a || step.pack_b || !is_alone() || lane == step.axes.end() || lane->b != 1) return false;
  const auto others = std::count_if(step.axes.begin(), step.axes.end(), [&](const step_axis& x) { return x.tile > 1 && x.label != step.lane_label; });
  return others == 1 && std::any_of(step.axes.begin(), step.axes.end(), [&](const step_axis& x) { return x.tile > 1 && x.b == lane->tile; });
}

/// What a written kernel for dot products one by one asks of the operands.
bool candidate::are_lone_dots() const {
  const auto sums = std::count_if(step.axes.begin(), step.axes.end(), [&](const step_axis& x) { return x.role == group::k && x.label != step.lane_label; });
  const bool known = !is_complex(op.c.type) || is_known(op.beta);
  return m.writes_kernels && m.vector_bytes >= 32 && sums <= 1 && known && in_compute_type(op.a, step.pack_a) && in_compute_type(op.b, step.pack_b) && in_compute_type(op.c, step.buffer_c);
}

/// As generate_apart() in the engine has it.
bool candidate::are_sums_apart() const {
  const bool plain = m.writes_kernels && step.lanes == lanes::n && step.pack_b && !step.buffer_c && op.a.where == operand::kind::one && op.scale.where == operand::kind::one && !op.b.conj && op.b.type == compute_type(op.c.type) && op.c.type == op.b.type;
  const auto is_minus_one = [](const coefficient& x) { return is_known(x) && x.base == -1; };
  if (!plain || !(is_zero(op.beta) || is_one(op.beta)) || (is_complex(op.c.type) && !is_one(op.alpha) && !is_minus_one(op.alpha))) return false;
  int lanes = 0, sums = 0;
  for (const step_axis& x : step.axes) {
    if (x.tile < 2) continue;
    if (std::abs(x.b) * static_cast<std::int64_t>(size_of(op.b.type)) > most_apart_step) return false;
    if (x.role == group::k) {
      if (x.tile < x.extent || x.tile > most_apart_terms) return false;
      ++sums;
    } else if (x.label != step.lane_label) {
      return false;
    } else {
      ++lanes;
    }
  }
  return lanes == 1 && sums == 1;
}

bool candidate::are_complex_pairs() const {
  constexpr std::int64_t several = 16;  // results: two registers of the smaller type
  const bool ones = op.a.where == operand::kind::one, is_pair = std::any_of(step.axes.begin(), step.axes.end(), [&](const step_axis& x) { return x.label == step.lane_label && x.tile == 2; });
  if (!is_pair || (op.b.conj && (ones || op.a.conj))) return false;
  std::vector<step_axis> results;
  for (const step_axis& x : step.axes)
    if (x.role != group::k && x.tile > 1) results.push_back(x);
  std::sort(results.begin(), results.end(), [](const step_axis& x, const step_axis& y) { return x.c < y.c; });
  const auto follow = [&](std::int64_t step_axis::*stride) {
    std::int64_t reach = 2, covered = 1;
    for (const step_axis& x : results) {
      if (covered >= several) break;
      covered *= x.tile;
      if (x.*stride == 0) continue;
      if (x.*stride != reach) return false;
      reach *= x.tile;
    }
    return true;
  };
  return (ones || step.pack_a || follow(&step_axis::a)) && (step.pack_b || follow(&step_axis::b));
}

std::int64_t candidate::results_in_a_row() const {
  const auto sums = std::count_if(step.axes.begin(), step.axes.end(), [&](const step_axis& x) { return x.role == group::k && x.label != step.lane_label; });
  const auto has = [&](group role) { return std::any_of(step.axes.begin(), step.axes.end(), [&](const step_axis& x) { return x.role == role && x.tile > 1; }); };
  const bool tiny = m.vector_bytes >= 64 && sums == 0 && are_complex_pairs();  // of complex numbers there are kernels for these alone
  const bool written = m.writes_kernels && m.vector_bytes >= 32 && (!is_complex(op.c.type) || tiny) && sums <= 1 && !(has(group::m) && has(group::n));
  if (!written || !in_compute_type(op.a, step.pack_a) || !in_compute_type(op.b, step.pack_b) || !in_compute_type(op.c, step.buffer_c)) return 0;
  std::int64_t run = 1;
  for (bool grown = true; grown;) {
    grown = false;
    for (const step_axis& x : step.axes)
      if (x.c == run && x.role != group::k && x.tile > 1) run *= x.tile, grown = true;
  }
  return run;
}

}  // namespace ricci::planning
