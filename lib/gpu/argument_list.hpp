// The one argument of a kernel whose text was written for it, as bytes.
#pragma once

#include <cstdint>
#include <cstring>

namespace ricci::cuda {

/// Pointers, counts and coefficients, in the order in which they are added.
class argument_list {
 public:
  void add(void* pointer) { put(pointer); }
  void add(std::int64_t count) { put(count); }
  void add(const double (&scalar)[2]) { put(scalar); }
  void* bytes() { return bytes_; }
  bool is_empty() const { return size_ == 0; }

 private:
  template <class T> void put(const T& x) {
    std::memcpy(bytes_ + size_, &x, sizeof x);
    size_ += sizeof x;
  }

  alignas(16) char bytes_[4096];
  std::size_t size_ = 0;
};

}  // namespace ricci::cuda
