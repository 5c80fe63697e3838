// The kernel cache. A file holds a header with the two hashes of its key and of its contents, then the machine code; it
// is written beside its place and renamed, so that concurrent processes see whole files.
#include "gpu/cache.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <unordered_map>
#include <vector>

#include <ricci/core/error.hpp>

#include "gpu/compiler.hpp"
#include "gpu/kernel_texts.hpp"
#include "machine/files.hpp"

namespace ricci::cuda {
namespace {

namespace fs = std::filesystem;

struct hash128 {
  std::uint64_t low = 0xcbf29ce484222325u, high = 0x9e3779b97f4a7c15u;
  void add(const std::string& s) {
    for (const char c : s) {
      low = (low ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
      high = (high ^ (static_cast<unsigned char>(c) + (low >> 29))) * 0xff51afd7ed558ccdu;
      high ^= high >> 32;
    }
    low ^= s.size(), high += s.size();
  }
  bool operator==(const hash128&) const = default;
};

struct header {
  char magic[8] = {'r', 'i', 'c', 'c', 'i', 'k', '0', '1'};
  hash128 key, contents;
  std::uint64_t size = 0;
};

/// Everything that the machine code depends on.
std::string key_of(const std::string& text, int architecture) {
  std::string key = "sm_" + std::to_string(architecture) + " nvrtc " + std::to_string(find_compiler().version) +
                    " driver " + std::to_string(find_driver().version);
  for (const std::string& o : usual_options()) key += " " + o;
  key += "\n" + text;
  for (int t = 0; t < kernel_text_count; ++t) key += kernel_texts[t];
  return key;
}

hash128 hash_of(const std::string& s) {
  hash128 h;
  h.add(s);
  return h;
}

std::string file_name(const hash128& h) {
  char name[48];
  std::snprintf(name, sizeof name, "%016llx%016llx.cubin", static_cast<unsigned long long>(h.high), static_cast<unsigned long long>(h.low));
  return name;
}

/// The code in a file, or nothing if it is not the file of this key.
std::string read_code(const fs::path& file, const hash128& key) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return {};
  std::ostringstream whole;
  whole << in.rdbuf();
  const std::string bytes = std::move(whole).str();
  header h, wanted;
  if (bytes.size() < sizeof h) return {};
  std::memcpy(&h, bytes.data(), sizeof h);
  std::string code = bytes.substr(sizeof h);
  const bool sound = std::memcmp(h.magic, wanted.magic, sizeof h.magic) == 0 && h.key == key && h.size == code.size() &&
                     h.contents == hash_of(code);
  if (!sound) code.clear();
  return code;
}

/// Removes the oldest files until the rest fits.
void keep_bounded(const fs::path& folder) {
  struct entry {
    fs::file_time_type time;
    std::int64_t size;
    fs::path path;
  };
  std::vector<entry> files;
  std::error_code failure;
  std::int64_t total = 0;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure)) {
    std::error_code gone;
    const auto size = static_cast<std::int64_t>(at->file_size(gone));
    const auto time = at->last_write_time(gone);
    if (gone) continue;
    files.push_back({time, size, at->path()});
    total += size;
  }
  if (total <= most_cached_bytes) return;
  std::sort(files.begin(), files.end(), [](const entry& x, const entry& y) { return x.time < y.time; });
  for (const entry& f : files) {
    if (total <= most_cached_bytes * 3 / 4) break;
    fs::remove(f.path, failure);
    total -= f.size;
  }
}

/// What cannot be written is compiled again next time; nothing is said.
void write_code(const fs::path& folder, const std::string& name, const hash128& key, const std::string& code) {
  static std::atomic<int> count{0};
  header h;
  h.key = key, h.contents = hash_of(code), h.size = code.size();
  try {
    detail::write_whole((folder / name).string(), std::string(reinterpret_cast<const char*>(&h), sizeof h) + code, "a kernel");
  } catch (const error&) {
    return;
  }
  if (count++ % 64 == 0) keep_bounded(folder);
}

enum : int { attribute_local_bytes = 3, attribute_registers = 4, attribute_dynamic_shared = 8 };

/// Loaded code, which is unloaded unless somebody keeps it.
class module_holder {
 public:
  module_holder(const device& d, const std::string& code) : device_(d) {
    const use_device use(d);
    check(need_driver().module_load(&module_, code.data()), "loading a kernel on " + d.machine.name);
  }
  ~module_holder() {
    if (!module_) return;
    try {
      const use_device use(device_);
      find_driver().module_unload(module_);
    } catch (const std::exception&) {
      // The context was lost, and the code with it.
    }
  }
  module_holder(const module_holder&) = delete;
  module_holder& operator=(const module_holder&) = delete;
  cu_module get() const { return module_; }
  void keep() { module_ = nullptr; }

 private:
  const device& device_;
  cu_module module_ = nullptr;
};

kernel find_kernel(const device& d, const kernel_request& r, cu_module module) {
  const driver& cuda = need_driver();
  const use_device use(d);
  kernel k;
  k.shared_bytes = static_cast<unsigned>(r.shared_bytes);
  check(cuda.module_function(&k.function, module, r.name.c_str()), "looking for the kernel " + r.name);
  if (r.shared_bytes > 0)
    check(cuda.function_set(k.function, attribute_dynamic_shared, r.shared_bytes),
          "reserving " + std::to_string(r.shared_bytes) + " bytes of shared memory for the kernel " + r.name);
  check(cuda.function_attribute(&k.registers, attribute_registers, k.function), "asking for a kernel's registers");
  check(cuda.function_attribute(&k.local_bytes, attribute_local_bytes, k.function), "asking for a kernel's local memory");
  check(cuda.occupancy(&k.blocks, k.function, r.threads, static_cast<std::size_t>(r.shared_bytes)), "asking for a kernel's occupancy");
  if (k.blocks < 1) throw error(errc::gpu_failed, "the kernel " + r.name + " does not fit on " + d.machine.name);
  return k;
}

}  // namespace

std::string kernel_folder() {
  const fs::path folder = detail::cache_folder();
  return folder.empty() ? std::string() : (folder / "kernels").string();
}

std::string machine_code(const std::string& text, int architecture) {
  const std::string folder = kernel_folder();
  if (folder.empty()) return compile_text(text, architecture, usual_options());
  const hash128 key = hash_of(key_of(text, architecture));
  const std::string name = file_name(key);
  std::string code = read_code(fs::path(folder) / name, key);
  if (!code.empty()) return code;
  code = compile_text(text, architecture, usual_options());
  write_code(folder, name, key, code);
  return code;
}

kernel load_kernel(const device& d, const kernel_request& r) {
  // Kernels stay loaded as long as the process lives, however many they are: whoever has one may launch it at any time.
  static std::mutex& lock = *new std::mutex;
  static std::unordered_map<std::string, kernel>& known = *new std::unordered_map<std::string, kernel>;
  const std::string key = std::to_string(d.ordinal) + " " + std::to_string(r.threads) + " " + std::to_string(r.shared_bytes) + " " + r.name + " " + r.text;
  {
    const std::lock_guard guard(lock);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  module_holder loaded(d, machine_code(r.text, d.machine.architecture));
  const kernel made = find_kernel(d, r, loaded.get());
  const std::lock_guard guard(lock);
  const auto [at, is_first] = known.try_emplace(key, made);
  if (is_first) loaded.keep();
  return at->second;
}

}  // namespace ricci::cuda
