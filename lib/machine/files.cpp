// Files that are remembered between runs.
#include "machine/files.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>

#include <ricci/core/error.hpp>

namespace ricci::detail {

namespace fs = std::filesystem;

fs::path cache_folder() {
  if (const char* own = std::getenv("RICCI_CACHE")) return own;  // set but empty: nowhere
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg) return fs::path(xdg) / "ricci";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache" / "ricci";
  return {};
}

void write_whole(const std::string& file, const std::string& text, const std::string& what) {
  static std::atomic<int> count{0};  // threads of a process write to files of their own
  const std::string fresh = file + "." + std::to_string(getpid()) + "." + std::to_string(count++) + ".tmp";
  std::error_code failure;
  if (fs::path(file).has_parent_path()) fs::create_directories(fs::path(file).parent_path(), failure);
  bool written = false;
  {
    std::ofstream out(fresh, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    written = !out.fail();
  }
  if (written) fs::rename(fresh, file, failure);
  if (!written || failure) {
    std::error_code ignored;
    fs::remove(fresh, ignored);
    throw error(errc::bad_file, "cannot write " + what + " to " + file);
  }
}

}  // namespace ricci::detail
