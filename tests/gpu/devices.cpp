// What happens around kernels, on two GPUs: which of them a statement runs on, whose memory is whose, and loaded code.
// The GPUs are pretended, so that this runs everywhere; see pretended/gpus.cpp.
#include <catch2/catch.hpp>

#include <dlfcn.h>
#include <stdlib.h>

#include <atomic>
#include <complex>
#include <memory>
#include <thread>

#include <ricci/engine/gemm.hpp>
#include <ricci/ricci.hpp>

#include "gpu/cache.hpp"
#include "pretended/gpus.hpp"

using namespace ricci::labels;
using namespace ricci;

extern std::atomic<long> allocations;  // counted in tests/engine/count_new.cpp

namespace {

/// The library that is found for the driver and for NVRTC, before anything looks for them.
struct pretence {
  void* library = dlopen(RICCI_PRETENDED_GPUS, RTLD_NOW | RTLD_LOCAL);
  pretence() {
    for (const char* name : {"RICCI_LIBCUDA", "RICCI_LIBNVRTC", "RICCI_LIBCUBLAS"}) setenv(name, RICCI_PRETENDED_GPUS, 1);
    setenv("RICCI_CACHE", "", 1);
    unsetenv("RICCI_CUBLAS");
  }
  template <class F> F* find(const char* name) const {
    REQUIRE(library);
    return reinterpret_cast<F*>(dlsym(library, name));
  }
  pretended_gpus& state() const { return *find<decltype(pretended_state)>("pretended_state")(); }
  void move(void* memory, int owner) const { find<decltype(pretended_move)>("pretended_move")(memory, owner); }
} const gpus;

/// The launches of some work on each GPU.
struct launches {
  int on[2];
  bool operator==(const launches&) const = default;
};

template <class Work>
launches count(const Work& work) {
  const int before[] = {gpus.state().launches[0], gpus.state().launches[1]};
  work();
  return {{gpus.state().launches[0] - before[0], gpus.state().launches[1] - before[1]}};
}

using matrix = tensor<double, dynamic, dynamic, gpu>;

/// Given back when the program ends, after what main() and its thread had.
std::unique_ptr<matrix> late;
using stack = tensor<double, dynamic, 3, 3, gpu, interleaved<8>>;

void multiply(matrix& C, const matrix& A, const matrix& B) { C(i, j) = A(i, k) * B(k, j); }
void multiply(stack& C, const stack& A, const stack& B) { C(e, i, j) = A(e, i, k) * B(e, k, j); }

template <class Tensor, class... Extents>
void multiply_on(int ordinal, Extents... extents) {
  const cuda::use_device use(cuda::device_of(ordinal));
  Tensor A(extents...), B(extents...), C(extents...);
  multiply(C, A, B);
}

}  // namespace

TEST_CASE("the same statement on one GPU and on the other") {
  for (const int ordinal : {0, 1, 0, 1}) {
    const launches wanted = ordinal == 0 ? launches{{1, 0}} : launches{{0, 1}};
    CHECK(count([&] { multiply_on<matrix>(ordinal, 70, 70); }) == wanted);
    CHECK(count([&] { multiply_on<stack>(ordinal, 64); }) == wanted);
  }
}

TEST_CASE("memory at an address that was another GPU's before") {
  const cuda::use_device zero(cuda::device_of(0));
  matrix A(40, 50), B(50, 60), C(40, 60), D(40, 50);
  CHECK(count([&] { multiply(C, A, B); }) == launches{{1, 0}});
  for (matrix* x : {&A, &B, &C}) gpus.move(x->data(), 1);
  const cuda::use_device one(cuda::device_of(1));
  CHECK(count([&] { multiply(C, A, B); }) == launches{{0, 1}});
  CHECK_THROWS_AS(multiply(C, D, B), error);  // it is on the first one still
  gpus.move(D.data(), 1);
  CHECK(count([&] { multiply(C, D, B); }) == launches{{0, 1}});
}

TEST_CASE("a product that is only scaled reads no factors") {
  const cuda::use_device use(cuda::device_of(0));
  matrix C(40, 40);
  gemm_problem p;
  p.m = p.n = p.k = 40, p.a_row = p.b_row = p.c_row = 40, p.beta = 2;
  CHECK_THROWS_AS(run_gemm_gpu(p, nullptr, nullptr, C.data()), error);
  p.alpha = 0;
  CHECK(count([&] { run_gemm_gpu(p, nullptr, nullptr, C.data()); }) == launches{{1, 0}});
  p.alpha = 1, p.k = 0;
  CHECK(count([&] { run_gemm_gpu(p, nullptr, nullptr, C.data()); }) == launches{{1, 0}});
  CHECK_THROWS_AS(run_gemm_gpu(p, nullptr, nullptr, nullptr), error);
}

