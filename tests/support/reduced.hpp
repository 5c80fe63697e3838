// Fewer cases where a test runs in an emulator or under a sanitizer.
#pragma once

#include <cstdlib>

/// RICCI_TEST_REDUCED=1: fewer cases of each kind, no kind left out.
inline bool reduced_tests() {
  const char* s = std::getenv("RICCI_TEST_REDUCED");
  return s && *s == '1';
}

/// So many seeds of random cases, or a third of them.
inline unsigned seeds(unsigned all) { return reduced_tests() ? all / 3 : all; }
