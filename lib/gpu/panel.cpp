// Texts for kernels/panel.cuh: products with short sums.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "gpu/long_text.hpp"
#include "gpu/panel.hpp"

namespace ricci::cuda {
namespace {

int up_to(int x, int y) { return (x + y - 1) / y * y; }

int depth_of(const step_shape& s, const panel_config& c) {
  const int k = static_cast<int>(count_of(s.k));
  return c.compute == arithmetic::mma_f64 ? up_to(k, 8) : k;
}

/// To what the innermost axis of the columns is counted; 0: to its extent. Runs of c that begin and end within sectors are
/// eight threads' each then.
std::int64_t padding_of(const step_shape& s) {
  const std::int64_t run = s.n.size() < 2 ? 8 : s.n.back().extent, padded = (run + 7) / 8 * 8;
  return padded != run && run < 32 && 3 * padded <= 4 * run ? padded : 0;
}

std::int64_t columns_of(const step_shape& s) {
  const std::int64_t padded = padding_of(s);
  return padded ? count_of(s.n) / s.n.back().extent * padded : count_of(s.n);
}

/// How lines lie in shared memory: neighbours in memory are neighbours there, but for lines along the sum that are turned on the way, so
/// that threads read neighbouring lines at once.
struct image {
  bool along_k, turned;
  int vec, pad;
  int bytes(int lines, int depth, dtype t) const { return up_to((along_k ? lines * (depth + pad) : depth * (lines + pad)) * static_cast<int>(size_of(t)), 16); }
};

image image_of(const std::vector<axis>& k, const std::vector<axis>& lines, const std::vector<axis>& batch, stride_of_axis stride, dtype t, const panel_config& c, bool of_b, int aligned) {
  image x;
  x.along_k = runs_along_k(k, lines, stride);
  x.vec = vector_of(x.along_k ? k : lines, {x.along_k ? &lines : &k, &batch}, stride, t, aligned);
  const int size = static_cast<int>(size_of(t));
  // Of complex floats what stays, or comes one by one anyway: others take twice the copies then, and threads read them as fast.
  x.turned = c.compute == arithmetic::threads && x.along_k && (size == 4 || (size == 8 && (c.keeps_b == of_b || x.vec == 1)));
  // Terms are so far apart that those of a sector, of several lines, are in banks of their own.
  const int banks = 128 / size, apart = 4, lines_of_tile = of_b ? c.cols : c.rows;
  if (x.turned) x.along_k = false, x.pad = (apart - lines_of_tile % banks + banks) % banks;
  else x.pad = c.compute == arithmetic::mma_f64 ? 4 : !x.along_k ? 0 : x.vec > 1 ? 16 / size : 1;
  return x;
}

/// Tiles of what passes in a problem.
std::int64_t turns_of(const step_shape& s, const panel_config& c) {
  return c.keeps_b ? (count_of(s.m) + c.rows - 1) / c.rows : (columns_of(s) + c.cols - 1) / c.cols;
}

/// Rows that are a sector or two apart in c are dealt out so that neighbouring threads have neighbours.
bool deals_rows(const step_shape& s, const panel_config& c, const image& a) {
  return c.keeps_b && c.compute == arithmetic::mma_f64 && (a.along_k || a.vec == 1) && !s.m.empty() && std::abs(s.m.back().c) <= 8;
}

/// Whether offsets from a problem's first element are short.
bool is_short(const step_shape& s) {
  for (const stride_of_axis stride : {&axis::a, &axis::b, &axis::c}) {
    std::int64_t reach = 0;
    for (const auto* group : {&s.m, &s.n, &s.k})
      for (const axis& x : *group) reach += (x.extent - 1) * std::abs(x.*stride);
    if (reach >= (std::int64_t{1} << 31)) return false;
  }
  return true;
}

int shared_bytes_of(const step_shape& s, const panel_config& c, const image& a, const image& b) {
  const int depth = depth_of(s, c);
  return (c.keeps_b ? c.teams * c.slots : 1) * a.bytes(c.rows, depth, s.a) + (c.keeps_b ? 1 : c.teams * c.slots) * b.bytes(c.cols, depth, s.b) + (is_short(s) ? 4 : 8) * (2 * depth + (c.keeps_b ? 6 * c.teams : 2) * c.rows + (c.keeps_b ? 2 : 6 * c.teams) * c.cols);
}

/// Every operand is one matrix in a problem.
bool is_one_matrix(const step_shape& s) { return s.m.size() == 1 && s.n.size() == 1 && s.k.size() == 1; }

/// Every operand is one matrix without gaps.
bool is_packed(const step_shape& s) {
  if (!is_one_matrix(s)) return false;
  const auto packed = [](const axis& x, const axis& y, stride_of_axis stride) {
    return (x.*stride == y.extent && y.*stride == 1) || (x.*stride == 1 && y.*stride == x.extent);
  };
  return packed(s.m[0], s.k[0], &axis::a) && packed(s.k[0], s.n[0], &axis::b) && packed(s.m[0], s.n[0], &axis::c);
}

/// Columns of b stay: warps side by side of rm x rn tiles of 8 x 16, in each team.
panel_config panel_of_columns(int warps, int rm, int rn, int blocks, int teams, std::int64_t turns) {
  panel_config c = panel_of_cores(1, warps, rm, rn, blocks);
  c.keeps_b = true, c.teams = teams, c.block *= teams, c.turns = turns;
  return c;
}

constexpr std::int64_t all_turns = 1 << 20;

/// c is read, and one or two panels take all its columns: a and b are read once then, and what c's sectors hold of a with them.
panel_config updated_panel(const step_shape& s, const gpu_machine& m) {
  const std::int64_t cols = columns_of(s), stays = count_of(s.k) * std::min<std::int64_t>(up_to(static_cast<int>(cols), 32), 256) * 8;
  const int warps = static_cast<int>(std::min<std::int64_t>((cols + 31) / 32, 8));
  if (stays <= 20 * 1024) return cols <= 64 ? panel_of_columns(warps, 2, 2, 8, 1, 1) : panel_of_columns(warps, 4, 2, warps > 4 ? 1 : 3, 1, 1);
  if (stays * 5 <= m.shared_bytes * 2) return panel_of_columns(warps, 2, 2, warps > 4 ? 2 : 4, 1, 4);
  return panel_of_columns(warps, 2, 2, 1, 2, all_turns);
}

/// Measured on an H200: the paper's statement of 8 to 64 a side, contractions of the TCCG collection, CCSD(T)'s terms.
panel_config f64_panel(const step_shape& s, const gpu_machine& m) {
  const std::int64_t rows = count_of(s.m), cols = columns_of(s);
  const bool long_sum = count_of(s.k) > 32;
  if (in_teams(s)) return cols <= 48 ? panel_of_columns(3, 3, 1, 3, 2, all_turns) : panel_of_columns(4, 2, 1, 3, 2, all_turns);
  if (s.beta && !is_one_matrix(s) && rows >= 32 && cols > 32 && cols <= 512) return updated_panel(s, m);
  if (long_sum && rows <= 96 && cols > 96) return panel_of_columns(4, 2, 2, 2, 2, all_turns);
  if (rows <= 32) return panel_of_cores(1, 2, 4, 2, 6);
  if (long_sum && rows > 96 && cols <= 96 && cols > 64) {
    panel_config c = panel_of_cores(4, 1, 2, 2, 2);
    c.teams = 2, c.block *= 2, c.turns = all_turns;
    return c;
  }
  if (cols <= 32) return rows <= 96 ? panel_of_cores(4, 1, 2, 2, 6) : panel_of_cores(4, 1, 4, 2, 4);
  if (rows <= 64 && cols <= 64) return panel_of_cores(4, 2, 2, 2, 3);
  if (rows <= 96) return long_sum ? panel_of_cores(4, 2, 2, 2, 3) : panel_of_cores(2, 2, 4, 2, 4);
  if (!long_sum) return s.beta ? panel_of_cores(4, 2, 4, 2, 2) : panel_of_cores(4, 1, 4, 2, 4);
  panel_config c = panel_of_cores(8, 2, 2, 2, 1);
  c.slots = 2;
  return c;
}

/// Neighbours of b are so far apart among the columns, in blocks; 0: they are neighbours there, or anywhere.
int block_of(const step_shape& s, const panel_config& c, const image& b) {
  if (c.compute != arithmetic::threads || b.along_k || b.turned || b.vec > 1 || s.n.size() < 2) return 0;
  const axis &inner = s.n.back(), &next = s.n[s.n.size() - 2];
  return next.b == 1 && next.extent == inner.extent && (inner.extent == 8 || inner.extent == 4) ? static_cast<int>(inner.extent) : 0;
}

/// How many instructions copies of a factor take, beside others: those of 16 bytes one; where neighbours are apart, they are worse.
double effort_of(const image& x, dtype t) {
  constexpr double apart = 1.5;
  const double elements = 16 / static_cast<double>(size_of(t));
  return x.turned ? elements : x.vec > 1 ? elements / x.vec : apart * elements;
}

/// By single threads: the tile that wastes least, of those that multiply best; the factor that takes longer to copy stays. Measured with
/// contractions of TCCG and CCSD(T) on an H200.
panel_config threads_panel(const step_shape& s) {
  struct tile {
    int rows, cols, rm, rn, blocks;
    double share;  // of what the best one reaches
  };
  static constexpr tile of_floats[] = {{128, 64, 8, 8, 4, 1}, {64, 128, 8, 8, 4, 1}, {256, 32, 8, 8, 4, 0.95}, {32, 128, 4, 8, 5, 0.85}, {24, 64, 6, 4, 10, 0.83}};
  static constexpr tile of_single_results[] = {{64, 64, 8, 4, 6, 1}, {128, 32, 8, 4, 6, 1}, {32, 64, 8, 4, 10, 0.95}};  // no neighbours of c at once
  static constexpr tile of_complex[] = {{128, 32, 8, 4, 3, 1}, {64, 64, 8, 4, 3, 1}, {72, 64, 6, 4, 2, 0.95}, {24, 64, 6, 4, 6, 0.85}, {32, 64, 8, 4, 6, 0.9}};
  static constexpr tile of_complex_doubles[] = {{64, 32, 4, 4, 3, 1}};
  const std::int64_t rows = count_of(s.m), cols = columns_of(s);
  const auto whole = [](std::int64_t x, int part) { return static_cast<double>(divide_up(x, std::int64_t{part}) * part) / static_cast<double>(x); };
  const auto best = [&](const auto& tiles, bool keeps_b) {
    const tile* found = nullptr;
    double least = 0;
    for (const tile& x : tiles) {
      // Turns go along what passes.
      constexpr double alone = 1.15;
      const bool turns = keeps_b ? rows > x.rows : cols > x.cols;
      const double cost = whole(rows, x.rows) * whole(cols, x.cols) / x.share * (turns ? 1 : alone) * (keeps_b && x.cols < x.rows ? 1.02 : 1);
      if (!found || cost < least) found = &x, least = cost;
    }
    panel_config c = panel_of_threads(found->rows, found->cols, found->rm, found->rn, found->blocks);
    c.slots = 2, c.keeps_b = keeps_b, c.unroll = s.c == dtype::c128 ? 4 : s.c == dtype::c64 ? (count_of(s.k) % 4 == 0 ? 4 : 2) : count_of(s.k) % 2 == 0 ? 2 : 1;  // with more some spill
    return std::pair{c, least};
  };
  const auto either = [&](const auto& tiles) {
    const auto by_rows = best(tiles, false), by_cols = best(tiles, true);
    const image a = image_of(s.k, s.m, s.batch, &axis::a, s.a, by_rows.first, false, 16), b = image_of(s.k, s.n, s.batch, &axis::b, s.b, by_rows.first, true, 16);
    constexpr double more = 1.05;
    return by_cols.second * (effort_of(b, s.b) > effort_of(a, s.a) ? 1 / more : more) < by_rows.second ? by_cols.first : by_rows.first;
  };
  if (s.c == dtype::c128) return best(of_complex_doubles, false).first;
  if (s.c == dtype::c64) return either(of_complex);
  return vector_of(s.n, {&s.m, &s.batch}, &axis::c, s.c, 16) == 1 ? either(of_single_results) : either(of_floats);
}

/// Blocks that a multiprocessor has shared memory for.
int resident_blocks(int shared_bytes, const gpu_machine& m) {
  constexpr int own = 1024;  // bytes that every block takes beside
  return m.shared_bytes / (shared_bytes + own);
}

/// So many turns of single threads that the blocks are done together, and what they keep is not copied too often.
std::int64_t turns_of_threads(const step_shape& s, panel_config c, int shared_bytes, const gpu_machine& m) {
  constexpr std::int64_t most = 24;
  constexpr double once = 1, power = 0.6;  // turns that a block's beginning takes; few blocks of a multiprocessor are done sooner
  const std::int64_t blocks = std::max(1, std::min(c.blocks, resident_blocks(shared_bytes, m))), at_once = blocks * m.multiprocessors;
  std::int64_t best = 1;
  double least = 0;
  for (c.turns = 1; c.turns <= std::min(most, turns_of(s, c)); ++c.turns) {
    const std::int64_t parts = panel_parts(s, c), rest = divide_up(parts % at_once, std::int64_t{m.multiprocessors});
    const double rounds = static_cast<double>(parts / at_once) + std::pow(static_cast<double>(rest) / static_cast<double>(blocks), power);
    if (const double cost = rounds * (static_cast<double>(c.turns) + once); least == 0 || cost <= least) best = c.turns, least = cost;
  }
  return best;
}

}  // namespace

panel_config panel_of_cores(int warps_m, int warps_n, int rm, int rn, int blocks) {
  return {arithmetic::mma_f64, warps_m * rm * 8, warps_n * rn * 16, 32 * warps_m * warps_n, rm, rn, warps_m, warps_n, blocks};
}

panel_config panel_of_threads(int rows, int cols, int rm, int rn, int blocks) {
  return {arithmetic::threads, rows, cols, rows / rm * (cols / rn), rm, rn, 1, 1, blocks, 1, 4};
}

bool in_teams(const step_shape& s) {
  const std::int64_t rows = count_of(s.m), cols = count_of(s.n), k = count_of(s.k), most = std::max(rows, cols);
  if (!s.has_a || s.a != dtype::f64 || s.b != s.a || s.c != s.a || !is_one_matrix(s) || s.n[0].c != 1) return false;
  if (std::min(rows, cols) <= 40 || most > 64 || k <= 32 || k > 64) return false;
  if (s.beta) return !is_packed(s) || most <= 48 || most > 56;
  return most > 54 && (!is_packed(s) || most <= 56);
}

bool choose_panel(const step_shape& s, const gpu_machine& m, panel_config& out) {
  const std::int64_t k = count_of(s.k);
  if (!s.has_a || size_of(s.a) == 2 || s.b != s.a || s.c != s.a || s.n.empty() || s.n.back().c != 1 || k < 2 || k > 72) return false;
  if (count_of(s.m) <= 64 && count_of(s.n) <= 64 && is_packed(s) && !in_teams(s)) return false;  // tiles read their slices in turn, 0.95 against 0.93 of the triad
  const bool cores = s.c == dtype::f64;
  out = cores ? f64_panel(s, m) : threads_panel(s);
  // Longer addresses, and threads that read many elements of c at once, need more registers.
  if (!is_short(s) || (s.beta && !cores)) out.blocks = std::max(1, out.blocks - 1);
  const auto shared = [&] {
    int bytes = 0;
    panel_text(s, out, {}, bytes);
    return bytes;
  };
  // What is read and written takes longer to come than the next tile's product: fewer turns, more blocks.
  if (s.c == dtype::f32 || s.c == dtype::c64) {
    // More blocks hide as much as a second tile does.
    if (k > 32 && (s.c == dtype::f32 || resident_blocks(shared(), m) < out.blocks)) out.slots = 1;
    constexpr std::int64_t brief = 3, few_turns = 4;
    out.turns = s.beta && k <= 32 ? 1 : std::min(turns_of_threads(s, out, shared(), m), k <= brief ? few_turns : all_turns);
  } else {
    if (!out.keeps_b && out.teams == 1) out.turns = k > 32 ? (cores ? 16 : 4) : s.beta ? 1 : cores ? 2 : 4;
    out.turns = std::min(out.turns, turns_of(s, out));
    while (out.turns > out.teams && panel_parts(s, out) < 4 * m.multiprocessors) out.turns = (out.turns + 1) / 2;
  }
  if (out.turns == 1) out.slots = 1;
  if (out.blocks > 1 && shared() * 2 > m.shared_bytes) out.slots = 1;
  return shared() <= m.shared_most;
}

double panel_seconds(const step_shape& s, const panel_config& c, const gpu_machine& m) {
  // Of an H200's peak; of its bandwidth; seconds of a multiprocessor for a result whose row begins anywhere.
  constexpr double of_floats = 0.88, of_floats_along = 0.6, of_complex = 0.6, of_complex_doubles = 0.62, of_memory = 0.85, of_single_result = 0.22e-9;
  const double rows = static_cast<double>(divide_up(count_of(s.m), std::int64_t{c.rows})) * c.rows, cols = static_cast<double>(divide_up(columns_of(s), std::int64_t{c.cols})) * c.cols;
  const double problems = static_cast<double>(count_of(s.batch)), flops = (is_complex(s.c) ? 8 : 2) * problems * rows * cols * static_cast<double>(count_of(s.k));
  const double memory = counted_bytes_of(s) / (of_memory * 1e9 * m.bandwidth);
  const std::int64_t parts = panel_parts(s, c), at_once = static_cast<std::int64_t>(m.multiprocessors) * std::min<std::int64_t>(c.blocks, divide_up(parts, std::int64_t{m.multiprocessors}));
  const double filled = static_cast<double>(divide_up(parts, at_once) * at_once) / static_cast<double>(parts);
  const double narrow = c.rm * c.rn < 32 || (s.c == dtype::f32 && c.rm * c.rn < 64) ? 0.75 : 1;  // threads with few sums read more
  const auto seconds_at = [&](double share, double peak) { return flops / (narrow * share * 1e9 * peak) * filled; };
  if (s.c == dtype::c128) return std::max(memory, seconds_at(of_complex_doubles, m.peak_f64));
  if (s.c == dtype::c64) return std::max(memory, seconds_at(of_complex, m.peak_f32));
  const bool whole = std::all_of(s.m.begin(), s.m.end(), [](const axis& x) { return x.c % 4 == 0; });
  return memory + seconds_at(runs_along_k(s.k, s.m, &axis::a) ? of_floats_along : of_floats, m.peak_f32) + (whole ? 0 : problems * rows * cols / m.multiprocessors * of_single_result);
}

step_shape arranged_for_panels(const step_shape& given) {
  step_shape s = given;
  arrange_rows_and_sums(s);
  const std::size_t nb = unit_in(s.n, &axis::b), nc = unit_in(s.n, &axis::c), axes = s.n.size();
  if (nb == nc || nb == axes || nc == axes || !(in_blocks(s.n, nb, nc, 8) || in_blocks(s.n, nb, nc, 4))) return to_back(s.n, nc), s;
  // Blocks beside one another, in b and in c, are worked on one soon after the other: they share lines of memory.
  const axis of_b = s.n[nb], of_c = s.n[nc];
  for (const std::size_t x : {std::max(nb, nc), std::min(nb, nc)}) s.n.erase(s.n.begin() + static_cast<std::ptrdiff_t>(x));
  s.n.insert(s.n.end() - 2, {of_b, of_c});
  std::erase_if(s.n, [](const axis& x) { return x.extent == 1; });
  return s;
}

std::int64_t panel_parts(const step_shape& s, const panel_config& c) {
  const std::int64_t kept = c.keeps_b ? (columns_of(s) + c.cols - 1) / c.cols : (count_of(s.m) + c.rows - 1) / c.rows;
  return kept * ((turns_of(s, c) + c.turns - 1) / c.turns) * count_of(s.batch);
}

std::string panel_text(const step_shape& s, const panel_config& c, const alignments& at, int& shared_bytes) {
  const image a = image_of(s.k, s.m, s.batch, &axis::a, s.a, c, false, at.a), b = image_of(s.k, s.n, s.batch, &axis::b, s.b, c, true, at.b);
  const int vec_c = vector_of(s.n, {&s.m, &s.batch}, &axis::c, s.c, at.c);
  const std::int64_t columns = columns_of(s), padded = padding_of(s);
  std::string t = "#include \"element.cuh\"\nstruct panel_type {\n  using E = " + element_text(s.c) + ";\n  using offset = " + (is_short(s) ? "int" : "i64") + ";\n";
  t += constant_text("keeps_b", c.keeps_b) + constant_text("int", "teams", c.teams) + constant_text("int", "team", c.block / c.teams) + constant_text("dealt", deals_rows(s, c, a)) + constant_text("conj_a", s.conj_a) + constant_text("conj_b", s.conj_b) + constant_text("beta", s.beta);
  t += constant_text("i64", "m", count_of(s.m)) + constant_text("i64", "n", columns) + constant_text("i64", "turns", c.turns) + constant_text("int", "k", count_of(s.k));
  t += constant_text("int", "rows", c.rows) + constant_text("int", "cols", c.cols) + constant_text("int", "depth", depth_of(s, c)) + constant_text("int", "block", c.block) + constant_text("int", "blocks", c.blocks) + constant_text("int", "slots", c.slots) + constant_text("int", "unroll", c.unroll);
  t += constant_text("int", "rm", c.rm) + constant_text("int", "rn", c.rn) + constant_text("int", "warps_m", c.warps_m) + constant_text("int", "warps_n", c.warps_n);
  t += constant_text("int", "compute", static_cast<int>(c.compute));
  t += constant_text("a_along_k", a.along_k) + constant_text("b_along_k", b.along_k) + constant_text("turns_a", a.turned) + constant_text("turns_b", b.turned) + constant_text("int", "vec_a", a.vec) + constant_text("int", "vec_b", b.vec) + constant_text("int", "vec_c", vec_c) + constant_text("int", "block_b", block_of(s, c, b));
  t += constant_text("int", "pad_a", a.pad) + constant_text("int", "pad_b", b.pad) + constant_text("whole", !padded && columns % c.cols == 0);
  t += offset_function("row", s.m, "ac") + offset_function("col", s.n, "bc", padded ? padded : s.n.back().extent) + offset_function("sum", s.k, "ab") + offset_function("batch", s.batch, "abc");
  shared_bytes = shared_bytes_of(s, c, a, b);
  return t + "};\n#include \"panel.cuh\"\n";
}

std::string to_string(const panel_config& c) {
  const auto lines = [&](bool b) { return std::to_string(b ? c.cols : c.rows) + (b ? " columns" : " rows"); };
  return "panels of " + lines(c.keeps_b) + " along " + (c.turns > 1 ? std::to_string(c.turns) + " x " : "") + lines(!c.keeps_b) + (c.teams > 1 ? " in " + std::to_string(c.teams) + " teams" : "") + ", " + to_string(c.compute);
}

}  // namespace ricci::cuda
