// ricci bench gemm --backend cuda: ricci beside cuBLAS, in one process, timed by events.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include <nlohmann/json.hpp>
#include <ricci/core/error.hpp>
#include <ricci/engine/engine.hpp>
#include <ricci/engine/gemm.hpp>

#include "gpu/measure.hpp"
#include "tools/bench/bench.hpp"
#include "tools/interrupt.hpp"
#include "tools/bench/gemm_program.hpp"

namespace ricci::tools {
namespace {

using nlohmann::json;
using cuda::buffer;

constexpr std::int64_t operand_bytes = std::int64_t{1} << 30;
constexpr std::int64_t most_for_peer = 4 << 20;  // problems; the vendor's library takes a quarter of a second for more

/// cuBLAS, if it can be found.
class cublas {
 public:
  cublas() : library_(library::open({"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so",
                                     "/usr/local/cuda/lib64/libcublas.so"})) {
    if (const char* own = std::getenv("RICCI_LIBCUBLAS")) library_ = library::open({own});
    if (!library_) return;
    const auto create = library_.find<int(void**)>("cublasCreate_v2");
    const auto version = library_.find<int(void*, int*)>("cublasGetVersion_v2");
    if (!create || create(&handle_) != 0) handle_ = nullptr;
    if (handle_ && version) version(handle_, &version_);
  }
  bool found() const { return handle_ != nullptr; }
  int version() const { return version_; }

  /// Row-major c = a b + beta c as column-major c^T = b^T a^T. Types by their CUDA numbers; sums in float at least.
  bool strided(const gemm_case& c, const buffer& x, const buffer& a, const buffer& b, int count) const {
    using function = int(void*, int, int, int, int, int, const void*, const void*, int, int, long long, const void*, int, int,
                         long long, const void*, void*, int, int, long long, int, int, int);
    static function* const call = library_.find<function>("cublasGemmStridedBatchedEx");
    const int m = static_cast<int>(c.size.m), n = static_cast<int>(c.size.n), k = static_cast<int>(c.size.k), t = type_of(c.type);
    const scalars s(c);
    return call && call(handle_, 0, 0, n, m, k, s.one, b.data(), t, n, c.size.k * c.size.n, a.data(), t, k, c.size.m * c.size.k, s.beta,
                        x.data(), t, n, c.size.m * c.size.n, count, compute_of_type(c.type), -1) == 0;
  }

  bool pointers(const gemm_case& c, char* x, char* a, char* b, int count) const {
    using function = int(void*, int, int, int, int, int, const void*, const void* const*, int, int, const void* const*, int, int,
                         const void*, void* const*, int, int, int, int, int);
    static function* const call = library_.find<function>("cublasGemmBatchedEx");
    const int m = static_cast<int>(c.size.m), n = static_cast<int>(c.size.n), k = static_cast<int>(c.size.k), t = type_of(c.type);
    const scalars s(c);
    return call && call(handle_, 0, 0, n, m, k, s.one, reinterpret_cast<const void* const*>(b), t, n, reinterpret_cast<const void* const*>(a),
                        t, k, s.beta, reinterpret_cast<void* const*>(x), t, n, count, compute_of_type(c.type), -1) == 0;
  }

 private:
  /// One and beta in the compute type.
  struct scalars {
    alignas(16) char one[16] = {}, beta[16] = {};
    explicit scalars(const gemm_case& c) {
      const auto put = [&]<class T>(T) {
        const T x[2] = {T(1), T(c.beta)};
        std::memcpy(one, &x[0], sizeof(T)), std::memcpy(beta, &x[1], sizeof(T));
      };
      if (c.type == dtype::f64 || c.type == dtype::c128) put(double{});
      else put(float{});
    }
  };
  static int type_of(dtype t) {
    constexpr int numbers[] = {0, 1, 4, 5, 2, 14};  // CUDA_R_32F, R_64F, C_32F, C_64F, R_16F, R_16BF
    return numbers[static_cast<int>(t)];
  }
  static int compute_of_type(dtype t) { return t == dtype::f64 || t == dtype::c128 ? 70 : 68; }  // CUBLAS_COMPUTE_64F, _32F

