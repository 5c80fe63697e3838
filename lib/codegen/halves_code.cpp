// Writes products with even or odd matrices: a fibre's sums and differences stay in registers, all rows are summed side
// by side, so that no multiply-add waits for the one before. Problems that lie one after the other are turned on the way,
// a register's worth of neighbouring fibres at a time, through a part of the stack that stays in the first cache.
#include <algorithm>

#include "codegen/halves.hpp"
#include "codegen/turn_code.hpp"

namespace ricci::codegen {
namespace {

using namespace Xbyak::util;
using kernels::halves_args;

struct fibre_loop {
  std::int64_t count, x, y;  // bytes
};

const Xbyak::Reg64 loop_counters[] = {r8, r9, r10, r11, rax};

/// The lanes register by register, then the loops.
std::vector<fibre_loop> loops_of(const halves_request& r, std::int64_t real, std::int64_t width) {
  const halves_args& g = r.args;
  std::vector<fibre_loop> out;
  const auto add = [&](const fibre_loop& l) {
    if (l.count == 1) return;
    if (!out.empty() && l.x == out.back().x * out.back().count && l.y == out.back().y * out.back().count) out.back().count *= l.count;
    else out.push_back(l);
  };
  add({g.lane_extent * real / width, width * r.x_lane, width * r.y_lane});
  for (int i = 0; i < g.loop_count; ++i) add({g.loops[i], g.x_loops[i] * real, g.y_loops[i] * real});
  return out;
}

/// A tensor that is turned: bytes from problem to problem (0: they lie side by side), and whether its fibres lie one after
/// the other, each without gaps; else fibres are neighbours, element by element. dense: all of these are one run of memory.
struct turned_side {
  std::int64_t lane = 0;
  bool whole = false, dense = false;
};

/// What an iteration along neighbouring fibres needs if x or y, or both, are turned.
struct turned_fibres {
  fibre_loop along{1, 0, 0};  // count 1: nothing is turned
  turned_side x, y;
};

class halves_code : public turn_code {
 public:
  halves_code(const halves_request& r, target t, const std::vector<fibre_loop>& loops, const turned_fibres& turned)
      : turn_code(4096, t, r.type == dtype::f32), g_(r.args), beta_(r.beta), loops_(loops), turned_(turned), half_(g_.n / 2), rest_((g_.n + 1) / 2) {
    std::int64_t fibres = turned_.along.count;
    for (const fibre_loop& l : loops_) fibres *= l.count;
    lines_ = (r.fetch_bytes / 64 + fibres - 1) / fibres;
    if (turns()) open_frame();
    if (fibres > 1) keep_elements();
    in_loops(loops_.size());
    if (turns()) leave();
    vzeroupper();
    ret();
  }

  /// Registers that are left for sums.
  static int free_registers(const halves_args& g, target t) { return t == target::avx512 ? 31 - g.n : 14 - g.n; }

 private:
  Xbyak::Xmm v(int i) const { return reg(i, full()); }
  int sum(int i) const { return i; }
  int difference(int i) const { return rest_ + i; }
  int spare() const { return g_.n; }
  int first_total() const { return g_.n + (wide() ? 1 : 2); }
  address x_at(int i) { return turned_.x.lane ? at(rax, x_stack(i)) : at(rsi, i * g_.x_n * real()); }
  address y_at(int q) { return turned_.y.lane ? at(rax, y_stack(q)) : at(rdx, q * g_.y_q * real()); }

  bool turns() const { return turned_.x.lane || turned_.y.lane; }
  /// Element i of the first of a register's worth of fibres, from rsp on.
  std::int64_t x_stack(int i) const { return i * full() * next_element(turned_.x); }
  std::int64_t y_stack(int q) const { return y_start() + q * full() * next_element(turned_.y); }
  std::int64_t next_element(const turned_side& s) const { return s.whole ? 1 : s.dense ? turned_.along.count : block(); }
  std::int64_t y_start() const { return turned_.x.lane ? g_.n * block() * full() : 0; }
  /// From one of these fibres to the next one.
  std::int64_t next_fibre() const { return full() * (turned_.x.whole ? g_.n : turned_.y.whole ? g_.q : 1); }

  void open_frame() {
    constexpr int page = 4096;
    const int bytes = static_cast<int>(y_start() + (turned_.y.lane ? g_.q * block() * full() : 0));
    push(rbp);
    mov(rbp, rsp);
    for (int at = page; at < bytes + page; at += page)  // the stack grows page by page
      test(ptr[rsp - at], eax);
    sub(rsp, bytes);
    and_(rsp, -full());
  }

