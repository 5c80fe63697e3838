// Gathers and scatter-adds of rows, in blocks and alone.
#include "lookups-inl.hpp"
#include "rows-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

void add_rows(kernel_set& set) {
  set.gather[0] = &gather_rows<float>;
  set.gather[1] = &gather_rows<double>;
  set.scatter[0] = &scatter_rows<float>;
  set.scatter[1] = &scatter_rows<double>;
  set.found[0] = &update_rows<float>;
  set.found[1] = &update_rows<double>;
}

}  // namespace ricci::kernels::RICCI_ISA
