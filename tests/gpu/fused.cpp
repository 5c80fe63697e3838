// Fused programs on the GPU against the reference. RICCI_TEST_PART=3/16 runs a sixteenth of them.
#include "fused_check.hpp"
#include "part.hpp"

using namespace ricci;
using namespace ricci::test;

TEST_CASE("fused programs on the GPU") {
  if (!has_gpu()) return;
  const std::vector<fused_case> cases = fused_cases(true);
  for (std::size_t n = 0; n < cases.size(); ++n) {
    if (!is_mine(n)) continue;
    const fused_case& c = cases[n];
    fused_check check(c);
    // Tables of integers lie among the tensors: 16-bit ones are shifted by eight bytes.
    for (const int shift : {0, size_of(c.c->type) == 2 ? 4 : 1}) {
      check.restore();
      gpu_memory memory(*c.c, shift);
      const auto plan = compile(cuda::placed_on_gpu(c.c->p));
      run(*plan, memory.bind());
      const bool untouched = memory.fetch();
      INFO(c.name << ", shift " << shift << "\n" << describe(*plan));
      CHECK(untouched);
      CHECK(check.error() <= 1);
    }
  }
}
