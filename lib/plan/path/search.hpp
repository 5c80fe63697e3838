// The search for a good order of many factors.
#pragma once

#include "plan/path/network.hpp"

namespace ricci::ordering {

/// A good order of two or more factors: several kinds of starts, each improved piece by piece, the best one more.
step_list search(const network& net, const path_options& options);

}  // namespace ricci::ordering
