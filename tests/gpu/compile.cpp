// Every kernel that the tests and the shipped table use, compiled for several architectures without a GPU: none may spill.
// Without NVRTC there is nothing to compile with, and the test is skipped (exit code 77).
#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <ricci/core/error.hpp>

#include "abreast_kernels.hpp"
#include "convolutions.hpp"
#include "fitted_kernels.hpp"
#include "fused_programs.hpp"
#include "gpu/code_info.hpp"
#include "gpu/compiler.hpp"
#include "gpu/executable.hpp"
#include "gpu/measure.hpp"
#include "gpu/small_table.hpp"
#include "gpu/window.hpp"

namespace {

using namespace ricci;
using namespace ricci::cuda;
using test::is_left_to_other;

struct job {
  std::string what;
  kernel_request request;
  int architecture;
  std::optional<chain_plan> chain{};  // its request is made when its blocks are settled
};

/// The table's kernels, for the other alignments and layouts too.
void add_table(std::vector<job>& to, int architecture, int every) {
  for (int e = 0; e < small_entry_count; ++e) {
    const small_entry& x = small_entries[e];
    // Those that ask for several blocks leave the compiler the fewest registers: all of them.
    const bool tight = architecture == 90 && x.config.blocks > 1;
    if (e % every != architecture % every && !tight) continue;
    step_plan p;
    p.shape = square_step(x.type, x.n, x.beta, 100000);
    p.kind = kernel_kind::small;
    make_small(p.shape, p.small);
    p.config = x.config;
    if (architecture != 90) p.config.blocks = 1;  // as choose_small() has it
    to.push_back({std::string("table ") + name_of(x.type) + " n=" + std::to_string(x.n) + " beta=" + std::to_string(x.beta), request_of(p, {}), architecture});
  }
}

/// Other layouts, other alignments, and the other families. Not all: a configuration of tiles is compiled for one shape alone.
void add_families(std::vector<job>& to, int architecture, bool all) {
  gpu_machine m = described_h200();
  m.architecture = architecture, m.warpgroups = has_warpgroups(architecture);
  for (int t = 0; t < dtype_count; ++t) {
    const dtype type = static_cast<dtype>(t);
    const auto add = [&](const char* what, step_shape s, const alignments& at, bool last = false) {
      s.a = s.b = s.c = type;
      const step_plan p = cuda::plan_step(s, m);
      to.push_back({std::string(what) + " " + name_of(type), request_of(last && p.last ? *p.last : p, at), architecture});
      if (p.rest) to.push_back({std::string(what) + ", the rest " + name_of(type), request_of(*p.rest, at), architecture});
    };
    step_shape s = square_step(type, 7, true, 1000);
    add("shifted", s, {2, 4, 8});
    std::swap(s.k[0].a, s.m[0].a);
    s.n[0].c = 7, s.m[0].c = 1, s.conj_b = true;
    add("transposed", s, {});
    s = square_step(type, 12, false, 1000);
    s.batch = {{9, 20000, 0, 20000}, {100, 1, 300, 1}};
    s.m[0].a = 2000, s.k[0].a = 150, s.m[0].c = 1500, s.n[0].c = 110;
    add("side by side", s, {});
    for (const std::int64_t n : {2, 5, 8, 16, 24})  // eight problems side by side: all operands, and the first alone
      for (const bool whole : {true, false}) {
        step_shape x = square_step(type, n, n == 8, 1);
        x.batch = {{1000, 8 * n * n, 8 * n * n, 8 * n * n}, {8, 1, whole ? 1 : n * n, whole ? 1 : n * n}};
        x.m[0].a *= 8, x.k[0].a *= 8;
        if (whole) x.k[0].b *= 8, x.n[0].b *= 8, x.m[0].c *= 8, x.n[0].c *= 8;
        add(whole ? "beside" : "beside in part", x, {});
      }
    // Products that are no squares, transposed or not: chosen by counting.
    for (const auto& [rows, columns, sums] : {std::array<std::int64_t, 3>{48, 30, 4}, {16, 5, 8}, {30, 27, 45}, {56, 48, 56}, {12, 20, 100}, {64, 9, 33}}) {
      step_shape x = product_step(type, rows, columns, sums, rows == 30, 100000);
      if (rows % 3 == 0) x.m[0].a = 1, x.k[0].a = rows;
      if (rows % 4 == 0) x.n[0].b = sums, x.k[0].b = 1;
      if (!is_left_to_other(type, sums)) add("counted", x, rows == 64 ? alignments{8, 8, 8} : alignments{});
    }
    // Rows, several together, and small matrices that share a factor of side by sum.
    for (const auto& [side, sum] : {std::pair<std::int64_t, std::int64_t>{4, 4}, {9, 9}, {8, 81}, {27, 27}, {20, 30}, {16, 16}, {27, 8}, {125, 8}, {40, 10}, {24, 64}, {700, 6}}) {
      if (is_left_to_other(type, side / 8)) continue;
      step_shape x;
      x.beta = side == sum;
      x.m = {{80000, sum, 0, side}}, x.n = {{side, 0, 1, 1}}, x.k = {{sum, 1, side, 0}};
      add("rows", x, {});
      if (size_of(type) == 2) {  // results of float
        x.a = x.b = type, x.c = dtype::f32;
        to.push_back({std::string("widened rows ") + name_of(type), request_of(cuda::plan_step(x, m), {}), architecture});
      }
      if (side * sum <= 230) x.m = {{10000, 7 * sum, 0, 7 * side}, {7, 1, 0, 1}}, x.k[0].a = 7, x.n[0].c = 7, add("matrices", x, {});
    }
    // Long sums of few rows and columns.
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{16, 16}, {8, 10}, {24, 20}, {32, 9}}) {
      step_shape x;
      x.m = {{rows, 1, 0, columns}}, x.n = {{columns, 0, 1, 1}}, x.k = {{3000001, rows, columns, 0}};
      if (!is_left_to_other(type, columns / 2)) add("long sums", x, {});
    }
    add("tiles", square_step(type, 200, true, 3), {});
    add("unaligned tiles", square_step(type, 131, false, 3), {2, 2, 2});
    if (size_of(type) > 2) {
      // A tensor by itself with ranges, of all sides that panels have configurations for; sums of few and of many terms.
      for (const std::int64_t n : {7, 8, 16, 32, 64}) {
        step_shape x;
        x.beta = n > 7;
        x.batch = {{1000, 72 * n * n, 72 * n * n, 72 * n * n}};
        x.m = {{n, 72 * n, 0, 72 * n}, {8, 8, 0, 8}}, x.n = {{n, 0, 72, 72}, {7, 0, 1, 1}}, x.k = {{n, 72, 72 * n, 0}};
        add("ranges", x, {8, 8, 8});
      }
      for (const std::int64_t n : {44, 64}) {
        step_shape x = square_step(type, n, n == 44, 1000);
        x.batch[0] = {1000, (n + 2) * (n + 2), (n + 2) * (n + 2), (n + 2) * (n + 2)};
        x.m[0].a = x.m[0].c = x.k[0].b = n + 2;
        add("frames", x, {8, 8, 8});
      }
      for (const std::int64_t rows : {24, 80, 1000})
        for (const std::int64_t cols : {24, 2000})
          for (const std::int64_t sum : {16, 72}) {
            step_shape x;
            x.m = {{8, sum, 0, cols * rows}, {rows / 8, 8 * sum, 0, cols}}, x.n = {{cols, 0, 1, 1}}, x.k = {{sum, 1, cols, 0}};
            add("panels", x, {});
          }
    }
    // Tiles as narrow as a side, whose factors lie along the sum or across it.
    for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t>{14, 300}, {29, 300}, {45, 300}, {300, 15}, {300, 32}, {300, 47}, {200, 200}, {300, 7}, {7, 300}})
      for (const bool along : {true, false})
        for (const std::int64_t sum : {100, 1161}) {
          if (!all && (along == (sum == 100) || is_left_to_other(type, rows + along))) continue;
          step_shape x;
          x.batch = {{192, rows * sum, cols * sum, rows * cols}}, x.beta = sum == 100;
          x.m = {{rows, along ? sum : 1, 0, cols}}, x.n = {{cols, 0, along ? sum : 1, 1}}, x.k = {{sum, along ? 1 : rows, along ? 1 : cols, 0}};
          add(("narrow tiles, " + std::to_string(rows) + " x " + std::to_string(cols) + " x " + std::to_string(sum) + (along ? " along" : " across")).c_str(), x, along ? alignments{} : alignments{2, 2, 2});
        }
    // All configurations of tiles, with sums whole and in parts of neighbours.
    std::set<std::string> seen;
    for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t>{200, 200}, {14, 200}, {200, 14}, {200, 150}})
      for (const bool along : {true, false}) {
        step_shape x = product_step(type, rows, cols, 205, along, 1);
        x.a = x.b = x.c = type;
        if (along) x.k[0].b = 1, x.n[0].b = 205;
        else x.m[0].a = 1, x.k[0].a = rows;
        step_plan p;
        p.kind = kernel_kind::tile;
        for (const tile_config& c : tile_candidates(x, m)) {
          p.tile = c, p.tile.parts = along ? 4 : 1, p.tile.beside = along, p.shape = arranged_for_tiles(x, c);
          if (!all && (!seen.insert(to_string(p)).second || is_left_to_other(type, static_cast<std::int64_t>(seen.size())))) continue;
          to.push_back({to_string(p) + " " + name_of(type), request_of(p, {}), architecture});
        }
      }
    // Rows at multiples of 16 elements, of which the last copies have fewer.
    for (const bool along : {true, false}) {
      step_shape x = product_step(type, 199, 201, 205, false, 1);
      x.a = x.b = x.c = type;
      if (along) x.m[0].a = 208, x.n[0].b = 208, x.k[0].b = 1;
      else x.m[0].a = 1, x.k[0].a = 208, x.k[0].b = 208;
      step_plan p;
      p.kind = kernel_kind::tile;
      for (const tile_config& c : tile_candidates(x, m)) {
        p.tile = c, p.shape = arranged_for_tiles(x, c);
        if (all || (c.compute == arithmetic::wgmma_16 && along == (type == dtype::f16))) to.push_back({to_string(p) + ", rows apart, " + name_of(type), request_of(p, {}), architecture});
      }
    }
    step_shape move;
    move.has_a = false;
    move.n = {{100, 0, 1, 300}, {300, 0, 100, 1}};
    add("transposition", move, {});
    if (size_of(type) <= 8) {
      const auto turn = [&](const char* what, std::vector<axis> axes, alignments at) {
        step_shape x;
        x.has_a = false, x.beta = at.c < 16, x.n = std::move(axes);
        add(what, x, at);
      };
      turn("words in tiles", {{8192, 0, 8193, 1}, {8193, 0, 1, 8192}}, {16, 16, 16});
      turn("odd words in tiles", {{8191, 0, 8193, 1}, {8193, 0, 1, 8191}}, {2, 2, 2});
      turn("short sides", {{7, 0, 1, 3500000}, {500000, 0, 7, 7}, {7, 0, 3500000, 1}}, {16, 16, 16});
      if (type != dtype::bf16) {
        turn("odd short sides", {{5, 0, 1, 9 * 500001}, {500001, 0, 5, 9}, {9, 0, 5 * 500001, 1}}, {2, 2, 2});
        turn("many axes", {{36, 0, 1, 1679616}, {36, 0, 36, 46656}, {36, 0, 1296, 1296}, {36, 0, 46656, 36}, {36, 0, 1679616, 1}}, {16, 16, 16});
        turn("rows of one length", {{81, 0, 1, 81}, {81, 0, 81, 1}, {10000, 0, 6561, 6561}}, {16, 16, 16});
      }
    }
    add("columns", product_step(type, 3000, 9, 40, true, 1), {});
    add("columns of many terms", product_step(type, 300, 9, 40000, false, 1), {8, 16, 16});
    add("few tiles", product_step(type, 100, 70, 30000, true, 1), {});
    add("few tiles, second pass", product_step(type, 100, 70, 30000, true, 1), {}, true);
    step_shape across;
    across.batch = {{3000, 1, 1, 1}}, across.m = {{15, 3000 * 40, 0, 3000 * 22}}, across.n = {{22, 0, 3000, 3000}}, across.k = {{40, 3000, 3000 * 22, 0}};
    add("across", across, {});
    for (const std::int64_t terms : {1, 2, 3})
      for (const std::int64_t n : {640, 641}) {
        step_shape x = product_step(type, 301, n, terms, n == 640, terms == 2 ? 1 : 100);
        x.n[0].b = terms, x.k = terms == 1 ? std::vector<axis>{} : std::vector<axis>{{terms, 1, 1, 0}};
        add("one to three terms", x, n == 640 ? alignments{} : alignments{2, 2, 2});
      }
    for (const std::int64_t n : {5, 8}) {
      step_shape rows;
      rows.has_a = false, rows.beta = n == 8, rows.n = {axis{800003, 0, n * n, n * n}, axis{n, 0, 1, n}, axis{n, 0, n, 1}};
      add("words across rows", rows, {});
    }
    step_shape sum;
    sum.k = {{1000000, 1, 1, 0}}, add("long sum", sum, {}), add("long sum, second pass", sum, {}, true);
  }
}

