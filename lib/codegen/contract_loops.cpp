// The loops around the tiles, and lines asked for ahead.
#include <algorithm>

#include "codegen/contract_code.hpp"

namespace ricci::codegen {

using namespace Xbyak::util;

void contract_code::in_loops(const loops& around, std::size_t left, const std::function<void()>& body) {
  if (left == 0) return body();
  const code_loop& l = around[left - 1];
  const auto step = [&](std::int64_t times) {
    const std::pair<reg64, std::int64_t> moves[] = {{a_, l.a}, {b_, l.b}, {c_, l.c}};
    for (const auto& [p, s] : moves) move_pointer(p, s * times);
  };
  const std::size_t mine = depth_++;
  const bool in_register = mine < most_counters;
  const address slot = qword[rsp + static_cast<int>(8 * (mine - (in_register ? mine : most_counters)))];
  if (in_register) mov(counters[mine].cvt32(), static_cast<std::uint32_t>(l.count));
  else mov(slot, static_cast<std::uint32_t>(l.count));
  Xbyak::Label top;
  align(16);
  L(top);
  if (left == 1 && outside_ && !spreads(*now_)) fetch_ahead(l);
  in_loops(around, left - 1, body);
  step(1);
  if (in_register) dec(counters[mine].cvt32());
  else dec(slot);
  jnz(top, T_NEAR);
  step(-l.count);
  --depth_;
}

/// Asks for the lines that a later iteration needs, as many as one iteration moves on.
void contract_code::fetch_ahead(const code_loop& l) {
  const auto fetch = [&](std::int64_t most, const reg64& p, std::int64_t step) {
    const std::int64_t size = std::abs(step);
    if (size == 0 || size > std::min<std::int64_t>(most, 4096)) return;
    const int slot = slot_of(p);
    if (!slot && ((p == a_ && now_->stage_a) || (p == b_ && now_->stage_b))) return;  // it stands in the scratch
    if (slot) mov(rax, qword[rsp + slot]);
    const reg64 from = slot ? rax : p;
    const std::int64_t ahead = std::max<std::int64_t>(request_.fetch_ahead, size) * (step < 0 ? -1 : 1);
    for (std::int64_t line = 0; line < size; line += 64) prefetcht0(at(from, ahead + (step < 0 ? -line : line)));
  };
  if (request_.fetch_ahead == 0) return;
  fetch(request_.fetch_a, a_, l.a);
  fetch(request_.fetch_b, b_, l.b);
  fetch(request_.fetch_c, c_, l.c);
}

/// Many lines at once would fill the buffers for what is on its way, and the core would wait for them.
bool contract_code::spreads(const nest& n) const { return !n.stage_a && !n.stage_b; }

/// Rows of some lines: no hardware follows several of them at once before the next ones begin, and longer ones it does. Not of rows so far
/// apart that a later tile's could not be named from here.
bool contract_code::asks_rows(const tile& t) const {
  constexpr std::int64_t least = 256, most = 3072, apart = 1 << 20;  // bytes of a row; from one to the next
  const std::int64_t row = now_->k * now_->k_a;
  return request_.ask_rows && t.first == 0 && now_->k_a == number() && now_->outer.size() == 1 && !now_->stage_a && row >= least && row <= most && std::abs(now_->row_a) <= apart;
}

/// The lines of a later tile's rows where this one's stand in a: of the next one, unless that begins before memory has answered.
void contract_code::ask_rows(const tile& t, const reg64& a) {
  constexpr std::int64_t answer = 800;  // cycles
  const std::int64_t cycles = std::max<std::int64_t>(1, now_->k * t.rows * t.count * sets_ / 2), ahead = (answer + cycles - 1) / cycles;
  for (std::int64_t r = 0; r < t.rows; ++r) prefetcht0(at(a, (t.row + ahead * t.rows + r) * now_->row_a));
}

/// What the tiles of an iteration ask for.
void contract_code::plan_fetches(const nest& n) {
  far_.clear();
  shares_ = 0;
  if (request_.fetch_ahead == 0 || !spreads(n)) return;
  const code_loop one{1, request_.next_a, request_.next_b, 0};
  const code_loop& l = n.loops.empty() ? one : n.loops[0];
  const auto add = [&](std::int64_t most, const reg64& p, nest_operand x, std::int64_t step, std::int64_t row) {
    const std::int64_t size = std::abs(step);
    if (size == 0 || size > most) return;
    const bool sparse = is_sparse(n, of_nests(), x, size);
    const std::int64_t least = std::max<std::int64_t>(request_.fetch_ahead, size), ahead = sparse ? (least + size - 1) / size * size : least;
    far_.push_back({p, x, step < 0 ? -ahead : ahead, size, row, sparse});
  };
  add(request_.fetch_a, a_, nest_operand::a, l.a, n.row_a);
  add(request_.fetch_b, b_, nest_operand::b, l.b, 0);
  add(request_.fetch_c, c_, nest_operand::c, l.c, n.row_c);
  const auto count = [](std::int64_t all, std::int64_t each) { return (all + each - 1) / each; };
  const std::int64_t tiles = count(n.rows, n.tile_rows) * count(static_cast<std::int64_t>(n.vectors.size()), n.tile_vectors);
  if (n.vectors.empty()) fetch_whole(packed_shares(n));
  else if (n.unrolled) fetch_whole(tiles * shares_of(n));
}

/// The next few of the lines.
void contract_code::fetch_share() {
  if (shares_ == 0) return;
  const auto lines = static_cast<std::int64_t>(far_lines_.size());
  std::int64_t at = lines * shares_done_ / shares_;
  for (const std::int64_t end = lines * ++shares_done_ / shares_; at < end; ++at) {
    const far_line& x = far_lines_[static_cast<std::size_t>(at)];
    reg64 base = x.base;
    if (x.counter.moved != 0) {
      imul(rax, counters[x.counter.number], static_cast<int>(-x.counter.moved));
      Xbyak::CodeGenerator::add(rax, x.base);
      base = rax;
    }
    if (request_.next_to_second) prefetcht1(contract_code::at(base, x.offset));
    else prefetcht0(contract_code::at(base, x.offset));
  }
  if (shares_done_ == shares_) shares_ = 0;
}

/// All lines, where the tiles are written one after the other.
void contract_code::fetch_whole(std::int64_t shares) {
  far_lines_.clear();
  for (const far_operand& x : far_) {
    if (x.sparse) add_lines(x, {0, now_->rows, 0, now_->k}, 0, {});
    for (std::int64_t line = 0; line < x.bytes && !x.sparse; line += 64) far_lines_.push_back({x.base, x.ahead + line, {}});
  }
  shares_ = far_lines_.empty() ? 0 : shares, shares_done_ = 0;
}

/// Those that a part of an iteration touches.
void contract_code::add_lines(const far_operand& x, const nest_part& part, std::int64_t from, const tile_counter& counter) {
  for (const std::int64_t line : lines_of(*now_, of_nests(), x.which, part)) far_lines_.push_back({x.base, x.ahead + from + line, counter});
}

/// A share of the lines for each tile of rows, where those run in a loop; `before` are done, this is one of run r.
void contract_code::fetch_slice(const tile_run& r, std::int64_t before, std::int64_t tiles, std::int64_t shares) {
  far_lines_.clear();
  for (const far_operand& x : far_) {
    if (x.sparse && x.which != nest_operand::b) {  // the lines of its own rows, from where the base has moved on to
      add_lines(x, {r.first, r.size, 0, now_->k}, 0, {});
      continue;
    }
    const std::int64_t sums = (now_->k + tiles - 1) / tiles;
    const std::int64_t slice = x.sparse ? sums * now_->k_b : ((x.bytes + tiles - 1) / tiles + 63) / 64 * 64;
    // In iteration i the base has moved on by i tiles of rows; the counter says count - i.
    const std::int64_t moved = r.count > 1 ? slice - r.size * x.row : 0, from = before * slice + r.count * moved;
    const std::size_t mine = depth_ - 1;
    if (moved != 0 && mine >= most_counters) continue;
    if (x.sparse) add_lines(x, {0, 0, 0, sums}, from, {moved, mine});
    for (std::int64_t line = 0; line < slice && !x.sparse; line += 64) far_lines_.push_back({x.base, x.ahead + from + line, {moved, mine}});
  }
  shares_ = far_lines_.empty() ? 0 : shares, shares_done_ = 0;
}

void contract_code::write_nest(const nest& n) {
  now_ = &n;
  depth_ = 0;
  outside_ = true;
  if (n.chunk > 1) {
    const loops around(n.loops.begin() + 1, n.loops.end());
    in_loops(around, around.size(), [&] { write_chunks(n); });
    outside_ = false;
    return;
  }
  in_loops(n.loops, n.loops.size(), [&] {
    stage_operands(n, 1);
    outside_ = false;
    plan_fetches(n);
    write_tiles(n);
    if (n.tail) write_tail(n);
    if (n.packed) write_packed(n);
    outside_ = true;
  });
}

void contract_code::write_tiles(const nest& n) {
  if (n.vectors.empty()) return;
  const auto rows = runs_of(n.rows, n.tile_rows);
  const auto vectors = runs_of(static_cast<std::int64_t>(n.vectors.size()), n.tile_vectors);
  if (n.unrolled) {
    for (const tile_run& v : vectors)
      for (std::int64_t j = 0; j < v.count; ++j)
        for (const tile_run& r : rows)
          for (std::int64_t i = 0; i < r.count; ++i)
            write_tile({r.first + i * r.size, r.size, v.first + j * v.size, v.size});
    return;
  }
  const auto all_rows = [&](std::int64_t first, std::int64_t size) {
    std::int64_t before = 0, tiles = 0;
    for (const tile_run& r : rows) tiles += r.count;
    for (const tile_run& r : rows) {
      loops over;
      if (r.count > 1) over.push_back({r.count, r.size * n.row_a, 0, r.size * n.row_c});
      in_loops(over, over.size(), [&] {
        if (first == 0) fetch_slice(r, before, tiles, shares_of(n));
        write_tile({r.first, r.size, first, size});
        shares_ = 0;
      });
      before += r.count;
    }
  };
  const auto last = static_cast<std::int64_t>(n.vectors.size()) - 1;
  const bool special = last > 0 && (n.vectors[last].count != n.vectors[0].count || n.vectors[last].width != n.vectors[0].width);
  const std::int64_t step_b = last > 0 ? n.vectors[1].b - n.vectors[0].b : 0;
  const std::int64_t step_c = last > 0 ? n.vectors[1].c - n.vectors[0].c : 0;
  for (const tile_run& v : vectors) {
    const bool has_special = special && v.first + v.count * v.size - 1 == last;
    const std::int64_t alike = v.count - (has_special ? 1 : 0);
    if (alike > 0) {
      loops over;
      if (alike > 1) over.push_back({alike, 0, v.size * step_b, v.size * step_c});
      in_loops(over, over.size(), [&] { all_rows(v.first, v.size); });
    }
    if (has_special) all_rows(v.first + alike * v.size, v.size);
  }
}

}  // namespace ricci::codegen
