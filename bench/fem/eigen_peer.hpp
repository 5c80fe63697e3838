// The bake-off kernels with Eigen's fixed-size matrices: what a careful user of Eigen writes, element after element.
#pragma once

#include <cstdint>

#include <Eigen/Core>

namespace peer {

template <int R, int C> using matrix = Eigen::Matrix<double, R, C, (C == 1 ? Eigen::ColMajor : Eigen::RowMajor)>;
template <int R, int C> using in = Eigen::Map<const matrix<R, C>>;
template <int R, int C> using out = Eigen::Map<matrix<R, C>>;

/// to[t,s,r] = M M M from[k,j,i].
template <int To, int From>
void along_all(const matrix<To, From>& m, const double* from, double* to) {
  alignas(64) double one[From * From * To], two[From * To * To];
  out<From * From, To>(one).noalias() = in<From * From, From>(from) * m.transpose();
  for (int k = 0; k < From; ++k)
    out<To, To>(two + k * To * To).noalias() = m * in<From, To>(one + k * From * To);
  out<To, To * To>(to).noalias() = m * in<From, To * To>(two);
}

template <int P, int Q>
struct kernels {
  matrix<Q, P> B;
  matrix<P, Q> Bt;
  matrix<Q, Q> D, Dt;

  kernels(const double* b, const double* d) : B(in<Q, P>(b)), Bt(B.transpose()), D(in<Q, Q>(d)), Dt(D.transpose()) {}

  void mass(std::int64_t elements, const double* W, const double* u, double* v) const {
    alignas(64) double p[Q * Q * Q];
    for (std::int64_t e = 0; e < elements; ++e, W += Q * Q * Q, u += P * P * P, v += P * P * P) {
      along_all<Q, P>(B, u, p);
      out<Q * Q * Q, 1>(p).array() *= in<Q * Q * Q, 1>(W).array();
      along_all<P, Q>(Bt, p, v);
    }
  }

  /// To the points: values, or the three derivatives.
  void values(std::int64_t elements, const double* u, double* v) const {
    for (std::int64_t e = 0; e < elements; ++e) along_all<Q, P>(B, u + e * P * P * P, v + e * Q * Q * Q);
  }
  void derivatives(std::int64_t elements, const double* u, double* const (&g)[3]) const {
    alignas(64) double p[Q * Q * Q];
    for (std::int64_t e = 0; e < elements; ++e) {
      along_all<Q, P>(B, u + e * P * P * P, p);
      slopes(p, g[0] + e * Q * Q * Q, g[1] + e * Q * Q * Q, g[2] + e * Q * Q * Q);
    }
  }

  void slopes(const double* p, double* x, double* y, double* z) const {
    out<Q * Q, Q>(x).noalias() = in<Q * Q, Q>(p) * Dt;
    for (int t = 0; t < Q; ++t) out<Q, Q>(y + t * Q * Q).noalias() = D * in<Q, Q>(p + t * Q * Q);
    out<Q, Q * Q>(z).noalias() = D * in<Q, Q * Q>(p);
  }

  void flux(const double* const (&G)[6], const double* p, double* q) const {
    constexpr int N = Q * Q * Q;
    alignas(64) double x[N], y[N], z[N], a[N], b[N];
    slopes(p, x, y, z);
    for (int n = 0; n < N; ++n) {
      a[n] = G[0][n] * x[n] + G[3][n] * y[n] + G[4][n] * z[n];
      b[n] = G[3][n] * x[n] + G[1][n] * y[n] + G[5][n] * z[n];
      z[n] = G[4][n] * x[n] + G[5][n] * y[n] + G[2][n] * z[n];
    }
    out<Q * Q, Q>(q).noalias() = in<Q * Q, Q>(a) * D;
    for (int t = 0; t < Q; ++t) out<Q, Q>(q + t * Q * Q).noalias() += Dt * in<Q, Q>(b + t * Q * Q);
    out<Q, Q * Q>(q).noalias() += Dt * in<Q, Q * Q>(z);
  }

  void diffusion(std::int64_t elements, const double* const (&G)[6], const double* u, double* v) const {
    alignas(64) double p[Q * Q * Q], q[Q * Q * Q];
    for (std::int64_t e = 0; e < elements; ++e, u += P * P * P, v += P * P * P) {
      const std::int64_t at = e * Q * Q * Q;
      const double* const here[6] = {G[0] + at, G[1] + at, G[2] + at, G[3] + at, G[4] + at, G[5] + at};
      if constexpr (P == Q) {
        flux(here, u, v);
      } else {
        along_all<Q, P>(B, u, p);
        flux(here, p, q);
        along_all<P, Q>(Bt, q, v);
      }
    }
  }
};

}  // namespace peer
