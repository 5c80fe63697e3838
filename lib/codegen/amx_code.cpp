// The code of products in tile registers.
#include "codegen/amx_code.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#if defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace ricci::codegen {

using namespace Xbyak::util;

namespace {

constexpr std::int64_t side = 16;      // rows, columns and pairs of a tile
constexpr std::int64_t most_side = 64;  // four tiles of sums
constexpr std::int64_t most_vectors = 96, most_group = 8;  // of sums that a group of problems has together
constexpr std::size_t most_loops = 6;
constexpr std::int64_t page = 4096, most_step = std::int64_t{1} << 26;

const Xbyak::Reg64 counter[most_loops] = {rbx, rbp, r12, r13, r14, r15};

bool ask_for_tiles() {
#if defined(__linux__) && defined(SYS_arch_prctl)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d >> 22 & 1) || !(d >> 24 & 1)) return false;
  constexpr int request_permission = 0x1023, tile_data = 18;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
  return false;
#endif
}

}  // namespace

bool has_tile_registers() {
  static const bool found = ask_for_tiles();
  return found;
}

bool in_tile_registers(const request& r, target t) {
  const kernels::contract_args& x = r.args;
  if (r.tiles == tile_use::never || t != target::avx512 || r.lanes != kernels::lanes::n || r.type != dtype::f32) return false;
  const bool halves = r.type_a == dtype::f16;
  if ((r.type_a != dtype::bf16 && !halves) || r.type_b != r.type_a || (r.type_c != r.type_a && r.type_c != dtype::f32)) return false;
  if (x.col.extent != 1 || x.k_outer != 1 || x.k_a != 1 || r.alpha == factor::tensor) return false;
  if (std::max({x.row.extent, x.lane_extent, x.k}) > most_side || static_cast<std::size_t>(x.loop_count) > most_loops) return false;
  constexpr std::int64_t most_offset = std::int64_t{1} << 30;
  std::int64_t reach = std::max({x.row.extent * std::abs(x.row.a), x.k * std::abs(x.k_b), x.row.extent * std::abs(x.row.c)});
  for (int i = 0; i < x.loop_count; ++i)
    for (const std::int64_t s : {x.loops[i].a, x.loops[i].b, x.loops[i].c})
      reach = std::max({reach, std::abs(s) * x.loops[i].extent, x.loops[i].extent});
  if (reach > most_offset / 8) return false;
  std::int64_t all = x.row.extent * x.lane_extent * x.k;
  // Rows of scratch that share lines with their neighbours are slow to load as tiles.
  const bool whole = x.k % side == 0 && x.lane_extent % side == 0;
  const bool large = halves ? all >= least_split_work && whole : all >= least_tile_work;
  for (int i = 0; i < x.loop_count; ++i) all *= x.loops[i].extent;
  return (has_tile_registers() && large && all >= least_tile_call) || r.tiles == tile_use::always;
}

