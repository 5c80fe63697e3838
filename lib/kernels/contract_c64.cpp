// The c64 contraction kernels; compiled once for each instruction set.
#include "contract-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

void add_contract_c64(kernel_set& set) { fill_contract<float, true>(set.contract[static_cast<int>(dtype::c64)]); }

}  // namespace ricci::kernels::RICCI_ISA
