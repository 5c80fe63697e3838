// A gather or a scatter-add that is all there is.
#pragma once

#include <optional>
#include <vector>

#include "plan/plan.hpp"

namespace ricci::planning {

/// A work that reads one tensor by a table, or adds one by a table, as one step without blocks; none if it is another.
/// c[...] = beta c + alpha b[table_stride * a[...] + ...], or c[table_stride * a[...] + ...] += alpha b[...]; b may be conjugated.
/// bytes: of everything once.
std::optional<plan_step> lower_lookup(const work& w, const std::vector<std::int64_t>& extents, double bytes, const machine& m);

/// Both tensors and the table lie in memory, and no 16 bits are gathered with a coefficient: kernels convert these many at a time.
bool is_lookup_alone(const pair_op& op);

}  // namespace ricci::planning