  /// All neighbours, a register's worth at a time.
  void neighbours() {
    const std::int64_t groups = turned_.along.count / block();
    const int rest = static_cast<int>(turned_.along.count % block());
    if (groups > 0) {
      mov(r10d, static_cast<std::uint32_t>(groups));
      Xbyak::Label top;
      align(16);
      L(top);
      some_neighbours(block());
      dec(r10d);
      jnz(top, T_NEAR);
    }
    if (rest > 0) {
      const int in = is_run(turned_.x) ? rest * g_.n : rest, out = is_run(turned_.y) ? rest * g_.q : rest;
      if (in % turned_at_once()) set_turn_mask(in % turned_at_once());
      if (turned_.y.lane && out % block()) set_row_mask(out % block());
      some_neighbours(rest);
    }
    move(-turned_.along.count * turned_.along.x, -turned_.along.count * turned_.along.y);
  }

  static bool is_run(const turned_side& s) { return s.whole || s.dense; }

  void some_neighbours(int count) {
    if (is_run(turned_.x)) turn_run(rsi, count * g_.n, rsp);
    else if (turned_.x.lane)
      for (int i = 0; i < g_.n; ++i) turn_run(rsi + static_cast<std::size_t>(i * g_.x_n * real()), count, rsp + static_cast<std::size_t>(x_stack(i)));
    mov(rax, rsp);
    mov(r11d, count);
    Xbyak::Label top;
    align(16);
    L(top);
    fibre();
    Xbyak::CodeGenerator::add(rax, static_cast<int>(next_fibre()));
    if (!turned_.x.lane) Xbyak::CodeGenerator::add(rsi, static_cast<int>(turned_.along.x));
    if (!turned_.y.lane) Xbyak::CodeGenerator::add(rdx, static_cast<int>(turned_.along.y));
    dec(r11d);
    jnz(top, T_NEAR);
    if (turned_.x.lane) Xbyak::CodeGenerator::add(rsi, static_cast<int>(count * turned_.along.x));
    if (!turned_.y.lane) return;
    if (is_run(turned_.y)) turn_run_back(0, count * g_.q, 0);
    else
      for (int q = 0; q < g_.q; ++q) turn_run_back(y_stack(q) - y_start(), count, q * g_.y_q * real());
    Xbyak::CodeGenerator::add(rdx, static_cast<int>(count * turned_.along.y));
  }

  /// Neighbours of each problem to the stack.
  void turn_run(const Xbyak::RegExp& from, int count, const Xbyak::RegExp& to) {
    for (int i = 0; i < count; i += block())
      turn_block(from + static_cast<std::size_t>(i * real()), turned_.x.lane, std::min(block(), count - i), to + static_cast<std::size_t>(i * full()));
  }

  /// Neighbours of each problem from the stack to y, `to` bytes on.
  void turn_run_back(std::int64_t from, int count, std::int64_t to) {
    for (int i = 0; i < count; i += block()) turn_back(y_start() + from + i * full(), std::min(block(), count - i), to + i * real());
  }

  void turn_back(std::int64_t from, int count, std::int64_t to) {
    if (count == 1 && beta_ == factor::zero) return scatter_one(from, to);
    for (int lane = 0; lane < block(); lane += turned_at_once()) {
      turn(rsp + static_cast<std::size_t>(from + lane * real()), full(), turned_at_once(), 8);
      for (int i = 0; i < turned_at_once(); ++i) {
        const std::int64_t place = to + (lane + i) * turned_.y.lane;
        const address y = at(rdx, place);
        const Xbyak::Xmm x = v(8 + i);
        if (count == block()) {
          prefetchw(at(rdx, place + own_ahead));
          if (beta_ == factor::one) add(x, x, y);
          vmovups(y, x);
        } else {
          const Xbyak::Opmask mask(2);
          if (beta_ == factor::one) vaddpd(x | mask, x, y);
          vmovupd(y | mask, x);
        }
      }
    }
  }

  /// A single neighbour: two problems at a time.
  void scatter_one(std::int64_t from, std::int64_t to) {
    for (int pair = 0; pair < block() / 2; ++pair) {
      vmovups(Xbyak::Xmm(pair), at(rsp, from + 16 * pair));
      vmovlpd(at(rdx, to + 2 * pair * turned_.y.lane), Xbyak::Xmm(pair));
      vmovhpd(at(rdx, to + (2 * pair + 1) * turned_.y.lane), Xbyak::Xmm(pair));
    }
  }

  void set_row_mask(int count) {
    mov(eax, (1 << count) - 1);
    kmovw(Xbyak::Opmask(2), eax);
  }

