// Memory between two pages that may not be touched: any access before or after it ends the test program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include <sys/mman.h>
#include <unistd.h>

#include "reduced.hpp"

/// count elements that either begin right after a forbidden page or end right before one.
template <class T> class guarded {
 public:
  guarded(std::size_t count, bool at_end) : count_(count) {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = count * sizeof(T), inner = (bytes + page - 1) / page * page;
    size_ = inner + 2 * page;
    base_ = static_cast<char*>(mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED || mprotect(base_ + page, inner, PROT_READ | PROT_WRITE) != 0)
      throw std::runtime_error("mmap failed");
    data_ = reinterpret_cast<T*>(base_ + page + (at_end ? inner - bytes : 0));
  }
  ~guarded() { munmap(base_, size_); }
  guarded(const guarded&) = delete;
  guarded& operator=(const guarded&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return count_; }
  T* begin() { return data_; }
  T* end() { return data_ + count_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  char* base_ = nullptr;
  std::size_t size_ = 0, count_ = 0;
  T* data_ = nullptr;
};
