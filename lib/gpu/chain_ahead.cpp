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

namespace {

std::int64_t pointer_of(const chain_plan& p, const chain_input& x) {
  const auto pointers = pointers_of(p);
  return std::find_if(pointers.begin(), pointers.end(), [&](const operand& y) { return is_same_memory(x.source, y); }) - pointers.begin();
}

}  // namespace

std::vector<input_set> sets_of(const chain_plan& p) {
  constexpr std::size_t most = 32;
  std::vector<input_set> sets;
  for (std::size_t n = 0; n < p.inputs.size(); ++n) {
    const chain_input& x = p.inputs[n];
    if (!sets.empty() && sets.back().count < most) {
      const input_set& s = sets.back();
      const chain_input& y = p.inputs[s.first];
      const bool next = pointer_of(p, x) == pointer_of(p, y) + static_cast<std::int64_t>(s.count);
      if (next && x.run == y.run && x.first == y.first && x.last == y.last) {
        ++sets.back().count;
        continue;
      }
    }
    sets.push_back({n, 1});
  }
  return sets;
}

std::string begin_ahead(const chain_plan& p) {
  if (p.inputs.empty()) return "";
  std::string t = "  u64* const arrived = reinterpret_cast<u64*>(shared + " + num(p.arrivals_offset) + ");\n  unsigned turn = 0;\n  if (thread == 0) {\n";
  const auto sets = sets_of(p);
  for (std::size_t s = 0; s < sets.size(); ++s) t += "    begin_arrivals(arrived + " + std::to_string(s) + ", " + std::to_string(sets[s].count) + ");\n";
  t += p.config.threads == 32 ? "  }\n  __syncwarp();\n" : "  }\n  __syncthreads();\n";
  for (std::size_t s = 0; s < sets.size(); ++s) t += ask_ahead(p, s, "static_cast<i64>(blockIdx.x)");
  return t;
}

std::string shifts_text(const chain_plan& p) {
  std::string t;
  for (std::size_t n = 0; n < p.inputs.size(); ++n)
    t += "    const int shift" + std::to_string(n) + " = group_shift<" + num(p.inputs[n].run * p.config.elements) + ">(p" + num(pointer_of(p, p.inputs[n])) + ", group);\n";
  return t;
}

std::string ask_ahead(const chain_plan& p, std::size_t set, const std::string& which) {
  const input_set s = sets_of(p)[set];
  const chain_input& x = p.inputs[s.first];
  const std::int64_t slot = s.count > 1 ? p.inputs[s.first + 1].offset - x.offset : 0;
  return "    copy_groups<" + num(p.config.threads) + ", " + num(x.run * p.config.elements) + ", " + num(slot) + ">(shared + " + num(x.offset) + ", args.p + " + num(pointer_of(p, x)) + ", " +
         std::to_string(s.count) + ", " + which + ", args.count * " + num(x.run) + ", thread, arrived + " + std::to_string(set) + ");\n";
}

/// Newer copies may be pending: of inputs that are asked for later in a turn, and earlier in this one.
std::string wait_ahead(const chain_plan& p, std::size_t set) {
  const auto sets = sets_of(p);
  const int first = p.inputs[sets[set].first].first;
  std::size_t newer = sets.size() - 1 - set;
  for (const input_set& y : sets)
    newer += std::any_of(p.passes.begin(), p.passes.end(), [&](const chain_pass& pass) { return pass.stage > p.inputs[y.first].last && pass.stage < first; });
  return "    wait_group<" + std::to_string(newer) + ">(arrived + " + std::to_string(set) + ", turn);\n";
}

}  // namespace ricci::cuda::chains
