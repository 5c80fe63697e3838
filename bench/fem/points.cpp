// From nodes to quadrature points alone: values B B B u, or the three derivatives of these, of elements one after the other
// and eight side by side, beside Eigen's fixed-size matrices and chains of libxsmm's kernels. In the second cache, one
// thread, nominal GFLOP/s, medians of interleaved windows.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>

#include <omp.h>

#include <CLI/CLI.hpp>

#include <machine/machine.hpp>

#include "compare.hpp"
#include "degrees.hpp"
#include "eigen_peer.hpp"
#include "timing.hpp"
#include "xsmm_peer.hpp"

namespace {

using ricci::labels::e, ricci::labels::i, ricci::labels::j, ricci::labels::k, ricci::labels::o, ricci::labels::r, ricci::labels::s,
    ricci::labels::t;
using bench::job, bench::worst;
using ricci::dynamic;
using side_by_side = ricci::tensor<double, dynamic, dynamic, dynamic, dynamic, ricci::interleaved<8>>;

template <class Field> struct fields {
  Field u, x, y, z;
  fields(std::int64_t elements, std::int64_t P, std::int64_t Q) : u(elements, P, P, P), x(elements, Q, Q, Q), y(x), z(x) {}
};

/// The plan of one case on these fields, kept by what runs it.
template <class Field> job plan_of(bool slopes, const hex::basis& b, fields<Field>& f) {
  const auto B = ricci::even_odd(b.B), D = ricci::even_odd(b.D);
  const ricci::options alone{.threads = 1};
  const auto keep = [](auto plan) -> job {
    auto kept = std::make_shared<decltype(plan)>(std::move(plan));
    return [kept] { kept->run(); };
  };
  const auto at_points = B(t, k) * B(s, j) * B(r, i) * f.u(e, k, j, i);
  if (!slopes) return keep(ricci::fuse(alone, f.x(e, t, s, r).assign(at_points)));
  ricci::local<double> p("p");
  return keep(ricci::fuse(alone, p(e, t, s, r).assign(at_points), f.x(e, t, s, r).assign(D(r, o) * p(e, t, s, o)),
                          f.y(e, t, s, r).assign(D(s, o) * p(e, t, o, r)), f.z(e, t, s, r).assign(D(t, o) * p(e, o, s, r))));
}

template <int P> job eigen_job(bool slopes, const hex::basis& b, fields<hex::field>& f) {
  const auto made = std::make_shared<peer::kernels<P, P + 1>>(b.B.data(), b.D.data());
  return [made, slopes, &f] {
    double* const g[3] = {f.x.data(), f.y.data(), f.z.data()};
    slopes ? made->derivatives(f.u.extent(0), f.u.data(), g) : made->values(f.u.extent(0), f.u.data(), f.x.data());
  };
}

template <int P = 2> job eigen_for(bool slopes, const hex::basis& b, fields<hex::field>& f) {
  if constexpr (P <= bench::last_compiled(11)) return b.P == P ? eigen_job<P>(slopes, b, f) : eigen_for<P + 1>(slopes, b, f);
  return {};
}

void run(bool slopes, int degree, double seconds) {
  const hex::basis b(degree, degree + 2, false);
  const double P = double(b.P), Q = double(b.Q);
  const double bytes = 8 * (P * P * P + (slopes ? 3 : 1) * Q * Q * Q);
  const auto& caches = ricci::this_machine().caches;
  const double half = caches.size() > 1 ? 0.5 * double(caches[1].bytes) : 5e5;
  const std::int64_t elements = std::max<std::int64_t>(8, std::int64_t(half / bytes) / 8 * 8);
  fields<hex::field> mine(elements, b.P, b.Q), theirs(elements, b.P, b.Q), chained(elements, b.P, b.Q);
  fields<side_by_side> beside(elements, b.P, b.Q);
  double at = 0.3;
  for (double* x = mine.u.data(); x < mine.u.data() + mine.u.size(); ++x) *x = at = std::fmod(at * 7.3 + 0.17, 1.0) - 0.5;
  theirs.u = mine.u, chained.u = mine.u;
  beside.u(e, k, j, i) = mine.u(e, k, j, i);
  peer::xsmm_chain xsmm(int(b.P), int(b.Q), b.B.data(), b.D.data());
  std::vector<job> jobs{plan_of(slopes, b, mine), plan_of(slopes, b, beside)};
  const job eigen = eigen_for<>(slopes, b, theirs);
  if (eigen) jobs.push_back(eigen);
  if (xsmm)
    jobs.push_back([&] {
      double* const g[3] = {chained.x.data(), chained.y.data(), chained.z.data()};
      slopes ? xsmm.derivatives(elements, chained.u.data(), g) : xsmm.values(elements, chained.u.data(), chained.x.data());
    });
  const bench::timing found = bench::medians(jobs, seconds);
  hex::field turned(mine.x);
  turned(e, t, s, r) = beside.x(e, t, s, r);
  double error = worst(turned, mine.x);
  const auto compare = [&](const fields<hex::field>& other) {
    error = std::max(error, worst(mine.x, other.x));
    if (slopes) error = std::max({error, worst(mine.y, other.y), worst(mine.z, other.z)});
  };
  if (eigen) compare(theirs);
  if (xsmm) compare(chained);
  const double flops = double(elements) * (2 * (Q * P * P * P + Q * Q * P * P + Q * Q * Q * P) + (slopes ? 6 * Q * Q * Q * Q : 0));
  const auto rate = [&](std::size_t n) { return flops / found[n] * 1e-9; };
  double best = 0;
  for (std::size_t n = 2; n < jobs.size(); ++n) best = std::max(best, rate(n));
  std::printf("%-8s %6d %9.1f %12.1f", slopes ? "slopes" : "values", degree, rate(0), rate(1));
  const auto peer = [&](bool there, std::size_t n) { there ? std::printf(" %9.1f", rate(n)) : std::printf(" %9s", "-"); };
  peer(bool(eigen), 2), peer(bool(xsmm), eigen ? 3 : 2);
  std::printf(" %7.2f %8.1f %8.1e\n", best > 0 ? rate(0) / best : 0.0, found.peak, error);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  std::string degrees = "2:9";
  double seconds = 0.1;
  CLI::App app("Values and derivatives at quadrature points beside Eigen and libxsmm");
  app.add_option("--degrees", degrees, "As 3 or 2:9")->check(bench::check_degrees);
  app.add_option("--seconds", seconds, "Of each measurement")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, count, arguments);
  const auto [first, last] = bench::degrees_of(degrees);
  omp_set_num_threads(1);
  std::printf("%s; one thread; second cache; nominal GFLOP/s; ratio to the best peer\n", ricci::this_machine().name.c_str());
  std::printf("%-8s %6s %9s %12s %9s %9s %7s %8s %8s\n", "case", "degree", "GFLOP/s", "side by side", "Eigen", "libxsmm", "ratio", "peak", "error");
  for (const bool slopes : {false, true})
    for (int p = first; p <= last; ++p) run(slopes, p, seconds);
}
