// Tables of kernels that were measured on a GPU: reading, writing, choosing. No GPU is needed.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <ricci/core/error.hpp>

#include "gpu/measure.hpp"
#include "gpu/tune.hpp"
#include "temporary_folder.hpp"

using namespace ricci;
using namespace ricci::cuda;

namespace {

namespace fs = std::filesystem;

small_config unusual() {
  small_config c;
  c.problems = 3, c.group = c.block = 96, c.stages = 1, c.compute = arithmetic::threads;
  c.rm = 2, c.rn = 5, c.pad_a = 0, c.unroll = 2, c.blocks = 2;
  return c;
}

tuned_table example() {
  tuned_table t{described_h200().name, gpu_build_name(), {}};
  t.entries.push_back({{dtype::f64, false, 10, 10, 10}, unusual(), 0.75, 1.25});
  small_config c = unusual();
  c.compute = arithmetic::mma_c128, c.vectors = true, c.rm = c.rn = 1;
  t.entries.push_back({{dtype::c128, true, 7, 9, 8}, c, 1.021, 1.03});
  return merged({}, t);
}

errc code_of(const std::string& text) {
  try {
    parse_tuned(text);
  } catch (const error& e) {
    return e.code();
  }
  return errc{};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

small_shape shape_of(dtype t, int m, int n, int k, bool beta) {
  small_shape s;
  REQUIRE(make_small(product_step(t, m, n, k, beta, 100000), s));
  return s;
}

/// A folder of its own as RICCI_CACHE.
struct own_cache : test::temporary_folder {
  std::string before;
  bool had;
  own_cache() : had(std::getenv("RICCI_CACHE") != nullptr) {
    if (had) before = std::getenv("RICCI_CACHE");
    setenv("RICCI_CACHE", path.c_str(), 1);
  }
  ~own_cache() {
    if (had) setenv("RICCI_CACHE", before.c_str(), 1);
    else unsetenv("RICCI_CACHE");
  }
};

}  // namespace

TEST_CASE("a table is its text and back") {
  const tuned_table t = example();
  CHECK(parse_tuned(to_text(t)) == t);
  CHECK(parse_tuned(to_text(tuned_table{"x", "y", {}})) == tuned_table{"x", "y", {}});
}

TEST_CASE("a damaged table is an error") {
  const std::string good = to_text(example());
  CHECK(code_of(good) == errc{});
  CHECK(code_of("") == errc::bad_file);
  CHECK(code_of(good.substr(0, good.size() / 2)) == errc::bad_file);
  CHECK(code_of(replaced(good, "\"f64\"", "\"f65\"")) == errc::bad_file);
  CHECK(code_of(replaced(good, "\"threads\"", "\"hands\"")) == errc::bad_file);
  CHECK(code_of(replaced(good, "\"group\":96", "\"group\":95")) == errc::bad_file);
  CHECK(code_of(replaced(good, "\"rm\":2", "\"rm\":0")) == errc::bad_file);
  CHECK(code_of(replaced(good, "\"unroll\"", "\"unrolled\"")) == errc::bad_file);
}

TEST_CASE("fresh entries replace old ones, others stay") {
  const tuned_table old = example();
  tuned_table fresh = old;
  fresh.entries = {{{dtype::f64, false, 10, 10, 10}, {}, 0.9, 1.5}, {{dtype::f32, false, 2, 2, 2}, {}, 0.9, 1.1}};
  const tuned_table t = merged(old, fresh);
  REQUIRE(t.entries.size() == 3);
  CHECK(*find(t, {dtype::f64, false, 10, 10, 10}) == small_config{});
  CHECK(find(t, {dtype::c128, true, 7, 9, 8})->compute == arithmetic::mma_c128);
  CHECK(find(t, {dtype::f32, false, 2, 2, 3}) == nullptr);
}

TEST_CASE("plans ask the table first") {
  gpu_machine m = described_h200();
  const small_config shipped = choose_small(shape_of(dtype::f64, 10, 10, 10, false), m);
  CHECK(!(shipped == unusual()));
  m.tuned = std::make_shared<const tuned_table>(example());
  CHECK(choose_small(shape_of(dtype::f64, 10, 10, 10, false), m) == unusual());
  CHECK(choose_small(shape_of(dtype::f64, 10, 10, 10, true), m) == unusual());  // the other beta's, before the shipped
  CHECK(!(choose_small(shape_of(dtype::f64, 10, 10, 11, false), m) == unusual()));
  CHECK(!(choose_small(shape_of(dtype::f32, 10, 10, 10, false), m) == unusual()));
  CHECK(choose_small(shape_of(dtype::c128, 7, 9, 8, true), m).compute == arithmetic::mma_c128);
  // What does not fit is not taken.
  tuned_table wrong = example();
  wrong.entries[0].config.problems = 4000;
  for (tuned_entry& e : wrong.entries) e.config.problems = 4000;
  m.tuned = std::make_shared<const tuned_table>(wrong);
  CHECK(choose_small(shape_of(dtype::f64, 10, 10, 10, false), m) == shipped);
}

TEST_CASE("files: kept for a GPU and a build, damaged ones ignored with a note") {
  const own_cache cache;
  const gpu_machine m = described_h200();
  const std::string file = tuned_file_of(m);
  CHECK(fs::path(file).parent_path() == cache.path);
  std::string complaint;
  CHECK(load_tuned(m, complaint) == nullptr);
  CHECK(complaint.empty());
  save(example(), file);
  CHECK(std::distance(fs::directory_iterator(cache.path), fs::directory_iterator{}) == 1);  // nothing is left beside it
  const auto loaded = load_tuned(m, complaint);
  REQUIRE(loaded);
  CHECK(*loaded == example());
  tuned_table other = example();
  other.build = "ricci 0.0";
  save(other, file);
  CHECK(load_tuned(m, complaint) == nullptr);
  CHECK(complaint.find("another build") != std::string::npos);
  std::ofstream(file) << to_text(example()).substr(0, 90);
  complaint.clear();
  CHECK(load_tuned(m, complaint) == nullptr);
  CHECK(complaint.find(file) != std::string::npos);
  gpu_machine newer = m;
  newer.architecture = 100;
  CHECK(tuned_file_of(newer) != file);
  CHECK_THROWS_AS(save(example(), "/dev/null/x/table.json"), error);
  setenv("RICCI_CACHE", "", 1);
  CHECK(tuned_file_of(m).empty());
}

TEST_CASE("candidates begin with what runs without tuning") {
  for (const dtype t : {dtype::f64, dtype::c128, dtype::f16})
    for (const bool thorough : {false, true}) {
      const auto all = candidates_of({t, false, 12, 20, 9}, described_h200(), thorough);
      REQUIRE(all.size() > 3);
      CHECK(all[0] == choose_small(shape_of(t, 12, 20, 9, false), described_h200()));
      for (std::size_t c = 1; c < all.size(); ++c) CHECK(!(all[c] == all[0]));
    }
}
