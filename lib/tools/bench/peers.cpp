// Libraries opened at run time, and the ones with a CBLAS: OpenBLAS, BLIS.
#include <dlfcn.h>
#include <stdlib.h>

#include <algorithm>
#include <complex>

#include <ricci/core/error.hpp>

#include "tools/bench/cblas.hpp"

namespace ricci::tools {

library library::open(std::initializer_list<const char*> names) {
  library out;
  for (const char* name : names) {
    if (out.handle_) break;
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RICCI_SANITIZED  // its runtime does not bear RTLD_DEEPBIND
#endif
#endif
#if defined(RTLD_DEEPBIND) && !defined(RICCI_SANITIZED) && !defined(__SANITIZE_ADDRESS__)
    out.handle_ = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
#else
    out.handle_ = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
#endif
  }
  return out;
}

void* library::find_address(const char* symbol) const { return handle_ ? dlsym(handle_, symbol) : nullptr; }

std::string library::path(const char* symbol) const {
  Dl_info info;
  void* const at = find_address(symbol);
  return at && dladdr(at, &info) && info.dli_fname ? info.dli_fname : "";
}

void find_blas(std::vector<peer>& to) {
  if (const library openblas = library::open({"libopenblas.so.0", "libopenblas.so"})) {
    const auto config = openblas.find<const char*()>("openblas_get_config");
    const cblas calls(openblas);
    const std::string build = config ? config() : "";
    // A build for one thread may only be called from one: its buffers are shared without a lock.
    const bool single = build.find("SINGLE_THREADED") != std::string::npos;
    to.push_back({"OpenBLAS", build, openblas.path("cblas_dgemm"),
                  [calls, single](const gemm_case& c, gemm_data& d, std::vector<contender>& out) {
                    if (c.threads == 1 || !single) calls.add("OpenBLAS", c, d, out);
                  }});
  }
  if (const library blis = library::open({"libblis.so.4", "libblis.so"})) {
    const auto version = blis.find<const char*()>("bli_info_get_version_str");
    const cblas calls(blis);
    to.push_back({"BLIS", version ? version() : "", blis.path("cblas_dgemm"),
                  [calls](const gemm_case& c, gemm_data& d, std::vector<contender>& out) { calls.add("BLIS", c, d, out); }});
  }
}

std::vector<peer> find_peers(const bench_request& r) {
  std::vector<peer> out;
  if (!r.peers) return out;
  // One thread for each call; the harness spreads problems over threads itself. The user's own settings come first.
  for (const auto& [name, value] : {std::pair{"OPENBLAS_NUM_THREADS", "1"}, {"BLIS_NUM_THREADS", "1"},
                                    {"MKL_THREADING_LAYER", "SEQUENTIAL"}, {"MKL_NUM_THREADS", "1"}})
    setenv(name, value, 0);
  find_xsmm(out);
  find_mkl(out);
  find_blas(out);
  find_eigen(r, out);
  if (r.only.empty()) return out;
  for (const std::string& name : r.only)
    if (std::none_of(out.begin(), out.end(), [&](const peer& p) { return p.name == name; }))
      throw error(errc::bad_argument, "there is no peer '" + name + "' here");
  std::erase_if(out, [&](const peer& p) { return std::find(r.only.begin(), r.only.end(), p.name) == r.only.end(); });
  return out;
}

}  // namespace ricci::tools
