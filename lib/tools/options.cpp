// Lists, sizes of products, files to be written.
#include "tools/options.hpp"

#include <ricci/core/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "machine/files.hpp"

namespace ricci::tools {
namespace {

constexpr std::int64_t most_of_file = 64;

/// A number of `item`, which stands in the sentence if it is none.
std::int64_t number(const std::string& text, const std::string& item, std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < 1 || value > most)
    throw error(errc::bad_argument, "'" + item + "' is no size: write 2:32, 2:32:2, 5, 5x6x7, several with commas, or @file.csv, " +
                                        "with numbers from 1 to " + std::to_string(most));
  return value;
}

void add_file(const std::string& name, std::vector<gemm_size>& to) {
  if (name.empty()) throw error(errc::bad_argument, "'@' names no file of sizes: write @file.csv");
  std::error_code ignored;
  if (std::filesystem::is_directory(name, ignored)) throw error(errc::bad_file, name + " is a folder, not a file of sizes");
  std::ifstream in(name);
  if (!in) throw error(errc::bad_file, name + " cannot be opened");
  std::string line;
  const auto next = [&] {
    if (!std::getline(in, line)) return false;
    if (line.ends_with('\r')) line.pop_back();
    return true;
  };
  if (!next() || !(line == "m,n,k" || line.starts_with("m,n,k,"))) throw error(errc::bad_file, "the first line of " + name + " does not begin with m,n,k");
  const std::size_t before = to.size();
  while (next()) {
    const auto fields = split(line, ',');
    if (fields.size() < 3) continue;
    std::int64_t extents[3];
    for (std::size_t d = 0; d < 3; ++d) extents[d] = fields[d].size() > 4 ? most_of_file + 1 : number(fields[d], line, 9999);
    if (*std::max_element(extents, extents + 3) <= most_of_file) to.push_back({extents[0], extents[1], extents[2]});
  }
  if (to.size() == before)
    throw error(errc::bad_file, name + " has no product whose extents are " + std::to_string(most_of_file) + " or less");
}

}  // namespace

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out(1);
  for (const char c : text)
    if (c == at) out.emplace_back();
    else out.back() += c;
  return out;
}

std::vector<gemm_size> parse_sizes(const std::string& text, std::int64_t most) {
  std::vector<gemm_size> out;
  for (const std::string& item : split(text, ',')) {
    const auto read = [&](const std::string& part) { return number(part, item, most); };
    if (item.starts_with('@')) {
      add_file(item.substr(1), out);
    } else if (const auto range = split(item, ':'); range.size() > 1) {
      const std::int64_t step = range.size() > 2 ? read(range[2]) : 1;
      if (range.size() > 3 || read(range[1]) < read(range[0]))
        throw error(errc::bad_argument, "'" + item + "' is no range of sizes: write the smaller one first, as 2:32 or 2:32:2");
      for (std::int64_t n = read(range[0]); n <= read(range[1]); n += step) out.push_back({n, n, n});
    } else if (const auto extents = split(item, 'x'); extents.size() == 3) {
      out.push_back({read(extents[0]), read(extents[1]), read(extents[2])});
    } else {
      const std::int64_t n = read(item);
      out.push_back({n, n, n});
    }
  }
  return out;
}

void check_writable(const std::string& file) {
  std::error_code ignored;
  const bool there = std::filesystem::exists(file, ignored);
  if (there && !std::filesystem::is_regular_file(file, ignored)) {  // a pipe's reader would see its end
    if (::access(file.c_str(), W_OK) != 0 || std::filesystem::is_directory(file, ignored)) throw error(errc::bad_file, "cannot write " + file);
    return;
  }
  if (!std::ofstream(file, std::ios::app)) throw error(errc::bad_file, "cannot write " + file);
  if (!there) std::filesystem::remove(ricci::detail::end_of_links(file), ignored);  // a link stays
}

void write_report(const std::string& file, const std::string& text) {
  if (const std::string why = ricci::detail::replace_file(file, {text, "\n"}); !why.empty()) throw error(errc::bad_file, "cannot write " + file + ": " + why);
}

void check_table_file(const std::string& file) {
  if (file.empty()) throw error(errc::bad_file, "there is no folder to remember the table in; set RICCI_CACHE or use --output");
  std::error_code ignored;
  if (const auto folder = std::filesystem::path(file).parent_path(); !folder.empty()) std::filesystem::create_directories(folder, ignored);
  check_writable(file);
}

}  // namespace ricci::tools
