// Random elements of every type, and what they are as doubles.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <ricci/core/types.hpp>

namespace ricci::test {

/// Element e; of complex types the real and imaginary parts in turn.
inline double part_of(dtype t, const char* data, std::int64_t e) {
  if (t == dtype::f64 || t == dtype::c128) return reinterpret_cast<const double*>(data)[e];
  if (t == dtype::f16) return static_cast<double>(static_cast<float>(reinterpret_cast<const half*>(data)[e]));
  if (t == dtype::bf16) return static_cast<double>(static_cast<float>(reinterpret_cast<const bfloat16*>(data)[e]));
  return static_cast<double>(reinterpret_cast<const float*>(data)[e]);
}

/// In [-1, 1).
inline std::vector<char> random_bytes(dtype t, std::int64_t bytes, unsigned seed) {
  std::vector<char> out(static_cast<std::size_t>(bytes));
  std::minstd_rand random(seed);
  const auto next = [&] { return static_cast<float>(static_cast<double>(random()) / 1073741824.0 - 1); };
  const auto put = [&]<class T>(T) {
    for (std::size_t e = 0; e < out.size() / sizeof(T); ++e) reinterpret_cast<T*>(out.data())[e] = T(next());
  };
  if (t == dtype::f64 || t == dtype::c128) put(double{});
  else if (t == dtype::f16) put(half(0.0f));
  else if (t == dtype::bf16) put(bfloat16(0.0f));
  else put(float{});
  return out;
}

/// How large each element is, for bounds of errors; of a complex one |re| + |im|, without an imaginary part.
inline std::vector<char> sizes_of(dtype t, std::vector<char> x) {
  const auto halves = [&]<class T>(T) {
    T* const at = reinterpret_cast<T*>(x.data());
    for (std::size_t e = 0; e < x.size() / sizeof(T); ++e) at[e] = T(std::abs(static_cast<float>(at[e])));
  };
  const auto put = [&]<class T>(T) {
    T* const at = reinterpret_cast<T*>(x.data());
    const std::size_t parts = is_complex(t) ? 2 : 1;
    for (std::size_t e = 0; e < x.size() / sizeof(T); e += parts) {
      at[e] = std::abs(at[e]) + (parts == 2 ? std::abs(at[e + 1]) : T(0));
      if (parts == 2) at[e + 1] = T(0);
    }
  };
  if (t == dtype::f64 || t == dtype::c128) put(double{});
  else if (t == dtype::f16) halves(half(0.0f));
  else if (t == dtype::bf16) halves(bfloat16(0.0f));
  else put(float{});
  return x;
}

}  // namespace ricci::test
