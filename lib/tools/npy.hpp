// NumPy's .npy files: versions 1 to 3, both byte orders, C and Fortran order, numbers and booleans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::tools {

/// Element type of a file: 'b' bool, 'i' and 'u' integers, 'f' real, 'c' complex, and its size in bytes.
struct npy_type {
  char kind = 'f';
  int bytes = 8;
  bool operator==(const npy_type&) const = default;
};

/// "float64", "int8", "bool".
std::string name_of(npy_type type);

/// What the header of a file says.
struct npy_header {
  npy_type type;
  bool swapped = false;  // bytes are in the other order than this machine's
  bool fortran = false;  // first axis fastest
  std::vector<std::int64_t> extents;
};

/// Reads the text of a header (a Python dictionary). Errors: bad_file, with `file` in the sentence.
npy_header parse_npy_header(std::string_view text, const std::string& file);

/// The array of a file; `data` is in this machine's byte order.
struct npy_array {
  npy_type type;
  bool fortran = false;
  std::vector<std::int64_t> extents;
  std::vector<std::byte> data;

  std::int64_t size() const;
  std::vector<std::int64_t> strides() const;
};

/// Bytes after the array are ignored, as NumPy does. Errors: bad_file, no_memory.
npy_array read_npy(const std::string& path);

/// A failure leaves what was there (detail::replace_file). Errors: bad_file.
void write_npy(const std::string& path, const npy_array& array);

}  // namespace ricci::tools