/// C(i) = s0 A(i) + s1 A(i) + ... of so many tensors, long enough that a thread has several elements in hand.
test::fused_case sum_of_tensors(dtype t, int terms) {
  auto c = std::make_unique<test::case_builder>(t);
  c->label('i', 3);
  statement s;
  s.left = c->tensor("C", "i");
  for (int n = 0; n < terms; ++n) s.terms.push_back({c->scalar(0.5), false, {c->tensor("A", "i")}});
  c->p.statements.push_back(s);
  c->p.labels[0].extent = std::int64_t{1} << 24;  // what the planner sees; the memory stays small
  return {"sum of " + std::to_string(terms) + " tensors " + name_of(t), std::move(c), 1};
}

/// C(i,j,k,l) = A(i,j,k,l) + A(j,i,l,k) - ... in so many orders, long enough for whole tiles.
test::fused_case sum_of_orders(dtype t, int terms) {
  auto c = std::make_unique<test::case_builder>(t);
  for (const char l : {'i', 'j', 'k', 'l'}) c->label(l, 2);
  statement s;
  s.left = c->tensor("C", "ijkl");
  std::string order = "ijkl";
  for (int n = 0; n < terms; ++n, std::next_permutation(order.begin(), order.end())) s.terms.push_back({n % 2 ? -1 : c->scalar({0.5, 0.25}), n % 4 == 1, {c->tensor("A", order)}});
  const auto widen = [](reference& r) {  // what the planner sees; the memory stays small
    for (reference_axis& x : r.axes) {
      std::int64_t wide = 1;
      for (; x.stride > 1; x.stride /= 2) wide *= 50;
      x.stride = wide;
    }
  };
  widen(s.left);
  for (product& x : s.terms) widen(x.factors[0]);
  c->p.statements.push_back(s);
  for (label_info& l : c->p.labels) l.extent = 50;
  return {"sum of " + std::to_string(terms) + " orders " + name_of(t), std::move(c), 1};
}

