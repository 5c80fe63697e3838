// The f32 contraction kernels; compiled once for each instruction set.
#include "contract-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

void add_contract_f32(kernel_set& set) { fill_contract<float, false>(set.contract[static_cast<int>(dtype::f32)]); }

}  // namespace ricci::kernels::RICCI_ISA
