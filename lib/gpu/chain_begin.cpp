// How a block of a chain begins: its copies of the matrices that all elements share, and what it asks for ahead of its use.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>

#include "gpu/chain_writer.hpp"

namespace ricci::cuda::chains {
namespace {

constexpr std::int64_t warp = 32, most_pieces = 16;

std::size_t pointer_of(const chain_plan& p, const operand& x) {
  const auto pointers = pointers_of(p);
  return static_cast<std::size_t>(std::find_if(pointers.begin(), pointers.end(), [&](const operand& y) { return is_same_memory(x, y); }) - pointers.begin());
}

/// Entries of a matrix that threads copy one each: of an even or odd one, mirrored rows make two.
std::int64_t entries_of(const chain_matrix& m) { return (m.halves ? (m.count + 1) / 2 : m.count) * m.columns; }

/// Reads entry x to a, and what is mirrored to b.
std::string read_text(const chain_plan& p, const chain_matrix& m, const std::string& a, const std::string& b) {
  std::int64_t reach = 0;
  for (std::size_t d = 0; d < m.source.labels.size(); ++d) reach += (p.extents[static_cast<std::size_t>(m.source.labels[d])] - 1) * std::abs(m.source.strides[d]);
  const std::string at_entry = reach > std::numeric_limits<std::int32_t>::max() ? "static_cast<i64>(x)" : "x";
  const std::string from = "p" + std::to_string(pointer_of(p, m.source)), columns = num(m.columns);
  if (m.halves) {
    const std::string row = num(stride_of(m.source, m.rows[0])), column = " + " + at_entry + " % " + columns + " * " + num(stride_of(m.source, m.line));
    return a + " = E::get(" + from + "[" + at_entry + " / " + columns + " * " + row + column + "]), " + b + " = E::get(" + from + "[(" + num(m.count - 1) + " - " + at_entry + " / " + columns + ") * " + row + column + "]);";
  }
  std::string at = "0";
  std::int64_t inside = m.count;
  for (const int l : m.rows) {
    const std::int64_t extent = p.extents[static_cast<std::size_t>(l)];
    inside /= extent;
    at += " + " + at_entry + " / " + num(m.columns * inside) + " % " + num(extent) + " * " + num(stride_of(m.source, l));
  }
  if (m.line >= 0) at += " + " + at_entry + " % " + columns + " * " + num(stride_of(m.source, m.line));
  return a + " = conj_if<" + (m.source.conj ? "true" : "false") + ">(" + (m.source.type == p.type ? "E::get" : "") + "(" + from + "[" + at + "]));";
}

/// Stores it; of halves (M(q,k) + M(q,N-1-k)) / 2 and (M(q,k) - M(q,N-1-k)) / 2.
std::string store_text(const chain_matrix& m, const std::string& a, const std::string& b) {
  const std::string columns = num(m.columns), pitch = num(m.pitch), row = "shared[" + num(m.offset) + " + x / " + columns + " * " + pitch + " + x % " + columns + "]";
  if (!m.halves) return row + " = " + a + ";";
  const std::string odd = "shared[" + num(m.offset + (m.count + 1) / 2 * m.pitch) + " + x / " + columns + " * " + pitch + " + x % " + columns + "] = constant<W>(0.5) * (" + a + " - " + b + ");";
  if (m.count % 2 == 0) return row + " = constant<W>(0.5) * (" + a + " + " + b + "); " + odd;
  return "const bool middle = x / " + columns + " == " + num(m.count / 2) + "; " + row + " = middle ? " + a + " : constant<W>(0.5) * (" + a + " + " + b + "); if (!middle) " + odd;
}

}  // namespace

std::string orders_table(const chain_plan& p) {
  if (p.order_count == 0) return "";
  std::vector<int> all(static_cast<std::size_t>(p.order_count), 0);
  for (const chain_pass& pass : p.passes) std::copy(pass.order.begin(), pass.order.end(), all.begin() + static_cast<std::ptrdiff_t>(pass.order_at));
  std::string t = "__align__(16) __device__ const unsigned short chain_orders[] = {";
  for (const int x : all) t += std::to_string(x < 0 ? no_task : x) + ",";
  return t + "};\n";
}

std::string matrices_text(const chain_plan& p) {
  std::vector<const chain_matrix*> all;
  std::int64_t pieces = 0;
  for (std::size_t n = 0; n < p.matrices.size(); ++n) {
    const chain_matrix& m = p.matrices[n];
    if (p.config.keep > 1 && m.kept >= 0 && m.kept != static_cast<int>(n)) continue;
    all.push_back(&m);
    pieces += (entries_of(m) + warp - 1) / warp;
  }
  const std::int64_t warps = p.config.threads / warp;
  std::string reads, stores;
  if (pieces > most_pieces * warps) {
    for (const chain_matrix* m : all)
      stores += "#pragma unroll 2\n  for (int x = thread; x < " + num(entries_of(*m)) + "; x += " + num(p.config.threads) + ") {\n    W a, b;\n    " + read_text(p, *m, "a", "b") + "\n    " + store_text(*m, "a", "b") + "\n  }\n";
  }
  // One warp after the other takes 32 entries, and all reads are on their way before the first is waited for.
  constexpr std::int64_t together = 8;  // 16 bytes
  for (std::int64_t from = 0, many = p.order_count / together; from < many; from += p.config.threads) {
    const std::string name = "o" + num(from), before = std::string("  ") + (many - from < p.config.threads ? "if (thread < " + num(many - from) + ") " : "");
    reads += "  uint4 " + name + ";\n" + before + name + " = reinterpret_cast<const uint4*>(chain_orders)[thread + " + num(from) + "];\n";
    stores += before + "reinterpret_cast<uint4*>(shared + " + num(p.order_offset) + ")[thread + " + num(from) + "] = " + name + ";\n";
  }
  std::int64_t piece = 0;
  for (const chain_matrix* m : all)
    for (std::int64_t from = pieces > most_pieces * warps ? entries_of(*m) : 0; from < entries_of(*m); from += warp, ++piece) {
      std::string takes = warps > 1 ? "thread / 32 == " + num(piece % warps) : "";
      if (entries_of(*m) < from + warp) takes += (takes.empty() ? "" : " && ") + ("thread % 32 < " + num(entries_of(*m) - from));
      const std::string a = "a" + num(piece), b = "b" + num(piece), before = std::string("  ") + (takes.empty() ? "" : "if (" + takes + ") ") + "{ const int x = thread % 32 + " + num(from) + "; ";
      reads += "  W " + a + (m->halves ? ", " + b : "") + ";\n" + before + read_text(p, *m, a, b) + " }\n";
      stores += before + store_text(*m, a, b) + " }\n";
    }
  return reads.empty() && stores.empty() ? "" : "  {\n" + reads + stores + "  }\n";
}

std::string early_text(const chain_plan& p, bool begins, const std::string& group) {
  constexpr std::int64_t least_bytes = 512;
  struct wanted {
    std::int64_t run;
    bool usual;  // the type that most tensors have
  };
  std::set<std::size_t> found;
  std::map<std::size_t, wanted> all;  // by pointer
  for (const chain_pass& pass : p.passes)
    for (const int n : pass.ops) {
      const chain_op& x = p.ops[static_cast<std::size_t>(n)];
      for (const operand* in : inputs_of(x.op)) {
        if (!is_in_memory(p, *in) || is_same(*in, x.op.c) || input_of(p, *in) >= 0) continue;
        const std::int64_t run = run_of_element(p, *in);
        if (run * static_cast<std::int64_t>(size_of(in->type)) * p.config.elements < least_bytes || !found.insert(pointer_of(p, *in)).second) continue;
        if ((pass.stage == 0) == begins && (begins || p.config.early < 2 || found.size() % 2 == 0)) all[pointer_of(p, *in)] = {run, in->where == operand::kind::external && in->type == p.type};
      }
    }
  // Neighbouring threads ask for tensors whose pointers are neighbours, all in one branch.
  std::string t;
  std::int64_t thread = 0;
  for (auto from = all.begin(); from != all.end();) {
    auto to = std::next(from);
    std::int64_t many = 1;
    const std::size_t apart = to == all.end() ? 1 : to->first - from->first;
    while (to != all.end() && to->first == std::prev(to)->first + apart && to->second.usual && from->second.usual && to->second.run == from->second.run && many < warp) ++to, ++many;
    if (thread + many > p.config.threads) thread = 0;
    const std::string pointer = many == 1 ? "p" + std::to_string(from->first) : "static_cast<const typename E::type*>(args.p[" + (apart == 1 ? "" : num(static_cast<std::int64_t>(apart)) + " * ") + (thread == 0 ? "thread" : "(thread - " + num(thread) + ")") + " + " + num(static_cast<std::int64_t>(from->first)) + "])";
    const std::string those = many == 1 ? "thread == " + num(thread) : (thread > 0 ? "thread >= " + num(thread) + " && " : "") + "thread < " + num(thread + many);
    t += "      if (" + those + ") ask_for_run(" + pointer + ", first * " + num(from->second.run) + ", end * " + num(from->second.run) + ");\n";
    thread += many, from = to;
  }
  if (t.empty()) return t;
  const std::string elements = num(p.config.elements);
  return "    {\n" + (group.empty() ? "" : "      const i64 first = (" + group + ") * " + elements + ";\n") + "      const i64 end = first + " + elements + " < args.count ? first + " + elements + " : args.count;\n" + t + "    }\n";
}

}  // namespace ricci::cuda::chains
