// Shared memory of a chain: places that are used again, and how many elements a block takes.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "gpu/chain.hpp"

namespace ricci::cuda {

using namespace chains;

namespace {

std::int64_t word_of(const chain_plan& p) { return static_cast<std::int64_t>(size_of(compute_type(p.type))); }

/// Operations of a pass that are emitted as one loop over the line.
int run_of(const chain_plan& p, const chain_pass& pass, int op) {
  int run = -1;
  const chain_op* before = nullptr;
  for (const int n : pass.ops) {
    const chain_op& x = p.ops[static_cast<std::size_t>(n)];
    if (!before || !is_elementwise(x) || !is_elementwise(*before) || x.line != before->line) ++run;
    before = &x;
    if (n == op) return run;
  }
  return run;
}

/// Whether the first write of y may go where x was: the same threads, the same places, after all reads.
bool in_place(const chain_plan& p, const chain_buffer& x, const std::vector<chain_access>& of_x, const chain_buffer& y, const std::vector<chain_access>& of_y) {
  if (x.last != y.first || x.extents != y.extents) return false;
  const chain_access* write = nullptr;
  for (const chain_access& a : of_y)
    if (!a.reads && a.pass->stage == y.first && !write) write = &a;
  if (!write) return false;
  for (const chain_access& a : of_y)
    if (a.pass->stage == y.first && a.pass != write->pass) return false;
  for (const chain_access& a : of_x) {
    if (a.pass->stage < x.last) continue;
    if (a.pass != write->pass || !a.reads || run_of(p, *a.pass, a.op) > run_of(p, *a.pass, write->op)) return false;
    for (std::size_t d = 0; d < a.labels.size(); ++d) {
      const bool fixed = contains(a.pass->fibre, a.labels[d]) || contains(a.pass->fibre, write->labels[d]);
      if (fixed && a.labels[d] != write->labels[d]) return false;
    }
  }
  return true;
}

void find_buffers(chain_plan& p, const std::map<int, std::vector<chain_access>>& accesses) {
  std::map<std::vector<std::int64_t>, std::vector<chain_access>> classes;
  for (const auto& [id, all] : accesses) {
    chain_buffer b;
    b.temporary = id;
    b.first = 1 << 20;
    for (const int l : p.temporaries[static_cast<std::size_t>(id)])
      if (!contains(p.grid, l)) b.extents.push_back(p.extents[static_cast<std::size_t>(l)]);
    for (const chain_access& a : all) b.first = std::min(b.first, a.pass->stage), b.last = std::max(b.last, a.pass->stage);
    auto& of_class = classes[b.extents];
    of_class.insert(of_class.end(), all.begin(), all.end());
    p.buffers.push_back(b);
  }
  std::map<std::vector<std::int64_t>, chain_layout> layouts;
  for (const auto& [extents, all] : classes) layouts[extents] = choose_layout(p, extents, all);
  for (chain_buffer& b : p.buffers) b.strides = layouts[b.extents].strides, b.size = layouts[b.extents].size;
  std::stable_sort(p.buffers.begin(), p.buffers.end(), [](const chain_buffer& x, const chain_buffer& y) { return x.first < y.first; });
}

/// The first gaps that are free while buffers live, in one order of theirs; a pair whose threads may write where they just
/// read shares its place. What buffers of an element take.
std::int64_t place_in_order(std::vector<chain_buffer>& all, const std::vector<std::vector<char>>& shares, const std::vector<std::size_t>& order) {
  std::int64_t end = 0;
  for (std::size_t n = 0; n < order.size(); ++n) {
    chain_buffer& b = all[order[n]];
    const auto is_free = [&](std::int64_t at) {
      for (std::size_t m = 0; m < n; ++m) {
        const chain_buffer& x = all[order[m]];
        if (b.last < x.first || x.last < b.first || (at == x.offset && shares[order[n]][order[m]])) continue;
        if (at < x.offset + x.size && x.offset < at + b.size) return false;
      }
      return true;
    };
    std::vector<std::int64_t> tries{0};
    for (std::size_t m = 0; m < n; ++m) tries.push_back(all[order[m]].offset + all[order[m]].size);
    std::sort(tries.begin(), tries.end());
    for (std::size_t m = n; m-- > 0;)
      if (shares[order[n]][order[m]]) tries.insert(tries.begin(), all[order[m]].offset);
    b.offset = *std::find_if(tries.begin(), tries.end(), is_free);  // behind the last one is room
    end = std::max(end, b.offset + b.size);
  }
  return end;
}

/// Places of the block's buffers from `first` on: of the order of their stages, of their sizes, and what exchanges of two
/// make of the better one, the order that takes least. Where buffers end.
std::int64_t place_buffers(chain_plan& p, const std::map<int, std::vector<chain_access>>& accesses, std::int64_t first) {
  std::vector<chain_buffer>& all = p.buffers;
  const std::size_t count = all.size();
  std::vector<std::vector<char>> shares(count, std::vector<char>(count, 0));
  for (std::size_t x = 0; x < count; ++x)
    for (std::size_t y = 0; y < count; ++y)
      if (x != y && in_place(p, all[x], accesses.at(all[x].temporary), all[y], accesses.at(all[y].temporary))) shares[x][y] = shares[y][x] = 1;
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::int64_t least = place_in_order(all, shares, order);
  const auto improves = [&](const std::vector<std::size_t>& other) {
    const std::int64_t end = place_in_order(all, shares, other);
    if (end >= least) return false;
    least = end, order = other;
    return true;
  };
  std::vector<std::size_t> by_size = order;
  std::stable_sort(by_size.begin(), by_size.end(), [&](std::size_t x, std::size_t y) { return all[x].size > all[y].size; });
  improves(by_size);
  constexpr std::size_t most_exchanged = 24;
  for (bool again = count <= most_exchanged; again;) {
    again = false;
    for (std::size_t x = 0; x < count && !again; ++x)
      for (std::size_t y = x + 1; y < count && !again; ++y) {
        std::vector<std::size_t> other = order;
        std::swap(other[x], other[y]);
        again = improves(other);
      }
  }
  place_in_order(all, shares, order);
  for (chain_buffer& b : all) b.offset = first + b.offset * p.config.elements;
  return first + least * p.config.elements;
}

/// Words of 4 bytes that the lines of a pass take for each fibre.
std::int64_t words_of(const chain_plan& p, const chain_pass& pass) {
  std::int64_t most = 0, kept = 0;
  for (const int n : pass.ops) {
    const chain_op& x = p.ops[static_cast<std::size_t>(n)];
    const std::int64_t line = x.line < 0 ? 1 : p.extents[static_cast<std::size_t>(x.line)];
    if (!is_elementwise(x) || !x.stored) kept += line;
    else most = std::max(most, line);
  }
  return (kept + most + 2) * word_of(p) / 4;
}

/// What matrices in registers take of them while a pass runs.
std::int64_t kept_words(const chain_plan& p, const chain_pass& pass) {
  std::int64_t words = 0;
  const auto add = [&](const chain_matrix& m) { words += m.count * m.columns * word_of(p) / 4; };
  if (p.config.keep < 2) {
    for (const int m : kept_by(p, pass)) add(p.matrices[static_cast<std::size_t>(m)]);
  } else {
    for (std::size_t m = 0; m < p.matrices.size(); ++m)
      if (p.matrices[m].kept == static_cast<int>(m)) add(p.matrices[m]);
  }
  return words;
}

/// Which matrices are in registers: of two that are each other's transpose, one.
void find_kept(chain_plan& p) {
  const auto extent = [&](int l) { return p.extents[static_cast<std::size_t>(l)]; };
  for (std::size_t n = 0; n < p.matrices.size(); ++n) {
    chain_matrix& x = p.matrices[n];
    x.kept = p.config.keep > 0 && x.halves ? static_cast<int>(n) : -1;
    for (std::size_t m = 0; m < n && x.kept == static_cast<int>(n); ++m) {
      const chain_matrix& y = p.matrices[m];
      const bool same = is_same(x.source, y.source) || (x.source.memory >= 0 && x.source.memory == y.source.memory);
      if (!same || y.kept != static_cast<int>(m) || x.source.parity != y.source.parity || x.source.conj != y.source.conj) continue;
      const auto turned = [&](int l, int other) { return extent(l) == extent(other) && stride_of(x.source, l) == stride_of(y.source, other); };
      if (turned(x.line, y.rows[0]) && turned(x.rows[0], y.line)) x.kept = static_cast<int>(m);
    }
  }
}

constexpr std::int64_t base_registers = 52;

/// Registers for the lines that a thread has in hand; who asks for more than four has them measured.
std::int64_t most_line_registers(const chain_config& c) { return c.lines > 6 ? 230 : c.lines > 4 ? 190 : 140; }

/// As many lines at a time as there are tasks for, and registers.
int lines_of(const chain_plan& p, const chain_pass& pass, const chain_config& c) {
  const std::int64_t tasks = product_of(p, pass.fibre) * c.elements;
  chain_pass with = pass;
  with.lines = static_cast<int>(std::min<std::int64_t>(c.lines, (tasks + c.threads - 1) / c.threads));
  while (with.lines > 1 && with.lines * words_of(p, pass) + kept_words(p, with) > most_line_registers(c)) --with.lines;
  return with.lines;
}

std::int64_t registers_of(const chain_plan& p, const chain_config& c) {
  std::int64_t most = 0;
  for (const chain_pass& pass : p.passes) most = std::max(most, words_of(p, pass) * lines_of(p, pass, c) * 5 / 4 + kept_words(p, pass));
  return std::min<std::int64_t>(255, (base_registers + most + 7) / 8 * 8);
}

/// How much of the threads' time has a task, and how well blocks hide each other's barriers.
double score(const chain_plan& p, const chain_config& c, double shared, const gpu_machine& m) {
  double useful = 0, spent = 0;
  for (const chain_pass& pass : p.passes) {
    const double tasks = static_cast<double>(product_of(p, pass.fibre)) * c.elements, lines = lines_of(p, pass, c);
    double weight = 0, rows = 0;
    for (const int n : pass.ops) {
      const chain_op& x = p.ops[static_cast<std::size_t>(n)];
      const double line = x.line < 0 ? 1 : static_cast<double>(p.extents[static_cast<std::size_t>(x.line)]);
      rows += is_elementwise(x) ? 0 : line * static_cast<double>(product_of(p, x.sum)) * 0.5;
      weight += line * 3 + rows * 0.5;
    }
    const double rounds = std::ceil(tasks / (c.threads * lines)), warps = c.threads / 32.0;
    useful += (weight + rows / 4) * tasks / 32;
    spent += rounds * warps * (weight * std::min(lines, std::ceil(tasks / c.threads)) + (c.keep > 0 ? 0 : rows)) + (c.keep == 1 ? warps * rows : 0);
  }
  const double registers = static_cast<double>(registers_of(p, c));
  const double blocks = std::floor(std::min({m.shared_bytes / (shared + 1024), m.threads / static_cast<double>(c.threads), 32.0,
                                             m.registers / (registers * c.threads)}));
  if (blocks < 1) return 0;
  const double warps = blocks * c.threads / 32.0;
  const double overlap = blocks >= 4 ? 1 : blocks >= 3 ? 0.96 : blocks >= 2 ? 0.88 : 0.6;
  return useful / spent * overlap * std::min(1.0, std::pow(warps / 20, 0.4)) * (c.threads > 256 ? 0.97 : 1);
}

/// Which passes are the tensor cores', and a second copy of matrices that these want whole and others in halves.
void choose_tensor(chain_plan& p) {
  std::erase_if(p.matrices, [](const chain_matrix& m) { return m.again; });
  for (chain_matrix& m : p.matrices) m.halves = m.may_halve;
  for (chain_op& x : p.ops) x.tensor = false;
  std::vector<char> whole(p.matrices.size(), 0), halves(p.matrices.size(), 0);
  for (chain_pass& pass : p.passes) {
    pass.tensor = p.config.tensor > 0 && suits_tensor_cores(p, pass) && (p.config.tensor < 2 || !touches_memory(p, pass));
    for (const int n : pass.ops) {
      const chain_op& x = p.ops[static_cast<std::size_t>(n)];
      for (const operand* f : {&x.op.a, &x.op.b})
        if (const int m = matrix_of(p, x, *f); m >= 0) (pass.tensor ? whole : halves)[static_cast<std::size_t>(m)] = 1;
    }
  }
  for (const chain_pass& pass : p.passes)
    for (const int n : pass.ops) p.ops[static_cast<std::size_t>(n)].tensor = pass.tensor;
  for (std::size_t m = 0, count = p.matrices.size(); m < count; ++m) {
    if (!p.matrices[m].may_halve || !whole[m]) continue;
    if (!halves[m]) {
      p.matrices[m].halves = false;
      continue;
    }
    chain_matrix second = p.matrices[m];
    second.halves = false, second.again = true;
    p.matrices.push_back(second);
  }
}

/// Operations element by element alone, whose threads share nothing: how many there are is all that there is to choose.
bool is_flat(const chain_plan& p) {
  return p.shared_bytes == 0 && std::all_of(p.passes.begin(), p.passes.end(), [](const chain_pass& x) { return x.fibre.empty(); }) &&
         std::all_of(p.ops.begin(), p.ops.end(), [](const chain_op& x) { return x.line < 0 && x.sum.empty(); });
}

/// Some elements a thread, 256 threads apart, while there are enough for all multiprocessors, and registers for those of all tensors.
chain_config flat_config(const chain_plan& p, const gpu_machine& m, chain_config c) {
  c.threads = 256, c.blocks = 1;
  c.lines = static_cast<int>(32 / size_of(compute_type(p.type)));
  constexpr std::size_t most_at_once = 24;  // elements of all tensors that a thread has in hand
  while (c.lines > 1 && static_cast<std::size_t>(c.lines) * pointers_of(p).size() > most_at_once) c.lines /= 2;
  while (c.lines > 1 && p.count < std::int64_t{8} * m.multiprocessors * c.threads * c.lines) c.lines /= 2;
  c.elements = c.threads * c.lines;
  return c;
}

}  // namespace

void set_config(chain_plan& p, const chain_config& c) {
  p.config = c;
  p.buffers.clear();
  std::int64_t at = 0;
  const std::int64_t wide = std::max<std::int64_t>(1, 16 / word_of(p));
  split_passes(p);
  choose_tensor(p);
  for (chain_matrix& m : p.matrices) {
    if (m.may_halve) m.columns = m.halves ? (p.extents[static_cast<std::size_t>(m.line)] + 1) / 2 : p.extents[static_cast<std::size_t>(m.line)];
    if (m.may_halve) m.pitch = (m.columns + wide - 1) / wide * wide;
  }
  find_kept(p);
  for (std::size_t n = 0; n < p.matrices.size(); ++n) {
    chain_matrix& m = p.matrices[n];
    m.offset = at;
    if (p.config.keep < 2 || m.kept < 0 || m.kept == static_cast<int>(n)) at += (m.count * m.pitch + wide - 1) / wide * wide;
  }
  for (chain_pass& pass : p.passes) {
    pass.lines = pass.tensor ? 2 : lines_of(p, pass, c);
  }
  for (chain_pass& pass : p.passes) pass.lanes = pass.fibre, pass.by_element = false, pass.order.clear();
  p.order_offset = at, p.order_count = 0;
  if (c.deal) at += deal_tasks(p);
  else choose_lanes(p);
  find_inputs(p);
  for (chain_input& x : p.inputs) {
    x.offset = at;
    at += (x.run * c.elements + 2 * wide - 2) / wide * wide;  // it may begin some words later
  }
  p.arrivals_offset = at;
  at += (static_cast<std::int64_t>(p.inputs.size()) + 1) / 2 * 16 / word_of(p);
  const auto accesses = accesses_of(p);
  find_buffers(p, accesses);
  p.shared_bytes = static_cast<int>(std::min<std::int64_t>(place_buffers(p, accesses, at) * word_of(p), 1 << 30));
}

std::vector<chain_config> chain_candidates(const chain_plan& given, const gpu_machine& m, std::size_t most, const chain_config& like) {
  chain_plan p = given;
  set_config(p, like);
  if (is_flat(p)) return {flat_config(p, m, like)};
  if (like.ahead > 0 && p.inputs.empty()) return {};
  std::int64_t fixed = 0;
  for (const chain_matrix& x : p.matrices) fixed += x.count * x.pitch * word_of(p);
  const double each = static_cast<double>(p.shared_bytes - fixed);
  std::vector<std::pair<double, chain_config>> scored;
  for (const int threads : {32, 64, 96, 128, 160, 192, 256, 320, 384, 512})
    for (int elements = 1; elements <= 1024; elements = elements < 16 ? elements + 1 : elements < 64 ? elements + 8 : elements * 2) {
      const double shared = static_cast<double>(fixed) + each * elements * 1.03;
      if (elements > 1 && (shared > m.shared_most || elements > 2 * p.count)) break;
      for (const int lines : {1, 2, 3, 4}) {
        chain_config c = like;
        c.elements = elements, c.threads = threads, c.lines = lines;
        p.config = c;
        const double s = score(p, c, shared, m);
        if (s > 0) scored.push_back({s, c});
      }
    }
  std::stable_sort(scored.begin(), scored.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
  std::vector<chain_config> out;
  std::set<std::vector<int>> seen;
  for (const auto& [s, c] : scored) {
    if (out.size() == most) break;
    // Of one number of threads, two: neighbours in the list are alike.
    const auto alike = std::count_if(out.begin(), out.end(), [&, t = c.threads](const chain_config& x) { return x.threads == t; });
    if (alike >= (most > 8 ? 3 : 2)) continue;
    set_config(p, c);
    if (p.shared_bytes > m.shared_most) continue;
    std::vector<int> lines{c.elements, c.threads};
    for (const chain_pass& pass : p.passes) lines.push_back(pass.lines);
    if (!seen.insert(lines).second) continue;
    // As many blocks as shared memory holds, if the registers are likely to do.
    chain_config best = c;
    const std::int64_t room = m.shared_bytes / (p.shared_bytes + 1024);
    best.blocks = static_cast<int>(std::max<std::int64_t>(1, std::min<std::int64_t>({room, m.registers / (registers_of(p, c) * c.threads), m.threads / c.threads, 32})));
    out.push_back(best);
  }
  return out;
}

std::string to_string(const chain_config& c) {
  return std::to_string(c.elements) + (c.elements == 1 ? " element" : " elements") + " a block of " + std::to_string(c.threads) + " threads" +
         (c.lines > 1 ? ", " + std::to_string(c.lines) + " lines at a time" : "") + (c.unroll > 0 ? ", sums by " + std::to_string(c.unroll) : "") + (c.early == 1 ? ", early" : c.early > 1 ? ", half early" : "") + (c.turns == 0 ? ", all turns" : c.turns > 1 ? ", " + std::to_string(c.turns) + " turns" : "") +
         (c.tensor == 1 ? ", tensor cores" : c.tensor == 2 ? ", tensor cores between" : c.tensor > 2 ? ", tensor cores apart" : "") + (c.ahead == 1 ? ", ahead" : c.ahead == 2 ? ", ahead in all" : c.ahead == 3 ? ", ahead but for the first" : "") +
         (c.keep == 1 ? ", matrices in registers" : c.keep > 1 ? ", matrices in registers throughout" : "") + (c.deal ? ", lines dealt out" : "");
}

}  // namespace ricci::cuda
