// Calls of pointwise kernels: their arguments, and the loops around what a kernel does at once.
#include "engine/other.hpp"

#include <algorithm>

namespace ricci {
namespace {

/// Takes the outermost axes, of which there are more than a kernel has loops.
std::vector<loop_around> take_surplus(std::vector<point_axis>& axes, std::size_t outputs) {
  std::vector<loop_around> around;
  for (; axes.size() > kernels::max_loops + 2; axes.pop_back()) {
    const std::vector<std::int64_t>& s = axes.back().strides;
    const auto first_input = s.begin() + static_cast<std::ptrdiff_t>(outputs);
    around.push_back({axes.back().extent, {first_input, s.end()}, {s.begin(), first_input}});
  }
  return around;
}

/// Complex elements as pairs of reals. False if there is something that written kernels cannot do with these.
bool make_pairs(codegen::pointwise_request& r) {
  kernels::pointwise_args& g = r.args;
  for (int t = 0; t < static_cast<int>(r.alphas.size()); ++t)
    if (g.terms[t].count == 0) return false;
  r.pairs = true;
  g.lane_extent *= 2;
  for (int i = 0; i < g.input_count; ++i) g.inputs[i].row *= 2;
  for (int i = 0; i < g.output_count; ++i) g.outputs[i].row *= 2;
  r.type = part_type(r.type);
  return true;
}

/// A call's pointers, moved along loops.
class moving_pointers {
 public:
  moving_pointers(const point_pointers& p, const kernels::pointwise_args& g) : of_(p), input_count_(g.input_count), output_count_(g.output_count) {
    std::copy_n(p.inputs, input_count_, inputs_);
    std::copy_n(p.outputs, output_count_, outputs_);
  }

  /// steps(output, index): elements.
  template <class Steps> void move(std::int64_t times, const Steps& steps) {
    for (int i = 0; i < input_count_; ++i) inputs_[i] = static_cast<const char*>(inputs_[i]) + times * steps(false, i) * of_.size;
    for (int i = 0; i < output_count_; ++i) outputs_[i] = static_cast<char*>(outputs_[i]) + times * steps(true, i) * of_.size;
  }
  point_pointers now() const { return {inputs_, outputs_, of_.alphas, of_.betas, of_.size}; }

