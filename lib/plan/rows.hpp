// How long the rows of a step's result are.
#pragma once

#include "plan/plan.hpp"

namespace ricci::planning {

/// Neighbours of c along the labels of one role.
inline std::int64_t row_of(const std::vector<step_axis>& axes, group role) {
  std::int64_t row = 1;
  for (bool grown = true; grown;) {
    grown = false;
    for (const step_axis& x : axes)
      if (x.role == role && x.extent > 1 && x.c == row) row *= x.extent, grown = true;
  }
  return row;
}

}  // namespace ricci::planning
