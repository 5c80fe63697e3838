// Sum factorisation with Eigen's fixed-size matrices, one axis after the other in place.
#include "eigen_fem.hpp"

namespace demo::peers {
namespace {

/// The last axis first if that keeps the larger products for the end, else the first axis first.
template <int To, int From>
struct axes {
  static constexpr int between = To > From ? From* From* To : To* From* From;
  static constexpr int late = To * To * From;
  matrix<To, From> t;
  matrix<From, To> transposed;
  alignas(64) double one[between], two[late];

  explicit axes(const matrix<To, From>& m) : t(m), transposed(loaded<From, To>(m.data(), 1, From)) {}

  void operator()(const double* from, double* to) {
    if constexpr (To > From) {
      product(const_map<From * From, From>(from), transposed, map<From * From, To>(one));
      for (int i = 0; i < From; ++i)
        product(t, const_map<From, To>(one + i * From * To), map<To, To>(two + i * To * To));
      product(t, const_map<From, To * To>(two), map<To, To * To>(to));
    } else {
      product(t, const_map<From, From * From>(from), map<To, From * From>(one));
      for (int i = 0; i < To; ++i)
        product(t, const_map<From, From>(one + i * From * From), map<To, From>(two + i * To * From));
      product(const_map<To * To, From>(two), transposed, map<To * To, To>(to));
    }
  }
};

}  // namespace

void interpolate_axes(int degree, std::int64_t elements, const double* b, const double* u, double* w) {
  fem<axes>::interpolate[degree - 1](elements, b, u, w);
}

void mass_axes(int degree, std::int64_t elements, const double* b, const double* d, const double* u, double* v) {
  fem<axes>::mass[degree - 1](elements, b, d, u, v);
}

}  // namespace demo::peers
