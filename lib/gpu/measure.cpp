// Timing on the GPU.
#include "gpu/measure.hpp"

#include <algorithm>
#include <random>
#include <string>

#include <ricci/core/error.hpp>

namespace ricci::cuda {
namespace {

/// x = y + z or x = y in 16-byte words; every thread moves `words` at a time.
constexpr const char* stream_text = R"(
#include "element.cuh"
struct stream_args { uint4* x; const uint4* y; const uint4* z; i64 count; };
__device__ inline uint4 plus(uint4 a, uint4 b) { return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
template <bool Triad> __device__ inline void stream(const stream_args& s) {
  const i64 base = static_cast<i64>(blockIdx.x) * (256 * words) + threadIdx.x;
  uint4 v[words];
#pragma unroll
  for (int r = 0; r < words; ++r) if (base + r * 256 < s.count) v[r] = s.y[base + r * 256];
  if constexpr (Triad) {
#pragma unroll
    for (int r = 0; r < words; ++r) if (base + r * 256 < s.count) v[r] = plus(v[r], s.z[base + r * 256]);
  }
#pragma unroll
  for (int r = 0; r < words; ++r) if (base + r * 256 < s.count) s.x[base + r * 256] = v[r];
}
extern "C" __global__ void __launch_bounds__(256) triad(const __grid_constant__ stream_args s) { stream<true>(s); }
extern "C" __global__ void __launch_bounds__(256) copy(const __grid_constant__ stream_args s) { stream<false>(s); }
extern "C" __global__ void nothing(const __grid_constant__ stream_args s) {}
)";

struct stream_args {
  char *x, *y, *z;
  std::int64_t count;
};

std::string stream_text_of(int words) { return "constexpr int words = " + std::to_string(words) + ";\n" + stream_text; }

void launch_stream(const kernel& k, stream_args args, int words) {
  void* list[] = {&args};
  const auto blocks = static_cast<unsigned>((args.count + 256 * words - 1) / (256 * words));
  check(need_driver().launch(k.function, std::max(1u, blocks), 1, 1, 256, 1, 1, 0, nullptr, list, nullptr), "measuring bandwidth");
}

struct event {
  cu_event handle = nullptr;
  event() { check(need_driver().event_create(&handle, 0), "making an event"); }
  ~event() { need_driver().event_destroy(handle); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
};

}  // namespace

buffer::buffer(std::int64_t bytes) : data_(static_cast<char*>(allocate(bytes))), bytes_(bytes) {}
buffer::~buffer() { release(data_); }

void buffer::randomise(dtype t, unsigned seed) const {
  const auto size = static_cast<std::int64_t>(size_of(t));
  const std::int64_t piece = std::min<std::int64_t>(bytes_, 64 << 20) / size * size;
  std::vector<char> host(static_cast<std::size_t>(piece));
  std::minstd_rand random(seed);
  const auto next = [&] { return static_cast<double>(random()) / 1073741824.0 - 1; };
  const auto put = [&]<class T>(T) {
    for (std::int64_t e = 0; e < piece / static_cast<std::int64_t>(sizeof(T)); ++e) reinterpret_cast<T*>(host.data())[e] = T(static_cast<float>(next()));
  };
  if (t == dtype::f64 || t == dtype::c128) put(double{});
  else if (t == dtype::f16) put(half(0.0f));
  else if (t == dtype::bf16) put(bfloat16(0.0f));
  else put(float{});
  for (std::int64_t at = 0; at < bytes_; at += piece) copy_to_device(data_ + at, host.data(), std::min(piece, bytes_ - at));
}

double median_seconds(int count, const std::function<void(int)>& work) {
  const driver& d = need_driver();
  event first, last;
  std::vector<double> times;
  for (int i = -2; i < count; ++i) {
    check(d.event_record(first.handle, nullptr), "recording an event");
    work(i + 2);
    check(d.event_record(last.handle, nullptr), "recording an event");
    check(d.event_synchronize(last.handle), "waiting for a kernel");
    float milliseconds = 0;
    check(d.event_elapsed(&milliseconds, first.handle, last.handle), "reading an event");
    if (i >= 0) times.push_back(milliseconds * 1e-3);
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

bandwidths measure_bandwidth(const buffer& x, const buffer& y, const buffer& z) {
  const device& d = current_device();
  const use_device use(d);
  const std::int64_t bytes = std::min({x.bytes(), y.bytes(), z.bytes()}) / 16 * 16;
  const stream_args args{x.data(), y.data(), z.data(), bytes / 16};
  bandwidths b;
  const auto amount = static_cast<double>(bytes);
  for (const int words : {1, 2, 4, 8}) {  // the best of these is what memory can give
    const kernel triad = load_kernel(d, {stream_text_of(words), "triad", 256, 0}), copy = load_kernel(d, {stream_text_of(words), "copy", 256, 0});
    b.triad = std::max(b.triad, 3e-9 * amount / median_seconds(7, [&](int) { launch_stream(triad, args, words); }));
    b.copy = std::max(b.copy, 2e-9 * amount / median_seconds(7, [&](int) { launch_stream(copy, args, words); }));
  }
  b.device_copy = 2e-9 * amount / median_seconds(9, [&](int) {
    check(need_driver().copy_async(reinterpret_cast<cu_pointer>(x.data()), reinterpret_cast<cu_pointer>(y.data()), static_cast<std::size_t>(bytes), nullptr), "copying");
  });
  return b;
}

double empty_launch_seconds(int in_a_row) {
  const device& d = current_device();
  const use_device use(d);
  const kernel nothing = load_kernel(d, {stream_text_of(1), "nothing", 256, 0});
  return median_seconds(101, [&](int) {
           for (int i = 0; i < in_a_row; ++i) launch_stream(nothing, {nullptr, nullptr, nullptr, 1}, 1);
         }) / in_a_row;
}

step_shape square_step(dtype t, int n, bool beta, std::int64_t batch) { return product_step(t, n, n, n, beta, batch); }

step_shape product_step(dtype t, std::int64_t m, std::int64_t n, std::int64_t k, bool beta, std::int64_t batch) {
  step_shape s;
  s.a = s.b = s.c = t;
  s.beta = beta;
  s.batch = {{batch, m * k, k * n, m * n}};
  if (m > 1) s.m = {{m, k, 0, n}};
  if (n > 1) s.n = {{n, 0, 1, 1}};
  if (k > 1) s.k = {{k, 1, n, 0}};
  return s;
}

void launch_step(const step_plan& p, const kernel& k, const operands& x, const device& d) {
  packed_args args = pack(p, x, k, d.machine);
  void* list[] = {args.bytes};
  check(need_driver().launch(k.function, args.grid, 1, 1, static_cast<unsigned>(threads_of(p)), 1, 1, k.shared_bytes, nullptr, list, nullptr),
        "launching a kernel");
}

}  // namespace ricci::cuda
