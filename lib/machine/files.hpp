// Where ricci keeps what it has measured or compiled, and how such files are written.
#pragma once

#include <filesystem>
#include <string>

namespace ricci::detail {

/// The folder that remembers between runs: RICCI_CACHE, else XDG_CACHE_HOME/ricci, else HOME/.cache/ricci. Empty if
/// nothing is to be kept (RICCI_CACHE is set but empty) or there is no place.
std::filesystem::path cache_folder();

/// Writes the text beside the file and renames it, so that a reader sees the old file or the new one, never half of one,
/// whatever other threads and processes write. Folders that are missing are made.
/// Errors: bad_file, which says that `what` could not be written.
void write_whole(const std::string& file, const std::string& text, const std::string& what);

}  // namespace ricci::detail
