// The f64 contraction kernels; compiled once for each instruction set.
#include "contract-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

void add_contract_f64(kernel_set& set) { fill_contract<double, false>(set.contract[static_cast<int>(dtype::f64)]); }

}  // namespace ricci::kernels::RICCI_ISA
