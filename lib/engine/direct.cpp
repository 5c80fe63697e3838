// Runs the tiles of one step: pack what lacks the stride, call the kernel, store what was buffered.
#include <cstring>

#include "engine/chain.hpp"
#include "engine/other.hpp"

namespace ricci {
namespace {

struct position {
  std::int64_t a = 0, b = 0, c = 0;
  int tails = 0;
};

/// Decodes a linear iteration of some loops, the last fastest.
position decode(const std::vector<outer_loop>& loops, std::int64_t i) {
  position p;
  if (loops.size() == 1) {
    const outer_loop& x = loops[0];
    return {i * x.a, i * x.b, i * x.c, i == x.count - 1 ? x.tail_bit : 0};
  }
  for (std::size_t l = loops.size(); l-- > 0;) {
    const outer_loop& x = loops[l];
    const std::int64_t n = i % x.count;
    i /= x.count;
    p.a += n * x.a, p.b += n * x.b, p.c += n * x.c;
    if (n == x.count - 1) p.tails |= x.tail_bit;
  }
  return p;
}

struct packer {
  const char* last = nullptr;
  int tails = -1;

  /// Packs unless the same tile was packed last time.
  const char* operator()(kernels::move_fn move, const kernels::move_args& args, const codegen::kernel* turn, const char* source, char* target, int t) {
    if (source == last && t == tails) return target;
    if (turn) (*turn)(nullptr, source, target, nullptr, nullptr);
    else move(args, source, target, nullptr);
    last = source, tails = t;
    return target;
  }
};

}  // namespace

void run_direct(const step_run& r, std::int64_t first, std::int64_t last, bool packed_a, bool packed_b) {
  const bound_step& s = *r.step;
  if (s.other) return s.other->tiles.empty() ? run_other(r, packed_a) : run_tiles(r, first, last);
  if (s.in_place) return (*s.tiles[0].first)(r.a, r.b, r.c, r.alpha_or_scale(), r.beta);
  packer pack_a, pack_b;
  line_writer writer;
  char* behind = nullptr;  // the last piece that left through the writer
  const bool past = s.writes_past(r.c), buffered = s.buffer_c >= 0 && !past, streams = s.stream_c && buffered;
  if (streams) writer = {s.stream_c, r.scratch + s.buffer_c, 0, 1};
  for (std::int64_t i = first; i < last; ++i) {
    position outer = decode(s.free_loops, i);
    const bool short_part = outer.tails & last_part;
    outer.tails &= ~last_part;
    const std::int64_t others = short_part ? s.sum_count / s.sum_loops[0].count : 1, sums = short_part ? s.last_tiles * others : s.sum_count;
    for (std::int64_t k = 0; k < sums; ++k) {
      position at = outer;
      if (sums > 1) {
        const position inner = decode(s.sum_loops, k);
        at.a += inner.a, at.b += inner.b, at.tails |= inner.tails;
      }
      if (short_part && k / others == s.last_tiles - 1) at.tails |= s.last_tail;
      const tile_args& t = s.tiles[static_cast<std::size_t>(at.tails)];
      const char *a = r.a + at.a, *b = r.b + at.b;
      char* c = r.c + at.c;
      if (s.how == method::move) {
        if (t.first) (*t.first)(nullptr, b, c, nullptr, nullptr);
        else s.move_c(t.store_c, b, c, r.beta);
        continue;
      }
      if (s.pack_a >= 0) a = packed_a ? r.scratch + s.pack_a : pack_a(s.move_a, t.pack_a, nullptr, a, r.scratch + s.pack_a, at.tails);
      if (s.pack_b >= 0) b = packed_b ? r.scratch + s.pack_b : pack_b(s.move_b, t.pack_b, t.turn_b.get(), b, r.scratch + s.pack_b, at.tails);
      if (streams && behind && c != behind) writer.finish(behind), behind = nullptr;
      char* target = streams ? writer.place(c) : buffered ? r.scratch + s.buffer_c : c;
      const void* beta = k > 0 ? one_of(s.type) : buffered ? zero_of(s.type) : r.beta;
      if (const auto& made = k > 0 ? t.later : past ? t.past : t.first) (*made)(a, b, target, r.alpha_or_scale(), beta);
      else s.contract(t.contract, a, b, target, r.alpha, beta);
      if (!buffered || k + 1 < sums) continue;
      if (streams) writer.store(c, t.stream_bytes), behind = c + t.stream_bytes;
      else s.move_c(t.store_c, target, c, r.beta);
    }
  }
  if (behind) writer.finish(behind);
}

}  // namespace ricci
