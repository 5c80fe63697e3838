// Writes dot products and sums one by one.
#include "codegen/lone_dots_code.hpp"

#include <algorithm>

namespace ricci::codegen {

using namespace Xbyak::util;

namespace {

constexpr std::int64_t most_lone_offset = 1 << 30;  // bytes
constexpr std::int64_t looped_pieces = 16;     // at once, where there are more than most_lone_pieces

// Registers: sums of the first set, of the second one if there is one, then these.
constexpr int first_of_second = 4, from_a = 8, from_b = 9, swapped = 10, spare = 11, mask_of_last = 15;

const Xbyak::Reg64 lone_counters[] = {r9, r10, r11, rax};

bool is_plain(const request& r) { return r.type_a == r.type && r.type_b == r.type && r.type_c == r.type && size_of(r.type) >= 4; }

}  // namespace

std::vector<lone_dots> lone_dots_of(const request& r, target t) {
  const kernels::contract_args& x = r.args;
  if (t == target::none || r.lanes != kernels::lanes::k || !is_plain(r) || r.alpha == factor::tensor || x.k_outer != 1) return {};
  const bool complex = is_complex(r.type);
  if (x.row.extent > 1 && x.col.extent > 1) return {};  // the compiled tiles read each row for several columns
  if (complex && r.beta == factor::any) return {};
  lone_dots d;
  const auto size = static_cast<std::int64_t>(size_of(r.type)), parts = std::int64_t{complex ? 2 : 1}, real = size / parts;
  const auto put = [&](const kernels::axis& y) {
    if (y.extent > 1) d.loops.push_back({y.extent, y.a * size, y.b * size, y.c * size});
  };
  put(x.row), put(x.col);
  for (int i = 0; i < x.loop_count; ++i) put(x.loops[i]);
  if ((!complex && !d.loops.empty()) || d.loops.size() > std::size(lone_counters)) return {};
  const std::int64_t full = t == target::avx512 ? 64 : 32, elements = full / size;
  const bool is_long = x.k * ((x.lane_extent + elements - 1) / elements) > most_lone_pieces;
  if (is_long && (x.k > 1 || !d.loops.empty())) return {};
  const auto add_row = [&](std::vector<lone_dots::piece>& to, std::int64_t a, std::int64_t b, std::int64_t lanes) {
    for (std::int64_t i = 0; i < lanes; i += elements) {
      const std::int64_t count = std::min(elements, lanes - i) * parts;
      std::int64_t width = full;
      while (width > 16 && width / 2 >= count * real) width /= 2;
      to.push_back({(a + (x.ones_a ? 0 : i)) * size, (b + i) * size, {0, 0, static_cast<int>(count), static_cast<int>(width)}});
    }
  };
  if (is_long) {
    const std::int64_t at_once = looped_pieces * elements;
    d.times = x.lane_extent / at_once;
    d.step_a = x.ones_a ? 0 : at_once * size, d.step_b = at_once * size;
    add_row(d.pieces, 0, 0, at_once), add_row(d.rest, 0, 0, x.lane_extent % at_once);
  } else {
    for (std::int64_t k = 0; k < x.k; ++k) add_row(d.pieces, k * x.k_a, k * x.k_b, x.lane_extent);
  }
  const auto is_far = [](std::int64_t bytes) { return std::abs(bytes) >= most_lone_offset; };
  for (const lone_dots::piece& p : d.pieces)
    if (is_far(p.a) || is_far(p.b)) return {};
  for (const lone_dots::axis& y : d.loops)
    if (is_far(y.a * y.extent) || is_far(y.b * y.extent) || is_far(y.c * y.extent)) return {};
  return {d};
}

lone_dots_code::lone_dots_code(const request& r, const lone_dots& d, target t)
    : vector_code(4096, t, r.type == dtype::f32 || r.type == dtype::c64), r_(r), d_(d), complex_(is_complex(r.type)),
      strands_(static_cast<int>(std::min<std::size_t>(d.pieces.size(), d.pieces.size() >= 16 && !has_sets() ? 8 : 4))), width_(d.pieces.size() > 1 ? full() : d.pieces[0].lanes.width) {
  keep_mask(mask_of_last);
  std::vector<lane_vector> last;
  for (const std::vector<lone_dots::piece>* list : {&d.pieces, &d.rest})
    for (const lone_dots::piece& p : *list)
      if (needs_mask(p.lanes)) last = {p.lanes};  // all that are partial are alike
  use_masks(last);
  for (const lane_vector& v : last) load_mask(v);
  write_loops(d.loops.size());
  vzeroupper();
  ret();
  write_constants();
}

void lone_dots_code::step(const reg64& p, std::int64_t bytes) {
  if (bytes != 0) Xbyak::CodeGenerator::add(p, static_cast<int>(bytes));
}

void lone_dots_code::write_loops(std::size_t left) {
  if (left == 0) return write_result();
  const lone_dots::axis& x = d_.loops[left - 1];
  const reg64& counter = lone_counters[left - 1];
  Xbyak::Label next;
  mov(counter, x.extent);
  align(16);
  L(next);
  write_loops(left - 1);
  step(a_, x.a), step(b_, x.b), step(c_, x.c);
  dec(counter);
  jnz(next, T_NEAR);
  if (left < d_.loops.size()) step(a_, -x.a * x.extent), step(b_, -x.b * x.extent), step(c_, -x.c * x.extent);
}

void lone_dots_code::write_result() {
  if (d_.times > 1) return write_long_result();
  for (std::size_t i = 0; i < d_.pieces.size(); ++i) {
    const int strand = static_cast<int>(i) % strands_;
    multiply(d_.pieces[i], strand, static_cast<int>(i) < strands_);
  }
  add_up();
  finish();
}

void lone_dots_code::write_long_result() {
  for (int s = 0; s < strands_; ++s) {
    clear(s, width_);
    if (has_sets()) clear(first_of_second + s, width_);
  }
  const auto all = [&](const std::vector<lone_dots::piece>& pieces) {
    for (std::size_t i = 0; i < pieces.size(); ++i) multiply(pieces[i], static_cast<int>(i) % strands_, false);
  };
  Xbyak::Label next;
  mov(rax, d_.times);
  align(16);
  L(next);
  all(d_.pieces);
  step(a_, d_.step_a), step(b_, d_.step_b);
  dec(rax);
  jnz(next, T_NEAR);
  all(d_.rest);
  add_up();
  finish();
}

/// Onto a strand, or into it. Behind the last lanes of a piece are zeros, whatever the register's width.
void lone_dots_code::multiply(const lone_dots::piece& p, int to, bool first) {
  const bool whole = !partial(p.lanes) && p.lanes.width == width_;
  const address b = at(b_, p.b);
  const auto v = [&](int i) { return reg(i, width_); };
  if (r_.args.ones_a) {
    if (first) return load(to, p.lanes, b);
    if (whole) return add(v(to), v(to), b);
    load(from_b, p.lanes, b);
    return add(v(to), v(to), v(from_b));
  }
  load(from_a, p.lanes, at(a_, p.a));
  if (!complex_ && whole) return first ? mul(v(to), v(from_a), b) : fma(v(to), v(from_a), b);
  load(from_b, p.lanes, b);
  if (first) mul(v(to), v(from_a), v(from_b));
  else fma(v(to), v(from_a), v(from_b));
  if (!complex_) return;
  swap_pairs(v(swapped), v(from_b));
  if (first) mul(v(first_of_second + to), v(from_a), v(swapped));
  else fma(v(first_of_second + to), v(from_a), v(swapped));
}

/// The sum, or its parts, to the first lanes of register 0.
void lone_dots_code::add_up() {
  for (const int set : {0, first_of_second}) {
    if (set > 0 && !has_sets()) break;
    for (int left = strands_; left > 1; left = (left + 1) / 2)
      for (int from = (left + 1) / 2, to = 0; from < left; ++from, ++to) add(reg(set + to, width_), reg(set + to, width_), reg(set + from, width_));
    reduce(set);
  }
  if (has_sets()) join_parts();
  else if (complex_ && r_.args.conj_b) vxorps(Xbyak::Xmm(0), Xbyak::Xmm(0), ptr[rip + pairs(0.0, -0.0)]);
}

/// Halves of the register on one another, down to one element.
void lone_dots_code::reduce(int i) {
  const Xbyak::Xmm x(i), y(spare);
  const int lanes = d_.pieces.size() > 1 ? width_ / real() : d_.pieces[0].lanes.count;
  if (width_ == 64) vextractf64x4(Xbyak::Ymm(spare), Xbyak::Zmm(i), 1), add(Xbyak::Ymm(i), Xbyak::Ymm(i), Xbyak::Ymm(spare));
  if (width_ >= 32) vextractf128(y, Xbyak::Ymm(i), 1), add(x, x, y);
  const int element = complex_ ? 2 * real() : real();
  if (element <= 8 && lanes * real() > 8) vunpckhpd(y, x, x), add(x, x, y);
  if (element <= 4 && lanes * real() > 4) vmovshdup(y, x), add(x, x, y);
}

/// (re re, im im) and (re im, im re) to one complex number.
void lone_dots_code::join_parts() {
  const Xbyak::Xmm first(0), second(first_of_second), x(from_a), y(from_b);
  if (single()) vunpcklps(x, first, second), vunpckhpd(y, x, x);
  else vunpcklpd(x, first, second), vunpckhpd(y, first, second);
  if (r_.args.conj_a != r_.args.conj_b) vxorps(y, y, ptr[rip + pairs(-0.0, -0.0)]);
  if (single()) vaddsubps(first, x, y);
  else vaddsubpd(first, x, y);
  if (r_.args.conj_b) vxorps(first, first, ptr[rip + pairs(0.0, -0.0)]);
}

/// c = beta c + alpha sum.
void lone_dots_code::finish() {
  const Xbyak::Xmm sum(0), x(from_a), y(from_b);
  const lane_vector one{0, 0, complex_ ? 2 : 1, 16};
  if (r_.alpha == factor::minus_one) {
    mul(sum, sum, ptr[rip + pairs(-1, -1)]);
  } else if (r_.alpha != factor::one) {
    broadcast(from_a, 16, ptr[alpha_]);
    if (complex_) swap_pairs(y, sum);
    mul(sum, sum, x);
    if (complex_) {
      broadcast(from_a, 16, ptr[alpha_ + real()]);
      mul(y, y, x);
      single() ? vaddsubps(sum, sum, y) : vaddsubpd(sum, sum, y);
    }
  }
  Xbyak::Label unread;
  if (r_.beta == factor::any) {
    if (single()) mov(eax, dword[beta_]), Xbyak::CodeGenerator::add(eax, eax);
    else mov(rax, qword[beta_]), Xbyak::CodeGenerator::add(rax, rax);
    jz(unread, T_NEAR);
  }
  if (r_.beta != factor::zero) load(from_a, one, ptr[c_]);
  if (r_.beta == factor::any) broadcast(from_b, 16, ptr[beta_]), fma(sum, x, y);
  else if (r_.beta == factor::one) add(sum, sum, x);
  else if (r_.beta == factor::minus_one) single() ? vsubps(sum, sum, x) : vsubpd(sum, sum, x);
  L(unread);
  store(0, one, c_, 0, spare, true);
}

}  // namespace ricci::codegen
