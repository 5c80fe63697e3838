// Writes many short dot products whose results are neighbours.
#include "codegen/dots_code.hpp"

#include <algorithm>
#include <set>

namespace ricci::codegen {

using namespace Xbyak::util;

namespace {

constexpr std::int64_t ask_distance = 1024;  // bytes

}  // namespace

dots_code::dots_code(const request& r, const dots& d, target t) : dots_registers(r, d, t) {
  write_for(r.beta, n_.beta, [&](factor beta) { write_loops(d.loops, d.loops.size(), [&] { write_results(beta); }); });
  vzeroupper();
  ret();
  write_places();
  write_constants();
}

/// All results of the dense axes: whole periods in a loop, and what is left.
void dots_code::write_results(factor beta) {
  const std::int64_t periods = d_.count / d_.period, moves = d_.period / d_.inner;
  const dots::axis& last = d_.dense.back();
  if (d_.triples && !request_.args.ones_a && (last.a == 0 || last.b == 0)) spread_triple(at(last.a == 0 ? a_ : b_, 0));
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
    return finish(0, c_, first * d_.real, count, beta);
  }
  const std::vector<slots> all = order(count);
  std::set<std::vector<std::int64_t>> of_a, of_b;
  for (const slots& s : all) of_a.insert(offsets(s, first, &dots::axis::a)), of_b.insert(offsets(s, first, &dots::axis::b));
  if (keeps_a_ != (of_a.size() < of_b.size())) keeps_a_ = !keeps_a_, kept_.clear();
  write_tree(all, 0, all.size(), first, 0);
  finish(0, c_, first * d_.real, count, beta);
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

/// The products of the segments of one register, piece by piece.
void dots_code::write_product(const slots& s, std::int64_t first, int to) {
  const std::vector<std::int64_t> from_a = offsets(s, first, &dots::axis::a), from_b = offsets(s, first, &dots::axis::b);
  if (request_.args.ones_a) {
    load_piece(to, b_, from_b, d_.pieces[0].b, d_.pieces[0].count);
    for (std::size_t i = 1; i < d_.pieces.size(); ++i) add_piece(to, at(b_, from_b[0] + d_.pieces[i].b), d_.pieces[i].count);
    return;
  }
  // One factor goes through registers, where it may be shared; the other one is read as it is multiplied.
  const reg64 &kept = keeps_a_ ? a_ : b_, &other = keeps_a_ ? b_ : a_;
  const std::vector<std::int64_t>&from = keeps_a_ ? from_a : from_b, &from_other = keeps_a_ ? from_b : from_a;
  const bool all_kept = static_cast<int>(d_.pieces.size()) <= n_.kept_count, again = all_kept && from == kept_;
  kept_ = from;
  for (std::size_t i = 0; i < d_.pieces.size(); ++i) {
    const dots::piece& p = d_.pieces[i];
    const int x = all_kept ? n_.kept + static_cast<int>(i) : n_.kept;
    if (!again) load_piece(x, kept, from, keeps_a_ ? p.a : p.b, p.count);
    if (is_one_load(from_other)) {
      multiply_piece(to, x, at(other, from_other[0] + (keeps_a_ ? p.b : p.a)), p.count, i == 0);
    } else {
      load_segments(n_.spare, other, from_other);
      mul(v(to), v(x), v(n_.spare));
    }
  }
}

/// The sums of triples of products, in the first register.
void dots_code::write_triples(std::int64_t first, std::int64_t count) {
  const dots::axis& x = d_.dense[0];
  const bool shared = !request_.args.ones_a && (x.a == 0 || x.b == 0);
  const reg64 &p = x.b == 0 ? a_ : b_, &q = a_;  // what has a triple for each result, and the other one
  for (int i = 0; i < 3; ++i) {
    const std::int64_t here = std::min<std::int64_t>(3 * count - i * d_.lanes, d_.lanes), offset = 3 * first * d_.real + full() * i;
    if (here <= 0) {
      clear(i, full());
      continue;
    }
    const bool some = here < d_.lanes;
    if (shared && !some) {
      mul(v(i), v(n_.triple + i), at(p, offset));
      continue;
    }
    load_some(i, here, at(p, offset));
    if (shared) mul(v(i), v(n_.triple + i), v(i));
    else if (some && !request_.args.ones_a) load_some(n_.spare, here, at(q, offset)), mul(v(i), v(i), v(n_.spare));
    else if (!request_.args.ones_a) mul(v(i), v(i), at(q, offset));
  }
  collect_triples();
}

}  // namespace ricci::codegen
