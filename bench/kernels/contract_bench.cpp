// Times the contraction kernels on one core beside the multiply-add peak and Eigen's fixed-size products.
// Usage: bench.kernels.contract [seconds per number [bytes of the working set]]. RICCI_ISA chooses the instruction set.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <Eigen/Core>

#include "kernels/kernels.hpp"
#include "timing.hpp"

namespace {

using namespace ricci::kernels;
using index_t = std::int64_t;

double patience = 0.02;
std::int64_t working_set = 24 * 1024;  // bytes

template <class F> double time_of(F&& f) { return ::time_of(f, patience); }

template <class T> double peak() {
  const peak_fn fn = best().peak[sizeof(T) == 8];
  const index_t rounds = 5000;
  double flops = 0;
  const double t = time_of([&] { flops = fn(rounds); });
  return flops / t * 1e-9;
}

template <class T> contract_fn kernel(lanes l) {
  return best().contract[static_cast<int>(ricci::dtype_of<T>)][static_cast<int>(l)];
}

/// c(b,i,j) = a(b,i,k) b(b,k,j) by Eigen's fixed-size matrices.
template <class T, int N> double eigen_time(const T* a, const T* b, T* c, index_t batch) {
  using matrix = Eigen::Matrix<T, N, N, N == 1 ? Eigen::ColMajor : Eigen::RowMajor>;
  return time_of([&] {
    for (index_t e = 0; e < batch; ++e)
      Eigen::Map<matrix>(c + e * N * N).noalias() =
          Eigen::Map<const matrix>(a + e * N * N) * Eigen::Map<const matrix>(b + e * N * N);
  });
}

template <class T, int N> void square(double top) {
  const index_t n = N, batch = std::max<index_t>(1, working_set / static_cast<index_t>(3 * n * n * sizeof(T)));
  std::vector<T> a(batch * n * n, T(0.5)), b(a), c(a);
  contract_args g;
  g.lane_extent = n;
  g.row = {n, n, 0, n};
  g.k = n, g.k_a = 1, g.k_b = n;
  g.loop_count = 1;
  g.loops[0] = {batch, n * n, n * n, n * n};
  const T one = 1, zero = 0;
  const double t = time_of([&] { kernel<T>(lanes::n)(g, a.data(), b.data(), c.data(), &one, &zero); });
  contract_args h;  // the same with the batch as the unit-stride axis
  h.lane_extent = batch;
  h.row = {n, n * batch, 0, n * batch};
  h.col = {n, 0, batch, batch};
  h.k = n, h.k_a = batch, h.k_b = n * batch;
  const double tb = time_of([&] { kernel<T>(lanes::batch)(h, a.data(), b.data(), c.data(), &one, &zero); });
  contract_args d;  // b transposed: dot products
  d.lane_extent = n;
  d.row = {n, n, 0, n};
  d.col = {n, 0, n, 1};
  d.loop_count = 1;
  d.loops[0] = g.loops[0];
  const double td = time_of([&] { kernel<T>(lanes::k)(d, a.data(), b.data(), c.data(), &one, &zero); });
  contract_args s = g;  // one problem a call
  s.loop_count = 0;
  const double t1 = time_of([&] { kernel<T>(lanes::n)(s, a.data(), b.data(), c.data(), &one, &zero); });
  const double te = eigen_time<T, N>(a.data(), b.data(), c.data(), batch);
  const double flops = 2e-9 * n * n * n * batch;
  std::printf("%4d  n %7.2f ns %6.2f GF %4.0f%%   batch %6.2f GF %4.0f%%   k %6.2f GF   ", N, t / batch * 1e9,
              flops / t, 100 * flops / t / top, flops / tb, 100 * flops / tb / top, flops / td);
  std::printf("Eigen %6.2f GF  x%.2f   one call %5.1f ns\n", flops / te, te / t, t1 * 1e9);
}

template <class T> void squares(const char* name) {
  const double top = peak<T>();
  std::printf("%s, %s, peak %.1f GFLOP/s\n", best().isa, name, top);
#ifdef RICCI_BENCH_PLAIN  // where only compiling is tested, one is enough
  square<T, 8>(top);
#else
  square<T, 2>(top), square<T, 3>(top), square<T, 4>(top), square<T, 5>(top), square<T, 6>(top), square<T, 7>(top);
  square<T, 8>(top), square<T, 9>(top), square<T, 10>(top), square<T, 12>(top), square<T, 13>(top), square<T, 16>(top);
  square<T, 24>(top), square<T, 32>(top);
#endif
}

/// v(e,q,x) = B(q,a) u(e,a,x) with B of q by a shared: sum factorisation.
template <class T> void factor(index_t q, index_t a, index_t lane) {
  const index_t batch = std::max<index_t>(1, working_set / static_cast<index_t>((q + a) * lane * sizeof(T)));
  std::vector<T> shared(q * a, T(0.5)), u(batch * a * lane, T(1)), v(batch * q * lane, T(1));
  contract_args g;
  g.lane_extent = lane;
  g.row = {q, a, 0, lane};
  g.k = a, g.k_a = 1, g.k_b = lane;
  g.loop_count = 1;
  g.loops[0] = {batch, 0, a * lane, q * lane};
  const T one = 1, zero = 0;
  const double top = peak<T>();
  const double t = time_of([&] { kernel<T>(lanes::n)(g, shared.data(), u.data(), v.data(), &one, &zero); });
  const double flops = 2e-9 * q * a * lane * batch;
  std::printf("B %dx%d, %d lanes: %6.2f GF %4.0f%%\n", static_cast<int>(q), static_cast<int>(a),
              static_cast<int>(lane), flops / t, 100 * flops / t / top);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) patience = std::atof(argv[1]);
  if (argc > 2) working_set = std::atoll(argv[2]);
  squares<double>("f64");
  squares<float>("f32");
  for (index_t lane : {16, 20, 25, 32, 64}) factor<double>(5, 4, lane);
  for (index_t lane : {16, 36, 64}) factor<double>(4, 4, lane);
  for (index_t lane : {16, 36, 64}) factor<float>(5, 4, lane);
}
