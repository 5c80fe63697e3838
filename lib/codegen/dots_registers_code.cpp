// Registers of segments: how they are loaded, added up and stored.
#include "codegen/dots_registers.hpp"

#include <algorithm>

namespace ricci::codegen {

using namespace Xbyak::util;

namespace {

// AVX-512's masks: of a piece or of the first segment, then of the others; of all segments; of what is made on the way.
const Xbyak::Opmask segment_masks[] = {Xbyak::Opmask(1), Xbyak::Opmask(2), Xbyak::Opmask(3), Xbyak::Opmask(4)};
const Xbyak::Opmask all_segments(5), some_lanes(7);

constexpr int triple_places = 8;  // AVX-512: six registers

}  // namespace

dots_registers::dots_registers(const request& r, const dots& d, target t)
    : vector_code(4096, t, r.type == dtype::f32), request_(r), d_(d),
      n_(t == target::avx512 ? numbers{6, 7, 8, 8, 24, 25, 26, 16} : numbers{4, 5, 6, 6, 12, 13, 14, 6}), natural_(is_natural(r, d)) {
  set_masks();
  if (r.alpha == factor::any) broadcast(n_.alpha, full(), ptr[rcx]);
  if (r.alpha == factor::minus_one) vmovups(v(n_.alpha), ptr[rip + pairs(-1, -1)]);
  if (natural_ && (wide() || single())) vmovups(v(n_.places), ptr[rip + places_]);
  for (int i = 0; wide() && d.triples && i < 6; ++i) vmovups(v(triple_places + i), ptr[rip + triple_places_[i]]);
}

bool dots_registers::is_natural(const request& r, const dots& d) {
  const bool whole = d.pieces.size() == 1 && d.pieces[0].count == d.segment && d.segments() > 1;
  return whole && (r.args.ones_a || d.is_even(&dots::axis::a)) && d.is_even(&dots::axis::b);
}

void dots_registers::set_masks() {
  const std::int64_t last = d_.pieces.back().count;
  if (!wide()) {
    keep_mask(own_mask);
    return load_mask({0, 0, static_cast<int>(last), full()});
  }
  const auto one = (std::uint64_t{1} << last) - 1;
  std::uint64_t all = 0;
  for (int i = 0; i < d_.segments(); ++i) all |= one << i * d_.segment;
  for (int i = 0; i < std::min(d_.segments(), 4); ++i) set_mask(segment_masks[i], one << i * d_.segment);
  set_mask(all_segments, all);
}

void dots_registers::set_mask(const Xbyak::Opmask& m, std::uint64_t lanes) {
  mov(eax, static_cast<std::uint32_t>(lanes));
  kmovw(m, eax);
}

/// Where lanes come from.
void dots_registers::write_places() {
  const auto list = [&](Xbyak::Label& label, const auto& of) {
    align(64);
    L(label);
    for (int lane = 0; lane < d_.lanes; ++lane) single() ? dd(static_cast<std::uint32_t>(of(lane))) : dq(static_cast<std::uint64_t>(of(lane)));
  };
  if (natural_) list(places_, [lanes = lanes_of_slots()](int lane) { return lanes[static_cast<std::size_t>(lane)]; });
  if (!d_.triples) return;
  const int n = d_.lanes;
  for (int i = 0; i < 3; ++i) {
    list(spread_places_[i], [&](int lane) { return (i * n + lane) % 3; });
    if (!wide()) continue;
    list(triple_places_[2 * i], [&](int lane) { return std::min(3 * lane + i, 2 * n - 1); });  // from the first and the second register
    list(triple_places_[2 * i + 1], [&](int lane) { return 3 * lane + i < 2 * n ? lane : 3 * lane + i - n; });  // from these and the third
  }
}

std::vector<int> dots_registers::lanes_of_slots() const {
  const int n = d_.lanes, part = 16 / d_.real;
  std::vector<std::vector<int>> registers;
  for (int r = 0; r < d_.segment; ++r) {
    registers.emplace_back();
    for (int l = 0; l < n; ++l) registers.back().push_back(r * d_.segments() + l / d_.segment);
  }
  for (int step = 1; registers.size() > 1; step *= 2) {
    std::vector<std::vector<int>> fewer;
    for (std::size_t r = 0; r < registers.size(); r += 2) {
      std::vector<int> to(static_cast<std::size_t>(n));
      const std::vector<int>&x = registers[r], &y = registers[r + 1];
      // Every other number of x, then of y: within 16 bytes as long as a segment has several there, else of runs of 16 bytes.
      const int run = step < part ? 1 : part, within = step < part ? part : n;
      for (int at = 0; at < n; at += within)
        for (int i = 0; i < within / 2; ++i) {
          const auto from = static_cast<std::size_t>(at + i / run * 2 * run + i % run);
          to[static_cast<std::size_t>(at + i)] = x[from], to[static_cast<std::size_t>(at + within / 2 + i)] = y[from];
        }
      fewer.push_back(to);
    }
    registers = std::move(fewer);
  }
  std::vector<int> lanes(static_cast<std::size_t>(n));
  for (int l = 0; l < n; ++l) lanes[static_cast<std::size_t>(registers[0][static_cast<std::size_t>(l)])] = l;
  return lanes;
}

void dots_registers::load_some(int to, std::int64_t count, const address& from) {
  if (count == d_.lanes) return vmovups(v(to), from);
  if (wide()) {
    set_mask(some_lanes, (std::uint64_t{1} << count) - 1);
    return move(v(to) | some_lanes | T_z, from);
  }
  const lane_vector x{0, 0, static_cast<int>(count), count * d_.real <= 16 ? 16 : 32};
  const bool own = count == d_.pieces.back().count;
  keep_mask(own ? own_mask : to);
  if (!own) load_mask(x);
  load(to, x, from);
}

void dots_registers::multiply_piece(int to, int x, const address& from, std::int64_t count, bool first) {
  const Xbyak::Xmm sum = v(to);
  if (!is_partial(count)) return first ? mul(sum, v(x), from) : fma(sum, v(x), from);
  if (wide()) return first ? mul(sum | segment_masks[0] | T_z, v(x), from) : fma(sum | segment_masks[0], v(x), from);
  load_some(n_.spare, count, from);
  first ? mul(sum, v(x), v(n_.spare)) : fma(sum, v(x), v(n_.spare));
}

void dots_registers::add_piece(int to, const address& from, std::int64_t count) {
  if (!is_partial(count)) return add(v(to), v(to), from);
  if (wide()) return add(v(to) | segment_masks[0], v(to), from);
  load_some(n_.spare, count, from);
  add(v(to), v(to), v(n_.spare));
}

bool dots_registers::is_one_load(const std::vector<std::int64_t>& offsets) const {
  if (d_.segments() == 1) return true;
  if (offsets.back() == unused || d_.pieces[0].count < d_.segment) return false;
  for (std::size_t i = 1; i < offsets.size(); ++i)
    if (offsets[i] != offsets[i - 1] + d_.segment * d_.real) return false;
  return true;
}

void dots_registers::load_piece(int to, const reg64& base, const std::vector<std::int64_t>& offsets, std::int64_t more, std::int64_t count) {
  if (!is_one_load(offsets)) return load_segments(to, base, offsets);
  const address from = at(base, offsets[0] + more);
  if (!is_partial(count)) return vmovups(v(to), from);
  if (wide()) return move(v(to) | segment_masks[0] | T_z, from);
  load_some(to, count, from);
}

void dots_registers::load_segments(int to, const reg64& base, const std::vector<std::int64_t>& offsets) {
  const Xbyak::Xmm x = v(to);
  const auto spread = [&](const Xbyak::Xmm& y, const address& from) {
    switch (d_.segment * d_.real) {
      case 8: return wide() ? vbroadcastf32x2(static_cast<const Xbyak::Zmm&>(y), from) : vbroadcastsd(static_cast<const Xbyak::Ymm&>(y), from);
      case 16:
        if (!wide()) return vbroadcastf128(static_cast<const Xbyak::Ymm&>(y), from);
        return single() ? vbroadcastf32x4(static_cast<const Xbyak::Zmm&>(y), from) : vbroadcastf64x2(static_cast<const Xbyak::Zmm&>(y), from);
      default: return single() ? vbroadcastf32x8(static_cast<const Xbyak::Zmm&>(y), from) : vbroadcastf64x4(static_cast<const Xbyak::Zmm&>(y), from);
    }
  };
  const bool whole = d_.pieces[0].count == d_.segment;
  const std::size_t first = static_cast<std::size_t>(std::find_if(offsets.begin(), offsets.end(), [](std::int64_t o) { return o != unused; }) - offsets.begin());
  const address from = at(base, offsets[first]);
  if (std::all_of(offsets.begin(), offsets.end(), [&](std::int64_t o) { return o == unused || o == offsets[first]; })) {
    if (whole) return spread(x, from);
    if (wide()) return spread(x | all_segments | T_z, from);
    load_some(to, d_.pieces[0].count, from);
    return vinsertf128(Xbyak::Ymm(to), Xbyak::Ymm(to), Xbyak::Xmm(to), 1);
  }
  if (natural_) {  // the first segments, one right behind the other
    const auto used = std::count_if(offsets.begin(), offsets.end(), [](std::int64_t o) { return o != unused; });
    return load_some(to, used * d_.segment, from);
  }
  if (!wide()) return load_halves(to, base, offsets);
  if (first > 0) spread(x | segment_masks[first] | T_z, from);
  else move(x | segment_masks[0] | T_z, from);
  for (std::size_t i = first + 1; i < offsets.size(); ++i)
    if (offsets[i] != unused) spread(x | segment_masks[i], at(base, offsets[i]));
}

/// AVX2: 16 bytes at a time.
void dots_registers::load_halves(int to, const reg64& base, const std::vector<std::int64_t>& offsets) {
  const std::size_t half = offsets.size() / 2;
  load_half(to, base, offsets.data());
  const Xbyak::Ymm x(to);
  if (half == 1 && offsets[1] == unused) return;
  if (half == 1 && d_.pieces[0].count == d_.segment) return vinsertf128(x, x, at(base, offsets[1]), 1);
  load_half(n_.crossed, base, offsets.data() + half);
  vinsertf128(x, x, Xbyak::Xmm(n_.crossed), 1);
}

void dots_registers::load_half(int to, const reg64& base, const std::int64_t* offsets) {
  const Xbyak::Xmm x(to);
  const bool two = d_.segment * d_.real == 8;
  if (offsets[0] == unused) vxorps(x, x, x);
  else if (two) vmovsd(x, at(base, offsets[0]));
  else load_some(to, d_.pieces[0].count, at(base, offsets[0]));
  if (two && offsets[1] != unused) vmovhps(x, x, at(base, offsets[1]));
}

void dots_registers::spread_triple(const address& from) {
  load_some(n_.spare, 3, from);
  for (int i = 0; i < 3; ++i) {
    const auto place = [&](int lane) { return (i * d_.lanes + lane) % 3; };
    if (!wide() && !single()) {
      vpermpd(Xbyak::Ymm(n_.triple + i), Xbyak::Ymm(n_.spare), static_cast<std::uint8_t>(place(0) | place(1) << 2 | place(2) << 4 | place(3) << 6));
      continue;
    }
    vmovups(v(n_.crossed), ptr[rip + spread_places_[i]]);
    permute(n_.triple + i, n_.crossed, n_.spare);
  }
}

void dots_registers::permute(int to, int places, int from) {
  if (!wide()) vpermps(Xbyak::Ymm(to), Xbyak::Ymm(places), Xbyak::Ymm(from));
  else if (single()) vpermps(Xbyak::Zmm(to), Xbyak::Zmm(places), Xbyak::Zmm(from));
  else vpermpd(Xbyak::Zmm(to), Xbyak::Zmm(places), Xbyak::Zmm(from));
}

void dots_registers::collect_triples() {
  if (!wide()) return collect_halves();
  for (int i = 0; i < 3; ++i) {
    const Xbyak::Zmm one(3 + i);
    vmovaps(one, Xbyak::Zmm(0));
    for (int k = 0; k < 2; ++k) {
      const Xbyak::Zmm places(triple_places + 2 * i + k), others(1 + k);
      single() ? vpermt2ps(one, places, others) : vpermt2pd(one, places, others);
    }
  }
  add(v(0), v(3), v(4));
  add(v(0), v(0), v(5));
}

/// AVX2: halves are exchanged so that what belongs together lies within 16 bytes, where each number of a triple is collected. Source: the
/// deinterleaving of threes known from vectors of three coordinates.
void dots_registers::collect_halves() {
  using Xbyak::Ymm;
  vblendps(Ymm(3), Ymm(0), Ymm(1), 0xf0);
  vperm2f128(Ymm(4), Ymm(0), Ymm(2), 0x21);
  vblendps(Ymm(5), Ymm(1), Ymm(2), 0xf0);
  if (single()) {
    vshufps(Ymm(0), Ymm(4), Ymm(5), 0x9e);  // x2 y2 x3 y3
    vshufps(Ymm(1), Ymm(3), Ymm(4), 0x49);  // y0 z0 y1 z1
    vshufps(Ymm(2), Ymm(3), Ymm(0), 0x8c);
    vshufps(Ymm(0), Ymm(1), Ymm(0), 0xd8);
    vshufps(Ymm(1), Ymm(1), Ymm(5), 0xcd);
  } else {
    vshufpd(Ymm(2), Ymm(3), Ymm(4), 0xa);
    vshufpd(Ymm(0), Ymm(3), Ymm(5), 0x5);
    vshufpd(Ymm(1), Ymm(4), Ymm(5), 0xa);
  }
  add(Ymm(0), Ymm(0), Ymm(2));
  add(Ymm(0), Ymm(0), Ymm(1));
}

void dots_registers::join(int to, int x, int y, std::size_t registers) {
  const Xbyak::Xmm sum = v(to), low = v(x), high = v(y), other = v(n_.crossed);
  const bool whole_parts = static_cast<int>(registers) > 16 / d_.real;
  const auto pick = [&](const Xbyak::Xmm& z, bool odd) {
    using Xbyak::Ymm, Xbyak::Zmm;
    if (whole_parts && wide()) vshuff64x2(Zmm(z.getIdx()), Zmm(x), Zmm(y), odd ? 0xdd : 0x88);
    else if (whole_parts) vperm2f128(Ymm(z.getIdx()), Ymm(x), Ymm(y), odd ? 0x31 : 0x20);
    else if (single()) vshufps(z, low, high, odd ? 0xdd : 0x88);
    else odd ? vunpckhpd(z, low, high) : vunpcklpd(z, low, high);
  };
  pick(other, true), pick(sum, false);
  add(sum, sum, other);
}

void dots_registers::finish(int sums, const reg64& base, std::int64_t offset, std::int64_t count, factor beta) {
  const Xbyak::Xmm x = v(sums), old = v(n_.crossed);
  if (natural_ && !wide() && !single()) {
    int places = 0;
    const std::vector<int> lanes = lanes_of_slots();
    for (int lane = 0; lane < 4; ++lane) places |= lanes[static_cast<std::size_t>(lane)] << 2 * lane;
    vpermpd(Xbyak::Ymm(sums), Xbyak::Ymm(sums), static_cast<std::uint8_t>(places));
  } else if (natural_) {
    permute(sums, n_.places, sums);
  }
  if (request_.alpha != factor::one) mul(x, x, v(n_.alpha));
  const address c = at(base, offset);
  if (beta != factor::zero) {
    load_some(n_.crossed, count, c);
    if (beta == factor::any) fma(x, old, v(n_.beta));
    else if (beta == factor::one) add(x, x, old);
    else single() ? vsubps(x, x, old) : vsubpd(x, x, old);
  }
  if (count == d_.lanes) return vmovups(c, x);
  if (!wide()) return store(sums, {0, 0, static_cast<int>(count), count * d_.real <= 16 ? 16 : 32}, base, offset, n_.spare, true);
  set_mask(some_lanes, (std::uint64_t{1} << count) - 1);
  single() ? vmovups(c | some_lanes, x) : vmovupd(c | some_lanes, x);
}

}  // namespace ricci::codegen
