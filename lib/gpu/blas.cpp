// cuBLAS: the library, a handle for each device, and its calls.
#include "gpu/blas.hpp"

#include <dlfcn.h>

#include <cstring>
#include <map>
#include <mutex>

#include <ricci/core/error.hpp>

namespace ricci::cuda {
namespace {

using blas_handle = struct blas_handle_tag*;

#define RICCI_BLAS_FUNCTIONS(X)                                                                                \
  X(create, cublasCreate_v2, (blas_handle*))                                                                   \
  X(destroy, cublasDestroy_v2, (blas_handle))                                                                  \
  X(set_stream, cublasSetStream_v2, (blas_handle, cu_stream))                                                  \
  X(set_math, cublasSetMathMode, (blas_handle, int))                                                           \
  X(gemm, cublasGemmStridedBatchedEx, (blas_handle, int, int, int, int, int, const void*, const void*, int, int, long long, \
                                       const void*, int, int, long long, const void*, void*, int, int, long long, int, int, int))

struct library {
#define RICCI_MEMBER(name, symbol, arguments) int (*name) arguments = nullptr;
  RICCI_BLAS_FUNCTIONS(RICCI_MEMBER)
#undef RICCI_MEMBER
  const char* (*status_name)(int) = nullptr;
  blas_info info;
};

library look_for_cublas() {
  library l;
  static constexpr const char* names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so",
                                          "/usr/local/cuda/lib64/libcublas.so", "/usr/local/cuda/lib64/libcublas.so.13",
                                          "/usr/local/cuda/lib64/libcublas.so.12",
                                          "/usr/local/cuda/targets/x86_64-linux/lib/libcublas.so", "/opt/cuda/lib64/libcublas.so", nullptr};
  void* const opened = open_library("RICCI_LIBCUBLAS", names, l.info.file, l.info.missing);
  if (!opened) return l;
  l.info.missing.clear();
#define RICCI_FIND(name, symbol, arguments)                                  \
  l.name = reinterpret_cast<int(*) arguments>(dlsym(opened, #symbol));       \
  if (!l.name && l.info.missing.empty()) l.info.missing = "the library " + l.info.file + " is too old: it lacks " #symbol;
  RICCI_BLAS_FUNCTIONS(RICCI_FIND)
#undef RICCI_FIND
  l.status_name = reinterpret_cast<const char* (*)(int)>(dlsym(opened, "cublasGetStatusName"));
  return l;
}

const library& the_library() {
  static const library& l = *new library(look_for_cublas());
  return l;
}

void check_blas(int status, const std::string& doing) {
  if (status == 0) return;
  constexpr int no_memory = 3;
  const char* const name = the_library().status_name ? the_library().status_name(status) : nullptr;
  throw error(status == no_memory ? errc::no_memory : errc::gpu_failed,
              (name ? std::string(name) : "cuBLAS's error " + std::to_string(status)) + " while " + doing);
}

/// A handle belongs to one context; setting its stream and calling must not be torn apart by another thread.
struct owned_handle {
  std::mutex lock;
  blas_handle handle = nullptr;
};

owned_handle& handle_of(const device& d) {
  static std::mutex& lock = *new std::mutex;
  static std::map<cu_context, owned_handle>& handles = *new std::map<cu_context, owned_handle>;
  const std::lock_guard guard(lock);
  owned_handle& h = handles[d.context];
  if (h.handle) return h;
  const library& l = the_library();
  if (!l.info.missing.empty()) throw error(errc::gpu_failed, "cuBLAS cannot be used: " + l.info.missing);
  const use_device use(d);
  blas_handle made = nullptr;
  check_blas(l.create(&made), "making cuBLAS's handle on " + d.machine.name);
  constexpr int no_reduced_sums = 16;  // partial sums of 16-bit products stay in float
  if (const int status = l.set_math(made, no_reduced_sums); status != 0) {
    l.destroy(made);
    check_blas(status, "setting up cuBLAS");
  }
  h.handle = made;
  return h;
}

int number_of(dtype t) {
  constexpr int numbers[] = {0, 1, 4, 5, 2, 14};  // CUDA_R_32F, R_64F, C_32F, C_64F, R_16F, R_16BF
  return numbers[static_cast<int>(t)];
}

int op_number(char op) { return op == 'N' ? 0 : op == 'T' ? 1 : 2; }

/// A coefficient in the type that the sums are made in.
struct blas_scalar {
  alignas(16) char bytes[16] = {};
  blas_scalar(const double (&x)[2], dtype c) {
    const auto put = [&]<class T>(T) {
      const T value[2] = {static_cast<T>(x[0]), static_cast<T>(x[1])};
      std::memcpy(bytes, value, sizeof value);
    };
    if (c == dtype::f64 || c == dtype::c128) put(double{});
    else put(float{});
  }
};

}  // namespace

const blas_info& find_blas() { return the_library().info; }

bool prepare_blas(const device& d) {
  if (!the_library().info.missing.empty()) return false;
  try {
    handle_of(d);
  } catch (const error&) {
    return false;
  }
  return true;
}

bool run_blas(const step_shape& s, const blas_call& c, const void* a, const void* b, void* x, const double (&alpha)[2],
              const double (&beta)[2], const device& d, cu_stream stream) {
  owned_handle& owner = handle_of(d);
  const library& l = the_library();
  const blas_scalar one(alpha, s.c), other(beta, s.c);
  const int compute = s.c == dtype::f64 || s.c == dtype::c128 ? 70 : 68;  // CUBLAS_COMPUTE_64F, _32F
  constexpr int usual_algorithm = -1, not_supported = 15;
  const auto to_int = [](std::int64_t n) { return static_cast<int>(n); };
  const std::lock_guard guard(owner.lock);
  check_blas(l.set_stream(owner.handle, stream), "setting cuBLAS's stream");
  for (std::int64_t at = 0, calls = count_of(c.calls); at < calls; ++at) {
    const blas_offsets from = offsets_of(c, at);
    const auto size = [](dtype t) { return static_cast<std::int64_t>(size_of(t)); };
    const int status = l.gemm(owner.handle, op_number(c.op_b), op_number(c.op_a), to_int(c.rows), to_int(c.cols), to_int(c.sum), one.bytes,
                              static_cast<const char*>(b) + from.b * size(s.b), number_of(s.b), to_int(c.row_b), c.batch.b,
                              static_cast<const char*>(a) + from.a * size(s.a), number_of(s.a), to_int(c.row_a), c.batch.a, other.bytes,
                              static_cast<char*>(x) + from.c * size(s.c), number_of(s.c), to_int(c.row_c), c.batch.c, to_int(c.batch.extent),
                              compute, usual_algorithm);
    if (status == not_supported && at == 0) return false;
    check_blas(status, "starting " + to_string(c));
  }
  return true;
}

}  // namespace ricci::cuda
