// How far two fields are from each other.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../../examples/fem/hexahedra.hpp"

namespace bench {

/// The largest difference, in units of the largest element of `want`.
inline double worst(const hex::field& got, const hex::field& want) {
  double error = 0, size = 0;
  for (std::int64_t n = 0; n < got.size(); ++n) {
    error = std::max(error, std::abs(got.data()[n] - want.data()[n]));
    size = std::max(size, std::abs(want.data()[n]));
  }
  return error / size;
}

}  // namespace bench
