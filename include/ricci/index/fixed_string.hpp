// Text as a template argument, and a reference to text that lives as long as the program.
#pragma once

#include <cstddef>

namespace ricci {

/// A string literal as a structural value: `label<"elem">`, `einsum<"ij,jk->ik">`.
template <std::size_t N>
struct fixed_string {
  char text[N]{};
  constexpr fixed_string() = default;
  constexpr fixed_string(const char (&literal)[N]) {
    for (std::size_t c = 0; c < N; ++c) text[c] = literal[c];
  }
  static constexpr int size() { return static_cast<int>(N) - 1; }
};

namespace detail {

/// A label's name as a value that analysis can compare.
struct name_ref {
  const char* text = nullptr;
  int size = 0;
  constexpr bool operator==(const name_ref& other) const {
    if (size != other.size) return false;
    for (int c = 0; c < size; ++c)
      if (text[c] != other.text[c]) return false;
    return true;
  }
};

}  // namespace detail
}  // namespace ricci
