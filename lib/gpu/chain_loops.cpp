// The loops of a pass: products along a line, and runs of elementwise operations.
#include <algorithm>
#include <array>

#include "gpu/chain_writer.hpp"
#include "gpu/shape.hpp"

namespace ricci::cuda::chains {
namespace {

constexpr std::int64_t most_unrolled = 512;  // turns of the loops over sums that are written out,
constexpr std::int64_t most_loaded = 128;    // and of those that load a value of each line from memory, lines counted

}  // namespace

std::string pass_writer::each_line(std::int64_t length) const {
  const std::string n = num(length);
  if (pass_.tensor)
    return "#pragma unroll\n      for (int at = 0; at < " + num(places_of(length)) + "; ++at) {\n        const int along = line_at<" + n + ">(at, quad);\n        const bool there = along < " + n +
           ";\n        const int l = there ? along : " + num(length - 1) + ";\n";
  return length == 1 ? "      { constexpr int l = 0;\n" : "#pragma unroll\n      for (int l = 0; l < " + n + "; ++l) {\n";
}

/// Whether an operation of the pass outside of `but` finds this one's result in registers.
bool pass_writer::used_later(int n, const std::vector<int>& but) const {
  for (const int m : pass_.ops) {
    if (m <= n || std::find(but.begin(), but.end(), m) != but.end()) continue;
    for (const operand* in : inputs_of(op(m).op))
      if (is_same(*in, op(n).op.c) && in_registers(p_, pass_, m, *in) == n) return true;
  }
  return false;
}

std::string pass_writer::array(int n) const {
  const int line = op(n).line;
  if (pass_.tensor) return "v" + std::to_string(n) + "[2][" + num(places_of(p_.extents[static_cast<std::size_t>(line)])) + "]";
  return "v" + std::to_string(n) + "[" + std::to_string(lines_) + "][" + (line < 0 ? "1" : num(p_.extents[static_cast<std::size_t>(line)])) + "]";
}

std::string pass_writer::sum_text(int n) {
  const chain_op& x = op(n);
  if (pass_.tensor) return tensor_sum(n);
  const std::array factors = {&x.op.a, &x.op.b};
  for (const operand* f : factors)
    if (const int m = matrix_of(p_, x, *f); m >= 0 && p_.matrices[static_cast<std::size_t>(m)].halves) return halves_text(n, p_.matrices[static_cast<std::size_t>(m)], f == &x.op.a ? x.op.b : x.op.a);
  std::string before, loops, ends;
  const std::string body = sum_body(n, before);
  const bool loads = std::any_of(factors.begin(), factors.end(), [&](const operand* f) { return is_in_memory(p_, *f) && input_of(p_, *f) < 0 && matrix_of(p_, x, *f) < 0; });
  std::int64_t turns = 1;
  for (std::size_t d = x.sum.size(); d-- > 0;) {
    const int l = x.sum[d];
    const std::int64_t extent = p_.extents[static_cast<std::size_t>(l)];
    bool indexes = false;  // registers, which have no run-time index
    for (const operand* in : factors)
      if (contains(in->labels, l) && in_registers(p_, pass_, n, *in) >= 0) indexes = true;
    turns *= extent;
    const bool few = turns <= most_unrolled / std::max<std::int64_t>(1, x.line < 0 ? 1 : p_.extents[static_cast<std::size_t>(x.line)] / 8);
    const bool unrolled = indexes || (few && (!loads || turns * lines_ <= most_loaded));
    const std::string some = p_.config.unroll > 0 && !indexes ? "#pragma unroll " + num(d + 1 == x.sum.size() ? p_.config.unroll : 1) + "\n" : "";
    loops = (!some.empty() ? some : unrolled ? "#pragma unroll\n" : "#pragma unroll 1\n") + "      for (int k" + std::to_string(l) + " = 0; k" + std::to_string(l) + " < " + num(extent) +
            "; ++k" + std::to_string(l) + ") {\n" + loops;
    ends += "      }\n";
  }
  const std::string finish = finish_sum(n, before);
  return before + "      W " + array(n) + ";\n      clear(v" + std::to_string(n) + ");\n" + loops + body + ends + finish;
}

/// Values h and that from the end, times their rows of the halves.
std::string pass_writer::add_text(const chain_matrix& m) const {
  if (!contains(kept_by(p_, pass_), m.kept)) return "      add_halves<" + num(m.count) + ", " + num(m.pitch) + ">(even, odd, shared + " + num(m.offset) + ", h, x, y);\n";
  const bool turned = &m != &p_.matrices[static_cast<std::size_t>(m.kept)];
  return "      add_kept<" + num(m.count) + ", " + num(p_.extents[static_cast<std::size_t>(m.line)]) + ", " + std::to_string(m.source.parity) + ", " + (turned ? "true" : "false") +
         ">(even, odd, m" + std::to_string(m.kept) + ", h, x, y);\n";
}

/// The same with an even or odd matrix: half the products.
std::string pass_writer::halves_text(int n, const chain_matrix& m, const operand& other) {
  const chain_op& x = op(n);
  const std::string v = "v" + std::to_string(n), lines = std::to_string(lines_), half = num(m.columns), k = "k" + std::to_string(x.sum[0]);
  std::string before, body;
  for (const char* name : {"x", "y"}) {
    body += "      { const int " + k + " = " + (name[0] == 'x' ? std::string("h") : num(m.count - 1) + " - h") + ";";
    for (int r = 0; r < lines_; ++r) body += " " + std::string(name) + "[" + std::to_string(r) + "] = " + value(n, other, r, before) + ";";
    body += " }\n";
  }
  const std::string some = p_.config.unroll > 0 && !contains(kept_by(p_, pass_), m.kept) && in_registers(p_, pass_, n, other) < 0 ? " " + num((p_.config.unroll + 1) / 2) : "";
  const std::string finish = finish_sum(n, before);
  return before + "      W " + array(n) + ";\n      { W even[" + lines + "][" + half + "], odd[" + lines + "][" + half + "];\n      clear(even), clear(odd);\n#pragma unroll" + some + "\n      for (int h = 0; h < " +
         num((m.count + 1) / 2) + "; ++h) {\n      W x[" + lines + "], y[" + lines + "];\n" + body + add_text(m) +
         "      }\n      join_halves<" + std::to_string(m.source.parity) + ">(" + v + ", even, odd); }\n" + finish;
}

/// One turn: the factor without the line once for each of the thread's lines, times the other's.
std::string pass_writer::sum_body(int n, std::string& before) {
  const chain_op& x = op(n);
  const operand *single = &x.op.a, *along = &x.op.b;
  if (contains(x.op.a.labels, x.line)) std::swap(single, along);
  const std::string v = "v" + std::to_string(n);
  const bool both = x.line >= 0 && contains(single->labels, x.line);
  const int m = both || x.line < 0 ? -1 : matrix_of(p_, x, *along);
  const bool one = single->where == operand::kind::one || along->where == operand::kind::one;
  std::string t;
  if (m >= 0) {
    const chain_matrix& y = p_.matrices[static_cast<std::size_t>(m)];
    t += "      const W x[" + std::to_string(lines_) + "] = {";
    for (int r = 0; r < lines_; ++r) t += (r ? ", " : "") + value(n, *single, r, before);
    return t + "};\n      add_row(" + v + ", shared + " + num(y.offset) + row_of(x, *along, y) + ", x);\n";
  }
  if (!both && !one)
    for (int r = 0; r < lines_; ++r) t += "      const W x_" + std::to_string(r) + " = " + value(n, *single, r, before) + ";\n";
  t += each_line(x.line < 0 ? 1 : p_.extents[static_cast<std::size_t>(x.line)]);
  for (int r = 0; r < lines_; ++r) {
    const std::string at = v + "[" + std::to_string(r) + "][l]", other = value(n, *along, r, before);
    if (one) {
      const operand& there = along->where == operand::kind::one ? *single : *along;
      t += "        " + at + " = sum_of(" + at + ", " + value(n, there, r, before) + ");\n";
    } else {
      t += "        multiply_add(" + at + ", " + other + ", " + (both ? value(n, *single, r, before) : "x_" + std::to_string(r)) + ");\n";
    }
  }
  return t + "      }\n";
}

/// Scales, adds what was there, stores.
std::string pass_writer::finish_sum(int n, std::string& before) {
  const chain_op& x = op(n);
  const std::string v = "v" + std::to_string(n);
  const bool adds = reads_result(x.op.beta), plain = x.op.alpha == coefficient{1, -1, {}} && !adds;
  if (plain && !x.stored) return "";
  std::string t = each_line(x.line < 0 ? 1 : p_.extents[static_cast<std::size_t>(x.line)]);
  std::string stores;
  for (int r = 0; r < lines_; ++r) {
    const std::string at = v + "[" + std::to_string(r) + "][" + index() + "]";
    if (!plain) {
      std::string sum = scaled(x.op.alpha, at);
      if (adds) sum = "sum_of(" + sum + ", " + scaled(x.op.beta, value(n, x.op.c, r, before)) + ")";
      t += "        " + at + " = " + sum + ";\n";
    }
    if (x.stored) stores += "        " + store(n, r, at, before);
  }
  // Other threads of the warp have read what the stores may take the place of.
  return (pass_.tensor && x.stored && !is_in_memory(p_, x.op.c) ? "      __syncwarp();\n" : "") + t + stores + "      }\n";
}

/// Elementwise operations over one line: all reads of a value of the line before its stores.
std::string pass_writer::run_text(const std::vector<int>& ops) {
  loads_.clear();
  const int line = op(ops[0]).line;
  std::string before, arrays, loads, values, stores;
  for (const int n : ops) {
    const std::string name = std::to_string(n);
    const bool kept = used_later(n, ops);
    if (kept) arrays += "      W " + array(n) + ";\n";
    for (int r = 0; r < lines_; ++r) {
      const std::string o = "o" + name + "_" + std::to_string(r);
      std::string asked;
      const std::string x = run_value(n, r, ops, before, asked);
      loads += asked;
      values += "        const W " + o + " = " + x + ";\n";
      if (kept) values += "        v" + name + "[" + std::to_string(r) + "][" + index() + "] = " + o + ";\n";
      if (op(n).stored) stores += "        " + store(n, r, o, before);
    }
  }
  const bool shares = pass_.tensor && std::any_of(ops.begin(), ops.end(), [&](int n) { return op(n).stored && !is_in_memory(p_, op(n).op.c); });
  return before + arrays + (shares ? "      __syncwarp();\n" : "") + each_line(line < 0 ? 1 : p_.extents[static_cast<std::size_t>(line)]) + loads + values + stores + "      }\n";
}

/// A value that the run made already, or one that is loaded once at its beginning.
std::string pass_writer::read_in_run(int n, const operand& x, int r, const std::vector<int>& ops, std::string& before, std::string& loads) {
  for (std::size_t k = ops.size(); k-- > 0;) {
    if (ops[k] >= n || op(ops[k]).op.what == action::scatter || !is_same(op(ops[k]).op.c, x)) continue;
    const std::string o = "o" + std::to_string(ops[k]) + "_" + std::to_string(r);
    return x.conj ? "conj_if<true>(" + o + ")" : o;
  }
  const std::string text = value(n, x, r, before);
  if (x.where == operand::kind::one) return text;
  const auto known = loads_.find(text);
  if (known != loads_.end()) return known->second;
  const std::string name = "i" + std::to_string(loads_.size());
  loads += "        const W " + name + " = " + text + ";\n";
  return loads_[text] = name;
}

std::string pass_writer::run_value(int n, int r, const std::vector<int>& ops, std::string& before, std::string& loads) {
  const chain_op& x = op(n);
  const auto read = [&](const operand& y) { return read_in_run(n, y, r, ops, before, loads); };
  if (x.op.what == action::scatter) return scaled(x.op.alpha, read(x.op.b));
  std::string text;
  if (x.op.what == action::gather) {
    const std::string table = fibre_base(x.op.a, r, before) + "[0" + rest(x.op.a, x.line) + "]";
    return std::string(x.op.b.type == p_.type ? "E::get(" : "(") + fibre_base(x.op.b, r, before) + "[0" + rest(x.op.b, x.line) + " + static_cast<i64>(" + table + ") * " + num(x.op.table_stride) + "])";
  }
  if (x.op.what == action::pointwise) {
    text = pointwise_value(n, r, ops, before, loads);
  } else {
    const bool a = x.op.a.where != operand::kind::one, b = x.op.b.where != operand::kind::one;
    text = a && b ? "product_of(" + read(x.op.a) + ", " + read(x.op.b) + ")" : read(a ? x.op.a : x.op.b);
    text = scaled(x.op.alpha, text);
  }
  return reads_result(x.op.beta) ? "sum_of(" + text + ", " + scaled(x.op.beta, read(x.op.c)) + ")" : text;
}

std::string pass_writer::pointwise_value(int n, int r, const std::vector<int>& ops, std::string& before, std::string& loads) {
  const chain_op& x = op(n);
  std::string sum;
  for (const pointwise_term& t : x.op.terms) {
    std::string term;
    for (const auto& [input, f] : t.factors) {
      const std::string y = function_text(f, read_in_run(n, x.op.inputs[static_cast<std::size_t>(input)], r, ops, before, loads));
      if (term.empty()) term = y;
      else if (t.how == combine::multiply) term += " * " + y;
      else term = (t.how == combine::minimum ? "smaller_of(" : "larger_of(") + term + ", " + y + ")";
    }
    if (term.empty()) term = "W(1)";
    if (t.alpha == coefficient{-1, -1, {}}) sum += (sum.empty() ? "-" : " - ") + term;
    else sum += (sum.empty() ? "" : " + ") + (t.alpha == coefficient{1, -1, {}} ? term : scalar(t.alpha) + " * " + term);
  }
  return sum;
}

}  // namespace ricci::cuda::chains
