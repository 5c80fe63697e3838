// Dot products in float of elements of 16 bits; compiled once for each instruction set.
#include "contract-inl.hpp"

namespace ricci::kernels::RICCI_ISA {
namespace {

template <class A, class B>
void narrow_dots(const contract_args& g, const void* a, const void* b, void* c, const void* alpha, const void* beta) {
  contract_k<float, false, A, B>(g, static_cast<const float*>(a), static_cast<const float*>(b), static_cast<float*>(c),
                                 static_cast<const float*>(alpha), static_cast<const float*>(beta));
}

template <class S> void fill_dots(contract_fn (&row)[2]) {
  row[0] = &narrow_dots<float, S>;
  row[1] = &narrow_dots<S, S>;
}

}  // namespace

void add_narrow_dots(kernel_set& set) {
  fill_dots<f16>(set.narrow_dots[0]);
  fill_dots<bf16>(set.narrow_dots[1]);
}

}  // namespace ricci::kernels::RICCI_ISA
