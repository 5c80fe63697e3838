// Two GPUs that are not there, as CUDA's driver and NVRTC would show them: memory is the host's, code is never looked at
// and kernels do nothing. For what happens around kernels, on machines without a GPU.
#include "pretended/gpus.hpp"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace {

struct block {
  std::size_t size;
  int owner;
};

// Never destroyed, as a driver's: destructors of static objects may give memory back.
std::mutex& lock = *new std::mutex;
std::map<std::uintptr_t, block>& blocks = *new std::map<std::uintptr_t, block>;
pretended_gpus& state = *new pretended_gpus;
constexpr int devices = 2;
int contexts[devices] = {0, 1};  // a context is a pointer to one of these
struct context_stack {  // without a destructor
  int* at[64];
  int size;
};
thread_local context_stack current;

int here() { return current.size == 0 ? 0 : *current.at[current.size - 1]; }

int allocate(unsigned long long* to, std::size_t bytes) {
  void* const memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!memory) return 2;
  const std::lock_guard guard(lock);
  *to = reinterpret_cast<std::uintptr_t>(memory);
  blocks[static_cast<std::uintptr_t>(*to)] = {bytes, here()};
  return 0;
}

int release(unsigned long long memory) {
  const std::lock_guard guard(lock);
  if (blocks.erase(static_cast<std::uintptr_t>(memory)) == 0) return 1;
  std::free(reinterpret_cast<void*>(memory));
  return 0;
}

int owner_of(unsigned long long address) {
  const std::lock_guard guard(lock);
  auto at = blocks.upper_bound(static_cast<std::uintptr_t>(address));
  if (at == blocks.begin()) return -1;
  --at;
  return address < at->first + at->second.size ? at->second.owner : -1;
}

int copy(unsigned long long to, unsigned long long from, std::size_t bytes) {
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return 0;
}

}  // namespace

