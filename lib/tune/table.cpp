// The table as a value and as text, and the files it lives in.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <nlohmann/json.hpp>
#include <ricci/core/error.hpp>

#include "kernels/core.hpp"
#include "machine/files.hpp"
#include "tune/shipped.hpp"
#include "tune/tune.hpp"

namespace ricci::tune {
namespace {

using nlohmann::json;

constexpr dtype tuned_types[] = {dtype::f32, dtype::f64, dtype::c64, dtype::c128};

dtype type_named(const std::string& name) {
  for (dtype t : tuned_types)
    if (name_of(t) == name) return t;
  throw error(errc::bad_file, "'" + name + "' is no element type of a tuning table");
}

constexpr const char* tail_names[] = {"open", "lanes", "sums", "packed"};

codegen::tail_kind tail_named(const std::string& name) {
  for (std::size_t i = 0; i < std::size(tail_names); ++i)
    if (name == tail_names[i]) return static_cast<codegen::tail_kind>(i);
  throw error(errc::bad_file, "'" + name + "' is no way to do the last columns");
}

entry entry_of(const json& j) {
  entry e;
  e.what = {type_named(j.at("type")), j.at("reads_c"), j.at("rows"), j.at("lanes"), j.at("cols"), j.at("k")};
  e.tile = {j.at("widest"), j.at("tile_rows"), j.at("tile_vectors"), tail_named(j.value("tail", "open"))};
  e.gain = j.at("gain");
  const bool good = (e.tile.widest == 32 || e.tile.widest == 64) && e.tile.rows > 0 && e.tile.rows <= 32 &&
                    e.tile.vectors > 0 && e.tile.vectors <= 32;
  if (!good) throw error(errc::bad_file, "a tuning table has a tile that no register file holds");
  return e;
}

void sort(table& t) {
  std::sort(t.entries.begin(), t.entries.end(), [](const entry& x, const entry& y) { return x.what < y.what; });
}

struct found {
  table t;
  std::string complaint;
};

/// Never throws but for memory: the shipped tables are tested to be good.
found read() {
  found f;
  const machine& here = this_machine();
  if (const std::string file = file_of(here); !file.empty()) {
    std::ifstream in(file);
    if (in) {
      std::stringstream text;
      text << in.rdbuf();
      try {
        f.t = parse(text.str());
        if (f.t.machine == here.name && f.t.build == build_name()) return f;
        f.complaint = file + " was measured by another build or on another machine";
      } catch (const error& e) {
        f.complaint = file + ": " + e.what();
      }
      f.t = {};
    }
  }
  const std::string kind = kernels::name_of(kernels::this_core()) + (" (" + here.isa + ")");
  for (const char* text : shipped_tables())
    if (table t = parse(text); t.machine == kind) f.t = std::move(t);
  return f;
}

const found& kept() {
  static const found& f = *new found(read());  // never destroyed: destructors of static objects may make plans
  return f;
}

}  // namespace

codegen::tile_choice find(const table& t, const problem& p) {
  const auto at = std::lower_bound(t.entries.begin(), t.entries.end(), p,
                                   [](const entry& e, const problem& x) { return e.what < x; });
  return at != t.entries.end() && at->what == p ? at->tile : codegen::tile_choice{};
}

const table& remembered() { return kept().t; }
const std::string& complaint() { return kept().complaint; }

std::string build_name() { return std::string("ricci ") + RICCI_VERSION + ", tables 1"; }

std::string file_of(const machine& m) {
  const std::filesystem::path beside = machine_file();
  if (beside.empty() || m.name.empty()) return {};
  std::string name = beside.filename().string();
  if (name.starts_with("machine-")) name.erase(0, 8);
  return (beside.parent_path() / ("tuned-" + name)).string();
}

table parse(const std::string& text) {
  try {
    const json j = json::parse(text);
    table t{j.at("machine"), j.at("build"), {}};
    for (const json& e : j.at("kernels")) t.entries.push_back(entry_of(e));
    sort(t);
    return t;
  } catch (const json::exception& e) {
    throw error(errc::bad_file, std::string("this is no tuning table: ") + e.what());
  }
}

table merged(const table& old, const table& fresh, std::vector<problem> measured) {
  std::sort(measured.begin(), measured.end());
  table t = fresh;
  for (const entry& e : old.entries)
    if (!std::binary_search(measured.begin(), measured.end(), e.what)) t.entries.push_back(e);
  sort(t);
  return t;
}

std::string to_text(const table& t) {
  std::string text = "{\"machine\": " + json(t.machine).dump() + ", \"build\": " + json(t.build).dump() + ", \"kernels\": [\n";
  for (std::size_t i = 0; i < t.entries.size(); ++i) {
    const entry& e = t.entries[i];
    const nlohmann::ordered_json line = {
        {"type", name_of(e.what.type)}, {"reads_c", e.what.reads_c}, {"rows", e.what.rows}, {"lanes", e.what.lanes},
        {"cols", e.what.cols}, {"k", e.what.k}, {"widest", e.tile.widest}, {"tile_rows", e.tile.rows},
        {"tile_vectors", e.tile.vectors}, {"tail", tail_names[static_cast<int>(e.tile.tail)]}, {"gain", static_cast<int>(e.gain * 100 + 0.5) / 100.0}};
    text += "  " + line.dump() + (i + 1 < t.entries.size() ? ",\n" : "\n");
  }
  return text + "]}\n";
}

void save(const table& t, const std::string& file) { detail::write_whole(file, to_text(t), "the tuning table"); }

}  // namespace ricci::tune
