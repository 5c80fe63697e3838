// Products of few columns whose rows of b lie one right behind the other: as the packed last columns of others, but one load has
// several rows of b, and long sums run in a loop.
#include <algorithm>

#include "codegen/contract_code.hpp"
#include "codegen/tile_cost.hpp"

namespace ricci::codegen {

using namespace Xbyak::util;

namespace {

constexpr std::int64_t most_written = 256, in_loop = 16;  // registers multiplied one after the other; about as many in a loop
constexpr std::int64_t most_sums = 128;                   // written one after the other in a group of rows

std::int64_t most_rows(int sets) { return sets == 2 ? most_complex_rows : most_packed_rows; }

/// No loop over rows, none over sums.
bool is_written(const nest& n, std::int64_t sets) { return n.rows * (n.packed->chunks + 1) * sets <= most_written; }

}  // namespace

/// In how many places lines are asked for.
std::int64_t contract_code::packed_shares(const nest& n) const {
  return is_written(n, sets_) ? (n.rows + most_rows(sets_) - 1) / most_rows(sets_) * n.packed->chunks : 0;
}

void contract_code::write_packed_alone(const nest& n) {
  for (const tile_run& r : runs_of(n.rows, most_rows(sets_))) {
    const bool looped = r.count > 1 && !is_written(n, sets_);
    if (looped) {
      const loops over{{r.count, r.size * n.row_a, 0, r.size * n.row_c}};
      in_loops(over, 1, [&] { write_rows_alone(n, r.first, r.size, true); });
      continue;
    }
    for (std::int64_t i = 0; i < r.count; ++i) {
      const std::int64_t first = r.first + i * r.size;
      write_rows_alone(n, first, r.size, first + r.size == n.rows);
    }
  }
}

/// Registers: the first strand's sums, b's and its exchanged parts, two for a's numbers, places, the other strands' sums.
void contract_code::write_rows_alone(const nest& n, std::int64_t first, std::int64_t rows, bool last) {
  const packed_tail& p = *n.packed;
  const int sums = static_cast<int>(sets_ * rows), x = sums + sets_, places = x + 2, more = places + 1;
  const auto strands = static_cast<int>(strands_of(sums, p.chunks, 32 - more));
  const auto first_sum = [&](int strand) { return strand == 0 ? 0 : more + (strand - 1) * sums; };
  const bool written = rows * (p.chunks + 1) * sets_ <= most_sums || is_written(n, sets_), fresh = strands == 1 && written;
  vmovups(Xbyak::Zmm(places), ptr[rip + packed_places_]);
  for (int strand = 0; strand < strands && !fresh; ++strand)
    for (int i = 0; i < sums; ++i) clear(first_sum(strand) + i, 64);

  const reg64 a = r10, b = r11;
  lea(a, at(a_, first * n.row_a));
  lea(b, at(b_, p.b));
  const auto chunk = [&](std::int64_t i, bool whole) {
    load_packed_alone(p, sums, places, at(b, i * p.steps * n.k_b), p.steps, whole);
    for (std::int64_t r = 0; r < rows; ++r) {
      const Xbyak::Zmm element(x + static_cast<int>(r % 2));
      spread_packed(p, element, at(a, r * n.row_a + i * p.steps * number()));
      multiply_packed(first_sum(static_cast<int>(i % strands)), rows, r, element, fresh && i == 0);
    }
    fetch_share();
  };
  std::int64_t left = p.chunks;
  const std::int64_t unroll = strands * std::max<std::int64_t>(1, in_loop / (sums * strands)), rounds = written ? 0 : (p.chunks - 1) / unroll;
  if (rounds > 0) {
    Xbyak::Label top;
    mov(eax, static_cast<std::uint32_t>(rounds));
    align(16);
    L(top);
    for (std::int64_t i = 0; i < unroll; ++i) chunk(i, true);
    Xbyak::CodeGenerator::add(a, static_cast<int>(unroll * p.steps * number()));
    Xbyak::CodeGenerator::add(b, static_cast<int>(unroll * p.steps * n.k_b));
    dec(eax);
    jnz(top, T_NEAR);
    left -= rounds * unroll;
  }
  for (std::int64_t i = 0; i < left; ++i) chunk(i, i + 1 < left);
  if (p.rest) {
    load_packed_alone(p, sums, places, at(b, left * p.steps * n.k_b), p.rest, false);
    add_packed_rest(p, rows, a, left * p.steps * number());
  }
  add_strands(strands, sums, [&](int strand, int i) { return Xbyak::Zmm(first_sum(strand) + i); });
  if (sets_ == 2) join_parts(rows, x);
  finish_packed_rows(n, first, rows, last);
}

/// Some rows of b, each number in its lane. whole: there are 64 bytes of b; else nothing behind the rows is read.
void contract_code::load_packed_alone(const packed_tail& p, int to, int places, const address& from, std::int64_t steps, bool whole) {
  if (whole) vmovups(Xbyak::Zmm(to), from);
  else load(to, {0, 0, static_cast<int>(steps * p.columns * sets_), 64}, from);
  permute_packed(to, places);
  if (sets_ == 2) swap_pairs(Xbyak::Zmm(to + 1), Xbyak::Zmm(to));
}

}  // namespace ricci::codegen
