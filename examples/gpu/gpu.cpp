// Tensors in GPU memory: copies, statements, plans, streams, views of device memory. Without a GPU it says so and ends.
#include <cstdint>
#include <iostream>

#include <ricci/ricci.hpp>

using namespace ricci::labels;
using ricci::dynamic;
using ricci::gpu;

namespace {

using matrices = ricci::tensor<double, dynamic, 8, 8, gpu>;

// [stream]
// `handle` is a cudaStream_t or a CUstream; null is the default stream.
void multiply(void* handle, const matrices& x, const matrices& y, matrices& z) {
  const ricci::stream stream(handle);
  z(e, i, j).on(stream) = x(e, i, k) * y(e, k, j);  // enqueued; returns at once
  const auto more = ricci::plan(z(e, i, j).add(x(e, i, k) * y(e, k, j)));
  for (int step = 0; step < 10; ++step) more.run(stream);
}
// [/stream]

// [views]
// `data` is a device pointer, from cudaMalloc or from a tensor.
void scale(double* data, std::int64_t count) {
  const auto rows = ricci::view(data, ricci::extents<dynamic, 8, 8, gpu>{count});  // row-major
  const auto diagonals = ricci::view(gpu, data, {count, 8}, {64, 9});  // any strides
  rows(e, i, j) *= 2;
  diagonals(e, i) += diagonals(e, i);
}
// [/views]

bool is_right(bool right, const char* what) {
  std::cout << what << (right ? ": right\n" : ": wrong\n");
  return right;
}

bool run() {
  // [copy]
  const int count = 1000;
  ricci::tensor<double, dynamic, 8, 8> X(count), Y(count), Z(count);
  X.fill(0.5);
  Y.fill(2);
  ricci::tensor<double, dynamic, 8, 8, gpu> x(count), y(count), z(count);  // zeros, in the GPU's memory
  ricci::copy(X, x);
  ricci::copy(Y, y);
  z(e, i, j) = x(e, i, k) * y(e, k, j);
  ricci::copy(z, Z);  // waits for the product
  // [/copy]
  bool right = is_right(Z(0, 0, 0) == 8 && Z(999, 7, 7) == 8, "a statement");

  multiply(nullptr, x, y, z);
  ricci::copy(z, Z);
  right = is_right(Z(999, 0, 7) == 88, "a plan on a stream") && right;

  scale(z.data(), count);
  ricci::copy(z, Z);
  right = is_right(Z(5, 3, 2) == 176 && Z(5, 3, 3) == 352, "views") && right;

  // [fuse]
  ricci::tensor<double, 8, 8, gpu> N;
  ricci::tensor<double, dynamic, 8, 8, gpu> D(count);
  N.fill(0.25);
  D.fill(3);
  ricci::local<double> g, h;
  const auto mass = ricci::fuse(g(e, q, r).assign(N(q, i) * N(r, j) * y(e, i, j)),
                                h(e, q, r).assign(D(e, q, r) * g(e, q, r)),
                                z(e, i, j).assign(N(q, i) * N(r, j) * h(e, q, r)));
  mass.run();  // one kernel: g and h are never in the GPU's memory
  // [/fuse]
  ricci::copy(z, Z);
  return is_right(Z(999, 7, 0) == 96, "a fused program") && right;
}

}  // namespace

int main() {
  // [errors]
  try {
    return run() ? 0 : 1;
  } catch (const ricci::error& error) {
    std::cout << error.what() << '\n';  // "no GPU can be used: ..."
    return error.code() == ricci::errc::no_gpu ? 0 : 1;
  }
  // [/errors]
}
