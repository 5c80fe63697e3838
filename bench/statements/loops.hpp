// Plain loops as a peer: what a user would write by hand for one contraction, with every extent a constant, compiled by the C compiler.
#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "../random_contractions.hpp"

namespace bench {

/// C of both orders of loops for some contractions, compiled into one library that is loaded for the life of the object.
class plain_loops {
 public:
  using function = void (*)(const void* a, const void* b, void* c);
  static constexpr int orders = 2;

  /// `type` is C's name of the element type.
  plain_loops(const std::vector<contraction>& all, const std::string& type) {
    std::string text = "#include <complex.h>\n";
    for (std::size_t i = 0; i < all.size(); ++i)
      for (int order = 0; order < orders; ++order) text += source(all[i], type, name(i, order), order);
    const std::filesystem::path code = folder_.path / "loops.c", built = folder_.path / "loops.so";
    std::ofstream(code) << text;
    const std::string command = "cc -std=gnu11 -O3 -march=native -ffast-math -shared -fPIC -o '" + built.string() + "' '" + code.string() + "'";
    if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
    library_ = dlopen(built.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_) throw std::runtime_error(dlerror());
  }
  plain_loops(const plain_loops&) = delete;
  plain_loops& operator=(const plain_loops&) = delete;
  ~plain_loops() {
    if (library_) dlclose(library_);
  }

  /// Order 0: sums innermost, into a number. Order 1: the last label of c innermost, c in memory.
  function at(std::size_t problem, int order) const { return reinterpret_cast<function>(dlsym(library_, name(problem, order).c_str())); }

 private:
  static std::string name(std::size_t i, int order) { return "loop_" + std::to_string(i) + "_" + std::to_string(order); }

  /// "x[((i) * 5 + j) * 7 + k]"
  static std::string element(const contraction& x, const std::string& tensor, const std::string& labels) {
    std::string at = "0";
    for (const char l : labels) at = "(" + at + ") * " + std::to_string(x.extent.at(l)) + " + " + l;
    return tensor + "[" + at + "]";
  }
  static std::string loops(const contraction& x, const std::string& labels) {
    std::string s;
    for (const char l : labels) s += std::string("for (long ") + l + " = 0; " + l + " < " + std::to_string(x.extent.at(l)) + "; ++" + l + ") ";
    return s;
  }

  static std::string source(const contraction& x, const std::string& type, const std::string& function, int order) {
    std::string sums;
    for (const auto& [label, n] : x.extent)
      if (x.c.find(label) == x.c.npos) sums += label;
    const std::string product = element(x, "A_", x.a) + (x.b.empty() ? "" : " * " + element(x, "B_", x.b)), to = element(x, "C_", x.c);
    std::string body;
    if (order == 0) {
      body = loops(x, x.c) + "{ " + type + " sum_ = 0; " + loops(x, sums) + "sum_ += " + product + "; " + to + " = sum_; }";
    } else {
      const std::string outer = x.c.empty() ? "" : x.c.substr(0, x.c.size() - 1), inner = x.c.empty() ? "" : x.c.substr(x.c.size() - 1);
      body = loops(x, outer) + "{ " + loops(x, inner) + to + " = 0; " + loops(x, sums) + loops(x, inner) + to + " += " + product + "; }";
    }
    return "void " + function + "(const " + type + "* restrict A_, const " + type + "* restrict B_, " + type + "* restrict C_) { " + body + " }\n";
  }

  /// Removed when the compiler fails as well.
  struct own_folder {
    std::filesystem::path path = std::filesystem::temp_directory_path() / ("ricci-loops-" + std::to_string(getpid()));
    own_folder() { std::filesystem::create_directories(path); }
    ~own_folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };

  own_folder folder_;
  void* library_ = nullptr;
};

}  // namespace bench