extern "C" {

pretended_gpus* pretended_state() { return &state; }

void pretended_move(void* memory, int owner) {
  const std::lock_guard guard(lock);
  blocks.at(reinterpret_cast<std::uintptr_t>(memory)).owner = owner;
}

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* x) { return *x = 12040, 0; }
int cuGetErrorName(int, const char** x) { return *x = "an error", 0; }
int cuGetErrorString(int, const char** x) { return *x = "of a GPU that is not there", 0; }
int cuDeviceGetCount(int* x) { return *x = devices, 0; }
int cuDeviceGet(int* x, int ordinal) { return *x = ordinal, 0; }
int cuDeviceGetName(char* x, int size, int) { return std::strncpy(x, "a GPU that is not there", static_cast<std::size_t>(size)), 0; }
int cuDeviceGetAttribute(int* x, int which, int) {
  static const std::map<int, int> values = {{13, 1700000}, {16, 132}, {36, 2600000}, {37, 5120}, {38, 52428800}, {39, 2048},
                                            {75, 9}, {76, 0}, {81, 233472}, {82, 65536}, {97, 232448}};
  const auto at = values.find(which);
  return *x = at == values.end() ? 0 : at->second, 0;
}
int cuDevicePrimaryCtxRetain(void** x, int device) { return *x = &contexts[device], 0; }
int cuCtxGetCurrent(void** x) { return *x = current.size == 0 ? nullptr : current.at[current.size - 1], 0; }
int cuCtxPushCurrent_v2(void* x) { return current.at[current.size++] = static_cast<int*>(x), 0; }
int cuCtxPopCurrent_v2(void** x) { return *x = current.at[--current.size], 0; }
int cuCtxGetDevice(int* x) { return *x = here(), 0; }
int cuCtxSynchronize() { return 0; }
int cuMemAlloc_v2(unsigned long long* x, std::size_t bytes) { return allocate(x, bytes); }
int cuMemFree_v2(unsigned long long x) { return release(x); }
int cuMemGetInfo_v2(std::size_t* free, std::size_t* all) { return *free = *all = std::size_t{1} << 36, 0; }
int cuMemcpyHtoD_v2(unsigned long long to, const void* from, std::size_t bytes) { return copy(to, reinterpret_cast<std::uintptr_t>(from), bytes); }
int cuMemcpyDtoH_v2(void* to, unsigned long long from, std::size_t bytes) { return copy(reinterpret_cast<std::uintptr_t>(to), from, bytes); }
int cuMemcpyDtoD_v2(unsigned long long to, unsigned long long from, std::size_t bytes) { return copy(to, from, bytes); }
int cuMemcpyAsync(unsigned long long to, unsigned long long from, std::size_t bytes, void*) { return copy(to, from, bytes); }
int cuMemsetD8Async(unsigned long long to, unsigned char x, std::size_t bytes, void*) { return std::memset(reinterpret_cast<void*>(to), x, bytes), 0; }
int cuMemPoolCreate(void** x, const void*) { return *x = &state, 0; }
int cuMemPoolSetAttribute(void*, int, void*) { return 0; }
int cuMemAllocFromPoolAsync(unsigned long long* x, std::size_t bytes, void*, void*) { return allocate(x, bytes); }
int cuMemFreeAsync(unsigned long long x, void*) { return release(x); }
int cuPointerGetAttribute(void* x, int which, unsigned long long address) {
  const int owner = owner_of(address), memory_type = 2, device_ordinal = 9, of_device = 2;
  if (owner < 0) return 1;
  const int value = which == memory_type ? of_device : which == device_ordinal ? owner : 0;
  return std::memcpy(x, &value, sizeof value), 0;
}
int cuModuleLoadData(void** x, const void*) {
  std::this_thread::sleep_for(std::chrono::milliseconds(state.load_takes));
  ++state.modules;
  return *x = &state, 0;
}
int cuModuleUnload(void*) { return --state.modules, 0; }
int cuModuleGetFunction(void** x, void*, const char*) { return *x = &state, state.lacks_kernels ? 500 : 0; }
int cuFuncGetAttribute(int* x, int, void*) { return *x = 0, 0; }
int cuFuncSetAttribute(void*, int, int) { return 0; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* x, void*, int, std::size_t) { return *x = 2, 0; }
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**) {
  return ++state.launches[here()], 0;
}
int cuStreamSynchronize(void*) { return 0; }
int cuEventCreate(void** x, unsigned) { return *x = &state, 0; }
int cuEventDestroy_v2(void*) { return 0; }
int cuEventRecord(void*, void*) { return 0; }
int cuEventSynchronize(void*) { return 0; }
int cuEventElapsedTime(float* x, void*, void*) { return *x = 1, 0; }

// cuBLAS is found, and makes no handle unless it is told to: as where the GPU's memory is full.
int cublasCreate_v2(void** x) { return ++state.blas_handles, *x = &state, state.has_blas ? 0 : 1; }
int cublasDestroy_v2(void*) { return 0; }
int cublasSetStream_v2(void*, void*) { return 0; }
int cublasSetMathMode(void*, int) { return 0; }
int cublasGemmStridedBatchedEx() { return ++state.blas_calls, state.blas_says; }

int nvrtcVersion(int* major, int* minor) { return *major = 12, *minor = 4, 0; }
int nvrtcCreateProgram(void** x, const char*, const char*, int, const char* const*, const char* const*) { return *x = &state, 0; }
int nvrtcDestroyProgram(void**) { return 0; }
int nvrtcCompileProgram(void*, int, const char* const*) { return 0; }
int nvrtcGetCUBINSize(void*, std::size_t* x) { return *x = 4, 0; }
int nvrtcGetCUBIN(void*, char* x) { return std::memcpy(x, "none", 4), 0; }
int nvrtcGetPTXSize(void*, std::size_t* x) { return *x = 4, 0; }
int nvrtcGetPTX(void*, char* x) { return std::memcpy(x, "none", 4), 0; }
int nvrtcGetProgramLogSize(void*, std::size_t* x) { return *x = 0, 0; }
int nvrtcGetProgramLog(void*, char*) { return 0; }
int nvrtcGetNumSupportedArchs(int* x) { return *x = 2, 0; }
int nvrtcGetSupportedArchs(int* x) { return x[0] = 80, x[1] = 90, 0; }

}
