// Copies of index tensors.
#include "gpu/tables.hpp"

#include <ricci/core/error.hpp>

#include "gpu/device.hpp"

namespace ricci::cuda {

host_tables::host_tables(const program& p, const bindings& b) : pointers_(static_cast<std::size_t>(p.slot_count), nullptr) {
  const auto take = [&](const reference& r) {
    for (const lookup& x : r.lookups) {
      std::int64_t low = 0, high = 0;
      bool empty = false;
      for (const reference_axis& axis : x.axes) {
        const std::int64_t extent = p.labels[static_cast<std::size_t>(axis.label)].extent, reach = (extent - 1) * axis.stride;
        empty = empty || extent == 0;
        (reach < 0 ? low : high) += reach;
      }
      if (empty) continue;
      const std::int64_t size = x.wide ? 8 : 4;
      const char* const first = static_cast<const char*>(b.pointers[x.slot]) + low * size;
      if (owner_of(first) < 0) throw error(errc::wrong_space, "the index tensor " + x.name + " is said to be in GPU memory but its data is not");
      std::vector<char>& copy = copies_.emplace_back(static_cast<std::size_t>((high - low + 1) * size));
      copy_to_host(copy.data(), first, (high - low + 1) * size);
      pointers_[static_cast<std::size_t>(x.slot)] = copy.data() - low * size;
    }
  };
  for (const statement& s : p.statements) {
    take(s.left);
    for (const product& t : s.terms)
      for (const reference& f : t.factors) take(f);
  }
}

}  // namespace ricci::cuda