/// Every kernel of fused programs: the bake-off operators of all degrees, and what the tests run.
void add_chains(std::vector<job>& to, int architecture, bool all) {
  std::vector<test::fused_case> cases = test::fused_cases(all);
  for (int degree = 1; degree <= 15; ++degree) {
    if (!all && degree != 2 && degree != 6 && degree != 9) continue;
    const int P = degree + 1;
    cases.push_back(test::bk1(dtype::f64, P, P + 1, 5000, false, true));
    cases.push_back(test::bk3(dtype::f64, P, P + 1, 5000, 1, true));
    cases.push_back(test::bk5(dtype::f64, P, 5000, true));
  }
  for (const dtype t : {dtype::f64, dtype::f32, dtype::f16})
    for (const int terms : {2, 4, 16}) cases.push_back(sum_of_tensors(t, terms));
  for (int t = 0; t < dtype_count; ++t)
    for (const int terms : {2, 8, 16})
      if (all || terms != 8) cases.push_back(sum_of_orders(static_cast<dtype>(t), terms));
  for (test::fused_case& c : cases) {
    program_plan made = make_program_plan(placed_on_gpu(c.c->p), described_h200(), {});
    for (launch_plan& l : made.launches)
      if (l.chain) to.push_back({c.name, {}, architecture, std::move(l.chain)});
      else if (l.tiles) to.push_back({c.name, request_of(*l.tiles), architecture});
  }
}