  /// Elements of the matrix to registers that nothing else needs: all other reads of it cost a load each.
  void keep_elements() {
    if (!wide()) return;
    const int pairs = g_.q / 2, sums = std::max(2, 2 * static_cast<int>(runs_of(pairs, most_pairs()).front().size));
    const int first = std::max(turns() ? 16 : 0, first_total() + sums), all = (g_.q + 1) / 2 * g_.n;
    kept_ = std::min(32 - first, all);
    for (int i = 0; i < kept_; ++i) broadcast(kept(i), full(), ptr[rdi + i * real()]);
  }
  int kept(int element) const { return 32 - kept_ + element; }
  int most_pairs() const { return ((wide() ? 32 : 16) - first_total()) / 2; }

  void in_loops(std::size_t left) {
    if (left == 0) return turns() ? neighbours() : fibre();
    const fibre_loop& l = loops_[left - 1];
    const Xbyak::Reg64 counter = loop_counters[left - 1];
    mov(counter.cvt32(), static_cast<std::uint32_t>(l.count));
    Xbyak::Label top;
    align(16);
    L(top);
    in_loops(left - 1);
    move(l.x, l.y);
    dec(counter.cvt32());
    jnz(top, T_NEAR);
    move(-l.count * l.x, -l.count * l.y);
  }
  void move(std::int64_t x, std::int64_t y) {
    Xbyak::CodeGenerator::add(rsi, static_cast<int>(x));
    Xbyak::CodeGenerator::add(rdx, static_cast<int>(y));
  }

  void fibre() {
    for (std::int64_t n = 0; n < lines_; ++n) prefetcht1(at(rcx, 64 * n));
    if (lines_ > 0) Xbyak::CodeGenerator::add(rcx, static_cast<int>(64 * lines_));
    for (int i = 0; i < half_; ++i) {
      vmovups(v(difference(i)), x_at(i));
      vmovups(v(spare()), x_at(g_.n - 1 - i));
      add(v(sum(i)), v(difference(i)), v(spare()));
      subtract(v(difference(i)), v(difference(i)), v(spare()));
    }
    if (half_ < rest_) vmovups(v(sum(half_)), x_at(half_));
    for (const tile_run& run : runs_of(g_.q / 2, most_pairs()))
      for (std::int64_t n = 0; n < run.count; ++n) write_pairs(static_cast<int>(run.first + n * run.size), static_cast<int>(run.size));
    if (g_.q % 2) write_middle();
  }

  /// Rows [first, first + count) and their mirrors.
  void write_pairs(int first, int count) {
    const bool adds = beta_ == factor::one && !turned_.y.lane;
    for (int i = 0; i < rest_; ++i)
      for (int n = 0; n < count; ++n) {
        multiply_add(first_total() + 2 * n, sum(i), first + n, i, i == 0);
        if (i < half_) multiply_add(first_total() + 2 * n + 1, difference(i), first + n, rest_ + i, i == 0);
      }
    // All of y is read before any of it is stored: rows that lie a page apart would seem to be what was stored before.
    for (int n = 0; n < count; ++n) {
      const int even = first_total() + 2 * n, odd = even + 1;
      add(v(spare()), v(even), v(odd));
      if (g_.parity > 0) subtract(v(odd), v(even), v(odd));
      else subtract(v(odd), v(odd), v(even));
      if (adds) {
        add(v(even), v(spare()), y_at(first + n));
        add(v(odd), v(odd), y_at(g_.q - 1 - first - n));
      } else {
        vmovaps(v(even), v(spare()));
      }
    }
    for (int n = 0; n < count; ++n) {
      vmovups(y_at(first + n), v(first_total() + 2 * n));
      vmovups(y_at(g_.q - 1 - first - n), v(first_total() + 2 * n + 1));
    }
  }

  /// The row that is its own mirror: even parts alone, or odd ones. Two chains, joined.
  void write_middle() {
    const int row = g_.q / 2, terms = g_.parity > 0 ? rest_ : half_, total = first_total();
    for (int i = 0; i < terms; ++i)
      multiply_add(total + i % 2, g_.parity > 0 ? sum(i) : difference(i), row, g_.parity > 0 ? i : rest_ + i, i < 2);
    if (terms == 0) clear(total, full());
    if (terms > 1) add(v(total), v(total), v(total + 1));
    if (beta_ == factor::one && !turned_.y.lane) add(v(total), v(total), y_at(row));
    vmovups(y_at(row), v(total));
  }

  /// total += x * the matrix's element.
  void multiply_add(int total, int x, int row, int element, bool fresh) {
    const int place = row * g_.n + element, offset = place * real();
    if (place < kept_) {
      if (fresh) mul(v(total), v(x), v(kept(place)));
      else fma(v(total), v(x), v(kept(place)));
      return;
    }
    if (wide()) {
      if (fresh) mul(v(total), v(x), ptr_b[rdi + offset]);
      else fma(v(total), v(x), ptr_b[rdi + offset]);
      return;
    }
    broadcast(spare() + 1, full(), ptr[rdi + offset]);
    if (fresh) mul(v(total), v(x), v(spare() + 1));
    else fma(v(total), v(x), v(spare() + 1));
  }

