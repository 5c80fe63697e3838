// The c128 contraction kernels; compiled once for each instruction set.
#include "contract-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

void add_contract_c128(kernel_set& set) { fill_contract<double, true>(set.contract[static_cast<int>(dtype::c128)]); }

}  // namespace ricci::kernels::RICCI_ISA
