// What sums and short sides shared among threads take, to choose between ways of doing a step.
#include <algorithm>
#include <cstdlib>

#include "gpu/step.hpp"

namespace ricci::cuda {
namespace {

// Of an H100.
constexpr double kept = 100e3;                   // bytes of an operand that stay in the first cache
constexpr double first_cache = 140e9, second_cache = 38e9;  // bytes in a second that come to a multiprocessor
constexpr double from_memory = 0.75, again_from_second = 1.6;  // shares of the bandwidth of memory: once, and again and again
constexpr double wait = 0.6e-6;                  // seconds that a turn of a thread waits for what it reads
constexpr int turns_at_once = 4;                 // if threads have few elements and every turn is whole

/// The threads of a block that are counted along the innermost of the free axes that have no bits or elements of their own, if the
/// operand does not have that axis: they read the same.
double threads_that_share(const std::vector<axis>& free, const general_config& c, stride_of_axis stride) {
  std::vector<bool> named(free.size(), false);
  std::int64_t threads = 1;
  for (const own_elements& o : c.own) named[static_cast<std::size_t>(o.axis)] = true;
  for (const lane_bits& l : c.lanes) {
    if (!l.sums && l.axis >= 0) named[static_cast<std::size_t>(l.axis)] = true;
    if (!l.sums && l.axis < 0) threads = std::int64_t{1} << l.bits;
  }
  const stride_of_axis order = stride_in(c.order);
  const axis* innermost = nullptr;
  for (std::size_t d = 0; d < free.size(); ++d)
    if (!named[d] && free[d].*order != 0 && (!innermost || std::abs(free[d].*order) < std::abs(innermost->*order))) innermost = &free[d];
  return innermost && innermost->*stride == 0 ? static_cast<double>(std::min(innermost->extent, threads)) : 1;
}

/// How an operand is read.
struct reads {
  double bytes = 0;     // all of it
  double distinct = 1;  // elements for a term of all of a thread's elements
  double again = 1;     // times that blocks read each
  double sectors = 0;   // of 32 threads, for one element of each
};

reads reads_of(const step_shape& s, const std::vector<axis>& free, const general_config& c, char name, dtype t) {
  const stride_of_axis stride = stride_in(name);
  const auto axis_at = [&](int a) -> const axis& { return free[static_cast<std::size_t>(a)]; };
  reads r;
  r.bytes = static_cast<double>(size_of(t));
  for (const auto* group : {&free, &s.k})
    for (const axis& x : *group)
      if (x.*stride != 0) r.bytes *= static_cast<double>(x.extent);
  for (const axis& x : free)
    if (x.*stride == 0) r.again *= static_cast<double>(x.extent);
  for (const own_elements& o : c.own) {
    if (axis_at(o.axis).*stride != 0) r.distinct *= static_cast<double>(o.count);
    else r.again /= static_cast<double>(o.count);
  }
  for (const lane_bits& l : c.lanes)
    if (!l.sums && l.axis >= 0 && axis_at(l.axis).*stride == 0) r.again /= static_cast<double>(1 << l.bits);
  r.again = std::max(1.0, r.again / threads_that_share(free, c, stride));
  r.sectors = sectors_of_warp(s, c, name, t);
  if (c.run.is_flat()) {
    r.distinct *= c.run.count;
    if (std::all_of(free.begin(), free.end(), [&](const axis& x) { return x.*stride == x.c; })) r.sectors /= c.run.count;
  } else if (c.run.count > 1) {
    const axis& x = c.run.sums ? s.k[static_cast<std::size_t>(c.run.axis)] : axis_at(c.run.axis);
    if (!c.run.sums && x.*stride != 0) r.distinct *= c.run.count;
    if (x.*stride == 1) r.sectors /= c.run.count;  // one access for a run
  }
  return r;
}

}  // namespace

double general_seconds(const step_shape& s, const general_config& c, const gpu_machine& m, bool in_parts) {
  const std::vector<axis> free = free_axes(s);
  double each = c.run.sums ? 1 : c.run.count;
  for (const own_elements& o : c.own) each *= static_cast<double>(o.count);
  double near = 0, far = 0;  // seconds of a multiprocessor for a multiply-add; bytes from the second cache
  const auto add = [&](char name, dtype t) {
    const reads r = reads_of(s, free, c, name, t);
    near += r.distinct / each * r.sectors / (r.bytes <= kept ? first_cache : second_cache);  // a sector for 32 threads is a byte for each
    far += r.bytes * r.again;
  };
  if (s.has_a) add('a', s.a);
  if (s.has_b) add('b', s.b);
  const double all = static_cast<double>(count_of(free)) * static_cast<double>(count_of(s.k)), bandwidth = 1e9 * m.bandwidth;
  const std::int64_t parts = std::max(c.parts, in_parts ? parts_of(s, c, m) : 1);
  const double waits = static_cast<double>(general_turns(s, c)) / static_cast<double>(parts) * wait / (has_whole_turns(s, c) && each <= 4 ? turns_at_once : 1);
  return std::max({counted_bytes_of(s) / (from_memory * bandwidth), near * all / m.multiprocessors, far / (again_from_second * bandwidth), waits}) + (parts > 1 ? adding_parts : 0);
}

bool shares_vectors(const step_shape& s, const general_config& c) {
  const auto [least, most] = std::minmax({count_of(s.m), count_of(s.n)});
  const std::int64_t k = count_of(s.k);
  constexpr std::int64_t tiny = 6, many = 32;
  if (least != 1 || most == 1) return false;
  const bool is_float = size_of(s.c) <= 4;
  if (is_float && std::max(most, k) <= tiny) return false;
  const std::vector<axis> free = free_axes(s);
  for (const lane_bits& l : c.lanes) {
    if (l.sums || l.axis < 0) continue;
    const std::int64_t run = !c.run.sums && c.run.axis == l.axis ? c.run.count : 1, threads = std::int64_t{1} << l.bits;
    const std::int64_t extent = free[static_cast<std::size_t>(l.axis)].extent / run, all = divide_up(extent, threads) * threads;
    if (10 * extent < 7 * all && (is_float || k < many)) return false;
  }
  return true;
}

}  // namespace ricci::cuda
