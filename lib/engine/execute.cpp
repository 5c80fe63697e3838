// Walks a bound plan: blocks or steps over threads, coefficients, pointers.
#include <omp.h>

#include <algorithm>
#include <atomic>

#include "engine/chain.hpp"
#include "engine/other.hpp"
#include "engine/single.hpp"
#include "engine/tables.hpp"

namespace ricci {
namespace {

constexpr std::int64_t any_number = 1 << 20;  // of tasks: as many as there are threads

/// The bytes of the current block of each block label, for one operand.
std::int64_t block_offset(const place& p, const std::int64_t* index) {
  std::int64_t at = 0;
  for (std::size_t l = 0; l < p.blocks.size(); ++l) at += index[l] * p.blocks[l];
  return at;
}

void set_pointers(step_run& r, const bindings& b, const std::int64_t* block, char* temporaries) {
  const bound_step& s = *r.step;
  const auto address = [&](const place& p) {
    if (p.where == operand::kind::one) return static_cast<char*>(const_cast<void*>(one_of(s.type)));
    if (p.where == operand::kind::temporary) return temporaries + p.offset;
    return static_cast<char*>(b.pointers[p.slot]) + block_offset(p, block);
  };
  r.a = address(s.a);
  r.b = address(s.b);
  r.c = address(s.c);
  if (s.scaled) r.scale = address(s.scale);
  if (s.fetch_bytes > 0) r.fetch = address(s.fetch) + s.fetch_first;
  if (!s.other) return;
  for (std::size_t i = 0; i < s.other->inputs.size(); ++i)
    r.inputs[i] = address(s.other->inputs[i]);
  for (std::size_t i = 0; i < s.other->outputs.size(); ++i)
    r.outputs[i] = address(s.other->outputs[i]);
}

/// From one slice of a block to the next.
void move_pointers(step_run& r) {
  const bound_step& s = *r.step;
  r.a += s.a.slice, r.b += s.b.slice, r.c += s.c.slice;
  if (r.fetch) r.fetch += s.fetch.slice;
  for (std::size_t i = 0; i < s.other->inputs.size(); ++i) r.inputs[i] = static_cast<const char*>(r.inputs[i]) + s.other->inputs[i].slice;
  for (std::size_t i = 0; i < s.other->outputs.size(); ++i) r.outputs[i] = static_cast<char*>(r.outputs[i]) + s.other->outputs[i].slice;
}

step_run prepare(const bound_step& s, const bindings& b, char* temporaries, char* packs) {
  step_run r;
  set_scalars(r, s, b);
  set_pointers(r, b, nullptr, temporaries);
  r.scratch = packs;
  return r;
}

int team_size(const bound_plan& p, double seconds, std::int64_t tasks) {
  if (seconds < least_parallel_seconds || tasks < 2 || omp_in_parallel()) return 1;
  return static_cast<int>(std::min<std::int64_t>(most_threads(p), tasks));
}

/// Streamed stores are ordered by this alone.
void settle(const bound_step& s) {
  if (s.stream_c) std::atomic_thread_fence(std::memory_order_seq_cst);
}

void run_range(const step_run& r, std::int64_t first, std::int64_t last) {
  if (r.step->how == method::blocked) run_blocked(r, first, last);
  else if (r.step->other && r.step->other->alone) r.step->other->alone->run(r, first, last);
  else run_direct(r, first, last, false, false);
  settle(*r.step);
}

void run_steps(const bound_plan& p, const bindings& b, const bound_segment& segment) {
  int most = 1;  // before anything runs: a step that added to its result cannot run again
  for (const bound_step& s : segment.steps) most = std::max(most, team_size(p, s.seconds, any_number));
  char* base = workspace(p.temporaries_bytes + most * p.packs_bytes);
  for (const bound_step& s : segment.steps) {
    step_run r = prepare(s, b, base, base + p.temporaries_bytes);
    std::int64_t tasks = s.other && s.other->alone ? s.other->alone->tasks() : s.free_count;
    if (s.how == method::blocked) {
      r.cuts = blocked_cuts(s, team_size(p, s.seconds, any_number));
      tasks = blocked_tasks(s, r.cuts);
    }
    const int team = team_size(p, s.seconds, tasks);
    if (team == 1) {
      run_range(r, 0, tasks);
      continue;
    }
#pragma omp parallel num_threads(team)
    {
      step_run mine = r;
      const int t = omp_get_thread_num(), n = omp_get_num_threads();
      mine.scratch = base + p.temporaries_bytes + t * p.packs_bytes;
      run_range(mine, tasks * t / n, tasks * (t + 1) / n);
    }
  }
}

/// Where block i finds the rows of a step's table.
void set_rows(step_run& r, const row_tables& tables, bool tail, std::size_t step, std::int64_t i) {
  const row_table* t = tables.empty() ? nullptr : tables[tail][step].get();
  r.table = t;
  if (!t) return;
  r.rows = t->at.data() + i * t->each;
  r.rows_end = t->at.data() + t->at.size();
}

/// A thread's part of the workspace.
struct own_memory {
  char *temporaries, *packs, *runs;
  own_memory(const bound_plan& p, char* base) : temporaries(base), packs(base + p.temporaries_bytes), runs(packs + p.packs_bytes) {}
};

/// What of a segment's links the loop over blocks has to know.
struct linked_steps {
  bool all = true;                           // every step is one call of a written kernel
  bool fetches = false;                      // there is memory to ask for
  std::size_t streams = 0, streams_end = 0;  // links whose results leave past the caches are among these
};

/// Links the steps, which have run once, for the block of that index.
linked_steps link_steps(const bindings& b, const std::int64_t* index, std::size_t steps, const kept_runs& kept, const own_memory& mine) {
  linked_steps x;
  x.streams = steps;
  for (std::size_t s = 0; s < steps; ++s) {
    set_pointers(kept.run(s), b, index, mine.temporaries);
    const link& l = kept.make_link(s) = link_of(kept.run(s), mine.packs, steps);
    kept.make_point(s).set(kept.run(s), mine.packs);
    if (l.streamed > 0) x.streams = std::min(x.streams, s), x.streams_end = s + 1;
    x.fetches = x.fetches || l.far_a || l.far_b || l.far_alpha;
    x.all = x.all && (l.code || kept.point(s).is_ready());
  }
  return x;
}

/// Blocks [first, last) of one segment on this thread. tail: the short block behind each run of full ones.
void run_blocks(const bound_plan& p, const bindings& b, const bound_segment& segment, const row_tables& tables, std::int64_t first,
                std::int64_t last, bool tail, const own_memory& mine) {
  const std::size_t steps = segment.steps.size();
  std::int64_t index[most_block_labels];
  const kept_runs kept(mine.runs, steps);
  for (std::size_t s = 0; s < steps; ++s) set_scalars(kept.make_run(s), segment.steps[s], b);
  const auto run_slice = [&](std::size_t s, std::int64_t i, std::int64_t slice) {
    step_run& r = kept.run(s);
    if (slice > 0) {
      move_pointers(r);
    } else {
      set_pointers(r, b, index, mine.temporaries);
      set_rows(r, tables, tail, s, i);
      r.scratch = mine.packs;
    }
    const bool again = i > first || slice > 0;
    run_direct(r, 0, r.step->free_count, r.step->keep_a && again, r.step->keep_b && again);
  };
  // Step s, or all that run slice by slice from it on: the next one is returned.
  const auto run_from = [&](std::size_t s, const auto& run, const auto& run_each) {
    const auto count = static_cast<std::size_t>(segment.steps[s].slice_steps);
    if (count == 0) return run(s), s + 1;
    for (std::int64_t x = 0; x < segment.steps[s].slices; ++x)
      for (std::size_t n = s; n < s + count; ++n) run_each(n, x);
    return s + count;
  };
  const auto run_block = [&](std::int64_t i) {
    for (std::size_t s = 0; s < steps;)
      s = run_from(s, [&](std::size_t n) { run_slice(n, i, 0); }, [&](std::size_t n, std::int64_t x) { run_slice(n, i, x); });
  };
  // The first block packs what stays. From then on a step that is one call has only its pointers moved.
  const bool linked = !tail && p.block_counts.size() == 1 && last - first > 1;
  for (std::int64_t i = first; i < (linked ? first + 1 : last); ++i) locate(p.block_counts, tail, i, index), run_block(i);
  if (linked) {
    locate(p.block_counts, tail, first + 1, index);
    const auto [all, fetches, streams, streams_end] = link_steps(b, index, steps, kept, mine);
    next_fetch ahead = fetches ? next_fetch(&kept.link_at(0), static_cast<std::int64_t>(steps)) : next_fetch();
    for (std::int64_t i = first + 1; i < last; ++i) {
      if (!all) locate(p.block_counts, tail, i, index);
      const auto run_linked = [&](std::size_t s) {
        if (link& l = kept.link_at(s); l.code) {
          for (std::size_t n = streams; n < streams_end; ++n) kept.link_at(n).writer.leave();
          if (fetches && i + 1 < last) ahead.ask(static_cast<std::int64_t>(s));
          l.run();
        } else if (kept.point(s).is_ready()) {
          kept.point(s).run(kept.run(s));
        } else {
          run_slice(s, i, 0);
        }
      };
      const auto run_linked_slice = [&](std::size_t s, std::int64_t x) {
        const bool done = x + 1 == segment.steps[s].slices;
        if (link& l = kept.link_at(s); l.code) {
          l.run_slice(x);
          if (done) l.next_block();
        } else if (point_link& point = kept.point(s); point.is_ready()) {
          point.run_slice(kept.run(s));
          if (done) point.next_block(kept.run(s));
        } else {
          run_slice(s, i, x);
        }
      };
      for (std::size_t s = 0; s < steps;) s = run_from(s, run_linked, run_linked_slice);
    }
    for (std::size_t s = 0; s < steps; ++s) kept.link_at(s).finish();
  }
  for (const bound_step& s : segment.steps) settle(s);
}

/// Colour after colour, the runs of one over the team: the same additions in the same order with any number of threads.
void run_in_order(const bound_plan& p, const bindings& b, const bound_segment& segment, const read_tables& tables, int team) {
  char* base = workspace(team * p.own_bytes());
  for (const auto& runs : tables.order.colours) {
    const auto count = static_cast<std::int64_t>(runs.size());
#pragma omp parallel for num_threads(team) schedule(static) if (team > 1)
    for (std::int64_t r = 0; r < count; ++r) {
      const own_memory mine(p, base + omp_get_thread_num() % team * p.own_bytes());
      const task_order::run& run = runs[static_cast<std::size_t>(r)];
      run_blocks(p, b, segment, tables.rows, run.first, run.last, false, mine);
    }
  }
}

void run_segment(const bound_plan& p, const bindings& b, const bound_segment& segment, const read_tables& tables, bool tail) {
  std::int64_t blocks = 1;
  for (std::size_t l = 0; l < p.block_counts.size(); ++l)
    blocks *= tail && l + 1 == p.block_counts.size() ? 1 : p.block_counts[l];
  double seconds = 0;
  for (const bound_step& s : segment.steps) seconds += s.seconds;
  int team = team_size(p, seconds * static_cast<double>(blocks), blocks);
  if (p.scatters && !tail && !tables.order.colours.empty()) return run_in_order(p, b, segment, tables, team);
  if (p.scatters) team = 1;
  char* base = workspace(team * p.own_bytes());
  if (team == 1) return run_blocks(p, b, segment, tables.rows, 0, blocks, tail, own_memory(p, base));
#pragma omp parallel num_threads(team)
  {
    const int t = omp_get_thread_num(), n = omp_get_num_threads();
    run_blocks(p, b, segment, tables.rows, blocks * t / n, blocks * (t + 1) / n, tail, own_memory(p, base + t * p.own_bytes()));
  }
}

}  // namespace

int most_threads(const bound_plan& p) { return p.max_threads > 0 ? std::min(p.max_threads, omp_get_max_threads()) : omp_get_max_threads(); }

void set_scalars(step_scalars& to, const bound_step& s, const std::complex<double>* scalars) {
  store_scalar(s.type, value_of(s.alpha, scalars), to.alpha);
  store_scalar(s.type, value_of(s.beta, scalars), to.beta);
  if (!s.other) return;
  const std::size_t size = size_of(s.type);
  for (std::size_t t = 0; t < s.other->alphas.size(); ++t) store_scalar(s.type, value_of(s.other->alphas[t], scalars), to.alphas + t * size);
  for (std::size_t n = 0; n < s.other->betas.size(); ++n) store_scalar(s.type, value_of(s.other->betas[n], scalars), to.betas + n * size);
}

void set_scalars(step_run& r, const bound_step& s, const bindings& b) {
  r.step = &s;
  set_scalars(r, s, b.scalars);
}

void execute(const bound_plan& p, const bindings& b, const read_tables& tables) {
  if (!p.calls.empty()) return run_calls(p, b);
  if (!p.has_blocks) {
    for (const bound_segment& s : p.segments) run_steps(p, b, s);
    return;
  }
  for (std::size_t i = 0; i < p.segments.size(); ++i) run_segment(p, b, p.segments[i], tables, i > 0);
}

}  // namespace ricci
