// Case (a): one statement over parts of one tensor.
#include <vector>

#include <ricci/ricci.hpp>

#include "cases.hpp"
#include "eigen_peers.hpp"

using namespace ricci::labels;

namespace demo {

void show_statement(const settings& s) {
  ricci::tensor<double, 64, 64, 9, 8> A;
  fill(A.data(), A.size(), 1);
  std::vector<double> peer(A.begin(), A.end()), magnitude(A.begin(), A.end());
  for (auto& x : magnitude) x = -std::abs(x);  // then -|A| -= |A| |A| gives the sum of magnitudes, negative

  A(i, j, m.in(1, 9), n.in(1, 8)) -= A(i, k, m, 0) * A(k, j, 0, n);

  peers::statement_gathered(peer.data());
  peers::statement_gathered(magnitude.data());
  for (auto& x : magnitude) x = -x;
  const double error = worst_error(A.data(), peer.data(), magnitude.data(), A.size(), 65);

  // Both repeat the update: what it reads is never written, so the values only drift.
  const auto plan = ricci::plan(A(i, j, m.in(1, 9), n.in(1, 8)).subtract(A(i, k, m, 0) * A(k, j, 0, n)));
  const job run = [&] { plan.run(); };
  times t;
  {
    const one_core alone;
    const job eigen =
        fastest({[&] { peers::statement_loops(peer.data()); }, [&] { peers::statement_gathered(peer.data()); }});
    const auto medians = interleaved({run, eigen}, s);
    t.ricci = medians[0];
    t.eigen = medians[1];
  }
  t.all = interleaved({run}, s)[0];

  const double flops = 2.0 * 64 * 64 * 64 * 8 * 7;
  const double bytes = 8.0 * 64 * 64 * (8 * 7 * 2 + 8 + 7);
  table out{{"double", "error"}, {}, {{"64 x 64 x 9 x 8", checked(error)}}};
  out.head.insert(out.head.end(), speed_head.begin(), speed_head.end());
  const auto speed = speed_columns(t, flops, roofline(s.machine, s.machine.peak_f64, flops, bytes));
  out.rows[0].insert(out.rows[0].end(), speed.begin(), speed.end());
  print(s, "A(i, j, m.in(1, 9), n.in(1, 8)) -= A(i, k, m, 0) * A(k, j, 0, n)",
        "56 products of strided matrices in one tensor, proven not to overlap: no temporary", out);
}

}  // namespace demo
