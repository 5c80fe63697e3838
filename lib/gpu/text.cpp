// The plan for a GPU as people read it.
#include <algorithm>

#include "gpu/code_info.hpp"
#include "gpu/compiler.hpp"
#include "gpu/executable.hpp"
#include "gpu/window.hpp"
#include "plan/units.hpp"

namespace ricci::cuda {
namespace {

std::string time_text(double seconds) {
  return seconds < 1e-3 ? format("%.2f us", seconds * 1e6) : format("%.3f ms", seconds * 1e3);
}

std::string name_of(const operand& x, const program& p) {
  if (x.where == operand::kind::one) return "1";
  std::string text = x.name;
  for (std::size_t d = 0; d < x.labels.size(); ++d) text += (d ? "," : "(") + p.labels[static_cast<std::size_t>(x.labels[d])].name;
  if (!x.labels.empty()) text += ")";
  return x.conj ? "conj(" + text + ")" : text;
}

std::string group_text(const char* name, const std::vector<axis>& axes) {
  if (axes.empty()) return "";
  std::string text = std::string("  ") + name + " [";
  for (std::size_t d = 0; d < axes.size(); ++d) text += (d ? " " : "") + std::to_string(axes[d].extent);
  return text + "]";
}

/// Registers, shared memory, resident blocks: of the device's compiler, else of NVRTC alone.
std::string code_text(const kernel_request& r, const gpu_machine& m, const device* compiled) {
  std::string t = bytes_text(r.shared_bytes) + " shared, ";
  int registers = 0, blocks = 0, stack = 0;
  if (compiled) {
    const kernel k = load_kernel(*compiled, r);
    registers = k.registers, blocks = k.blocks, stack = k.local_bytes;
  } else if (find_compiler().missing.empty()) {
    const code_info c = read_code_info(machine_code(r.text, m.architecture), r.name);
    registers = c.registers, blocks = blocks_of(c, r, m), stack = c.stack_bytes;
  }
  if (registers == 0) return t + "blocks of " + std::to_string(r.threads) + " (no NVRTC to compile them with)";
  return t + std::to_string(registers) + " registers, " + std::to_string(blocks) + (blocks == 1 ? " block" : " blocks") + " of " +
         std::to_string(r.threads) + " on each of " + std::to_string(m.multiprocessors) + " multiprocessors" +
         (stack > 0 ? ", " + std::to_string(stack) + " bytes spilled" : "");
}

std::string bound_text(double flops, double bytes, double bound, const gpu_machine& m) {
  return flops_text(flops) + ", " + bytes_text(bytes) + ", at least " + time_text(bound) + " by " +
         (bytes / (m.bandwidth * 1e9) >= bound * 0.999 ? "memory bandwidth" : "multiply-adds");
}

std::string step_text(const program_plan& p, const launch_plan& l, const gpu_machine& m, const device* compiled) {
  const pair_op& op = p.ops[static_cast<std::size_t>(l.op)];
  const step_plan& step = l.step;
  std::string t = name_of(op.c, p.source) + (step.shape.beta ? " += " : " = ");
  if (op.alpha.base != 1 || op.alpha.scalar >= 0)
    t += format("%g", op.alpha.base) + (op.alpha.scalar >= 0 ? "*s" + std::to_string(op.alpha.scalar) : "") + " ";
  if (op.a.where != operand::kind::one) t += name_of(op.a, p.source) + " * ";
  t += name_of(op.b, p.source) + "\n     ";
  const std::string groups = group_text("batch", step.shape.batch) + group_text("m", step.shape.m) +
                             group_text("n", step.shape.n) + group_text("k", step.shape.k);
  return t + (groups.empty() ? "  scalars" : groups) + "\n       " + to_string(step) +
         (step.blas.used ? "" : "\n       " + code_text(request_of(step, {}), m, compiled)) + "\n       " + bound_text(step.shape.has_a ? step.flops : 0, step.bytes, step.bound_seconds, m) + "\n";
}

/// The passes of a chain: over which fibres, and what is made of them.
std::string chain_text(const program_plan& p, const chain_plan& c, const gpu_machine& m, const device* compiled) {
  const auto label = [&](int l) { return p.source.labels[static_cast<std::size_t>(l)].name; };
  std::string t = "one kernel for " + std::to_string(c.count) + (c.count == 1 ? " element (" : " elements (");
  for (std::size_t g = 0; g < c.grid.size(); ++g) t += (g ? "," : "") + label(c.grid[g]);
  t += "): " + to_string(c) + "\n";
  for (const chain_pass& pass : c.passes) {
    t += "       stage " + std::to_string(pass.stage + 1) + ", fibres (";
    for (std::size_t f = 0; f < pass.fibre.size(); ++f) t += (f ? "," : "") + label(pass.fibre[f]);
    t += "):";
    for (const int n : pass.ops) {
      const chain_op& x = c.ops[static_cast<std::size_t>(n)];
      t += " " + name_of(x.op.c, p.source) + (x.line < 0 ? "" : " along " + label(x.line)) + (n == pass.ops.back() ? "\n" : ";");
    }
  }
  return t + "       " + code_text(request_of(c), m, compiled) + "\n       " + bound_text(c.flops, c.bytes, c.bound_seconds, m) +
         format(", %.0f flop and %.0f bytes an element\n", c.flops / static_cast<double>(std::max<std::int64_t>(1, c.count)),
                c.bytes / static_cast<double>(std::max<std::int64_t>(1, c.count)));
}

/// Tiles of sums: how many of which labels.
std::string tiles_text(const program_plan& p, const elementwise_plan& x, const gpu_machine& m, const device* compiled) {
  std::string t = name_of(x.op.c, p.source) + (is_transposition(x) ? " from " + name_of(x.op.inputs[0], p.source) : "") + ": " + to_string(x) + " (";
  for (const tile_axis& a : x.axes)
    if (a.piece > 1) t += (t.back() == '(' ? "" : " ") + p.source.labels[static_cast<std::size_t>(a.label)].name + " " + std::to_string(a.piece);
  return t + ")\n       " + code_text(request_of(x), m, compiled) + "\n       " + bound_text(x.flops, x.bytes, x.bound_seconds, m) + "\n";
}

}  // namespace

std::string to_string(const step_plan& p) {
  if (p.blas.used) return to_string(p.blas);
  switch (p.kind) {
    case kernel_kind::small: return "small products, " + to_string(p.config) + (p.last ? ", sums in " + std::to_string(count_of(p.last->shape.k)) + " parts" : "");
    case kernel_kind::tile: {
      return "tiles of " + std::to_string(p.tile.rows) + " x " + std::to_string(p.tile.cols) + ", slices of " +
             std::to_string(p.tile.depth) + ", " + to_string(p.tile.compute) + (p.tile.in_planes() ? " in " + std::to_string(p.tile.planes_a) + " x " + std::to_string(p.tile.planes_b) + " planes" : "") +
             (p.tile.parts > 1 ? ", sums in " + std::to_string(p.tile.parts) + (p.tile.beside ? " parts of neighbours" : " parts") : "");
    }
    case kernel_kind::panel: return to_string(p.panel);
    case kernel_kind::window: return to_string(p.window, p.shape);
    case kernel_kind::abreast: return to_string(p.abreast);
    case kernel_kind::permute: return p.turn.used() ? to_string(p.turn) : "transposition through squares of 32 x 32";
    default: return to_string(p.general, p.shape);
  }
}

std::string to_string(const program_plan& p, const gpu_machine& m, const device* compiled) {
  std::string t = "plan for " + m.name + " (GPU)\n";
  const std::string source = ricci::to_string(p.source);
  for (std::size_t at = 0, end; at < source.size(); at = end + 1) {
    end = source.find('\n', at);
    if (end > at) t += (end + 1 >= source.size() ? "  labels       " : "  statement    ") + source.substr(at, end - at) + "\n";
  }
  for (const std::string& n : p.notes) t += "  note         " + n + "\n";
  t += "  flops        " + flops_text(p.flops) + "\n  bytes        " + bytes_text(p.bytes);
  if (p.bytes > 0) t += format(", %.2f flop per byte", p.flops / p.bytes);
  t += "\n  bound        " + time_text(p.bound_seconds) + "\n";
  if (p.workspace > 0) t += "  temporaries  " + bytes_text(static_cast<double>(p.workspace)) + ", ordered by the stream\n";
  for (std::size_t n = 0; n < p.launches.size(); ++n) {
    const launch_plan& l = p.launches[n];
    t += format("    %-2d ", static_cast<int>(n) + 1) + (l.chain ? chain_text(p, *l.chain, m, compiled) : l.tiles ? tiles_text(p, *l.tiles, m, compiled) : step_text(p, l, m, compiled));
  }
  return p.launches.empty() ? t + "  nothing to do\n" : t;
}

}  // namespace ricci::cuda
