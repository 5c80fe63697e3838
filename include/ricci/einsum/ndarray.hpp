// Arrays whose rank is known at run time only: ndview (foreign memory) and ndarray (owns its memory).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include <ricci/core/error.hpp>
#include <ricci/core/memory.hpp>
#include <ricci/core/types.hpp>

namespace ricci {

namespace detail {

/// Strides of dense memory, last axis fastest; never 0, so that they are legal for a left side whatever its extents.
std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& extents);

/// Product of the extents. Errors: bad_extent if one is negative, no_memory if `bytes` each cannot be counted.
std::int64_t element_count(const std::vector<std::int64_t>& extents, std::size_t bytes);

struct free_elements {
  void operator()(void* memory) const noexcept { release(memory); }
};

/// Errors: bad_argument unless there is one stride for each extent.
void check_strides(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides);

/// Errors: bad_range, "index 9 is outside axis 1 of extent 9"; bad_argument for the wrong number of indices.
void check_indices(const std::int64_t* indices, std::size_t count, const std::vector<std::int64_t>& extents);

/// Prints nested brackets, one row a line.
void print_array(std::ostream& out, dtype type, const void* data, const std::vector<std::int64_t>& extents,
                 const std::vector<std::int64_t>& strides);

/// Offset of an element; bounds are checked in debug builds.
template <class... N>
std::int64_t element_offset(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides,
                            N... indices) {
  const std::int64_t list[sizeof...(N) + 1] = {static_cast<std::int64_t>(indices)..., 0};
#ifndef NDEBUG
  check_indices(list, sizeof...(N), extents);
#else
  static_cast<void>(extents);
#endif
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < sizeof...(N); ++d) offset += list[d] * strides[d];
  return offset;
}

template <class X, class Y>
bool same_elements(const X& x, const Y& y) {
  if (x.extents() != y.extents() || x.size() != y.size()) return false;  // moved from: no extents and no elements
  const std::int64_t rank = x.rank(), size = x.size();
  std::vector<std::int64_t> index(static_cast<std::size_t>(rank), 0);
  const auto* a = x.data();
  const auto* b = y.data();
  for (std::int64_t e = 0; e < size; ++e) {
    if (!(*a == *b)) return false;
    for (std::int64_t d = rank - 1; d >= 0; --d) {
      std::int64_t& at = index[static_cast<std::size_t>(d)];
      a += x.stride(d), b += y.stride(d);
      if (++at < x.extent(d)) break;
      a -= x.stride(d) * x.extent(d), b -= y.stride(d) * y.extent(d), at = 0;
    }
  }
  return true;
}

}  // namespace detail

/// v[i, j, ...] = data[i * strides[0] + j * strides[1] + ...]
/// Memory  somebody else's; T may be const. Copies are shallow; == compares elements.
/// Errors  bad_extent (negative), bad_argument (as many strides as extents are needed).
template <class T>
class ndview {
 public:
  using element_type = T;
  using value_type = std::remove_const_t<T>;
  static_assert(element<value_type>, "ricci: not an element type");

  /// Row-major, dense.
  ndview(T* data, std::vector<std::int64_t> extents)
      : data_(data), size_(detail::element_count(extents, sizeof(T))), extents_(std::move(extents)),
        strides_(detail::dense_strides(extents_)) {}
  /// Any strides, counted in elements; 0 and negative ones too.
  ndview(T* data, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides)
      : data_(data), size_(detail::element_count(extents, 0)), extents_(std::move(extents)),
        strides_(std::move(strides)) {
    detail::check_strides(extents_, strides_);
  }
  /// A view to read from, of one to write to.
  ndview(const ndview<value_type>& other) requires(std::is_const_v<T>)
      : data_(other.data()), size_(other.size()), extents_(other.extents()), strides_(other.strides()) {}

  std::int64_t rank() const { return static_cast<std::int64_t>(extents_.size()); }
  std::int64_t size() const { return size_; }
  T* data() const { return data_; }
  const std::vector<std::int64_t>& extents() const { return extents_; }
  const std::vector<std::int64_t>& strides() const { return strides_; }
  std::int64_t extent(std::int64_t d) const { return extents_[static_cast<std::size_t>(d)]; }
  std::int64_t stride(std::int64_t d) const { return strides_[static_cast<std::size_t>(d)]; }

  template <class... N>
    requires(std::is_integral_v<N> && ...)
  T& operator()(N... indices) const { return data_[detail::element_offset(extents_, strides_, indices...)]; }

