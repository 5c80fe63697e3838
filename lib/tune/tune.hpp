// Register tiles that measurement found better than the cost function, kept for each machine and build of ricci.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "codegen/codegen.hpp"
#include "machine/machine.hpp"

namespace ricci::tune {

/// What a tile was measured for: one problem of c[row, lane] (+)= sum_k a[row, k] b[k, lane], all extents exact.
struct problem {
  dtype type = dtype::f64;
  bool reads_c = false;
  std::int64_t rows = 1, lanes = 1, cols = 1, k = 1;
  auto operator<=>(const problem&) const = default;
};

struct entry {
  problem what;
  codegen::tile_choice tile;
  double gain = 1;  // time of the cost function's tile over this one's
  bool operator==(const entry&) const = default;
};

/// Sorted by problem. Text form: JSON, one line an entry.
struct table {
  std::string machine;  // machine::name
  std::string build;    // version of ricci and of the tables
  std::vector<entry> entries;
  bool operator==(const table&) const = default;
};

/// The tile for a problem; zeros if the table does not know it.
codegen::tile_choice find(const table& t, const problem& p);

/// The table of this machine: the user's ($RICCI_CACHE), else the shipped one for this kind of CPU, else empty. Read once.
const table& remembered();

/// What is wrong with the user's file, if it was ignored; empty otherwise.
const std::string& complaint();

/// Where the user's table of this machine lies; empty if nowhere. save() writes beside it and renames. Errors: bad_file.
std::string file_of(const machine& m);
void save(const table& t, const std::string& file);

/// The table in a text. Errors: bad_file, with what is wrong.
table parse(const std::string& text);
std::string to_text(const table& t);

/// What `fresh` says of the problems that were measured for it, and what `old` says of all others.
table merged(const table& old, const table& fresh, std::vector<problem> measured);

std::string build_name();

/// What tuning does: every candidate is timed in turn, round after round, so that noise falls on all alike; then the best
/// and the cost function's alone.
struct plan_of_measurement {
  std::vector<problem> problems;
  int candidates = 6;              // of each width of register and way of the last columns
  int rounds = 9;
  int final_rounds = 4;            // times as many for the best of them beside the cost function's, in pairs
  double window = 120e-6;          // seconds of one measurement
  std::int64_t bytes = 192 << 10;  // of a batch: in the second cache
  double least_gain = 1.02;        // what is not better than this is not kept
};

/// Measures; tells of each problem as it is done, and leaves out those that follow if that gives false. The best median wins if in
/// pairs of windows it beats the cost function's by least_gain.
table measure(const plan_of_measurement& p, const std::function<bool(std::size_t done, const entry&)>& tell);

}  // namespace ricci::tune
