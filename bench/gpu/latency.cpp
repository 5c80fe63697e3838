// What a run of a small batch on the GPU costs beside the launch of an empty kernel, and what a new shape costs.
//   bench_gpu_latency [FILE.json]
// Run it twice with the same RICCI_CACHE: the first time kernels are compiled, the second time they come from the disk.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <ricci/core/error.hpp>
#include <ricci/engine/engine.hpp>
#include <ricci/engine/gemm.hpp>

#include "gpu/cache.hpp"
#include "gpu/measure.hpp"
#include "tools/bench/gemm_program.hpp"

namespace {

using namespace ricci;
using nlohmann::json;

struct shape {
  dtype type;
  std::int64_t m, n, k, batch;
};

program program_of(const shape& s) { return tools::gemm_program(s.type, s.batch, s.m, s.n, s.k, false); }

/// c(d,c,b,a) = a(b,f,a,e) b(c,e,d,f), 72 each: two tensors are transposed before the product.
program transposed_program() {
  program p;
  const std::int64_t n = 72;
  for (const char* l : {"a", "b", "c", "d", "e", "f"}) p.labels.push_back({l, n});
  const auto tensor_of = [&](int slot, const char* name, const char* labels) {
    reference r;
    r.slot = slot, r.name = name, r.space = memory_space::gpu;
    for (int d = 0; d < 4; ++d) r.axes.push_back({labels[d] - 'a', d == 0 ? n * n * n : d == 1 ? n * n : d == 2 ? n : 1});
    return r;
  };
  p.slot_count = 3;
  p.statements = {{tensor_of(0, "C", "dcba"), update::assign, {{-1, false, {tensor_of(1, "A", "bfae"), tensor_of(2, "B", "cedf")}}}}};
  return p;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void wait() { cuda::check(cuda::need_driver().context_synchronize(), "waiting"); }

/// Seconds of one call on the host, many in a row, while the GPU keeps up.
template <class Work>
double host_seconds(const Work& work) {
  double best = 1;
  for (int round = 0; round < 20; ++round) {
    wait();
    const double start = now();
    for (int i = 0; i < 50; ++i) work();
    best = std::min(best, (now() - start) / 50);
  }
  wait();
  return best;
}

json small_batches() {
  cuda::buffer x(1 << 22), a(1 << 22), b(1 << 22);
  a.randomise(dtype::f64, 1), b.randomise(dtype::f64, 2);
  constexpr int many = 200;
  const double empty = cuda::empty_launch_seconds(), empty_burst = cuda::empty_launch_seconds(many);
  std::printf("an empty kernel: %.2f us alone, %.2f us in a row\n", empty * 1e6, empty_burst * 1e6);
  json rows = json::array();
  for (const std::int64_t batch : {1, 10, 100, 1000}) {
    const auto plan = compile(program_of({dtype::f64, 8, 8, 8, batch}));
    void* const pointers[] = {x.data(), a.data(), b.data()};
    const auto once = [&] { run(*plan, {pointers, nullptr}, nullptr); };
    gemm_problem p;
    p.m = p.n = p.k = 8, p.batch = batch, p.a_row = p.b_row = p.c_row = 8, p.a_step = p.b_step = p.c_step = 64;
    const auto direct = [&] { run_gemm_gpu(p, a.data(), b.data(), x.data()); };
    const double alone = cuda::median_seconds(201, [&](int) { once(); });
    const double burst = cuda::median_seconds(21, [&](int) { for (int i = 0; i < many; ++i) once(); }) / many;
    const double host = host_seconds(once), host_direct = host_seconds(direct);
    const double burst_direct = cuda::median_seconds(21, [&](int) { for (int i = 0; i < many; ++i) direct(); }) / many;
    std::printf("%4d problems: %.2f us alone (%.2f times the empty kernel), %.2f us in a row (%.2f times); host %.2f us; run_gemm_gpu %.2f us in a row, host %.2f us\n",
                static_cast<int>(batch), alone * 1e6, alone / empty, burst * 1e6, burst / empty_burst, host * 1e6, burst_direct * 1e6, host_direct * 1e6);
    rows.push_back({{"batch", batch}, {"alone_us", alone * 1e6}, {"in_a_row_us", burst * 1e6}, {"host_us", host * 1e6}, {"gemm_in_a_row_us", burst_direct * 1e6},
                    {"gemm_host_us", host_direct * 1e6}, {"empty_us", empty * 1e6}, {"empty_in_a_row_us", empty_burst * 1e6}});
  }
  return rows;
}

/// The library is not there yet when this begins.
json first_contraction() {
  const std::int64_t bytes = 72 * 72 * 72 * 72 * 8;
  cuda::buffer x(bytes), a(bytes), b(bytes);
  const double start = now();
  const auto plan = compile(transposed_program());
  const double planned = now();
  void* const pointers[] = {x.data(), a.data(), b.data()};
  run(*plan, {pointers, nullptr}, nullptr);
  wait();
  const double done = now();
  std::printf("a contraction by transpositions and cuBLAS: compile() %.1f ms, first run %.1f ms\n", (planned - start) * 1e3, (done - planned) * 1e3);
  return {{"compile_ms", (planned - start) * 1e3}, {"run_ms", (done - planned) * 1e3}};
}

json new_shapes() {
  cuda::buffer x(64 << 20), a(64 << 20), b(64 << 20);
  json rows = json::array();
  bool first = true;
  for (const shape& s : std::vector<shape>{{dtype::f64, 3, 3, 3, 1000}, {dtype::f64, 5, 7, 6, 1000}, {dtype::f64, 13, 13, 13, 1000}, {dtype::f32, 29, 29, 29, 1000},
                                           {dtype::f16, 24, 40, 16, 1000}, {dtype::c64, 9, 9, 9, 1000}, {dtype::c128, 20, 20, 20, 500}, {dtype::f64, 50, 50, 50, 300},
                                           {dtype::f16, 120, 120, 120, 10}, {dtype::f64, 120, 120, 120, 10}, {dtype::f64, 121, 121, 121, 10}}) {
    const double start = now();
    const auto plan = compile(program_of(s));
    const double planned = now();
    void* const pointers[] = {x.data(), a.data(), b.data()};
    run(*plan, {pointers, nullptr}, nullptr);
    wait();
    const double done = now();
    std::printf("%s %dx%dx%d: compile() %.1f ms, first run %.1f ms%s\n", name_of(s.type), static_cast<int>(s.m), static_cast<int>(s.n), static_cast<int>(s.k),
                (planned - start) * 1e3, (done - planned) * 1e3, first ? " (the first of the process)" : "");
    rows.push_back({{"dtype", name_of(s.type)}, {"m", s.m}, {"n", s.n}, {"k", s.k}, {"compile_ms", (planned - start) * 1e3}, {"run_ms", (done - planned) * 1e3}});
    first = false;
  }
  return rows;
}

}  // namespace

int main(int count, char** words) {
  try {
    const double start = now();
    const cuda::use_device use(cuda::current_device());
    std::printf("the GPU was ready after %.1f ms\n", (now() - start) * 1e3);
    const json contraction = first_contraction(), shapes = new_shapes(), batches = small_batches();
    if (count > 1) std::ofstream(words[1]) << json{{"gpu", cuda::current_device().machine.name}, {"small_batches", batches}, {"new_shapes", shapes}, {"first_contraction", contraction}}.dump(1) << '\n';
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
