// What a segment of a plan costs: its instructions and the part of its memory time that they do not hide.
#include <algorithm>
#include <cmath>
#include <limits>

#include "plan/cost.hpp"
#include "plan/layout.hpp"
#include "plan/plan.hpp"
#include "plan/rows.hpp"

namespace ricci::planning {
namespace {

constexpr double jumping_line = 5.5e-9;  // seconds that such a line costs more, measured on Zen 4

/// Lines of a tensor in memory that the tiles of a chain's product walk across instead of along: its rows are longer
/// than a tile is wide, and there are more of them than a tile has at that width. The hardware does not see such reads
/// coming, and such writes leave line by line. What is asked for early or leaves through a buffer does not count.
/// Products of halves read from both ends of an axis towards its middle; elements side by side come in whole lines.
double jumping_lines(const segment& g, const traffic& moved, const plan_step& s, bool as_stored, const machine& m) {
  if (s.how == method::halves && as_stored) {
    const bool in = s.op.b.where == operand::kind::external, out = s.op.c.where == operand::kind::external;
    const bool ragged = row_of(s.axes, group::batch) * static_cast<std::int64_t>(size_of(s.op.c.type)) % m.vector_bytes != 0;
    return (in ? bytes_of(s.op.b, s.axes, &step_axis::b) / 64 : 0) + (out && ragged ? bytes_of(s.op.c, s.axes, &step_axis::c) / 64 : 0);
  }
  if (s.how != method::direct || g.steps.size() < 2) return 0;
  const bool read = s.op.scale.where == operand::kind::external;
  const bool written = s.op.c.where == operand::kind::external && !streamed(g, moved, s, m);
  if (!read && !written) return 0;
  const auto size = static_cast<std::int64_t>(size_of(s.op.c.type));
  std::int64_t rows = 1;
  double bytes = static_cast<double>(size);
  for (const step_axis& x : s.axes) {
    if (x.c == 0) continue;
    bytes *= static_cast<double>(x.extent);
    if (x.role == group::m) rows *= x.extent;
  }
  const std::int64_t row = row_of(s.axes, group::n);
  constexpr std::int64_t widest = 3;  // vectors
  const std::int64_t vectors = (row * size + m.vector_bytes - 1) / m.vector_bytes, sums = m.vector_registers >= 32 ? 24 : 12;
  if (vectors <= widest || rows * vectors <= sums) return 0;
  return (read + written) * bytes / 64;
}

double input_bytes(const operand& x, const std::vector<step_axis>& axes) {
  double n = x.where == operand::kind::one ? 0 : static_cast<double>(size_of(x.type));
  for (const step_axis& a : axes)
    if (contains(x.labels, a.label)) n *= static_cast<double>(a.extent);
  return n;
}

/// Share of the memory time that the instructions do not hide. Blocks of a few lines let a core fetch the next one while
/// it computes; large ones fetch first and compute then, and push out what the next steps read. Above 1: the cost model
/// takes kernels for slower than they are.
double unhidden(double block_bytes) {
  const double few = 6500, many = 20000;
  if (block_bytes <= few) return 0.15;
  const double share = 0.15 + 1.1 * std::log(std::min(block_bytes, many) / few) / std::log(many / few);
  return block_bytes <= many ? share : share + 0.25 * std::log2(block_bytes / many);
}

/// Cores with registers of 32 bytes compute for so long that memory hardly shows beside it; measured on one of Zen 3.
bool has_short_registers(const machine& m) { return m.writes_kernels && m.vector_bytes == 32; }

/// Their share for what products pass on in blocks.
double unhidden_with_short_registers(double bytes) {
  const double few = 8500, many = 21000, least = 0.03, most = 0.33;
  return least + (most - least) * std::log(std::clamp(bytes, few, many) / few) / std::log(many / few);
}

/// Of two products or more.
bool is_chain(const segment& s) {
  const auto is_product = [](const plan_step& x) {
    return x.op.what == action::contract && x.op.a.where != operand::kind::one && x.op.b.where != operand::kind::one;
  };
  return std::count_if(s.steps.begin(), s.steps.end(), is_product) > 1;
}

/// A product alone, in no blocks: it goes through its tensors once, the hardware follows, and nothing that a later step reads
/// is pushed out. So it is behind a copy to its result or of a factor, if the second cache keeps that.
bool is_alone(const segment& s, const std::vector<int>& block, const machine& m) {
  const auto is_product = [](const plan_step& x) { return x.how == method::direct || x.how == method::blocked; };
  if (!block.empty() || !is_product(s.steps.back()) || s.steps.size() > 2) return false;
  if (s.steps.size() == 1) return true;
  const plan_step &copy = s.steps[0], &product = s.steps[1];
  const int made = copy.op.c.where == operand::kind::temporary ? copy.op.c.id : -1;
  const bool is_factor = made >= 0 && (is_temporary(product.op.a, made) || is_temporary(product.op.b, made));
  return copy.how == method::move && (copy.op.c == product.op.c || is_factor) && m.caches.size() > 1 &&
         bytes_of(copy.op.c, copy.axes, &step_axis::c) < 0.25 * static_cast<double>(m.caches[1].bytes);
}

/// What a product of a network takes: what is not in memory comes from where all that it touches fits.
double seconds_alone(const plan_step& s, double footprint, const machine& m) {
  double outside = 0, inside = 0;
  const auto add = [&](const operand& x, std::int64_t step_axis::*stride, double passes) {
    (x.where == operand::kind::external ? outside : inside) += passes * bytes_of(x, s.axes, stride);
  };
  add(s.op.a, &step_axis::a, 1), add(s.op.b, &step_axis::b, 1), add(s.op.c, &step_axis::c, 2);
  const double all = outside + inside, hertz = cycles_per_second(m), most = all < last_cache(m) ? 0.5 : 0.6;
  const double seconds = outside / stream_rate(std::min(all, footprint), m) + inside / stream_rate(all, m);
  return s.seconds + std::min(unhidden(all), most) * seconds / hertz;
}

/// What the steps of slices pass on.
bool is_slice(const operand& x, const plan_step& s) {
  return x.where == operand::kind::temporary && has(x, s.slice_label) && stride_of(x, s.slice_label) == 0;
}

bool has_halves(const segment& s) {
  return std::any_of(s.steps.begin(), s.steps.end(), [](const plan_step& x) { return x.how == method::halves; });
}

/// The rows of a product of halves lie so that they push each other out of the first cache, or seem to be what was just
/// stored.
bool rows_collide(const plan_step& s) {
  constexpr std::int64_t apart = 2048;
  const auto collide = [](const operand& x, std::int64_t stride) { return stride != 0 && stride * static_cast<std::int64_t>(size_of(x.type)) % apart == 0; };
  return std::any_of(s.axes.begin(), s.axes.end(), [&](const step_axis& x) {
    return (x.role == group::k && collide(s.op.b, x.b)) || (x.role == group::m && collide(s.op.c, x.c));
  });
}

/// What a step takes in its chain, in units of its own estimate. Measured on chains.
double pace(const segment& g, const plan_step& s, bool beyond, bool as_stored, const traffic& moved, const machine& m) {
  // Copies to and from problems side by side wait for memory.
  if (s.how == method::move && has_halves(g)) return beyond ? 2 : 1;
  const bool in_place = m.writes_kernels && s.how == method::direct && !s.pack_a && !s.pack_b && !s.buffer_c;
  if (!beyond) {  // tiles of few multiply-adds overlap with their neighbours
    std::int64_t k = 1;
    for (const step_axis& x : s.axes)
      if (x.role == group::k) k *= x.extent;
    return in_place && k <= 3 ? 0.75 : 1;
  }
  // Products of halves of elements as they lie wait for what they read.
  if (s.how == method::halves) return !as_stored ? 1 : moved.in + moved.out > 1e4 ? 1.6 : 1.2;
  // Out of memory written kernels in place overlap with what they read, the other ways do not.
  if (!in_place) return 1;
  const bool products = std::all_of(g.steps.begin(), g.steps.end(), [](const plan_step& x) {
    return x.how != method::gather && x.how != method::scatter && x.how != method::pointwise;
  });
  return as_stored && products ? 0.45 : 0.7;
}

/// The scratch if nothing ran slice by slice: the choice of blocks is not to hang on that.
double scratch_of(const segment& s) {
  std::vector<int> known;
  auto bytes = static_cast<double>(s.scratch_bytes);
  for (const plan_step& step : s.steps)
    for_each_operand(step.op, [&](const operand& x) {
      if (!is_slice(x, step) || contains(known, x.id)) return;
      known.push_back(x.id);
      bytes += static_cast<double>((step.slices - 1) * s.temporaries[static_cast<std::size_t>(x.id)].size) * static_cast<double>(size_of(x.type));
    });
  return bytes;
}

/// What the steps of a segment take together.
struct step_sums {
  double total = 0, plain = 0, raw = 0;        // seconds as all steps cost, and where the hardware follows what they read
  double sliced = 0;                           // bytes of slices that steps pass on, whenever they are written or read
  double outside = 0, inside = 0, passed = 0;  // bytes; passed: of temporaries, whenever they are written or read
  int streams_in = 0;                          // of pointwise steps
  double flops = 0;
  bool turns = false;                          // elements to lie side by side
  bool fetched = false;                        // written products of halves ask for what comes from outside

