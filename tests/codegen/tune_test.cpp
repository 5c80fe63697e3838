// Tuning tables: text, search, files that are damaged, and a small measurement.
#include <catch2/catch.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <ricci/core/error.hpp>

#include "temporary_folder.hpp"
#include "tune/shipped.hpp"
#include "tune/tune.hpp"

using namespace ricci;

namespace {

tune::table sample() {
  return {"some machine", tune::build_name(),
          {{{dtype::f32, false, 3, 4, 1, 5}, {32, 3, 1, codegen::tail_kind::sums}, 1.25}, {{dtype::f64, true, 8, 8, 1, 8}, {64, 8, 1}, 1.5}}};
}

}  // namespace

TEST_CASE("a tuning table and its text") {
  const tune::table t = sample();
  CHECK(tune::parse(tune::to_text(t)) == t);
  for (const codegen::tail_kind tail : {codegen::tail_kind::open, codegen::tail_kind::lanes, codegen::tail_kind::packed}) {
    tune::table other = t;
    other.entries[0].tile.tail = tail;
    CHECK(tune::parse(tune::to_text(other)) == other);
  }
  CHECK(tune::find(t, {dtype::f64, true, 8, 8, 1, 8}) == codegen::tile_choice{64, 8, 1});
  CHECK(tune::find(t, {dtype::f64, false, 8, 8, 1, 8}) == codegen::tile_choice{});
  CHECK(tune::find({}, {dtype::f64, false, 8, 8, 1, 8}) == codegen::tile_choice{});
}

TEST_CASE("what is no tuning table is refused with a reason") {
  for (const char* text : {"", "{", "[]", "{\"machine\": 3}", "{\"machine\": \"m\", \"build\": \"b\", \"kernels\": [{}]}"})
    CHECK_THROWS_AS(tune::parse(text), error);
  std::string text = tune::to_text(sample());
  text.replace(text.find("\"tile_rows\":3"), 13, "\"tile_rows\":0");
  CHECK_THROWS_AS(tune::parse(text), error);
}

TEST_CASE("the shipped tables can be read") {
  CHECK(tune::shipped_tables().size() >= 2);
  for (const char* text : tune::shipped_tables()) CHECK_FALSE(tune::parse(text).entries.empty());
}

TEST_CASE("a table is saved whole or not at all") {
  const test::temporary_folder here;
  const std::string file = (here.path / "tuned.json").string();
  tune::save(sample(), file);
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  CHECK(tune::parse(text) == sample());
  CHECK(std::distance(std::filesystem::directory_iterator(here.path), {}) == 1);
  CHECK_THROWS_AS(tune::save(sample(), (here.path / "tuned.json" / "below").string()), error);
}

TEST_CASE("a measurement tells of every problem and keeps tiles that can be made") {
  tune::plan_of_measurement how;
  how.problems = {{dtype::f64, false, 3, 3, 1, 3}, {dtype::c64, true, 5, 4, 1, 2}};
  how.rounds = 1, how.window = 1e-6, how.least_gain = 0;
  std::size_t told = 0, most = 2;
  const auto tell = [&](std::size_t done, const tune::entry&) {
    CHECK(done == ++told);
    return told < most;
  };
  const tune::table t = tune::measure(how, tell);
  if (codegen::best_target() == codegen::target::none) return;
  CHECK(told == 2);
  CHECK(t.entries.size() == 2);

  told = 0, most = 1;
  CHECK(tune::measure(how, tell).entries.size() == 1);
  CHECK(told == 1);
}
