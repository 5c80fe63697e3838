// Registers of neighbouring results of tiny problems, written.
#include "codegen/spread_code.hpp"

#include <algorithm>

namespace ricci::codegen {

using namespace Xbyak::util;

namespace {

// Registers by their use.
constexpr int sums = 0, spare_a = 1, spare_b = 2, old = 3, first_load = 4, loads = 8, first_constant = 12, alpha = 29, beta_factor = 30, place = 31;
constexpr int of_complex = 26, imaginary = 2;  // from there on registers of complex numbers alone; from a factor's real part to the other one
constexpr std::int64_t asked_line = 64;

}  // namespace

spread_code::spread_code(const request& r, const spread& s, target t) : vector_code(4096, t, s.real == 4), request_(r), s_(s) {
  set_masks(), set_constants();
  if (r.alpha == factor::any) broadcast(alpha, full(), ptr[rcx]);
  if (r.alpha == factor::any && s.parts == 2) broadcast(alpha - imaginary, full(), ptr[rcx + s.real]);
  if (r.beta == factor::any && s.parts == 2) broadcast(beta_factor - imaginary, full(), ptr[r8 + s.real]);
  if (r.alpha == factor::minus_one) vmovups(v(alpha), ptr[rip + pairs(-1, -1)]);
  write_for(r.beta, beta_factor, [&](factor beta) { write_loops(s.loops, s.loops.size(), [&] { write_periods(beta); }); }, s.parts);
  vzeroupper();
  ret();
  for (auto& [places, x] : constants_) {
    align(64);
    L(x.label);
    for (const int p : places) single() ? dd(static_cast<std::uint32_t>(p)) : dq(static_cast<std::uint64_t>(p));
  }
  write_constants();
}

void spread_code::set_masks() {
  const auto put = [&](int count) {
    if (count <= 0 || count >= s_.lanes || masks_.count(count)) return;
    const int next = static_cast<int>(masks_.size()) + 1;
    masks_[count] = next;
    mov(eax, (1 << count) - 1);
    kmovw(Xbyak::Opmask(next), eax);
  };
  for (const auto* all : {&s_.whole, &s_.rest})
    for (const spread_results& r : *all) {
      put(r.count);
      for (const auto& term : r.terms)
        for (const spread_source& x : term) put(x.first), put(x.second);
    }
}

/// Those of whole periods in registers, as far as there are.
void spread_code::set_constants() {
  int next = first_constant;
  for (const auto* all : {&s_.whole, &s_.rest})
    for (const spread_results& r : *all)
      for (const auto& term : r.terms)
        for (const spread_source& x : term) {
          if (x.places.empty() || constants_.count(x.places)) continue;
          constant& c = constants_[x.places];
          if (all != &s_.whole || next == first_constant + kept_constants(s_)) continue;
          c.number = next++;
          vmovups(v(c.number), ptr[rip + c.label]);
        }
}

void spread_code::write_periods(factor beta) {
  const std::int64_t periods = s_.count / s_.period, moves = s_.period / s_.inner;
  const dots::axis& last = s_.dense.back();
  Xbyak::Label next;
  mov(r10, periods);
  align(16);
  L(next);
  loads_.clear(), order_.clear();
  if (request_.fetch_ahead > 0) ask_ahead();
  for (const spread_results& x : s_.whole) write_results(x, beta);
  step(pointers_[0], moves * last.a), step(pointers_[1], moves * last.b), step(c_, s_.period * s_.element());
  dec(r10);
  jnz(next, T_NEAR);
  loads_.clear(), order_.clear();
  for (const spread_results& x : s_.rest) write_results(x, beta);
  if (s_.loops.empty()) return;
  step(pointers_[0], -periods * moves * last.a), step(pointers_[1], -periods * moves * last.b), step(c_, -periods * s_.period * s_.element());
}

/// The lines that the next periods begin with: what moves on with them is read as it lies.
void spread_code::ask_ahead() {
  constexpr std::int64_t distance = 1024;
  const std::int64_t moves = s_.period / s_.inner;
  const auto ask = [&](const reg64& base, std::int64_t bytes, std::int64_t most) {
    if (most <= 0 || bytes <= 0 || bytes > 1024) return;
    for (std::int64_t at = 0; at < bytes; at += asked_line) prefetcht0(ptr[base + static_cast<int>(at + distance)]);
  };
  ask(pointers_[0], moves * s_.dense.back().a, request_.fetch_a), ask(pointers_[1], moves * s_.dense.back().b, request_.fetch_b);
  ask(c_, s_.period * s_.element(), request_.fetch_c);
}

void spread_code::write_results(const spread_results& x, factor beta) {
  for (std::size_t i = 0; i < x.terms.size(); ++i) write_term(x, i);
  finish(x, beta);
}

/// Adds y z to the sums. The first real term of complex numbers meets the imaginary ones: i i is -1, or 1 where one factor is conjugated.
void spread_code::multiply(std::size_t i, int y, const Xbyak::Operand& z) {
  if (i == 0) return mul(v(sums), v(y), z);
  if (s_.terms[i].imaginary == s_.terms[i - 1].imaginary) return fma(v(sums), v(y), z);
  if (s_.conj) return single() ? vfmsubadd231ps(v(sums), v(y), z) : vfmsubadd231pd(v(sums), v(y), z);
  single() ? vfmaddsub231ps(v(sums), v(y), z) : vfmaddsub231pd(v(sums), v(y), z);
}

void spread_code::write_term(const spread_results& x, std::size_t i) {
  const bool whole = x.count == s_.lanes;
  const std::array<spread_source, 2>& term = x.terms[i];
  if (s_.ones) return i == 0 ? take(term[1]) : add_term(term[1], whole);
  for (const std::size_t inside : {1, 0})
    if (whole && is_operand(term[inside])) {
      const int outside = in_register(1 - static_cast<int>(inside), term[1 - inside], spare_a);
      return multiply(i, outside, operand(static_cast<int>(inside), term[inside]));
    }
  const int a = in_register(0, term[0], spare_a), b = in_register(1, term[1], spare_b);
  multiply(i, a, v(b));
}

/// The first term of a sum of one factor.
void spread_code::take(const spread_source& x) {
  if (const int there = in_register(1, x, sums); there != sums) vmovaps(v(sums), v(there));
}

void spread_code::add_term(const spread_source& x, bool whole) {
  if (whole && is_operand(x)) add(v(sums), v(sums), operand(1, x));
  else add(v(sums), v(sums), v(in_register(1, x, spare_b)));
}

spread_code::address spread_code::operand(int factor, const spread_source& x) {
  const address whole = at(pointers_[factor], x.at);
  return x.how == spread_source::way::same ? ptr_b[pointers_[factor] + static_cast<int>(x.at)] : whole;
}

int spread_code::in_register(int factor, const spread_source& x, int spare) {
  const address from = at(pointers_[factor], x.at);
  switch (x.how) {
    case spread_source::way::same: return broadcast(spare, full(), from), spare;
    case spread_source::way::run: return loaded(factor, x.at, x.first);
    case spread_source::way::pieces:
      if (x.bytes == 16) single() ? vbroadcastf32x4(v(spare), from) : vbroadcastf64x2(v(spare), from);
      else single() ? vbroadcastf32x8(v(spare), from) : vbroadcastf64x4(v(spare), from);
      return spare;
    default: break;
  }
  const int low = loaded(factor, x.at, x.first), high = x.second > 0 ? loaded(factor, x.at + full(), x.second) : -1;
  permute(spare, x, low, high);
  return spare;
}

void spread_code::load_lanes(int to, const address& from, int count) {
  const Xbyak::Zmm x = count == s_.lanes ? v(to) : v(to) | mask_of(count) | T_z;
  single() ? vmovups(x, from) : vmovupd(x, from);
}

int spread_code::loaded(int factor, std::int64_t from, int count) {
  const auto key = std::make_tuple(factor, from, count);
  const auto known = loads_.find(key);
  if (known != loads_.end()) order_.erase(std::find(order_.begin(), order_.end(), key));
  order_.push_back(key);
  if (known != loads_.end()) return known->second;
  int to = first_load + static_cast<int>(loads_.size());
  if (static_cast<int>(loads_.size()) == loads) {  // the one that was used longest ago: not the other half of a pair
    to = loads_.at(order_.front());
    loads_.erase(order_.front()), order_.pop_front();
  }
  loads_[key] = to;
  load_lanes(to, at(pointers_[factor], from), count);
  return to;
}

void spread_code::permute(int to, const spread_source& x, int low, int high) {
  const constant& c = constants_.at(x.places);
  int places = c.number;
  if (places < 0) vmovups(v(places = place), ptr[rip + c.label]);
  if (high < 0) return single() ? vpermps(v(to), v(places), v(low)) : vpermpd(v(to), v(places), v(low));
  vmovaps(v(to), v(places));
  single() ? vpermi2ps(v(to), v(low), v(high)) : vpermi2pd(v(to), v(low), v(high));
}

/// x times the number whose real part is in register `by`.
void spread_code::scale(int x, int by) {
  if (s_.parts == 1) return mul(v(x), v(x), v(by));
  constexpr int others = of_complex;
  single() ? vpermilps(v(others), v(x), 0xb1) : vpermilpd(v(others), v(x), 0x55);
  mul(v(others), v(others), v(by - imaginary));
  single() ? vfmaddsub132ps(v(x), v(others), v(by)) : vfmaddsub132pd(v(x), v(others), v(by));
}

void spread_code::finish(const spread_results& x, factor beta) {
  const bool whole = x.count == s_.lanes;
  if (request_.alpha == factor::any) scale(sums, alpha);
  else if (request_.alpha != factor::one) mul(v(sums), v(sums), v(alpha));
  const address c = at(c_, x.c);
  if (beta != factor::zero) {
    load_lanes(old, c, x.count);
    if (beta == factor::any && s_.parts == 2) scale(old, beta_factor), add(v(sums), v(sums), v(old));
    else if (beta == factor::any) fma(v(sums), v(old), v(beta_factor));
    else if (beta == factor::one) add(v(sums), v(sums), v(old));
    else single() ? vsubps(v(sums), v(sums), v(old)) : vsubpd(v(sums), v(sums), v(old));
  }
  if (whole) return vmovups(c, v(sums));
  single() ? vmovups(c | mask_of(x.count), v(sums)) : vmovupd(c | mask_of(x.count), v(sums));
}

}  // namespace ricci::codegen
