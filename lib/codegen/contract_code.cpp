// The code of a contraction: entry, tiles, sums and the update of c.
#include "codegen/contract_code.hpp"

#include <algorithm>

namespace ricci::codegen {

using namespace Xbyak::util;

namespace {

/// How many of the nest's loops and loops over tiles may be open at once.
std::size_t deepest(const std::vector<nest>& nests) {
  std::size_t most = 0;
  for (const nest& n : nests) most = std::max(most, n.loops.size() + (n.unrolled ? 0 : 2) + (n.chunk > 1 ? 1 : 0) + (n.packed && n.packed->alone ? 1 : 0));
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
  open_frame(deep > most_counters ? deep - most_counters : 0);
  for (const nest& n : nests) {
    use_masks(n.vectors);
    use_stage_masks(n);
    if (n.tail) prepare_tail(n);
    if (n.packed) prepare_packed(*n.packed);
  }
  use_pairs();
  if (alpha_ == factor::tensor) sub(alpha_at_, c_);  // from here on the way from c to the tensor
  write_for_beta();
  vzeroupper();
  close_frame();
  for (std::size_t i = saved_; i-- > 0;) pop(counters[free_counters + i]);
  ret();
  write_constants();
  write_places();
  write_packed_places();
  write_tables();
}

/// A beta of zero is found out here, so that c is not read.
void contract_code::write_for_beta() {
  if (beta_ != factor::any) return write_bodies(beta_);
  Xbyak::Label zero, done;
  jump_if_zero(beta_at_, sets_, zero);
  write_bodies(factor::any);
  jmp(done, T_NEAR);
  L(zero);
  write_bodies(factor::zero);
  L(done);
}

/// Offsets of the outer sums.
void contract_code::write_tables() {
  if (table_of_.empty()) return;
  align(8);
  L(tables_);
  for (const auto& [x, y] : table_of_[0]->outer) {
    dq(static_cast<std::uint64_t>(x));
    dq(static_cast<std::uint64_t>(y));
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

void contract_code::write_tile(const tile& t) {
  if (!wide()) {
    keep_mask(15);
    for (std::int64_t v = 0; v < t.count; ++v)
      if (needs_mask(vector(t, v))) {
        load_mask(vector(t, v));
        break;
      }
  }
  if (reads_c() && !preloads() && now_->k >= 24)
    for (std::int64_t r = 0; r < t.rows; ++r)
      for (std::int64_t v = 0; v < t.count; ++v) prefetcht0(at(c_, c_of(t, r, v)));
  write_sums(t);
  if (sets_ == 2) join_complex(t);
  scale(t);
  finish(t);
}

void contract_code::write_sums(const tile& t) {
  const nest& n = *now_;
  strands_ = strands_of_tile(t);
  if (!n.whole_sums || n.pairs || preloads() || strands_ > 1) start_sums(t);
  if (!n.whole_sums) {
    fetch_share();
    sum_loop(t, false);
    return join_strands(t);
  }
  bool fresh = !preloads() && !n.pairs && strands_ == 1;
  const std::int64_t row = t.row * n.row_a;
  // Arrays of squares often stand a multiple of 4 KiB apart, or little more. The rows of b before that one look to the
  // processor like the rows of c that the last tile has just stored, and to be loaded they would wait for those. Behind
  // short sums several problems' rows are on their way at once, and none of b's is far from them.
  const std::int64_t further = n.k < 8 ? 0 : (t.rows + 1) / 2;
  const std::int64_t begin = request_.staggered ? (t.row + further) % n.k : 0;
  for (const auto& [x, y] : n.outer)
    for (std::int64_t i = 0; i < n.k; ++i, fresh = false) {
      const std::int64_t k = (i + begin) % n.k;
      rows_left_ = n.k - k;
      strand_ = static_cast<int>(i % strands_);
      one_step(t, a_, b_, row + x + k * n.k_a, y + k * n.k_b, fresh), fetch_share();
    }
  rows_left_ = 0;
  if (n.odd) odd_step(t, a_, b_, row + n.k * n.k_a, n.k * n.k_b);
  join_strands(t);
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
  const auto steps = [&](std::int64_t count, std::int64_t behind) {
    for (std::int64_t k = 0; k < count; ++k) {
      rows_left_ = count - k + behind;
      strand_ = static_cast<int>(k % strands_);
      one_step(t, a, b, row + k * n.k_a, k * n.k_b, fresh);
    }
    rows_left_ = 0;
  };
  const bool asks = asks_rows(t);
  const std::int64_t looped = rounds > 2 ? rounds - 1 : rounds == 2 ? 2 : 0;  // the last ones know where b ends
  const std::int64_t rest = n.k - looped * unroll;
  if (looped) {
    Xbyak::Label top;
    mov(eax, static_cast<std::uint32_t>(looped));
    align(16);
    L(top);
    if (asks) ask_rows(t, a);
    steps(unroll, rest);
    if (n.k_a) Xbyak::CodeGenerator::add(a, static_cast<int>(unroll * n.k_a));
    if (n.k_b) Xbyak::CodeGenerator::add(b, static_cast<int>(unroll * n.k_b));
    dec(eax);
    jnz(top, T_NEAR);
  }
  if (asks) ask_rows(t, a);
  steps(rest, 0);
  if (n.odd) odd_step(t, a, b, row + rest * n.k_a, rest * n.k_b);
  if (table) {
    dec(r8d);
    jnz(entry, T_NEAR);
    pop(r8);
    pop(rcx);
  }
}

void contract_code::accumulate(int sum, const lane_vector& v, int x, const Xbyak::Operand& y, bool fresh) {
  if (now_->pairs) return vdpbf16ps(reg(sum, v.width), reg(x, v.width), y);
  if (fresh) mul(reg(sum, v.width), reg(x, v.width), y);
  else fma(reg(sum, v.width), reg(x, v.width), y, subtracts());
}

/// One value of the summed index for all of the tile.
void contract_code::one_step(const tile& t, const reg64& a, const reg64& b, std::int64_t a_at, std::int64_t b_at, bool fresh) {
  const nest& n = *now_;
  if (keeps_vectors(t))
    for (std::int64_t v = 0; v < t.count; ++v) load_b(vector_register(t, v), vector(t, v), at(b, b_at + b_of(t, v)), element_register(t));
  for (std::int64_t r = 0; r < t.rows; ++r) row_step(t, r, at(a, a_at + r * n.row_a), b, b_at, fresh);
}

void contract_code::row_step(const tile& t, std::int64_t row, const address& from, const reg64& b, std::int64_t b_at, bool fresh) {
  if (request_.only_sums) return sum_step(t, row, b, b_at, fresh);
  const int x = element_register(t);
  if (embeds(t, row) && !odd_step_) {
    const address element = ptr_b[from.getRegExp()];
    for (std::int64_t v = 0; v < t.count; ++v)
      accumulate(sum_register(t, 0, row, v), vector(t, v), vector_register(t, v), element, fresh);
    return;
  }
  for (int s = 0; s < sets_; ++s) {
    const address part = ptr[from.getRegExp() + (batch_ ? 0 : s * real())];
    int width = 16;
    for (std::int64_t v = 0; v < t.count; ++v) width = std::max(width, vector(t, v).width);
    if (odd_step_) {
      vpbroadcastw(reg(x, width) | k7 | T_z, part);
    } else if (!batch_) {
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
        load_b(vector_register(t, 0), lv, at(b, b_at + b_of(t, v)), x + 1);
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
  if (alpha_ == factor::tensor) return scale_by_tensor(t);
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

void contract_code::scale_by_tensor(const tile& t) {
  const int x = element_register(t);
  for (std::int64_t r = 0; r < t.rows; ++r)
    for (std::int64_t v = 0; v < t.count; ++v) {
      const lane_vector& lv = vector(t, v);
      const auto sum = reg(sum_register(t, 0, r, v), lv.width);
      const address from = ptr[c_ + alpha_at_ + static_cast<int>(c_of(t, r, v))];
      if (request_.fetch_scale > 0) prefetcht0(ptr[c_ + alpha_at_ + static_cast<int>(c_of(t, r, v) + request_.fetch_scale)]);
      if (!partial(lv)) {
        mul(sum, sum, from);
        continue;
      }
      load(x, lv, from);
      mul(sum, sum, reg(x, lv.width));
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
    if (beta_ == factor::minus_one) return single() ? vsubps(sum, sum, reg(old, lv.width)) : vsubpd(sum, sum, reg(old, lv.width));
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
    const bool exact = reads_c() && r + 1 == t.rows;
    const int spare = element_register(t);
    if (narrow_c()) store_narrow(sum, vector(t, v), at(c_, c_of(t, r, v)), spare, request_.type_c, exact);
    else if (request_.past_caches) vmovntps(at(c_, c_of(t, r, v)), reg(sum, vector(t, v).width));
    else store(sum, vector(t, v), c_, c_of(t, r, v), spare, exact);
  });
}

}  // namespace ricci::codegen
