// The machine as a value: what is found, measured, shipped and remembered.
#include <catch2/catch.hpp>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <ricci/core/error.hpp>

#include "kernels/kernels.hpp"
#include "machine/detail.hpp"
#include "machine/files.hpp"
#include "temporary_folder.hpp"

namespace fs = std::filesystem;
using ricci::machine;

namespace {

// An environment variable for the length of a test.
class with_variable {
 public:
  with_variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~with_variable() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }
  with_variable(const with_variable&) = delete;
  with_variable& operator=(const with_variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

void check_sane(const machine& m) {
  INFO(m.name);
  CHECK_FALSE(m.name.empty());
  CHECK_FALSE(m.isa.empty());
  CHECK(m.cores >= 1);
  CHECK(m.vector_bytes >= 8);
  CHECK(m.vector_registers >= 8);
  CHECK(m.peak_f64 > 0.1);
  CHECK(m.peak_f32 > m.peak_f64);
  REQUIRE(m.caches.size() == 3);
  CHECK(m.caches[0].bytes < m.caches[1].bytes);
  CHECK(m.caches[1].bytes < m.caches[2].bytes);
  for (const auto& level : m.caches) CHECK(level.bandwidth > 0.1);
  CHECK(m.memory_bandwidth > 0.1);
  CHECK(m.memory_bandwidth_all >= m.memory_bandwidth);
}

machine a_machine() {
  machine m = *ricci::named_machine("avx512");
  m.name = "Some CPU (R) @ 2.5 GHz (AVX-512)";
  return m;
}

void write(const std::string& file, const std::string& text) { std::ofstream(file) << text; }

std::string read(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("shipped descriptions are complete and known by name") {
  for (const auto& name : ricci::machine_names()) {
    const auto m = ricci::named_machine(name);
    REQUIRE(m);
    CHECK(m->name == name);
    check_sane(*m);
  }
  CHECK(ricci::machine_names().size() >= 3);
  CHECK_FALSE(ricci::named_machine("abacus"));
  CHECK(ricci::named_machine("avx512")->peak_f64 == 79.8);
  CHECK(ricci::named_machine("neon")->vector_bytes == 16);
}

TEST_CASE("this machine is described by its best kernels, once for all threads") {
  const machine found = ricci::detail::detect_machine();
  check_sane(found);
  const auto& kernels = ricci::kernels::best();
  CHECK(found.isa == kernels.isa);
  CHECK(found.vector_bytes == kernels.vector_bytes);
  CHECK(found.vector_registers == kernels.vector_registers);
  CHECK(found.name.find("(" + found.isa + ")") != std::string::npos);
  CHECK_FALSE(found.measured);

  const machine* seen[4] = {};
  std::thread threads[4];
  for (int t = 0; t < 4; ++t) threads[t] = std::thread([&seen, t] { seen[t] = &ricci::this_machine(); });
  for (auto& t : threads) t.join();
  for (const auto* m : seen) CHECK(m == &ricci::this_machine());
  CHECK(ricci::this_machine().isa == found.isa);
  CHECK(ricci::this_machine().cores == found.cores);
}

TEST_CASE("a measurement is plausible and keeps what was detected") {
  const machine found = ricci::detail::detect_machine();
  machine m = ricci::measure_machine();
  check_sane(m);
  CHECK(m.measured);
  CHECK(m.name == found.name);
  CHECK(m.cores == found.cores);
  for (std::size_t level = 0; level < 3; ++level) CHECK(m.caches[level].bytes == found.caches[level].bytes);
}

TEST_CASE("a saved machine comes back, and nothing else does") {
  const ricci::test::temporary_folder here;
  const with_variable cache("RICCI_CACHE", (here.path / "deep" / "er").string());
  const machine m = a_machine();
  const std::string file = ricci::detail::machine_file_of(m);
  CHECK(fs::path(file).filename() == "machine-some-cpu-r-2-5-ghz-avx-512.json");
  CHECK_FALSE(ricci::detail::load_machine(file, m));
  ricci::save_machine(m);
  CHECK(ricci::detail::load_machine(file, m) == m);
  CHECK(std::distance(fs::directory_iterator(fs::path(file).parent_path()), {}) == 1);  // no temporary left

  machine other = m;
  other.cores = 64;  // a process confined to other cores is still on this machine
  CHECK(ricci::detail::load_machine(file, other) == other);
  other = m;
  other.name = "Another CPU (AVX-512)";
  CHECK_FALSE(ricci::detail::load_machine(file, other));
  other = m;
  other.isa = "AVX2";
  CHECK_FALSE(ricci::detail::load_machine(file, other));
}

TEST_CASE("damaged files are ignored") {
  const ricci::test::temporary_folder here;
  const with_variable cache("RICCI_CACHE", here.path.string());
  const machine m = a_machine();
  const std::string file = ricci::detail::machine_file_of(m);
  ricci::save_machine(m);
  const std::string good = read(file);
  REQUIRE(ricci::detail::load_machine(file, m));
  for (std::size_t length = 0; length + 2 < good.size(); length += 7) {
    write(file, good.substr(0, length));
    CHECK_FALSE(ricci::detail::load_machine(file, m));
  }
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  for (const auto& text : {std::string("[]"), std::string("null"), std::string("\0\xff\xfe", 3),
                           with("79.8", "-1"), with("79.8", "0"), with("79.8", "\"fast\""), with("79.8", "1e300"),
                           with("\"ricci_machine\": 1", "\"ricci_machine\": 2"), with("\"peak_f32\"", "\"peak\""),
                           with("\"caches\": [", "\"caches\": [], \"more\": [")}) {
    INFO(text);
    write(file, text);
    CHECK_FALSE(ricci::detail::load_machine(file, m));
  }
  fs::remove(file);
  fs::create_directory(file);
  CHECK_FALSE(ricci::detail::load_machine(file, m));
}

TEST_CASE("the cache folder follows the environment") {
  const ricci::test::temporary_folder here;
  const machine m = a_machine();
  const std::string name = "machine-some-cpu-r-2-5-ghz-avx-512.json";
  const with_variable home("HOME", "/home/someone"), xdg("XDG_CACHE_HOME", "/var/someone");
  {
    const with_variable own("RICCI_CACHE", "/own");
    CHECK(ricci::detail::machine_file_of(m) == "/own/" + name);
  }
  {
    const with_variable none("RICCI_CACHE", "");
    CHECK(ricci::machine_file().empty());
    CHECK_NOTHROW(ricci::save_machine(m));
  }
  {
    const with_variable own("RICCI_CACHE", "/gone");
    unsetenv("RICCI_CACHE");
    CHECK(ricci::detail::machine_file_of(m) == "/var/someone/ricci/" + name);
    setenv("XDG_CACHE_HOME", "", 1);
    CHECK(ricci::detail::machine_file_of(m) == "/home/someone/.cache/ricci/" + name);
    unsetenv("HOME");
    CHECK(ricci::detail::machine_file_of(m).empty());
    CHECK_NOTHROW(ricci::save_machine(m));
  }
  write((here.path / "file").string(), "");
  const with_variable own("RICCI_CACHE", (here.path / "file").string());
  CHECK_THROWS_AS(ricci::save_machine(m), ricci::error);  // a folder that cannot be made
  CHECK_NOTHROW(ricci::this_machine());
}

TEST_CASE("files are written whole, whatever other threads write") {
  const ricci::test::temporary_folder here;
  const std::string file = (here.path / "deep" / "file").string();
  std::atomic<int> torn{0};
  std::vector<std::thread> writers;
  for (const char letter : {'a', 'b', 'c', 'd'})
    writers.emplace_back([&, letter] {
      for (int n = 0; n < 50; ++n) {
        try {
          ricci::detail::write_whole(file, std::string(20000, letter), "a test");
        } catch (const ricci::error&) {
          ++torn;
        }
        std::ifstream in(file);
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        if (text.size() != 20000 || text.find_first_not_of(text[0]) != std::string::npos) ++torn;
      }
    });
  for (std::thread& w : writers) w.join();
  CHECK(torn == 0);
  CHECK(std::distance(fs::directory_iterator(here.path / "deep"), {}) == 1);  // nothing is left beside it
  CHECK_THROWS_AS(ricci::detail::write_whole((here.path / "deep" / "file" / "x").string(), "", "a test"), ricci::error);
}
