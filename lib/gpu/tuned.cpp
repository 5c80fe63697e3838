// The table as a value, as text and as a file.
#include "gpu/tuned.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>
#include <ricci/core/error.hpp>

#include "machine/files.hpp"

namespace ricci::cuda {
namespace {

using nlohmann::json;

dtype type_named(const std::string& name) {
  for (int t = 0; t < dtype_count; ++t)
    if (name_of(static_cast<dtype>(t)) == name) return static_cast<dtype>(t);
  throw error(errc::bad_file, "'" + name + "' is no element type of a tuning table");
}

arithmetic arithmetic_named(const std::string& name) {
  for (const arithmetic a : {arithmetic::threads, arithmetic::mma_f64, arithmetic::mma_16, arithmetic::mma_c128})
    if (name_of(a) == name) return a;
  throw error(errc::bad_file, "'" + name + "' is no way to multiply");
}

tuned_entry entry_of(const json& j) {
  tuned_entry e;
  e.what = {type_named(j.at("type")), j.at("beta"), j.at("m"), j.at("n"), j.at("k")};
  small_config& c = e.config;
  c.problems = j.at("problems"), c.group = j.at("group"), c.block = j.at("block"), c.stages = j.at("stages");
  c.compute = arithmetic_named(j.at("by")), c.rm = j.at("rm"), c.rn = j.at("rn");
  c.pad_a = j.at("pad_a"), c.pad_b = j.at("pad_b"), c.pad_c = j.at("pad_c");
  c.unroll = j.at("unroll"), c.blocks = j.at("blocks"), c.vectors = j.at("vectors");
  c.lined = j.value("lined", false), c.spread = j.value("spread", false);
  c.over = j.value("over", false), c.bulk = j.value("bulk", 0), c.together = j.value("together", 0);
  e.fraction = j.at("fraction"), e.gain = j.at("gain");
  const auto within = [](int x, int low, int high) { return x >= low && x <= high; };
  const small_problem& p = e.what;
  const bool good = within(p.m, 1, 64) && within(p.n, 1, 64) && within(p.k, 1, 64) && within(c.problems, 1, 4096) && within(c.group, 32, 1024) &&
                    c.group % 32 == 0 && within(c.block, 32, 1024) && c.block % c.group == 0 && within(c.stages, 1, 4) && within(c.rm, 1, 16) &&
                    within(c.rn, 1, 16) && within(c.pad_a, 0, 64) && within(c.pad_b, 0, 64) && within(c.pad_c, 0, 64) &&
                    within(c.unroll, 1, 64) && within(c.blocks, 1, 32) && within(c.bulk, 0, 2) && within(c.together, 0, 3);
  if (!good) throw error(errc::bad_file, "a tuning table has a kernel that cannot be");
  return e;
}

void sort(tuned_table& t) {
  std::sort(t.entries.begin(), t.entries.end(), [](const tuned_entry& x, const tuned_entry& y) { return x.what < y.what; });
}

}  // namespace

const small_config* find(const tuned_table& t, const small_problem& wanted) {
  for (const bool beta : {wanted.beta, !wanted.beta}) {
    small_problem p = wanted;
    p.beta = beta;
    const auto at = std::lower_bound(t.entries.begin(), t.entries.end(), p, [](const tuned_entry& e, const small_problem& x) { return e.what < x; });
    if (at != t.entries.end() && at->what == p) return &at->config;
  }
  return nullptr;
}

tuned_table merged(const tuned_table& old, const tuned_table& fresh) {
  tuned_table t = fresh;
  sort(t);
  const std::size_t count = t.entries.size();
  for (const tuned_entry& e : old.entries) {
    const auto end = t.entries.begin() + static_cast<std::ptrdiff_t>(count);
    if (std::none_of(t.entries.begin(), end, [&](const tuned_entry& x) { return x.what == e.what; })) t.entries.push_back(e);
  }
  sort(t);
  return t;
}

tuned_table parse_tuned(const std::string& text) {
  try {
    const json j = json::parse(text);
    tuned_table t{j.at("gpu"), j.at("build"), {}};
    for (const json& e : j.at("kernels")) t.entries.push_back(entry_of(e));
    sort(t);
    return t;
  } catch (const json::exception& e) {
    throw error(errc::bad_file, std::string("this is no tuning table of a GPU: ") + e.what());
  }
}

std::string to_text(const tuned_table& t) {
  std::string text = "{\"gpu\": " + json(t.gpu).dump() + ", \"build\": " + json(t.build).dump() + ", \"kernels\": [\n";
  const auto rounded = [](double x) { return static_cast<int>(x * 1000 + 0.5) / 1000.0; };
  for (std::size_t i = 0; i < t.entries.size(); ++i) {
    const tuned_entry& e = t.entries[i];
    const small_config& c = e.config;
    const nlohmann::ordered_json line = {
        {"type", name_of(e.what.type)}, {"beta", e.what.beta}, {"m", e.what.m}, {"n", e.what.n}, {"k", e.what.k}, {"problems", c.problems},
        {"group", c.group}, {"block", c.block}, {"stages", c.stages}, {"by", name_of(c.compute)}, {"rm", c.rm}, {"rn", c.rn}, {"pad_a", c.pad_a},
        {"pad_b", c.pad_b}, {"pad_c", c.pad_c}, {"unroll", c.unroll}, {"blocks", c.blocks}, {"vectors", c.vectors}, {"lined", c.lined}, {"spread", c.spread}, {"over", c.over}, {"bulk", c.bulk}, {"together", c.together},
        {"fraction", rounded(e.fraction)}, {"gain", rounded(e.gain)}};
    text += "  " + line.dump() + (i + 1 < t.entries.size() ? ",\n" : "\n");
  }
  return text + "]}\n";
}

std::string gpu_build_name() { return std::string("ricci ") + RICCI_VERSION + ", GPU kernels 2"; }

std::string tuned_file_of(const gpu_machine& m) {
  const std::filesystem::path in = detail::cache_folder();
  if (in.empty() || m.name.empty()) return {};
  std::string name;
  for (const char c : m.name) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '-';
  return (in / ("tuned-gpu-" + name + "-sm" + std::to_string(m.architecture) + ".json")).string();
}

void save(const tuned_table& t, const std::string& file) { detail::write_whole(file, to_text(t), "the GPU's tuning table"); }

std::shared_ptr<const tuned_table> load_tuned(const gpu_machine& m, std::string& complaint) {
  const std::string file = tuned_file_of(m);
  if (file.empty()) return nullptr;
  std::ifstream in(file);
  if (!in) return nullptr;
  std::stringstream text;
  text << in.rdbuf();
  try {
    tuned_table t = parse_tuned(text.str());
    if (t.gpu == m.name && t.build == gpu_build_name()) return std::make_shared<const tuned_table>(std::move(t));
    complaint = file + " was measured by another build or on another GPU";
  } catch (const error& e) {
    complaint = file + ": " + e.what();
  }
  return nullptr;
}

}  // namespace ricci::cuda
