// ricci einsum: .npy files in and out.
#include <ricci/core/error.hpp>

#include <iostream>
#include <memory>

#include "tools/commands.hpp"
#include "tools/einsum_files.hpp"

namespace ricci::tools {
namespace {

struct einsum_arguments {
  std::string subscripts, output, backend = "cpu", type;
  std::vector<std::string> files;
  bool explain = false, deterministic = false;
  int threads = 0;
};

void run_einsum(const einsum_arguments& given) {
  einsum_request request{unmask(given.subscripts), {}, {}, given.explain};
  request.how.threads = given.threads, request.how.deterministic = given.deterministic;
  request.on_gpu = given.backend == "cuda";
  if (!given.type.empty()) request.type = parse_dtype(given.type);
  std::vector<npy_array> operands;
  for (const std::string& file : given.files) operands.push_back(read_npy(unmask(file)));
  const einsum_answer answer = einsum_arrays(request, operands);
  if (!given.output.empty()) write_npy(unmask(given.output), answer.result);
  std::cout << answer.plan;
  if (given.output.empty()) std::cout << to_string(answer.result) << '\n';
}

}  // namespace

std::function<void()> add_einsum(CLI::App& app) {
  CLI::App* const c = app.add_subcommand("einsum", "Evaluate an einsum over .npy files");
  const auto given = std::make_shared<einsum_arguments>();
  c->add_option("subscripts", given->subscripts, "NumPy's language, as 'ij,jk->ik'")->required();
  c->add_option("files", given->files, "One .npy file for each operand")->required();
  c->add_option("-o,--output", given->output, "Write the result to this .npy file instead of printing it")->check(not_empty);
  c->add_flag("--explain", given->explain, "Print the plan as well");
  c->add_flag("--deterministic", given->deterministic, "Ignore tuning tables: the same bits with any table");
  c->add_option("--backend", given->backend, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  c->add_option("--threads", given->threads, "Most threads to use; 0: all")->check(CLI::Range(0, 65536));
  c->add_option("--dtype", given->type, "Compute in f32, f64, c64, c128 or f16 (NumPy's float32, f4 and the like are understood) instead of NumPy's choice")->check(not_empty);
  return [given] { run_einsum(*given); };
}

}  // namespace ricci::tools
