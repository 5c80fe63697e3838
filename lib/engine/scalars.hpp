// Coefficients of a step, as kernels read them.
#pragma once

#include <complex>
#include <cstring>

#include "kernels/kernels.hpp"
#include "plan/plan.hpp"

namespace ricci {

struct step_scalars {
  alignas(16) char alpha[16];
  alignas(16) char beta[16];
  alignas(16) char alphas[16 * kernels::max_pointwise_terms];  // of a pointwise step: of its terms, its statements
  alignas(16) char betas[16 * kernels::max_pointwise_statements];
};

/// One element of a compute type.
inline void store_scalar(dtype type, std::complex<double> x, char* to) {
  const auto put = [to](auto value) { std::memcpy(to, &value, sizeof value); };
  switch (type) {
    case dtype::f64: return put(x.real());
    case dtype::c64: return put(std::complex<float>(x));
    case dtype::c128: return put(x);
    default: return put(static_cast<float>(x.real()));
  }
}

}  // namespace ricci
