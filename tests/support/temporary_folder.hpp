// A folder for the files of one test, removed with all that is in it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace ricci::test {

/// Tests that run at the same time, in other builds too, have different ones.
struct temporary_folder {
  std::filesystem::path path;

  temporary_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "ricci-test-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no folder for a test's files: " + name);
    path = name;
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace ricci::test
