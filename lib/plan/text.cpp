// The plan as people read it.
#include <algorithm>
#include <numeric>

#include "plan/plan.hpp"
#include "plan/units.hpp"

namespace ricci {
namespace {

std::string time_text(double seconds) {
  if (seconds < 1e-6) return format("%.0f ns", seconds * 1e9);
  if (seconds < 1e-3) return format("%.1f us", seconds * 1e6);
  return seconds < 1 ? format("%.1f ms", seconds * 1e3) : format("%.2f s", seconds);
}

class writer {
 public:
  writer(const plan& p, const machine& m, bool rejected) : p_(p), m_(m), rejected_(rejected) {}

  std::string run() {
    head();
    if (p_.stages.empty()) return body();
    int number = 0;
    for (const plan& stage : p_.stages) {
      out_ += "  stage " + std::to_string(++number);
      if (number == 1 && !p_.between.empty()) {
        double bytes = 0;
        for (std::int64_t b : p_.between) bytes += static_cast<double>(b);
        out_ += ", " + bytes_text(bytes) + " of tensors between stages in memory";
      }
      out_ += "\n";
      for (const std::string& n : stage.notes) out_ += "  note         " + n + "\n";
      out_ += writer(stage, m_, rejected_).body();
    }
    return out_;
  }

 private:
  std::string body() {
    for (const segment& s : p_.segments) {
      if (s.steps.empty()) continue;
      if (!p_.block_labels.empty()) block(s);
      else if (s.scratch_bytes > 0) out_ += "  temporaries  " + bytes_text(static_cast<double>(s.scratch_bytes)) + "\n";
      if (&s != &p_.segments.front()) {
        out_ += "    the same steps on the shorter block\n";
        continue;
      }
      for (std::size_t i = 0; i < s.steps.size(); ++i) {
        if (const plan_step& x = s.steps[i]; x.slice_steps > 0)
          out_ += "    " + std::to_string(i + 1) + " to " + std::to_string(i + static_cast<std::size_t>(x.slice_steps)) + " for each of " + std::to_string(x.slices) + " " +
                  label(x.slice_label) + "\n";
        step(static_cast<int>(i) + 1, s.steps[i]);
      }
    }
    if (p_.segments.front().steps.empty()) out_ += "  nothing to do\n";
    return out_;
  }

  const std::string& label(int l) const { return p_.source.labels[l].name; }

  std::string list(const std::vector<int>& labels) const {
    std::string text;
    for (int l : labels) text += (text.empty() ? "" : ",") + label(l);
    return text;
  }

  void head() {
    out_ = "plan for " + m_.name + "\n";
    std::string source = to_string(p_.source);
    for (std::size_t at = 0, end; at < source.size(); at = end + 1) {
      end = source.find('\n', at);
      const bool last = end + 1 >= source.size();
      if (end > at) out_ += (last ? "  labels       " : "  statement    ") + source.substr(at, end - at) + "\n";
    }
    for (const std::string& n : p_.notes) out_ += "  note         " + n + "\n";
    out_ += "  flops        " + flops_text(p_.flops) + " as run, " + flops_text(p_.written_flops) + " as written";
    out_ += "\n  bytes        " + bytes_text(p_.bytes) + " at least";
    if (p_.bytes > 0) out_ += format(", %.2f flop per byte", p_.flops / p_.bytes);
    out_ += "\n";
    if (!p_.block_labels.empty()) {  // what one element of the chain costs
      double count = 1;
      for (int l : p_.block_labels) count *= static_cast<double>(p_.source.labels[static_cast<std::size_t>(l)].extent);
      out_ += "  for each     " + list(p_.block_labels) + ": " + flops_text(p_.flops / count) + ", " + bytes_text(p_.bytes / count) + "\n";
    }
    if (p_.bound_seconds > 0) {
      const bool memory = p_.bytes / (m_.memory_bandwidth * 1e9) >= p_.bound_seconds * 0.999;
      out_ += "  bound        " + time_text(p_.bound_seconds) + " on one core, by " +
              (memory ? "memory bandwidth" : "multiply-adds") + (m_.measured ? "" : " (machine not measured)") + "\n";
    }
  }

  void block(const segment& s) {
    out_ += "  blocks of " + std::to_string(s.block) + " " + label(p_.block_labels.back());
    if (p_.block_labels.size() > 1) {
      auto outer = p_.block_labels;
      outer.pop_back();
      out_ += ", one each of " + list(outer);
    }
    out_ += ", temporaries " + bytes_text(static_cast<double>(s.scratch_bytes)) + "\n";
  }

  static std::vector<int> outer_to_inner(const operand& x) {
    std::vector<std::size_t> order(x.labels.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto p, auto q) { return x.strides[p] > x.strides[q]; });
    std::vector<int> labels;
    for (auto d : order)
      if (x.strides[d] != 0) labels.push_back(x.labels[d]);  // a slice has the others
    return labels;
  }

