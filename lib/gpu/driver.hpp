// CUDA's driver API, found with dlopen: the types and functions that ricci uses, and errors in CUDA's own words.
#pragma once

#include <cstddef>
#include <string>

namespace ricci::cuda {

using cu_result = int;
using cu_device = int;
using cu_pointer = unsigned long long;
using cu_context = struct cu_context_tag*;
using cu_module = struct cu_module_tag*;
using cu_function = struct cu_function_tag*;
using cu_stream = struct cu_stream_tag*;
using cu_event = struct cu_event_tag*;
using cu_pool = struct cu_pool_tag*;

/// CUmemPoolProps: memory of one device, not shared with other processes.
struct cu_pool_props {
  int alloc_type = 1, handle_types = 0;
  int location_type = 1, location_id = 0;
  void* security = nullptr;
  std::size_t most = 0;
  unsigned short usage = 0;
  unsigned char reserved[54] = {};
};

/// name, symbol, arguments. The newest form that CUDA 11.2 has, so that older drivers do.
#define RICCI_CUDA_FUNCTIONS(X)                                                                        \
  X(init, cuInit, (unsigned))                                                                          \
  X(driver_version, cuDriverGetVersion, (int*))                                                        \
  X(error_name, cuGetErrorName, (cu_result, const char**))                                             \
  X(error_text, cuGetErrorString, (cu_result, const char**))                                           \
  X(device_count, cuDeviceGetCount, (int*))                                                            \
  X(device_get, cuDeviceGet, (cu_device*, int))                                                        \
  X(device_name, cuDeviceGetName, (char*, int, cu_device))                                             \
  X(device_attribute, cuDeviceGetAttribute, (int*, int, cu_device))                                    \
  X(primary_retain, cuDevicePrimaryCtxRetain, (cu_context*, cu_device))                                \
  X(context_get, cuCtxGetCurrent, (cu_context*))                                                       \
  X(context_push, cuCtxPushCurrent_v2, (cu_context))                                                   \
  X(context_pop, cuCtxPopCurrent_v2, (cu_context*))                                                    \
  X(context_device, cuCtxGetDevice, (cu_device*))                                                      \
  X(context_synchronize, cuCtxSynchronize, ())                                                         \
  X(memory_allocate, cuMemAlloc_v2, (cu_pointer*, std::size_t))                                        \
  X(memory_free, cuMemFree_v2, (cu_pointer))                                                           \
  X(memory_info, cuMemGetInfo_v2, (std::size_t*, std::size_t*))                                        \
  X(copy_to_device, cuMemcpyHtoD_v2, (cu_pointer, const void*, std::size_t))                           \
  X(copy_to_host, cuMemcpyDtoH_v2, (void*, cu_pointer, std::size_t))                                   \
  X(copy_on_device, cuMemcpyDtoD_v2, (cu_pointer, cu_pointer, std::size_t))                            \
  X(copy_async, cuMemcpyAsync, (cu_pointer, cu_pointer, std::size_t, cu_stream))                       \
  X(set_bytes, cuMemsetD8Async, (cu_pointer, unsigned char, std::size_t, cu_stream))                   \
  X(pool_create, cuMemPoolCreate, (cu_pool*, const cu_pool_props*))                                    \
  X(pool_set, cuMemPoolSetAttribute, (cu_pool, int, void*))                                            \
  X(pool_allocate, cuMemAllocFromPoolAsync, (cu_pointer*, std::size_t, cu_pool, cu_stream))            \
  X(pool_free, cuMemFreeAsync, (cu_pointer, cu_stream))                                                \
  X(pointer_attribute, cuPointerGetAttribute, (void*, int, cu_pointer))                                \
  X(module_load, cuModuleLoadData, (cu_module*, const void*))                                          \
  X(module_unload, cuModuleUnload, (cu_module))                                                        \
  X(module_function, cuModuleGetFunction, (cu_function*, cu_module, const char*))                      \
  X(function_attribute, cuFuncGetAttribute, (int*, int, cu_function))                                  \
  X(function_set, cuFuncSetAttribute, (cu_function, int, int))                                         \
  X(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor, (int*, cu_function, int, std::size_t))     \
  X(launch, cuLaunchKernel, (cu_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,  \
                             unsigned, cu_stream, void**, void**))                                     \
  X(stream_synchronize, cuStreamSynchronize, (cu_stream))                                              \
  X(event_create, cuEventCreate, (cu_event*, unsigned))                                                \
  X(event_destroy, cuEventDestroy_v2, (cu_event))                                                      \
  X(event_record, cuEventRecord, (cu_event, cu_stream))                                                \
  X(event_synchronize, cuEventSynchronize, (cu_event))                                                 \
  X(event_elapsed, cuEventElapsedTime, (float*, cu_event, cu_event))

/// The driver of this machine. All functions are there, or none.
struct driver {
#define RICCI_MEMBER(name, symbol, arguments) cu_result (*name) arguments = nullptr;
  RICCI_CUDA_FUNCTIONS(RICCI_MEMBER)
#undef RICCI_MEMBER
  int version = 0;        // 13000 is CUDA 13.0
  int devices = 0;
  std::string file;       // the library
  std::string missing;    // why there is no driver or no device; empty if there is
};

/// Looked for once. RICCI_LIBCUDA names another file.
const driver& find_driver();

/// The driver. Errors: no_gpu, with the reason.
const driver& need_driver();

/// Throws ricci::error if CUDA returned anything but success: no_memory, else gpu_failed. `doing` is for people.
void check(cu_result r, const std::string& doing);

/// The same, `doing` a function: nothing is put together where all goes well.
template <class Doing>
  requires requires(const Doing& doing) { doing(); }
void check(cu_result r, const Doing& doing) {
  if (r != 0) check(r, std::string(doing()));
}

/// A library opened by the first of these names that can be; null if none.
void* open_library(const char* variable, const char* const* names, std::string& file, std::string& reason);

}  // namespace ricci::cuda
