// Peaks and bandwidths of this machine, measured: the best of several repetitions, about half a second in all.
#include <omp.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <chrono>
#include <memory>

#include "kernels/kernels.hpp"
#include "machine/detail.hpp"

namespace ricci {
namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

constexpr double window = 2e-3;  // seconds of one repetition: long against the clock, short against other processes
constexpr int repetitions = 12;

double peak_of(kernels::peak_fn peak) {
  std::int64_t rounds = 1000;
  double best = 0;
  for (int i = 0; i < repetitions;) {
    const auto start = clock::now();
    const double flops = peak(rounds);
    const double seconds = seconds_since(start);
    if (seconds < window) {
      rounds *= 2;
    } else {
      ++i;
    }
    best = std::max(best, flops / std::max(seconds, 1e-9) / 1e9);
  }
  return best;
}

// a = b + s c with vectors of the given width. The compiler may use only what the function's target has, so that one
// file serves every CPU.
#define RICCI_TRIAD(name, bytes)                                                                     \
  void name(double* a, const double* b, const double* c, std::int64_t count) {                       \
    typedef double vec __attribute__((vector_size(bytes), may_alias));                               \
    constexpr std::int64_t lanes = bytes / 8;                                                        \
    const double s = 3;                                                                              \
    std::int64_t i = 0;                                                                              \
    for (; i + 4 * lanes <= count; i += 4 * lanes) {                                                 \
      for (int u = 0; u < 4; ++u) {                                                                  \
        const std::int64_t at = i + u * lanes;                                                       \
        *reinterpret_cast<vec*>(a + at) =                                                            \
            *reinterpret_cast<const vec*>(b + at) + s * *reinterpret_cast<const vec*>(c + at);       \
      }                                                                                              \
    }                                                                                                \
    for (; i < count; ++i) a[i] = b[i] + s * c[i];                                                   \
    __asm__ volatile("" ::: "memory");                                                               \
  }

RICCI_TRIAD(triad_16, 16)
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) RICCI_TRIAD(triad_32, 32)
__attribute__((target("avx512f"))) RICCI_TRIAD(triad_64, 64)
#endif
#undef RICCI_TRIAD

using triad_fn = void (*)(double*, const double*, const double*, std::int64_t);

triad_fn triad_for([[maybe_unused]] int vector_bytes) {
#if defined(__x86_64__)
  if (vector_bytes >= 64 && __builtin_cpu_supports("avx512f")) return triad_64;
  if (vector_bytes >= 32 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return triad_32;
#endif
  return triad_16;
}

constexpr std::int64_t alignment = 2 << 20;  // of a large page

// Three arrays in one block, each half a kilobyte further into its page than the one before: equal places in the page
// would make the store of one look like the loads of the others. They ask for large pages, as large tensors do.
struct arrays {
  std::int64_t count, pitch;
  std::unique_ptr<double[], void (*)(double*)> memory;
  double *a, *b, *c;

  explicit arrays(std::int64_t bytes)
      : count(std::max<std::int64_t>(bytes / 24 / 32 * 32, 32)), pitch((count + 511) / 512 * 512 + 64),
        memory(static_cast<double*>(::operator new[](static_cast<std::size_t>(3 * pitch * 8),
                                                     std::align_val_t{alignment})),
               [](double* p) { ::operator delete[](p, std::align_val_t{alignment}); }),
        a(memory.get()), b(a + pitch), c(b + pitch) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    madvise(a, static_cast<std::size_t>(3 * pitch * 8) / alignment * alignment, MADV_HUGEPAGE);  // a wish
#endif
  }
  arrays(const arrays&) = delete;
  arrays& operator=(const arrays&) = delete;

  // The first write decides which node's memory a page is in, so each thread writes its own part.
  void fill(std::int64_t first, std::int64_t last) {
    std::fill(a + first, a + last, 1.0);
    std::fill(b + first, b + last, 2.0);
    std::fill(c + first, c + last, 3.0);
  }
};

// GB/s of one core that streams `bytes` again and again.
double bandwidth_of(triad_fn triad, std::int64_t bytes) {
  arrays t(bytes);
  t.fill(0, t.count);
  std::int64_t passes = 1;
  double best = 0;
  for (int i = 0; i < repetitions;) {
    const auto start = clock::now();
    for (std::int64_t p = 0; p < passes; ++p) triad(t.a, t.b, t.c, t.count);
    const double seconds = seconds_since(start);
    if (seconds < window) {
      passes *= 2;
      continue;
    }
    best = std::max(best, static_cast<double>(24 * t.count * passes) / seconds / 1e9);
    i += seconds > 8 * window ? 3 : 1;  // long passes average by themselves
  }
  return best;
}

double bandwidth_of_all(triad_fn triad, std::int64_t bytes, int cores) {
  arrays t(bytes);
  double best = 0;
#pragma omp parallel num_threads(cores)
  {
    const std::int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
    const std::int64_t first = t.count * me / threads / 32 * 32;
    const std::int64_t last = me + 1 == threads ? t.count : t.count * (me + 1) / threads / 32 * 32;
    t.fill(first, last);
    for (int i = 0; i < 4; ++i) {
#pragma omp barrier
      const auto start = clock::now();
      triad(t.a + first, t.b + first, t.c + first, last - first);
#pragma omp barrier
#pragma omp master
      best = std::max(best, static_cast<double>(24 * t.count) / seconds_since(start) / 1e9);
    }
  }
  return best;
}

}  // namespace

machine measure_machine() {
  machine m = detail::detect_machine();
  const auto& kernels = kernels::best();
  m.peak_f32 = peak_of(kernels.peak[0]);
  m.peak_f64 = peak_of(kernels.peak[1]);
  const triad_fn triad = triad_for(m.vector_bytes);
  // Well inside a level, but larger than the level before it; a shared last level is not ours alone.
  const std::int64_t l1 = m.caches[0].bytes, l2 = m.caches[1].bytes, l3 = m.caches[2].bytes;
  m.caches[0].bandwidth = bandwidth_of(triad, l1 * 3 / 4);
  m.caches[1].bandwidth = bandwidth_of(triad, std::max(2 * l1, l2 / 2));
  m.caches[2].bandwidth = bandwidth_of(triad, std::max(2 * l2, std::min<std::int64_t>(l3 / 4, 16 << 20)));
  const std::int64_t large = std::clamp<std::int64_t>(3 * l3, 96 << 20, 384 << 20);
  m.memory_bandwidth = bandwidth_of(triad, large);
  m.memory_bandwidth_all = std::max(bandwidth_of_all(triad, large, m.cores), m.memory_bandwidth);
  m.measured = true;
  return m;
}

}  // namespace ricci
