// Random numbers of an interval. The distribution of libstdc++ takes two logarithms in long double for each number, which was nearly
// half the time of some tests.
#pragma once

#include <cstdint>

namespace ricci::test {

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
