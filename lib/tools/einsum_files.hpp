// einsum over arrays of files: promotion, exact integers, plans for shapes alone.
#pragma once

#include <optional>
#include <string>

#include <ricci/engine/engine.hpp>

#include "tools/npy.hpp"

namespace ricci::tools {

struct einsum_request {
  std::string subscripts;
  std::optional<dtype> type;  // computes in it; else as NumPy promotes
  options how;
  bool explain = false;
  bool on_gpu = false;
};

struct einsum_answer {
  npy_array result;
  std::string plan;  // if asked for
};

/// Errors: those of ricci::einsum; bad_argument if integers might not be exact in a double.
einsum_answer einsum_arrays(const einsum_request& request, const std::vector<npy_array>& operands);

/// The program of a text for operands of these shapes, dense.
program einsum_program(const std::string& subscripts, const std::vector<std::vector<std::int64_t>>& shapes, dtype type);

/// "f64" or NumPy's "f8", "float64". Errors: bad_argument.
dtype parse_dtype(const std::string& text);

/// As text for people: brackets, one row a line.
std::string to_string(const npy_array& array);

}  // namespace ricci::tools
