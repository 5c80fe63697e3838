// The move kernels: copies, conversions and permutations of the axes; compiled once for each instruction set.
#include "move-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

void add_moves(kernel_set& set) { fill_moves(set); }

}  // namespace ricci::kernels::RICCI_ISA