 private:
  const point_pointers& of_;
  int input_count_, output_count_;
  const void* inputs_[kernels::max_pointwise_inputs];
  void* outputs_[kernels::max_pointwise_statements];
};

/// The written kernel for every iteration of the loops around its rows; each time the one for the rest too, if there is one, `rest_at`
/// lanes behind.
void run_made(const codegen::pointwise_kernel& made, const kernels::pointwise_args& g, const point_pointers& p, const codegen::pointwise_kernel* rest_made = nullptr, std::int64_t rest_at = 0) {
  const auto lanes = [&](bool output, int i) { return (output ? g.outputs : g.inputs)[i].lane; };
  if (g.loop_count == 0 && !rest_made) return made(p.inputs, p.outputs, p.alphas, p.betas);
  moving_pointers at(p, g), behind(p, g);
  behind.move(rest_at, lanes);
  std::int64_t index[kernels::max_loops] = {};
  for (int d = -1; d < g.loop_count;) {
    const point_pointers now = at.now(), rest = behind.now();
    made(now.inputs, now.outputs, now.alphas, now.betas);
    if (rest_made) (*rest_made)(rest.inputs, rest.outputs, rest.alphas, rest.betas);
    for (d = 0; d < g.loop_count; ++d) {
      const bool more = ++index[d] < g.loops[d];
      const auto steps = [&](bool output, int i) { return (output ? g.outputs : g.inputs)[i].loops[d]; };
      at.move(more ? 1 : 1 - g.loops[d], steps);
      if (rest_made) behind.move(more ? 1 : 1 - g.loops[d], steps);
      if (more) break;
      index[d] = 0;
    }
  }
}

void run_rows(const point_call& s, const point_pointers& p) {
  const bool past = s.past && reinterpret_cast<std::uintptr_t>(p.outputs[0]) % s.register_bytes == 0;
  const codegen::pointwise_kernel* const made = past ? s.past.get() : s.made.get();
  if (made && s.rest_made && s.rest->loop_count == s.pointwise->loop_count) return run_made(*made, *s.pointwise, p, s.rest_made.get(), s.rest_at);
  if (made) run_made(*made, *s.pointwise, p);
  else s.point(*s.pointwise, p.inputs, p.outputs, p.alphas, p.betas);
  if (!s.rest) return;
  moving_pointers at(p, *s.rest);
  at.move(s.rest_at, [&](bool output, int i) { return (output ? s.rest->outputs : s.rest->inputs)[i].lane; });
  const point_pointers rest = at.now();
  if (s.rest_made) run_made(*s.rest_made, *s.rest, rest);
  else s.point(*s.rest, rest.inputs, rest.outputs, rest.alphas, rest.betas);
}

/// From loop d of those around on.
void run_around(const point_call& s, const point_pointers& p, std::size_t d) {
  if (d == s.around.size()) return run_rows(s, p);
  const loop_around& x = s.around[d];
  moving_pointers at(p, *s.pointwise);
  for (std::int64_t n = 0; n < x.extent; ++n) {
    run_around(s, at.now(), d + 1);
    at.move(1, [&](bool output, int i) { return (output ? x.outputs : x.inputs)[static_cast<std::size_t>(i)]; });
  }
}

constexpr std::int64_t most_in_parts = 3 << 19;  // bytes: beyond, rows are worth more than few calls

/// How the lanes of a call go to kernels: which are behind the others, for a kernel of their own, and what the others are cut into.
struct lane_cut {
  enum class parts : std::uint8_t { one, rows, loops };
  std::int64_t rest = 0;
  parts into = parts::one;  // rows of a kernel, or iterations of the outermost loop
};

bool is_turned(const point_axis& lanes) {
  return std::any_of(lanes.strides.begin(), lanes.strides.end(), [](std::int64_t s) { return s != 0 && s != 1; });
}

/// Cuts axes[0]. With masks a vector may be partial; else, where it may, few numbers or the last ones are.
lane_cut cut_lanes(std::vector<point_axis>& axes, std::int64_t width, bool masks, bool partial) {
  using enum lane_cut::parts;
  const std::int64_t lanes = axes[0].extent, most = 8 * width;
  const std::int64_t whole = (axes.size() == 1 ? 2 : 1) * most;
  if (masks && (is_turned(axes[0]) || lanes <= whole)) return {};
  if (partial && lanes <= (is_turned(axes[0]) || axes.size() > 1 ? width : whole)) return {};
  if (is_turned(axes[0])) {  // comes in whole vectors
    axes[0].extent -= lanes % width;
    return {lanes % width};
  }
  const auto cut = [&](std::int64_t part, lane_cut::parts into) {
    point_axis next{lanes / part, axes[0].strides};
    for (std::int64_t& s : next.strides) s *= part;
    axes[0].extent = part;
    axes.insert(into == loops ? axes.end() : axes.begin() + 1, next);
    return lane_cut{lanes % part, into};
  };
  if (axes.size() >= kernels::max_loops) return {};
  auto vectors = static_cast<std::int64_t>(axes[0].strides.size());  // of all streams
  for (const point_axis& x : axes) vectors *= x.extent;
  vectors /= width;
  if (masks && axes.size() > 1 && vectors <= most_in_parts / 64) return cut(most, loops);
  // Rows of few vectors, so that several go together; what fills none comes behind.
  if (lanes < 2 * width || (axes.size() > 1 && lanes % width == 0 && lanes <= most)) return {};
  std::int64_t part = masks ? 4 * width : width;
  const bool few = axes.size() > 1 || lanes < 256 * width;  // a second call counts
  while (few && part > width && lanes % width == 0 && lanes % part != 0) part /= 2;
  return cut(part, rows);
}

/// Lanes, rows and loops of a kernel.
kernels::pointwise_args args_of(const std::vector<point_axis>& axes, std::size_t outputs) {
  kernels::pointwise_args g;
  g.output_count = static_cast<int>(outputs), g.input_count = static_cast<int>(axes[0].strides.size() - outputs);
  g.loop_count = std::max(0, static_cast<int>(axes.size()) - 2);
  for (std::size_t d = 0; d < axes.size(); ++d) {
    (d == 0 ? g.lane_extent : d == 1 ? g.row_extent : g.loops[d - 2]) = axes[d].extent;
    for (std::size_t i = 0; i < axes[d].strides.size(); ++i) {
      kernels::pointwise_args::stream& s = i < outputs ? g.outputs[i] : g.inputs[i - outputs];
      (d == 0 ? s.lane : d == 1 ? s.row : s.loops[d - 2]) = axes[d].strides[i];
    }
  }
  return g;
}

}  // namespace

void set_pointwise(point_call& out, std::vector<point_axis> axes, const pair_op& op, const std::vector<pointwise_output>& statements, int width, bool streams, bool repeats) {
  const auto outputs = static_cast<std::size_t>(std::count_if(statements.begin(), statements.end(), [](const pointwise_output& x) { return x.stored; }));
  const std::int64_t lanes = axes[0].extent;
  out.around = take_surplus(axes, outputs);
  const bool masks = codegen::best_target() == codegen::target::avx512;
  const bool partial = codegen::best_target() == codegen::target::avx2 && !planning::divides(op);
  const lane_cut cut = cut_lanes(axes, width, masks, partial);
  kernels::pointwise_args g = args_of(axes, outputs);
  add_statements(g, op, statements);
  out.pointwise = std::make_shared<kernels::pointwise_args>(g);
  const auto set_rest = [&](std::int64_t extent) {
    auto last = std::make_shared<kernels::pointwise_args>(g);
    last->lane_extent = extent, out.rest_at = lanes - extent;
    if (cut.into == lane_cut::parts::rows) last->row_extent = 1;
    if (cut.into == lane_cut::parts::loops) --last->loop_count;
    out.rest = std::move(last);
  };
  if (cut.rest > 0) set_rest(cut.rest);
  codegen::pointwise_request wanted{compute_type(op.c.type), g, {}, {}};
  wanted.args.loop_count = 0;  // run_pointwise() walks them
  for (const pointwise_term& t : op.terms) wanted.alphas.push_back(known_factor(t.alpha));
  for (const pointwise_output& x : statements) wanted.betas.push_back(known_factor(x.beta));
  if (is_complex(wanted.type) && !make_pairs(wanted)) return;
  // A beta that only the run knows may be zero, and then c is not read.
  const auto open = [](codegen::factor f) { return f == codegen::factor::any; };
  if (wanted.args.lane_extent == 0 || std::any_of(wanted.betas.begin(), wanted.betas.end(), open)) return;
  out.made = codegen::make(wanted, codegen::best_target());
  if (out.made && cut.rest > 0) {
    codegen::pointwise_request last = wanted;
    const auto make_rest = [&](std::int64_t count) {
      last.args.lane_extent = count * (wanted.pairs ? 2 : 1), last.args.row_extent = out.rest->row_extent;
      out.rest_made = codegen::make(last, codegen::best_target());
    };
    if (masks || !repeats) make_rest(cut.rest);
    else make_rest(width);  // some of those before once more
    if (out.rest_made && !masks && repeats) set_rest(width);
  }
  out.register_bytes = codegen::best_target() == codegen::target::avx512 ? 64 : 32;
  const std::int64_t elements = static_cast<std::int64_t>(out.register_bytes / size_of(compute_type(op.c.type)));
  const auto is_register = [&](std::int64_t stride) { return stride % elements == 0; };
  const kernels::pointwise_args::stream& c = g.outputs[0];
  if (!out.made || !streams || !is_register(c.row) || !std::all_of(c.loops, c.loops + g.loop_count, is_register)) return;
  wanted.streams = true;
  out.past = codegen::make(wanted, codegen::best_target());
}

void fuse(std::vector<point_axis>& axes, std::size_t kept) {
  const auto nests = [](const point_axis& in, const point_axis& out) {
    for (std::size_t i = 0; i < in.strides.size(); ++i)
      if (out.strides[i] != in.strides[i] * in.extent) return false;
    return true;
  };
  for (bool joined = true; joined;) {
    joined = false;
    for (std::size_t p = 0; p < axes.size() && !joined; ++p)
      for (std::size_t q = kept; q < axes.size() && !joined; ++q) {
        if (p == q || !nests(axes[p], axes[q])) continue;
        axes[p].extent *= axes[q].extent;
        axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(q));
        joined = true;
      }
  }
}

