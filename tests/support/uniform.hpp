// Random numbers of an interval. The distribution of libstdc++ takes two logarithms in long double for each number, which was nearly
// half the time of some tests.
#pragma once

#include <cstdint>

namespace ricci::test {

/// 64 random bits at a time (Steele, Lea and Flood's splitmix): a tenth of std::mt19937's time where sanitizers watch each step.
struct quick_bits {
  using result_type = std::uint64_t;
  std::uint64_t state;

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }
  result_type operator()() {
    std::uint64_t x = state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
  }
};

/// As std::uniform_real_distribution<T>(low, high), for engines of 32 or 64 bits.
template <class T> struct uniform {
  T low, high;

  template <class G> T operator()(G& g) const {
    static_assert(G::min() == 0 && (G::max() == 0xffffffff || G::max() == ~std::uint64_t{0}));
    constexpr int bits = G::max() == 0xffffffff ? 32 : 64;
    std::uint64_t x = static_cast<std::uint64_t>(g()) << (64 - bits);
    if constexpr (bits == 32 && sizeof(T) > 4) x |= g();
    constexpr int kept = sizeof(T) > 4 ? 53 : 24;
    return low + (high - low) * (static_cast<T>(x >> (64 - kept)) / static_cast<T>(std::uint64_t{1} << kept));
  }
};

}  // namespace ricci::test
