// Arrays as text.
#include <fmt/format.h>

#include <cstring>

#include "tools/convert.hpp"
#include "tools/einsum_files.hpp"

namespace ricci::tools {
namespace {

template <class T>
T read(const std::byte* at) {
  T x;
  std::memcpy(&x, at, sizeof x);
  return x;
}

template <class T>
std::string complex_text(const std::byte* at) {
  const T re = read<T>(at), im = read<T>(at + sizeof(T));
  return fmt::format("{}{:+}j", re, im);
}

std::string element_text(npy_type t, const std::byte* at) {
  switch (t.kind) {
    case 'b': return read<std::uint8_t>(at) ? "True" : "False";
    case 'i': return std::to_string(t.bytes == 1   ? read<std::int8_t>(at)
                                    : t.bytes == 2 ? read<std::int16_t>(at)
                                    : t.bytes == 4 ? read<std::int32_t>(at)
                                                   : read<std::int64_t>(at));
    case 'u': return std::to_string(t.bytes == 1   ? read<std::uint8_t>(at)
                                    : t.bytes == 2 ? read<std::uint16_t>(at)
                                    : t.bytes == 4 ? read<std::uint32_t>(at)
                                                   : read<std::uint64_t>(at));
    case 'c': return t.bytes == 8 ? complex_text<float>(at) : complex_text<double>(at);
    default:
      return t.bytes == 2   ? fmt::format("{}", static_cast<float>(read<half>(at)))
             : t.bytes == 4 ? fmt::format("{}", read<float>(at))
                            : fmt::format("{}", read<double>(at));
  }
}

void print(std::string& out, const npy_array& array, const std::vector<std::int64_t>& strides, std::size_t d,
           std::int64_t offset) {
  if (d == array.extents.size()) {
    out += element_text(array.type, array.data.data() + offset * array.type.bytes);
    return;
  }
  out += '[';
  for (std::int64_t i = 0; i < array.extents[d]; ++i) {
    if (i) out += d + 1 == array.extents.size() ? ", " : ",\n" + std::string(d + 1, ' ');
    print(out, array, strides, d + 1, offset + i * strides[d]);
  }
  out += ']';
}

}  // namespace

std::string to_string(const npy_array& array) {
  if (array.size() == 0) return "[]";
  std::string out;
  print(out, array, array.strides(), 0, 0);
  return out;
}

}  // namespace ricci::tools