  std::string name(const operand& x) const {
    if (x.where == operand::kind::one) return "1";
    std::vector<int> labels = x.labels;
    if (x.where == operand::kind::temporary) labels = outer_to_inner(x);  // the layout that the planner chose
    std::string text = x.name + (labels.empty() ? "" : "(" + list(labels) + ")");
    return x.conj ? "conj(" + text + ")" : text;
  }

  std::string text_of(const coefficient& c) const {
    if (c.base == 1 && c.scalar < 0) return "";
    return format("%g", c.base) + (c.scalar >= 0 ? "*s" + std::to_string(c.scalar) : "") + " ";
  }

  /// "f(x) * y + ..."
  std::string terms(const plan_step& s, std::size_t first, std::size_t count) const {
    static constexpr const char* functions[] = {"", "1/", "sqrt ", "rsqrt ", "abs ", "exp ", "? "};
    std::string text;
    for (std::size_t n = first; n < first + count; ++n) {
      const pointwise_term& t = s.op.terms[n];
      text += (text.empty() ? "" : " + ") + text_of(t.alpha);
      std::string between = t.how == combine::multiply ? "" : t.how == combine::minimum ? "min " : "max ";
      for (const auto& [input, f] : t.factors) {
        text += between + functions[static_cast<int>(f)] + (input < 0 ? passed(s.op.outputs[static_cast<std::size_t>(-1 - input)].c) : passed(s.op.inputs[static_cast<std::size_t>(input)]));
        between = t.how == combine::multiply ? " * " : ", ";
      }
    }
    return text;
  }

  /// The name of what a statement reads or makes, also where it stays in registers.
  std::string passed(operand x) const {
    if (x.where == operand::kind::one) x.where = operand::kind::temporary;
    return name(x);
  }

  /// A product before or behind the statements.
  std::string product(const fibre_product& x, const operand& with, bool before) const {
    if (x.at < 0) return "";
    operand made = with;
    if (!before)
      for (int& l : made.labels) l = l == x.along ? x.row : l;
    const bool updates = x.beta.base != 0;
    return (before ? passed(with) : name(x.tensor)) + (updates ? " += " : " = ") + name(x.matrix) + " * " +
           (before ? name(x.tensor) : passed(made)) + "\n       ";
  }

  /// The steps that are not products of two operands.
  void other_step(int number, const plan_step& s) {
    out_ += format("    %-2d ", number);
    if (s.how == method::pointwise) {
      const auto line = [&](const operand& c, const coefficient& beta, std::size_t first, std::size_t count) {
        const bool updates = !is_zero(beta);
        out_ += passed(c) + (updates ? " += " : " = ") + terms(s, first, count) + "\n       ";
      };
      if (s.op.before.at >= 0) out_ += product(s.op.before, s.op.inputs[static_cast<std::size_t>(s.op.before.at)], true);
      if (s.op.outputs.empty()) line(s.op.c, s.op.beta, 0, s.op.terms.size());
      std::size_t first = 0;
      for (const pointwise_output& x : s.op.outputs) {
        line(x.c, x.beta, first, static_cast<std::size_t>(x.terms));
        first += static_cast<std::size_t>(x.terms);
      }
      if (s.op.after.at >= 0) out_ += product(s.op.after, s.op.outputs[static_cast<std::size_t>(s.op.after.at)].c, false);
      const bool joined = s.op.before.at >= 0 || s.op.after.at >= 0;
      if (s.in_tiles) out_ += tiles(s) + "\n       ";
      out_ += std::string(joined ? "pointwise, matrices in halves" : "pointwise") + (s.lane_label < 0 ? "" : ", lanes along " + label(s.lane_label));
      for (int i : s.packed) out_ += ", " + s.op.inputs[static_cast<std::size_t>(i)].name + " packed";
      for (int i : s.turned) out_ += ", " + s.op.inputs[static_cast<std::size_t>(i)].name + " turned on the way";
      if (s.buffer_c) out_ += ", " + s.op.c.name + " buffered";
      if (s.stream_c) out_ += ", " + s.op.c.name + " streamed to memory";
    } else if (s.how == method::gather) {
      const std::string found = looked_up(s.op.b, s.op.a);
      out_ += name(s.op.c) + (is_zero(s.op.beta) ? " = " : " += ") + text_of(s.op.alpha) + (s.op.b.conj ? "conj(" + found + ")" : found) + "\n       gather";
    } else {
      out_ += looked_up(s.op.c, s.op.a) + " += " + text_of(s.op.alpha) + name(s.op.b) + "\n       scatter-add";
    }
    out_ += "; " + flops_text(planning::arithmetic_of(s)) + ", about " + time_text(s.seconds) + "\n";
  }

  /// Where a table says: labels along which neither moves are those of the other.
  std::string looked_up(const operand& x, const operand& table) const {
    std::string text = x.name + "(" + table.name + "(" + list(moving(table)) + ")";
    for (int l : moving(x)) text += "," + label(l);
    return text + ")";
  }

