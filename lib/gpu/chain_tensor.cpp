// Passes whose products are made by the tensor cores: a warp has 16 lines in hand, and what a tile of eight leaves of a line
// lies with four threads, two neighbours each.

#include "gpu/chain_writer.hpp"

namespace ricci::cuda::chains {
namespace {

/// The factor that is a matrix over the line and one summed label.
const operand* matrix_factor(const chain_plan& p, const chain_op& x) {
  for (const operand* f : {&x.op.a, &x.op.b}) {
    const operand& other = f == &x.op.a ? x.op.b : x.op.a;
    const int m = matrix_of(p, x, *f);
    if (m < 0 || x.line < 0 || x.sum.size() != 1 || other.where == operand::kind::one) continue;
    if (contains(f->labels, x.line) && contains(f->labels, x.sum[0]) && !contains(other.labels, x.line) && contains(other.labels, x.sum[0])) return f;
  }
  return nullptr;
}

}  // namespace

std::int64_t tiles_of(std::int64_t n) { return (n + 7) / 8; }
std::int64_t places_of(std::int64_t n) { return 2 * tiles_of(n) - (n - (tiles_of(n) - 1) * 8 <= 4 ? 1 : 0); }

bool suits_tensor_cores(const chain_plan& p, const chain_pass& pass) {
  constexpr std::int64_t longest = 24;
  if (p.type != dtype::f64) return false;
  bool any = false;
  for (const int n : pass.ops) {
    const chain_op& x = p.ops[static_cast<std::size_t>(n)];
    if (x.line < 0 || p.extents[static_cast<std::size_t>(x.line)] > longest) return false;
    if (x.op.what != action::contract && x.op.what != action::pointwise) return false;
    if (x.op.what != action::contract || is_elementwise(x)) continue;
    if (!matrix_factor(p, x) || p.extents[static_cast<std::size_t>(x.sum[0])] > longest) return false;
    any = true;
  }
  return any;
}

std::string pass_writer::tensor_text() {
  const std::int64_t warps = p_.config.threads / 32;
  std::string t = "    {\n    const int quad = thread % 4, row = thread / 4 % 8;\n";
  for (const int n : pass_.ops) {
    const chain_op& x = op(n);
    if (x.op.what != action::contract || is_elementwise(x)) continue;
    const operand& f = *matrix_factor(p_, x);
    const operand& other = &f == &x.op.a ? x.op.b : x.op.a;
    const chain_matrix& m = p_.matrices[static_cast<std::size_t>(matrix_of(p_, x, f))];
    const std::int64_t terms = p_.extents[static_cast<std::size_t>(x.sum[0])], length = p_.extents[static_cast<std::size_t>(x.line)];
    const bool kept = in_registers(p_, pass_, n, other) >= 0;
    const std::string name = "f" + std::to_string(n);
    t += "    W " + name + "[" + num(kept ? places_of(terms) : (terms + 3) / 4) + "][" + num(tiles_of(length)) + "];\n    load_matrix<" + num(terms) + ", " + num(length) + ", " +
         (kept ? "true" : "false") + ">(" + name + ", shared + " + num(m.offset) + ", " + num(m.pitch) + ", quad, row);\n";
  }
  t += "#pragma unroll 1\n    for (int task = thread / 32 * 16; task < " + num(tasks_) + "; task += " + num(warps * 16) + ") {\n";
  for (int r = 0; r < lines_; ++r) t += place_text(r);
  return t + ops_text() + "    }\n    }\n";
}

/// The terms of 16 lines times the matrix.
std::string pass_writer::tensor_sum(int n) {
  const chain_op& x = op(n);
  const operand& f = *matrix_factor(p_, x);
  const operand& other = &f == &x.op.a ? x.op.b : x.op.a;
  const std::int64_t terms = p_.extents[static_cast<std::size_t>(x.sum[0])];
  const std::string count = num(terms), k = "k" + std::to_string(x.sum[0]), name = std::to_string(n);
  const bool kept = in_registers(p_, pass_, n, other) >= 0;
  const std::string steps = num(kept ? places_of(terms) : (terms + 3) / 4);
  std::string before, body;
  for (int r = 0; r < lines_; ++r) body += "        x[s][" + std::to_string(r) + "] = is ? " + value(n, other, r, before) + " : 0;\n";
  const std::string finish = finish_sum(n, before);
  return before + "      W " + array(n) + ";\n      {\n      W x[" + steps + "][2];\n#pragma unroll\n      for (int s = 0; s < " + steps + "; ++s) {\n        const int term = " +
         (kept ? "line_at<" + count + ">(s, quad)" : "s * 4 + quad") + ";\n        const bool is = term < " + count + ";\n        const int " + k + " = is ? term : " + num(terms - 1) +
         ";\n" + body + "      }\n      multiply_lines<" + num(p_.extents[static_cast<std::size_t>(x.line)]) + ">(v" + name + ", x, f" + name + ");\n      }\n" + finish;
}

}  // namespace ricci::cuda::chains
