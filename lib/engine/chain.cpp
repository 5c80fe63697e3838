// One call of a written kernel as a link of a chain.
#include "engine/chain.hpp"

namespace ricci {
namespace {

bool is_one_call(const bound_step& s) {
  const bool packed = (s.pack_a < 0 || s.keep_a) && (s.pack_b < 0 || s.keep_b);
  return s.how == method::direct && s.free_count == 1 && s.sum_count == 1 && s.tiles.size() == 1 && s.tiles[0].first &&
         packed && (s.buffer_c < 0 || s.stream_c);
}

}  // namespace

link link_of(const step_run& r, char* packs) {
  const bound_step& s = *r.step;
  link l;
  if (!is_one_call(s)) return l;
  l.code = s.tiles[0].first->entry();
  l.a = r.a, l.b = r.b, l.c = r.c;
  l.a_step = s.a.blocks[0], l.b_step = s.b.blocks[0], l.c_step = s.c.blocks[0];
  l.alpha = r.alpha, l.beta = r.beta;
  if (s.pack_a >= 0) l.a = packs + s.pack_a, l.a_step = 0;
  if (s.pack_b >= 0) l.b = packs + s.pack_b, l.b_step = 0;
  if (s.stream_c) l.stream = s.stream_c, l.buffer = packs + s.buffer_c, l.bytes = s.tiles[0].stream_bytes;
  return l;
}

}  // namespace ricci
