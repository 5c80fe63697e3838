// NVRTC.
#include "gpu/compiler.hpp"

#include <dlfcn.h>

#include <algorithm>

#include <ricci/core/error.hpp>

#include "gpu/driver.hpp"
#include "gpu/kernel_texts.hpp"

namespace ricci::cuda {
namespace {

using nvrtc_program = struct nvrtc_program_tag*;

#define RICCI_NVRTC_FUNCTIONS(X)                                                                            \
  X(version, nvrtcVersion, (int*, int*))                                                                    \
  X(create, nvrtcCreateProgram, (nvrtc_program*, const char*, const char*, int, const char* const*, const char* const*)) \
  X(destroy, nvrtcDestroyProgram, (nvrtc_program*))                                                         \
  X(compile, nvrtcCompileProgram, (nvrtc_program, int, const char* const*))                                 \
  X(cubin_size, nvrtcGetCUBINSize, (nvrtc_program, std::size_t*))                                           \
  X(cubin, nvrtcGetCUBIN, (nvrtc_program, char*))                                                           \
  X(ptx_size, nvrtcGetPTXSize, (nvrtc_program, std::size_t*))                                               \
  X(ptx, nvrtcGetPTX, (nvrtc_program, char*))                                                               \
  X(log_size, nvrtcGetProgramLogSize, (nvrtc_program, std::size_t*))                                        \
  X(log, nvrtcGetProgramLog, (nvrtc_program, char*))                                                        \
  X(architecture_count, nvrtcGetNumSupportedArchs, (int*))                                                  \
  X(architectures, nvrtcGetSupportedArchs, (int*))

struct compiler {
#define RICCI_MEMBER(name, symbol, arguments) int (*name) arguments = nullptr;
  RICCI_NVRTC_FUNCTIONS(RICCI_MEMBER)
#undef RICCI_MEMBER
  compiler_info info;
};

constexpr int oldest_version = 12000;  // before that it does not know instructions of compute capability 9.0 that kernels have

compiler look_for_compiler() {
  compiler c;
  static constexpr const char* names[] = {
      "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so",
      "/usr/local/cuda/lib64/libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.12",
      "/usr/local/cuda/targets/x86_64-linux/lib/libnvrtc.so", "/opt/cuda/lib64/libnvrtc.so",
      "/usr/lib/x86_64-linux-gnu/libnvrtc.so.12", "/usr/lib/x86_64-linux-gnu/libnvrtc.so.11.2", nullptr};
  void* const library = open_library("RICCI_LIBNVRTC", names, c.info.file, c.info.missing);
  if (!library) return c;
  c.info.missing.clear();
#define RICCI_FIND(name, symbol, arguments)                                                   \
  c.name = reinterpret_cast<int(*) arguments>(dlsym(library, #symbol));                       \
  if (!c.name && c.info.missing.empty()) c.info.missing = "the compiler " + c.info.file + " is too old: it lacks " #symbol;
  RICCI_NVRTC_FUNCTIONS(RICCI_FIND)
#undef RICCI_FIND
  if (!c.info.missing.empty()) return c;
  int major = 0, minor = 0, count = 0;
  c.version(&major, &minor);
  c.info.version = major * 1000 + minor * 10;
  if (c.info.version < oldest_version)
    c.info.missing = "the compiler " + c.info.file + " is NVRTC " + std::to_string(major) + "." + std::to_string(minor) + ", and kernels need 12.0 or newer";
  c.architecture_count(&count);
  c.info.architectures.resize(static_cast<std::size_t>(count));
  c.architectures(c.info.architectures.data());
  return c;
}

const compiler& the_compiler() {
  static const compiler& c = *new compiler(look_for_compiler());
  return c;
}

std::string log_of(const compiler& c, nvrtc_program p) {
  std::size_t size = 0;
  if (c.log_size(p, &size) != 0 || size == 0) return "";
  std::string text(size, '\0');
  c.log(p, text.data());
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
  return text;
}

}  // namespace

const compiler_info& find_compiler() { return the_compiler().info; }

bool has_warpgroups(int architecture) { return architecture == 90 && the_compiler().info.version >= 12000; }

std::vector<std::string> usual_options() { return {"--std=c++17"}; }

std::string compile_text(const std::string& text, int architecture, const std::vector<std::string>& options) {
  const compiler& c = the_compiler();
  if (!c.info.missing.empty()) throw error(errc::no_gpu, "kernels cannot be compiled for the GPU: " + c.info.missing);
  const auto& known = c.info.architectures;
  const bool exact = std::find(known.begin(), known.end(), architecture) != known.end();
  int target = architecture;
  if (!exact)
    for (const int a : known)
      if (a < architecture) target = target == architecture ? a : std::max(target, a);
  if (!exact && target == architecture)
    throw error(errc::no_gpu, "the compiler " + c.info.file + " knows no architecture as old as sm_" + std::to_string(architecture));
  std::vector<std::string> all = options;
  all.push_back((exact ? "--gpu-architecture=sm_" : "--gpu-architecture=compute_") + std::to_string(target) + (exact && has_warpgroups(target) ? "a" : ""));
  std::vector<const char*> words;
  for (const std::string& o : all) words.push_back(o.c_str());
  nvrtc_program p = nullptr;
  if (c.create(&p, text.c_str(), "ricci.cu", kernel_text_count, kernel_texts, kernel_text_names) != 0)
    throw error(errc::gpu_failed, "NVRTC could not begin to compile a kernel");
  const int result = c.compile(p, static_cast<int>(words.size()), words.data());
  if (result != 0) {
    const std::string log = log_of(c, p);
    c.destroy(&p);
    throw error(errc::gpu_failed, "NVRTC error " + std::to_string(result) + " while compiling a kernel for sm_" + std::to_string(architecture) + ":\n" + log);
  }
  std::size_t size = 0;
  std::string code;
  if ((exact ? c.cubin_size : c.ptx_size)(p, &size) == 0) {
    code.resize(size);
    (exact ? c.cubin : c.ptx)(p, code.data());
  }
  c.destroy(&p);
  if (code.empty()) throw error(errc::gpu_failed, "NVRTC made no code for sm_" + std::to_string(architecture));
  return code;
}

}  // namespace ricci::cuda
