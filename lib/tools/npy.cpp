// Reading and writing .npy files.
#include "tools/npy.hpp"

#include <ricci/core/error.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "machine/files.hpp"

namespace ricci::tools {
namespace {

[[noreturn]] void fail(const std::string& file, const std::string& why) { throw error(errc::bad_file, file + " " + why); }

std::string reason() { return std::strerror(errno); }

struct close_file {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using file_handle = std::unique_ptr<std::FILE, close_file>;

/// Reads as much as is wanted or throws. Memory grows with what is there, not with what a header claims.
template <class Buffer>
void read_bytes(std::FILE* f, Buffer& out, std::size_t wanted, const std::string& file, const char* what) {
  constexpr std::size_t chunk = std::size_t{1} << 26;
  out.clear();
  while (out.size() < wanted) {
    const std::size_t before = out.size(), next = std::min(chunk, wanted - before);
    out.resize(before + next);
    const std::size_t got = std::fread(out.data() + before, 1, next, f);
    if (got < next && std::ferror(f)) fail(file, "cannot be read: " + reason());
    if (got < next)
      fail(file, "is not a usable .npy file: it ends within " + std::string(what) + ", after " +
                     std::to_string(before + got) + " of " + std::to_string(wanted) + " bytes");
  }
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t b = bytes.size(); b-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[b]);
  return value;
}

npy_header read_header(std::FILE* f, const std::string& file) {
  constexpr std::size_t longest = std::size_t{1} << 20;
  std::string text;
  read_bytes(f, text, 8, file, "its first 8 bytes");
  if (text.substr(0, 6) != "\x93NUMPY") fail(file, "is not a usable .npy file: it does not begin with NumPy's mark");
  const int version = static_cast<unsigned char>(text[6]);
  if (version < 1 || version > 3 || text[7] != 0)
    fail(file, "is not a usable .npy file: its format version is " + std::to_string(version) + "." +
                   std::to_string(static_cast<unsigned char>(text[7])) + ", known are 1.0, 2.0 and 3.0");
  read_bytes(f, text, version == 1 ? 2 : 4, file, "the length of its header");
  const std::size_t length = little_endian(text);
  if (length > longest) fail(file, "is not a usable .npy file: its header claims " + std::to_string(length) + " bytes");
  read_bytes(f, text, length, file, "its header");
  return parse_npy_header(text, file);
}

void swap_bytes(npy_array& array) {
  const std::size_t width = static_cast<std::size_t>(array.type.kind == 'c' ? array.type.bytes / 2 : array.type.bytes);
  for (std::size_t at = 0; at < array.data.size(); at += width)
    std::reverse(array.data.begin() + static_cast<std::ptrdiff_t>(at), array.data.begin() + static_cast<std::ptrdiff_t>(at + width));
}

std::string header_text(const npy_array& array) {
  const char order = array.type.bytes == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
  std::string text = std::string("{'descr': '") + order + array.type.kind + std::to_string(array.type.bytes) +
                     "', 'fortran_order': " + (array.fortran ? "True" : "False") + ", 'shape': (";
  for (std::size_t d = 0; d < array.extents.size(); ++d) text += (d ? ", " : "") + std::to_string(array.extents[d]);
  text += array.extents.size() == 1 ? ",), }" : "), }";
  // The array starts at a multiple of 64 bytes; the two numbers before the header take 10 bytes (version 1).
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  const std::size_t length = text.size();
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(length & 255) + static_cast<char>(length >> 8) + text;
}

}  // namespace

std::string name_of(npy_type type) {
  if (type.kind == 'b') return "bool";
  const char* const name = type.kind == 'i' ? "int" : type.kind == 'u' ? "uint" : type.kind == 'f' ? "float" : "complex";
  return name + std::to_string(8 * type.bytes);
}

std::int64_t npy_array::size() const {
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t n : extents) count *= n;
  return count;
}

std::vector<std::int64_t> npy_array::strides() const {
  std::vector<std::int64_t> out(extents.size());
  std::int64_t step = 1;
  const bool empty = size() == 0;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const std::size_t axis = fortran ? d : extents.size() - 1 - d;
    out[axis] = step;
    if (!empty) step *= extents[axis];
  }
  return out;
}

npy_array read_npy(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail(path, "is a folder, not a .npy file");
  const file_handle f(std::fopen(path.c_str(), "rb"));
  if (!f) fail(path, "cannot be opened: " + reason());
  npy_header header = read_header(f.get(), path);
  npy_array array{header.type, header.fortran, std::move(header.extents), {}};
  read_bytes(f.get(), array.data, static_cast<std::size_t>(array.size()) * static_cast<std::size_t>(array.type.bytes), path, "its data");
  if (header.swapped) swap_bytes(array);
  return array;
}

void write_npy(const std::string& path, const npy_array& array) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail(path, "cannot be written: it is a folder");
  const std::string_view data(reinterpret_cast<const char*>(array.data.data()), array.data.size());
  if (const std::string why = detail::replace_file(path, {header_text(array), data}); !why.empty()) fail(path, "cannot be written: " + why);
}

}  // namespace ricci::tools
