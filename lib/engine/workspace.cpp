// One growing piece of scratch for each thread.
#include <algorithm>
#include <cxxabi.h>

#include <ricci/core/memory.hpp>

#include "engine/bound.hpp"

extern "C" __attribute__((visibility("hidden"))) void* __dso_handle;  // the compiler's own: which library this is

namespace ricci {
namespace {

/// Without a destructor: what runs late in a thread's life, in destructors, may still ask for memory.
struct arena {
  char* data;
  std::int64_t size;
};

constinit thread_local arena mine{}, between{};
constinit thread_local bool will_end = false;  // give_back() will be called

void give_back(void*) {
  for (arena* x : {&mine, &between}) {
    detail::release(x->data);
    *x = {};
  }
  will_end = false;
}

char* at_least(arena& x, std::int64_t bytes) {
  if (bytes <= x.size) return x.data;
  // As a compiler does it for a thread-local object, but once more if memory is asked for when that object has ended.
  if (!will_end) will_end = abi::__cxa_thread_atexit(give_back, nullptr, &__dso_handle) == 0;
  const std::int64_t rounded = (bytes + 4095) / 4096 * 4096;
  void* fresh = detail::allocate(static_cast<std::size_t>(rounded), 4096, false, "a workspace");
  detail::release(x.data);
  x = {static_cast<char*>(fresh), rounded};
  return x.data;
}

template <class T>
struct constants {
  static constexpr std::size_t lanes = 64 / sizeof(T);
  alignas(64) T ones[lanes];
  T zero = T(0);
  constants() { std::fill(ones, ones + lanes, T(1)); }
};

template <class T>
const constants<T>& values() {
  static const constants<T> v;
  return v;
}

}  // namespace

char* workspace(std::int64_t bytes) { return bytes == 0 ? nullptr : at_least(mine, bytes); }

char* between_stages(std::int64_t bytes) { return bytes == 0 ? nullptr : at_least(between, bytes); }

const void* one_of(dtype t) {
  switch (t) {
    case dtype::f64: return &values<double>().ones;
    case dtype::c64: return &values<std::complex<float>>().ones;
    case dtype::c128: return &values<std::complex<double>>().ones;
    default: return &values<float>().ones;
  }
}

const void* zero_of(dtype t) {
  switch (t) {
    case dtype::f64: return &values<double>().zero;
    case dtype::c64: return &values<std::complex<float>>().zero;
    case dtype::c128: return &values<std::complex<double>>().zero;
    default: return &values<float>().zero;
  }
}

}  // namespace ricci
