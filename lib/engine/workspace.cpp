// One growing piece of scratch for each thread.
#include <ricci/core/memory.hpp>

#include "engine/bound.hpp"

namespace ricci {
namespace {

struct arena {
  char* data = nullptr;
  std::int64_t size = 0;
  ~arena() { detail::release(data); }

  char* at_least(std::int64_t bytes) {
    if (bytes <= size) return data;
    const std::int64_t rounded = (bytes + 4095) / 4096 * 4096;
    void* fresh = detail::allocate(static_cast<std::size_t>(rounded), 4096, false, "a workspace");
    detail::release(data);
    data = static_cast<char*>(fresh);
    size = rounded;
    return data;
  }
};

thread_local arena mine, between;

template <class T>
struct constants {
  T one = T(1), zero = T(0);
};

template <class T>
const constants<T>& values() {
  static const constants<T> v;
  return v;
}

}  // namespace

char* workspace(std::int64_t bytes) { return bytes == 0 ? nullptr : mine.at_least(bytes); }

char* between_stages(std::int64_t bytes) { return bytes == 0 ? nullptr : between.at_least(bytes); }

const void* one_of(dtype t) {
  switch (t) {
    case dtype::f64: return &values<double>().one;
    case dtype::c64: return &values<std::complex<float>>().one;
    case dtype::c128: return &values<std::complex<double>>().one;
    default: return &values<float>().one;
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