  friend bool operator==(const ndview& x, const ndview& y) { return detail::same_elements(x, y); }
  friend std::ostream& operator<<(std::ostream& out, const ndview& x) {
    detail::print_array(out, dtype_of<value_type>, x.data_, x.extents_, x.strides_);
    return out;
  }

 private:
  T* data_;
  std::int64_t size_;
  std::vector<std::int64_t> extents_, strides_;
};

/// a[i, j, ...], row-major (last axis fastest), rank known at run time.
/// Memory  64-byte aligned, zero-initialised, owned. A moved-from array has no elements; einsum refuses it.
/// Errors  bad_extent (negative), no_memory.
template <element T>
class ndarray {
 public:
  using element_type = T;
  using value_type = T;

  /// One element.
  ndarray() : ndarray(std::vector<std::int64_t>{}) {}
  explicit ndarray(std::vector<std::int64_t> extents) : ndarray(std::move(extents), true) {}
  ndarray(std::initializer_list<std::int64_t> extents) : ndarray(std::vector<std::int64_t>(extents), true) {}
  template <class N>
    requires std::is_integral_v<N>
  ndarray(std::initializer_list<N> extents) : ndarray(std::vector<std::int64_t>(extents.begin(), extents.end()), true) {}

  ndarray(const ndarray& other) : size_(other.size_), extents_(other.extents_), strides_(other.strides_) {
    if (!other.data_) return;  // moved from
    data_.reset(allocate(size_, false));
    for (std::int64_t e = 0; e < size_; ++e) data()[e] = other.data()[e];
  }
  ndarray(ndarray&& other) noexcept
      : size_(std::exchange(other.size_, 0)), extents_(std::move(other.extents_)), strides_(std::move(other.strides_)),
        data_(std::move(other.data_)) {}
  ndarray& operator=(const ndarray& other) {
    if (this != &other) *this = ndarray(other);
    return *this;
  }
  ndarray& operator=(ndarray&& other) noexcept {
    ndarray taken(std::move(other));
    std::swap(size_, taken.size_), extents_.swap(taken.extents_), strides_.swap(taken.strides_), data_.swap(taken.data_);
    return *this;
  }

  /// Elements are left as they come: for a result that is written whole.
  static ndarray uninitialised(std::vector<std::int64_t> extents) { return ndarray(std::move(extents), false); }

  std::int64_t rank() const { return static_cast<std::int64_t>(extents_.size()); }
  std::int64_t size() const { return size_; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  const std::vector<std::int64_t>& extents() const { return extents_; }
  const std::vector<std::int64_t>& strides() const { return strides_; }
  std::int64_t extent(std::int64_t d) const { return extents_[static_cast<std::size_t>(d)]; }
  std::int64_t stride(std::int64_t d) const { return strides_[static_cast<std::size_t>(d)]; }

  ndview<T> view() { return ndview<T>(data(), extents_, strides_); }
  ndview<const T> view() const { return ndview<const T>(data(), extents_, strides_); }

  template <class... N>
    requires(std::is_integral_v<N> && ...)
  T& operator()(N... indices) { return data()[detail::element_offset(extents_, strides_, indices...)]; }
  template <class... N>
    requires(std::is_integral_v<N> && ...)
  const T& operator()(N... indices) const { return data()[detail::element_offset(extents_, strides_, indices...)]; }

  void fill(const T& x) {
    for (T& e : *this) e = x;
  }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }

  friend bool operator==(const ndarray& x, const ndarray& y) { return detail::same_elements(x, y); }
  friend bool operator==(const ndarray& x, const ndview<const T>& y) { return detail::same_elements(x, y); }
  friend std::ostream& operator<<(std::ostream& out, const ndarray& x) {
    detail::print_array(out, dtype_of<T>, x.data(), x.extents_, x.strides_);
    return out;
  }

 private:
  ndarray(std::vector<std::int64_t> extents, bool zeroed)
      : size_(detail::element_count(extents, sizeof(T))), extents_(std::move(extents)),
        strides_(detail::dense_strides(extents_)),
        data_(allocate(size_, zeroed)) {}
  static T* allocate(std::int64_t size, bool zeroed) {
    return static_cast<T*>(detail::allocate(static_cast<std::size_t>(size) * sizeof(T), 64, zeroed, "an array"));
  }

  std::int64_t size_;
  std::vector<std::int64_t> extents_, strides_;
  std::unique_ptr<T[], detail::free_elements> data_;
};

}  // namespace ricci