  static std::vector<int> moving(const operand& x) {
    std::vector<int> labels;
    for (std::size_t d = 0; d < x.labels.size(); ++d)
      if (x.strides[d] != 0) labels.push_back(x.labels[d]);
    return labels;
  }

  void step(int number, const plan_step& s) {
    if (s.op.what != action::contract) return other_step(number, s);
    const bool updates = !is_zero(s.op.beta);
    out_ += format("    %-2d ", number) + name(s.op.c) + (updates ? " += " : " = ");
    if (s.op.alpha.base != 1 || s.op.alpha.scalar >= 0)
      out_ += format("%g", s.op.alpha.base) + (s.op.alpha.scalar >= 0 ? "*s" + std::to_string(s.op.alpha.scalar) : "") + " ";
    if (s.op.a.where != operand::kind::one) out_ += name(s.op.a) + " * ";
    out_ += name(s.op.b) + (s.op.scale.where == operand::kind::one ? "" : " * " + name(s.op.scale)) + "\n       " + groups(s) + "\n       " + how(s);
    if (s.how != method::move) out_ += "; " + flops_text(planning::arithmetic_of(s));
    out_ += ", about " + time_text(s.seconds) + "\n";
    if (rejected_)
      for (const rejected_way& x : s.rejected) out_ += "       rejected: " + way_text(x.what) + format(", about %.3g us\n", x.seconds * 1e6);
  }

  std::string way_text(const way& x) const {
    static constexpr const char* kinds[] = {"", " (a problem a lane)", " (dot products)"};
    std::string text = x.how == method::move ? "copy" : x.how == method::blocked ? "blocked GEMM" : "scalar kernel";
    if (x.how == method::direct && x.lane_label >= 0) text = "lanes along " + label(x.lane_label) + kinds[static_cast<int>(x.lanes)];
    if (x.pack_a) text += x.keep_a ? ", a packed once" : ", a packed";
    if (x.pack_b) text += x.keep_b ? ", b packed once" : ", b packed";
    return text + (x.buffer_c ? ", c buffered" : "");
  }

  /// "a*b:12/3": an axis of the labels a and b, in tiles of 3.
  std::string axis(const step_axis& x) const {
    std::string text;
    for (int l : x.around) text += label(l) + "*";
    text += label(x.label) + ":" + std::to_string(x.extent);
    return x.tile == x.extent ? text : text + "/" + std::to_string(x.tile);
  }

  std::string tiles(const plan_step& s) const {
    std::string text;
    for (const step_axis& x : s.axes) text += (text.empty() ? "[" : " ") + axis(x);
    return text.empty() ? "scalars" : text + "]";
  }

  std::string groups(const plan_step& s) const {
    static constexpr const char* names[] = {"batch", "m", "n", "k"};
    std::string text;
    for (int g = 0; g < 4; ++g) {
      std::string members;
      for (const step_axis& x : s.axes)
        if (static_cast<int>(x.role) == g) {
          members += (members.empty() ? "" : " ") + axis(x);
        }
      if (!members.empty()) text += std::string(text.empty() ? "" : "  ") + names[g] + " [" + members + "]";
    }
    return text.empty() ? "scalars" : text;
  }

  std::string how(const plan_step& s) const {
    if (s.how == method::move) return s.stream_c ? "copy, " + s.op.c.name + " streamed to memory" : "copy";
    if (s.how == method::blocked) return "blocked GEMM, A and B in packed panels" + (s.stream_c ? ", " + s.op.c.name + " streamed to memory" : "");
    if (s.how == method::halves)
      return std::string(s.op.a.parity > 0 ? "even" : "odd") + " matrix in halves, lanes along " + label(s.lane_label) +
             (s.op.turned < 0 ? "" : ", " + (stride_of(s.op.b, s.op.turned) == 1 ? s.op.c : s.op.b).name + " turned on the way");
    std::string text = s.lane_label < 0 ? "scalar kernel" : "lanes along " + label(s.lane_label);
    if (s.lanes == kernels::lanes::batch) text += " (a problem a lane)";
    if (s.lanes == kernels::lanes::k) text += " (dot products)";
    if (s.op.cut_label >= 0) text += ", sums in parts of " + std::to_string(s.op.part) + " " + label(s.op.cut_label);
    if (s.pack_a) text += ", " + s.op.a.name + (s.keep_a ? " packed once" : " packed");
    if (s.pack_b) text += ", " + s.op.b.name + (s.apart ? " read number by number" : s.keep_b ? " packed once" : " packed");
    if (s.stream_c) text += ", " + s.op.c.name + " streamed to memory";
    else if (s.buffer_c) text += ", " + s.op.c.name + " buffered";
    return text;
  }

  const plan& p_;
  const machine& m_;
  bool rejected_;
  std::string out_;
};

}  // namespace

std::string to_string(const plan& p, const machine& m, bool rejected) { return writer(p, m, rejected).run(); }

}  // namespace ricci
