// The multiply-add peak of one core, measured by as many independent chains as the registers hold.
#pragma once

#include "choose-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

template <class T> double peak(std::int64_t rounds) {
  constexpr int chains = vector_registers >= 32 ? 24 : 12;
  vec<T> acc[chains];
  RICCI_EACH(i, chains) acc[i] = set<T>(T(i));
  // x -> x/2 + 1/2 converges to 1: no overflow and no subnormal numbers on the way.
  T half = T(0.5);
  asm volatile("" : "+m"(half));  // else the compiler would know the result
  const vec<T> x = set<T>(half), y = set<T>(half);
  for (std::int64_t r = 0; r < rounds; ++r)
    RICCI_EACH(i, chains) acc[i] = fma(acc[i], x, y);
  vec<T> total = zero<T>();
  RICCI_EACH(i, chains) total = add(total, acc[i]);
  T kept[width<T>];
  store<T>(total, kept);
  asm volatile("" : : "m"(kept));
  return 2.0 * chains * width<T> * static_cast<double>(rounds);
}

}  // namespace ricci::kernels::RICCI_ISA
