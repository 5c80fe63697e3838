// Runs steps that are one call of one kernel.
#include "engine/single.hpp"

#include <algorithm>
#include <cstddef>

#include "codegen/turns.hpp"

namespace ricci {
namespace {

constexpr std::int64_t most_turned = 1 << 15;  // bytes: beyond, a mover is as fast

/// One tile, which the kernel reads and writes where it lies or as it was packed.
bool is_one_product(const bound_step& s) {
  return (s.how == method::direct || s.how == method::move) && s.free_count == 1 && s.sum_count == 1 && s.tiles.size() == 1 && s.buffer_c < 0 && !s.stream_c;
}

bool is_one_tile(const bound_step& s) {
  return s.other && s.other->tiles.size() == 1 && s.other->tile_loops.empty() && s.other->buffer < 0 && s.other->tiles[0].packed.empty() && !s.stream_c;
}

/// A written kernel that packs, or moves with a known beta; null if there is none, or if a mover is as good.
std::shared_ptr<const point_call> turn_of(const kernels::move_args& g, dtype from, dtype to, const coefficient& beta, const kernels::kernel_set& kernels) {
  const auto size = static_cast<std::int64_t>(size_of(to));
  std::int64_t bytes = size;
  for (int i = 0; i < g.axis_count; ++i) bytes *= g.axes[i].extent;
  if (from != to || compute_type(to) != to || bytes > most_turned || g.axis_count == 0) return nullptr;
  std::vector<point_axis> axes;
  for (int i = 0; i < g.axis_count; ++i) axes.push_back({g.axes[i].extent, {g.axes[i].c, g.axes[i].b}});
  const auto first = [](const point_axis& x) { return x.strides[0] == 1 ? 0 : x.strides[1] == 1 ? 1 : 2; };  // lanes, their rows
  std::stable_sort(axes.begin(), axes.end(), [&](const point_axis& x, const point_axis& y) { return first(x) < first(y); });
  if (axes[0].strides[0] != 1) return nullptr;
  pair_op op;
  op.c.type = to;
  op.inputs.emplace_back().type = from;
  op.terms = {{{1, -1, {}}, combine::multiply, {{0, function::identity}}}};
  auto call = std::make_shared<point_call>();
  call->point = kernels.pointwise[static_cast<int>(to)];
  set_pointwise(*call, std::move(axes), op, {{op.c, beta, 1}}, kernels.vector_bytes / static_cast<int>(size));
  return is_straight(*call) ? call : nullptr;
}

/// A written kernel that copies a few elements of any strides; null for others.
std::shared_ptr<const codegen::kernel> copy_of(const kernels::move_args& g, dtype from, dtype to) {
  if (from != to) return nullptr;
  codegen::copy_request r{static_cast<std::int64_t>(size_of(to)), {}};
  for (int i = 0; i < g.axis_count; ++i) r.axes.push_back({g.axes[i].extent, g.axes[i].b, g.axes[i].c});
  return codegen::make(r, codegen::best_target());
}

/// A call that is_straight(); moves the pointers.
inline void run_straight(const point_call& call, const void** inputs, void** outputs, const void* alphas, const void* betas, std::int64_t size) {
  (*call.made)(inputs, outputs, alphas, betas);
  if (!call.rest) return;
  const kernels::pointwise_args& last = *call.rest;
  const std::int64_t bytes = call.rest_at * size;
  for (int i = 0; i < last.input_count; ++i) inputs[i] = static_cast<const char*>(inputs[i]) + bytes * last.inputs[i].lane;
  for (int i = 0; i < last.output_count; ++i) outputs[i] = static_cast<char*>(outputs[i]) + bytes * last.outputs[i].lane;
  (*call.rest_made)(inputs, outputs, alphas, betas);
}

}  // namespace

std::optional<single_call> single_call::of(const bound_step& s, const kernels::kernel_set& kernels) {
  if (s.other ? !is_one_tile(s) : !is_one_product(s)) return {};
  single_call x(s);
  if (s.other) return x;
  const tile_args& t = s.tiles[0];
  const coefficient none{0, -1, {}};
  if (s.how == method::move) {
    if (t.first) x.kernel_ = t.first.get();
    else if (is_known(s.beta) && !s.conj_b) x.turn_b_.set(turn_of(t.store_c, s.type_b, s.type_c, s.beta, kernels));
    if (!t.first && !x.turn_b_ && is_zero(s.beta) && !s.conj_b) x.turn_b_.kernel = copy_of(t.store_c, s.type_b, s.type_c);
    if (x.turn_b_.kernel) x.kernel_ = x.turn_b_.kernel.get();
    if (x.turn_b_.point && x.b_.slot >= 0 && x.c_.slot >= 0) x.point_ = x.turn_b_.point, x.first_ = x.b_.slot;
    return x;
  }
  if (s.pack_a >= 0) x.turn_a_.set(turn_of(t.pack_a, s.type_a, s.type, none, kernels));
  if (s.pack_b >= 0 && t.turn_b) x.turn_b_.kernel = t.turn_b;
  else if (s.pack_b >= 0) x.turn_b_.set(turn_of(t.pack_b, s.type_b, s.type, none, kernels));
  if ((s.pack_a >= 0 && !x.turn_a_) || (s.pack_b >= 0 && !x.turn_b_)) return {};
  if (s.pack_a < 0 && s.pack_b < 0) x.kernel_ = t.first.get();
  return x;
}

single_call::source single_call::source_of(const place& p, const void* one) {
  if (p.where == operand::kind::external) return {p.slot, nullptr, 0};
  if (p.where == operand::kind::one) return {-1, one, 0};
  return {-1, nullptr, p.offset};
}

single_call::single_call(const bound_step& s) : type_(s.type), scaled_(s.scaled), size_(static_cast<std::int64_t>(size_of(s.type))), step_(&s) {
  const void* const one = one_of(s.type);
  a_ = source_of(s.a, one), b_ = source_of(s.b, one), c_ = source_of(s.c, one), scale_ = source_of(s.scale, one);
  known_ = is_known(s.alpha) && is_known(s.beta);
  if (s.other) set_points(s);
  if (known_) set_scalars(ready_, s, nullptr);
  else set_open(s);
}

void single_call::set_points(const bound_step& s) {
  const other_step& o = *s.other;
  const void* const one = one_of(s.type);
  points_ = &o.tiles[0];
  straight_ = is_straight(*points_);
  for (const std::vector<place>* list : {&o.inputs, &o.outputs})
    for (const place& p : *list) streams_.push_back(source_of(p, one));
  inputs_ = static_cast<int>(o.inputs.size()), outputs_ = static_cast<int>(o.outputs.size());
  for (const std::vector<coefficient>* list : {&o.alphas, &o.betas}) known_ = known_ && std::all_of(list->begin(), list->end(), is_known);
  if (!straight_ || points_->rest) return;
  point_ = points_->made.get();
  const auto follows = [&](std::size_t i) { return streams_[i].slot >= 0 && streams_[i].slot == streams_[0].slot + static_cast<int>(i); };
  bool in_order = inputs_ > 0 && outputs_ == 1 && streams_.back().slot >= 0;
  for (std::size_t i = 0; i < o.inputs.size(); ++i) in_order = in_order && follows(i);
  if (in_order) first_ = streams_[0].slot, c_ = streams_.back();
}

/// Written kernels do not read coefficients that were known to be 1 or -1 when they were made.
void single_call::set_open(const bound_step& s) {
  const auto add = [&](std::size_t at, const coefficient& x) {
    const codegen::factor known = known_factor(x);
    if (known != codegen::factor::one && known != codegen::factor::minus_one) open_.push_back({at, x.more.empty() ? x.scalar : -1, x.base, &x});
  };
  const std::size_t size = size_of(s.type);
  if (s.other && straight_) {
    for (std::size_t t = 0; t < s.other->alphas.size(); ++t) add(offsetof(step_scalars, alphas) + t * size, s.other->alphas[t]);
    for (std::size_t n = 0; n < s.other->betas.size(); ++n) add(offsetof(step_scalars, betas) + n * size, s.other->betas[n]);
  } else if (!s.other && s.tiles[0].first) {
    add(offsetof(step_scalars, alpha), s.alpha), add(offsetof(step_scalars, beta), s.beta);
  }
}

bool single_call::needs_scratch() const {
  const auto is_there = [](const source& x) { return x.slot < 0 && !x.constant; };
  if (points_) return std::any_of(streams_.begin(), streams_.end(), is_there);
  return step_->pack_a >= 0 || step_->pack_b >= 0 || is_there(a_) || is_there(b_) || is_there(c_) || (scaled_ && is_there(scale_));
}

void single_call::turn::set(std::shared_ptr<const point_call> x) {
  call = std::move(x);
  if (call && !call->rest) point = call->made.get();
}

/// Returns where the elements are then. Without coefficients.
RICCI_CALLS_WRITTEN_CODE inline const void* single_call::turn::run(const void* from, void* to, std::int64_t size) const {
  void* const turned = to;
  if (kernel) (*kernel)(nullptr, from, to, nullptr, nullptr);
  else if (point) (*point)(&from, &to, nullptr, nullptr);
  else run_straight(*call, &from, &to, nullptr, nullptr, size);
  return turned;
}

RICCI_CALLS_WRITTEN_CODE void single_call::run_product(const step_scalars& r, const bindings& b, const char* temporaries, char* packs) const {
  const bound_step& s = *step_;
  const tile_args& t = s.tiles[0];
  void* const c = const_cast<void*>(c_.at(b, temporaries));
  if (s.how == method::move && turn_b_) return static_cast<void>(turn_b_.run(b_.at(b, temporaries), c, size_));
  const void *from_a = a_.at(b, temporaries), *from_b = b_.at(b, temporaries);
  if (turn_a_) from_a = turn_a_.run(from_a, packs + s.pack_a, size_);
  if (turn_b_) from_b = turn_b_.run(from_b, packs + s.pack_b, size_);
  if (t.first) (*t.first)(from_a, from_b, c, scaled_ ? scale_.at(b, temporaries) : r.alpha, r.beta);
  else if (s.how == method::move) s.move_c(t.store_c, from_b, c, r.beta);
  else s.contract(t.contract, from_a, from_b, c, r.alpha, r.beta);
}

void single_call::run_points(const step_scalars& r, const bindings& b, const char* temporaries) const {
  const void* inputs[kernels::max_pointwise_inputs];
  void* outputs[kernels::max_pointwise_statements];
  const source* from = streams_.data();
  for (int i = 0; i < inputs_; ++i) inputs[i] = from++->at(b, temporaries);
  for (int i = 0; i < outputs_; ++i) outputs[i] = const_cast<void*>(from++->at(b, temporaries));
  if (straight_) run_straight(*points_, inputs, outputs, r.alphas, r.betas, size_);
  else run_pointwise(*points_, {inputs, outputs, r.alphas, r.betas, size_});
}

RICCI_CALLS_WRITTEN_CODE void single_call::run_with(const step_scalars& r, const bindings& b, const char* temporaries, char* packs) const {
  if (kernel_) return (*kernel_)(a_.at(b, temporaries), b_.at(b, temporaries), const_cast<void*>(c_.at(b, temporaries)), scaled_ ? scale_.at(b, temporaries) : r.alpha, r.beta);
  if (point_ && first_ >= 0) return (*point_)(b.pointers + first_, b.pointers + c_.slot, r.alphas, r.betas);
  if (points_) return run_points(r, b, temporaries);
  run_product(r, b, temporaries, packs);
}

void single_call::run_open(const bindings& b, const char* temporaries, char* packs) const {
  step_scalars now;
  if (open_.empty()) set_scalars(now, *step_, b.scalars);
  for (const open_scalar& x : open_) store_scalar(type_, x.scalar >= 0 ? x.base * b.scalars[x.scalar] : value_of(*x.value, b.scalars), reinterpret_cast<char*>(&now) + x.at);
  run_with(now, b, temporaries, packs);
}

void run_calls(const bound_plan& p, const bindings& b) {
  char* const scratch = p.calls_bytes > 0 ? workspace(p.calls_bytes) : nullptr;
  for (const single_call& call : p.calls) call.run(b, scratch, scratch + p.temporaries_bytes);
}

std::vector<single_call> calls_of(const bound_plan& p, const kernels::kernel_set& kernels) {
  if (p.has_blocks || p.segments.size() != 1) return {};
  std::vector<single_call> calls;
  for (const bound_step& s : p.segments[0].steps) {
    std::optional<single_call> call = single_call::of(s, kernels);
    if (!call) return {};
    calls.push_back(*std::move(call));
  }
  return calls;
}

bound_plan::bound_plan() = default;
bound_plan::bound_plan(bound_plan&&) noexcept = default;
bound_plan::~bound_plan() = default;

}  // namespace ricci