amx_code::amx_code(const request& r, std::shared_ptr<const kernel> slow)
    : vector_code(4096, target::avx512, true), request_(r), slow_(std::move(slow)), split_(r.type_a == dtype::f16),
      rows_(r.args.row.extent), lanes_(r.args.lane_extent), pairs_(split_ ? r.args.k : (r.args.k + 1) / 2),
      odd_(!split_ && r.args.k % 2), parts_(split_ ? 2 : 1), blocks_((lanes_ + side - 1) / side),
      row_tiles_((rows_ + side - 1) / side), tile_rows_((rows_ + row_tiles_ - 1) / row_tiles_), whole_(pairs_ / side),
      rest_(pairs_ % side), row_b_(split_ ? 4 * lanes_ : 64), size_b_(split_ ? pairs_ * row_b_ : blocks_ * pairs_ * 64),
      size_a_(split_ ? rows_ * pairs_ * 4 : odd_ ? rows_ * padded_a() : 0) {
  group_ = r.args.loop_count ? std::clamp<std::int64_t>(most_vectors / (rows_ * blocks_), 1, std::min(most_group, r.args.loops[0].extent)) : 1;
  if (std::max({std::abs(step_a()), std::abs(step_b()), std::abs(step_c())}) > most_step) group_ = 1;
  for (const reg64& x : counter) push(x);
  const std::int64_t frame = scratch_end() + 64;
  for (std::int64_t at = page; at < frame + page; at += page) test(ptr[rsp - static_cast<int>(at)], eax);
  mov(rax, rsp);
  sub(rsp, static_cast<int>(frame + 64));
  and_(rsp, -64);
  mov(qword[rsp + static_cast<int>(scratch_end())], rax);
  use_masks({columns(blocks_ - 1)});
  if (split_)
    for (const std::int64_t times : {std::int64_t{1}, group_, r.args.loop_count ? r.args.loops[0].extent % group_ : 0}) use_split_masks(times);
  set_registers();
  ldtilecfg(ptr[rip + shapes_]);
  const auto loops = static_cast<std::size_t>(r.args.loop_count);
  if (r.beta == factor::any) {  // a beta of zero is found out here, so that c is not read
    Xbyak::Label zero, done;
    mov(eax, dword[beta_at_]);
    lea(eax, ptr[rax + rax]);
    test(eax, eax);
    jz(zero, T_NEAR);
    write_loops(loops, factor::any);
    jmp(done, T_NEAR);
    L(zero);
    write_loops(loops, factor::zero);
    L(done);
  } else {
    write_loops(loops, r.beta);
  }
  tilerelease();
  vzeroupper();
  mov(rsp, qword[rsp + static_cast<int>(scratch_end())]);
  for (std::size_t i = most_loops; i-- > 0;) pop(counter[i]);
  ret();
  write_constants();
  write_places();
}

/// Where words go when two registers become pairs, and the shapes of the tiles.
void amx_code::write_places() {
  align(64);
  L(places_);  // pairs of words of two registers of 32 bytes
  for (int i = 0; i < 32; ++i) dw(static_cast<std::uint16_t>(i / 2 + i % 2 * 32));
  L(shapes_);
  std::uint8_t shape[64] = {1};
  const auto tile = [&](int i, std::int64_t rows, std::int64_t bytes) {
    if (rows == 0 || bytes == 0) return;
    shape[16 + 2 * i] = static_cast<std::uint8_t>(bytes), shape[48 + i] = static_cast<std::uint8_t>(rows);
  };
  for (int i = 0; i < 4; ++i) tile(i, tile_rows_, 64);
  if (whole_) tile(4, tile_rows_, 64), tile(6, side, 64);
  tile(5, tile_rows_, 4 * rest_), tile(7, rest_, 64);
  for (const std::uint8_t x : shape) db(x);
}

/// What stays in registers all the time.
void amx_code::set_registers() {
  if (odd_)
    if (const int rest = static_cast<int>(request_.args.k % 32); rest) mov(eax, (1u << rest) - 1), kmovd(k6, eax);
  if (split_) {
    restore_masks();
    vmovups(zmm31, ptr[rip + words(0xffff0000)]);
    vpxord(zmm28, zmm28, zmm28);
  } else {
    vmovdqu32(zmm31, ptr[rip + places_]);
  }
}

/// Columns of a block as c's type knows them.
lane_vector amx_code::columns(std::int64_t block) const {
  return {block * side * 2, block * side * size_c(), static_cast<int>(std::min(side, lanes_ - block * side)), 64};
}

