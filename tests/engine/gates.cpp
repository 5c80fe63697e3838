// Gates of two qubits on a state that leaves the second cache: which axes run in a kernel and in which order its loops go.
#include <catch2/catch.hpp>

#include <complex>
#include <vector>

#include <ricci/ricci.hpp>

using namespace ricci::labels;
using ricci::dynamic;
using C = std::complex<float>;

namespace {

C number(std::int64_t x) { return {static_cast<float>(x * 7 % 13 - 6), static_cast<float>(x * 5 % 11 - 5)}; }

/// out = G psi over two qubits, `high` above `low`, of small integers: every sum is exact. The number of wrong elements.
std::int64_t wrong_after(int qubits, int high, int low) {
  const std::int64_t outer = std::int64_t{1} << (qubits - 1 - high), between = std::int64_t{1} << (high - low - 1), inner = std::int64_t{1} << low;
  ricci::tensor<C, dynamic, 2, dynamic, 2, dynamic> psi(outer, between, inner), out(outer, between, inner);
  ricci::tensor<C, 2, 2, 2, 2> G;
  for (std::int64_t x = 0; x < psi.size(); ++x) psi.data()[x] = number(x % 1009);
  for (std::int64_t x = 0; x < G.size(); ++x) G.data()[x] = number(3 * x + 1);
  out(a, i, b, j, c) = G(i, j, k, l) * psi(a, k, b, l, c);
  std::int64_t wrong = 0;
  for (std::int64_t x = 0; x < psi.size(); ++x) {
    const std::int64_t bits = (x >> high & 1) << 1 | (x >> low & 1), rest = x & ~(std::int64_t{1} << high | std::int64_t{1} << low);
    C sum = 0;
    for (std::int64_t from = 0; from < 4; ++from) {
      const C g = G.data()[4 * bits + from], p = psi.data()[rest | (from >> 1) << high | (from & 1) << low];
      sum += C(g.real() * p.real() - g.imag() * p.imag(), g.real() * p.imag() + g.imag() * p.real());
    }
    wrong += out.data()[x] != sum;
  }
  return wrong;
}

}  // namespace

TEST_CASE("gates of two qubits, wherever they lie") {
  constexpr int qubits = 18;  // 2 MiB, and as much for the result
  for (const auto& [high, low] : std::vector<std::pair<int, int>>{{1, 0}, {3, 1}, {4, 1}, {5, 2}, {6, 4}, {8, 7}, {9, 0}, {12, 0}, {13, 7}, {16, 9}, {17, 0}, {17, 16}}) {
    INFO("qubits " << high << " and " << low);
    CHECK(wrong_after(qubits, high, low) == 0);
  }
}
