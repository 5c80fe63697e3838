// What ndarray and ndview need that is no template: memory, checks, printing.
#include <ricci/einsum/ndarray.hpp>

#include <limits>
#include <string>

#include <ricci/tensor/print.hpp>

namespace ricci::detail {
std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& extents) {
  std::vector<std::int64_t> strides(extents.size());
  std::int64_t step = 1;
  for (std::size_t d = extents.size(); d-- > 0;) {
    strides[d] = step;
    if (extents[d] > 1 && __builtin_mul_overflow(step, extents[d], &step))
      step = std::numeric_limits<std::int64_t>::max();  // only beside an extent of 0: no element is that far
  }
  return strides;
}

std::int64_t element_count(const std::vector<std::int64_t>& extents, std::size_t bytes) {
  std::int64_t count = 1;
  bool empty = false, too_many = false;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] < 0)
      throw error(errc::bad_extent, "axis " + std::to_string(d) + " has the negative extent " + std::to_string(extents[d]));
    empty = empty || extents[d] == 0;
    too_many = too_many || __builtin_mul_overflow(count, extents[d], &count);
  }
  if (empty) return 0;
  std::int64_t total = 0;
  if (too_many || __builtin_mul_overflow(count, static_cast<std::int64_t>(bytes), &total))
    throw error(errc::no_memory, "an array of so many elements cannot be addressed with 64 bits");
  return count;
}

void check_strides(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides) {
  if (extents.size() != strides.size())
    throw error(errc::bad_argument, "a view with " + std::to_string(extents.size()) + " extents but " +
                                        std::to_string(strides.size()) + " strides");
}

void check_indices(const std::int64_t* indices, std::size_t count, const std::vector<std::int64_t>& extents) {
  if (count != extents.size())
    throw error(errc::bad_argument, std::to_string(count) + " indices for an array of rank " + std::to_string(extents.size()));
  for (std::size_t d = 0; d < count; ++d)
    if (indices[d] < 0 || indices[d] >= extents[d])
      throw error(errc::bad_range, "index " + std::to_string(indices[d]) + " is outside axis " + std::to_string(d) +
                                       " of extent " + std::to_string(extents[d]));
}

void print_array(std::ostream& out, dtype type, const void* data, const std::vector<std::int64_t>& extents,
                 const std::vector<std::int64_t>& strides) {
  print(out, {type, static_cast<int>(extents.size()), data, extents.data(), strides.data()});
}

}  // namespace ricci::detail