void amx_code::write_loops(std::size_t left, factor beta) {
  if (left == 0) return write_group(1, beta);
  const auto& l = request_.args.loops[left - 1];
  const auto step = [&](std::int64_t times) {
    const std::pair<reg64, std::int64_t> moves[] = {{a_, l.a * 2}, {b_, l.b * 2}, {c_, l.c * size_c()}};
    for (const auto& [p, s] : moves)
      if (s != 0) Xbyak::CodeGenerator::add(p, static_cast<int>(s * times));
  };
  if (l.extent == 1) return write_loops(left - 1, beta);
  const std::int64_t each = left == 1 ? group_ : 1, times = l.extent / each, rest = l.extent % each;
  const reg64& n = counter[left - 1];
  Xbyak::Label top;
  if (times > 1) {
    mov(n.cvt32(), static_cast<std::uint32_t>(times));
    align(16);
    L(top);
  }
  left == 1 ? write_group(each, beta) : write_loops(left - 1, beta);
  step(each);
  if (times > 1) dec(n.cvt32()), jnz(top, T_NEAR);
  if (rest) write_group(rest, beta);
  step(-times * each);
}

void amx_code::write_group(std::int64_t times, factor beta) {
  if (split_) split(true, times), split(false, times);
  mov(stride_, split_ ? 4 * pairs_ : odd_ ? padded_a() : request_.args.row.a * 2);
  mov(line_.cvt32(), 64);
  mov(stride_b_.cvt32(), static_cast<std::uint32_t>(row_b_));
  for (std::int64_t p = 0; p < times && !split_; ++p) {
    pair_rows(p);
    if (odd_) pad_rows(p);
  }
  for (std::int64_t p = 0; p < times; ++p) multiply(p);
  for (std::int64_t p = 0; p < times; ++p) split_ ? write_checked(p, beta) : finish(p, beta);
}

/// b's rows 2p and 2p + 1 side by side, line p of a block of columns.
void amx_code::pair_rows(std::int64_t problem) {
  const std::int64_t row = request_.args.k_b * 2, from = problem * step_b();
  int next = 0;
  for (std::int64_t p = 0; p < pairs_; ++p)
    for (std::int64_t j = 0; j < blocks_; ++j) {
      const lane_vector v = columns(j);
      const int x = next % 8 * 2;
      ++next;
      const auto load_row = [&](int i, std::int64_t k) {
        partial(v) ? vmovdqu16(Xbyak::Ymm(i) | mask(v) | T_z, at(b_, from + k * row + v.b)) : vmovups(Xbyak::Ymm(i), at(b_, from + k * row + v.b));
      };
      const address to = ptr[rsp + static_cast<int>(b_at(problem, 0) + (j * pairs_ + p) * 64)];
      if (odd_ && p + 1 == pairs_) {
        partial(v) ? vpmovzxwd(Xbyak::Zmm(x) | mask(v) | T_z, at(b_, from + 2 * p * row + v.b)) : vpmovzxwd(Xbyak::Zmm(x), at(b_, from + 2 * p * row + v.b));
      } else {
        load_row(x, 2 * p);
        load_row(x + 1, 2 * p + 1);
        vpermt2w(Xbyak::Zmm(x), zmm31, Xbyak::Zmm(x + 1));
      }
      vmovups(to, Xbyak::Zmm(x));
    }
}

/// a's rows with a zero behind an odd number of elements.
void amx_code::pad_rows(std::int64_t p) {
  const std::int64_t k = request_.args.k;
  for (std::int64_t r = 0; r < rows_; ++r)
    for (std::int64_t at_k = 0; at_k < k; at_k += 32) {
      const Xbyak::Zmm x(static_cast<int>((2 * r + at_k / 32) % 16));
      const address from = at(a_, p * step_a() + (r * request_.args.row.a + at_k) * 2);
      k - at_k < 32 ? vmovdqu16(x | k6 | T_z, from) : vmovdqu16(x, from);
      vmovups(ptr[rsp + static_cast<int>(a_at(p) + r * padded_a() + at_k * 2)], x);
    }
}

void amx_code::multiply(std::int64_t p) {
  for (std::int64_t i = 0; i < row_tiles_; ++i) {
    const std::int64_t first = std::min(i * tile_rows_, rows_ - tile_rows_);
    for (std::int64_t j = 0; j < blocks_; ++j) tilezero(Xbyak::Tmm(static_cast<int>(j)));
    for (std::int64_t d = 0; d < whole_; ++d) multiply_tile(p, first, d, false);
    if (rest_) multiply_tile(p, first, whole_, true);
    for (std::int64_t j = 0; j < blocks_; ++j)
      tilestored(ptr[rsp + line_ + static_cast<int>(sums_at(p) + (j * rows_ + first) * 64)], Xbyak::Tmm(static_cast<int>(j)));
  }
}

