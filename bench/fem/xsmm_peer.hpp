// The same steps as chains of libxsmm's dispatched kernels, one element after the other.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <vector>

namespace peer {

class xsmm_chain {
 public:
  /// B: Q by P, D: Q by Q, row-major.
  xsmm_chain(int P, int Q, const double* B, const double* D)
      : P_(P), Q_(Q), B_(B, B + Q * P), D_(D, D + Q * Q), Bt_(B_.size()), Dt_(D_.size()), one_(std::size_t(P * P * Q)), two_(std::size_t(P * Q * Q)),
        at_points_(std::size_t(Q * Q * Q)) {
    for (int q = 0; q < Q; ++q) {
      for (int p = 0; p < P; ++p) Bt_[std::size_t(p * Q + q)] = B[q * P + p];
      for (int p = 0; p < Q; ++p) Dt_[std::size_t(p * Q + q)] = D[q * Q + p];
    }
    void* library = dlopen("$ORIGIN/libricci_peer_xsmm.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) library = dlopen("$ORIGIN/../bench-peers/libricci_peer_xsmm.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    if (const auto start = reinterpret_cast<void (*)()>(dlsym(library, "libxsmm_init"))) start();
    dispatch_ = reinterpret_cast<dispatch*>(dlsym(library, "libxsmm_dmmdispatch"));
    if (!dispatch_) return;
    first_ = make(P * P, Q, P), second_ = make(Q, Q, P), third_ = make(Q, Q * Q, P);
    x_ = make(Q * Q, Q, Q), y_ = make(Q, Q, Q), z_ = make(Q, Q * Q, Q);
  }
  explicit operator bool() const { return first_ && second_ && third_ && x_ && y_ && z_; }

  void values(std::int64_t elements, const double* u, double* v) {
    for (std::int64_t e = 0; e < elements; ++e) up(u + e * P_ * P_ * P_, v + e * Q_ * Q_ * Q_);
  }
  void derivatives(std::int64_t elements, const double* u, double* const (&g)[3]) {
    const std::int64_t N = Q_ * Q_ * Q_;
    for (std::int64_t e = 0; e < elements; ++e) {
      up(u + e * P_ * P_ * P_, at_points_.data());
      x_(Dt_.data(), at_points_.data(), g[0] + e * N);
      for (int t = 0; t < Q_; ++t) y_(at_points_.data() + t * Q_ * Q_, D_.data(), g[1] + e * N + t * Q_ * Q_);
      z_(at_points_.data(), D_.data(), g[2] + e * N);
    }
  }

 private:
  using kernel = void(const double* a, const double* b, double* c, ...);
  using dispatch = kernel*(int, int, int, const int*, const int*, const int*, const double*, const double*, const int*, const int*);

  /// Row-major C(m, n) = A(m, k) B(k, n); libxsmm sees C' = B' A', so it takes B first.
  kernel* make(int m, int n, int k) const {
    const double alpha = 1, beta = 0;
    return dispatch_(n, m, k, &n, &k, &n, &alpha, &beta, nullptr, nullptr);
  }

  void up(const double* u, double* v) {
    first_(Bt_.data(), u, one_.data());
    for (int k = 0; k < P_; ++k) second_(one_.data() + k * P_ * Q_, B_.data(), two_.data() + k * Q_ * Q_);
    third_(two_.data(), B_.data(), v);
  }

  int P_, Q_;
  std::vector<double> B_, D_, Bt_, Dt_, one_, two_, at_points_;
  dispatch* dispatch_ = nullptr;
  kernel *first_ = nullptr, *second_ = nullptr, *third_ = nullptr, *x_ = nullptr, *y_ = nullptr, *z_ = nullptr;
};

}  // namespace peer
