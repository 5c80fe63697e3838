// Sums that are cut in parts, so that there is enough to do beside one another: a kernel leaves the parts, another adds them.
#include <algorithm>

#include "gpu/step.hpp"

namespace ricci::cuda {
namespace {

/// Adds `parts` results, each the elements of s in their order, one part after the other. The result of s is that of the parts then.
step_plan add_parts(step_shape& s, std::int64_t parts, const gpu_machine& m, bool in_parts) {
  step_shape last;
  last.has_a = false, last.a = last.b = compute_type(s.c), last.c = s.c, last.beta = s.beta;
  std::int64_t count = 1;
  for (auto* group : {&s.n, &s.m, &s.batch})
    for (std::size_t d = group->size(); d-- > 0;) {
      axis& x = (*group)[d];
      last.n.push_back({x.extent, 0, count, x.c});
      x.c = count, count *= x.extent;
    }
  last.k = {{parts, 0, count, 0}};
  s.c = last.b, s.beta = false;
  return plan_step(last, m, in_parts);
}

std::int64_t results_of(const step_shape& s) { return count_of(s.batch) * count_of(s.m) * count_of(s.n); }

/// A sum in pieces of neighbouring terms, which leave room for several problems on a multiprocessor: the axes of a piece, those that count the
/// pieces, and what is left of the outermost axis. No pieces if the extents have no such divisors.
struct pieces_of_sum {
  std::vector<axis> terms, pieces;
  std::int64_t rest = 0;
};

pieces_of_sum cut_in_pieces(const step_shape& s) {
  constexpr std::int64_t most_terms = 128, fewest = 32, most_bytes = 32 << 10, even = 8;
  const std::int64_t term = (count_of(s.m) + count_of(s.n)) * static_cast<std::int64_t>(size_of(s.a)), most = std::min(most_terms, most_bytes / term);
  pieces_of_sum x;
  for (std::size_t d = s.k.size(); d-- > 0;) {
    const axis& k = s.k[d];
    const std::int64_t room = x.pieces.empty() ? std::min(k.extent, most / count_of(x.terms)) : 1;
    std::int64_t part = room;
    while (k.extent % part != 0 || (part > even && part < k.extent && part % even != 0)) --part;
    if (d == 0 && part * count_of(x.terms) < fewest) part = std::max<std::int64_t>(1, room / even * even), x.rest = k.extent % part;
    if (part > 1) x.terms.insert(x.terms.begin(), {part, k.a, k.b, 0});
    if (part < k.extent) x.pieces.insert(x.pieces.begin(), {k.extent / part, k.a * part, k.b * part, 0});
  }
  return count_of(x.terms) < fewest ? pieces_of_sum{} : x;
}

std::int64_t whole_lines(std::int64_t bytes) {
  constexpr std::int64_t line = 256;
  return (bytes + line - 1) / line * line;
}

/// Bytes of the parts that the last plan adds.
std::int64_t parts_bytes(const step_plan& last) { return results_of(last.shape) * count_of(last.shape.k) * static_cast<std::int64_t>(size_of(last.shape.b)); }

/// What small products of parts take, and adding them: both factors once, the parts twice, at shares of the bandwidth measured on an H200.
double summing_seconds(const step_plan& p, const gpu_machine& m) {
  const dtype t = p.small.step.a;
  const double share = size_of(t) == 2 ? 0.66 : t == dtype::f32 ? 0.8 : t == dtype::c64 ? 0.75 : 0.9;
  return (p.bytes + 2 * static_cast<double>(partial_bytes(p))) / (share * 1e9 * m.bandwidth) + (p.last->last ? 2 : 1) * adding_parts;
}

}  // namespace

void cut_sum(step_plan& p, std::int64_t parts, const gpu_machine& m) {
  step_plan last = add_parts(p.shape, parts, m, false);
  (p.kind == kernel_kind::tile ? p.tile.parts : p.general.parts) = parts;
  p.last = std::make_shared<const step_plan>(std::move(last));
}

double adding_seconds(const step_plan& p, const gpu_machine& m) { return (p.last->last ? 2 : 1) * adding_parts + p.last->bytes / (0.7e9 * m.bandwidth); }

bool sum_as_problems(step_plan& p, std::int64_t parts, const gpu_machine& m) {
  constexpr std::int64_t least_result = 64, few_problems = 8, long_for_library = 2048;
  const step_shape& s = p.shape;
  const std::int64_t rows = count_of(s.m), columns = count_of(s.n), most_side = size_of(s.a) == 2 ? 24 : 32;
  if (!s.has_a || !s.has_b || p.kind == kernel_kind::small || std::max(rows, columns) > most_side || rows * columns < least_result) return false;
  if (p.blas.used && (m.blas == blas_use::always || s.c == dtype::f64 || s.c == dtype::c128 || count_of(s.k) < long_for_library)) return false;
  pieces_of_sum sum = cut_in_pieces(s);
  const std::int64_t pieces = count_of(sum.pieces);
  if (pieces < 2 || pieces * count_of(s.batch) < few_problems * m.multiprocessors) return false;
  gpu_machine own = m;
  own.blas = blas_use::never;
  step_shape first = s;
  const step_plan last = add_parts(first, pieces + (sum.rest > 0 ? 1 : 0), own, true);
  std::shared_ptr<const step_plan> rest;
  if (sum.rest > 0) {
    step_shape end = first;
    end.k[0].extent = sum.rest;
    rest = std::make_shared<const step_plan>(plan_step(end, own, false));
  }
  std::int64_t next = results_of(s);
  for (std::size_t d = sum.pieces.size(); d-- > 0;) sum.pieces[d].c = next, next *= sum.pieces[d].extent;
  first.k = sum.terms;
  first.batch.insert(first.batch.begin(), sum.pieces.begin(), sum.pieces.end());
  step_plan cut = plan_step(first, own, false);
  if (cut.kind != kernel_kind::small) return false;
  const std::int64_t before_rest = s.k[0].extent - sum.rest;
  cut.last = std::make_shared<const step_plan>(last);
  cut.rest = std::move(rest), cut.rest_a = s.k[0].a * before_rest, cut.rest_b = s.k[0].b * before_rest;
  cut.flops = p.flops, cut.bytes = p.bytes, cut.bound_seconds = p.bound_seconds;
  constexpr std::int64_t room = std::int64_t{1} << 30;
  if (partial_bytes(cut) > std::min(room, static_cast<std::int64_t>(counted_bytes_of(s) / 2))) return false;
  step_plan without = p;
  without.blas.used = false;
  const double margin = p.kind == kernel_kind::general ? 1 : 1.1;
  if (margin * summing_seconds(cut, m) > estimated_seconds(without, m) + (parts > 1 ? adding_parts : 0)) return false;
  p = std::move(cut);
  return true;
}

std::int64_t partial_bytes(const step_plan& p) {
  if (!p.last) return 0;
  return whole_lines(parts_bytes(*p.last)) + (p.last->last ? parts_bytes(*p.last->last) : 0);
}

step_passes passes_of(const step_plan& p) {
  step_passes out;
  const auto add = [&](const step_pass& x) { out.all[out.count++] = x; };
  add({&p, -1, p.last ? 0 : -1});
  if (!p.last) return out;
  const step_plan &last = *p.last, *const again = last.last.get();
  const std::int64_t all = parts_bytes(last), one = all / count_of(last.shape.k);
  if (p.rest) add({p.rest.get(), -1, all - one, p.rest_a, p.rest_b});
  add({&last, 0, again ? whole_lines(all) : -1});
  if (again) add({again, whole_lines(all), -1});
  return out;
}

operands operands_of(const step_pass& pass, const operands& x, void* partial) {
  operands out = x;
  char* const memory = static_cast<char*>(partial);
  const step_shape& s = pass.plan->shape;
  if (pass.from >= 0) {
    out.a = nullptr, out.b = memory + pass.from;
  } else if (pass.a != 0 || pass.b != 0) {
    const std::int64_t a = pass.a * static_cast<std::int64_t>(size_of(s.a)), b = pass.b * static_cast<std::int64_t>(size_of(s.b));
    out.a = static_cast<const char*>(x.a) + (s.swapped ? b : a), out.b = static_cast<const char*>(x.b) + (s.swapped ? a : b);
  }
  if (pass.to >= 0) out.c = memory + pass.to, out.alpha[0] = 1, out.alpha[1] = 0;
  return out;
}

}  // namespace ricci::cuda
