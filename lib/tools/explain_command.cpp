// ricci explain: the plan for shapes alone.
#include <ricci/core/error.hpp>

#include <charconv>
#include <iostream>
#include <map>
#include <memory>

#include "engine/explain.hpp"
#include "gpu/executable.hpp"
#include "machine/machine.hpp"
#include "tools/commands.hpp"
#include "tools/einsum_files.hpp"

namespace ricci::tools {
namespace {

struct explain_arguments {
  std::string subscripts, type = "f64", machine, backend = "cpu";
  std::vector<std::string> extents;
  int threads = 0;
  bool deterministic = false;
};

std::map<char, std::int64_t> parse_extents(const std::vector<std::string>& texts) {
  std::map<char, std::int64_t> extents;
  for (const std::string& masked : texts) {
    const std::string text = unmask(masked);
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const bool form = text.size() > 2 && text[1] == '=' && std::isalpha(static_cast<unsigned char>(text[0]));
    const auto [at, code] = form ? std::from_chars(text.data() + 2, end, value) : std::from_chars_result{end, std::errc::invalid_argument};
    if (code != std::errc() || at != end || value < 0)
      throw error(errc::bad_argument, "'" + text + "' is not an extent; write the label and the extent as i=8");
    if (!extents.emplace(text[0], value).second)
      throw error(errc::bad_argument, std::string("label ") + text[0] + " has two extents");
  }
  return extents;
}

/// The shapes of the operands, from their labels.
std::vector<std::vector<std::int64_t>> shapes_of(const std::string& subscripts, const std::map<char, std::int64_t>& extents) {
  std::vector<std::vector<std::int64_t>> shapes(1);
  std::map<char, bool> used;
  for (const char c : subscripts.substr(0, subscripts.find('-'))) {
    if (c == ',') shapes.emplace_back();
    if (c == '.') throw error(errc::bad_argument, "explain needs labels instead of '...'");
    if (!std::isalpha(static_cast<unsigned char>(c))) continue;  // the reader of subscripts refuses what is no label
    const auto found = extents.find(c);
    if (found == extents.end()) throw error(errc::bad_argument, std::string("label ") + c + " has no extent; add " + c + "=8 or the like");
    shapes.back().push_back(found->second);
    used[c] = true;
  }
  for (const auto& [label, extent] : extents)
    if (!used.contains(label)) throw error(errc::bad_label, std::string("no operand has label ") + label + ", which has extent " + std::to_string(extent));
  return shapes;
}

machine machine_of(const std::string& name) {
  if (name.empty()) return this_machine();
  if (auto found = named_machine(name)) return *found;
  std::string known;
  for (const std::string& other : machine_names()) known += (known.empty() ? "" : ", ") + other;
  throw error(errc::bad_argument, "there is no machine '" + name + "'; known are " + known);
}

/// For the GPU of this machine, else for the H200 that the kernels were measured on.
std::string explain_on_gpu(const program& p, const std::string& name, const options& how) {
  if (!name.empty() && name != "h200") throw error(errc::bad_argument, "there is no GPU '" + name + "'; known is h200");
  check(p);
  if (name.empty() && cuda::find_driver().missing.empty()) {
    const cuda::device& d = cuda::current_device();
    return cuda::to_string(cuda::make_program_plan(p, d.machine, how), d.machine, &d);
  }
  const cuda::gpu_machine& m = cuda::described_h200();
  return cuda::to_string(cuda::make_program_plan(p, m, how), m);
}

void run_explain(const explain_arguments& given) {
  const dtype type = parse_dtype(given.type);
  const std::string subscripts = unmask(given.subscripts);
  const auto shapes = shapes_of(subscripts, parse_extents(given.extents));
  options how;
  how.threads = given.threads, how.deterministic = given.deterministic;
  if (given.backend == "cuda") {
    std::cout << explain_on_gpu(einsum_program(subscripts, shapes, type), given.machine, how);
    return;
  }
  std::cout << describe(einsum_program(subscripts, shapes, type), machine_of(given.machine), how);
}

}  // namespace

std::function<void()> add_explain(CLI::App& app) {
  CLI::App* const c = app.add_subcommand("explain", "Print the plan for shapes alone");
  const auto given = std::make_shared<explain_arguments>();
  c->add_option("subscripts", given->subscripts, "As 'eik,ekj->eij'")->required();
  c->add_option("extents", given->extents, "As e=100000 i=8 k=8 j=8");
  c->add_option("--dtype", given->type, "f32, f64 (the default), c64, c128, f16 or bf16");
  c->add_option("--machine", given->machine, "Plan for this machine instead of the one it runs on")->check(not_empty);
  c->add_option("--backend", given->backend, "cpu or cuda; the latter needs no GPU")->check(CLI::IsMember({"cpu", "cuda"}));
  c->add_flag("--deterministic", given->deterministic, "Ignore tuning tables");
  c->add_option("--threads", given->threads, "Most threads to use; 0: all")->check(CLI::Range(0, 65536));
  return [given] { run_explain(*given); };
}

}  // namespace ricci::tools
