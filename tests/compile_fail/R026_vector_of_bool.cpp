// R026: a view of a std::vector<bool>; docs/errors.md#R026
// error: ricci\[R026\]
// error: not_an_element<bool>
#include <ricci/ricci.hpp>

#include <vector>

void run() {
#ifdef BAD
  std::vector<bool> places(3);
#else
  std::vector<int> places(3);
#endif
  const auto v = ricci::view(places);
  static_cast<void>(v);
}