  library library_;
  void* handle_ = nullptr;
  int version_ = 0;
};

/// An array of pointers to the matrices of a batch, on the GPU.
buffer pointers_to(const buffer& x, std::int64_t step, std::int64_t count) {
  std::vector<char*> host(static_cast<std::size_t>(count));
  for (std::int64_t e = 0; e < count; ++e) host[static_cast<std::size_t>(e)] = x.data() + e * step;
  buffer out(count * 8);
  cuda::copy_to_device(out.data(), host.data(), count * 8);
  return out;
}

struct row {
  gemm_case problem;
  double ours = 0, each = 0, strided = 0, pointers = 0;  // seconds of one problem; 0: not measured
};

double rate(const gemm_case& c, double seconds) { return seconds > 0 ? c.flops() / seconds * 1e-9 : 0; }

row measure_case(const bench_request& r, const gemm_case& c, const buffer& x, const buffer& a, const buffer& b, const cublas& peer) {
  row out{c};
  const auto count = static_cast<double>(c.batch);
  const auto plan = compile(gemm_program(c.type, c.batch, c.size.m, c.size.n, c.size.k, c.beta != 0));
  void* const pointers[] = {x.data(), a.data(), b.data()};
  out.ours = cuda::median_seconds(r.rounds, [&](int) { run(*plan, {pointers, nullptr}, nullptr); }) / count;
  const std::int64_t few = std::min(c.batch, most_for_peer);
  const auto size = static_cast<std::int64_t>(size_of(c.type));
  const buffer px = pointers_to(x, c.size.m * c.size.n * size, few), pa = pointers_to(a, c.size.m * c.size.k * size, few),
               pb = pointers_to(b, c.size.k * c.size.n * size, few);
  gemm_problem p;
  p.type = c.type, p.m = c.size.m, p.n = c.size.n, p.k = c.size.k, p.batch = few, p.beta = c.beta;
  p.a_row = p.k, p.b_row = p.n, p.c_row = p.n;
  if (std::max({p.m, p.n, p.k}) <= 64)
    out.each = cuda::median_seconds(3, [&](int) {
                 run_gemm_each_gpu(p, reinterpret_cast<const void* const*>(pa.data()), reinterpret_cast<const void* const*>(pb.data()),
                                   reinterpret_cast<void* const*>(px.data()));
               }) / static_cast<double>(few);
  if (!r.peers || !peer.found()) return out;
  const cuda::use_device use(cuda::current_device());
  const int many = static_cast<int>(few);
  if (peer.strided(c, x, a, b, many))
    out.strided = cuda::median_seconds(3, [&](int) { peer.strided(c, x, a, b, many); }) / many;
  if (peer.pointers(c, px.data(), pa.data(), pb.data(), many))
    out.pointers = cuda::median_seconds(3, [&](int) { peer.pointers(c, px.data(), pa.data(), pb.data(), many); }) / many;
  return out;
}

json to_json(const row& x, double triad) {
  const gemm_case& c = x.problem;
  const double bytes = c.bytes();
  return {{"dtype", name_of(c.type)}, {"m", c.size.m}, {"n", c.size.n}, {"k", c.size.k}, {"beta", c.beta}, {"batch", c.batch},
          {"gflops", rate(c, x.ours)}, {"fraction_of_triad", bytes / x.ours * 1e-9 / triad}, {"gflops_pointers", rate(c, x.each)},
          {"cublas_strided_gflops", rate(c, x.strided)}, {"cublas_pointers_gflops", rate(c, x.pointers)}};
}

void print(const row& x, double triad) {
  const gemm_case& c = x.problem;
  const double peer = x.strided > 0 && (x.pointers == 0 || x.strided < x.pointers) ? x.strided : x.pointers;
  std::cout << fmt::format("{:5} {:>4} {:>4} {:>4} {:4} {:>10} {:10.0f} {:7.1f} % {:10.0f} {:12.0f} {:12.0f} {:8.2f}", name_of(c.type), c.size.m,
                           c.size.n, c.size.k, c.beta, c.batch, rate(c, x.ours), 100 * c.bytes() / x.ours * 1e-9 / triad, rate(c, x.each),
                           rate(c, x.strided), rate(c, x.pointers), peer > 0 ? peer / x.ours : 0) << std::endl;
}

}  // namespace

void bench_gemm_cuda(const bench_request& r) {
  cuda::device& d = cuda::current_device();
  const cuda::use_device use(d);
  const cublas peer;
  const buffer x(operand_bytes), a(operand_bytes), b(operand_bytes);
  const cuda::bandwidths limits = cuda::measure_bandwidth(x, a, b);
  const double empty = cuda::empty_launch_seconds();
  std::cout << fmt::format("{}: triad {:.0f} GB/s, copy kernel {:.0f}, device copy {:.0f}; an empty launch {:.2f} us\n", d.machine.name,
                           limits.triad, limits.copy, limits.device_copy, empty * 1e6);
  if (r.peers) std::cout << (peer.found() ? fmt::format("cuBLAS {}\n", peer.version()) : "no cuBLAS found\n");
  std::cout << "GFLOP/s: ricci (and its share of the triad), ricci by pointers, cuBLAS strided and by pointers, ratio to the better\n\n";
  std::cout << fmt::format("{:5} {:>4} {:>4} {:>4} {:4} {:>10} {:>10} {:>9} {:>10} {:>12} {:>12} {:>8}\n", "type", "m", "n", "k", "beta", "batch",
                           "ricci", "triad", "pointers", "cuBLAS", "by pointers", "ratio");
  json rows = json::array();
  double logs = 0;
  int count = 0;
  const interrupt stop;
  for (const dtype t : r.types) {
    a.randomise(t, 1), b.randomise(t, 2), x.randomise(t, 3);
    for (const gemm_size& s : r.sizes)
      for (const int beta : r.betas) {
        if (stop.asked()) break;
        gemm_case c;
        c.type = t, c.size = s, c.beta = beta;
        const std::int64_t largest = std::max({s.m * s.k, s.k * s.n, s.m * s.n}) * static_cast<std::int64_t>(size_of(t));
        c.batch = operand_bytes / largest;
        const row done = measure_case(r, c, x, a, b, peer);
        print(done, limits.triad);
        rows.push_back(to_json(done, limits.triad));
        logs += std::log(c.bytes() / done.ours * 1e-9 / limits.triad), ++count;
      }
  }
  if (count > 0) std::cout << fmt::format("\ngeometric mean of the share of the triad: {:.1f} %\n", 100 * std::exp(logs / count));
  stop.rest();
  if (r.json.empty()) return stop.end();
  write_report(r.json, json{{"command", r.command}, {"gpu", d.machine.name}, {"triad_gbytes", limits.triad}, {"copy_gbytes", limits.copy},
              {"device_copy_gbytes", limits.device_copy}, {"empty_launch_us", empty * 1e6}, {"cublas", peer.version()}, {"rows", rows}}.dump(1));
  stop.end();
}

}  // namespace ricci::tools
