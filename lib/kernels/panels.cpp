// What packs panels of large products, and what brings their tiles to where a tensor has them.
#include "panels-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

void add_panels(kernel_set& set) {
  set.turn[0] = &turn_lines<float>;
  set.turn[1] = &turn_lines<double>;
  set.pieces[0] = &copy_pieces<float>;
  set.pieces[1] = &copy_pieces<double>;
}

}  // namespace ricci::kernels::RICCI_ISA
