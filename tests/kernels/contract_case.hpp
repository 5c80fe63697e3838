// One contraction kernel call: extents, random strides, operands in guarded memory, and the check of its result.
#pragma once

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "guarded.hpp"
#include "kernels/kernels.hpp"
#include "uniform.hpp"

namespace contract_case {

using namespace ricci::kernels;
using ricci::dtype;
using extent_t = std::int64_t;
using rng = std::mt19937_64;

template <class T> struct real_of { using type = T; };
template <class T> struct real_of<std::complex<T>> { using type = T; };
template <class T> inline constexpr bool complex_type = !std::is_same_v<T, typename real_of<T>::type>;

/// What the exact product is computed in, and its real parts.
template <class T> using wide_real = std::conditional_t<std::is_same_v<typename real_of<T>::type, float>, double, long double>;
template <class T> using wide = std::conditional_t<complex_type<T>, std::complex<wide_real<T>>, wide_real<T>>;

struct shape {
  lanes along = lanes::n;
  extent_t lane = 1, row = 1, col = 1, k = 1, k_outer = 1;
  std::vector<extent_t> loops;
  bool conj_a = false, conj_b = false;
  bool packed = false;  // no gaps, natural order
  bool k_next = false;  // lanes::n: a has unit stride along k
  bool dense_c = false;  // c as if it were packed
  bool ones = false;     // lanes::k: a is a vector of ones
};

inline std::string text(const shape& s) {
  std::ostringstream o;
  o << "lanes::" << (s.along == lanes::n ? "n" : s.along == lanes::batch ? "batch" : "k") << " lane " << s.lane
    << " row " << s.row << " col " << s.col << " k " << s.k << " k_outer " << s.k_outer << " loops";
  for (extent_t e : s.loops) o << ' ' << e;
  o << (s.conj_a ? " conj_a" : "") << (s.conj_b ? " conj_b" : "") << (s.packed ? " packed" : "") << (s.dense_c ? " dense_c" : "") << (s.ones ? " ones" : "");
  return o.str();
}

/// An operand's strides for lane, row, col, k, k_outer, loops...; zero where it lacks the axis.
struct layout {
  std::vector<extent_t> stride;
  extent_t first = 0, size = 1;  // where element 0 lies (strides may be negative), and how many elements
};

/// Axis `unit` has stride 1, if there is one.
inline layout lay_out(const std::vector<extent_t>& extent, const std::vector<bool>& has, bool packed, rng& g, std::size_t unit = 0) {
  layout l;
  l.stride.assign(extent.size(), 0);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < extent.size(); ++i)
    if (has[i] && i != unit) order.push_back(i);
  if (!packed) std::shuffle(order.begin(), order.end(), g);
  extent_t step = 1, last = 0;
  const auto place = [&](std::size_t i) {
    const bool backward = !packed && i != unit && g() % 5 == 0;
    l.stride[i] = backward ? -step : step;
    if (backward) l.first += step * (extent[i] - 1);
    last += step * (extent[i] - 1);
    step = step * extent[i] + (packed ? 0 : static_cast<extent_t>(g() % 3));
  };
  if (has[unit]) place(unit);
  for (std::size_t i : order) place(i);
  l.size = last + 1;
  return l;
}

/// What elements of 16 bits are computed in.
template <class T> inline constexpr bool narrow_type = std::is_same_v<T, ricci::half> || std::is_same_v<T, ricci::bfloat16>;

template <class T> T random_value(rng& g) {
  using R = std::conditional_t<narrow_type<T>, float, typename real_of<T>::type>;
  const ricci::test::uniform<R> d{R(-1), R(1)};
  if constexpr (complex_type<T>) {
    const R re = d(g);
    return T(re, d(g));
  } else if constexpr (narrow_type<T>) {
    return T(g() % 8 == 0 ? 0x1p-16f * d(g) : d(g));  // halves below the normal ones among them
  } else {
    return d(g);
  }
}

template <class T> wide<T> widen(T x) {
  if constexpr (complex_type<T>) return {x.real(), x.imag()};
  else return x;
}

template <class T> auto size_of_value(T x) {
  using L = wide_real<T>;
  if constexpr (complex_type<T>) return std::fabs(static_cast<L>(x.real())) + std::fabs(static_cast<L>(x.imag()));
  else return std::fabs(static_cast<L>(x));
}

/// The product of finite numbers: std::complex's looks for others, which takes most of a reference's time.
template <class W> W product_of(W x, W y) {
  if constexpr (complex_type<W>) return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  else return x * y;
}