  /// streams: loads are few beside multiply-adds.
  void add_bytes(const plan_step& step, bool streams) {
    const auto slices = [&](const operand& x) { return has(x, step.slice_label) ? static_cast<double>(step.slices) : 1; };
    const auto add = [&](const operand& x, std::int64_t step_axis::*stride, double passes) {
      const double share = streams && x.where == operand::kind::temporary ? 0.2 : 1;
      const double bytes = passes * slices(x) * bytes_of(x, step.axes, stride);
      if (is_slice(x, step)) sliced += bytes;
      if (x.where == operand::kind::temporary) inside += share * bytes, passed += bytes;
      else outside += share * bytes;
    };
    add(step.op.a, &step_axis::a, 1), add(step.op.b, &step_axis::b, 1), add(step.op.c, &step_axis::c, 2);
    if (step.op.scale.where != operand::kind::one) add(step.op.scale, &step_axis::c, 1);
    for (const fibre_product* x : {&step.op.before, &step.op.after})
      if (x->at >= 0) {
        const double bytes = slices(x->tensor) * input_bytes(x->tensor, step.axes);
        if (x->tensor.where == operand::kind::temporary) inside += 0.2 * bytes, passed += bytes;
        else outside += 0.2 * bytes;
      }
    for (const operand& x : step.op.inputs) {
      if (is_slice(x, step)) sliced += slices(x) * input_bytes(x, step.axes);
      (x.where == operand::kind::temporary ? inside : outside) += slices(x) * input_bytes(x, step.axes);
      streams_in += x.where == operand::kind::external;
    }
    for (const pointwise_output& x : step.op.outputs)
      if (x.stored) (x.c.where == operand::kind::temporary ? inside : outside) += slices(x.c) * input_bytes(x.c, step.axes);
  }
};

step_sums sums_of(const segment& s, const std::vector<int>& block, bool beyond, bool as_stored, const machine& m) {
  step_sums sum;
  const double overhead = (m.writes_kernels ? 15 : 120) / cycles_per_second(m);
  const traffic moved = traffic_of(s, block);
  for (const plan_step& step : s.steps) {
    const bool halves = step.how == method::halves, streams = halves && m.writes_kernels;
    sum.fetched = sum.fetched || streams;
    sum.flops += step.flops, sum.turns = sum.turns || step.how == method::move || step.op.turned >= 0;
    sum.add_bytes(step, streams);
    if (beyond && m.writes_kernels) sum.total += jumping_line * jumping_lines(s, moved, step, as_stored, m);
    const bool collides = halves && rows_collide(step);
    sum.total += (collides ? 1.3 : 1) * pace(s, step, beyond, as_stored, moved, m) * step.seconds + overhead;
    sum.raw += (collides ? 1.6 : 1) * step.seconds + overhead;
    sum.plain += (halves ? 1 : 0.5) * step.seconds + overhead;
  }
  return sum;
}

/// Bytes in a second of what lies outside of the blocks and of the scratch; bytes of the scratch and of the second cache.
struct memory_rates {
  double far, near, scratch, second;
  bool short_registers;
};

/// Products of halves with elements side by side, out of memory, ask for the whole of the next block, which is to wait in the
/// second cache. Measured.
double seconds_side_by_side(const step_sums& x, const memory_rates& r) {
  // Turning many tensors takes shuffles that few multiply-adds do not hide; the result of products alone could be streamed.
  const double turned = !x.turns ? 1 : x.streams_in >= 3 ? std::max(1.0, 2.3 - x.flops / x.outside) : x.streams_in == 0 ? 1.25 : 1;
  const double waiting = 1 + (r.short_registers ? 0.2 : 0.5) * (2 * x.outside + r.scratch) / r.second;
  const double memory = x.outside / r.far, within = std::min(unhidden(x.inside), 0.75) * x.inside / r.near;
  return turned * waiting * std::max(0.7 * x.raw + (x.streams_in < 3 ? 0.5 : 0.7) * memory + within, memory);
}

/// What the first cache does not hold goes through the second one, which written products do not hide. The steps' own
/// estimates are those of the smallest blocks. Measured.
void add_spilt(step_sums& x, const segment& s, bool in_blocks, double scratch, const machine& m) {
  const std::int64_t least = x.turns ? m.vector_bytes / static_cast<std::int64_t>(size_of(s.steps[0].op.c.type)) : 1;
  const double held = scratch + x.outside, first = static_cast<double>(m.caches[0].bytes);
  const auto spilt = [&](double bytes) { return std::max(0.0, 1 - first / bytes); };
  const double times = !in_blocks ? std::numeric_limits<double>::infinity()
                                  : std::max(1.0, static_cast<double>(s.block) / static_cast<double>(std::max<std::int64_t>(1, least)));
  x.total -= 0.4 * spilt(held / times) * x.sliced / (m.caches[1].bandwidth * 1e9);
  x.total += (spilt(held) - spilt(held / times)) * x.passed / (m.caches[1].bandwidth * 1e9);
}

}  // namespace

double seconds_of_network(const segment& s, double footprint, const machine& m) {
  double seconds = 0;
  for (const plan_step& step : s.steps) seconds += seconds_alone(step, footprint, m);
  return seconds;
}

double seconds_of_apart(const segment& s, double footprint, const machine& m) {
  const double hertz = cycles_per_second(m), far = stream_rate(footprint, m) * hertz, near = stream_rate(static_cast<double>(s.scratch_bytes), m) * hertz;
  double seconds = 0;
  constexpr double a_register = 5;  // cycles, turned in squares
  for (const plan_step& x : s.steps) {
    if (x.how != method::move) {
      seconds += x.seconds;
      continue;
    }
    const double bytes = bytes_of(x.op.c, x.axes, &step_axis::c);
    const bool fills = std::all_of(x.axes.begin(), x.axes.end(), [&](const step_axis& y) {
      return (y.b != 1 && y.c != 1) || y.extent * static_cast<std::int64_t>(size_of(x.op.c.type)) >= m.vector_bytes;
    });
    seconds += (fills ? std::min(x.seconds, a_register * bytes / m.vector_bytes / hertz) : x.seconds) + bytes / far + bytes / near;
  }
  return seconds;
}

double seconds_of(const segment& s, const std::vector<int>& block, double footprint, bool as_stored, const machine& m) {
  const bool beyond = !m.caches.empty() && footprint >= last_cache(m);
  step_sums x = sums_of(s, block, beyond, as_stored, m);
  const double scratch = scratch_of(s), hertz = cycles_per_second(m);
  const memory_rates r{stream_rate(footprint, m) * hertz, stream_rate(scratch, m) * hertz, scratch, m.caches.size() > 1 ? static_cast<double>(m.caches[1].bytes) : 1e6, has_short_registers(m)};
  const double crowded = 1 + scratch / r.second;
  // Pointwise steps that read several tensors from memory as they stand there: the hardware follows, whatever the size of
  // the blocks, but every stream begins anew with a block. Measured.
  if (beyond && as_stored && m.writes_kernels && x.streams_in >= 3)
    return x.plain + 50e-9 * x.streams_in + 0.9 * x.outside / r.far + 0.6 * crowded * x.inside / r.near;
  const double inside = (has_halves(s) ? crowded : 1) * x.inside;
  const auto spill = [&] {
    if (x.fetched && m.caches.size() > 1 && m.caches[1].bandwidth > 0) add_spilt(x, s, !block.empty(), scratch, m);
  };
  if (has_short_registers(m) && is_chain(s) && !(beyond && x.streams_in >= 3)) {
    // Products of halves are faster with elements side by side, a register of them, than their own estimates say. Measured.
    const double paced = !has_halves(s) || as_stored ? 1 : beyond ? 0.5 : 0.75;
    const double share = scratch > last_cache(m) ? 1 : unhidden_with_short_registers(inside);
    spill();
    return paced * x.total + 0.1 * x.outside / r.far + share * inside / r.near;
  }
  if (beyond && x.fetched && !as_stored) return seconds_side_by_side(x, r);
  // What is asked for early comes in the meantime, but for many streams at once. Measured.
  const double late = !x.fetched || footprint < r.second ? 1 : x.streams_in < 3 ? 0.5 : 1;
  // Chains of even and odd products lie side by side, vector after vector: the hardware follows them through large blocks.
  const double most = is_alone(s, block, m) ? (beyond ? 0.6 : 0.5) : has_halves(s) ? 1.3 : std::numeric_limits<double>::infinity();
  spill();
  return x.total + late * std::min(unhidden(x.outside), most) * x.outside / r.far + std::min(unhidden(inside), beyond ? 0.75 : most) * inside / r.near;
}

}  // namespace ricci::planning
