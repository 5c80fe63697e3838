// Statements as the benches of many sizes have them: labels and their extents, files of cases, element types by name.
#pragma once

#include <complex>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <ricci/core/types.hpp>

namespace bench {

/// Extents of labels, and what follows from them.
struct labelled {
  std::map<char, std::int64_t> extent;

  std::vector<std::int64_t> shape(const std::string& labels) const {
    std::vector<std::int64_t> x;
    for (const char l : labels) x.push_back(extent.at(l));
    return x;
  }
  std::int64_t size(const std::string& labels) const {
    std::int64_t n = 1;
    for (const char l : labels) n *= extent.at(l);
    return n;
  }
  /// " a=312 b=24"
  std::string extents() const {
    std::string s;
    for (const auto& [label, n] : extent) s += std::string(" ") + label + "=" + std::to_string(n);
    return s;
  }

  /// Takes "a=312 b=24" for all of the labels.
  void read(const std::string& text, const std::string& labels) {
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      std::int64_t n = 0;
      std::istringstream number(word.size() > 2 && word[1] == '=' ? word.substr(2) : "");
      if (!(number >> n) || !number.eof() || n < 0) throw std::runtime_error("'" + word + "' is no extent such as a=312");
      extent[word[0]] = n;
    }
    for (const char l : labels)
      if (l != ',' && extent.count(l) == 0) throw std::runtime_error(std::string("label ") + l + " has no extent");
  }
};

/// The two sides of "ab,bc->ac".
struct sides {
  std::string left, right;
};
inline sides sides_of(const std::string& einsum) {
  const std::size_t arrow = einsum.find("->");
  if (arrow == einsum.npos) throw std::runtime_error("'" + einsum + "' has no ->");
  return {einsum.substr(0, arrow), einsum.substr(arrow + 2)};
}

/// f(words of a line) for the lines of a file that have any; what is wrong with one is said with its number.
template <class F> void each_line(const std::string& file, F&& f) {
  std::ifstream in(file);
  std::string line;
  for (int at = 1; std::getline(in, line); ++at) {
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    std::istringstream words(line);
    try {
      f(words);
    } catch (const std::exception& e) {
      throw std::runtime_error(file + ", line " + std::to_string(at) + ": " + e.what());
    }
  }
}

inline std::string rest_of(std::istringstream& words) {
  std::string rest;
  std::getline(words, rest);
  return rest;
}

/// f(T()) for the element type of that name.
template <class F> void with_type(const std::string& name, F&& f) {
  if (name == "f64") f(double());
  else if (name == "f32") f(float());
  else if (name == "c64") f(std::complex<float>());
  else if (name == "c128") f(std::complex<double>());
  else if (name == "f16") f(ricci::half());
  else f(ricci::bfloat16());
}
inline const std::vector<std::string> type_names{"f64", "f32", "c64", "c128", "f16", "bf16"};

/// Exit code of a program whose work is f: 2 and a sentence if its input is wrong.
template <class F> int run_program(const char* name, F&& f) {
  try {
    f();
    return 0;
  } catch (const std::exception& e) {
    return std::fprintf(stderr, "%s: %s\n", name, e.what()), 2;
  }
}

}  // namespace bench
