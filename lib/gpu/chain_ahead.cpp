// What a block copies to shared memory while it computes the group of elements before.
#include <algorithm>

#include "gpu/chain_writer.hpp"

namespace ricci::cuda::chains {

/// The elements of an operand follow each other without gaps: how many words each has, or 0.
std::int64_t run_of_element(const chain_plan& p, const operand& x) {
  if (p.digits.size() != 1) return 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;
  for (std::size_t d = 0; d < x.labels.size(); ++d)
    if (!contains(p.grid, x.labels[d])) axes.push_back({x.strides[d], p.extents[static_cast<std::size_t>(x.labels[d])]});
  std::sort(axes.begin(), axes.end());
  std::int64_t expected = 1;
  for (const auto& [stride, extent] : axes) {
    if (stride != expected) return 0;
    expected *= extent;
  }
  return stride_of(x, p.digits[0].first) == expected ? expected : 0;
}

namespace {

/// What may be copied as it lies: it is computed in the type that it is stored in, and nothing in the chain writes it or
/// looks it up.
bool may_be_copied(const chain_plan& p, const chain_op& x, const operand& in) {
  if (x.op.what != action::contract && x.op.what != action::pointwise) return false;
  if (in.where != operand::kind::external || in.type != p.type || compute_type(in.type) != in.type) return false;
  if (!depends_on_element(p, in) || run_of_element(p, in) == 0 || matrix_of(p, x, in) >= 0) return false;
  return std::none_of(p.ops.begin(), p.ops.end(), [&](const chain_op& y) {
    const bool looks_up = y.op.what == action::gather || y.op.what == action::scatter;
    return is_same_memory(in, y.op.c) || (looks_up && (is_same_memory(in, y.op.a) || is_same_memory(in, y.op.b)));
  });
}

}  // namespace

void find_inputs(chain_plan& p) {
  p.inputs.clear();
  if (p.config.ahead == 0) return;
  for (const chain_pass& pass : p.passes)
    for (const int n : pass.ops) {
      const chain_op& x = p.ops[static_cast<std::size_t>(n)];
      for (const operand* in : inputs_of(x.op)) {
        if (!may_be_copied(p, x, *in)) continue;
        const auto known = std::find_if(p.inputs.begin(), p.inputs.end(), [&](const chain_input& y) { return is_same_memory(y.source, *in) && y.run == run_of_element(p, *in); });
        if (known != p.inputs.end()) known->last = pass.stage;
        else p.inputs.push_back({*in, run_of_element(p, *in), 0, pass.stage, pass.stage});
      }
    }
  if (p.config.ahead == 1) std::erase_if(p.inputs, [](const chain_input& x) { return x.first > 0; });
  if (p.config.ahead == 3) std::erase_if(p.inputs, [](const chain_input& x) { return x.first == 0; });
  std::stable_sort(p.inputs.begin(), p.inputs.end(), [](const chain_input& x, const chain_input& y) { return x.last < y.last; });
}

int input_of(const chain_plan& p, const operand& x) {
  for (std::size_t n = 0; n < p.inputs.size(); ++n)
    if (is_same_memory(p.inputs[n].source, x) && p.inputs[n].run == run_of_element(p, x)) return static_cast<int>(n);
  return -1;
}

std::string ask_ahead(const chain_plan& p, std::size_t n, const std::string& which) {
  const chain_input& x = p.inputs[n];
  const auto pointers = pointers_of(p);
  const auto at = std::find_if(pointers.begin(), pointers.end(), [&](const operand& y) { return is_same_memory(x.source, y); }) - pointers.begin();
  return "    copy_group<" + num(p.config.threads) + ", " + num(x.run * p.config.elements) + ">(shared + " + num(x.offset) + ", p" + num(at) + ", " + which + ", args.count * " +
         num(x.run) + ", thread);\n";
}

/// Newer copies may be pending: of inputs that are asked for later in a turn, and earlier in this one.
std::string wait_ahead(const chain_plan& p, std::size_t n) {
  std::size_t newer = p.inputs.size() - 1 - n;
  for (const chain_input& y : p.inputs)
    newer += std::any_of(p.passes.begin(), p.passes.end(), [&](const chain_pass& pass) { return pass.stage > y.last && pass.stage < p.inputs[n].first; });
  return "    wait_copies<" + num(static_cast<std::int64_t>(newer)) + ">();\n";
}

}  // namespace ricci::cuda::chains
