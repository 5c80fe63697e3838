// The one exception type of the library.
#pragma once

#include <stdexcept>
#include <string>

namespace ricci {

/// What went wrong, for programs; the text of the exception is for people.
enum class errc {
  bad_extent = 1,     // extents that must agree do not
  bad_label,          // unknown, repeated or lone label
  bad_range,          // range or constant outside its axis
  bad_subscripts,     // an einsum string that says nothing
  bad_argument,       // wrong rank, null data, wrong element type
  bad_file,           // a file that is not what it should be
  wrong_space,        // host and GPU memory mixed
  no_gpu,             // GPU work without a usable GPU backend
  no_memory,          // workspace or result does not fit
  too_slow,           // options::strict and only a slow fallback is left
  gpu_failed,         // CUDA refused; the text has its own name for why
};

/// Every run-time error of ricci. Nothing was changed when it is thrown, unless it says so.
class error : public std::runtime_error {
 public:
  error(errc code, const std::string& what) : std::runtime_error(what), code_(code) {}
  errc code() const noexcept { return code_; }

 private:
  errc code_;
};

}  // namespace ricci
