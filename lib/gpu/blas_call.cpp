// Steps as calls of a library for matrices, and when that pays. Pure.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "gpu/blas.hpp"

namespace ricci::cuda {
namespace {

constexpr std::int64_t most_calls = 64;
constexpr std::int64_t most_extent = std::numeric_limits<int>::max();

/// How an operand with these two strides is written: neighbours along `first` (N), or along the other (T).
bool orient(std::int64_t first, std::int64_t first_extent, std::int64_t other, std::int64_t other_extent, bool conj, char& op,
            std::int64_t& leading) {
  if (first == 1 && other >= first_extent && !conj) {
    op = 'N', leading = other;
    return leading <= most_extent;
  }
  if (other == 1 && first >= other_extent) {
    op = conj ? 'C' : 'T', leading = first;
    return leading <= most_extent;
  }
  return false;
}

}  // namespace

blas_call blas_call_of(const step_shape& s) {
  const blas_call none;
  if (!s.has_a || !s.has_b || s.k.size() != 1 || s.m.empty() || s.n.empty()) return none;
  const bool plain = s.a == s.b && s.b == s.c, widened = s.a == s.b && size_of(s.a) == 2 && s.c == dtype::f32;
  if (!plain && !widened) return none;
  // With a beta the library rounds the product to 16 bits before it adds c.
  if (size_of(s.c) == 2 && s.beta) return none;
  const axis &k = s.k[0], &n = s.n.back();
  if (n.c != 1 || n.extent > most_extent || k.extent > most_extent) return none;
  blas_call best;
  for (std::size_t main = 0; main < s.m.size(); ++main) {
    const axis& m = s.m[main];
    blas_call c;
    if (m.extent > most_extent || m.c < n.extent || m.c > most_extent) continue;
    if (!orient(n.b, n.extent, k.b, k.extent, s.conj_b && is_complex(s.b), c.op_b, c.row_b)) continue;
    if (!orient(k.a, k.extent, m.a, m.extent, s.conj_a && is_complex(s.a), c.op_a, c.row_a)) continue;
    if (best.used && m.extent <= best.cols) continue;
    c.used = true;
    c.rows = n.extent, c.cols = m.extent, c.sum = k.extent, c.row_c = m.c;
    c.calls = s.batch;
    for (std::size_t d = 0; d < s.m.size(); ++d)
      if (d != main) c.calls.push_back(s.m[d]);
    c.calls.insert(c.calls.end(), s.n.begin(), s.n.end() - 1);
    best = std::move(c);
  }
  if (!best.used) return none;
  const auto longest = std::max_element(best.calls.begin(), best.calls.end(), [](const axis& x, const axis& y) { return x.extent < y.extent; });
  if (longest != best.calls.end()) {
    best.batch = *longest;
    best.calls.erase(longest);
  }
  if (best.batch.extent > most_extent || count_of(best.calls) > most_calls) return none;
  return best;
}

blas_offsets offsets_of(const blas_call& c, std::int64_t at) {
  blas_offsets to;
  for (std::size_t e = c.calls.size(); e-- > 0;) {
    const std::int64_t digit = at % c.calls[e].extent;
    at /= c.calls[e].extent;
    to.a += digit * c.calls[e].a, to.b += digit * c.calls[e].b, to.c += digit * c.calls[e].c;
  }
  return to;
}

std::int64_t elements_together(const blas_call& c) {
  std::int64_t n = 8;
  for (const std::int64_t x : {c.row_a, c.row_b, c.row_c, c.op_a == 'N' ? c.sum : c.cols, c.op_b == 'N' ? c.rows : c.sum, c.rows}) n = std::gcd(n, x);
  return n;
}

bool blas_wins(const step_shape& s, const blas_call& c, bool warpgroups) {
  // Rows whose windows overlap are no matrix; what is left to be one has its rows far apart (3.6 times the time of tiles).
  if (bytes_of(s) < counted_bytes_of(s)) return false;
  // Measured with square batches on an H200: where the library passes ricci's kernels.
  const double side = std::cbrt(static_cast<double>(c.rows) * static_cast<double>(c.cols) * static_cast<double>(c.sum));
  // Products that only the library has to do one by one are done together by tiles.
  const bool cut = count_of(s.m) * count_of(s.n) > c.rows * c.cols;
  // Slower than tiles (measured on an H200): 16 bits at odd distances with long sums or short sides, and narrow products in batches.
  const bool half = size_of(s.a) == 2;
  const std::int64_t together = elements_together(c);
  // What warpgroups want of the factors is there; results that leave one by one weigh less than their sums.
  const bool rows_whole = warpgroups && c.row_a % 8 == 0 && c.row_b % 8 == 0 && c.sum > 96;
  if (half && together == 1 && (c.sum >= 512 || side < 72 || rows_whole)) return false;
  // Beside warpgroups also whole tiles with short sums, and other distances than multiples of 16 bytes, but for short sides of two
  // elements at once.
  if (half && warpgroups && c.rows == 128 && c.cols == 128 && c.sum <= 128) return false;
  if (half && warpgroups && (together == 4 || (together == 2 && side >= 240))) return false;
  if (compute_type(s.c) == dtype::f32 && !is_complex(s.c) && c.batch.extent > 1 && std::min(c.rows, c.cols) < 48) return false;
  // Rows without end beside a factor of up to 64 rows with short sums, and batches of up to 160 a side and small products of float: own
  // kernels are 1.05 to 1.7 times as fast.
  const bool single = compute_type(s.c) == dtype::f32 && !is_complex(s.c) && !half;
  constexpr std::int64_t few = 64;
  if (!half && c.batch.extent == 1 && std::min(c.rows, c.cols) <= few && c.sum < (single ? few : 48)) return false;
  if (single && (c.batch.extent > 1 ? side <= 160 : flops_of(s) < 5e8)) return false;
  // Long sides beside short sums: own kernels are 1.05 to 1.5 times as fast (measured on an H200), but for factors that are transposed, and
  // long rows of the result that begin anywhere.
  constexpr std::int64_t short_sum = 72, shortest = 16, short_row = 128, longest = 4096, together_in_word = 4;
  const bool begins = (single && c.rows <= short_row) || c.rows % together_in_word == 0;
  if ((single || s.c == dtype::c64) && c.batch.extent == 1 && c.sum >= shortest && c.sum <= short_sum && c.op_b == 'N' && begins && std::min(c.rows, c.cols) <= longest) return false;
  // A call alone takes some ten microseconds (measured on an H100).
  const double least_flops = !half || !warpgroups || c.row_c % 8 != 0 ? 1e8 : c.batch.extent == 1 ? 2e10 : 2e9;
  // Long sums of short sides: c64 and f64 of 32 x 32 x 128 2.4 and 1.5 times as fast as own kernels.
  constexpr std::int64_t long_sum = 100;
  if (!half && !single && !cut && s.c != dtype::c128 && c.sum >= long_sum && std::min(c.rows, c.cols) >= 32 && flops_of(s) >= least_flops) return true;
  return flops_of(s) >= least_flops && std::min({c.rows, c.cols, c.sum}) >= 32 && side > (cut ? 100 : s.c == dtype::c128 ? 51 : s.c == dtype::c64 ? 59 : 64.5);
}

std::string to_string(const blas_call& c) {
  const std::int64_t products = c.batch.extent, calls = count_of(c.calls);
  std::string t = "cuBLAS, ";
  if (calls > 1) t += std::to_string(calls) + " calls of ";
  return t + std::to_string(products) + (products == 1 ? " product of " : " products of ") + std::to_string(c.cols) + " x " +
         std::to_string(c.rows) + " x " + std::to_string(c.sum);
}

blas_use blas_use_wanted() {
  const char* const given = std::getenv("RICCI_CUBLAS");
  const std::string word = given ? given : "";
  return word == "0" ? blas_use::never : word == "always" ? blas_use::always : blas_use::where_it_wins;
}

}  // namespace ricci::cuda
