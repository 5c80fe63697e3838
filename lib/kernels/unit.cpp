// The set of one instruction set: what its units compiled, put together.
#include "stream-inl.hpp"
#include "unit-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

void add_contract_f32(kernel_set& set);
void add_contract_f64(kernel_set& set);
void add_contract_c64(kernel_set& set);
void add_contract_c128(kernel_set& set);
void add_narrow_dots(kernel_set& set);
void add_moves(kernel_set& set);
void add_pointwise(kernel_set& set);
void add_rows(kernel_set& set);
void add_panels(kernel_set& set);

void fill(kernel_set& set) {
  set.vector_bytes = vector_bytes;
  set.vector_registers = vector_registers;
  add_contract_f32(set);
  add_contract_f64(set);
  add_contract_c64(set);
  add_contract_c128(set);
  add_narrow_dots(set);
  add_moves(set);
  add_pointwise(set);
  add_rows(set);
  add_panels(set);
  set.peak[0] = &peak<float>;
  set.peak[1] = &peak<double>;
  set.stream = &stream_copy;
}

}  // namespace ricci::kernels::RICCI_ISA
