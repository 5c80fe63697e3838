// Operands of a case, and the two calibrations: multiply-adds in registers, the same memory streamed.
#include <sys/mman.h>

#include <omp.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <new>
#include <numeric>
#include <random>

#include "kernels/kernels.hpp"
#include "tools/bench/bench.hpp"

namespace ricci::tools {
namespace {

template <class F>
void with_element(dtype type, F f) {
  switch (type) {
    case dtype::f32: return f(float{});
    case dtype::f64: return f(double{});
    case dtype::c64: return f(std::complex<float>{});
    case dtype::c128: return f(std::complex<double>{});
    case dtype::f16: return f(half{});
    case dtype::bf16: return f(bfloat16{});
  }
}

constexpr std::size_t huge_page = std::size_t{2} << 20;

/// c = a with b read as well, or c = c with a and b read: the traffic of a product without its arithmetic, and without
/// numbers in C that would slow the contenders down. past: the stores go around the caches.
#define RICCI_STREAM(name, bytes, store)                                                                       \
  void name(char* c, const char* a, const char* b, std::int64_t count, bool add, [[maybe_unused]] bool past) {  \
    typedef long long vec __attribute__((vector_size(bytes), may_alias, aligned(2)));                           \
    vec from_a = vec{} - (add ? 0 : 1), from_b = vec{};                                                        \
    __asm__("" : "+x"(from_a), "+x"(from_b)); /* not known to the compiler */                                  \
    std::int64_t i = 0;                                                                                        \
    for (; i + 4 * (bytes) <= count; i += 4 * (bytes)) {                                                       \
      for (int u = 0; u < 4; ++u) {                                                                            \
        const std::int64_t at = i + u * (bytes);                                                               \
        vec x = (*reinterpret_cast<const vec*>(a + at) & from_a) | (*reinterpret_cast<const vec*>(b + at) & from_b); \
        if (add) x |= *reinterpret_cast<const vec*>(c + at);                                                   \
        store;                                                                                                 \
      }                                                                                                        \
    }                                                                                                          \
    __asm__ volatile("" ::: "memory");                                                                         \
  }

#if defined(__x86_64__)
RICCI_STREAM(stream_16, 16, *reinterpret_cast<vec*>(c + at) = x)
__attribute__((target("avx2"))) RICCI_STREAM(
    stream_32, 32, if (past) __asm__ volatile("vmovntdq %1, %0" : "=m"(*reinterpret_cast<vec*>(c + at)) : "x"(x));
    else *reinterpret_cast<vec*>(c + at) = x)
__attribute__((target("avx512f"))) RICCI_STREAM(
    stream_64, 64, if (past) __asm__ volatile("vmovntdq %1, %0" : "=m"(*reinterpret_cast<vec*>(c + at)) : "v"(x));
    else *reinterpret_cast<vec*>(c + at) = x)
#else
void stream_16(char* c, const char* a, const char* b, std::int64_t count, bool add, bool) {
  const auto from_a = static_cast<std::uint64_t>(-!add);
  volatile std::uint64_t none = 0;
  const std::uint64_t from_b = none;
  for (std::int64_t at = 0; at < count; at += 8) {
    std::uint64_t x, y, z;
    std::memcpy(&x, a + at, 8), std::memcpy(&y, b + at, 8), std::memcpy(&z, c + at, 8);
    x = (x & from_a) | (y & from_b) | (add ? z : 0);
    std::memcpy(c + at, &x, 8);
  }
}
#endif
#undef RICCI_STREAM

void stream(char* c, const char* a, const char* b, std::int64_t count, bool add, bool past) {
#if defined(__x86_64__)
  const int vector = kernels::best().vector_bytes;
  past = past && reinterpret_cast<std::uintptr_t>(c) % 64 == 0;
  if (vector >= 64 && __builtin_cpu_supports("avx512f")) return stream_64(c, a, b, count, add, past);
  if (vector >= 32 && __builtin_cpu_supports("avx2")) return stream_32(c, a, b, count, add, past);
#endif
  stream_16(c, a, b, count, add, false);
}

}  // namespace

gemm_data::gemm_data(const gemm_case& p)
    : problem(p), step_a(p.rows_a() * p.ld_a()), step_b(p.rows_b() * p.ld_b()), step_c(p.size.m * p.ld_c()) {
  const std::size_t size = size_of(p.type), batch = static_cast<std::size_t>(p.batch);
  // Each operand half a kilobyte further into its page than the one before: equal places make stores look like loads.
  const auto place = [&](std::int64_t step) { return (batch * static_cast<std::size_t>(step) * size + 4095) / 4096 * 4096 + 4096 + 512; };
  bytes_ = (place(step_a) + place(step_b) + place(step_c) + huge_page - 1) / huge_page * huge_page + huge_page;
  memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory_ == MAP_FAILED) throw std::bad_alloc();
  madvise(memory_, bytes_, MADV_HUGEPAGE);
  a = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(memory_) + huge_page - 1) / huge_page * huge_page);
  b = a + place(step_a), c = b + place(step_b);
  // The thread that will compute a part is the first to write it.
  with_element(p.type, [&](auto example) {
    using T = decltype(example);
    const auto fill = [&](char* to, std::int64_t step, unsigned seed) {
#pragma omp parallel for num_threads(p.threads) schedule(static)
      for (std::int64_t e = 0; e < p.batch; ++e) {
        std::uint32_t x = seed + static_cast<std::uint32_t>(e) * 2654435761u;
        T* const at = reinterpret_cast<T*>(to) + e * step;
        for (std::int64_t i = 0; i < step; ++i) {
          x = x * 1664525u + 1013904223u;
          at[i] = static_cast<T>(static_cast<float>(static_cast<int>(x >> 24) - 128) / 128.0f);
        }
      }
    };
    fill(a, step_a, 1), fill(b, step_b, 2);
  });
  if (p.layout == "pointers") {
    order_.resize(batch);
    std::iota(order_.begin(), order_.end(), 0);
    // Neighbours by eights stay together, as matrices of one allocation would; the eights are in random order.
    std::vector<std::int64_t> eights((batch + 7) / 8);
    std::iota(eights.begin(), eights.end(), 0);
    std::shuffle(eights.begin(), eights.end(), std::mt19937(1));
    std::size_t to = 0;
    for (const std::int64_t g : eights)
      for (std::int64_t e = 8 * g; e < std::min<std::int64_t>(8 * g + 8, p.batch); ++e) order_[to++] = e;
    for (const std::int64_t e : order_) {
      pointers_a.push_back(address(a, step_a, e));
      pointers_b.push_back(address(b, step_b, e));
      pointers_c.push_back(address(c, step_c, e));
    }
  }
  reset();
}

