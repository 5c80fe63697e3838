// make_plan: order, blocks, layouts and steps, for one machine.
#include "plan/plan.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <ricci/plan/path.hpp>

#include "plan/blocks.hpp"
#include "plan/cost.hpp"
#include "plan/distinct.hpp"
#include "plan/multiplied.hpp"

namespace ricci {

double planning::arithmetic_of(const plan_step& s) {
  const auto sums = [](const step_axis& x) { return x.role == group::k; };
  const auto is_plain = [](const coefficient& x) { return is_zero(x) || is_one(x); };
  const bool one_a = s.op.a.where == operand::kind::one, one_b = s.op.b.where == operand::kind::one;
  const bool moves = s.how == method::direct && s.op.scale.where == operand::kind::one && is_plain(s.op.alpha) && is_zero(s.op.beta) && (one_a || one_b);
  const bool copies = s.how == method::pointwise && s.op.outputs.empty() && s.op.terms.size() == 1 && is_plain(s.op.terms[0].alpha) && is_zero(s.op.beta) &&
                      s.op.terms[0].factors.size() == 1 && s.op.terms[0].factors[0].second == function::identity;
  if (s.how == method::move || copies || (moves && std::none_of(s.axes.begin(), s.axes.end(), sums))) return 0;
  return s.flops;
}

namespace {

using planning::work;

/// Bytes of every external tensor once (the left side twice if it is read), and flops as written.
void count(plan& p) {
  const auto size = [&](const reference& r) {
    double n = static_cast<double>(size_of(r.type)) * distinct_elements(r.axes, [&](const reference_axis& x) { return strided_axis{p.source.labels[x.label].extent, x.stride}; });
    if (!r.lookups.empty()) {  // every element of the axis once, and the table
      n *= static_cast<double>(r.lookups[0].extent);
      double table = r.lookups[0].wide ? 8 : 4;
      for (const auto& axis : r.lookups[0].axes) table *= static_cast<double>(p.source.labels[axis.label].extent);
      n += table;
    }
    return r.local >= 0 ? 0 : n;
  };
  for (const statement& s : p.source.statements) {
    p.bytes += size(s.left) * (s.op == update::assign ? 1 : 2);
    std::set<std::string> seen;
    for (const product& t : s.terms) {
      std::set<int> labels;
      double read = 0;
      for (int l : labels_of(s.left)) labels.insert(l);
      for (const reference& f : t.factors) {
        for (int l : labels_of(f)) labels.insert(l);
        std::string key = f.name;
        for (const auto& axis : f.axes) key += "," + std::to_string(p.source.labels[axis.label].extent) + ":" + std::to_string(axis.stride);
        if (seen.insert(key).second) read += size(f);
      }
      double nest = is_complex(s.left.type) ? 4 : 1;
      for (int l : labels) nest *= static_cast<double>(p.source.labels[l].extent);
      if (nest > 0) p.bytes += read;
      const bool sums = labels.size() > labels_of(s.left).size() || s.terms.size() > 1 || s.op != update::assign;
      const bool applies = std::any_of(t.factors.begin(), t.factors.end(), [](const reference& f) { return f.apply != function::identity; });
      if (sums || applies || t.factors.size() > 1 || t.scalar >= 0 || t.negate) p.written_flops += nest * static_cast<double>(std::max<std::size_t>(2, t.factors.size()));
    }
  }
}

void count_flops(plan& p) {
  for (std::size_t i = 0; i < p.segments.size(); ++i) {
    double once = 0, times = 1;
    for (const plan_step& s : p.segments[i].steps) once += planning::arithmetic_of(s);
    for (std::size_t l = 0; l < p.block_labels.size(); ++l) {
      const std::int64_t extent = p.source.labels[p.block_labels[l]].extent;
      const bool cut = l + 1 == p.block_labels.size();
      times *= static_cast<double>(!cut ? extent : i == 0 ? extent / p.segments[0].block : 1);
    }
    p.flops += once * times;
  }
}

/// Whether orders of equal cost are worth comparing: several factors, few enough for the exact search.
bool has_variants(const program& p) {
  for (const statement& s : p.statements)
    for (const product& t : s.terms)
      if (t.factors.size() > 2 && static_cast<int>(t.factors.size()) <= path_options{}.exact_limit) return true;
  return false;
}

void note_disjoint(const program& source, plan& p) {
  for (const overlap& x : source.overlaps) {
    if (x.verdict != overlap::kind::disjoint) continue;
    for (const statement& s : source.statements)
      if (s.left.slot == x.left_slot && s.left.local < 0)
        for (const product& t : s.terms)
          for (const reference& f : t.factors)
            if (f.slot == x.other_slot && f.local < 0)
              p.notes.push_back("the left side " + s.left.name + " and the factor " + f.name +
                                " are the same tensor: proven disjoint, no copy");
  }
}

/// All operations in blocks of their own, or none, and then long sums in parts.
void run_together(work w, plan& p, const machine& m, const options& o, const hints& h, planning::cuts* known) {
  const bool in_blocks = !planning::common_labels(w).empty();
  plan in_parts = p;
  if (!in_blocks || h.block < 0) {
    work cut = w;
    planning::cut_sums(cut, m);
    if (in_blocks && cut.ops.size() > w.ops.size()) {
      hints whole = h;
      whole.block = 0;
      in_parts.source.labels = cut.source.labels;
      planning::run_in_blocks(std::move(cut), in_parts, m, o, whole, nullptr);
      count_flops(in_parts);
    } else if (!in_blocks) {
      w = std::move(cut);
      p.source.labels = w.source.labels;
    }
  }
  planning::run_in_blocks(w, p, m, o, h, known);
  count_flops(p);
  if (!in_parts.segments.empty() && in_parts.seconds < 1.05 * p.seconds) p = std::move(in_parts);
}

/// p: what the stages are of, before it is planned.
plan in_stages(const planning::staged& parts, plan p, const machine& m, const options& o) {
  p.between = parts.between;
  p.notes.push_back("in " + std::to_string(parts.works.size()) + " stages: no long label runs through all of its steps");
  for (std::int64_t bytes : parts.between) p.bytes += 2 * static_cast<double>(bytes);
  for (const work& w : parts.works) {
    plan stage;
    stage.source = w.source;
    stage.bytes = p.bytes;
    run_together(w, stage, m, o, {w.once > 0 ? 0 : -1, false}, nullptr);
    p.flops += stage.flops, p.seconds += stage.seconds;
    p.stages.push_back(std::move(stage));
  }
  return p;
}

/// A plan in which nothing is decided but what the program costs as it is written.
plan bare_plan(const program& source, const work& w) {
  plan p;
  p.source = source;
  p.notes = w.notes;
  note_disjoint(source, p);
  count(p);
  return p;
}

plan plan_variant(const program& source, const machine& m, const options& o, const hints& h, int variant, planning::cuts& known) {
  work w = planning::make_work(source, o, variant, true);
  plan p = bare_plan(source, w);
  if (w.ops.empty()) {
    p.segments.push_back({});
    return p;
  }
  const planning::staged parts = h.block >= 0 ? planning::staged{} : planning::stages_of(w);
  const plan bare = parts.works.empty() ? plan{} : p;
  run_together(std::move(w), p, m, o, h, &known);
  if (parts.works.empty()) return p;
  plan apart = in_stages(parts, bare, m, o);
  return apart.seconds < 0.95 * p.seconds ? apart : p;
}

/// The best of these plans, or the one in which small factors are multiplied with one another first.
plan or_multiplied(plan best, const program& source, const machine& m, const options& o) {
  const planning::multiplied_limits limits;
  const work w = planning::make_work(source, o, 0, true, &limits);
  if (w.once == 0) return best;
  const plan p = in_stages(planning::stages_of(w), bare_plan(source, w), m, o);
  const double memory = p.bytes < planning::last_cache(m) ? 0 : p.bytes / (m.memory_bandwidth * 1e9);
  return std::max(p.seconds, memory) < 0.9 * best.seconds ? p : best;
}

}  // namespace

plan make_plan(const program& source, const machine& m, const options& o, const hints& h) {
  check(source);
  planning::cuts known;
  plan best = plan_variant(source, m, o, h, 0, known);
  known.complete();
  if (has_variants(source))
    for (int v = 1; v < (planning::joins_fibres(source, m) ? 2 : 1) * planning::variant_count; ++v) {
      plan other = plan_variant(source, m, o, h, v, known);
      const bool wanted = v < planning::variant_count || planning::has_joined(other);
      if (wanted && other.seconds < best.seconds * 0.999) best = std::move(other);
    }
  if (has_variants(source) && h.block < 0) best = or_multiplied(std::move(best), source, m, o);
  if (source.statements.empty()) return best;
  planning::stream_results(best, m);
  for (plan& stage : best.stages) planning::stream_results(stage, m);
  const dtype type = source.statements[0].left.type;
  const bool narrow = size_of(compute_type(type)) == 4 || type == dtype::c64;
  const double peak = (narrow ? m.peak_f32 : m.peak_f64) * 1e9;
  if (peak > 0 && m.memory_bandwidth > 0)
    best.bound_seconds = std::max(best.flops / peak, best.bytes / (m.memory_bandwidth * 1e9));
  return best;
}

}  // namespace ricci
