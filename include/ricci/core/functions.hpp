// Pointwise functions and how factors combine, as values.
#pragma once

#include <cstdint>

namespace ricci {

/// What is done to each element of a factor when it is read; real types only. `none` stands for nonsense.
enum class function : std::uint8_t { identity, reciprocal, sqrt, rsqrt, abs, exp, none };

/// How the factors of a term become one number.
enum class combine : std::uint8_t { multiply, minimum, maximum };

}  // namespace ricci
