// CUDA for one CPU thread: the text of a kernel compiles as C++ behind this header, and a block's threads are fibres that
// give way at barriers. Shared memory is poisoned before each block, and threads can run in reverse, so that reads of
// what was never written and missing barriers show.
#pragma once
#include <setjmp.h>
#include <ucontext.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#define __device__
#define __host__
#define __global__
#define __shared__
#define __align__(n) alignas(n)
#define __launch_bounds__(...)
#define __grid_constant__

struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(8) uint2 { unsigned x, y; };
struct dim3 { unsigned x = 1, y = 1, z = 1; };
static dim3 threadIdx, blockIdx, gridDim;

inline float __uint_as_float(unsigned x) {
  float y;
  std::memcpy(&y, &x, 4);
  return y;
}
template <class T> T atomicAdd(T* to, T x) {
  const T before = *to;
  *to += x;
  return before;
}
inline unsigned short atomicCAS(unsigned short* to, unsigned short expected, unsigned short x) {
  const unsigned short before = *to;
  if (before == expected) *to = x;
  return before;
}

namespace host {

struct pending_copy {
  void* to;
  const void* from;
  int bytes;
};
struct fibre {
  ucontext_t context;
  jmp_buf place;  // where it goes on: what switches contexts asks the system for its signals each time
  bool begun = false, done = false;
  std::vector<std::vector<pending_copy>> copies;  // by group; the last is open
};
static std::vector<fibre> fibres;
static std::vector<char> stacks;
static jmp_buf scheduler;
static unsigned current;
static void (*body)(void*);
static void* body_args;
constexpr std::size_t stack_bytes = 128 << 10;

/// The next thread has its turn; this one goes on here.
inline void give_way() {
  const unsigned me = current;
  if (_setjmp(fibres[me].place) == 0) _longjmp(scheduler, 1);
  threadIdx.x = me;
}
/// What the current thread does up to its next barrier.
inline void go_on() {
  fibre& f = fibres[current];
  threadIdx.x = current;
  if (_setjmp(scheduler) != 0) return;
  if (f.begun) _longjmp(f.place, 1);
  f.begun = true;
  setcontext(&f.context);
}

/// Words that were read with `word`, and those of them that reach beyond what may be read.
static const char *readable, *readable_end;
static long words_read, words_beyond;
inline unsigned word(const void* from) {
  const auto* const at = static_cast<const char*>(from);
  ++words_read, words_beyond += at < readable || at + 4 > readable_end;
  return *static_cast<const unsigned*>(from);
}

static unsigned arrived, turn, warp_arrived[32], warp_turn[32];
static bool late;  // copies are made when they are waited for

inline void copy(void* to, const void* from, int bytes) {
  if (!late) std::memcpy(to, from, static_cast<std::size_t>(bytes));
  else fibres[current].copies.back().push_back({to, from, bytes});
}
/// The hardware's copies: some of them, `expected`, are an arrival, which threads wait for again and again.
struct arrival {
  unsigned expected = 0, asked = 0;
  std::vector<pending_copy> copies;
};
static std::map<const void*, arrival> arrivals;
inline void copy_for(const void* arrived, void* to, const void* from, int bytes) {
  arrival& x = arrivals[arrived];
  ++x.asked;
  if (!late) std::memcpy(to, from, static_cast<std::size_t>(bytes));
  else x.copies.push_back({to, from, bytes});
}
inline void wait_for(const void* arrived, unsigned turn) {
  arrival& x = arrivals[arrived];
  while (x.asked < (turn + 1) * x.expected) give_way();
  for (const pending_copy& c : x.copies) std::memcpy(c.to, c.from, static_cast<std::size_t>(c.bytes));
  x.copies.clear();
}
inline void commit() { fibres[current].copies.emplace_back(); }
inline void wait(int pending) {
  auto& groups = fibres[current].copies;
  while (groups.size() > static_cast<std::size_t>(pending) + 1) {
    for (const pending_copy& c : groups.front()) std::memcpy(c.to, c.from, static_cast<std::size_t>(c.bytes));
    groups.erase(groups.begin());
  }
}

static void start() {
  for (;;) {  // block by block
    body(body_args);
    fibres[current].done = true;
    give_way();
  }
}

/// All blocks one after the other; in a block every thread in turn up to the next barrier.
static void launch(unsigned grid, unsigned threads, bool reverse, void* pool, std::size_t pool_bytes, void (*kernel)(void*), void* args) {
  fibres.resize(threads);
  stacks.resize(threads * stack_bytes);
  gridDim.x = grid;
  body = kernel, body_args = args;
  late = reverse;
  for (unsigned t = 0; t < threads; ++t) {
    getcontext(&fibres[t].context);
    fibres[t].context.uc_stack.ss_sp = stacks.data() + t * stack_bytes;
    fibres[t].context.uc_stack.ss_size = stack_bytes;
    fibres[t].context.uc_link = nullptr;
    fibres[t].begun = false;
    makecontext(&fibres[t].context, start, 0);
  }
  for (unsigned block = 0; block < grid; ++block) {
    blockIdx.x = block;
    std::memset(pool, 0xff, pool_bytes);  // NaNs
    for (fibre& f : fibres) f.done = false, f.copies.assign(1, {});
    for (bool any = true; any;) {
      any = false;
      for (unsigned n = 0; n < threads; ++n) {
        current = reverse ? threads - 1 - n : n;
        if (fibres[current].done) continue;
        go_on();
        any = true;
      }
    }
  }
}

}  // namespace host

/// Waits until `count` threads are here; turn is the number of times that they were.
inline void meet(unsigned& arrived, unsigned& turn, unsigned count) {
  const unsigned now = turn;
  if (++arrived == count) {
    arrived = 0, ++turn;
    return;
  }
  while (turn == now) host::give_way();
}
inline void __syncthreads() { meet(host::arrived, host::turn, static_cast<unsigned>(host::fibres.size())); }
inline void __syncwarp() { meet(host::warp_arrived[host::current / 32], host::warp_turn[host::current / 32], 32); }
/// What the thread whose number differs in the bits of `mask` gives.
template <class T> T __shfl_xor_sync(unsigned, T x, int mask) {
  static char given[1024][16];
  const unsigned me = host::current;
  std::memcpy(given[me], &x, sizeof x);
  __syncwarp();
  T y;
  std::memcpy(&y, given[me ^ static_cast<unsigned>(mask)], sizeof y);
  __syncwarp();
  return y;
}
