// Times work on the GPU and fills its memory.
#include "timing.hpp"

#include <algorithm>

#include "gpu/measure.hpp"

namespace bench {

using namespace ricci;

std::string gpu_name() { return cuda::current_device().machine.name; }

double triad_bandwidth() {
  const cuda::use_device use(cuda::current_device());
  const cuda::buffer x(1 << 30), y(1 << 30), z(1 << 30);
  y.randomise(dtype::f64, 1), z.randomise(dtype::f64, 2);
  return cuda::measure_bandwidth(x, y, z).triad;
}

double median_seconds(const std::function<void()>& work) {
  const cuda::use_device use(cuda::current_device());
  return cuda::median_seconds(9, [&](int) { work(); });
}

void fill(double* at, std::int64_t count, unsigned seed) {
  const cuda::use_device use(cuda::current_device());
  const std::int64_t bytes = count * 8;
  const cuda::buffer pattern(std::min<std::int64_t>(bytes, 64 << 20));
  pattern.randomise(dtype::f64, seed);
  for (std::int64_t done = 0; done < bytes; done += pattern.bytes())
    cuda::check(cuda::need_driver().copy_on_device(reinterpret_cast<cuda::cu_pointer>(at) + static_cast<cuda::cu_pointer>(done), reinterpret_cast<cuda::cu_pointer>(pattern.data()),
                                                   static_cast<std::size_t>(std::min(pattern.bytes(), bytes - done))), "filling a tensor");
}

}  // namespace bench
