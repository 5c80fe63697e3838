// Orders of contraction that sweep through the network: one product grows, factor by factor.
#pragma once

#include "plan/path/bisect.hpp"
#include "plan/path/greedy.hpp"

namespace ricci::ordering {

/// A tree of two or more factors. Each connected part is swept from a factor at its edge, always taking the factor
/// that makes the product smallest, the first met among equals; `temperature` adds noise. Best for long networks.
binary_tree swept_tree(const graph& g, double temperature, random_source& random);

/// The same with an order found by cutting the network in halves and these again, laid out in a row.
binary_tree arranged_tree(const graph& g, const bisect_options& options, random_source& random);

}  // namespace ricci::ordering
