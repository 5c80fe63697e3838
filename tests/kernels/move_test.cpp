// The move kernels of every instruction set this CPU runs: layouts, conversions, beta, and nothing outside touched.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>
#include <vector>

#include "guarded.hpp"
#include "kernels/kernels.hpp"
#include "uniform.hpp"

using namespace ricci::kernels;
using ricci::bfloat16;
using ricci::dtype;
using ricci::half;
using extent_t = std::int64_t;
using rng = std::mt19937_64;

namespace {

using wide = std::complex<long double>;

template <class T> wide widen(T x) {
  if constexpr (ricci::is_complex(ricci::dtype_of<T>)) return {x.real(), x.imag()};
  else return {static_cast<long double>(static_cast<ricci::compute_of<T>>(x)), 0};
}

template <class T> T narrow(wide x) {
  if constexpr (ricci::is_complex(ricci::dtype_of<T>)) {
    using R = typename T::value_type;
    return T(static_cast<R>(x.real()), static_cast<R>(x.imag()));
  } else {
    return T(static_cast<ricci::compute_of<T>>(x.real()));
  }
}

/// Rounding of one operation in T's compute type, and of the store to T.
template <class T> long double unit() {
  switch (ricci::dtype_of<T>) {
    case dtype::f16: return 0x1p-11L;
    case dtype::bf16: return 0x1p-8L;
    case dtype::f32: case dtype::c64: return 0x1p-23L;
    default: return 0x1p-52L;
  }
}

template <class T> T random_value(rng& g) {
  const ricci::test::uniform<double> d{-2, 2};
  const double re = d(g);
  return narrow<T>(wide(re, ricci::is_complex(ricci::dtype_of<T>) ? d(g) : 0));
}

/// |x|: std::abs looks for overflow, of which long double has none here, in half of the tests' time.
long double size_of_value(wide x) { return x.imag() == 0 ? std::fabs(x.real()) : std::sqrt(x.real() * x.real() + x.imag() * x.imag()); }

struct layout {
  std::vector<extent_t> stride;
  extent_t first = 0, size = 1;
};

/// together: the first axis has stride 1.
layout lay_out(const std::vector<extent_t>& extent, bool may_repeat, bool together, rng& g) {
  layout l;
  l.stride.assign(extent.size(), 0);
  std::vector<std::size_t> order(extent.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), g);
  if (together) std::iter_swap(order.begin(), std::find(order.begin(), order.end(), 0u));
  extent_t step = g() % 4 == 0 && !together ? 2 : 1, last = 0;
  const bool gaps = g() % 2 == 0;
  for (std::size_t i : order) {
    const bool fixed = together && i == 0;
    if (may_repeat && !fixed && g() % 8 == 0) continue;  // a broadcast axis
    const bool backward = !fixed && g() % 6 == 0;
    l.stride[i] = backward ? -step : step;
    if (backward) l.first += step * (extent[i] - 1);
    last += step * (extent[i] - 1);
    step = step * extent[i] + (gaps ? static_cast<extent_t>(g() % 3) : 0);
  }
  l.size = last + 1;
  return l;
}

template <class S, class D> std::string one_move(const kernel_set& set, const std::vector<extent_t>& extent, bool together, rng& g) {
  const layout a = lay_out(extent, true, together, g), c = lay_out(extent, false, together, g);
  guarded<S> src(static_cast<std::size_t>(a.size), g() % 2);
  guarded<D> dst(static_cast<std::size_t>(c.size), g() % 2);
  const int kind = static_cast<int>(g() % 4);
  const bool turned = ricci::is_complex(ricci::dtype_of<D>) && g() % 2;
  const wide scale = kind < 2 ? wide(0) : kind == 2 ? wide(1) : wide(-0.5, turned ? 2 : 0);
  const ricci::compute_of<D> beta = narrow<ricci::compute_of<D>>(scale);
  for (S& x : src) x = random_value<S>(g);
  for (D& x : dst) x = kind < 2 ? narrow<D>(std::numeric_limits<long double>::quiet_NaN()) : random_value<D>(g);
  const std::vector<D> before(dst.begin(), dst.end());
  move_args m;
  m.axis_count = static_cast<int>(extent.size());
  m.streams = g() % 2;
  for (std::size_t i = 0; i < extent.size(); ++i) m.axes[i] = {extent[i], 0, a.stride[i], c.stride[i]};
  set.move[static_cast<int>(ricci::dtype_of<S>)][static_cast<int>(ricci::dtype_of<D>)](
      m, src.data() + a.first, dst.data() + c.first, kind == 0 ? nullptr : &beta);
  std::vector<extent_t> from(before.size(), -1), at(extent.size());
  for (bool more = true; more;) {
    extent_t i = a.first, o = c.first;
    for (std::size_t d = 0; d < at.size(); ++d) i += a.stride[d] * at[d], o += c.stride[d] * at[d];
    from[static_cast<std::size_t>(o)] = i;
    more = false;
    for (std::size_t d = 0; d < at.size() && !more; ++d) {
      more = ++at[d] < extent[d];
      if (!more) at[d] = 0;
    }
  }
  for (std::size_t o = 0; o < before.size(); ++o) {
    if (from[o] < 0) {
      if (std::memcmp(&before[o], &dst[o], sizeof(D)) != 0) return "wrote outside the view";
      continue;
    }
    const S x = src[static_cast<std::size_t>(from[o])];
    if (scale == wide(0)) {
      const D want = narrow<D>(widen(x));
      if (std::memcmp(&want, &dst[o], sizeof(D)) != 0) return "a value changed on the way to " + std::to_string(o);
      continue;
    }
    const wide want = widen(x) + scale * widen(before[o]), miss = widen(dst[o]) - want;
    const long double size = size_of_value(widen(x)) + size_of_value(scale) * size_of_value(widen(before[o]));
    if (!(size_of_value(miss) <= 3 * unit<D>() * size)) return "wrong sum at " + std::to_string(o);
  }
  return {};
}

