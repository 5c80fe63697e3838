// One call of a written kernel as a link of a chain.
#include "engine/chain.hpp"
#include "engine/other.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ricci {
namespace {

constexpr std::int64_t line_bytes = 64, most_fetched = 1 << 16;

bool is_one_call(const bound_step& s) {
  const bool packed = (s.pack_a < 0 || s.keep_a) && (s.pack_b < 0 || s.keep_b);
  return (s.how == method::direct || s.how == method::move) && s.free_count == 1 && s.sum_count == 1 && s.tiles.size() == 1 && s.tiles[0].first &&
         packed && (s.buffer_c < 0 || (s.stream_c && s.c.blocks[0] == s.tiles[0].stream_bytes));
}

}  // namespace

void line_writer::store(char* c, std::int64_t bytes) {
  const std::int64_t start = offset(c), end = start + bytes;
  std::int64_t first = start - waiting_;  // not 0: the line before the first piece is not ours
  if (first > 0) {
    const std::int64_t head = std::min(line - start, bytes);
    std::memcpy(c, buffer_ + start, static_cast<std::size_t>(head));
    first = start + head;
  }
  const std::int64_t whole = end / line * line;
  waiting_ = first < end ? end - std::max(whole, first) : 0;
  if (left_ > 0) leave(left_);
  if (first < whole) {
    from_ = buffer_ + first, to_ = c - start + first, left_ = (whole - first) / line;
    share_ = (left_ + shares_ - 1) / shares_;
    if (buffer_ == other_) leave(left_);
  }
  std::memmove(other_, buffer_ + end - waiting_, static_cast<std::size_t>(waiting_));
  std::swap(buffer_, other_);
}

void line_writer::finish(char* c) {
  if (left_ > 0) leave(left_);
  std::memcpy(c - waiting_, buffer_, static_cast<std::size_t>(waiting_));
  waiting_ = 0;
}

void point_link::set(step_run& r, char* packs) {
  code_ = nullptr, blocks_ = slices_ = 0;
  const bound_step& s = *r.step;
  if (s.how != method::pointwise || !s.other->made || s.other->pointwise->loop_count > 0 || s.other->rest) return;
  if (!s.other->ends.empty() && !s.keep_a) return;
  bool fits = true;
  const auto add = [&](const std::vector<place>& places, bool output) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto note = [&](mover* movers, int& count, std::int64_t step) {
        if (step == 0) return;
        fits = fits && count < most_moving;
        if (fits) movers[count++] = {output, static_cast<int>(i), step};
      };
      const std::int64_t step = places[i].where == operand::kind::external ? places[i].blocks[0] : 0;
      note(block_, blocks_, s.slices > 1 ? step - s.slices * places[i].slice : step);
      if (s.slices > 1) note(slice_, slices_, places[i].slice);
    }
  };
  add(s.other->inputs, false), add(s.other->outputs, true);
  if (!fits) return;
  set_packed_ends(r, packs);
  code_ = s.other->made.get();
}

void point_link::call(step_run& r) { (*code_)(r.inputs, r.outputs, r.alphas, r.betas); }

void point_link::move(step_run& r, const mover* movers, int count) {
  for (const mover* m = movers; m != movers + count; ++m) {
    if (m->output) r.outputs[m->index] = static_cast<char*>(r.outputs[m->index]) + m->step;
    else r.inputs[m->index] = static_cast<const char*>(r.inputs[m->index]) + m->step;
  }
}

link link_of(const step_run& r, char* packs, std::size_t steps) {
  const bound_step& s = *r.step;
  link l;
  if (s.how == method::halves && s.other->written_half && s.keep_a) {
    l.code = s.other->written_half->entry();
    l.a = packs + s.pack_a, l.b = r.b, l.c = r.c;
    l.b_step = s.b.blocks[0], l.c_step = s.c.blocks[0];
    l.b_slice = s.b.slice, l.c_slice = s.c.slice;
    l.alpha = r.fetch ? r.fetch : r.b, l.alpha_step = r.fetch ? s.fetch.blocks[0] : 0, l.alpha_slice = r.fetch ? s.fetch.slice : 0;
    return l;
  }
  if (!is_one_call(s)) return l;
  const bool past = s.writes_past(r.c);  // and the next blocks' too
  l.code = (past ? s.tiles[0].past : s.tiles[0].first)->entry();
  l.a = r.a, l.b = r.b, l.c = r.c;
  l.a_step = s.a.blocks[0], l.b_step = s.b.blocks[0], l.c_step = s.c.blocks[0];
  l.alpha = r.alpha_or_scale(), l.beta = r.beta;
  if (s.scaled) l.alpha_step = s.scale.blocks[0];
  if (s.pack_a >= 0) l.a = packs + s.pack_a, l.a_step = 0;
  if (s.pack_b >= 0) l.b = packs + s.pack_b, l.b_step = 0;
  if (s.stream_c && !past) l.streamed = s.tiles[0].stream_bytes, l.writer = {s.stream_c, packs + s.buffer_c, l.streamed, static_cast<std::int64_t>(steps)};
  const auto far = [&](const place& p, std::int64_t step) {
    return s.fetch_next && p.where == operand::kind::external && step >= line_bytes && step <= most_fetched;
  };
  l.far_a = far(s.a, l.a_step), l.far_b = far(s.b, l.b_step), l.far_alpha = far(s.scale, l.alpha_step);
  return l;
}

next_fetch::next_fetch(const link* links, std::int64_t count) {
  for (const link* l = links; l != links + count; ++l)
    for (const auto& [at, bytes] : {std::pair{l->a, l->far_a ? l->a_step : 0}, {l->b, l->far_b ? l->b_step : 0}, {l->alpha, l->far_alpha ? l->alpha_step : 0}}) {
      if (bytes == 0 || size_ == most) continue;
      const std::int64_t lines = (bytes + line_bytes - 1) / line_bytes;
      tensors_[size_++] = {at + bytes, bytes, (lines + count - 1) / count * line_bytes};
    }
}

// It changes members, too: gcc takes a function that only prefetches for one without effects, and drops its calls.
void next_fetch::ask(std::int64_t step) {
  const bool again = step <= asked_;  // a block later
  asked_ = step;
  for (tensor* t = tensors_; t != tensors_ + size_; ++t) {
    if (again) t->at += t->bytes;
    const char* const end = t->at + std::min(t->share * (step + 1), t->bytes);
    for (const char* p = t->at + t->share * step; p < end; p += line_bytes) __builtin_prefetch(p, 0, 2);
  }
}

}  // namespace ricci
