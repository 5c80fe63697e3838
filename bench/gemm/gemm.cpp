// Batches of n x n products through the C functions: types, beta, strided and by pointers, in each cache and in memory.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include <ricci/ricci.h>

namespace {

struct where {
  const char* name;
  std::int64_t bytes;  // of A, B and C together
};
constexpr where places[] = {{"L1", 16 << 10}, {"L2", 256 << 10}, {"memory", 384 << 20}};

int multiply(std::int64_t n, const double* a, const double* b, double beta, double* c, std::int64_t count) {
  return ricci_dgemm_batch_strided(RICCI_ROW_MAJOR, RICCI_NO_TRANS, RICCI_NO_TRANS, n, n, n, 1, a, n, n * n, b, n, n * n, beta, c, n, n * n, count);
}
int multiply(std::int64_t n, const float* a, const float* b, float beta, float* c, std::int64_t count) {
  return ricci_sgemm_batch_strided(RICCI_ROW_MAJOR, RICCI_NO_TRANS, RICCI_NO_TRANS, n, n, n, 1, a, n, n * n, b, n, n * n, beta, c, n, n * n, count);
}
int multiply(std::int64_t n, const double* const* a, const double* const* b, double beta, double* const* c, std::int64_t count) {
  return ricci_dgemm_batch(RICCI_ROW_MAJOR, RICCI_NO_TRANS, RICCI_NO_TRANS, n, n, n, 1, a, n, b, n, beta, c, n, count);
}
int multiply(std::int64_t n, const float* const* a, const float* const* b, float beta, float* const* c, std::int64_t count) {
  return ricci_sgemm_batch(RICCI_ROW_MAJOR, RICCI_NO_TRANS, RICCI_NO_TRANS, n, n, n, 1, a, n, b, n, beta, c, n, count);
}

template <class T>
void gemm(benchmark::State& state, std::int64_t n, std::int64_t bytes, int beta, bool listed) {
  const auto size = static_cast<std::int64_t>(sizeof(T)), count = std::max<std::int64_t>(1, bytes / (3 * n * n * size));
  const auto all = static_cast<std::size_t>(count * n * n);
  std::vector<T> a(all, T(0.001)), b(all, T(0.001)), c(all, T(0));
  std::vector<const T*> at_a, at_b;
  std::vector<T*> at_c;
  for (std::int64_t e = 0; e < count; ++e) at_a.push_back(&a[e * n * n]), at_b.push_back(&b[e * n * n]), at_c.push_back(&c[e * n * n]);
  for (auto _ : state) {
    const int info = listed ? multiply(n, at_a.data(), at_b.data(), T(beta), at_c.data(), count)
                            : multiply(n, a.data(), b.data(), T(beta), c.data(), count);
    if (info != 0) state.SkipWithError("refused");
  }
  using benchmark::Counter;
  state.counters["FLOP/s"] = Counter(2.0 * double(n) * double(n) * double(n) * double(count), Counter::kIsIterationInvariantRate);
  state.counters["B/s"] = Counter(double(3 + beta) * double(all) * double(size), Counter::kIsIterationInvariantRate);
}

template <class T>
void add(const char* type) {
  for (const where& w : places)
    for (const int beta : {0, 1})
      for (const bool listed : {false, true})
        for (const std::int64_t n : {2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 17, 20, 24, 28, 31, 32}) {
          const std::string name = std::string("gemm/") + type + "/" + w.name + "/beta:" + std::to_string(beta) +
                                   (listed ? "/pointers" : "/strided") + "/n:" + std::to_string(n);
          benchmark::RegisterBenchmark(name.c_str(), gemm<T>, n, w.bytes, beta, listed);
        }
}

}  // namespace

int main(int argc, char** argv) {
  add<double>("f64");
  add<float>("f32");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
