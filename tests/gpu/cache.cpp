// The kernel cache on disk: found again, rebuilt when it is not what it should be, shared by processes, switched off.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

#include "gpu/cache.hpp"
#include "gpu/code_info.hpp"
#include "gpu/compiler.hpp"
#include "temporary_folder.hpp"

using namespace ricci::cuda;
namespace fs = std::filesystem;

namespace {

/// A folder of its own for every test.
struct folder : ricci::test::temporary_folder {
  folder() { setenv("RICCI_CACHE", path.c_str(), 1); }
  ~folder() { unsetenv("RICCI_CACHE"); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> out;
    if (fs::exists(path / "kernels"))
      for (const auto& f : fs::directory_iterator(path / "kernels")) out.push_back(f.path());
    return out;
  }
};

const std::string text = "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }\n";

bool has_compiler() { return find_compiler().missing.empty(); }

std::string bytes_of(const fs::path& p) {
  std::ifstream in(p, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("a kernel is compiled once") {
  if (!has_compiler()) return;
  const folder here;
  const std::string first = machine_code(text, 90);
  REQUIRE(here.files().size() == 1);
  const auto start = std::chrono::steady_clock::now();
  CHECK(machine_code(text, 90) == first);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(20));
  CHECK(machine_code(text, 80) != first);
  CHECK(here.files().size() == 2);
  CHECK(read_code_info(first, "twice").registers > 0);
}

TEST_CASE("a damaged file is compiled again") {
  if (!has_compiler()) return;
  const folder here;
  const std::string good = machine_code(text, 90);
  const fs::path file = here.files().at(0);
  const std::string whole = bytes_of(file);
  for (const std::size_t kept : {std::size_t{0}, std::size_t{10}, whole.size() / 2}) {
    std::ofstream(file, std::ios::binary) << whole.substr(0, kept);
    CHECK(machine_code(text, 90) == good);
    CHECK(bytes_of(file) == whole);
  }
  std::string flipped = whole;
  flipped[whole.size() - 7] = static_cast<char>(flipped[whole.size() - 7] ^ 1);
  std::ofstream(file, std::ios::binary) << flipped;
  CHECK(machine_code(text, 90) == good);
  CHECK(bytes_of(file) == whole);
}

TEST_CASE("processes share the cache") {
  if (!has_compiler()) return;
  const folder here;
  std::vector<pid_t> children;
  for (int c = 0; c < 4; ++c) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(machine_code(text, 90).empty() ? 1 : 0);
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK(here.files().size() == 1);
}

TEST_CASE("no cache, no files") {
  if (!has_compiler()) return;
  const folder here;
  setenv("RICCI_CACHE", "", 1);
  CHECK(kernel_folder().empty());
  CHECK_FALSE(machine_code(text, 90).empty());
  setenv("RICCI_CACHE", "/proc/nowhere", 1);
  CHECK_FALSE(machine_code(text, 90).empty());
}

TEST_CASE("a text that does not compile says why") {
  if (!has_compiler()) return;
  const folder here;
  CHECK_THROWS_WITH(machine_code("this is no kernel", 90), Catch::Contains("NVRTC") && Catch::Contains("error"));
  CHECK(here.files().empty());
}
