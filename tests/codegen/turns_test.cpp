// Copies that transpose, written at run time: every element arrives once, and nothing else is touched.
#include <catch2/catch.hpp>

#include <complex>
#include <random>
#include <vector>

#include "../kernels/guarded.hpp"
#include "codegen/turns.hpp"

using namespace ricci;

namespace {

/// Memory between pages that may not be touched; gaps between rows must keep what they held.
template <class T> void test(const codegen::turn_request& r, codegen::target t, int& written) {
  const auto made = codegen::make(r, t);
  if (!made) return;
  ++written;
  std::int64_t from_size = (r.x - 1) * r.from_x + r.y, to_size = r.scratch ? r.y * r.to_y : (r.y - 1) * r.to_y + r.x;
  for (int l = 0; l < 2; ++l) from_size += (r.loops[l] - 1) * r.from_loops[l], to_size += (r.loops[l] - 1) * r.to_loops[l];
  for (const bool at_end : {true, false}) {
    guarded<T> from(static_cast<std::size_t>(from_size), at_end), to(static_cast<std::size_t>(to_size), at_end);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(static_cast<double>(i + 1));
    std::vector<T> want(to.size(), T(-7));
    std::vector<bool> gap(to.size());  // in scratch: within a matrix, not between matrices
    std::fill(to.begin(), to.end(), T(-7));
    for (std::int64_t m = 0; m < r.loops[1]; ++m)
      for (std::int64_t l = 0; l < r.loops[0]; ++l) {
        for (std::int64_t i = 0; i < r.y * r.to_y && r.scratch; ++i) gap[static_cast<std::size_t>(l * r.to_loops[0] + m * r.to_loops[1] + i)] = true;
        for (std::int64_t y = 0; y < r.y; ++y)
          for (std::int64_t x = 0; x < r.x; ++x)
            want[static_cast<std::size_t>(l * r.to_loops[0] + m * r.to_loops[1] + y * r.to_y + x)] =
                from[static_cast<std::size_t>(l * r.from_loops[0] + m * r.from_loops[1] + x * r.from_x + y)];
      }
    (*made)(nullptr, from.data(), to.data(), nullptr, nullptr);
    bool right = true;
    for (std::size_t i = 0; i < want.size(); ++i) right = right && (to[i] == want[i] || (gap[i] && want[i] == T(-7)));
    CHECK(right);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("copies that transpose small matrices", "", float, double, std::complex<double>) {
  std::mt19937 rng(18);
  const auto some = [&](std::int64_t first, std::int64_t last) { return std::uniform_int_distribution<std::int64_t>(first, last)(rng); };
  int written = 0;
  const codegen::target t = codegen::best_target();
  for (int n = 0; n < 1200; ++n) {
    codegen::turn_request r;
    r.size = sizeof(TestType);
    const std::int64_t most = n % 2 ? 9 : 33;
    r.x = some(1, most), r.y = some(1, most);
    if (n % 10 == 7) r.x = some(30, 300), r.y = some(1, 9);
    r.from_x = r.y + some(0, 2) * (n % 4 == 0), r.to_y = r.x + some(0, 9) * (n % 3 == 0);
    r.scratch = n % 5 < 3;
    r.loops[0] = some(1, 9), r.from_loops[0] = r.from_x * r.x + some(0, 2) * (n % 7 == 0), r.to_loops[0] = r.to_y * r.y + some(0, 40) * (n % 7 == 1);
    if (n % 6 == 0) r.loops[1] = some(1, 3), r.from_loops[1] = r.from_loops[0] * r.loops[0], r.to_loops[1] = r.to_loops[0] * r.loops[0] + 1;
    CAPTURE(n, r.x, r.y, r.from_x, r.to_y, r.scratch, r.loops[0], r.loops[1]);
    test<TestType>(r, t, written);
    int narrow = 0;
    if (t == codegen::target::avx512) test<TestType>(r, codegen::target::avx2, narrow);
  }
  CHECK((written > 1000 || t == codegen::target::none));
}

TEMPLATE_TEST_CASE("copies that transpose", "", float, double) {
  using enum codegen::target;
  std::mt19937 rng(17);
  const auto some = [&](std::int64_t first, std::int64_t last) { return std::uniform_int_distribution<std::int64_t>(first, last)(rng); };
  int written = 0;
  for (int n = 0; n < 400; ++n) {
    codegen::turn_request r;
    r.size = sizeof(TestType);
    r.x = n % 3 == 0 ? 8 * some(1, 4) : some(1, 70), r.y = n % 3 == 1 ? 8 * some(1, 4) : some(1, 70);
    r.from_x = r.y + some(0, 3) * (n % 2), r.to_y = r.x + some(0, 3) * (n % 5 == 0);
    if (n % 4 == 3) {
      r.loops[0] = some(1, 3), r.from_loops[0] = r.from_x * r.x + some(0, 2), r.to_loops[0] = r.to_y * r.y + some(0, 2);
      r.loops[1] = some(1, 3), r.from_loops[1] = r.from_loops[0] * r.loops[0], r.to_loops[1] = r.to_loops[0] * r.loops[0] + 1;
    }
    CAPTURE(n, r.x, r.y, r.from_x, r.to_y, r.loops[0], r.loops[1]);
    if (codegen::best_target() == avx512) test<TestType>(r, avx512, written);
    if (codegen::best_target() != none) test<TestType>(r, avx2, written);
  }
  CHECK((written > 300 || codegen::best_target() == none));
}
