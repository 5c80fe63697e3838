// The pointwise kernels and those for even and odd matrices.
#include "halves-inl.hpp"
#include "pointwise-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

void add_pointwise(kernel_set& set) {
  set.pointwise[0] = &pointwise<float>;
  set.pointwise[1] = &pointwise<double>;
  set.pointwise[2] = &pointwise<cplx<float>>;
  set.pointwise[3] = &pointwise<cplx<double>>;
  set.halves[0] = &halves<float>;
  set.halves[1] = &halves<double>;
}

}  // namespace ricci::kernels::RICCI_ISA
