// Runs one plan over arrays of pointers.
#include "engine/each.hpp"

#include "engine/tables.hpp"
#include "engine/other.hpp"

#include <omp.h>

#include <algorithm>
#include <exception>

namespace ricci {
namespace {

/// What a call through the executor costs beside the arithmetic.
constexpr double seconds_of_call = 50e-9;

constexpr int most_slots = 4;

double seconds_of(const bound_plan& p) {
  double seconds = seconds_of_call;
  for (const bound_segment& segment : p.segments)
    for (const bound_step& s : segment.steps) seconds += s.seconds;
  return seconds;
}

int team_size(const bound_plan& p, std::int64_t count) {
  if (count < 2 || seconds_of(p) * static_cast<double>(count) < least_parallel_seconds || omp_in_parallel()) return 1;
  const int most = p.max_threads > 0 ? std::min(p.max_threads, omp_get_max_threads()) : omp_get_max_threads();
  return count < most ? 1 : most;  // few problems share the team one after the other
}

void run_range(const bound_plan& p, const each_call& call, const void* const* const* slots, int slot_count,
               const std::complex<double>* scalars, std::int64_t first, std::int64_t last) {
  if (const bare_call* x = call.bare) return x->run(slots[x->slot_a()], slots[x->slot_b()], slots[x->slot_c()], first, last);
  if (const packed_call* x = call.packed) return x->run(slots[x->slot_a()], slots[x->slot_b()], slots[x->slot_c()], first, last, workspace(x->bytes()));
  void* pointers[most_slots];
  for (std::int64_t i = first; i < last; ++i) {
    for (int s = 0; s < slot_count; ++s) pointers[s] = const_cast<void*>(slots[s][i]);
    execute(p, {pointers, scalars}, {});
  }
}

/// The step of a plan that is one call of a contraction kernel, but for what is packed; null if it is more.
const bound_step* only_tile(const bound_plan& p) {
  if (p.has_blocks || p.segments.size() != 1 || p.segments[0].steps.size() != 1) return nullptr;
  const bound_step& s = p.segments[0].steps[0];
  const auto external = [](const place& x) { return x.where == operand::kind::external; };
  if (s.how != method::direct || s.free_count != 1 || s.sum_count != 1 || s.tiles.size() != 1) return nullptr;
  if (s.pack_a >= 0 || s.buffer_c >= 0) return nullptr;
  return external(s.a) && external(s.b) && external(s.c) ? &s : nullptr;
}

/// Bytes of a packed operand whose axes nest.
std::int64_t bytes_of(const kernels::move_args& g, dtype type) {
  std::int64_t elements = 1;
  for (int i = 0; i < g.axis_count; ++i) elements = std::max(elements, g.axes[i].extent * g.axes[i].c);
  constexpr std::int64_t line = 64;
  return (elements * static_cast<std::int64_t>(size_of(type)) + line - 1) / line * line;
}

}  // namespace

bool packed_call::prepare(const bound_plan& p) {
  const bound_step* const s = only_tile(p);
  if (!s || s->pack_b < 0 || !s->tiles[0].first) return false;
  run_.step = s;
  made_ = s->tiles[0].first->entry();
  turn_ = s->tiles[0].turn_b ? s->tiles[0].turn_b->entry() : nullptr;
  bytes_ = bytes_of(s->tiles[0].pack_b, s->type);
  constexpr std::int64_t most = 8, near = 8 << 10;  // bytes that stay in the first cache beside what else comes through it
  together_ = std::clamp<std::int64_t>(near / bytes_, 1, most);
  return true;
}

bool bare_call::prepare(const bound_plan& p) {
  const bound_step* const only = only_tile(p);
  if (!only || only->pack_b >= 0) return false;
  const bound_step& s = *only;
  run_.step = &s;
  made_ = s.tiles[0].first ? s.tiles[0].first->entry() : nullptr;
  contract_ = s.contract;
  args_ = &s.tiles[0].contract;
  return true;
}

void execute_each(const bound_plan& p, const each_call& call, const void* const* const* slots, int slot_count, std::int64_t count,
                  const std::complex<double>* scalars) {
  const int team = team_size(p, count);
  if (team == 1) return run_range(p, call, slots, slot_count, scalars, 0, count);
  std::exception_ptr failure;
#pragma omp parallel num_threads(team)
  {
    const std::int64_t t = omp_get_thread_num(), n = omp_get_num_threads();
    try {
      if (!call.bare) workspace(call.packed ? call.packed->bytes() : p.own_bytes());
    } catch (...) {
#pragma omp critical(ricci_each_failure)
      failure = std::current_exception();
    }
#pragma omp barrier  // nobody writes before all have their memory
    if (!failure) run_range(p, call, slots, slot_count, scalars, count * t / n, count * (t + 1) / n);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace ricci
