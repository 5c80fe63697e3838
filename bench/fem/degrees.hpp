// Degrees as the benches take them: one, or the first and the last.
#pragma once

#include <regex>
#include <stdexcept>
#include <string>

namespace bench {

/// The peers of fixed size are compiled for each number of nodes up to `last`; where only compiling is tested, for a few.
constexpr int last_compiled([[maybe_unused]] int last) {
#ifdef RICCI_BENCH_PLAIN
  return 3;
#else
  return last;
#endif
}

struct degree_range {
  int first = 0, last = 0;
};

/// "3" or "1:8". Throws what is wrong with the text.
inline degree_range degrees_of(const std::string& text) {
  std::smatch parts;
  if (!std::regex_match(text, parts, std::regex("([1-9][0-9]?)(?::([1-9][0-9]?))?"))) throw std::invalid_argument("not a degree, or two as 1:8: " + text);
  const int first = std::stoi(parts[1]), last = parts[2].matched ? std::stoi(parts[2]) : first;
  if (last < first) throw std::invalid_argument("the first degree is above the last: " + text);
  return {first, last};
}

/// The same for CLI11: what is wrong, or nothing.
inline std::string check_degrees(const std::string& text) try {
  degrees_of(text);
  return {};
} catch (const std::invalid_argument& failure) {
  return failure.what();
}

}  // namespace bench