TEST_CASE("code that nobody uses is unloaded") {
  const cuda::device& here = cuda::device_of(0);
  const int before = gpus.state().modules;
  gpus.state().lacks_kernels = true;
  CHECK_THROWS_AS(cuda::load_kernel(here, {"text one", "name"}), error);
  gpus.state().lacks_kernels = false;
  CHECK(gpus.state().modules == before);
  // Several that load the same at once: one of them is first.
  gpus.state().load_takes = 100;
  std::vector<std::thread> team;
  for (int n = 0; n < 3; ++n) team.emplace_back([&] { cuda::load_kernel(here, {"text two", "name"}); });
  for (std::thread& t : team) t.join();
  gpus.state().load_takes = 0;
  CHECK(gpus.state().modules == before + 1);
}

TEST_CASE("a tensor that is given back among the last") {
  late = std::make_unique<matrix>(8, 8);
  matrix A(8, 8);
  CHECK(count([&] { multiply(*late, A, A); }) == launches{{1, 0}});
}

TEST_CASE("products run without cuBLAS where it makes no handle") {
  matrix A(1024, 1024), B(1024, 1024), C(1024, 1024);
  gpus.state().blas_handles = 0;
  const launches own = count([&] { multiply(C, A, B); });
  CHECK(gpus.state().blas_handles > 0);
  CHECK(own.on[0] > 0);
  gemm_problem p;
  p.m = p.n = p.k = 1024, p.a_row = p.b_row = p.c_row = 1024;
  CHECK(count([&] { run_gemm_gpu(p, A.data(), B.data(), C.data()); }).on[0] > 0);
}

TEST_CASE("what cuBLAS does not do runs without it") {
  matrix A(1000, 1000), B(1000, 1000), C(1000, 1000);
  gemm_problem p;
  p.m = p.n = p.k = 1000, p.a_row = p.b_row = p.c_row = 1000;
  const auto run_both = [&] {
    multiply(C, A, B);
    run_gemm_gpu(p, A.data(), B.data(), C.data());
  };
  constexpr int not_supported = 15, failed = 13;
  gpus.state().has_blas = true, gpus.state().blas_says = 0;
  CHECK(count(run_both) == launches{{0, 0}});
  const int calls = gpus.state().blas_calls;
  CHECK(calls == 2);
  gpus.state().blas_says = not_supported;
  CHECK(count(run_both).on[0] >= 2);
  CHECK(gpus.state().blas_calls == calls + 2);
  gpus.state().blas_says = failed;
  CHECK_THROWS_AS(multiply(C, A, B), error);
  CHECK_THROWS_AS(run_gemm_gpu(p, A.data(), B.data(), C.data()), error);
  gpus.state().has_blas = false, gpus.state().blas_says = 0;
}

TEST_CASE("memory that is not at a multiple of its elements' size") {
  tensor<double, dynamic, gpu> x(2 * 64 + 1), y(2 * 64 + 1);
  using number = std::complex<double>;
  const auto at = [](auto& z, int first) { return view(gpu, reinterpret_cast<number*>(z.data() + first), {8, 8}, {8, 1}); };
  CHECK(count([&] { at(y, 0)(i, j) = at(x, 0)(j, i); }) == launches{{1, 0}});
  for (const int first : {0, 1})
    CHECK_THROWS_WITH(at(y, first)(i, j) = at(x, 1 - first)(j, i), Catch::Matchers::Contains("not at a multiple of 16 bytes"));
  gemm_problem p;
  p.type = dtype::c128, p.m = p.n = p.k = 4, p.a_row = p.b_row = p.c_row = 4;
  CHECK_THROWS_AS(run_gemm_gpu(p, x.data() + 1, x.data(), y.data()), error);
  CHECK_THROWS_AS(run_gemm_gpu(p, x.data(), x.data(), y.data() + 1), error);
}

TEST_CASE("a plan allocates nothing when it runs") {
  matrix A(40, 50), B(50, 60), C(40, 60);
  const auto p = plan(C(i, j).assign(A(i, k) * B(k, j)));
  p.run();
  const long before = allocations;
  for (int n = 0; n < 10; ++n) p.run();
  CHECK(allocations == before);
}
