// Walking over all elements of a strided view in row-major index order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

namespace ricci::detail {

template <class T, int Rank>
class strided_iterator {
 public:
  using value_type = std::remove_cv_t<T>;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using pointer = T*;
  using iterator_category = std::forward_iterator_tag;

  strided_iterator() = default;
  template <class View>
  strided_iterator(const View& view, std::int64_t position) : at_(view.data()), position_(position) {
    for (int d = 0; d < Rank; ++d) {
      extents_[d] = view.extent(d);
      strides_[d] = view.stride(d);
    }
  }

  T& operator*() const { return *at_; }
  T* operator->() const { return at_; }
  strided_iterator& operator++() {
    ++position_;
    for (int d = Rank - 1; d >= 0; --d) {
      at_ += strides_[d];
      if (++index_[d] < extents_[d]) break;
      at_ -= strides_[d] * extents_[d];
      index_[d] = 0;
    }
    return *this;
  }
  strided_iterator operator++(int) {
    strided_iterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const strided_iterator& x, const strided_iterator& y) { return x.position_ == y.position_; }

 private:
  static constexpr std::size_t room = Rank > 0 ? static_cast<std::size_t>(Rank) : 1;
  T* at_ = nullptr;
  std::int64_t position_ = 0;
  std::int64_t index_[room]{}, extents_[room]{}, strides_[room]{};
};

/// Over an interleaved tensor: in row-major index order, so problem after problem.
template <class T>
class interleaved_iterator {
 public:
  using value_type = std::remove_cv_t<T>;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using pointer = T*;
  using iterator_category = std::forward_iterator_tag;

  interleaved_iterator() = default;
  interleaved_iterator(T* data, std::int64_t width, std::int64_t block, std::int64_t position)
      : data_(data), width_(width), problem_(block / width), position_(position) {}

  T& operator*() const {
    const std::int64_t e = position_ / problem_, x = position_ % problem_;
    return data_[(e / width_ * problem_ + x) * width_ + e % width_];
  }
  T* operator->() const { return &**this; }
  interleaved_iterator& operator++() {
    ++position_;
    return *this;
  }
  interleaved_iterator operator++(int) {
    interleaved_iterator before = *this;
    ++position_;
    return before;
  }
  friend bool operator==(const interleaved_iterator& x, const interleaved_iterator& y) { return x.position_ == y.position_; }

 private:
  T* data_ = nullptr;
  std::int64_t width_ = 1, problem_ = 1, position_ = 0;
};

/// All elements in row-major index order, whatever the layout.
template <class T, class View>
auto in_index_order(const View& view, std::int64_t position) {
  using shape = typename View::shape_type;
  if constexpr (shape::width > 0) return interleaved_iterator<T>(view.data(), shape::width, view.block(), position);
  else return strided_iterator<T, shape::rank>(view, position);
}

}  // namespace ricci::detail
