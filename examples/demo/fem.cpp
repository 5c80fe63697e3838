// Case (b): high-order finite elements by sum factorisation, which ricci finds in the notation.
#include <memory>
#include <sstream>

#include <ricci/ricci.hpp>

#include "cases.hpp"
#include "eigen_peers.hpp"
#include "mesh.hpp"

using namespace ricci::labels;

namespace demo {
namespace {

using matrix = ricci::tensor<double, ricci::dynamic, ricci::dynamic>;
using field = ricci::tensor<double, ricci::dynamic, ricci::dynamic, ricci::dynamic, ricci::dynamic>;

/// What one operation at one size gave.
struct outcome {
  double error = 0, integral = 0;  // in units of their bounds
  double flops = 0, bytes = 0;
  times t;
  std::string plan;
};

/// Everything at one size: u at the nodes, D and w at the points, v at the nodes again.
struct problem {
  mesh grid;
  int P, Q;
  std::int64_t E;
  matrix B;
  field u, v, D, w;
  std::vector<double> B_abs, B_both;  // |B|; |B| and its mirror, which products of halves add up

  problem(int degree, std::int64_t wanted)
      : grid(degree, wanted),
        P(grid.P),
        Q(grid.Q),
        E(grid.elements),
        B(Q, P),
        u(E, P, P, P),
        v(E, P, P, P),
        D(E, Q, Q, Q),
        w(E, Q, Q, Q),
        B_abs(Q * P) {
    std::copy(grid.basis.begin(), grid.basis.end(), B.begin());
    absolute(B.data(), B_abs.data(), B.size());
    for (int at = 0; at < Q * P; ++at) B_both.push_back(B_abs[at] + B_abs[at / P * P + P - 1 - at % P]);
    grid.nodal_values(u.data());
    grid.jacobians(D.data());
  }

