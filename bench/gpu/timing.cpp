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

namespace {

/// Every thread moves `words` times 16 bytes.
constexpr const char* runs_text = R"(
#include "element.cuh"
struct runs_args { uint4* x; const uint4* y; const uint4* z; i64 count; };
__device__ inline uint4 plus(uint4 a, uint4 b) { return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
extern "C" __global__ void __launch_bounds__(256) runs(const __grid_constant__ runs_args s) {
  uint4 v[words];
  i64 at[words];
#pragma unroll
  for (int r = 0; r < words; ++r) {
    const i64 n = static_cast<i64>(blockIdx.x) * (256 * words) + r * 256 + threadIdx.x;
    at[r] = n < s.count ? n / run * pitch + n % run : -1;
  }
#pragma unroll
  for (int r = 0; r < words; ++r) if (at[r] >= 0) v[r] = s.y[at[r]];
#pragma unroll
  for (int r = 0; r < words; ++r) if (at[r] >= 0) v[r] = plus(v[r], s.z[at[r]]);
#pragma unroll
  for (int r = 0; r < words; ++r) if (at[r] >= 0) v[r] = plus(v[r], s.x[at[r]]);
#pragma unroll
  for (int r = 0; r < words; ++r) if (at[r] >= 0) s.x[at[r]] = v[r];
}
)";

constexpr const char* update_text = R"(
#include "element.cuh"
struct update_args { double* x; i64 blocks; };
extern "C" __global__ void __launch_bounds__(256) update(const __grid_constant__ update_args s) {
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
    double v[16];
    double* at[16];
#pragma unroll
    for (int r = 0; r < 16; ++r) {
      const i64 n = ((static_cast<i64>(blockIdx.x) * turns + turn) * 16 + r) * 256 + threadIdx.x;
      at[r] = s.x + n / 64 * 72 + 8 + n % 64;
      if (threadIdx.x % 8 != 0) v[r] = *at[r];
    }
#pragma unroll
    for (int r = 0; r < 16; ++r) if (threadIdx.x % 8 != 0) *at[r] = v[r] + v[r];
    __syncthreads();
  }
}
)";

struct update_args {
  char* x;
  std::int64_t blocks;
};

struct runs_args {
  char *x, *y, *z;
  std::int64_t count;
};

}  // namespace

double runs_bandwidth(std::int64_t run, std::int64_t pitch) {
  const cuda::device& d = cuda::current_device();
  const cuda::use_device use(d);
  const std::int64_t bytes = std::int64_t{4} << 30;
  const cuda::buffer x(bytes), y(bytes), z(bytes);
  runs_args args{x.data(), y.data(), z.data(), bytes / pitch * run / 16};
  double best = 0;
  for (const int words : {1, 2, 4, 8}) {
    const std::string constants = "constexpr int words = " + std::to_string(words) + ", run = " + std::to_string(run / 16) + ", pitch = " + std::to_string(pitch / 16) + ";\n";
    const cuda::kernel k = cuda::load_kernel(d, {constants + runs_text, "runs", 256, 0});
    const auto blocks = static_cast<unsigned>((args.count + 256 * words - 1) / (256 * words));
    const double seconds = cuda::median_seconds(7, [&](int) {
      void* list[] = {&args};
      cuda::check(cuda::need_driver().launch(k.function, blocks, 1, 1, 256, 1, 1, 0, nullptr, list, nullptr), "measuring bandwidth");
    });
    best = std::max(best, 4e-9 * 16 * static_cast<double>(args.count) / seconds);
  }
  return best;
}

double update_bandwidth(int turns) {
  const cuda::device& d = cuda::current_device();
  const cuda::use_device use(d);
  const std::int64_t piece = 64 * 72 * 8, pieces = (std::int64_t{4} << 30) / (piece * turns) * turns;  // 32 KiB of them are counted
  const cuda::buffer x(pieces * piece);
  const cuda::kernel k = cuda::load_kernel(d, {"constexpr int turns = " + std::to_string(turns) + ";\n" + update_text, "update", 256, 0});
  update_args args{x.data(), pieces / turns};
  const double seconds = cuda::median_seconds(7, [&](int) {
    void* list[] = {&args};
    cuda::check(cuda::need_driver().launch(k.function, static_cast<unsigned>(args.blocks), 1, 1, 256, 1, 1, 0, nullptr, list, nullptr), "measuring bandwidth");
  });
  return 2e-9 * 64 * 64 * 8 * static_cast<double>(pieces) / seconds;
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
