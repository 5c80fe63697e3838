// Texts for kernels/general.cuh.
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "gpu/long_text.hpp"
#include "gpu/step.hpp"

namespace ricci::cuda {
namespace {

constexpr std::int64_t narrow = std::int64_t{1} << 31;

/// Neighbours in the operand innermost; what it does not have, outermost.
void order_by(std::vector<axis>& axes, char operand) {
  const stride_of_axis stride = stride_in(operand);
  const auto key = [&](const axis& x) { return x.*stride != 0 ? std::abs(x.*stride) : std::int64_t{1} << 62; };
  std::stable_sort(axes.begin(), axes.end(), [&](const axis& x, const axis& y) { return key(x) > key(y); });
}

/// An axis of which a block has `size` neighbours: `in_thread` of them for each thread, or one for each value of the bits of a
/// thread's number from `shift` on.
struct piece {
  axis x;
  std::int64_t size = 1;
  int shift = 0;
  bool in_thread = false;
  std::int64_t pieces() const { return divide_up(x.extent, size); }
};

/// What the bits and turns of a configuration count: free elements, or terms.
struct counted {
  std::vector<piece> pieces;    // axes of their own
  std::vector<axis> flat;       // the others, as one index
  int flat_bits = 0, flat_shift = 0, flat_run = 1;  // of neighbours that a thread has
  std::int64_t flat_count() const { return count_of(flat); }
  std::int64_t turns() const {
    std::int64_t n = divide_up(flat_count(), std::int64_t{flat_run} << flat_bits);
    for (const piece& p : pieces) n *= p.pieces();
    return n;
  }
  bool is_cut() const {
    return std::any_of(pieces.begin(), pieces.end(), [](const piece& p) { return !p.in_thread && p.x.extent % p.size != 0; });
  }
  /// Leading turns in which every thread has something: the flat index counts slowest.
  std::int64_t whole_turns() const {
    if (is_cut()) return 0;
    std::int64_t n = flat_count() >> flat_bits;
    for (const piece& p : pieces) n *= p.pieces();
    return n;
  }
};

/// Whether indices need 64 bits.
bool is_long(const counted& x) {
  return x.turns() >= narrow || x.flat_count() >= narrow || std::any_of(x.pieces.begin(), x.pieces.end(), [](const piece& p) { return p.x.extent >= narrow; });
}

counted counted_of(const step_shape& s, const general_config& c, bool sums) {
  counted out;
  std::vector<axis> axes = sums ? s.k : free_axes(s);
  std::vector<bool> taken(axes.size(), false);
  if (c.run.is_flat()) {
    if (!sums) out.flat_run = c.run.count;
  } else if (c.run.count > 1 && c.run.sums == sums) {  // an axis of runs
    axis& x = axes[static_cast<std::size_t>(c.run.axis)];
    if (!sums) out.pieces.push_back({{c.run.count, x.a, x.b, x.c}, c.run.count, 0, true});
    x = {x.extent / c.run.count, x.a * c.run.count, x.b * c.run.count, x.c * c.run.count};
  }
  if (!sums)
    for (const own_elements& o : c.own) out.pieces.push_back({axes[static_cast<std::size_t>(o.axis)], o.count, 0, true}), taken[static_cast<std::size_t>(o.axis)] = true;
  int shift = 0;
  for (const lane_bits& l : c.lanes) {
    if (l.sums == sums && l.axis < 0) out.flat_bits = l.bits, out.flat_shift = shift;
    if (l.sums == sums && l.axis >= 0) out.pieces.push_back({axes[static_cast<std::size_t>(l.axis)], std::int64_t{1} << l.bits, shift}), taken[static_cast<std::size_t>(l.axis)] = true;
    shift += l.bits;
  }
  for (std::size_t d = 0; d < axes.size(); ++d)
    if (!taken[d]) out.flat.push_back(axes[d]);
  order_by(out.flat, sums && c.order == 'c' ? 'b' : c.order);
  return out;
}

/// "a += ...;" for each operand that an index counts in.
std::string offset_lines(const std::vector<axis>& axes, const std::string& operands, const std::string& index) {
  std::string text;
  for (const char x : operands) {
    const std::string offset = long_offset_text(extents_of(axes), strides_of(axes, stride_in(x)), index);
    if (offset != "0") text += std::string("    ") + x + " += " + offset + ";\n";
  }
  return text;
}

/// The bits of a thread's number from `shift` on.
std::string bits_text(int shift, int bits) { return bits == 0 ? "0" : "(thread >> " + std::to_string(shift) + " & " + std::to_string((1 << bits) - 1) + ")"; }

/// What of `at` a block or a turn counts, and where a thread is in it.
std::string place_text(const char* name, const counted& x, const std::string& operands, const char* at) {
  const std::string integer = is_long(x) ? "u64" : "u32";
  std::string t = std::string("  static __device__ bool ") + name + "(i64 " + at + ", int thread";
  for (const char o : operands) t += std::string(", i64& ") + o;
  t += ") {\n    bool in = true;\n    " + integer + " rest = static_cast<" + integer + ">(" + at + ");\n";
  int n = 0;
  for (const piece& p : x.pieces) {
    const std::string i = "i" + std::to_string(n++), size = std::to_string(p.size);
    const std::string block = p.pieces() == 1 ? "0" : "rest % " + std::to_string(p.pieces()) + " * " + size;
    if (!p.in_thread) {
      t += "    const " + integer + " " + i + " = " + block + " + " + bits_text(p.shift, std::countr_zero(static_cast<std::uint64_t>(p.size))) + ";\n";
      if (p.x.extent % p.size != 0) t += "    in = in && " + i + " < " + std::to_string(p.x.extent) + ";\n";
      t += offset_lines({p.x}, operands, i);
    }
    if (p.pieces() > 1) t += "    rest /= " + std::to_string(p.pieces()) + ";\n";
  }
  t += "    const " + integer + " u = (rest * " + std::to_string(1 << x.flat_bits) + " + " + bits_text(x.flat_shift, x.flat_bits) + ") * " + std::to_string(x.flat_run) + ";\n";
  if (x.flat_count() % (std::int64_t{x.flat_run} << x.flat_bits) != 0) t += "    in = in && u < " + std::to_string(x.flat_count()) + ";\n";
  if (x.flat_run == 1) t += offset_lines(x.flat, operands, "u");
  return t + "    return in;\n  }\n";
}

/// A thread's own elements: the axes of `in_thread` pieces, the first the innermost. Those outside stand in for the last ones.
std::string own_text(const counted& x) {
  const std::string integer = is_long(x) ? "u64" : "u32";
  std::string t = "  static __device__ bool own(i64 at, int thread, int j, i64& a, i64& b, i64& c) {\n    bool in = true;\n    " + integer + " rest = static_cast<" + integer + ">(at), left = static_cast<" + integer + ">(j);\n";
  if (x.flat_run > 1) {
    t += "    " + integer + " u = (rest * " + std::to_string(1 << x.flat_bits) + " + " + bits_text(x.flat_shift, x.flat_bits) + ") * " + std::to_string(x.flat_run) + " + left;\n";
    const std::string last = std::to_string(x.flat_count() - 1);
    if (x.flat_count() % x.flat_run != 0) t += "    if (u > " + last + ") u = " + last + ", in = false;\n";
    return t + offset_lines(x.flat, "abc", "u") + "    return in;\n  }\n";
  }
  int n = 0;
  for (const piece& p : x.pieces) {
    if (!p.in_thread) continue;
    const std::string i = "i" + std::to_string(n++), last = std::to_string(p.x.extent - 1);
    const std::string digit = "left % " + std::to_string(p.size);
    t += "    " + integer + " " + i + " = " + (p.pieces() > 1 ? "rest % " + std::to_string(p.pieces()) + " * " + std::to_string(p.size) + " + " : "") + digit + ";\n";
    if (p.x.extent % p.size != 0) t += "    if (" + i + " > " + last + ") " + i + " = " + last + ", in = false;\n";
    t += offset_lines({p.x}, "abc", i);
    t += "    rest /= " + std::to_string(p.pieces()) + ", left /= " + std::to_string(p.size) + ";\n";
  }
  return t + "    return in;\n  }\n";
}

std::int64_t own_count(const general_config& c) {
  std::int64_t n = c.run.sums ? 1 : c.run.count;
  for (const own_elements& o : c.own) n *= o.count;
  return n;
}

/// How runs lie in an operand, as general.cuh has it.
int along(const step_shape& s, const neighbours& run, char operand, dtype t, int aligned) {
  const stride_of_axis stride = stride_in(operand);
  if (run.count == 1 || aligned < run.count * static_cast<int>(size_of(t))) return 0;
  const std::vector<axis> free = free_axes(s);
  if (run.is_flat()) return std::all_of(free.begin(), free.end(), [&](const axis& x) { return x.*stride == x.c; });
  const axis& x = (run.sums ? s.k : free)[static_cast<std::size_t>(run.axis)];
  if (x.*stride != 1) return 0;
  for (const auto* group : {&free, &s.k})
    for (const axis& y : *group)
      if (&y != &x && y.*stride % run.count != 0) return 0;
  return run.sums ? 2 : 1;
}

int sum_bits_of(const general_config& c) {
  int mask = 0, shift = 0;
  for (const lane_bits& l : c.lanes) {
    if (l.sums) mask |= ((1 << l.bits) - 1) << shift;
    shift += l.bits;
  }
  return mask;
}

}  // namespace

int threads_of(const general_config& c) {
  int bits = 0;
  for (const lane_bits& l : c.lanes) bits += l.bits;
  return 1 << bits;
}

std::int64_t general_blocks(const step_shape& s, const general_config& c) { return counted_of(s, c, false).turns() * c.parts; }

std::int64_t general_turns(const step_shape& s, const general_config& c) { return counted_of(s, c, true).turns(); }
bool has_whole_turns(const step_shape& s, const general_config& c) { return counted_of(s, c, true).whole_turns() > 0; }

namespace {

/// How far from the first one a thread's element or term lies; negative if it has none.
std::int64_t offset_in_block(const counted& x, int thread, stride_of_axis stride) {
  const auto bits_at = [&](int shift, std::int64_t size) { return (thread >> shift) % size; };
  std::int64_t offset = 0, u = bits_at(x.flat_shift, std::int64_t{1} << x.flat_bits) * x.flat_run;
  if (u >= x.flat_count()) return -1;
  for (const piece& p : x.pieces) {
    if (p.in_thread) continue;
    const std::int64_t i = bits_at(p.shift, p.size);
    if (i >= p.x.extent) return -1;
    offset += i * std::abs(p.x.*stride);
  }
  for (std::size_t d = x.flat.size(); d-- > 0; u /= x.flat[d].extent) offset += u % x.flat[d].extent * std::abs(x.flat[d].*stride);
  return offset;
}

}  // namespace

double sectors_of_warp(const step_shape& s, const general_config& c, char operand, dtype t) {
  constexpr std::int64_t sector = 32;
  const counted free = counted_of(s, c, false), sums = counted_of(s, c, true);
  std::vector<std::int64_t> sectors;
  double threads = 0;
  for (int thread = 0; thread < 32; ++thread) {
    const std::int64_t e = offset_in_block(free, thread, stride_in(operand)), k = offset_in_block(sums, thread, stride_in(operand));
    if (e < 0 || k < 0) continue;
    sectors.push_back((e + k) * static_cast<std::int64_t>(size_of(t)) / sector), ++threads;
  }
  std::sort(sectors.begin(), sectors.end());
  return static_cast<double>(std::unique(sectors.begin(), sectors.end()) - sectors.begin()) * 32 / threads;
}

std::string general_text(const step_plan& p, const alignments& at) {
  const step_shape& s = p.shape;
  const counted free = counted_of(s, p.general, false), sums = counted_of(s, p.general, true);
  const std::int64_t each = own_count(p.general);
  std::string t = "#include \"element.cuh\"\nstruct general_type {\n";
  t += "  using A = " + element_text(s.a) + ";\n  using B = " + element_text(s.b) + ";\n  using C = " + element_text(s.c) + ";\n";
  t += constant_text("has_a", s.has_a) + constant_text("has_b", s.has_b) + constant_text("conj_a", s.conj_a) + constant_text("conj_b", s.conj_b) + constant_text("beta", s.beta);
  t += constant_text("int", "block", threads_of(p.general)) + constant_text("int", "unroll", each > 4 ? 2 : 4) + constant_text("int", "each", each);
  const neighbours& run = p.general.run;
  const axis terms = run.sums && run.count > 1 && !run.is_flat() ? s.k[static_cast<std::size_t>(run.axis)] : axis{};
  t += constant_text("int", "run", run.sums ? 1 : run.count) + constant_text("int", "terms", run.sums ? run.count : 1) + constant_text("i64", "step_a", terms.a) + constant_text("i64", "step_b", terms.b);
  t += constant_text("int", "along_a", along(s, run, 'a', s.a, at.a)) + constant_text("int", "along_b", along(s, run, 'b', s.b, at.b)) + constant_text("int", "along_c", along(s, run, 'c', s.c, at.c));
  t += constant_text("i64", "rounds", sums.turns()) + constant_text("i64", "whole", sums.whole_turns()) + constant_text("i64", "parts", p.general.parts);
  t += constant_text("i64", "count", p.general.parts > 1 ? count_of(free_axes(s)) : 0) + constant_text("int", "sum_bits", sum_bits_of(p.general)) + constant_text("cut", free.flat_count() % free.flat_run != 0);
  return t + place_text("place", free, "abc", "at") + own_text(free) + place_text("term", sums, "ab", "turn") + "};\n#include \"general.cuh\"\n";
}

std::string to_string(const general_config& c, const step_shape& s) {
  int sums = 1;
  for (const lane_bits& l : c.lanes)
    if (l.sums) sums <<= l.bits;
  const std::int64_t each = own_count(c);
  return std::to_string(sums) + (sums == 1 ? " thread" : " threads") + " for each element" + (each > 1 ? ", " + std::to_string(each) + " elements a thread" : "") + (c.run.is_flat() ? " across rows" : "") +
         ", in the order of " + (c.order == 'c' ? "the result" : (c.order == 'a') != s.swapped ? "the first factor" : "the second factor") +
         (c.parts > 1 ? ", sums in " + std::to_string(c.parts) + " parts" : "");
}

}  // namespace ricci::cuda