template <class S, class D> void check_pair() {
  const kernel_sets sets = available();
  for (int i = 0; i < sets.count; ++i) {
    const kernel_set& set = *sets.first[i];
    INFO(set.isa << ' ' << ricci::name_of(ricci::dtype_of<S>) << " to " << ricci::name_of(ricci::dtype_of<D>));
    REQUIRE(set.move[static_cast<int>(ricci::dtype_of<S>)][static_cast<int>(ricci::dtype_of<D>)] != nullptr);
    rng g(5);
    for (int n = 0; n < (reduced_tests() ? 32 : 400); ++n) {
      std::vector<extent_t> extent(g() % 5);
      for (extent_t& e : extent) e = 1 + static_cast<extent_t>(g() % (extent.size() < 3 ? 40 : 9));
      if (n % 16 == 7) extent = {static_cast<extent_t>(20 + g() % 30), static_cast<extent_t>(2 + g() % 3), static_cast<extent_t>(100 + g() % 500)};  // runs of several axes
      if (n % 16 == 11) extent = {static_cast<extent_t>(32 * (1 + g() % 2)), static_cast<extent_t>(8 + g() % 90), static_cast<extent_t>(1 + g() % 3)};  // whole lines
      if (n % 32 == 13) extent = {static_cast<extent_t>(190 + g() % 60), static_cast<extent_t>(180 + g() % 60)};  // bands of rows
      const bool together = n % 4 == 2;  // short runs that stay as they are
      if (together) extent = {static_cast<extent_t>(1 + g() % (n % 8 == 2 ? 9 : 70)), static_cast<extent_t>(1 + g() % 20), static_cast<extent_t>(1 + g() % 20), static_cast<extent_t>(1 + g() % 3)};
      const std::string wrong = one_move<S, D>(set, extent, together, g);
      std::ostringstream shape;
      for (extent_t e : extent) shape << e << ' ';
      INFO("case " << n << ", extents " << shape.str());
      if (!wrong.empty()) CHECK(wrong == "");
    }
  }
}

template <class S, class D> std::vector<D> moved(const kernel_set& set, const std::vector<S>& from) {
  std::vector<D> to(from.size());
  move_args m;
  m.axis_count = 1;
  m.axes[0] = {static_cast<extent_t>(from.size()), 0, 1, 1};
  const move_fn fn = set.move[static_cast<int>(ricci::dtype_of<S>)][static_cast<int>(ricci::dtype_of<D>)];
  fn(m, from.data(), to.data(), nullptr);
  return to;
}

/// The value of a 16-bit pattern, from the definition of the format.
double value_of(unsigned bits, int exponent_bits, int fraction_bits) {
  const int sign = bits >> 15 ? -1 : 1, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = static_cast<int>(bits) & ((1 << fraction_bits) - 1);
  if (exponent == (1 << exponent_bits) - 1)
    return fraction ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  const int implied = exponent ? fraction + (1 << fraction_bits) : fraction;
  return sign * std::ldexp(implied, (exponent ? exponent : 1) - bias - fraction_bits);
}

template <class H> void check_widening(const kernel_set& set, int exponent_bits, int fraction_bits) {
  std::vector<H> all(65536);
  for (unsigned i = 0; i < 65536; ++i) all[i].bits = static_cast<std::uint16_t>(i);
  const std::vector<float> wide_values = moved<H, float>(set, all);
  const std::vector<double> doubles = moved<H, double>(set, all);
  int wrong = 0;
  for (unsigned i = 0; i < 65536; ++i) {
    const double want = value_of(i, exponent_bits, fraction_bits);
    const bool right = std::isnan(want) ? std::isnan(wide_values[i]) && std::isnan(doubles[i])
                                        : wide_values[i] == want && doubles[i] == want &&
                                              std::signbit(wide_values[i]) == std::signbit(want);
    wrong += !right;
  }
  CHECK(wrong == 0);
}

