// The text of a chain's kernel: every extent and stride is a number in it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>

#include "gpu/chain_writer.hpp"

namespace ricci::cuda {

using namespace chains;

namespace {

std::string literal(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", x);
  return std::string("constant<W>(") + text + ")";
}

std::string element_type(dtype t) { return "element<" + std::to_string(static_cast<int>(t)) + ">"; }

}  // namespace

std::vector<operand> pointers_of(const chain_plan& p) {
  std::vector<operand> all;
  const auto add = [&](const operand& x) {
    if (!is_in_memory(p, x)) return;
    for (const operand& y : all)
      if (is_same_memory(x, y)) return;
    all.push_back(x);
  };
  for (const chain_op& x : p.ops) {
    for (const operand* in : inputs_of(x.op)) add(*in);
    add(x.op.c);
  }
  return all;
}

std::vector<coefficient> scalars_of(const chain_plan& p) {
  std::vector<coefficient> all;
  const auto add = [&](const coefficient& c) {
    if ((c.scalar >= 0 || !c.more.empty()) && std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
  };
  for (const chain_op& x : p.ops) {
    add(x.op.alpha), add(x.op.beta);
    for (const pointwise_term& t : x.op.terms) add(t.alpha);
  }
  return all;
}

namespace chains {

std::string kept_text(const chain_plan& p, const std::vector<int>& matrices) {
  std::string t;
  for (const int n : matrices) {
    const chain_matrix& m = p.matrices[static_cast<std::size_t>(n)];
    const std::string name = "m" + std::to_string(n);
    t += "    W " + name + "[" + num(m.count) + "][" + num(m.columns) + "];\n    keep_rows<" + num(m.pitch) + ">(" + name + ", shared + " + num(m.offset) + ");\n";
  }
  return t;
}

pass_writer::pass_writer(const chain_plan& p, const chain_pass& pass) : p_(p), pass_(pass) {
  fibres_ = product_of(p, pass.fibre);
  tasks_ = pass.order.empty() ? fibres_ * p.config.elements : static_cast<std::int64_t>(pass.order.size());
  lines_ = pass.lines;
}

std::string pass_writer::text() {
  if (pass_.tensor) return tensor_text();
  const std::string kept = p_.config.keep == 1 ? kept_text(p_, kept_by(p_, pass_)) : "";
  const int block = p_.config.threads;
  const bool once = tasks_ <= std::int64_t{block} * lines_;
  std::string t = once ? "    if (thread < " + num(tasks_) + ") {\n      const int task = thread;\n"
                       : "#pragma unroll 1\n    for (int task = thread; task < " + num(tasks_) + "; task += " + num(block * lines_) + ") {\n";
  for (int r = 0; r < lines_; ++r) t += place_text(r);
  t += ops_text() + "    }\n";
  return kept.empty() ? t : "    {\n" + kept + t + "    }\n";
}

std::string pass_writer::ops_text() {
  std::string t;
  for (std::size_t at = 0; at < pass_.ops.size();) {
    std::size_t end = at + 1;
    const chain_op& x = op(pass_.ops[at]);
    if (!is_elementwise(x)) {
      t += sum_text(pass_.ops[at]);
    } else {
      while (end < pass_.ops.size() && is_elementwise(op(pass_.ops[end])) && op(pass_.ops[end]).line == x.line) ++end;
      t += run_text({pass_.ops.begin() + static_cast<std::ptrdiff_t>(at), pass_.ops.begin() + static_cast<std::ptrdiff_t>(end)});
    }
    at = end;
  }
  return t;
}

/// Which element and which fibre the task is; threads without one repeat another's and store nothing.
std::string pass_writer::place_text(int r) const {
  const std::string n = "_" + std::to_string(r), block = num(p_.config.threads);
  const std::int64_t elements = p_.config.elements;
  std::string t, task = "task";
  if (pass_.tensor) {
    task = "task" + n;
    t += "      const bool on" + n + " = task + row + " + num(r * 8) + " < " + num(tasks_) + ";\n";
    t += "      const int task" + n + " = on" + n + " ? task + row + " + num(r * 8) + " : 0;\n";
  } else if (r > 0) {
    task = "task" + n;
    t += "      const bool on" + n + " = task + " + num(r * p_.config.threads) + " < " + num(tasks_) + ";\n";
    t += "      const int task" + n + " = on" + n + " ? task + " + num(r * p_.config.threads) + " : task;\n";
  }
  if (!pass_.order.empty()) {
    t += "      const int dealt" + n + " = orders[" + num(pass_.order_at) + " + " + task + "];\n      const bool takes" + n + " = dealt" + n + " != " + num(no_task) + (r > 0 ? " && on" + n : "") + ";\n";
    t += "      const int own" + n + " = takes" + n + " ? dealt" + n + " : 0;\n";
    task = "own" + n;
  }
  const bool fast = pass_.element_fastest || pass_.by_element;
  const std::string e = elements == 1 ? "0" : fast ? task + " % " + num(elements) : task + " / " + num(fibres_);
  const std::string f = fibres_ == 1 ? "0" : fast ? task + " / " + num(elements) : elements == 1 ? task : task + " % " + num(fibres_);
  t += "      const int e" + n + " = " + e + ", f" + n + " = " + f + ";\n";
  std::int64_t inside = fibres_;
  for (const int l : pass_.lanes) {
    const std::int64_t extent = p_.extents[static_cast<std::size_t>(l)];
    inside /= extent;
    t += "      const int L" + std::to_string(l) + n + " = f" + n + (inside > 1 ? " / " + num(inside) : "") +
         (inside * extent < fibres_ ? " % " + num(extent) : "") + ";\n";
  }
  t += "      const bool in" + n + " = first + e" + n + " < args.count" + (r > 0 || pass_.tensor ? " && on" + n : "") + ";\n";
  t += "      const i64 el" + n + " = first + e" + n + " < args.count ? first + e" + n + " : args.count - 1;\n";
  std::int64_t step = p_.count;
  for (std::size_t d = 0; d < p_.digits.size() && p_.digits.size() > 1; ++d) {
    const auto& [label, extent] = p_.digits[d];
    step /= extent;
    const std::string whole = p_.count < (std::int64_t{1} << 31) ? "static_cast<unsigned>(el" + n + ")" : "el" + n;
    t += "      const i64 d" + std::to_string(label) + n + " = " + whole + (step > 1 ? " / " + num(step) : "") + (d > 0 ? " % " + num(extent) : "") + ";\n";
  }
  return t;
}

/// The name of a value that does not change within a task; declared when it is first asked for.
std::string pass_writer::base(const std::string& type, const std::string& value, std::string& before) {
  const auto known = bases_.find(value);
  if (known != bases_.end()) return known->second;
  const std::string name = "b" + std::to_string(bases_.size());
  before += "      " + type + " const " + name + " = " + value + ";\n";
  return bases_[value] = name;
}

/// Where an operand's fibre begins, as a pointer or an offset in shared memory.
std::string pass_writer::fibre_base(const operand& x, int r, std::string& before) {
  const std::string n = "_" + std::to_string(r);
  if (const int copied = input_of(p_, x); copied >= 0) {
    const chain_input& in = p_.inputs[static_cast<std::size_t>(copied)];
    std::string value = num(in.offset) + " + shift" + std::to_string(copied) + " + e" + n + " * " + num(in.run);
    for (const int l : pass_.fibre)
      if (const std::int64_t s = stride_of(x, l); s != 0) value += " + L" + std::to_string(l) + n + " * " + num(s);
    return base("int", value, before);
  }
  if (is_in_memory(p_, x)) {
    std::string value = "p" + std::to_string(pointer_of(x));
    const bool one_digit = p_.digits.size() == 1;
    for (const auto& digit : p_.digits)
      if (const std::int64_t s = stride_of(x, digit.first); s != 0) value += " + " + (one_digit ? "el" + n : "d" + std::to_string(digit.first) + n) + " * " + num(s);
    for (const int l : pass_.fibre)
      if (const std::int64_t s = stride_of(x, l); s != 0) value += " + static_cast<i64>(L" + std::to_string(l) + n + ") * " + num(s);
    return base("auto*", value, before);
  }
  const chain_buffer& b = buffer_of(x);
  std::string value = num(b.offset);
  if (p_.config.elements > 1) value += " + e" + n + " * " + num(b.size);
  for (std::size_t d = 0, axis = 0; d < x.labels.size(); ++d) {
    if (contains(p_.grid, x.labels[d])) continue;
    if (contains(pass_.fibre, x.labels[d])) value += " + L" + std::to_string(x.labels[d]) + n + " * " + num(b.strides[axis]);
    ++axis;
  }
  return base("int", value, before);
}

/// What is added to the base for the line and the sums: the variables l and k<label>.
std::string pass_writer::rest(const operand& x, int line) const {
  std::string value;
  bool far = false;
  const auto add = [&](int l, std::int64_t s) {
    const std::string index = l == line ? std::string("l") : "k" + std::to_string(l);
    if (s != 0) value += " + " + (far ? "static_cast<i64>(" + index + ")" : index) + " * " + num(s);
  };
  if (is_in_memory(p_, x)) {
    std::int64_t reach = 0;  // words; what a 32-bit number holds stays in one
    const auto each = [&](const auto& f) {
      for (const int l : x.labels)
        if (!contains(p_.grid, l) && !contains(pass_.fibre, l)) f(l, stride_of(x, l));
    };
    each([&](int l, std::int64_t s) { reach += (p_.extents[static_cast<std::size_t>(l)] - 1) * std::abs(s); });
    far = reach > std::numeric_limits<std::int32_t>::max();
    each(add);
    return value;
  }
  const chain_buffer& b = buffer_of(x);
  for (std::size_t d = 0, axis = 0; d < x.labels.size(); ++d) {
    if (contains(p_.grid, x.labels[d])) continue;
    if (!contains(pass_.fibre, x.labels[d])) add(x.labels[d], b.strides[axis]);
    ++axis;
  }
  return value;
}

/// An operand's element for line r of the thread, at l and the k's.
std::string pass_writer::value(int n, const operand& x, int r, std::string& before) {
  const chain_op& here = op(n);
  if (x.where == operand::kind::one) return "one_of(static_cast<W*>(nullptr))";
  std::string text;
  if (const int m = matrix_of(p_, here, x); m >= 0) {
    const chain_matrix& y = p_.matrices[static_cast<std::size_t>(m)];
    return "shared[" + num(y.offset) + row_of(here, x, y) + (y.line >= 0 ? " + l" : "") + "]";
  }
  if (const int made = in_registers(p_, pass_, n, x); made >= 0) {
    const chain_op& y = op(made);
    std::string at = "0";
    for (std::size_t d = 0; d < x.labels.size(); ++d)
      if (y.op.c.labels[d] == y.line) at = x.labels[d] == here.line ? index() : pass_.tensor ? "s" : "k" + std::to_string(x.labels[d]);
    text = "v" + std::to_string(made) + "[" + std::to_string(r) + "][" + at + "]";
  } else if (is_in_memory(p_, x) && input_of(p_, x) < 0) {
    text = fibre_base(x, r, before) + "[0" + rest(x, here.line) + "]";
    if (x.type == p_.type) text = "E::get(" + text + ")";
  } else {
    text = "shared[" + fibre_base(x, r, before) + rest(x, here.line) + "]";
  }
  return x.conj ? "conj_if<true>(" + text + ")" : text;
}

/// " + row * pitch" for the sums of an operation.
std::string pass_writer::row_of(const chain_op& x, const operand& m, const chain_matrix& y) const {
  std::string row;
  std::int64_t inside = y.count;
  for (const int l : x.sum) {
    if (!contains(m.labels, l)) continue;
    inside /= p_.extents[static_cast<std::size_t>(l)];
    row += " + k" + std::to_string(l) + " * " + num(inside * y.pitch);
  }
  return row;
}

std::string pass_writer::scalar(const coefficient& c) const {
  if (c.scalar < 0 && c.more.empty()) return literal(c.base);
  const auto all = scalars_of(p_);
  return "s" + std::to_string(std::find(all.begin(), all.end(), c) - all.begin());
}

std::string pass_writer::scaled(const coefficient& c, const std::string& x) const {
  if (c == coefficient{1, -1, {}}) return x;
  return "product_of(" + scalar(c) + ", " + x + ")";
}

/// Stores x as the result's element for line r at l.
std::string pass_writer::store(int n, int r, const std::string& x, std::string& before) {
  const chain_op& here = op(n);
  const operand& c = here.op.c;
  const std::string suffix = "_" + std::to_string(r);
  if (!is_in_memory(p_, c)) {
    const std::string guard = !pass_.order.empty() ? "if (takes" + suffix + ") " : pass_.tensor ? "if (on" + suffix + " && there) " : r > 0 ? "if (on" + suffix + ") " : "";
    return guard + "shared[" + fibre_base(c, r, before) + rest(c, here.line) + "] = " + x + ";\n";
  }
  const std::string to = fibre_base(c, r, before);
  if (here.op.what == action::scatter) {
    const std::string table = fibre_base(here.op.a, r, before) + "[0" + rest(here.op.a, here.line) + "]";
    return "if (in" + suffix + ") add_to<E>(" + to + rest(c, here.line) + " + static_cast<i64>(" + table + ") * " + num(here.op.table_stride) + ", " + x + ");\n";
  }
  return "if (in" + suffix + (pass_.tensor ? " && there" : "") + ") " + to + "[0" + rest(c, here.line) + "] = " + (c.type == p_.type ? "E::put(" + x + ")" : x) + ";\n";
}

const chain_buffer& pass_writer::buffer_of(const operand& x) const {
  return *std::find_if(p_.buffers.begin(), p_.buffers.end(), [&](const chain_buffer& b) { return b.temporary == x.id; });
}

int pass_writer::pointer_of(const operand& x) const {
  const auto all = pointers_of(p_);
  return static_cast<int>(std::find_if(all.begin(), all.end(), [&](const operand& y) { return is_same_memory(x, y); }) - all.begin());
}

}  // namespace chains

namespace {

std::string pointers_text(const chain_plan& p) {
  std::string t;
  const auto pointers = pointers_of(p);
  for (std::size_t n = 0; n < pointers.size(); ++n) {
    std::string type = "typename E::type";
    for (const chain_op& x : p.ops)
      if ((x.op.what == action::gather || x.op.what == action::scatter) && is_same_memory(x.op.a, pointers[n])) type = pointers[n].type == dtype::f64 ? "const long long" : "const int";
    if (is_in_memory(p, pointers[n]) && pointers[n].where == operand::kind::temporary && pointers[n].type != p.type) type = "W";
    t += "  " + type + "* const p" + std::to_string(n) + " = static_cast<" + type + "*>(args.p[" + std::to_string(n) + "]);\n";
  }
  return t;
}

}  // namespace

kernel_request request_of(const chain_plan& p) {
  const std::size_t pointers = pointers_of(p).size(), scalars = scalars_of(p).size();
  const std::string threads = num(p.config.threads), barrier = p.config.threads == 32 ? "    __syncwarp();\n" : "    __syncthreads();\n";
  std::string t = "#include \"chain.cuh\"\nstruct chain_args {\n  void* p[" + std::to_string(std::max<std::size_t>(1, pointers)) +
                  "];\n  i64 count, groups;\n  double s[" + std::to_string(std::max<std::size_t>(1, scalars)) + "][2];\n};\n";
  t += orders_table(p);
  t += "extern \"C\" __global__ void __launch_bounds__(" + threads + ", " + num(p.config.blocks) + ") chain(const __grid_constant__ chain_args args) {\n";
  t += "  using E = " + element_type(p.type) + ";\n  using W = typename E::wide;\n  extern __shared__ uint4 pool[];\n";
  t += "  W* const shared = reinterpret_cast<W*>(pool);\n  const int thread = static_cast<int>(threadIdx.x);\n" + pointers_text(p);
  for (std::size_t n = 0; n < scalars; ++n) t += "  const W s" + std::to_string(n) + " = coefficient(static_cast<W*>(nullptr), args.s[" + std::to_string(n) + "]);\n";
  t += begin_ahead(p);
  if (p.config.early && !p.matrices.empty()) t += early_text(p, true, "static_cast<i64>(blockIdx.x)");
  if (p.order_count > 0) t += "  const unsigned short* const orders = reinterpret_cast<const unsigned short*>(shared + " + num(p.order_offset) + ");\n";
  t += matrices_text(p);
  if (p.config.keep > 1) {
    std::vector<int> kept;
    for (const chain_pass& pass : p.passes)
      for (const int m : chains::kept_by(p, pass))
        if (!contains(kept, m)) kept.push_back(m);
    if (!kept.empty()) t += barrier + kept_text(p, kept);
  }
  t += "#pragma unroll 1\n  for (i64 group = blockIdx.x; group < args.groups; group += gridDim.x) {\n    const i64 first = group * " + num(p.config.elements) + ";\n";
  t += shifts_text(p);
  if (p.config.early) t += early_text(p, false);
  // Between two stages: what the next one reads must be there, and what the one before has read makes room.
  const auto sets = sets_of(p);
  const auto between = [&](int before, int after, bool needed) {
    for (std::size_t s = 0; s < sets.size(); ++s)
      if (p.inputs[sets[s].first].first == after) t += wait_ahead(p, s);
    if (needed) t += barrier;
    for (std::size_t s = 0; s < sets.size(); ++s)
      if (p.inputs[sets[s].first].last == before) t += ask_ahead(p, s, "group + gridDim.x");
  };
  // The next group's first tensors are asked for when a third of the stages are left: sooner would be much that waits.
  const int last = p.passes.empty() ? 0 : p.passes.back().stage, asks = p.config.early && p.config.turns != 1 ? last - last / 3 : -1;
  int stage = 0;
  between(-1, 0, !p.buffers.empty() || !p.matrices.empty() || !p.inputs.empty());
  for (const chain_pass& pass : p.passes) {
    if (pass.stage != stage) between(stage, pass.stage, true);
    if (pass.stage != stage && pass.stage == asks) t += early_text(p, true, "group + gridDim.x");
    stage = pass.stage;
    t += chains::pass_writer(p, pass).text();
  }
  if (std::any_of(p.inputs.begin(), p.inputs.end(), [&](const chain_input& x) { return x.last == stage; })) between(stage, -1, true);
  if (!p.inputs.empty()) t += "    ++turn;\n";
  t += "  }\n}\n";
  return {std::move(t), "chain", p.config.threads, p.shared_bytes};
}

}  // namespace ricci::cuda
