// Checks and costs of networks and paths.
#pragma once

#include <utility>
#include <vector>

#include <ricci/plan/path.hpp>

namespace ricci::ordering {

using step_list = std::vector<std::pair<int, int>>;

/// Throws ricci::error if the network breaks a rule of path.hpp.
void check_network(const network& net);

/// Flops and largest result of an order; throws errc::bad_argument if it is none. The network has been checked.
path cost_of(const network& net, step_list steps);

}  // namespace ricci::ordering
