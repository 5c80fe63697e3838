// Products of problems that lie side by side in blocks, in some operands or in all, on the GPU.
#include "on_gpu.hpp"
#include "part.hpp"
#include "random_program.hpp"

using namespace ricci;
using namespace ricci::test;

TEST_CASE("products of problems side by side on the GPU") {
  for (unsigned seed = 1; seed <= 240; ++seed) {
    if (!has_gpu() || !is_mine(seed)) continue;
    dice d{std::mt19937(seed)};
    case_builder c(any_type(d), seed);
    const int widths[] = {2, 3, 4, 8, 16, 32};
    const int width = widths[d(0, 5)], square = d.chance(50) ? d(1, 33) : 0;
    c.label('b', d(1, 40)), c.label('l', width);
    c.label('i', square ? square : d(1, 20)), c.label('j', square ? square : d(1, 20)), c.label('k', square ? square : d(1, 20));
    if (d.chance(20)) c.label('o', d(2, 5));
    const std::string outer = c.p.labels.size() > 5 ? "o" : "";
    const auto order = [&](const std::string& sides) {
      const std::string own = d.chance(70) ? sides : std::string(sides.rbegin(), sides.rend());
      return outer + (d.chance(65) ? "b" + own + "l" : "bl" + own);
    };
    statement s;
    s.left = c.tensor("C", outer + "blij", order("ij")), s.op = static_cast<update>(d(0, 2));
    const bool shared = d.chance(15);
    reference a = c.tensor("A", outer + "blik", order("ik")), b = shared ? c.tensor("B", "kj") : c.tensor("B", outer + "blkj", order("kj"));
    a.conj = d.chance(30), b.conj = d.chance(30);
    s.terms.push_back({d.chance(50) ? c.scalar({1.5, -0.25}) : -1, d.chance(30), {a, b}});
    c.p.statements.push_back(s);
    require_right_on_gpu(c, 2, d.chance(60) ? 0 : d(1, 7), "beside seed " + std::to_string(seed), s.op == update::assign);
  }
}
