// ricci info: the GPU's part.
#include "gpu/info.hpp"

#include <ricci/core/error.hpp>

#include "gpu/blas.hpp"
#include "gpu/cache.hpp"
#include "gpu/compiler.hpp"
#include "gpu/tuned.hpp"

namespace ricci::cuda {
namespace {

std::string version_text(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

std::string table_text(int ordinal) {
  try {
    const device& d = device_of(ordinal);
    if (!d.complaint.empty()) return "GPU table   ignored: " + d.complaint + "\n";
    if (d.machine.tuned) return "GPU table   " + std::to_string(d.machine.tuned->entries.size()) + " kernels in " + tuned_file_of(d.machine) + "\n";
  } catch (const error&) {
  }
  return {};
}

std::string device_text(int ordinal) {
  try {
    const gpu_machine& m = device_of(ordinal).machine;
    return m.name + ", compute capability " + std::to_string(m.architecture / 10) + "." + std::to_string(m.architecture % 10) + ", " +
           std::to_string(m.multiprocessors) + " multiprocessors, " + std::to_string(m.l2_bytes >> 20) + " MiB L2, " +
           std::to_string(m.shared_bytes >> 10) + " KiB shared each";
  } catch (const error& e) {
    return std::string("cannot be used: ") + e.what();
  }
}

}  // namespace

std::string describe_gpus() {
  const driver& d = find_driver();
  const compiler_info& c = find_compiler();
  std::string t;
  if (!d.missing.empty()) t += "GPU         none: " + d.missing + "\n";
  else
    for (int g = 0; g < d.devices; ++g) t += "GPU         " + std::to_string(g) + ": " + device_text(g) + "\n" + table_text(g);
  if (d.version > 0) t += "CUDA driver " + version_text(d.version) + ", " + d.file + "\n";
  t += c.missing.empty() ? "NVRTC       " + version_text(c.version) + ", " + c.file + "\n" : "NVRTC       none: " + c.missing + "\n";
  if (d.missing.empty()) {
    const blas_info& b = find_blas();
    t += "cuBLAS      " + (b.missing.empty() ? b.file : "none: " + b.missing) + (blas_use_wanted() == blas_use::never ? " (switched off)" : "") + "\n";
  }
  const std::string folder = kernel_folder();
  return t + "GPU kernels " + (folder.empty() ? "are not kept on disk" : "are kept in " + folder) + "\n";
}

}  // namespace ricci::cuda
