// Random numbers that are the same on every platform (the standard's distributions are not).
#pragma once

#include <cmath>
#include <cstdint>

namespace ricci::ordering {

/// Steele, Lea and Flood's split mix generator.
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  int below(int bound) { return static_cast<int>(next() % static_cast<std::uint64_t>(bound)); }
  double uniform() { return (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53; }  // in (0, 1)
  double gumbel() { return -std::log(-std::log(uniform())); }

 private:
  std::uint64_t state_;
};

}  // namespace ricci::ordering