/// One tile of a, `depth` tiles along the summed index, by all columns.
void amx_code::multiply_tile(std::int64_t p, std::int64_t first, std::int64_t depth, bool rest) {
  const Xbyak::Tmm a(rest ? 5 : 4), b(rest ? 7 : 6);
  const std::int64_t from = depth * 64 + (split_ ? first * 4 * pairs_ : odd_ ? first * padded_a() : first * request_.args.row.a * 2);
  if (split_ || odd_) tileloadd(a, ptr[rsp + stride_ + static_cast<int>(a_at(p) + from)]);
  else tileloadd(a, ptr[a_ + stride_ + static_cast<int>(p * step_a() + from)]);
  for (std::int64_t j = 0; j < blocks_; ++j)
    for (int part = 0; part < parts_; ++part) {
      const std::int64_t at = split_ ? depth * side * row_b_ + j * 64 : (j * pairs_ + depth * side) * 64;
      tileloadd(b, ptr[rsp + stride_b_ + static_cast<int>(b_at(p, part) + at)]);
      tdpbf16ps(Xbyak::Tmm(static_cast<int>(j)), a, b);
    }
}

/// c = beta c + alpha sums.
void amx_code::finish(std::int64_t p, factor beta) {
  constexpr int scales = 29, olds = 30;
  if (request_.alpha == factor::any) vbroadcastss(Xbyak::Zmm(scales), ptr[alpha_at_]);
  if (request_.alpha == factor::minus_one) vmovups(Xbyak::Zmm(scales), ptr[rip + pairs(-1, -1)]);
  if (beta == factor::any) vbroadcastss(Xbyak::Zmm(olds), ptr[beta_at_]);
  if (beta == factor::minus_one) vmovups(Xbyak::Zmm(olds), ptr[rip + pairs(-1, -1)]);
  const bool narrow = request_.type_c != dtype::f32;
  const std::int64_t row = request_.args.row.c * size_c(), from = p * step_c();
  // Some rows are read before they are stored: a load that touches the idle lanes of a masked store has to wait for it.
  constexpr std::int64_t together = 8;
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  for (std::int64_t r = 0; r < rows_; ++r)
    for (std::int64_t j = 0; j < blocks_; ++j) all.push_back({r, j});
  for (std::size_t first = 0; first < all.size(); first += together) {
    const std::size_t end = std::min(all.size(), first + together);
    for (std::size_t i = first; i < end; ++i) {
      const auto [r, j] = all[i];
      const lane_vector v = columns(j);
      const int x = static_cast<int>(i - first), old = x + together;
      const Xbyak::Zmm sum(x);
      vmovups(sum, ptr[rsp + static_cast<int>(sums_at(p) + (j * rows_ + r) * 64)]);
      if (request_.alpha != factor::one) mul(sum, sum, Xbyak::Zmm(scales));
      if (beta == factor::zero) continue;
      narrow ? load_narrow(old, v, at(c_, from + r * row + v.c), request_.type_c) : load(old, v, at(c_, from + r * row + v.c));
      if (beta == factor::one) add(sum, sum, Xbyak::Zmm(old));
      else fma(sum, Xbyak::Zmm(old), Xbyak::Zmm(olds));
    }
    for (std::size_t i = first; i < end; ++i) {
      const auto [r, j] = all[i];
      const lane_vector v = columns(j);
      const int x = static_cast<int>(i - first);
      const bool exact = beta != factor::zero && i + 1 == all.size();
      if (narrow) store_narrow(x, v, at(c_, from + r * row + v.c), x + together, request_.type_c, exact);
      else store(x, v, c_, from + r * row + v.c, x + together, exact);
    }
  }
}

}  // namespace ricci::codegen
