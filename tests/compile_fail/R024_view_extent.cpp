// R024: an extent of a view with a fraction; docs/errors.md#R024
// error: ricci\[R024\]
// error: not_an_extent<double>
#include <ricci/ricci.hpp>

void run(double* data) {
#ifdef BAD
  const auto v = ricci::view(data, ricci::extents<ricci::dynamic, 3>{2.5});
#else
  const auto v = ricci::view(data, ricci::extents<ricci::dynamic, 3>{2});
#endif
  static_cast<void>(v);
}
