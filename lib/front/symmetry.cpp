// ricci::even_odd is a promise about values; whether it is kept is seen when the plan is made.
#include <ricci/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

#include <ricci/tensor/tensor.hpp>

#include "front/lowering.hpp"

namespace ricci::detail {
namespace {

/// r(y,x), all of it.
template <class T>
class matrix {
 public:
  matrix(const void* base, const std::int64_t* extents, const std::int64_t* strides, bool on_gpu)
      : first_(static_cast<const T*>(base)), extents_(extents), strides_(strides) {
    if (!on_gpu) return;
    std::int64_t low = 0, high = 0;
    for (int d = 0; d < 2; ++d) {
      const std::int64_t reach = (extents[d] - 1) * strides[d];
      (reach < 0 ? low : high) += reach;
    }
    copied_.resize(static_cast<std::size_t>(high - low + 1));
    copy_memory(copied_.data(), false, first_ + low, true, high - low + 1, sizeof(T));
    first_ = copied_.data() - low;
  }
  matrix(const matrix&) = delete;
  std::int64_t rows() const { return extents_[0]; }
  std::int64_t cols() const { return extents_[1]; }
  T at(std::int64_t y, std::int64_t x) const { return first_[y * strides_[0] + x * strides_[1]]; }

 private:
  const T* first_;
  const std::int64_t *extents_, *strides_;
  std::vector<T> copied_;  // of a matrix in GPU memory
};

/// The largest |r(y,x) - sign r(Y-1-y, X-1-x)|, and where.
struct defect {
  double size = 0;
  std::int64_t y = 0, x = 0;
};

template <class T>
defect defect_of(const matrix<T>& m, double sign) {
  defect worst;
  for (std::int64_t y = 0; y < m.rows(); ++y)
    for (std::int64_t x = 0; x < m.cols(); ++x) {
      const double mirrored = sign * static_cast<double>(m.at(m.rows() - 1 - y, m.cols() - 1 - x));
      const double size = std::abs(static_cast<double>(m.at(y, x)) - mirrored);
      if (std::isnan(size)) return {std::numeric_limits<double>::infinity(), y, x};
      if (size > worst.size) worst = {size, y, x};
    }
  return worst;
}

template <class T>
int sign_of(const matrix<T>& m) {
  double largest = 0;
  for (std::int64_t y = 0; y < m.rows(); ++y)
    for (std::int64_t x = 0; x < m.cols(); ++x) largest = std::max(largest, std::abs(static_cast<double>(m.at(y, x))));
  if (std::isinf(largest)) throw error(errc::bad_argument, "ricci: a matrix declared by even_odd holds an infinity, which its halves would spread");
  const double allowed = 1024 * static_cast<double>(std::numeric_limits<T>::epsilon()) * largest;
  const defect even = defect_of(m, 1), odd = defect_of(m, -1);
  if (even.size <= allowed) return 1;
  if (odd.size <= allowed) return -1;
  const defect& d = even.size < odd.size ? even : odd;
  std::ostringstream size;
  size << d.size;
  throw error(errc::bad_argument, "ricci: a matrix declared by even_odd is neither: element (" + std::to_string(d.y) + "," +
                                      std::to_string(d.x) + ") and its mirror image (" +
                                      std::to_string(m.rows() - 1 - d.y) + "," + std::to_string(m.cols() - 1 - d.x) +
                                      ") differ by " + size.str());
}

}  // namespace

int parity_of(const front_call& call, const lowering& low, int slot) {
  const slot_use& s = low.slots[slot];
  const leaf_info& leaf = call.program->leaves[s.leaf];
  const void* base = call.bases[s.leaf];
  if (s.last[0] <= s.first[0] || s.last[1] <= s.first[1] || s.label[0] == s.label[1] || !base) return 0;
  if (leaf.width > 0 || s.copy >= 0) return 0;
  std::int64_t extents[2];
  bool about_the_middle = true;
  for (int d = 0; d < 2; ++d) {
    extents[d] = look(call.program->axes[leaf.first_axis + d], low.numbers.data()).extent;
    about_the_middle = about_the_middle && s.first[d] + s.last[d] == extents[d];
  }
  const bool on_gpu = leaf.space == memory_space::gpu;
  int sign = 0;  // complex and 16-bit matrices are multiplied as any other
  if (leaf.type == dtype::f64) sign = sign_of(matrix<double>(base, extents, s.strides, on_gpu));
  if (leaf.type == dtype::f32) sign = sign_of(matrix<float>(base, extents, s.strides, on_gpu));
  return about_the_middle ? sign : 0;
}

}  // namespace ricci::detail
