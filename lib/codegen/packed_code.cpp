// The last few columns of a product with neighbouring values of the summed index side by side in the lanes: a's row is
// broadcast a few numbers at a time, which no shuffle has to do, and the lanes of each column are added up at the end. Complex
// ones are multiplied twice, with b's and with b's whose parts are exchanged; the parts of the products meet at the end.
#include <algorithm>

#include "codegen/contract_code.hpp"

namespace ricci::codegen {

using namespace Xbyak::util;

namespace {

const Xbyak::Opmask rest_mask(6);  // of the lanes of the first `rest` of the steps
const Xbyak::Opmask odd_mask(5);   // of imaginary parts

/// How many neighbouring bytes of a one broadcast takes.
int bytes_of(const packed_tail& p) { return 64 / p.group; }

/// The last columns as rows of c know them; sets: reals of a number.
lane_vector columns_of(const packed_tail& p, int sets) { return {p.b, p.c, p.columns * sets, 64 / p.steps}; }

}  // namespace

void contract_code::prepare_packed(const packed_tail& p) {
  use_masks({columns_of(p, sets_)});
  if (p.alone) use_masks({{0, 0, static_cast<int>(p.steps * p.columns * sets_), 64}, {0, 0, static_cast<int>(p.rest * p.columns * sets_), 64}});
  packed_ = p;
  if (sets_ == 2) mov(eax, 0xaaaa), kmovw(odd_mask, eax);
  if (p.rest == 0) return;
  std::uint32_t lanes = 0;  // of 64 bits, but for floats
  for (int j = 0; j < p.group; ++j)
    for (int s = 0; s < p.rest; ++s) lanes |= (number() == 16 ? 3u : 1u) << (j * p.steps + s) * (number() == 16 ? 2 : 1);
  mov(eax, lanes);
  kmovw(rest_mask, eax);
}

void contract_code::write_packed(const nest& n) {
  if (n.packed->alone) return write_packed_alone(n);
  for (const tile_run& r : runs_of(n.rows, sets_ == 2 ? most_complex_rows : most_packed_rows))
    for (std::int64_t i = 0; i < r.count; ++i) {
      const std::int64_t first = r.first + i * r.size;
      write_packed_rows(n, first, r.size, first + r.size == n.rows);
    }
}

/// Some rows of b's columns, one behind the other in slots of the register, and from there to their places.
void contract_code::load_packed_b(const packed_tail& p, int to, std::int64_t from, std::int64_t k_b, std::int64_t steps) {
  const auto row = [&](std::int64_t s) { return at(b_, from + s * k_b); };
  const Xbyak::Zmm x(to);
  vmovups(reg(to, 64 / p.steps), row(0));  // the lanes behind it become zero
  for (std::int64_t s = 1; s < steps; ++s) {
    if (p.steps == 2) vinsertf64x4(x, x, row(s), 1);
    else vinsertf32x4(x, x, row(s), static_cast<std::uint8_t>(s));
  }
}

/// b's numbers from where they were loaded to their lanes.
void contract_code::permute_packed(int i, int places) {
  const Xbyak::Zmm x(i), to(places);
  if (number() == 4) vpermps(x, to, x);
  else vpermpd(x, to, x);
}

/// As many of a's numbers as there are steps, for each column.
void contract_code::spread_packed(const packed_tail& p, const Xbyak::Zmm& to, const address& from) {
  switch (bytes_of(p)) {
    case 8: return vbroadcastsd(to, from);
    case 16: return number() == 4 ? vbroadcastf32x4(to, from) : vbroadcastf64x2(to, from);
    case 32: return vbroadcastf64x4(to, from);
    default: return vmovupd(to, from);
  }
}

/// A row of a times the registers of b, which are behind the sums.
void contract_code::multiply_packed(int sums, std::int64_t rows, std::int64_t row, const Xbyak::Zmm& element, bool fresh) {
  for (int s = 0; s < sets_; ++s) {
    const Xbyak::Zmm to(sums + static_cast<int>(s * rows + row)), from(static_cast<int>(sets_ * rows) + s);
    fresh ? mul(to, from, element) : fma(to, from, element);
  }
}

/// The products of the last few steps; nothing behind a's rows is read.
void contract_code::add_packed_rest(const packed_tail& p, std::int64_t rows, const reg64& a, std::int64_t from) {
  const int b = static_cast<int>(sets_ * rows), x = b + sets_;
  for (std::int64_t r = 0; r < rows; ++r, from += now_->row_a) {
    if (p.rest == 1 && sets_ == 1) {
      fma(Xbyak::Zmm(static_cast<int>(r)) | rest_mask, Xbyak::Zmm(b), ptr_b[a + static_cast<int>(from)]);
      continue;
    }
    const Xbyak::Zmm element(x + static_cast<int>(r % 2)), masked = element | rest_mask | T_z;
    spread_packed(p, masked, at(a, from));
    multiply_packed(0, rows, r, element, false);
  }
}

void contract_code::write_packed_rows(const nest& n, std::int64_t first, std::int64_t rows, bool last) {
  const packed_tail& p = *n.packed;
  const int b = static_cast<int>(sets_ * rows), swapped = b + 1, x = b + sets_, places = x + 2;
  const std::int64_t from_b = p.b - (p.group - p.columns) * number();
  vmovups(Xbyak::Zmm(places), ptr[rip + packed_places_]);
  const auto gather = [&](std::int64_t k, std::int64_t steps) {
    load_packed_b(p, b, from_b + k * n.k_b, n.k_b, steps);
    permute_packed(b, places);
    if (sets_ == 2) swap_pairs(Xbyak::Zmm(swapped), Xbyak::Zmm(b));
  };
  for (std::int64_t i = 0; i < p.chunks; ++i) {
    gather(i * p.steps, p.steps);
    for (std::int64_t r = 0; r < rows; ++r) {
      const Xbyak::Zmm element(x + static_cast<int>(r % 2));
      spread_packed(p, element, at(a_, (first + r) * n.row_a + i * p.steps * number()));
      multiply_packed(0, rows, r, element, i == 0);
    }
  }
  if (p.rest) {
    gather(p.chunks * p.steps, p.rest);
    add_packed_rest(p, rows, a_, first * n.row_a + p.chunks * p.steps * number());
  }
  if (sets_ == 2) join_parts(rows, x);
  finish_packed_rows(n, first, rows, last);
}

/// From a's numbers times b's, and times b's with the parts exchanged: the parts of the products.
void contract_code::join_parts(std::int64_t rows, int spare) {
  const double sa = request_.args.conj_a ? -1 : 1, sb = request_.args.conj_b ? -1 : 1;
  const Xbyak::Zmm im(spare);
  for (std::int64_t r = 0; r < rows; ++r) {
    const Xbyak::Zmm straight(static_cast<int>(r)), crossed(static_cast<int>(rows + r));
    both_odd(im, straight);  // products of imaginary parts, beside a's imaginary with b's real ones
    single() ? vmovaps(im | odd_mask, crossed) : vmovapd(im | odd_mask, crossed);
    single() ? vmovsldup(straight | odd_mask, crossed) : vmovddup(straight | odd_mask, crossed);
    if (sb < 0) mul(straight, straight, ptr[rip + pairs(1, sb)]);
    fma(straight, im, ptr[rip + pairs(-sa * sb, sa)]);
  }
}

/// The lanes of the sums of some rows added up, scaled, and stored.
void contract_code::finish_packed_rows(const nest& n, std::int64_t first, std::int64_t rows, bool last) {
  const packed_tail& p = *n.packed;
  const int x = static_cast<int>(rows) + 1, places = x + 2;
  const bool ordered = number() == 16;
  if (!ordered) vmovups(Xbyak::Zmm(places), ptr[rip + joined_places_]);
  for (std::int64_t r = 0; r < rows; r += p.steps) {
    const std::int64_t some = std::min<std::int64_t>(p.steps, rows - r);
    join_packed(p, static_cast<int>(r), static_cast<int>(some), x);
    const Xbyak::Zmm sums(static_cast<int>(r));
    if (ordered) continue;
    if (number() == 4 && p.steps == 4) vpermps(sums, Xbyak::Zmm(places), sums);
    else vpermpd(sums, Xbyak::Zmm(places), sums);
  }
  if (alpha_ == factor::any) broadcast(x, 64, ptr[alpha_at_]);
  if (alpha_ == factor::minus_one) vmovups(Xbyak::Zmm(x), ptr[rip + pairs(-1, -1)]);
  if (alpha_ != factor::one)
    for (std::int64_t r = 0; r < rows; r += p.steps) mul(Xbyak::Zmm(static_cast<int>(r)), Xbyak::Zmm(static_cast<int>(r)), Xbyak::Zmm(x));
  if (beta_ == factor::any) broadcast(places, 64, ptr[beta_at_]);
  if (beta_ == factor::minus_one) vmovups(Xbyak::Zmm(places), ptr[rip + pairs(-1, -1)]);
  finish_packed(p, rows, p.c + first * n.row_c, n.row_c, last);
}

/// The lanes of each column added up: `steps` registers of sums become one, their rows still mixed.
void contract_code::join_packed(const packed_tail& p, int first, int rows, int spare) {
  const auto row = [&](int r) { return Xbyak::Zmm(first + (r < rows ? r : 0)); };
  const Xbyak::Zmm other(spare);
  const auto neighbours = [&](const Xbyak::Zmm& x, const Xbyak::Zmm& y) {  // x + what lies beside it, then y's
    if (number() == 4) vshufps(other, x, y, 0xdd), vshufps(x, x, y, 0x88);
    else if (number() == 8) vunpckhpd(other, x, y), vunpcklpd(x, x, y);
    else vshuff64x2(other, x, y, 0xdd), vshuff64x2(x, x, y, 0x88);
    add(x, x, other);
  };
  if (p.steps == 2) return neighbours(row(0), row(1));
  if (rows > 2) neighbours(row(2), row(3));
  neighbours(row(0), row(1));
  const Xbyak::Zmm x = row(0), y = row(2);
  if (number() != 8) return neighbours(x, y);
  vshuff64x2(other, x, y, 0xdd);
  vshuff64x2(x, x, y, 0x88);
  add(x, x, other);
}

/// Rows of c from joined registers, each with its slot; all of c is read before any of it is stored: see store().
void contract_code::finish_packed(const packed_tail& p, std::int64_t rows, std::int64_t c, std::int64_t row_c, bool last) {
  const lane_vector v = columns_of(p, sets_);
  const int spare = static_cast<int>(rows), beta = spare + 3;
  const auto to = [&](std::int64_t r) { return at(c_, c + r * row_c); };
  const auto extract = [&](const auto& target, std::int64_t r) {
    const Xbyak::Zmm joined(static_cast<int>(r / p.steps * p.steps));
    if (p.steps == 2) vextractf64x4(target, joined, 1);
    else vextractf32x4(target, joined, static_cast<std::uint8_t>(r % p.steps));
  };
  const bool direct = !reads_c() && !partial(v);  // stored from where it is
  for (std::int64_t r = rows; r-- > 0 && !direct;) {  // a joined register's first row last: its other rows are lost then
    const auto x = reg(static_cast<int>(r), v.width);
    if (r % p.steps) p.steps == 2 ? extract(Xbyak::Ymm(x.getIdx()), r) : extract(Xbyak::Xmm(x.getIdx()), r);
    if (!reads_c()) continue;
    if (partial(v)) load(spare, v, to(r));
    const Xbyak::Xmm old = reg(spare, v.width);
    const address from = to(r);
    const auto& y = partial(v) ? static_cast<const Xbyak::Operand&>(old) : from;
    beta_ == factor::one ? add(x, x, y) : fma(x, reg(beta, v.width), y);
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    if (direct && r % p.steps) extract(to(r), r);
    else store(static_cast<int>(r), v, c_, c + r * row_c, spare, reads_c() && last && r + 1 == rows);
  }
}

/// Constants behind the code: where lanes come from.
void contract_code::write_packed_places() {
  if (!packed_) return;
  const packed_tail& p = *packed_;
  const auto lanes = [&](int bytes, auto&& of) {
    for (int i = 0; i < 64 / bytes; ++i) bytes == 4 ? dd(static_cast<std::uint32_t>(of(i))) : dq(static_cast<std::uint64_t>(of(i)));
  };
  align(64);
  L(packed_places_);  // column j and step s from slot s; the last columns are the last of what was loaded
  const auto place = [&](int i) {
    if (p.alone) return i % p.steps * p.columns + std::min(i / p.steps, p.columns - 1);
    return i % p.steps * p.group + (i / p.steps + p.group - p.columns) % p.group;
  };
  if (number() == 16) lanes(8, [&](int i) { return 2 * place(i / 2) + i % 2; });
  else lanes(number(), place);
  L(joined_places_);  // slot r from the lanes of row r; not used for numbers of 16 bytes
  if (number() == 4 && p.steps == 4) lanes(4, [&](int i) { return i % 4 * 4 + i / 4; });
  else if (p.steps == 2) lanes(8, [&](int i) { return i % 4 * 2 + i / 4; });
  else lanes(8, [&](int i) { return i / 4 * 4 + i % 2 * 2 + i / 2 % 2; });
}

}  // namespace ricci::codegen