  /// One direction after the other, in the cheapest order.
  double interpolation_flops() const { return 2.0 * E * Q * (P * P * P + Q * P * P + Q * Q * P); }
};

/// Times the plans against the faster of Eigen's two ways.
void time_it(const settings& set, const job& ricci, const job& even, const std::vector<job>& eigen, times& t) {
  {
    const one_core alone;
    const auto medians = interleaved({ricci, fastest(eigen), even}, set);
    t.ricci = medians[0];
    t.eigen = medians[1];
    t.even = medians[2];
  }
  t.all = interleaved({t.even < t.ricci ? even : ricci}, set)[0];
}

outcome interpolate(const settings& set, problem& p) {
  auto& [grid, P, Q, E, B, u, v, D, w, B_abs, B_both] = p;
  outcome out;
  out.flops = p.interpolation_flops();
  out.bytes = 8.0 * double(u.size() + w.size());

  const auto plan = ricci::plan(w(e, q, r, s).assign(B(q, i) * B(r, j) * B(s, k) * u(e, i, j, k)));
  const auto A = ricci::even_odd(B);
  field w_even(E, Q, Q, Q);
  const auto even = ricci::plan(w_even(e, q, r, s).assign(A(q, i) * A(r, j) * A(s, k) * u(e, i, j, k)));
  plan.run();
  even.run();

  field peer(E, Q, Q, Q), magnitude(E, Q, Q, Q), u_abs(E, P, P, P);
  absolute(u.data(), u_abs.data(), u.size());
  peers::interpolate_axes(grid.degree, E, B_abs.data(), u_abs.data(), magnitude.data());
  const auto eigen = [&](auto way) { return [&, way] { way(grid.degree, E, B.data(), u.data(), peer.data()); }; };
  eigen(peers::interpolate_axes)();
  for (const auto* mine : {w.data(), w_even.data()}) {
    if (mine == w_even.data()) peers::interpolate_axes(grid.degree, E, B_both.data(), u_abs.data(), magnitude.data());
    out.error = std::max(out.error, worst_error(mine, peer.data(), magnitude.data(), w.size(), 3 * P));
    // Besides the sums, u and the three B are rounded once each.
    out.integral = std::max(out.integral, grid.of_points(mine, magnitude.data()).error(3 * P + 4));
  }

  std::ostringstream text;
  text << plan;
  out.plan = text.str();
  time_it(
      set, [&] { plan.run(); }, [&] { even.run(); }, {eigen(peers::interpolate_axes), eigen(peers::interpolate_turning)}, out.t);
  return out;
}

outcome mass(const settings& set, problem& p) {
  auto& [grid, P, Q, E, B, u, v, D, w, B_abs, B_both] = p;
  outcome out;
  out.flops = 2 * p.interpolation_flops() + double(D.size());
  out.bytes = 8.0 * double(u.size() + D.size() + v.size());

  const auto plan = ricci::plan(
      v(e, a, b, c).assign(B(q, a) * B(r, b) * B(s, c) * D(e, q, r, s) * B(q, i) * B(r, j) * B(s, k) * u(e, i, j, k)));
  const auto A = ricci::even_odd(B);
  ricci::local<double> g, h;
  field v_even(E, P, P, P);
  const auto even = ricci::fuse(g(e, q, r, s).assign(A(q, i) * A(r, j) * A(s, k) * u(e, i, j, k)),
                                h(e, q, r, s).assign(D(e, q, r, s) * g(e, q, r, s)),
                                v_even(e, a, b, c).assign(A(q, a) * A(r, b) * A(s, c) * h(e, q, r, s)));
  plan.run();
  even.run();

  field peer(E, P, P, P), magnitude(E, P, P, P);
  const auto set_magnitude = [&](const std::vector<double>& B_size) {
    field u_abs(E, P, P, P);
    absolute(u.data(), u_abs.data(), u.size());  // all of D is positive
    peers::mass_axes(grid.degree, E, B_size.data(), D.data(), u_abs.data(), magnitude.data());
  };
  set_magnitude(B_abs);
  const auto eigen = [&](auto way) {
    return [&, way] { way(grid.degree, E, B.data(), D.data(), u.data(), peer.data()); };
  };
  eigen(peers::mass_axes)();
  const int roundings = 3 * P + 3 * Q + 1;
  for (const auto* mine : {v.data(), v_even.data()}) {
    if (mine == v_even.data()) set_magnitude(B_both);
    out.error = std::max(out.error, worst_error(mine, peer.data(), magnitude.data(), v.size(), roundings));
    // Besides the sums, u, D and the six B are rounded once each.
    out.integral = std::max(out.integral, grid.of_nodes(mine, magnitude.data()).error(roundings + 8));
  }

  time_it(
      set, [&] { plan.run(); }, [&] { even.run(); }, {eigen(peers::mass_axes), eigen(peers::mass_turning)}, out.t);
  return out;
}

/// Elements whose u, D and v take `bytes`.
std::int64_t elements_of(int degree, double bytes) {
  const double P = degree + 1, Q = degree + 2;
  return std::int64_t(bytes / (8 * (2 * P * P * P + Q * Q * Q))) + 1;
}

std::vector<std::string> row(const settings& set, int degree, std::int64_t elements, const outcome& far,
                             const outcome& near) {
  const auto speed = [](const outcome& o, double t) { return o.flops / t * 1e-9; };
  std::vector<std::string> cells{std::to_string(degree), std::to_string(elements),
                                 checked(std::max(far.error, near.error)),
                                 checked(std::max(far.integral, near.integral))};
  for (const auto* o : {&far, &near}) {
    const double best = std::min(o->t.ricci, o->t.even);
    cells.push_back(fixed(speed(*o, o->t.ricci), 1));
    cells.push_back(percent(speed(*o, o->t.ricci) / roofline(set.machine, set.machine.peak_f64, o->flops, o->bytes)));
    cells.push_back(fixed(speed(*o, o->t.even), 1));
    cells.push_back(fixed(speed(*o, o->t.eigen), 1));
    cells.push_back(fixed(o->t.eigen / best, 1) + "x");
    if (o == &far) cells.push_back(fixed(speed(*o, o->t.all), 1));
  }
  return cells;
}

table empty_table() {
  table t{{"p", "elements", "error", "integral"}, {"", "", "", ""}, {}};
  for (const bool far : {true, false}) {
    t.groups.push_back(far ? "main memory" : "L2 cache");
    for (const char* name : {"ricci", "bound", "even", "Eigen", "ratio"}) t.head.push_back(name);
    if (far) t.head.push_back("all");
    t.groups.resize(t.head.size());
  }
  return t;
}

}  // namespace

std::string show_fem(const settings& set) {
  table interpolation = empty_table(), masses = empty_table();
  const double memory = set.quick ? 1e6 : 160e6;
  const double cache = set.machine.caches.size() > 1 ? double(set.machine.caches[1].bytes) / 2 : 256e3;
  std::string plan;
  for (const int degree : set.quick ? std::vector{1, 2, 4} : std::vector{1, 2, 3, 4, 5, 6, 7, 8}) {
    problem far(degree, elements_of(degree, memory)), near(degree, elements_of(degree, cache));
    const outcome large = interpolate(set, far), small = interpolate(set, near);
    interpolation.rows.push_back(row(set, degree, far.E, large, small));
    masses.rows.push_back(row(set, degree, far.E, mass(set, far), mass(set, near)));
    if (degree == 4) plan = large.plan;
  }
  print(set, "w(e, q, r, s) = B(q, i) * B(r, j) * B(s, k) * u(e, i, j, k)",
        "finite elements of degree p, nodes to Gauss points; even: B declared by ricci::even_odd(B); Eigen: fixed-size matrices, axis by axis", interpolation);
  print(set, "v(e,a,b,c) = B(q,a)*B(r,b)*B(s,c) * D(e,q,r,s) * B(q,i)*B(r,j)*B(s,k) * u(e,i,j,k)",
        "the mass operator in one statement; even: ricci::fuse of three with even_odd(B); integral: beside the exact value", masses);
  return plan;
}

}  // namespace demo
