// Where ricci keeps what it has measured or compiled, and how such files are written.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

namespace ricci::detail {

/// The folder that remembers between runs: RICCI_CACHE, else XDG_CACHE_HOME/ricci, else HOME/.cache/ricci. Empty if
/// nothing is to be kept (RICCI_CACHE is set but empty) or there is no place.
std::filesystem::path cache_folder();

/// Writes the parts, one after the other, beside the file and renames it, so that a reader sees the old file or the new
/// one, never half of one, whatever other threads and processes write. A link stays a link, a file keeps its permissions,
/// a device, a pipe or what is open already (/dev/stdout) is written to itself. Gives what went wrong, in the system's words; empty if nothing did.
std::string replace_file(const std::string& file, std::initializer_list<std::string_view> parts);

/// Removes what replace_file() has begun, for a handler of signals that end the program: other threads begin nothing any more.
void remove_unfinished() noexcept;

/// Where a name leads that nothing lies behind yet: a link may point there.
std::filesystem::path end_of_links(std::filesystem::path path);

/// replace_file() for one text; folders that are missing are made.
/// Errors: bad_file, which says that `what` could not be written.
void write_whole(const std::string& file, const std::string& text, const std::string& what);

}  // namespace ricci::detail
