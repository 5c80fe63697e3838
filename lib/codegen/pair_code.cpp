// bfloat16 multiplied two at a time: a pair of a's neighbours along the summed index meets pairs of two rows of b.
#include <algorithm>

#include "codegen/contract_code.hpp"

namespace ricci::codegen {

using namespace Xbyak::util;

namespace {

constexpr int places_register = 31;  // of the words of two rows in the register of pairs

}  // namespace

void contract_code::use_pairs() {
  bool odd = false;
  for (const nest& n : nests_) {
    if (!n.pairs) continue;
    odd = odd || n.odd;
    for (const lane_vector& v : n.vectors) pair_width_ = std::max(pair_width_, v.width);
  }
  if (odd) {
    mov(eax, 0x55555555);
    kmovd(k7, eax);
  }
  if (pair_width_ > 16) vmovdqu32(reg(places_register, pair_width_), ptr[rip + places_]);
}

void contract_code::write_places() {
  if (pair_width_ <= 16) return;
  align(64);
  L(places_);
  for (int i = 0; i < pair_width_ / 2; ++i) dw(static_cast<std::uint16_t>(i / 2 + i % 2 * pair_width_ / 2));
}

/// The lanes of v of two rows of b, the second k_b / 2 behind the first: (first, second) in each lane. The last row of an
/// odd number of them has zeros beside it.
void contract_code::load_pair(int i, const lane_vector& v, const address& from, int spare) {
  if (odd_step_) {
    const auto to = reg(i, v.width);
    return partial(v) ? vpmovzxwd(to | mask(v) | T_z, from) : vpmovzxwd(to, from);
  }
  const auto row = [&](int x, const address& at) {
    if (partial(v)) return vmovdqu16(reg(x, std::max(16, v.width / 2)) | mask(v) | T_z, at);
    v.width == 16 ? vmovsd(Xbyak::Xmm(x), at) : vmovups(reg(x, v.width / 2), at);
  };
  row(i, from);
  row(spare, ptr[from.getRegExp() + static_cast<int>(now_->k_b / 2)]);
  if (pair_width_ == 16) return vpunpcklwd(Xbyak::Xmm(i), Xbyak::Xmm(i), Xbyak::Xmm(spare));
  vpermt2w(reg(i, pair_width_), reg(places_register, pair_width_), reg(spare, pair_width_));
}

/// The last number of an odd sum.
void contract_code::odd_step(const tile& t, const reg64& a, const reg64& b, std::int64_t a_at, std::int64_t b_at) {
  odd_step_ = true;
  one_step(t, a, b, a_at, b_at, false);
  odd_step_ = false;
}

}  // namespace ricci::codegen
