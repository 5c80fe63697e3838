// Gathers and scatter-adds of rows.
#include "rows-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

void add_rows(kernel_set& set) {
  set.gather[0] = &gather_rows<float>;
  set.gather[1] = &gather_rows<double>;
  set.scatter[0] = &scatter_rows<float>;
  set.scatter[1] = &scatter_rows<double>;
}

}  // namespace ricci::kernels::RICCI_ISA