/// Floats beside 16 bits and floats that are stored in 16 bits, in planes: every configuration, each of another layout.
void add_planes(std::vector<job>& to, int architecture, bool all) {
  gpu_machine m = described_h200();
  m.architecture = architecture, m.warpgroups = has_warpgroups(architecture);
  std::map<std::string, std::vector<job>> found;
  unsigned number = 0;
  for (const auto& [a, b, c] : {std::array<dtype, 3>{dtype::f32, dtype::f16, dtype::f32}, {dtype::f16, dtype::f32, dtype::f16}, {dtype::f32, dtype::bf16, dtype::bf16}, {dtype::bf16, dtype::f32, dtype::f32}, {dtype::f32, dtype::f32, dtype::f16}})
    for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t>{300, 300}, {40, 200}, {200, 25}, {200, 150}})
      for (int way = 0; way < 8; ++way) {
        step_shape x = product_step(dtype::f32, rows, cols, 205, way & 4, 1);
        x.a = a, x.b = b, x.c = c;
        if (way & 1) x.m[0].a = 1, x.k[0].a = rows;
        if (way & 2) x.k[0].b = 1, x.n[0].b = 205;
        step_plan p;
        p.kind = kernel_kind::tile;
        for (const tile_config& t : tile_candidates(x, m)) {
          // Four warps are not taken where they would have many pieces to cut.
          const bool single = ++number % 2 == 0;
          if (!t.in_planes() || (single && t.compute == arithmetic::wgmma_16 && t.block == 128)) continue;
          p.tile = t, p.shape = arranged_for_tiles(x, t);
          std::vector<job>& same = found[to_string(p)];
          p.tile.beside = way & 4 && architecture >= 90, p.tile.parts = p.tile.beside ? 2 : 1;
          same.push_back({to_string(p) + " " + name_of(a) + " " + name_of(b) + " way " + std::to_string(way), request_of(p, single ? alignments{4, 2, 4} : alignments{}), architecture});
        }
      }
  for (auto& [config, jobs] : found)
    if (all) to.insert(to.end(), jobs.begin(), jobs.end());
    else to.push_back(jobs[to.size() * 3 % jobs.size()]);
}

