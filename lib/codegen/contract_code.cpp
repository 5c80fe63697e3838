#include "codegen/contract_code.hpp"

#include <algorithm>

namespace ricci::codegen {

using namespace Xbyak::util;

namespace {

/// Registers for loop counters, those that the caller does not care about first.
const Xbyak::Reg64 counters[] = {r9, rbx, rbp, r12, r13, r14, r15};
constexpr std::size_t free_counters = 1, most_counters = 7;

/// How many of the nest's loops and loops over tiles may be open at once.
std::size_t deepest(const std::vector<nest>& nests) {
  std::size_t most = 0;
  for (const nest& n : nests) most = std::max(most, n.loops.size() + (n.unrolled ? 0 : 2));
  return most;
}

}  // namespace

contract_code::contract_code(const request& r, target t, const std::vector<nest>& nests, std::size_t bytes)
    : vector_code(bytes, t, r.type == dtype::f32 || r.type == dtype::c64), request_(r), nests_(nests),
      sets_(is_complex(r.type) ? 2 : 1), batch_(r.lanes == kernels::lanes::batch), alpha_(r.alpha), beta_(r.beta) {
  const std::size_t deep = deepest(nests);
  const std::size_t used = std::min(deep, most_counters);
  saved_ = used > free_counters ? used - free_counters : 0;
  for (std::size_t i = 0; i < saved_; ++i) push(counters[free_counters + i]);
  const std::size_t spilled = deep > most_counters ? deep - most_counters : 0;
  if (spilled) sub(rsp, static_cast<int>(8 * spilled));
  for (const nest& n : nests) use_masks(n.vectors);
  Xbyak::Label zero, done;
  if (beta_ == factor::any) {  // a beta of zero is found out here, so that c is not read
    const auto magnitude = [&](int offset) {
      if (single()) {
        mov(eax, dword[beta_at_ + offset]);
        lea(eax, ptr[rax + rax]);
      } else {
        mov(rax, qword[beta_at_ + offset]);
        lea(rax, ptr[rax + rax]);
      }
    };
    magnitude(0);
    if (sets_ == 2) {
      mov(r10, rax);
      magnitude(real());
      or_(rax, r10);
    }
    if (single() && sets_ == 1) test(eax, eax);
    else test(rax, rax);
    jz(zero, T_NEAR);
    write_bodies(factor::any);
    jmp(done, T_NEAR);
    L(zero);
    write_bodies(factor::zero);
  } else {
    write_bodies(beta_);
  }
  L(done);
  vzeroupper();
  if (spilled) Xbyak::CodeGenerator::add(rsp, static_cast<int>(8 * spilled));
  for (std::size_t i = saved_; i-- > 0;) pop(counters[free_counters + i]);
  ret();
  write_constants();
  if (!table_of_.empty()) {
    align(8);
    L(tables_);
    for (const auto& [x, y] : table_of_[0]->outer) {
      dq(static_cast<std::uint64_t>(x));
      dq(static_cast<std::uint64_t>(y));
    }
  }
}

void contract_code::write_bodies(factor beta) {
  beta_ = beta;
  std::int64_t moved = 0;
  for (const nest& n : nests_) {
    if (n.start != moved)
      for (const reg64& p : {a_, b_, c_}) Xbyak::CodeGenerator::add(p, static_cast<int>(n.start - moved));
    moved = n.start;
    write_nest(n);
  }
}

/// body() inside the loops from the outermost on; the pointers stand where they stood when it is over.
template <class Body> void contract_code::in_loops(const loops& around, std::size_t left, Body&& body) {
  if (left == 0) return body();
  const code_loop& l = around[left - 1];
  const auto step = [&](std::int64_t times) {
    const std::pair<reg64, std::int64_t> moves[] = {{a_, l.a}, {b_, l.b}, {c_, l.c}};
    for (const auto& [p, s] : moves)
      if (s * times > 0) Xbyak::CodeGenerator::add(p, static_cast<int>(s * times));
      else if (s * times < 0) sub(p, static_cast<int>(-s * times));
  };
  const std::size_t mine = depth_++;
  const bool in_register = mine < most_counters;
  const address slot = qword[rsp + static_cast<int>(8 * (mine - (in_register ? mine : most_counters)))];
  if (in_register) mov(counters[mine].cvt32(), static_cast<std::uint32_t>(l.count));
  else mov(slot, static_cast<std::uint32_t>(l.count));
  Xbyak::Label top;
  align(16);
  L(top);
  if (left == 1) fetch_ahead(l);
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
  const auto fetch = [&](bool wanted, const reg64& p, std::int64_t step) {
    const std::int64_t size = std::abs(step);
    if (!wanted || size == 0 || size > 4096) return;
    const std::int64_t ahead = std::max<std::int64_t>(request_.fetch_ahead, size) * (step < 0 ? -1 : 1);
    for (std::int64_t line = 0; line < size; line += 64) prefetcht0(at(p, ahead + (step < 0 ? -line : line)));
  };
  if (request_.fetch_ahead == 0) return;
  fetch(request_.fetch_a, a_, l.a);
  fetch(request_.fetch_b, b_, l.b);
  fetch(request_.fetch_c, c_, l.c);
}

void contract_code::write_nest(const nest& n) {
  now_ = &n;
  depth_ = 0;
  in_loops(n.loops, n.loops.size(), [&] { write_tiles(n); });
}

void contract_code::write_tiles(const nest& n) {
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
    for (const tile_run& r : rows) {
      loops over;
      if (r.count > 1) over.push_back({r.count, r.size * n.row_a, 0, r.size * n.row_c});
      in_loops(over, over.size(), [&] { write_tile({r.first, r.size, first, size}); });
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

void contract_code::write_tile(const tile& t) {
  if (!wide()) {
    keep_mask(15);
    for (std::int64_t v = 0; v < t.count; ++v)
      if (needs_mask(vector(t, v))) {
        load_mask(vector(t, v));
        break;
      }
  }
  write_sums(t);
  if (sets_ == 2) join_complex(t);
  scale(t);
  finish(t);
}

/// The sums begin at zero, or at c where the update is c += or c -= alone.
void contract_code::start_sums(const tile& t) {
  for (std::int64_t r = 0; r < t.rows; ++r)
    for (std::int64_t v = 0; v < t.count; ++v)
      for (int s = 0; s < sets_; ++s) {
        const int i = sum_register(t, s, r, v);
        if (preloads()) load_c(i, vector(t, v), at(c_, c_of(t, r, v)));
        else clear(i, vector(t, v).width);
      }
}

void contract_code::write_sums(const tile& t) {
  const nest& n = *now_;
  if (!n.whole_sums || preloads()) start_sums(t);
  if (!n.whole_sums) return sum_loop(t, false);
  bool fresh = !preloads();
  const std::int64_t row = t.row * n.row_a;
  for (const auto& [x, y] : n.outer)
    for (std::int64_t k = 0; k < n.k; ++k, fresh = false)
      one_step(t, a_, b_, row + x + k * n.k_a, y + k * n.k_b, fresh);
}

void contract_code::sum_loop(const tile& t, bool fresh) {
  const nest& n = *now_;
  const reg64 a = r10, b = r11;
  const std::int64_t cost = t.rows * t.count * sets_;
  const std::int64_t unroll = std::min(n.k, std::max<std::int64_t>(1, 64 / cost)), rounds = n.k / unroll;
  const bool table = n.outer.size() > 1;
  Xbyak::Label entry;
  if (table) {
    table_of_ = {now_};
    push(rcx);
    push(r8);
    lea(rcx, ptr[rip + tables_]);
    mov(r8d, static_cast<std::uint32_t>(n.outer.size()));
    L(entry);
    mov(a, ptr[rcx]);
    mov(b, ptr[rcx + 8]);
    Xbyak::CodeGenerator::add(rcx, 16);
    Xbyak::CodeGenerator::add(a, a_);
    Xbyak::CodeGenerator::add(b, b_);
  } else {
    lea(a, ptr[a_ + static_cast<int>(n.outer[0].first)]);
    lea(b, ptr[b_ + static_cast<int>(n.outer[0].second)]);
  }
  const std::int64_t row = t.row * n.row_a;
  const auto steps = [&](std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) one_step(t, a, b, row + k * n.k_a, k * n.k_b, fresh);
  };
  if (rounds > 1) {
    Xbyak::Label top;
    mov(eax, static_cast<std::uint32_t>(rounds));
    align(16);
    L(top);
    steps(unroll);
    if (n.k_a) Xbyak::CodeGenerator::add(a, static_cast<int>(unroll * n.k_a));
    if (n.k_b) Xbyak::CodeGenerator::add(b, static_cast<int>(unroll * n.k_b));
    dec(eax);
    jnz(top, T_NEAR);
    steps(n.k - rounds * unroll);
  } else {
    steps(n.k);
  }
  if (table) {
    dec(r8d);
    jnz(entry, T_NEAR);
    pop(r8);
    pop(rcx);
  }
}

void contract_code::accumulate(int sum, const lane_vector& v, int x, const Xbyak::Operand& y, bool fresh) {
  if (fresh) mul(reg(sum, v.width), reg(x, v.width), y);
  else fma(reg(sum, v.width), reg(x, v.width), y, subtracts());
}

/// One value of the summed index for all of the tile.
void contract_code::one_step(const tile& t, const reg64& a, const reg64& b, std::int64_t a_at, std::int64_t b_at, bool fresh) {
  const nest& n = *now_;
  if (keeps_vectors(t))
    for (std::int64_t v = 0; v < t.count; ++v) load_b(vector_register(t, v), vector(t, v), at(b, b_at + b_of(t, v)));
  for (std::int64_t r = 0; r < t.rows; ++r) row_step(t, r, at(a, a_at + r * n.row_a), b, b_at, fresh);
}

void contract_code::row_step(const tile& t, std::int64_t row, const address& from, const reg64& b, std::int64_t b_at, bool fresh) {
  const int x = element_register(t);
  if (embeds(t)) {
    const lane_vector& v = vector(t, 0);
    const address element = ptr_b[from.getRegExp()];
    return accumulate(sum_register(t, 0, row, 0), v, vector_register(t, 0), element, fresh);
  }
  for (int s = 0; s < sets_; ++s) {
    const address part = ptr[from.getRegExp() + (batch_ ? 0 : s * real())];
    int width = 16;
    for (std::int64_t v = 0; v < t.count; ++v) width = std::max(width, vector(t, v).width);
    if (!batch_) {
      broadcast(x, width, part);
    } else if (sets_ == 1) {
      load(x, vector(t, 0), part);
    } else if (s == 0) {
      load(x, vector(t, 0), part);
    }
    for (std::int64_t v = 0; v < t.count; ++v) {
      const lane_vector& lv = vector(t, v);
      const int sum = sum_register(t, s, row, v);
      if (batch_ && sets_ == 2) {  // (re, re) b and (im, im) b, with one register to spare
        const int y = element_register(t) + 1;
        s == 0 ? both_even(reg(y, lv.width), reg(x, lv.width)) : both_odd(reg(y, lv.width), reg(x, lv.width));
        accumulate(sum, lv, y, reg(vector_register(t, v), lv.width), fresh);
      } else if (keeps_vectors(t)) {
        accumulate(sum, lv, x, reg(vector_register(t, v), lv.width), fresh);
      } else if (partial(lv) || narrow_b()) {
        load_b(vector_register(t, 0), lv, at(b, b_at + b_of(t, v)));
        accumulate(sum, lv, x, reg(vector_register(t, 0), lv.width), fresh);
      } else {
        accumulate(sum, lv, x, at(b, b_at + b_of(t, v)), fresh);
      }
    }
  }
}

/// own * re_sum + other * swap(im_sum): the sign of each part of a complex product, conjugates included.
void contract_code::join_complex(const tile& t) {
  const double sa = request_.args.conj_a ? -1 : 1, sb = request_.args.conj_b ? -1 : 1;
  for (std::int64_t r = 0; r < t.rows; ++r)
    for (std::int64_t v = 0; v < t.count; ++v) {
      const int width = vector(t, v).width;
      const auto re = reg(sum_register(t, 0, r, v), width), im = reg(sum_register(t, 1, r, v), width);
      swap_pairs(im, im);
      if (sb < 0) mul(re, re, ptr[rip + pairs(1, sb)]);
      fma(re, im, ptr[rip + pairs(-sa * sb, sa)]);
    }
}

void contract_code::scale(const tile& t) {
  if (alpha_ == factor::one || preloads()) return;
  if (alpha_ == factor::any && sets_ == 2) return scale_complex(t);
  const int x = element_register(t);
  int width = 16;
  for (std::int64_t v = 0; v < t.count; ++v) width = std::max(width, vector(t, v).width);
  if (alpha_ == factor::any) broadcast(x, width, ptr[alpha_at_]);
  for (std::int64_t r = 0; r < t.rows; ++r)
    for (std::int64_t v = 0; v < t.count; ++v) {
      const auto sum = reg(sum_register(t, 0, r, v), vector(t, v).width);
      if (alpha_ == factor::any) mul(sum, sum, reg(x, vector(t, v).width));
      else mul(sum, sum, ptr[rip + pairs(alpha_ == factor::zero ? 0 : -1, alpha_ == factor::zero ? 0 : -1)]);
    }
}

/// sum = re(alpha) sum + (-im, im) swap(sum), with the second set's registers free by now.
void contract_code::scale_complex(const tile& t) {
  const int re = element_register(t), im = vector_register(t, 0);
  int width = 16;
  for (std::int64_t v = 0; v < t.count; ++v) width = std::max(width, vector(t, v).width);
  broadcast(re, width, ptr[alpha_at_]);
  broadcast(im, width, ptr[alpha_at_ + real()]);
  mul(reg(im, width), reg(im, width), ptr[rip + pairs(-1, 1)]);
  for (std::int64_t r = 0; r < t.rows; ++r)
    for (std::int64_t v = 0; v < t.count; ++v) {
      const int w = vector(t, v).width;
      const auto sum = reg(sum_register(t, 0, r, v), w), other = reg(sum_register(t, 1, r, v), w);
      swap_pairs(other, sum);
      mul(sum, sum, reg(re, w));
      fma(sum, other, reg(im, w));
    }
}

/// sum += beta c.
void contract_code::add_old(const tile& t, std::int64_t row, std::int64_t v) {
  const lane_vector& lv = vector(t, v);
  const auto sum = reg(sum_register(t, 0, row, v), lv.width);
  const address from = at(c_, c_of(t, row, v));
  const int re = vector_register(t, 0), old = element_register(t);
  if (sets_ == 2) {
    const int spare = sum_register(t, 1, row, v), im = sum_register(t, 1, 0, 0);
    load_c(old, lv, from);
    if (beta_ == factor::one) return add(sum, sum, reg(old, lv.width));
    fma(sum, reg(old, lv.width), reg(re, lv.width));
    // The first register of the second set keeps im(beta), so its own element swaps in place.
    if (spare == im) {
      swap_pairs(reg(old, lv.width), reg(old, lv.width));
      return fma(sum, reg(old, lv.width), reg(im, lv.width));
    }
    swap_pairs(reg(spare, lv.width), reg(old, lv.width));
    return fma(sum, reg(spare, lv.width), reg(im, lv.width));
  }
  const bool loaded = partial(lv) || narrow_c();
  if (loaded) load_c(old, lv, from);
  if (beta_ == factor::one) {
    if (loaded) add(sum, sum, reg(old, lv.width));
    else add(sum, sum, from);
  } else if (loaded) {
    fma(sum, reg(re, lv.width), reg(old, lv.width));
  } else {
    fma(sum, reg(re, lv.width), from);
  }
}

void contract_code::finish(const tile& t) {
  const bool adds = reads_c() && !preloads();
  int width = 16;
  for (std::int64_t v = 0; v < t.count; ++v) width = std::max(width, vector(t, v).width);
  if (adds && beta_ == factor::any) {
    broadcast(vector_register(t, 0), width, ptr[beta_at_]);
    if (sets_ == 2) {
      const int im = sum_register(t, 1, 0, 0);
      broadcast(im, width, ptr[beta_at_ + real()]);
      mul(reg(im, width), reg(im, width), ptr[rip + pairs(-1, 1)]);
    }
  } else if (adds && beta_ == factor::minus_one) {
    vmovups(reg(vector_register(t, 0), width), ptr[rip + pairs(-1, -1)]);
    if (sets_ == 2) clear(sum_register(t, 1, 0, 0), width);
  }
  const auto each = [&](auto&& body) {
    for (std::int64_t r = 0; r < t.rows; ++r)
      for (std::int64_t v = 0; v < t.count; ++v) body(r, v);
  };
  // All of c is read before any of it is stored: see store().
  if (adds) each([&](std::int64_t r, std::int64_t v) { add_old(t, r, v); });
  each([&](std::int64_t r, std::int64_t v) {
    const int sum = sum_register(t, 0, r, v);
    if (narrow_c()) store_narrow(sum, vector(t, v), at(c_, c_of(t, r, v)), element_register(t), request_.type_c);
    else store(sum, vector(t, v), c_, c_of(t, r, v), element_register(t), reads_c() && r + 1 == t.rows);
  });
}

}  // namespace ricci::codegen
