// Sum factorisation with Eigen's fixed-size matrices, three equal products that each turn the axes by one.
#include "eigen_fem.hpp"

namespace demo::peers {
namespace {

template <int To, int From>
struct turning {
  matrix<From, To> transposed;
  alignas(64) double one[From * From * To], two[From * To * To];

  explicit turning(const matrix<To, From>& m) : transposed(loaded<From, To>(m.data(), 1, From)) {}

  void operator()(const double* from, double* to) {
    product(const_map<From, From * From>(from).transpose(), transposed, map<From * From, To>(one));
    product(const_map<From, From * To>(one).transpose(), transposed, map<From * To, To>(two));
    product(const_map<From, To * To>(two).transpose(), transposed, map<To * To, To>(to));
  }
};

}  // namespace

void interpolate_turning(int degree, std::int64_t elements, const double* b, const double* u, double* w) {
  fem<turning>::interpolate[degree - 1](elements, b, u, w);
}

void mass_turning(int degree, std::int64_t elements, const double* b, const double* d, const double* u, double* v) {
  fem<turning>::mass[degree - 1](elements, b, d, u, v);
}

}  // namespace demo::peers