void add_statements(kernels::pointwise_args& g, const pair_op& op, const std::vector<pointwise_output>& statements) {
  int term = 0, factor = 0;
  for (const pointwise_output& x : statements) {
    kernels::pointwise_args::statement& s = g.statements[g.statement_count++];
    s = {term, x.terms, -1, false, true};
    for (int n = 0; n < x.terms; ++n) {
      const pointwise_term& t = op.terms[static_cast<std::size_t>(term)];
      g.terms[term++] = {factor, static_cast<int>(t.factors.size()), t.how};
      s.plain = s.plain && t.factors.size() == 2 && t.how == combine::multiply;
      for (const auto& [input, f] : t.factors) {
        g.factors[factor++] = {input, f, input >= 0 && op.inputs[static_cast<std::size_t>(input)].conj};
        s.plain = s.plain && f == function::identity;
        if (input < 0) g.statements[-1 - input].kept = true;
      }
    }
  }
  for (int n = 0, output = 0; n < g.statement_count; ++n)
    if (statements[static_cast<std::size_t>(n)].stored) g.statements[n].output = output++;
}

bool is_straight(const point_call& s) {
  const bool rest_too = !s.rest || (s.rest_made && s.rest->loop_count == 0);
  return s.made && !s.past && s.around.empty() && s.pointwise->loop_count == 0 && rest_too;
}

void run_pointwise(const point_call& s, const point_pointers& p) { run_around(s, p, 0); }

}  // namespace ricci
