// Writes many short dot products whose results are neighbours.
#include "codegen/dots_code.hpp"

#include <algorithm>
#include <set>

namespace ricci::codegen {

using namespace Xbyak::util;

namespace {

constexpr std::int64_t ask_distance = 1024;                 // bytes
constexpr std::int64_t unused = std::int64_t{1} << 62;  // an offset that is none

// Registers: sums from 0 on, one more for each level of the tree.
constexpr int spare = 6, crossed = 7, kept_first = 8, kept_count = 8, alpha_register = 24, beta_register = 25, places_register = 26;
constexpr int triple_places = 8, triple_factor = 16;  // six registers, three registers
// Masks: of a piece or of the first segment, then of the others; of all segments; of what is made on the way.
const Xbyak::Opmask segment_masks[] = {Xbyak::Opmask(1), Xbyak::Opmask(2), Xbyak::Opmask(3), Xbyak::Opmask(4)};
const Xbyak::Opmask all_segments(5), some_results(6), some_segments(7);

const Xbyak::Reg64 loop_counters[most_dot_loops] = {r9, r11, r8, rcx};

}  // namespace

dots_code::dots_code(const request& r, const dots& d) : vector_code(4096, target::avx512, r.type == dtype::f32), request_(r), d_(d) {
  const bool whole = d.pieces.size() == 1 && d.pieces[0].count == d.segment && d.segments() > 1;
  natural_ = whole && (r.args.ones_a || d.is_even(&dots::axis::a)) && d.is_even(&dots::axis::b);
  const std::int64_t last = d.pieces.back().count;
  const auto one = (std::uint64_t{1} << last) - 1;
  std::uint64_t all = 0;
  for (int i = 0; i < d.segments(); ++i) all |= one << i * d.segment;
  for (int i = 0; i < std::min(d.segments(), 4); ++i) set_mask(segment_masks[i], one << i * d.segment);
  set_mask(all_segments, all);
  if (r.alpha == factor::any) broadcast(alpha_register, 64, ptr[rcx]);
  if (r.alpha == factor::minus_one) vmovups(Xbyak::Zmm(alpha_register), ptr[rip + pairs(-1, -1)]);
  if (natural_) vmovups(Xbyak::Zmm(places_register), ptr[rip + places_]);
  if (d.triples) use_triples();
  if (r.beta == factor::any) {
    Xbyak::Label zero, done;
    broadcast(beta_register, 64, ptr[r8]);
    if (single()) mov(eax, dword[r8]), Xbyak::CodeGenerator::add(eax, eax);
    else mov(rax, qword[r8]), Xbyak::CodeGenerator::add(rax, rax);
    jz(zero, T_NEAR);
    write_loops(d.loops.size(), factor::any);
    jmp(done, T_NEAR);
    L(zero);
    write_loops(d.loops.size(), factor::zero);
    L(done);
  } else {
    write_loops(d.loops.size(), r.beta);
  }
  vzeroupper();
  ret();
  write_places();
  write_constants();
}

/// Constants behind the code: where lanes come from.
void dots_code::write_places() {
  const auto list = [&](Xbyak::Label& label, const auto& of) {
    align(64);
    L(label);
    for (int lane = 0; lane < d_.lanes; ++lane) single() ? dd(static_cast<std::uint32_t>(of(lane))) : dq(static_cast<std::uint64_t>(of(lane)));
  };
  if (natural_) list(places_, [lanes = lanes_of_slots()](int lane) { return lanes[static_cast<std::size_t>(lane)]; });
  if (!d_.triples) return;
  const int n = d_.lanes;
  for (int i = 0; i < 3; ++i) {
    list(triple_places_[2 * i], [&](int lane) { return std::min(3 * lane + i, 2 * n - 1); });  // from the first and the second register
    list(triple_places_[2 * i + 1], [&](int lane) { return 3 * lane + i < 2 * n ? lane : 3 * lane + i - n; });  // from these and the third
    list(spread_places_[i], [&](int lane) { return (i * n + lane) % 3; });
  }
}

void dots_code::use_triples() {
  for (int i = 0; i < 6; ++i) vmovups(Xbyak::Zmm(triple_places + i), ptr[rip + triple_places_[i]]);
}

/// A factor that all results share, again and again in three registers.
void dots_code::spread_triple() {
  if (request_.args.ones_a || (d_.dense[0].a != 0 && d_.dense[0].b != 0)) return;
  const Xbyak::Zmm x(spare), y(crossed);
  const address from = at(d_.dense[0].a == 0 ? a_ : b_, 0);
  single() ? vmovups(x | segment_masks[0] | T_z, from) : vmovupd(x | segment_masks[0] | T_z, from);
  for (int i = 0; i < 3; ++i) {
    vmovups(y, ptr[rip + spread_places_[i]]);
    single() ? vpermps(Xbyak::Zmm(triple_factor + i), y, x) : vpermpd(Xbyak::Zmm(triple_factor + i), y, x);
  }
}

/// The sums of triples of products, in the first register.
void dots_code::write_triples(std::int64_t first, std::int64_t count) {
  const dots::axis& x = d_.dense[0];
  const bool shared = !request_.args.ones_a && (x.a == 0 || x.b == 0);
  const reg64 &p = x.b == 0 ? a_ : b_, &q = a_;  // what has a triple for each result, and the other one
  for (int i = 0; i < 3; ++i) {
    const Xbyak::Zmm product(i);
    const std::int64_t numbers = std::min<std::int64_t>(3 * count - i * d_.lanes, d_.lanes), offset = 3 * first * d_.real + 64 * i;
    if (numbers <= 0) {
      clear(i, 64);
      continue;
    }
    const bool some = numbers < d_.lanes;
    if (some) set_mask(some_segments, (std::uint64_t{1} << numbers) - 1);
    const Xbyak::Zmm to = some ? product | some_segments | T_z : product;
    if (shared) {
      mul(to, Xbyak::Zmm(triple_factor + i), at(p, offset));
      continue;
    }
    single() ? vmovups(to, at(p, offset)) : vmovupd(to, at(p, offset));
    if (!request_.args.ones_a) mul(to, product, at(q, offset));
  }
  for (int i = 0; i < 3; ++i) {
    const Xbyak::Zmm one(3 + i), from(0);
    vmovaps(one, from);
    const auto collect = [&](const Xbyak::Zmm& places, const Xbyak::Zmm& others) {
      single() ? vpermt2ps(one, places, others) : vpermt2pd(one, places, others);
    };
    collect(Xbyak::Zmm(triple_places + 2 * i), Xbyak::Zmm(1));
    collect(Xbyak::Zmm(triple_places + 2 * i + 1), Xbyak::Zmm(2));
  }
  add(Xbyak::Zmm(0), Xbyak::Zmm(3), Xbyak::Zmm(4));
  add(Xbyak::Zmm(0), Xbyak::Zmm(0), Xbyak::Zmm(5));
}

void dots_code::set_mask(const Xbyak::Opmask& m, std::uint64_t lanes) {
  mov(eax, static_cast<std::uint32_t>(lanes));
  kmovw(m, eax);
}

void dots_code::step(const reg64& p, std::int64_t bytes) {
  if (bytes != 0) Xbyak::CodeGenerator::add(p, static_cast<int>(bytes));
}

/// The results inside the first `left` of the loops around the dense axes.
void dots_code::write_loops(std::size_t left, factor beta) {
  if (left == 0) return write_results(beta);
  const dots::axis& x = d_.loops[left - 1];
  const reg64& counter = loop_counters[left - 1];
  Xbyak::Label next;
  mov(counter, x.extent);
  L(next);
  write_loops(left - 1, beta);
  step(a_, x.a), step(b_, x.b), step(c_, x.c);
  dec(counter);
  jnz(next, T_NEAR);
  step(a_, -x.a * x.extent), step(b_, -x.b * x.extent), step(c_, -x.c * x.extent);
}

/// All results of the dense axes: whole periods in a loop, and what is left.
void dots_code::write_results(factor beta) {
  const std::int64_t periods = d_.count / d_.period, moves = d_.period / d_.inner;
  const dots::axis& last = d_.dense.back();
  if (d_.triples) spread_triple();
  const auto all = [&](std::int64_t count) {
    kept_.clear();
    for (std::int64_t first = 0; first < count; first += d_.lanes) write_group(first, std::min<std::int64_t>(d_.lanes, count - first), beta);
  };
  if (periods > 0) {
    Xbyak::Label next;
    mov(r10, periods);
    L(next);
    all(d_.period);
    step(a_, moves * last.a), step(b_, moves * last.b), step(c_, d_.period * d_.real);
    dec(r10);
    jnz(next, T_NEAR);
  }
  all(d_.count % d_.period);
  if (d_.loops.empty() || periods == 0) return;
  step(a_, -periods * moves * last.a), step(b_, -periods * moves * last.b), step(c_, -periods * d_.period * d_.real);
}

/// Where the sum of a slot stands when its lanes have been added up. Slots: the segments of all registers in turn.
std::vector<int> dots_code::lanes_of_slots() const {
  const int n = d_.lanes, part = 16 / d_.real;
  std::vector<std::vector<int>> registers;
  for (int v = 0; v < d_.segment; ++v) {
    registers.emplace_back();
    for (int l = 0; l < n; ++l) registers.back().push_back(v * d_.segments() + l / d_.segment);
  }
  for (int step = 1; registers.size() > 1; step *= 2) {
    std::vector<std::vector<int>> fewer;
    for (std::size_t v = 0; v < registers.size(); v += 2) {
      std::vector<int> to(static_cast<std::size_t>(n));
      const std::vector<int>&x = registers[v], &y = registers[v + 1];
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

/// Which results the segments are for.
std::vector<dots_code::slots> dots_code::order(std::int64_t count) const {
  const std::vector<int> lanes = lanes_of_slots();
  std::vector<slots> all(static_cast<std::size_t>(d_.segment));
  for (std::size_t s = 0; s < lanes.size(); ++s) {
    const std::int64_t result = natural_ ? static_cast<std::int64_t>(s) : lanes[s];
    all[s / static_cast<std::size_t>(d_.segments())].results.push_back(result < count ? result : -1);
  }
  return all;
}

std::int64_t dots_code::offset_of(std::int64_t result, std::int64_t dots::axis::*stride) const {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i + 1 < d_.dense.size(); ++i) offset += result % d_.dense[i].extent * d_.dense[i].*stride, result /= d_.dense[i].extent;
  return offset + result * d_.dense.back().*stride;
}

/// Of the segments; `unused` for those without a result.
std::vector<std::int64_t> dots_code::offsets(const slots& s, std::int64_t first, std::int64_t dots::axis::*stride) const {
  std::vector<std::int64_t> out;
  for (const std::int64_t r : s.results) out.push_back(r >= 0 ? offset_of(first + r, stride) : unused);
  return out;
}

void dots_code::write_group(std::int64_t first, std::int64_t count, factor beta) {
  if (request_.fetch_ahead > 0) ask_ahead(first, count);
  if (d_.triples) {
    write_triples(first, count);
    return finish(0, first, count, beta);
  }
  const std::vector<slots> all = order(count);
  std::set<std::vector<std::int64_t>> of_a, of_b;
  for (const slots& s : all) of_a.insert(offsets(s, first, &dots::axis::a)), of_b.insert(offsets(s, first, &dots::axis::b));
  if (keeps_a_ != (of_a.size() < of_b.size())) keeps_a_ = !keeps_a_, kept_.clear();
  write_tree(all, 0, all.size(), first, 0);
  finish(0, first, count, beta);
}

/// The lines of a and b that come soon.
void dots_code::ask_ahead(std::int64_t first, std::int64_t count) {
  constexpr std::int64_t line = 64;
  const auto ask = [&](const reg64& base, std::int64_t dots::axis::*stride, std::int64_t dots::piece::*more) {
    std::set<std::int64_t> lines;
    for (std::int64_t r = first; r < first + count; ++r)
      for (const dots::piece& p : d_.pieces)
        for (std::int64_t at = 0; at < p.count * d_.real; at += d_.real) lines.insert((offset_of(r, stride) + p.*more + at) / line);
    for (const std::int64_t l : lines) prefetcht0(ptr[base + static_cast<int>(l * line + ask_distance)]);
  };
  if (d_.dense.back().a != 0 && request_.fetch_a > 0) ask(a_, &dots::axis::a, &dots::piece::a);
  if (d_.dense.back().b != 0 && request_.fetch_b > 0) ask(b_, &dots::axis::b, &dots::piece::b);
}

/// The sums of registers [begin, end), each result in fewer lanes, in register `to`. False if none of them is used.
bool dots_code::write_tree(const std::vector<slots>& all, std::size_t begin, std::size_t end, std::int64_t first, int to) {
  if (end - begin == 1) {
    const std::vector<std::int64_t>& x = all[begin].results;
    if (std::all_of(x.begin(), x.end(), [](std::int64_t r) { return r < 0; })) return false;
    write_product(all[begin], first, to);
    return true;
  }
  const std::size_t middle = (begin + end) / 2;
  const bool left = write_tree(all, begin, middle, first, to), right = write_tree(all, middle, end, first, left ? to + 1 : to);
  if (left || right) join(to, to, left && right ? to + 1 : to, end - begin);
  return left || right;
}

/// Half as many lanes for each result of x and y; they come from so many registers.
void dots_code::join(int to, int x, int y, std::size_t registers) {
  const Xbyak::Zmm sum(to), low(x), high(y), other(crossed);
  const int part = 16 / d_.real;
  if (static_cast<int>(registers) > part) vshuff64x2(other, low, high, 0xdd), vshuff64x2(sum, low, high, 0x88);
  else if (single()) vshufps(other, low, high, 0xdd), vshufps(sum, low, high, 0x88);
  else vunpckhpd(other, low, high), vunpcklpd(sum, low, high);
  add(sum, sum, other);
}

/// Whether the segments are one load, which may be part of another instruction.
bool dots_code::is_one_load(const std::vector<std::int64_t>& offsets) const {
  if (d_.segments() == 1) return true;
  if (offsets.back() == unused || d_.pieces[0].count < d_.segment) return false;
  for (std::size_t i = 1; i < offsets.size(); ++i)
    if (offsets[i] != offsets[i - 1] + d_.segment * d_.real) return false;
  return true;
}

void dots_code::load_segments(int to, const reg64& base, const std::vector<std::int64_t>& offsets) {
  const Xbyak::Zmm x(to);
  const auto spread = [&](const Xbyak::Zmm& z, const address& from) {
    switch (d_.segment * d_.real) {
      case 8: return vbroadcastf32x2(z, from);
      case 16: return single() ? vbroadcastf32x4(z, from) : vbroadcastf64x2(z, from);
      default: return single() ? vbroadcastf32x8(z, from) : vbroadcastf64x4(z, from);
    }
  };
  const bool whole = d_.pieces[0].count == d_.segment;
  const std::size_t first = static_cast<std::size_t>(std::find_if(offsets.begin(), offsets.end(), [](std::int64_t o) { return o != unused; }) - offsets.begin());
  const address from = at(base, offsets[first]);
  if (std::all_of(offsets.begin(), offsets.end(), [&](std::int64_t o) { return o == unused || o == offsets[first]; })) return whole ? spread(x, from) : spread(x | all_segments | T_z, from);
  if (natural_) {  // the first segments, one right behind the other
    const auto used = std::count_if(offsets.begin(), offsets.end(), [](std::int64_t o) { return o != unused; });
    set_mask(some_segments, (std::uint64_t{1} << used * d_.segment) - 1);
    return single() ? vmovups(x | some_segments | T_z, from) : vmovupd(x | some_segments | T_z, from);
  }
  if (first > 0) spread(x | segment_masks[first] | T_z, from);
  else single() ? vmovups(x | segment_masks[0] | T_z, from) : vmovupd(x | segment_masks[0] | T_z, from);
  for (std::size_t i = first + 1; i < offsets.size(); ++i)
    if (offsets[i] != unused) spread(x | segment_masks[i], at(base, offsets[i]));
}

void dots_code::load_piece(int to, const reg64& base, const std::vector<std::int64_t>& offsets, std::int64_t more, std::int64_t count) {
  const Xbyak::Zmm x(to);
  if (!is_one_load(offsets)) return load_segments(to, base, offsets);
  if (d_.segments() > 1 || count == d_.lanes) return vmovups(x, at(base, offsets[0] + more));
  single() ? vmovups(x | segment_masks[0] | T_z, at(base, offsets[0] + more)) : vmovupd(x | segment_masks[0] | T_z, at(base, offsets[0] + more));
}

/// The products of the segments of one register, piece by piece.
void dots_code::write_product(const slots& s, std::int64_t first, int to) {
  const Xbyak::Zmm sum(to);
  const std::vector<std::int64_t> from_a = offsets(s, first, &dots::axis::a), from_b = offsets(s, first, &dots::axis::b);
  const auto is_partial = [&](const dots::piece& p) { return d_.segments() == 1 && p.count < d_.lanes; };
  if (request_.args.ones_a) {
    load_piece(to, b_, from_b, d_.pieces[0].b, d_.pieces[0].count);
    for (std::size_t i = 1; i < d_.pieces.size(); ++i) {
      const dots::piece& p = d_.pieces[i];
      const address from = at(b_, from_b[0] + p.b);
      is_partial(p) ? add(sum | segment_masks[0], sum, from) : add(sum, sum, from);
    }
    return;
  }
  // One factor goes through registers, where it may be shared; the other one is read as it is multiplied.
  const reg64 &kept = keeps_a_ ? a_ : b_, &other = keeps_a_ ? b_ : a_;
  const std::vector<std::int64_t>&from = keeps_a_ ? from_a : from_b, &from_other = keeps_a_ ? from_b : from_a;
  const bool all_kept = d_.pieces.size() <= kept_count, again = all_kept && from == kept_;
  kept_ = from;
  for (std::size_t i = 0; i < d_.pieces.size(); ++i) {
    const dots::piece& p = d_.pieces[i];
    const int x = all_kept ? kept_first + static_cast<int>(i) : kept_first;
    if (!again) load_piece(x, kept, from, keeps_a_ ? p.a : p.b, p.count);
    const std::int64_t more = keeps_a_ ? p.b : p.a;
    if (!is_one_load(from_other)) {
      load_segments(spare, other, from_other);
      mul(sum, Xbyak::Zmm(x), Xbyak::Zmm(spare));
      continue;
    }
    const address y = at(other, from_other[0] + more);
    if (i == 0) is_partial(p) ? mul(sum | segment_masks[0] | T_z, Xbyak::Zmm(x), y) : mul(sum, Xbyak::Zmm(x), y);
    else is_partial(p) ? fma(sum | segment_masks[0], Xbyak::Zmm(x), y) : fma(sum, Xbyak::Zmm(x), y);
  }
}

/// c from the sums.
void dots_code::finish(int sums, std::int64_t first, std::int64_t count, factor beta) {
  const Xbyak::Zmm x(sums), old(crossed);
  if (natural_) single() ? vpermps(x, Xbyak::Zmm(places_register), x) : vpermpd(x, Xbyak::Zmm(places_register), x);
  if (request_.alpha != factor::one) mul(x, x, Xbyak::Zmm(alpha_register));
  const address c = at(c_, first * d_.real);
  const bool some = count < d_.lanes;
  if (some) set_mask(some_results, (std::uint64_t{1} << count) - 1);
  if (beta != factor::zero) {
    if (!some) vmovups(old, c);
    else single() ? vmovups(old | some_results | T_z, c) : vmovupd(old | some_results | T_z, c);
    if (beta == factor::any) fma(x, old, Xbyak::Zmm(beta_register));
    else if (beta == factor::one) add(x, x, old);
    else single() ? vsubps(x, x, old) : vsubpd(x, x, old);
  }
  if (!some) vmovups(c, x);
  else single() ? vmovups(c | some_results, x) : vmovupd(c | some_results, x);
}

}  // namespace ricci::codegen
