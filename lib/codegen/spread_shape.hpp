// Tiny problems one behind the other: registers of neighbouring results, whose lanes take their factors from where they are.
#pragma once

#include <array>

#include "codegen/dots_shape.hpp"

namespace ricci::codegen {

/// Where the lanes of a register of results have a factor.
struct spread_source {
  enum class way : std::uint8_t {
    same,    // all in one place
    run,     // one behind the other
    pieces,  // the same `bytes` again and again
    places   // anywhere in one register's worth of memory, or in two
  };
  way how = way::same;
  std::int64_t at = 0;          // bytes from the operand's pointer: what is loaded begins there
  int bytes = 0;                // of a piece: 16 or 32
  int first = 0, second = 0;    // elements that are loaded, and behind a whole register of them
  std::vector<int> places;      // of the lanes in what is loaded
};

/// One term of the sum. Of complex numbers it is two: every lane of a result has the same part of one factor, real or imaginary, and its own
/// part of the other one, or, for the imaginary part, the other part.
struct spread_term {
  std::int64_t a = 0, b = 0;  // bytes
  bool imaginary = false;
};

/// Neighbouring results that are made at once: c[l] = sum over terms of a[..] b[..].
struct spread_results {
  std::int64_t c = 0;  // bytes
  int count = 0;       // lanes with results, all of a register but for the last one
  std::vector<std::array<spread_source, 2>> terms;
};

struct spread {
  std::vector<dots::axis> dense, loops;  // as dots have them
  int real = 8, lanes = 8;               // bytes of a number; numbers of a register
  int parts = 1;                         // 2: complex numbers, whose parts are numbers
  bool ones = false;                     // a is a one, and is not read
  int common = 0;                        // complex: the factor of which both lanes of a result have the same part, 0 or 1
  bool conj = false;                     // that one is conjugated
  std::int64_t inner = 1, count = 1, period = 1;
  std::vector<spread_term> terms;        // of complex numbers the imaginary ones first
  std::vector<spread_results> whole, rest;  // of a period, and of what is left behind the last

  bool is_long() const { return count >= period; }
  int element() const { return real * parts; }
};

/// Permutations whose places registers keep; those of others are loaded each time.
int kept_constants(const spread& s);

/// Nothing if there is no such kernel, or others are faster: AVX-512, results that are neighbours over many problems, few terms, factors
/// within two registers' worth of memory, one conjugated factor at most.
std::vector<spread> spread_of(const request& r, target t);

}  // namespace ricci::codegen
