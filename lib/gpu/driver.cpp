// Finding the driver.
#include "gpu/driver.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include <ricci/core/error.hpp>

namespace ricci::cuda {
namespace {

driver look_for_driver() {
  driver d;
  static constexpr const char* names[] = {"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1",
                                          "/usr/lib/wsl/lib/libcuda.so.1", "libcuda.so", nullptr};
  void* const library = open_library("RICCI_LIBCUDA", names, d.file, d.missing);
  if (!library) return d;
#define RICCI_FIND(name, symbol, arguments)                                                    \
  d.name = reinterpret_cast<cu_result(*) arguments>(dlsym(library, #symbol));                  \
  if (!d.name && d.missing.empty()) d.missing = "the driver " + d.file + " is too old: it lacks " #symbol;
  RICCI_CUDA_FUNCTIONS(RICCI_FIND)
#undef RICCI_FIND
  if (!d.missing.empty()) return d;
  cu_result r = d.init(0);
  if (r == 0) r = d.driver_version(&d.version);
  if (r == 0) r = d.device_count(&d.devices);
  const char* name = "unknown error";
  if (r != 0) d.error_name(r, &name), d.missing = "the driver " + d.file + " finds no usable GPU (" + name + ")";
  else if (d.devices == 0) d.missing = "the driver " + d.file + " finds no GPU";
  return d;
}

}  // namespace

void* open_library(const char* variable, const char* const* names, std::string& file, std::string& reason) {
  const char* const own = std::getenv(variable);
  const char* const only[] = {own, nullptr};
  if (own && *own) names = only;
  for (; *names; ++names) {
    if (void* const found = dlopen(*names, RTLD_NOW | RTLD_LOCAL)) {
      file = *names;
      return found;
    }
    if (const char* why = dlerror(); reason.empty() && why) reason = why;
  }
  return nullptr;
}

const driver& find_driver() {
  static const driver& d = *new driver(look_for_driver());
  return d;
}

const driver& need_driver() {
  const driver& d = find_driver();
  if (!d.missing.empty()) throw error(errc::no_gpu, "no GPU can be used: " + d.missing);
  return d;
}

void check(cu_result r, const std::string& doing) {
  if (r == 0) return;
  constexpr int out_of_memory = 2;
  const driver& d = find_driver();
  const char *name = nullptr, *text = nullptr;
  if (d.error_name) d.error_name(r, &name);
  if (d.error_text) d.error_text(r, &text);
  throw error(r == out_of_memory ? errc::no_memory : errc::gpu_failed,
              std::string(name ? name : "an unknown CUDA error") + " while " + doing + (text ? std::string(": ") + text : ""));
}

}  // namespace ricci::cuda
