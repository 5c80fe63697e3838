// Few long sums: a multiply-add waits for the one before in the same register, so that products go to several registers in
// turn, strands, which are added up at the end. And sums of one tensor.
#include "codegen/contract_code.hpp"
#include "codegen/tile_cost.hpp"

namespace ricci::codegen {

int contract_code::strands_of_tile(const tile& t) const {
  const std::int64_t registers = (wide() ? 32 : 15) - first_strand(t);
  if (now_->pairs || narrow_b()) return 1;
  return static_cast<int>(strands_of(sets_ * t.rows * t.count, now_->k * static_cast<std::int64_t>(now_->outer.size()), registers));
}

/// The sums begin at zero, or at c where the update is c += or c -= alone.
void contract_code::start_sums(const tile& t) {
  for (strand_ = 0; strand_ < strands_; ++strand_)
    for (std::int64_t r = 0; r < t.rows; ++r)
      for (std::int64_t v = 0; v < t.count; ++v)
        for (int s = 0; s < sets_; ++s) {
          const int i = sum_register(t, s, r, v);
          if (preloads() && strand_ == 0) load_c(i, vector(t, v), at(c_, c_of(t, r, v)));
          else clear(i, vector(t, v).width);
        }
  strand_ = 0;
}

/// A register of b onto the sums of a row.
void contract_code::sum_step(const tile& t, std::int64_t row, const reg64& b, std::int64_t b_at, bool fresh) {
  for (std::int64_t v = 0; v < t.count; ++v) {
    const lane_vector& lv = vector(t, v);
    const int sum = sum_register(t, 0, row, v);
    const address from = at(b, b_at + b_of(t, v));
    if (fresh) {
      load(sum, lv, from);
      continue;
    }
    const int y = vector_register(t, keeps_vectors(t) ? v : 0);
    if (partial(lv) && !keeps_vectors(t)) load(y, lv, from);
    const auto to = reg(sum, lv.width);
    const auto next = [&](const Xbyak::Operand& from_b) {
      if (!subtracts()) add(to, to, from_b);
      else if (single()) vsubps(to, to, from_b);
      else vsubpd(to, to, from_b);
    };
    if (partial(lv) || keeps_vectors(t)) next(reg(y, lv.width));
    else next(from);
  }
}

void contract_code::join_strands(const tile& t) {
  const auto sums = static_cast<int>(sets_ * t.rows * t.count);
  add_strands(strands_, sums, [&](int strand, int i) {
    const int at = strand == 0 ? i : first_strand(t) + (strand - 1) * sums + i;
    return reg(at, vector(t, i % t.count).width);
  });
  strand_ = 0, strands_ = 1;
}

/// Halves of the strands on one another, so that few additions wait for each other.
void contract_code::add_strands(int strands, int sums, const std::function<Xbyak::Xmm(int, int)>& register_of) {
  for (int left = strands; left > 1; left = (left + 1) / 2)
    for (int from = (left + 1) / 2, to = 0; from < left; ++from, ++to)
      for (int i = 0; i < sums; ++i) add(register_of(to, i), register_of(to, i), register_of(from, i));
}

}  // namespace ricci::codegen