/// Every 16-bit value, the points half way to the next one, and their neighbours: all ways a rounding can go.
template <class H> void check_narrowing(const kernel_set& set, int exponent_bits, int fraction_bits) {
  std::vector<float> from;
  std::vector<unsigned> want;
  const unsigned infinity = ((1u << exponent_bits) - 1) << fraction_bits;
  for (unsigned sign = 0; sign <= 0x8000u; sign += 0x8000u)
    for (unsigned i = 0; i <= infinity; ++i) {
      const double x = value_of(i, exponent_bits, fraction_bits), s = sign ? -1 : 1;
      from.push_back(static_cast<float>(s * x)), want.push_back(i | sign);
      if (i >= infinity) continue;
      const double next = i + 1 == infinity ? 2 * x - value_of(i - 1, exponent_bits, fraction_bits)
                                            : value_of(i + 1, exponent_bits, fraction_bits);
      const float middle = static_cast<float>((x + next) / 2), top = std::numeric_limits<float>::infinity();
      from.push_back(static_cast<float>(s * middle)), want.push_back((i % 2 ? i + 1 : i) | sign);
      from.push_back(static_cast<float>(s * std::nextafter(middle, 0.0f))), want.push_back(i | sign);
      from.push_back(static_cast<float>(s * std::nextafter(middle, top))), want.push_back((i + 1) | sign);
    }
  const std::vector<H> to = moved<float, H>(set, from);
  int wrong = 0;
  for (std::size_t i = 0; i < from.size(); ++i) wrong += to[i].bits != want[i];
  CHECK(wrong == 0);
  const std::vector<float> nans(5, std::numeric_limits<float>::quiet_NaN());
  for (H h : moved<float, H>(set, nans)) CHECK(std::isnan(static_cast<float>(h)));
}

}  // namespace

TEST_CASE("moves: every type to itself, any layout") {
  check_pair<float, float>();
  check_pair<double, double>();
  check_pair<std::complex<float>, std::complex<float>>();
  check_pair<std::complex<double>, std::complex<double>>();
  check_pair<half, half>();
  check_pair<bfloat16, bfloat16>();
}

TEST_CASE("moves: columns of the destination whole pages apart") {
  const auto check = [](auto one) {
    using T = decltype(one);
    const kernel_sets sets = available();
    for (int n = 0; n < sets.count; ++n)
      for (const extent_t rows : {1024, 1013})
        for (const extent_t columns : {8, 16, 37}) {
          constexpr extent_t apart = 4096 / static_cast<extent_t>(sizeof(T)) * 2;
          std::vector<T> from(static_cast<std::size_t>(rows * columns)), to(static_cast<std::size_t>(columns * apart), static_cast<T>(-1.0f));
          for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(static_cast<float>(i % 251));
          move_args m;
          m.axis_count = 2;
          m.axes[0] = {rows, 0, columns, 1}, m.axes[1] = {columns, 0, 1, apart};
          sets.first[n]->move[static_cast<int>(ricci::dtype_of<T>)][static_cast<int>(ricci::dtype_of<T>)](m, from.data(), to.data(), nullptr);
          std::int64_t wrong = 0;
          for (extent_t j = 0; j < columns; ++j)
            for (extent_t i = 0; i < apart; ++i)
              wrong += static_cast<float>(to[static_cast<std::size_t>(j * apart + i)]) != (i < rows ? static_cast<float>(from[static_cast<std::size_t>(i * columns + j)]) : -1.0f);
          INFO(rows << " rows, " << columns << " columns");
          CHECK(wrong == 0);
        }
  };
  check(1.0f), check(half(1.0f)), check(bfloat16(1.0f));
}

TEST_CASE("moves: between types, any layout") {
  check_pair<half, float>();
  check_pair<bfloat16, float>();
  check_pair<float, half>();
  check_pair<float, bfloat16>();
  check_pair<half, double>();
  check_pair<bfloat16, double>();
  check_pair<float, double>();
  check_pair<double, float>();
  check_pair<std::complex<float>, std::complex<double>>();
  check_pair<std::complex<double>, std::complex<float>>();
  check_pair<float, std::complex<float>>();
  check_pair<float, std::complex<double>>();
  check_pair<double, std::complex<double>>();
}

TEST_CASE("moves: all 16-bit values and all ways to round to them") {
  const kernel_sets sets = available();
  for (int i = 0; i < sets.count; ++i) {
    INFO(sets.first[i]->isa);
    check_widening<half>(*sets.first[i], 5, 10);
    check_widening<bfloat16>(*sets.first[i], 8, 7);
    check_narrowing<half>(*sets.first[i], 5, 10);
    check_narrowing<bfloat16>(*sets.first[i], 8, 7);
  }
}

TEST_CASE("peak functions say how many flops they did") {
  const kernel_sets sets = available();
  for (int i = 0; i < sets.count; ++i) {
    CHECK(sets.first[i]->peak[0](3) == 2 * sets.first[i]->peak[0](1) + sets.first[i]->peak[0](1));
    CHECK(sets.first[i]->peak[1](10) > 0);
  }
}
