// Families and models as the processor states them.
#include "kernels/core.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ricci::kernels {
namespace {

#if defined(__x86_64__)
core found() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return core::other;
  const unsigned base = a >> 8 & 15, family = base + (base == 15 ? a >> 20 & 255 : 0), model = (a >> 4 & 15) | (a >> 12 & 240);
  if (__builtin_cpu_is("intel") && family == 6) return model == 143 || model == 207 ? core::golden_cove : core::other;
  if (!__builtin_cpu_is("amd")) return core::other;
  if (family == 26) return model / 16 == 2 || model / 16 == 6 ? core::narrow_zen_5 : core::zen_5;
  if (family == 25) return __builtin_cpu_supports("avx512f") ? core::zen_4 : core::zen_3;
  return core::other;
}
#else
core found() { return core::other; }
#endif

}  // namespace

core this_core() {
  static const core c = found();
  return c;
}

const char* name_of(core c) {
  switch (c) {
    case core::zen_3: return "Zen 3";
    case core::zen_4: return "Zen 4";
    case core::zen_5: return "Zen 5";
    case core::narrow_zen_5: return "Zen 5, narrow";
    case core::golden_cove: return "Golden Cove";
    case core::other: break;
  }
  return "";
}

}  // namespace ricci::kernels
