// Writes sums of numbers that lie apart. Loads and additions of single numbers run two to three a cycle, where a copy to lanes takes a
// cycle an element and the sums have to read it again.
#include "codegen/apart.hpp"

#include <algorithm>
#include <cstdlib>

#include "codegen/vector_code.hpp"

namespace ricci::codegen {
namespace {

using namespace Xbyak::util;

constexpr std::int64_t results_together = 8;  // results: additions to one wait for one another
static_assert(most_apart_step * (most_apart_terms + results_together) < std::int64_t{1} << 31);

class apart_code : public vector_code {
 public:
  apart_code(const apart_request& r, target t) : vector_code(4096, t, r.type == dtype::f32 || r.type == dtype::c64), r_(r), size_(static_cast<std::int64_t>(size_of(r.type))) {
    if (r.alpha == factor::any) single() ? vmovss(xmm(scale), ptr[rcx]) : vmovsd(xmm(scale), ptr[rcx]);
    if (const std::int64_t rounds = r.extent / results_together; rounds > 0) {
      Xbyak::Label top;
      mov(rax, rounds);
      align(16);
      L(top);
      write(results_together);
      add(rsi, static_cast<int>(results_together * r.lane_b * size_));
      add(rdx, static_cast<int>(results_together * size_));
      dec(rax);
      jnz(top, T_NEAR);
    }
    write(r.extent % results_together);
    ret();
  }

 private:
  static constexpr int read = 14, scale = 15;
  static Xbyak::Xmm xmm(int i) { return Xbyak::Xmm(i); }

  void write(std::int64_t results) {
    for (std::int64_t k = 0; k < r_.k; ++k)
      for (int n = 0; n < results; ++n) {
        const address from = at(rsi, (n * r_.lane_b + k * r_.k_b) * size_);
        k == 0 ? load(n, from) : plus(n, from);
      }
    for (int n = 0; n < results; ++n) {
      const address to = at(rdx, n * size_);
      if (r_.alpha == factor::any) single() ? vmulss(xmm(n), xmm(n), xmm(scale)) : vmulsd(xmm(n), xmm(n), xmm(scale));
      if (r_.alpha == factor::minus_one) {
        load(read, to, r_.beta == factor::zero);
        single() ? vsubps(xmm(n), xmm(read), xmm(n)) : vsubpd(xmm(n), xmm(read), xmm(n));
      } else if (r_.beta == factor::one) {
        plus(n, to);
      }
      store(n, to);
    }
  }

  /// A number, or zero.
  void load(int i, const address& from, bool zero = false) {
    if (zero) vxorps(xmm(i), xmm(i), xmm(i));
    else if (r_.type == dtype::f32) vmovss(xmm(i), from);
    else if (r_.type == dtype::c128) vmovupd(xmm(i), from);
    else vmovsd(xmm(i), from);
  }

  void plus(int i, const address& from) {
    switch (r_.type) {
      case dtype::f32: return vaddss(xmm(i), xmm(i), from);
      case dtype::f64: return vaddsd(xmm(i), xmm(i), from);
      case dtype::c128: return vaddpd(xmm(i), xmm(i), from);
      default: vmovsd(xmm(read), from), vaddps(xmm(i), xmm(i), xmm(read));
    }
  }

  void store(int i, const address& to) {
    if (r_.type == dtype::f32) vmovss(to, xmm(i));
    else if (r_.type == dtype::c128) vmovupd(to, xmm(i));
    else vmovsd(to, xmm(i));
  }

  const apart_request& r_;
  const std::int64_t size_;
};

}  // namespace

std::shared_ptr<const kernel> make(const apart_request& r, target t) {
  const bool scaled = r.alpha == factor::any && !is_complex(r.type), known = r.alpha == factor::one || r.alpha == factor::minus_one;
  if (t == target::none || !(known || scaled) || (r.beta != factor::zero && r.beta != factor::one) || r.k < 2 || r.k > most_apart_terms || size_of(r.type) < 4) return nullptr;
  const auto size = static_cast<std::int64_t>(size_of(r.type));
  if (std::max(std::abs(r.lane_b), std::abs(r.k_b)) > most_apart_step / size) return nullptr;
  return written<kernel, apart_code>(r, t);
}

}  // namespace ricci::codegen
