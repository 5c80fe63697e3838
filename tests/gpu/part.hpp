// RICCI_TEST_PART=3/16 runs a sixteenth of a test's cases: of 16 processes 0/16 to 15/16, or 1/16 to 16/16, run all.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace ricci::test {

/// Whether this process runs case n.
inline bool is_mine(std::uint64_t n) {
  unsigned part = 0, parts = 1;
  if (const char* text = std::getenv("RICCI_TEST_PART")) std::sscanf(text, "%u/%u", &part, &parts);
  return parts < 2 || n % parts == part % parts;
}

}  // namespace ricci::test