gemm_data::~gemm_data() { munmap(memory_, bytes_); }

void gemm_data::reset() {
  with_element(problem.type, [&](auto example) {
    using T = decltype(example);
#pragma omp parallel for num_threads(problem.threads) schedule(static)
    for (std::int64_t e = 0; e < problem.batch; ++e)
      std::fill_n(reinterpret_cast<T*>(c) + e * step_c, step_c, static_cast<T>(1.0f));
  });
}

double run_peak(dtype type, std::int64_t rounds) {
  return kernels::best().peak[size_of(compute_type(type)) == (is_complex(type) ? 16 : 8) ? 1 : 0](rounds);
}

double run_stream(const gemm_case& c, const gemm_data& d, std::int64_t times, std::int64_t first, std::int64_t last,
                  bool past_cache) {
  const auto size = static_cast<std::int64_t>(size_of(c.type)), count = last - first;
  double done = 0;
#pragma omp parallel num_threads(c.threads) reduction(+ : done) if (c.threads > 1)
  {
    const std::int64_t t = omp_get_thread_num(), n = omp_get_num_threads();
    const std::int64_t f = first + count * t / n, l = first + count * (t + 1) / n;
    // The shortest operand's length of all three; what that leaves out is not counted.
    const std::int64_t bytes = (l - f) * std::min({d.step_a, d.step_b, d.step_c}) * size;
    const std::int64_t start_c = (reinterpret_cast<std::intptr_t>(d.c + f * d.step_c * size) + 63) / 64 * 64 -
                                 reinterpret_cast<std::intptr_t>(d.c);
    const std::int64_t room = std::max<std::int64_t>(0, bytes - 64) / 256 * 256;
    for (std::int64_t i = 0; i < times; ++i)
      stream(d.c + start_c, d.a + f * d.step_a * size, d.b + f * d.step_b * size, room, c.beta != 0, past_cache);
    done += static_cast<double>(times * room * (3 + (c.beta != 0)));
  }
  return done;
}

}  // namespace ricci::tools
