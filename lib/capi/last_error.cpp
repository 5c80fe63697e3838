// Errors, version and threads of the C interface.
#include "capi/last_error.hpp"

#include <ricci/core/error.hpp>
#include <ricci/ricci.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <new>

namespace ricci::capi {
namespace {

thread_local char sentence[512] = "";
std::atomic<int> threads{0};

}  // namespace

void set_last_error(const char* format, ...) noexcept {
  std::va_list values;
  va_start(values, format);
  std::vsnprintf(sentence, sizeof sentence, format, values);
  va_end(values);
}

int report_exception(const char* function) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    set_last_error("%s: there is not enough memory", function);
    return RICCI_NO_MEMORY;
  } catch (const error& e) {
    set_last_error("%s: %s", function, e.what());
    return e.code() == errc::no_memory ? RICCI_NO_MEMORY : RICCI_FAILED;
  } catch (const std::exception& e) {
    set_last_error("%s: %s", function, e.what());
  } catch (...) {
    set_last_error("%s: an unknown error", function);
  }
  return RICCI_FAILED;
}

int most_threads() noexcept { return threads.load(std::memory_order_relaxed); }

}  // namespace ricci::capi

extern "C" {

const char* ricci_last_error() { return ricci::capi::sentence; }

const char* ricci_version() {
#define RICCI_TEXT(x) #x
#define RICCI_NUMBERS(a, b, c) RICCI_TEXT(a) "." RICCI_TEXT(b) "." RICCI_TEXT(c)
  return RICCI_NUMBERS(RICCI_VERSION_MAJOR, RICCI_VERSION_MINOR, RICCI_VERSION_PATCH);
}

void ricci_set_num_threads(int most) { ricci::capi::threads.store(most > 0 ? most : 0, std::memory_order_relaxed); }

int ricci_get_num_threads() { return ricci::capi::most_threads(); }

}
