// The bake-off kernels in index notation over GPU tensors.
#include "cuda_problems.hpp"

#include <algorithm>
#include <cmath>

#include "../../examples/fem/operators.hpp"

namespace fem {

using hex::e, hex::i, hex::j, hex::k, hex::l, hex::m, hex::n, hex::r, hex::s, hex::t;
using namespace ricci;

namespace {

using gpu_matrix = tensor<double, dynamic, dynamic, gpu>;
using gpu_field = tensor<double, dynamic, dynamic, dynamic, dynamic, gpu>;

struct lower_only {
  template <class... S>
  lowered operator()(const S&... statements) const {
    using source = ricci::detail::source<S...>;
    ricci::detail::frame<source> f{};
    ricci::detail::sink to = f.writer();
    (statements.put(to), ...);
    static_cast<void>(ricci::detail::prepare(f.call(), {}));  // fills in pointers
    lowered out;
    out.what = ricci::detail::lower(f.call());
    out.pointers.assign(f.pointers, f.pointers + out.what.slot_count);
    out.scalars.assign(static_cast<std::size_t>(out.what.scalar_count), 1.0);
    return out;
  }
};

}  // namespace

struct problem::tensors {
  std::string name;
  hex::basis b;
  std::int64_t elements;
  gpu_matrix B, D;
  gpu_field u, v;
  std::vector<gpu_field> geometric;  // W, or the six of G

  tensors(const std::string& which, int degree, std::int64_t count)
      : name(which), b(degree, degree + (which == "BK5" ? 1 : 2), which == "BK5"), elements(count), B(b.Q, b.P), D(b.Q, b.Q),
        u(count, b.P, b.P, b.P), v(count, b.P, b.P, b.P) {
    copy(b.B, B), copy(b.D, D);
    geometric.reserve(6);
    for (int g = 0; g < (which == "BK1" ? 1 : 6); ++g) geometric.emplace_back(count, b.Q, b.Q, b.Q);
  }
};

problem::problem(const std::string& name, int degree, std::int64_t elements) : all_(std::make_unique<tensors>(name, degree, elements)) {}
problem::~problem() = default;

void problem::fill(const void* pattern, std::int64_t bytes) {
  const auto one = [&](gpu_field& x) {
    for (std::int64_t at = 0; at < x.size(); at += bytes / 8)
      ricci::detail::copy_memory(x.data() + at, true, pattern, true, std::min(bytes / 8, x.size() - at), 8);
  };
  one(all_->u);
  for (gpu_field& x : all_->geometric) one(x);
}

void problem::poison() {
  gpu_field& v = all_->v;
  std::int64_t done = std::min<std::int64_t>(1 << 16, v.size());
  const std::vector<double> nan(static_cast<std::size_t>(done), std::nan(""));
  ricci::detail::copy_memory(v.data(), true, nan.data(), false, done, 8);
  for (std::int64_t some; done < v.size(); done += some) {
    some = std::min(done, v.size() - done);
    ricci::detail::copy_memory(v.data() + done, true, v.data(), true, some, 8);
  }
}

std::vector<double> problem::sample() const {
  const gpu_field& v = all_->v;
  const std::int64_t part = std::min<std::int64_t>(1 << 17, v.size() / 3);
  std::vector<double> out(static_cast<std::size_t>(3 * part));
  std::int64_t done = 0;
  for (const std::int64_t from : {std::int64_t{0}, (v.size() - part) / 2, v.size() - part}) ricci::detail::copy_memory(out.data() + part * done++, false, v.data() + from, true, part, 8);
  return out;
}

lowered problem::statements() {
  tensors& x = *all_;
  const auto even = even_odd(x.B);
  const auto odd = even_odd(x.D);
  const auto put = [&](const auto& right) { return x.v(e, n, m, l).assign(right); };
  const auto put_here = [&](const auto& right) { return x.v(e, t, s, r).assign(right); };
  if (x.name == "BK1") return hex::mass(even, x.geometric[0], x.u(e, k, j, i), put, lower_only{});
  if (x.name == "BK3") return hex::diffusion(even, odd, x.geometric, x.u(e, k, j, i), put, lower_only{});
  return hex::collocated_diffusion(odd, x.geometric, x.u(e, t, s, r), put_here, lower_only{});
}

double problem::flops() const {
  const double P = all_->b.P, Q = all_->b.Q, ends = 4 * (Q * P * P * P + Q * Q * P * P + Q * Q * Q * P);
  const double each = all_->name == "BK1"   ? ends + Q * Q * Q
                      : all_->name == "BK5" ? 12 * P * P * P * P + 15 * P * P * P
                                            : ends + 12 * Q * Q * Q * Q + 15 * Q * Q * Q;
  return each * static_cast<double>(all_->elements);
}

}  // namespace fem
