// What options of several subcommands share: lists, sizes of products, files to be written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ricci::tools {

struct gemm_size {
  std::int64_t m = 1, n = 1, k = 1;
};

/// "f64,f32" in its parts; an empty text is one empty part.
std::vector<std::string> split(const std::string& text, char at);

/// Sizes as they are typed: 2:32, 2:32:2, 5, 5x6x7, several with commas, or @file.csv with columns m, n, k, of which rows
/// with an extent over 64 are left out. Errors: bad_argument for what is none or larger than `most`; bad_file.
std::vector<gemm_size> parse_sizes(const std::string& text, std::int64_t most);

/// Before anything is measured: can the file be written? Leaves none behind. Errors: bad_file.
void check_writable(const std::string& file);

/// The same for a tuning table, whose folder may be missing; an empty name means that there is no place for one.
void check_table_file(const std::string& file);

/// Writes a report as einsum writes its result: an existing file stays whole if it cannot be. Errors: bad_file.
void write_report(const std::string& file, const std::string& text);

}  // namespace ricci::tools
