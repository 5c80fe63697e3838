// Which instruction sets were compiled in, which of them this CPU runs, and the choice between them.
#include "kernels.hpp"

#include <ricci/core/error.hpp>

#include <cstdlib>
#include <strings.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

namespace ricci::kernels {

#define RICCI_DECLARE(isa) \
  namespace isa {          \
  void fill(kernel_set&);  \
  }
#if defined(RICCI_HAVE_PORTABLE)
RICCI_DECLARE(portable)
#endif
#if defined(RICCI_HAVE_AVX512)
RICCI_DECLARE(avx512)
#endif
#if defined(RICCI_HAVE_AVX2)
RICCI_DECLARE(avx2)
#endif
#if defined(RICCI_HAVE_SSE4)
RICCI_DECLARE(sse4)
#endif
#if defined(RICCI_HAVE_NEON)
RICCI_DECLARE(neon)
#endif
#if defined(RICCI_HAVE_SVE)
RICCI_DECLARE(sve)
#endif
#if defined(RICCI_HAVE_VSX)
RICCI_DECLARE(vsx)
#endif
#undef RICCI_DECLARE

namespace {

struct candidate {
  const char* isa;
  bool (*runs)();
  void (*fill)(kernel_set&);
};

[[maybe_unused]] bool always() { return true; }

#if defined(__x86_64__)
[[maybe_unused]] bool has_sse4() { return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul"); }
[[maybe_unused]] bool has_avx2() {
  // The CPUs with AVX2 and FMA all have F16C and BMI as well.
  return has_sse4() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2");
}
[[maybe_unused]] bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif
#if defined(RICCI_HAVE_SVE)
// The unit is compiled for vectors of exactly 256 bits.
bool has_sve() {
  return (getauxval(AT_HWCAP) & (1ul << 22)) != 0 && (prctl(51 /* PR_SVE_GET_VL */) & 0xffff) == 32;
}
#endif

constexpr candidate candidates[] = {
#if defined(RICCI_HAVE_AVX512)
    {"AVX-512", has_avx512, avx512::fill},
#endif
#if defined(RICCI_HAVE_AVX2)
    {"AVX2", has_avx2, avx2::fill},
#endif
#if defined(RICCI_HAVE_SSE4)
    {"SSE4", has_sse4, sse4::fill},
#endif
#if defined(RICCI_HAVE_SVE)
    {"SVE", has_sve, sve::fill},
#endif
#if defined(RICCI_HAVE_NEON)
    {"NEON", always, neon::fill},
#endif
#if defined(RICCI_HAVE_VSX)
    {"VSX", always, vsx::fill},
#endif
#if defined(RICCI_HAVE_PORTABLE)
    {"portable", always, portable::fill},
#endif
};
constexpr int candidate_count = sizeof(candidates) / sizeof(candidates[0]);

struct registry {
  kernel_set sets[candidate_count] = {};
  const kernel_set* usable[candidate_count] = {};
  int count = 0;
  const kernel_set* best = nullptr;

  registry() {
    for (const candidate& c : candidates) {
      if (!c.runs()) continue;
      kernel_set& s = sets[count];
      s.isa = c.isa;
      c.fill(s);
      usable[count++] = &s;
    }
    if (count > 0) best = usable[0];
    if (const char* wanted = std::getenv("RICCI_ISA"))
      for (int i = 0; i < count; ++i)
        if (strcasecmp(usable[i]->isa, wanted) == 0) best = usable[i];
  }
};

const registry& all() {
  static const registry r;
  return r;
}

}  // namespace

const kernel_set& best() {
  if (!all().best) throw error(errc::bad_argument, "this ricci was built without kernels for this processor; RICCI_ISAS names them, and portable runs everywhere");
  return *all().best;
}

kernel_sets available() { return {all().usable, all().count}; }

}  // namespace ricci::kernels
