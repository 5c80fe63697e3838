// Quotients and multiples of extents.
#pragma once

#include <cstdint>

namespace ricci {

/// x / y, rounded up. Neither is negative.
constexpr std::int64_t divide_up(std::int64_t x, std::int64_t y) { return (x + y - 1) / y; }

/// The least multiple of `to` that is x or more.
constexpr std::int64_t round_up(std::int64_t x, std::int64_t to) { return divide_up(x, to) * to; }

}  // namespace ricci
