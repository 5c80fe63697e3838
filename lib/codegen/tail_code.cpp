// The last few columns of a product, with the summed index along the lanes: rows of a meet columns of b, and the lanes of
// each sum are added up at the end. A vector for one to four columns would leave most of its lanes idle.
#include <algorithm>

#include "codegen/contract_code.hpp"

namespace ricci::codegen {

using namespace Xbyak::util;

/// A mask for the first two of four floats.
void contract_code::prepare_tail(const nest& n) {
  if (!wide() || !single() || n.tail->group != 2) return;
  mov(eax, 3);
  kmovw(k7, eax);
}

void contract_code::write_tail(const nest& n) {
  const summed_tail& s = *n.tail;
  tail_rest_ = static_cast<int>(s.blocks * s.group), tail_sums_ = tail_rest_ + static_cast<int>(s.rest);
  tail_spare_ = tail_sums_ + static_cast<int>(s.rows_at_once(real()));
  load_tail_b(n);
  for (std::int64_t first = 0; first < n.rows; first += s.rows_at_once(real()))
    write_tail_rows(n, first, std::min(n.rows - first, s.rows_at_once(real())));
}

/// b's columns of the tail: lane l * group + j of register i * group + p holds b[i * lanes + l * group + p, j].
void contract_code::load_tail_b(const nest& n) {
  const summed_tail& s = *n.tail;
  const std::int64_t lanes = s.width / real();
  for (std::int64_t i = 0; i < s.blocks; ++i)
    for (std::int64_t p = 0; p < s.group; ++p)
      gather_tail(static_cast<int>(i * s.group + p), s, n.k_b * (i * lanes + p), n.k_b * s.group);
  for (std::int64_t k = 0; k < s.rest; ++k)
    load_few(tail_rest_ + static_cast<int>(k), s.columns, b_, s.b + n.k_b * (s.blocks * lanes + k));
  if (alpha_ == factor::one) return;
  const int x = tail_sums_;
  if (alpha_ == factor::any) broadcast(x, s.width, ptr[alpha_at_]);
  else vmovups(reg(x, s.width), ptr[rip + pairs(-1, -1)]);
  for (int i = 0; i < tail_rest_; ++i) mul(reg(i, s.width), reg(i, s.width), reg(x, s.width));
  for (int i = tail_rest_; i < tail_sums_; ++i) mul(Xbyak::Xmm(i), Xbyak::Xmm(i), Xbyak::Xmm(x));
}

/// One register of groups of columns, `step` bytes apart.
void contract_code::gather_tail(int to, const summed_tail& s, std::int64_t from, std::int64_t step) {
  const int spare = tail_sums_, other = tail_sums_ + 1;
  const std::int64_t groups = 16 / (s.group * real());  // in 16 bytes
  const auto quarter = [&](int i, std::int64_t q) {
    const std::int64_t at0 = s.b + from + q * groups * step;
    load_few(i, s.columns, b_, at0);
    for (std::int64_t l = 1; l < groups; ++l) insert_few(i, l, s.group, b_, at0 + l * step);
  };
  const auto half = [&](int i, int help, std::int64_t h) {
    quarter(i, 2 * h);
    quarter(help, 2 * h + 1);
    if (wide()) vinsertf32x4(Xbyak::Ymm(i), Xbyak::Ymm(i), Xbyak::Xmm(help), 1);
    else vinsertf128(Xbyak::Ymm(i), Xbyak::Ymm(i), Xbyak::Xmm(help), 1);
  };
  half(to, spare, 0);
  if (s.width < 64) return;
  half(spare, other, 1);
  vinsertf64x4(Xbyak::Zmm(to), Xbyak::Zmm(to), Xbyak::Ymm(spare), 1);
}

/// One to four neighbouring reals; the other lanes become zero.
void contract_code::load_few(int i, int count, const reg64& base, std::int64_t offset) {
  const Xbyak::Xmm x(i);
  if (!single()) return count == 1 ? vmovsd(x, at(base, offset)) : vmovupd(x, at(base, offset));
  if (count == 4) return vmovups(x, at(base, offset));
  if (count == 1) return vmovss(x, at(base, offset));
  vmovsd(x, at(base, offset));
  if (count == 3) vinsertps(x, x, at(base, offset + 8), 0x20);
}

/// Group `l` of a register of 16 bytes; groups of 4 and 8 bytes.
void contract_code::insert_few(int i, std::int64_t l, int group, const reg64& base, std::int64_t offset) {
  const Xbyak::Xmm x(i);
  if (group * real() == 8) vmovhpd(x, x, at(base, offset));
  else vinsertps(x, x, at(base, offset), static_cast<std::uint8_t>(l << 4));
}

/// Sums of some rows, one register each, and their end.
void contract_code::write_tail_rows(const nest& n, std::int64_t first, std::int64_t rows) {
  const summed_tail& s = *n.tail;
  const std::int64_t lanes = s.width / real();
  const int x = tail_spare_;
  const auto a_of = [&](std::int64_t row, std::int64_t k) { return (first + row) * n.row_a + k * real(); };
  bool fresh = !reads_c();
  if (reads_c()) start_tail_with_c(n, first, rows);
  for (std::int64_t k = 0; k < s.rest; ++k, fresh = false)
    for (std::int64_t r = 0; r < rows; ++r) {
      const Xbyak::Xmm sum(tail_sums_ + static_cast<int>(r)), b(tail_rest_ + static_cast<int>(k));
      multiply_few(sum, b, s.group, a_of(r, s.blocks * lanes + k), Xbyak::Xmm(x), fresh);
    }
  for (std::int64_t i = 0; i < s.blocks; ++i)
    for (std::int64_t p = 0; p < s.group; ++p, fresh = false)
      for (std::int64_t r = 0; r < rows; ++r) {
        const auto sum = reg(tail_sums_ + static_cast<int>(r), s.width), b = reg(static_cast<int>(i * s.group + p), s.width);
        const std::int64_t from = a_of(r, i * lanes);
        const auto times = [&](const Xbyak::Operand& y) { fresh ? mul(sum, b, y) : fma(sum, b, y); };
        if (s.group == 1) {
          times(at(a_, from));
        } else {
          spread(reg(x, s.width), from, s.group, p, (i + 1) * lanes < n.k);
          times(reg(x, s.width));
        }
      }
  store_tail(s, join_tail(s, static_cast<int>(rows)), first, rows, n.row_c);
}

/// The sums begin with beta c.
void contract_code::start_tail_with_c(const nest& n, std::int64_t first, std::int64_t rows) {
  const summed_tail& s = *n.tail;
  const int x = tail_spare_;
  if (beta_ == factor::any) broadcast(x, 16, ptr[beta_at_]);
  if (beta_ == factor::minus_one) vmovups(Xbyak::Xmm(x), ptr[rip + pairs(-1, -1)]);
  for (std::int64_t r = 0; r < rows; ++r) {
    const Xbyak::Xmm sum(tail_sums_ + static_cast<int>(r));
    load_few(sum.getIdx(), s.columns, c_, s.c + (first + r) * n.row_c);
    if (beta_ != factor::one) mul(sum, sum, Xbyak::Xmm(x));
  }
}

/// sum += b a for one element of a and a group of columns; lanes beyond the group stay zero.
void contract_code::multiply_few(const Xbyak::Xmm& sum, const Xbyak::Xmm& b, int group, std::int64_t a, const Xbyak::Xmm& x,
                                 bool fresh) {
  if (group == 1) {
    if (single()) return fresh ? vmulss(sum, b, at(a_, a)) : vfmadd231ss(sum, b, at(a_, a));
    return fresh ? vmulsd(sum, b, at(a_, a)) : vfmadd231sd(sum, b, at(a_, a));
  }
  if (wide()) {
    const address element = ptr_b[a_ + static_cast<int>(a)];
    if (single() && group == 2) return fresh ? mul(sum | k7 | T_z, b, element) : fma(sum | k7, b, element);
    return fresh ? mul(sum, b, element) : fma(sum, b, element);
  }
  if (single() && group == 2) {
    vmovss(x, at(a_, a));
    vunpcklps(x, x, x);
  } else {
    broadcast(x.getIdx(), 16, at(a_, a));
  }
  fresh ? mul(sum, b, x) : fma(sum, b, x);
}

/// Element p of every `group` elements of a, in all lanes of its group; more: a's row goes on behind the register.
void contract_code::spread(const Xbyak::Xmm& x, std::int64_t from, int group, std::int64_t p, bool more) {
  if (single() && group == 4) return vpermilps(x, at(a_, from), static_cast<std::uint8_t>(p * 0x55));
  if (single()) return p ? vmovshdup(x, at(a_, from)) : vmovsldup(x, at(a_, from));
  if (p == 0) return vmovddup(x, at(a_, from));
  if (more) return vmovddup(x, at(a_, from + real()));  // a load alone, without a shuffle
  vpermilpd(x, at(a_, from), 0xff);
}

/// x + y, where x holds what belongs to the lower and y to the upper of two places. y < 0: there is none.
int contract_code::add_places(int x, int y, const std::function<void(const Xbyak::Xmm&, int, int, bool)>& take, int width) {
  const int spare = tail_spare_;
  take(reg(spare, width), x, y < 0 ? x : y, true);
  if (y >= 0) take(reg(x, width), x, y, false);
  add(reg(x, width), reg(x, width), reg(spare, width));
  return x;
}

/// The lanes of all sums added up: one register, the rows' groups of columns in order.
int contract_code::join_tail(const summed_tail& s, int rows) {
  const int quarters = s.width / 16, within = static_cast<int>(s.rows_at_once(real())) / quarters;
  const auto sum = [&](int row) { return row < rows ? tail_sums_ + row : -1; };
  const auto halves = [&](const Xbyak::Xmm& to, int x, int y, bool upper) {
    if (to.isZMM()) vshuff64x2(Xbyak::Zmm(to.getIdx()), Xbyak::Zmm(x), Xbyak::Zmm(y), upper ? 0xee : 0x44);
    else if (wide()) vshuff64x2(Xbyak::Ymm(to.getIdx()), Xbyak::Ymm(x), Xbyak::Ymm(y), upper ? 3 : 0);
    else vperm2f128(Xbyak::Ymm(to.getIdx()), Xbyak::Ymm(x), Xbyak::Ymm(y), upper ? 0x31 : 0x20);
  };
  const auto quarter = [&](const Xbyak::Xmm& to, int x, int y, bool upper) {
    vshuff64x2(Xbyak::Zmm(to.getIdx()), Xbyak::Zmm(x), Xbyak::Zmm(y), upper ? 0xdd : 0x88);
  };
  const auto doubles = [&](const Xbyak::Xmm& to, int x, int y, bool upper) {
    upper ? vunpckhpd(to, reg(x, s.width), reg(y, s.width)) : vunpcklpd(to, reg(x, s.width), reg(y, s.width));
  };
  const auto floats = [&](const Xbyak::Xmm& to, int x, int y, bool upper) {
    vshufps(to, reg(x, s.width), reg(y, s.width), upper ? 0xdd : 0x88);
  };
  const auto both = [&](int x, int y, const auto& take) { return x < 0 ? -1 : add_places(x, y, take, s.width); };
  const auto base = [&](int w) {  // rows w, w + within, ...: one in each quarter
    if (quarters == 2) return both(sum(w), sum(w + within), halves);
    const int low = both(sum(w), sum(w + within), halves), high = both(sum(w + 2 * within), sum(w + 3 * within), halves);
    return low < 0 ? -1 : add_places(low, high < 0 && w + within < rows ? low : high, quarter, s.width);
  };
  if (within == 1) return base(0);
  const auto pair = [&](int w) {
    const int x = base(w), y = base(w + 1);
    return x < 0 ? -1 : add_places(x, y, doubles, s.width);
  };
  if (within == 2) return pair(0);
  const int x = pair(0), y = pair(2);
  return add_places(x, y < 0 ? x : y, floats, s.width);
}

void contract_code::store_tail(const summed_tail& s, int from, std::int64_t first, std::int64_t rows, std::int64_t row_c) {
  const std::int64_t groups = 16 / (s.group * real());
  for (std::int64_t q = 0; q * groups < rows; ++q) {
    const auto to = [&](std::int64_t l) { return at(c_, s.c + (first + q * groups + l) * row_c); };
    Xbyak::Xmm x(from);
    if (q > 0) {
      const bool whole = s.columns * real() == 16;
      x = Xbyak::Xmm(tail_spare_);
      const auto extract = [&](const auto& target) {
        if (s.width == 64) vextractf32x4(target, Xbyak::Zmm(from), static_cast<std::uint8_t>(q));
        else if (wide()) vextractf32x4(target, Xbyak::Ymm(from), static_cast<std::uint8_t>(q));
        else vextractf128(target, Xbyak::Ymm(from), static_cast<std::uint8_t>(q));
      };
      if (whole) {
        extract(to(0));
        continue;
      }
      extract(x);
    }
    for (std::int64_t l = 0; l < groups && q * groups + l < rows; ++l) store_few(to(l), x, l, s.columns);
  }
}

/// Group l of x: one to four reals.
void contract_code::store_few(const address& to, const Xbyak::Xmm& x, std::int64_t l, int columns) {
  const auto behind = [&](int bytes) { return ptr[to.getRegExp() + bytes]; };
  if (columns * real() == 16) return vmovups(to, x);
  if (columns * real() == 8) return l ? vmovhpd(to, x) : vmovlpd(to, x);
  if (columns == 3) {
    vmovlpd(to, x);
    return vextractps(behind(8), x, 2);
  }
  l ? vextractps(to, x, static_cast<std::uint8_t>(l)) : vmovss(to, x);
}

}  // namespace ricci::codegen
