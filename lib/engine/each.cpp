// Runs one plan over arrays of pointers.
#include "engine/each.hpp"

#include "engine/tables.hpp"
#include "engine/other.hpp"

#include <omp.h>

#include <algorithm>
#include <exception>

namespace ricci {
namespace {

/// Work below this many estimated seconds stays on the calling thread; as for a plan's own steps.
constexpr double least_parallel_seconds = 25e-6;

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

void run_range(const bound_plan& p, const bare_call* bare, const void* const* const* slots, int slot_count,
               const std::complex<double>* scalars, std::int64_t first, std::int64_t last) {
  if (bare) return bare->run(slots[bare->slot_a()], slots[bare->slot_b()], slots[bare->slot_c()], first, last);
  void* pointers[most_slots];
  for (std::int64_t i = first; i < last; ++i) {
    for (int s = 0; s < slot_count; ++s) pointers[s] = const_cast<void*>(slots[s][i]);
    execute(p, {pointers, scalars}, {});
  }
}

}  // namespace

bool bare_call::prepare(const bound_plan& p) {
  if (p.has_blocks || p.segments.size() != 1 || p.segments[0].steps.size() != 1) return false;
  const bound_step& s = p.segments[0].steps[0];
  const auto external = [](const place& x) { return x.where == operand::kind::external; };
  if (s.how != method::direct || s.free_count != 1 || s.sum_count != 1 || s.tiles.size() != 1) return false;
  if (s.pack_a >= 0 || s.pack_b >= 0 || s.buffer_c >= 0) return false;
  if (!external(s.a) || !external(s.b) || !external(s.c)) return false;
  run_.step = &s;
  made_ = s.tiles[0].first ? s.tiles[0].first->entry() : nullptr;
  contract_ = s.contract;
  args_ = &s.tiles[0].contract;
  return true;
}

void execute_each(const bound_plan& p, const bare_call* bare, const void* const* const* slots, int slot_count, std::int64_t count,
                  const std::complex<double>* scalars) {
  const int team = team_size(p, count);
  if (team == 1) return run_range(p, bare, slots, slot_count, scalars, 0, count);
  std::exception_ptr failure;
#pragma omp parallel num_threads(team)
  {
    const std::int64_t t = omp_get_thread_num(), n = omp_get_num_threads();
    try {
      if (!bare) workspace(p.own_bytes());
    } catch (...) {
#pragma omp critical(ricci_each_failure)
      failure = std::current_exception();
    }
#pragma omp barrier  // nobody writes before all have their memory
    if (!failure) run_range(p, bare, slots, slot_count, scalars, count * t / n, count * (t + 1) / n);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace ricci