  void subtract(const Xbyak::Xmm& d, const Xbyak::Xmm& x, const Xbyak::Operand& y) {
    if (single()) vsubps(d, x, y);
    else vsubpd(d, x, y);
  }

  const halves_args& g_;
  const factor beta_;
  const std::vector<fibre_loop>& loops_;
  const turned_fibres turned_;
  const int half_, rest_;  // of the summed index: mirrored pairs, and those with the middle
  std::int64_t lines_ = 0;
  int kept_ = 0;  // elements of the matrix that are in registers
};

template <class T> void split(const halves_args& g, const T* m, T alpha, T* to) {
  const int h = g.n / 2, r = (g.n + 1) / 2;
  for (int q = 0; q < (g.q + 1) / 2; ++q, to += g.n) {
    const T* row = m + q * g.m_q;
    for (int i = 0; i < h; ++i) {
      const T x = row[i * g.m_n], y = row[(g.n - 1 - i) * g.m_n];
      to[i] = alpha * (x + y) / 2;
      to[r + i] = alpha * (x - y) / 2;
    }
    if (h < r) to[h] = alpha * row[h * g.m_n];
  }
}

bool small(std::int64_t bytes) { return std::abs(bytes) < std::int64_t{1} << 30; }

/// Takes the loop along the fibres that are turned together from the others. False if there is none.
bool take_turned(const halves_request& r, std::vector<fibre_loop>& loops, turned_fibres& turned) {
  const halves_args& g = r.args;
  const std::int64_t real = 8;
  turned.x.lane = r.x_lane == 1 ? 0 : r.x_lane * real, turned.y.lane = r.y_lane == 1 ? 0 : r.y_lane * real;
  const auto find = [&](const auto& fits) { return std::find_if(loops.begin(), loops.end(), fits); };
  auto found = find([&](const fibre_loop& l) { return (!turned.x.lane || l.x == real) && (!turned.y.lane || l.y == real); });
  if (found == loops.end() && !turned.y.lane && g.x_n == 1)
    found = find([&](const fibre_loop& l) { return l.x == g.n * real; }), turned.x.whole = true;
  else if (found == loops.end() && !turned.x.lane && g.y_q == 1)
    found = find([&](const fibre_loop& l) { return l.y == g.q * real; }), turned.y.whole = true;
  if (found == loops.end()) return false;
  turned.along = *found;
  const bool few = found->count <= 8;  // a register's worth, so that they are turned at once
  turned.x.dense = turned.x.lane && !turned.x.whole && few && g.x_n == found->count;
  turned.y.dense = turned.y.lane && !turned.y.whole && few && g.y_q == found->count;
  loops.erase(found);
  return true;
}

}  // namespace

std::int64_t halves_bytes(const halves_args& g, dtype type) {
  return (g.q + 1) / 2 * g.n * static_cast<std::int64_t>(size_of(type));
}

void make_halves(const halves_args& g, dtype type, const void* m, const void* alpha, void* to) {
  if (type == dtype::f32) split(g, static_cast<const float*>(m), *static_cast<const float*>(alpha), static_cast<float*>(to));
  else split(g, static_cast<const double*>(m), *static_cast<const double*>(alpha), static_cast<double*>(to));
}

std::shared_ptr<const kernel> make(const halves_request& r, target t) {
  const halves_args& g = r.args;
  if (t == target::none || g.q < 2 || g.n < 2 || (r.beta != factor::zero && r.beta != factor::one)) return nullptr;
  const std::int64_t width = t == target::avx512 ? 64 : 32, real = static_cast<std::int64_t>(size_of(r.type));
  if (g.lane_extent * real % width != 0 || halves_code::free_registers(g, t) < 2) return nullptr;
  std::vector<fibre_loop> loops = loops_of(r, real, width);
  turned_fibres turned;
  if (r.x_lane != 1 || r.y_lane != 1) {
    if (r.type != dtype::f64 || t != target::avx512 || !small(8 * 8 * r.x_lane) || !small(8 * 8 * r.y_lane) || !take_turned(r, loops, turned)) return nullptr;
    if (loops.size() > 2) return nullptr;
  }
  if (loops.size() > std::size(loop_counters) || !small(g.n * g.x_n * real) || !small(g.q * g.y_q * real)) return nullptr;
  for (const fibre_loop& l : loops)
    if (!small(l.count) || !small(l.count * l.x) || !small(l.count * l.y)) return nullptr;
  return written<kernel, halves_code>(r, t, loops, turned);
}

}  // namespace ricci::codegen
