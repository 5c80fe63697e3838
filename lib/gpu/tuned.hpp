// Configurations for small products that were measured on this machine's GPU, and the file they are kept in.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpu/device.hpp"
#include "gpu/small.hpp"

namespace ricci::cuda {

/// What a configuration was measured for: packed row-major batches of m x k times k x n.
struct small_problem {
  dtype type = dtype::f64;
  bool beta = false;  // c is read
  int m = 1, n = 1, k = 1;
  auto operator<=>(const small_problem&) const = default;
};

struct tuned_entry {
  small_problem what;
  small_config config;
  double fraction = 0;  // of the triad's bandwidth
  double gain = 1;      // time of what would have run without the table over this one's
  bool operator==(const tuned_entry&) const = default;
};

/// Sorted by problem, each once. Text form: JSON, one line an entry.
struct tuned_table {
  std::string gpu;    // gpu_machine::name
  std::string build;  // version of ricci and of the kernels
  std::vector<tuned_entry> entries;
  bool operator==(const tuned_table&) const = default;
};

/// The configuration for a problem, of the other beta if there is none of its own; null if the table does not know it.
const small_config* find(const tuned_table& t, const small_problem& p);

/// Sorts; what is in `fresh` replaces what `old` says of the same problem.
tuned_table merged(const tuned_table& old, const tuned_table& fresh);

/// The table in a text. Errors: bad_file, with what is wrong.
tuned_table parse_tuned(const std::string& text);
std::string to_text(const tuned_table& t);

/// The file of a GPU beside the processor's tables in $RICCI_CACHE (or the user's cache folder); empty if nowhere.
std::string tuned_file_of(const gpu_machine& m);

/// Written beside its place and renamed, so that an interrupted run leaves the old file. Errors: bad_file.
void save(const tuned_table& t, const std::string& file);

/// The table of a GPU's file; null if there is none, or it is damaged or of another build: `complaint` says which.
std::shared_ptr<const tuned_table> load_tuned(const gpu_machine& m, std::string& complaint);

std::string gpu_build_name();

}  // namespace ricci::cuda
