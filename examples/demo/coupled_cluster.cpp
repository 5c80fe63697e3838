// Case (d): a contraction over two labels, as in coupled-cluster methods.
#include <ricci/ricci.hpp>

#include "cases.hpp"
#include "eigen_peers.hpp"

using namespace ricci::labels;

namespace demo {
namespace {

using tensor4 = ricci::tensor<double, ricci::dynamic, ricci::dynamic, ricci::dynamic, ricci::dynamic>;

std::vector<std::string> row(const settings& s, int occupied, int virtuals) {
  const int o = occupied, v = virtuals;
  tensor4 T(o, o, v, v), V(v, v, v, v), R(o, o, v, v), peer(o, o, v, v), magnitude(o, o, v, v);
  fill(T.data(), T.size(), 2);
  fill(V.data(), V.size(), 3);
  const int rows = o * o, depth = v * v;
  tensor4 T_abs = T, V_abs = V;
  absolute(T.data(), T_abs.data(), T.size());
  absolute(V.data(), V_abs.data(), V.size());
  peers::multiply(rows, depth, depth, T_abs.data(), V_abs.data(), magnitude.data());

  const auto plan = ricci::plan(R(i, j, k, l).assign(T(i, j, m, n) * V(m, n, k, l)));
  const job run = [&] { plan.run(); };
  times t;
  {
    const one_core alone;
    const auto medians =
        interleaved({run, [&] { peers::multiply(rows, depth, depth, T.data(), V.data(), peer.data()); }}, s);
    t.ricci = medians[0];
    t.eigen = medians[1];
  }
  t.all = interleaved({run}, s)[0];

  const double error = worst_error(R.data(), peer.data(), magnitude.data(), R.size(), depth);
  const double flops = 2.0 * rows * depth * depth, bytes = 8.0 * (2.0 * rows * depth + 1.0 * depth * depth);
  std::vector<std::string> out{"o = " + std::to_string(o) + ", v = " + std::to_string(v), checked(error)};
  const auto speed = speed_columns(t, flops, roofline(s.machine, s.machine.peak_f64, flops, bytes));
  out.insert(out.end(), speed.begin(), speed.end());
  return out;
}

}  // namespace

void show_coupled_cluster(const settings& s) {
  table out{{"double", "error"}, {}, {}};
  out.head.insert(out.head.end(), speed_head.begin(), speed_head.end());
  if (s.quick)
    out.rows = {row(s, 4, 8)};
  else
    out.rows = {row(s, 16, 32), row(s, 20, 32), row(s, 24, 32)};
  print(s, "R(i, j, k, l) = T(i, j, m, n) * V(m, n, k, l)",
        "a coupled-cluster term over o occupied and v virtual orbitals; Eigen: one large matrix product", out);
}

}  // namespace demo