/// Runs the kernel of `set` on the shape with random data. Returns what is wrong, or nothing. A, B: what a and b are stored in.
template <class T, class A = T, class B = T> class runner {
 public:
  runner(const kernel_set& set, const shape& s, rng& g) : set_(set), s_(s) {
    extent_ = {s.lane, s.row, s.col, s.k, s.k_outer};
    extent_.insert(extent_.end(), s.loops.begin(), s.loops.end());
    const bool batch = s.along == lanes::batch, dot = s.along == lanes::k;
    std::vector<bool> a{batch || dot, true, false, true, true}, b{true, false, true, true, true};
    std::vector<bool> c{!dot, true, true, false, false};
    for (std::size_t i = 0; i < s.loops.size(); ++i) {
      a.push_back(g() % 4 != 0);
      b.push_back(g() % 4 != 0);
      c.push_back(true);
    }
    if (s.ones) a.assign(a.size(), false);
    a_ = lay_out(extent_, a, s.packed, g, s.k_next ? 3 : 0);
    b_ = lay_out(extent_, b, s.packed, g);
    c_ = lay_out(extent_, c, s.packed || s.dense_c, g);
    if (s.ones) a_.size = 64 / static_cast<extent_t>(sizeof(A));
    for (extent_t i = 0; i < s.k_outer; ++i) {
      table_a_.push_back(a_.stride[4] * i);
      table_b_.push_back(b_.stride[4] * i);
    }
    at_end_ = g() % 2 == 0;
  }

  std::string run(T alpha, T beta, rng& g, bool nan_in_a = false) {
    guarded<A> a(static_cast<std::size_t>(a_.size), at_end_);
    guarded<B> b(static_cast<std::size_t>(b_.size), at_end_);
    guarded<T> c(static_cast<std::size_t>(c_.size), at_end_);
    for (A& x : a) x = s_.ones ? A(1) : random_value<A>(g);
    for (B& x : b) x = nan_in_a ? B(0) : random_value<B>(g);
    if (nan_in_a) a[static_cast<std::size_t>(a_.first)] = A(std::numeric_limits<R>::quiet_NaN());
    const R poison = std::numeric_limits<R>::quiet_NaN();
    for (T& x : c) x = beta == T(0) ? T(poison) : random_value<T>(g);
    const std::vector<T> before(c.begin(), c.end());
    call(alpha, beta, a.data(), b.data(), c.data());
    return nan_in_a ? check_nan(c) : compare(alpha, beta, a, b, before, c);
  }

 private:
  using R = typename real_of<T>::type;

  contract_fn kernel() const {
    if constexpr (narrow_type<B>) return set_.narrow_dots[std::is_same_v<B, ricci::bfloat16>][std::is_same_v<A, B>];
    else return set_.contract[static_cast<int>(ricci::dtype_of<T>)][static_cast<int>(s_.along)];
  }

  void call(T alpha, T beta, const A* a, const B* b, T* c) const {
    contract_args g;
    g.lane_extent = s_.lane;
    g.row = {s_.row, a_.stride[1], 0, c_.stride[1]};
    g.col = {s_.col, 0, b_.stride[2], c_.stride[2]};
    g.k = s_.k, g.k_a = a_.stride[3], g.k_b = b_.stride[3];
    g.k_outer = s_.k_outer;
    if (s_.k_outer > 1) g.k_outer_a = table_a_.data(), g.k_outer_b = table_b_.data();
    g.loop_count = static_cast<int>(s_.loops.size());
    for (std::size_t i = 0; i < s_.loops.size(); ++i)
      g.loops[i] = {s_.loops[i], a_.stride[5 + i], b_.stride[5 + i], c_.stride[5 + i]};
    g.conj_a = s_.conj_a, g.conj_b = s_.conj_b, g.ones_a = s_.ones;
    kernel()(g, a + a_.first, b + b_.first, c + c_.first, &alpha, &beta);
  }

  static extent_t offset(const layout& l, const std::vector<extent_t>& at) {
    extent_t o = l.first;
    for (std::size_t i = 0; i < at.size(); ++i) o += l.stride[i] * at[i];
    return o;
  }

  std::string compare(T alpha, T beta, const guarded<A>& a, const guarded<B>& b, const std::vector<T>& before,
                      const guarded<T>& c) const {
    using W = wide_real<T>;
    std::vector<wide<T>> sum(before.size());
    std::vector<W> size(before.size());
    std::vector<char> written(before.size());
    std::vector<extent_t> at(extent_.size());
    do {  // lanes, which are axis 0
      const extent_t at_a = offset(a_, at), at_b = offset(b_, at), at_c = offset(c_, at);
      for (extent_t n = 0; n < extent_[0]; ++n) {
        wide<T> x = widen(static_cast<T>(a[static_cast<std::size_t>(at_a + n * a_.stride[0])]));
        wide<T> y = widen(static_cast<T>(b[static_cast<std::size_t>(at_b + n * b_.stride[0])]));
        if constexpr (complex_type<T>) {
          if (s_.conj_a) x = std::conj(x);
          if (s_.conj_b) y = std::conj(y);
        }
        const std::size_t to = static_cast<std::size_t>(at_c + n * c_.stride[0]);
        sum[to] += product_of(x, y);
        size[to] += size_of_value(x) * size_of_value(y);
        written[to] = true;
      }
    } while (next(at));
    const extent_t terms = s_.k * s_.k_outer * (s_.along == lanes::k ? s_.lane : 1);
    const W unit = static_cast<W>(terms + 3) * std::numeric_limits<R>::epsilon();
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (!written[i]) {
        if (std::memcmp(&before[i], &c[i], sizeof(T)) != 0) return "wrote outside the view at " + std::to_string(i);
        continue;
      }
      wide<T> want = product_of(widen(alpha), sum[i]);
      W bound = size_of_value(alpha) * size[i];
      if (beta != T(0)) want += product_of(widen(beta), widen(before[i])), bound += size_of_value(beta) * size_of_value(before[i]);
      const W miss = size_of_value(widen(c[i]) - want);
      if (!(miss <= (complex_type<T> ? 2 : 1) * unit * bound)) {
        std::ostringstream o;
        o << "element " << i << ": " << c[i] << " is wrong by " << miss / (unit * bound) << " bounds";
        return o.str();
      }
    }
    return {};
  }

  std::string check_nan(const guarded<T>& c) const {
    const T x = c[static_cast<std::size_t>(c_.first)];
    return size_of_value(x) == size_of_value(x) ? "a NaN times zero was lost" : "";
  }

  /// The next place of the axes but the first.
  bool next(std::vector<extent_t>& at) const {
    for (std::size_t d = 1; d < at.size(); ++d) {
      if (++at[d] < extent_[d]) return true;
      at[d] = 0;
    }
    return false;
  }

  const kernel_set& set_;
  shape s_;
  std::vector<extent_t> extent_, table_a_, table_b_;
  layout a_, b_, c_;
  bool at_end_ = false;
};

}  // namespace contract_case