/// Convolutions, stencils and moving sums: the chosen kernels, and others that might be chosen for other extents.
void add_windows(std::vector<job>& to, int architecture, bool all) {
  gpu_machine m = described_h200();
  m.architecture = architecture;
  unsigned seed = 0;
  for (int t = 0; t < dtype_count; ++t)
    for (const test::contraction& x : test::windowed()) {
      if (++seed % 2 == 0 && !all) continue;
      const auto c = test::case_of(static_cast<dtype>(t), seed, x, false, seed % 4 == 1);
      step_plan step = make_program_plan(placed_on_gpu(c->p), m, {}).launches[0].step;
      step.kind = kernel_kind::window, step.shape = arranged_for_windows(step.shape);
      const std::vector<window_config> found = window_candidates(step.shape, m);
      for (const bool chosen : {true, false}) {
        if (!chosen && !all && seed % 4 == 1) continue;
        step.window = chosen ? *choose_window(step.shape, m) : found[seed * 7 % found.size()];
        to.push_back({"windows " + std::to_string(seed) + ", " + to_string(step), request_of(step, seed % 8 < 4 ? alignments{} : alignments{2, 2, 2}), architecture});
      }
    }
}

void settle_for(job& j) {
  gpu_machine m = described_h200();
  m.architecture = j.architecture;
  settle(*j.chain, m);
  j.request = request_of(*j.chain);
}

int run(std::vector<job> jobs) {
  std::vector<std::string> failures(jobs.size());
  std::vector<std::thread> workers;
  const auto hands = static_cast<std::size_t>(std::max(1u, std::thread::hardware_concurrency()));
  for (std::size_t h = 0; h < hands; ++h)
    workers.emplace_back([&, h] {
      for (std::size_t j = h; j < jobs.size(); j += hands) try {
          if (jobs[j].chain) settle_for(jobs[j]);
          const code_info c = read_code_info(compile_text(jobs[j].request.text, jobs[j].architecture, usual_options()), jobs[j].request.name);
          if (c.stack_bytes > 0) failures[j] = "spills " + std::to_string(c.stack_bytes) + " bytes of a thread";
          if (blocks_of(c, jobs[j].request, described_h200()) < 1) failures[j] = "does not fit on a multiprocessor";
        } catch (const std::exception& e) {
          failures[j] = e.what();
        }
    });
  for (std::thread& w : workers) w.join();
  int bad = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j)
    if (!failures[j].empty()) std::printf("%s on sm_%d: %s\n", jobs[j].what.c_str(), jobs[j].architecture, failures[j].c_str()), ++bad;
  std::printf("%zu kernels compiled, %d bad\n", jobs.size(), bad);
  return bad == 0 ? 0 : 1;
}

}  // namespace

/// Argument "all": every entry of the table for every architecture; else a share of it, so that it takes a minute.
int main(int count, char** words) {
  const compiler_info& c = find_compiler();
  if (!c.missing.empty()) {
    std::printf("skipped: no NVRTC (%s)\n", c.missing.c_str());
    return 77;
  }
  const bool all = count > 1 && std::string(words[1]) == "all";
  std::vector<job> jobs;
  const auto add = [&](auto kernels, int architecture) {
    for (auto& [what, request] : kernels) jobs.push_back({what, request, architecture});
  };
  for (const int a : c.architectures)
    if (a == 80 || a == 90 || a == 100) {
      add_table(jobs, a, all ? 1 : 24);
      if (all || a == 90) add_families(jobs, a, all), add_chains(jobs, a, all), add_windows(jobs, a, all), add(test::abreast_kernels(a, all), a), add(test::fitted_kernels(all), a);
      if (all || a != 100) add_planes(jobs, a, all);
    }
  std::set<std::pair<int, std::string>> seen;
  std::erase_if(jobs, [&](const job& j) { return !j.chain && !seen.insert({j.architecture, j.request.text}).second; });
  return run(jobs);
}
