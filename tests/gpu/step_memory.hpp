// Steps on the device by kernels and configurations that a test names, beside the general kernel.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "elements.hpp"
#include "gpu/measure.hpp"
#include "on_gpu.hpp"

namespace ricci::test {

/// Operands between guards, each so many elements behind a border.
class step_memory {
 public:
  step_memory(dtype t, std::int64_t a_count, std::int64_t b_count, std::int64_t c_count, int shift) : step_memory({t, t, t}, a_count, b_count, c_count, shift) {}
  step_memory(const std::array<dtype, 3>& types, std::int64_t a_count, std::int64_t b_count, std::int64_t c_count, int shift)
      : types_(types), a_(bytes_of(a_count, types[0])), b_(bytes_of(b_count, types[1])), c_(bytes_of(c_count, types[2])), shift_(shift) {}

  /// The plan's c of random elements, with guards, or how large the sums are that it is made of. beta is 0.5 where the step has one.
  std::vector<char> run(const cuda::step_plan& p, bool sizes) const {
    fill(a_, types_[0], 1, sizes), fill(b_, types_[1], 2, sizes), fill(c_, types_[2], 3, sizes);
    const auto first = [&](const cuda::buffer& x, dtype t, int elements) { return x.data() + guard + elements % 16 * static_cast<std::int64_t>(size_of(t)); };
    cuda::operands o;
    o.a = first(a_, types_[0], shift_), o.b = first(b_, types_[1], 2 * shift_), o.c = first(c_, types_[2], 3 * shift_);
    o.beta[0] = p.shape.beta ? 0.5 : 0;
    const cuda::device& d = cuda::current_device();
    cuda::launch_step(p, cuda::load_kernel(d, cuda::request_of(p, cuda::alignments_of(p.shape, o.a, o.b, o.c))), o, d);
    std::vector<char> host(static_cast<std::size_t>(c_.bytes()));
    cuda::copy_to_host(host.data(), c_.data(), c_.bytes());
    return host;
  }

  /// Of the result.
  dtype type() const { return types_[2]; }

 private:
  static constexpr std::int64_t guard = 512;
  static std::int64_t bytes_of(std::int64_t count, dtype t) { return (count + 64) * static_cast<std::int64_t>(size_of(t)) + 2 * guard; }
  static void fill(const cuda::buffer& x, dtype t, unsigned seed, bool sizes) {
    const std::vector<char> bytes = random_bytes(t, x.bytes(), seed);
    cuda::copy_to_device(x.data(), (sizes ? sizes_of(t, bytes) : bytes).data(), x.bytes());
  }

  std::array<dtype, 3> types_;
  cuda::buffer a_, b_, c_;
  int shift_;
};

/// What the general kernel makes of a step whose sums have k terms.
class by_general_kernel {
 public:
  by_general_kernel(const step_memory& m, const cuda::step_shape& s, std::int64_t k) : memory_(m), terms_(k) {
    cuda::step_plan p;
    p.shape = s, p.kind = cuda::kernel_kind::general;
    sizes_ = m.run(p, true), wanted_ = m.run(p, false);
  }

  /// The first element of the plan's c, guards included, that is too far from that; -1: none.
  std::int64_t first_wrong(const cuda::step_plan& p) const {
    const dtype t = memory_.type();
    const std::int64_t parts = is_complex(t) ? 2 : 1;
    const std::vector<char> got = memory_.run(p, false);
    const std::int64_t count = static_cast<std::int64_t>(got.size()) / static_cast<std::int64_t>(size_of(t)) * parts;
    for (std::int64_t e = 0; e < count; ++e) {
      const double x = part_of(t, got.data(), e), y = part_of(t, wanted_.data(), e);
      if (!(std::abs(x - y) <= bound(part_of(t, sizes_.data(), e / parts * parts), x, y))) return e;
    }
    return -1;
  }

 private:
  /// How far two results may be from each other: both round each of the k products and c, and halves once more when they are
  /// stored. `size` is the sum of what these are, made like the results.
  double bound(double size, double x, double y) const {
    const dtype t = memory_.type();
    const double eps = epsilon_of(compute_type(t)), stored = size_of(t) == 2 ? epsilon_of(t) : 0;
    return 2 * static_cast<double>(terms_ + 4) * eps * size + stored / 2 * (std::abs(x) + std::abs(y)) + (t == dtype::f16 ? 0x1p-24 : 0);
  }

  const step_memory& memory_;
  std::int64_t terms_;
  std::vector<char> sizes_, wanted_;
};

}  // namespace ricci::test
