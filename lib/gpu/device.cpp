// Devices, contexts, memory.
#include "gpu/device.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include <ricci/core/error.hpp>

#include "gpu/blas.hpp"
#include "gpu/compiler.hpp"
#include "gpu/tuned.hpp"

namespace ricci::cuda {
namespace {

// CUdevice_attribute
enum : int {
  max_shared_per_multiprocessor = 81,
  max_shared_per_block_optin = 97,
  multiprocessor_count = 16,
  capability_major = 75,
  capability_minor = 76,
  registers_per_multiprocessor = 82,
  threads_per_multiprocessor = 39,
  l2_cache_size = 38,
  memory_clock = 36,
  bus_width = 37,
  clock_rate = 13,
};

int attribute(const driver& d, int which, cu_device device) {
  int value = 0;
  check(d.device_attribute(&value, which, device), "asking for the GPU's attributes");
  return value;
}

gpu_machine describe(const driver& d, cu_device which) {
  gpu_machine m;
  char name[256] = {};
  check(d.device_name(name, sizeof name - 1, which), "asking for the GPU's name");
  m.name = name;
  m.architecture = 10 * attribute(d, capability_major, which) + attribute(d, capability_minor, which);
  m.multiprocessors = attribute(d, multiprocessor_count, which);
  m.shared_bytes = attribute(d, max_shared_per_multiprocessor, which);
  m.shared_most = attribute(d, max_shared_per_block_optin, which);
  m.registers = attribute(d, registers_per_multiprocessor, which);
  m.threads = attribute(d, threads_per_multiprocessor, which);
  m.l2_bytes = attribute(d, l2_cache_size, which);
  m.warpgroups = has_warpgroups(m.architecture);
  if (m.name == described_h200().name) return m;
  // Not measured: nine tenths of the bandwidth on paper, and multiply-adds by the number of units.
  m.bandwidth = 0.9 * 2e-6 * attribute(d, memory_clock, which) * attribute(d, bus_width, which) / 8;
  const double hertz = 1e-6 * attribute(d, clock_rate, which) * m.multiprocessors;
  const bool server = m.architecture == 80 || m.architecture == 90 || m.architecture == 100;
  m.peak_f32 = hertz * (m.architecture == 80 ? 128 : 256);
  m.peak_f64 = hertz * (m.architecture == 80 ? 64 : server ? 128 : 4);
  m.tensor_f64 = server ? 2 * m.peak_f64 : m.peak_f64;
  m.tensor_16 = hertz * (server ? 4096 : 1024);
  return m;
}

std::unique_ptr<device> open_device(int ordinal) {
  const driver& d = need_driver();
  auto made = std::make_unique<device>();
  made->ordinal = ordinal;
  cu_device which = 0;
  check(d.device_get(&which, ordinal), "opening GPU " + std::to_string(ordinal));
  made->machine = describe(d, which);
  made->machine.blas = blas_use_wanted();
  made->machine.tuned = load_tuned(made->machine, made->complaint);
  if (made->machine.architecture < 80)
    throw error(errc::no_gpu, "the GPU " + made->machine.name + " has compute capability " +
                                  std::to_string(made->machine.architecture / 10) + "." +
                                  std::to_string(made->machine.architecture % 10) + "; ricci needs 8.0 or newer");
  check(d.primary_retain(&made->context, which), "making a context on " + made->machine.name);
  const use_device use(*made);
  std::size_t free = 0, all = 0;
  check(d.memory_info(&free, &all), "asking for the memory of " + made->machine.name);
  made->machine.memory_bytes = static_cast<std::int64_t>(all);
  cu_pool_props props;
  props.location_id = which;
  check(d.pool_create(&made->pool, &props), "making a memory pool");
  constexpr int release_threshold = 4;
  unsigned long long keep = std::numeric_limits<unsigned long long>::max();
  check(d.pool_set(made->pool, release_threshold, &keep), "setting up a memory pool");
  return made;
}

}  // namespace

const gpu_machine& described_h200() {
  static const gpu_machine& m = *new gpu_machine;
  return m;
}

device& device_of(int ordinal) {
  // Never destroyed, as all of this folder's memory is: destructors of static objects may give tensors back.
  static std::mutex& lock = *new std::mutex;
  static std::vector<std::unique_ptr<device>>& devices = *new std::vector<std::unique_ptr<device>>;
  const driver& d = need_driver();
  if (ordinal < 0 || ordinal >= d.devices) throw error(errc::no_gpu, "there is no GPU " + std::to_string(ordinal));
  const std::lock_guard guard(lock);
  if (devices.size() < static_cast<std::size_t>(d.devices)) devices.resize(static_cast<std::size_t>(d.devices));
  auto& slot = devices[static_cast<std::size_t>(ordinal)];
  if (!slot) slot = open_device(ordinal);
  return *slot;
}

device& current_device() {
  const driver& d = need_driver();
  cu_context current = nullptr;
  cu_device which = 0;
  if (d.context_get(&current) == 0 && current && d.context_device(&which) == 0) return device_of(which);
  return device_of(0);
}

use_device::use_device(const device& d) {
  check(need_driver().context_push(d.context), [&] { return "making the context of " + d.machine.name + " current"; });
  pushed_ = true;
}

use_device::~use_device() {
  cu_context popped = nullptr;
  if (pushed_) find_driver().context_pop(&popped);
}

int owner_of(const void* pointer) {
  constexpr int memory_type = 2, device_ordinal = 9, is_managed = 8, host = 1;
  const driver& d = need_driver();
  const auto address = reinterpret_cast<cu_pointer>(pointer);
  unsigned type = 0, managed = 0;
  int ordinal = -1;
  if (d.pointer_attribute(&type, memory_type, address) != 0) return -1;
  if (type == host && (d.pointer_attribute(&managed, is_managed, address) != 0 || !managed)) return -1;
  if (d.pointer_attribute(&ordinal, device_ordinal, address) != 0) return -1;
  return ordinal;
}

void* allocate(std::int64_t bytes) {
  device& here = current_device();
  const driver& d = need_driver();
  const use_device use(here);
  // Whole 16-byte words, so that the last one may be read and written at once.
  const auto wanted = (static_cast<std::size_t>(bytes) + 255) / 256 * 256 + (bytes == 0 ? 256 : 0);
  cu_pointer memory = 0;
  check(d.memory_allocate(&memory, wanted), "allocating a tensor of " + std::to_string(bytes) + " bytes on " + here.machine.name);
  cu_result r = d.set_bytes(memory, 0, wanted, nullptr);
  if (r == 0) r = d.stream_synchronize(nullptr);  // another stream may write next
  if (r != 0) {
    d.memory_free(memory);
    check(r, "clearing a tensor");
  }
  return reinterpret_cast<void*>(memory);
}

void release(void* memory) noexcept {
  if (!memory) return;
  try {
    const use_device use(device_of(std::max(0, owner_of(memory))));
    need_driver().memory_free(reinterpret_cast<cu_pointer>(memory));
  } catch (const std::exception&) {
    // The process ends, or the context was lost: there is nothing left to give back.
  }
}

namespace {

cu_pointer on_device(const void* pointer, const char* role) {
  if (owner_of(pointer) < 0)
    throw error(errc::wrong_space, std::string("ricci::copy: the ") + role + " of a gpu tensor is not memory of a GPU");
  return reinterpret_cast<cu_pointer>(pointer);
}

/// Around a copy: the context of the memory's device, which need not be the current one.
template <class F>
void with_memory(const void* pointer, F&& work) {
  const use_device use(device_of(std::max(0, owner_of(pointer))));
  work(need_driver());
}

}  // namespace

void copy_to_device(void* to, const void* from, std::int64_t bytes) {
  if (bytes == 0) return;
  const cu_pointer far = on_device(to, "memory");
  with_memory(to, [&](const driver& d) {
    check(d.copy_to_device(far, from, static_cast<std::size_t>(bytes)), "copying to the GPU");
    check(d.stream_synchronize(nullptr), "copying to the GPU");  // the driver may still have the bytes in a buffer of its own
  });
}

void copy_to_host(void* to, const void* from, std::int64_t bytes) {
  if (bytes == 0) return;
  const cu_pointer far = on_device(from, "memory");
  with_memory(from, [&](const driver& d) { check(d.copy_to_host(to, far, static_cast<std::size_t>(bytes)), "copying from the GPU"); });
}

void copy_on_device(void* to, const void* from, std::int64_t bytes) {
  if (bytes == 0) return;
  const cu_pointer x = on_device(to, "memory"), y = on_device(from, "memory");
  with_memory(to, [&](const driver& d) {
    check(d.copy_on_device(x, y, static_cast<std::size_t>(bytes)), "copying on the GPU");
    check(d.stream_synchronize(nullptr), "copying on the GPU");
  });
}

}  // namespace ricci::cuda
