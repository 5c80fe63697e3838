// The reference in plain loops and long double.
#include "program/reference.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <type_traits>
#include <utility>

namespace ricci {
namespace {

using wide = std::complex<long double>;

wide load(dtype t, const void* p, std::int64_t i) {
  switch (t) {
    case dtype::f32: return wide(static_cast<const float*>(p)[i]);
    case dtype::f64: return wide(static_cast<const double*>(p)[i]);
    case dtype::c64: return wide(static_cast<const std::complex<float>*>(p)[i]);
    case dtype::c128: return wide(static_cast<const std::complex<double>*>(p)[i]);
    case dtype::f16: return wide(static_cast<float>(static_cast<const half*>(p)[i]));
    case dtype::bf16: return wide(static_cast<float>(static_cast<const bfloat16*>(p)[i]));
  }
  return {};
}

void save(dtype t, void* p, std::int64_t i, wide x) {
  const auto narrow = [&x]<class R>(R) { return std::complex<R>(static_cast<R>(x.real()), static_cast<R>(x.imag())); };
  switch (t) {
    case dtype::f32: static_cast<float*>(p)[i] = static_cast<float>(x.real()); break;
    case dtype::f64: static_cast<double*>(p)[i] = static_cast<double>(x.real()); break;
    case dtype::c64: static_cast<std::complex<float>*>(p)[i] = narrow(float{}); break;
    case dtype::c128: static_cast<std::complex<double>*>(p)[i] = narrow(double{}); break;
    case dtype::f16: static_cast<half*>(p)[i] = half(static_cast<float>(x.real())); break;
    case dtype::bf16: static_cast<bfloat16*>(p)[i] = bfloat16(static_cast<float>(x.real())); break;
  }
}

/// Calls f(index) for every combination of the labels listed, the last fastest; index is indexed by label.
template <class F>
void nest(const program& p, const std::vector<int>& labels, std::vector<std::int64_t>& index, F&& f) {
  for (int l : labels) {
    if (p.labels[l].extent == 0) return;
    index[l] = 0;
  }
  for (;;) {
    f();
    std::size_t d = labels.size();
    while (d > 0 && ++index[labels[d - 1]] == p.labels[labels[d - 1]].extent) index[labels[--d]] = 0;
    if (d == 0) return;
  }
}

std::int64_t offset(const std::vector<reference_axis>& axes, const std::vector<std::int64_t>& index) {
  std::int64_t at = 0;
  for (const auto& axis : axes) at += index[axis.label] * axis.stride;
  return at;
}

std::int64_t offset(const reference& r, const std::vector<std::int64_t>& index, const bindings& b) {
  std::int64_t at = offset(r.axes, index);
  for (const lookup& x : r.lookups) {
    const std::int64_t entry = offset(x.axes, index);
    at += x.stride * (x.wide ? static_cast<const std::int64_t*>(b.pointers[x.slot])[entry]
                             : static_cast<const std::int32_t*>(b.pointers[x.slot])[entry]);
  }
  return at;
}

/// A number and the bound of its rounding error in units of epsilon.
struct bounded {
  wide value = 0;
  long double error = 0;
};

/// |x|, without a square root where x is real.
long double size(long double x) { return std::abs(x); }
long double size(wide x) {  // squares of doubles are within a long double's range
  return x.imag() == 0 ? std::abs(x.real()) : std::sqrt(x.real() * x.real() + x.imag() * x.imag());
}

bounded applied(function f, bounded x) {
  const long double r = x.value.real();
  switch (f) {
    case function::identity: case function::none: return x;
    case function::reciprocal: return {wide(1) / x.value, x.error / (size(x.value) * size(x.value)) + 1 / size(x.value)};
    case function::sqrt: return {std::sqrt(r), x.error / (2 * std::sqrt(r)) + std::sqrt(r)};
    case function::rsqrt: return {1 / std::sqrt(r), x.error / (2 * r * std::sqrt(r)) + 2 / std::sqrt(r)};
    case function::abs: return {std::abs(r), x.error};
    case function::exp: return {std::exp(r), std::exp(r) * (x.error + 2)};
  }
  return x;
}

bounded combined(combine how, const bounded& x, const bounded& y) {
  if (how == combine::multiply) {
    const long double a = size(x.value), c = size(y.value);
    return {x.value * y.value, a * y.error + c * x.error + a * c};
  }
  const long double a = x.value.real(), c = y.value.real();
  const bool first = how == combine::minimum ? !(c < a) : !(a < c);
  return {first ? x.value : y.value, std::max(x.error, y.error)};
}

std::vector<int> left_labels(const statement& s) { return labels_of(s.left); }

std::vector<int> summed_labels(const product& t, const std::vector<int>& left) {
  std::vector<int> summed;
  for (const reference& f : t.factors)
    for (const int l : labels_of(f))
      if (std::find(left.begin(), left.end(), l) == left.end() && std::find(summed.begin(), summed.end(), l) == summed.end())
        summed.push_back(l);
  return summed;
}

/// With the signs of the term and of the statement.
wide coefficient_of(const product& t, const statement& s, const bindings& b) {
  const wide x = t.scalar < 0 ? wide(1) : wide(b.scalars[t.scalar]);
  return t.negate != (s.op == update::subtract) ? -x : x;
}

/// The sum over one term, along lines of its last summed label: its factors' places are found once a line.
class term_lines {
 public:
  term_lines(const program& p, const product& t, wide coefficient, std::vector<int> summed, const bindings& b)
      : p_(p), t_(t), coefficient_(coefficient), outer_(std::move(summed)), b_(b), points_(t.factors.size()) {
    real_ = coefficient.imag() == 0;
    bool straight = !outer_.empty();
    for (const reference& f : t.factors) real_ = real_ && !is_complex(f.type), straight = straight && f.lookups.empty();
    if (!straight) return;
    const int last = outer_.back();
    outer_.pop_back();
    count_ = p.labels[last].extent, last_ = last;
    for (std::size_t f = 0; f < points_.size(); ++f)
      for (const reference_axis& axis : t.factors[f].axes)
        if (axis.label == last) points_[f].step += axis.stride;
  }

  /// Adds to the sum and to the sum of the magnitudes; returns how many products.
  std::int64_t add(std::vector<std::int64_t>& index, wide& sum, long double& magnitude) {
    std::int64_t lines = 0;
    if (last_ >= 0) index[last_] = 0;
    long double narrow = 0;
    nest(p_, outer_, index, [&] {
      for (std::size_t f = 0; f < points_.size(); ++f) points_[f].at = offset(t_.factors[f], index, b_);
      if (real_) line(coefficient_.real(), narrow, magnitude);
      else line(coefficient_, sum, magnitude);
      ++lines;
    });
    sum += narrow;
    return lines * count_;
  }

 private:
  struct point {
    std::int64_t at = 0, step = 0;
  };

  template <class X>  // long double or wide
  void line(X coefficient, X& sum, long double& magnitude) {
    for (std::int64_t n = 0; n < count_; ++n) {
      X x = coefficient;
      for (std::size_t f = 0; f < points_.size(); ++f) {
        const reference& r = t_.factors[f];
        wide y = load(r.type, b_.pointers[r.slot], points_[f].at + n * points_[f].step);
        if (r.conj) y = std::conj(y);
        if (r.apply != function::none && r.apply != function::identity) y = applied(r.apply, {y, 0}).value;
        X z;
        if constexpr (std::is_same_v<X, wide>) z = y;
        else z = y.real();
        if (f == 0) x = z;
        else if (t_.how == combine::multiply) x *= z;
        else x = smaller_or_larger(x, z);
      }
      if (!points_.empty()) x *= coefficient;
      sum += x;
      magnitude += size(x);
    }
  }

  template <class X>
  X smaller_or_larger(X x, X z) const {
    if constexpr (std::is_same_v<X, wide>) return combined(t_.how, {x, 0}, {z, 0}).value;
    else return combined(t_.how, {wide(x), 0}, {wide(z), 0}).value.real();
  }

  const program& p_;
  const product& t_;
  wide coefficient_;
  std::vector<int> outer_;  // the summed labels but the last
  const bindings& b_;
  std::vector<point> points_;  // where the factors are
  std::int64_t count_ = 1;
  int last_ = -1;
  bool real_ = true;
};

}  // namespace

reference_result evaluate(const program& p, int which, const bindings& b) {
  const statement& s = p.statements[which];
  const std::vector<int> left = left_labels(s);
  std::vector<std::int64_t> index(p.labels.size());
  std::vector<term_lines> lines;
  for (const product& t : s.terms) lines.emplace_back(p, t, coefficient_of(t, s, b), summed_labels(t, left), b);
  reference_result out;
  nest(p, left, index, [&] {
    wide sum = 0;
    long double magnitude = 0;
    std::int64_t terms = 0;
    if (s.op != update::assign) {
      sum = load(s.left.type, b.pointers[s.left.slot], offset(s.left, index, b));
      magnitude = size(sum);
      ++terms;
    }
    for (std::size_t t = 0; t < s.terms.size(); ++t) terms += lines[t].add(index, sum, magnitude);
    out.value.push_back(sum);
    out.magnitude.push_back(magnitude);
    out.terms = std::max(out.terms, terms);
  });
  return out;
}

namespace {

/// Runs a program; locals live in maps of its own.
class whole {
 public:
  whole(const program& p, const bindings& b) : p_(p), b_(b), locals_(p.local_count), index_(p.labels.size()) {}

  reference_result one(const statement& s) {
    const std::vector<int> left = left_labels(s);
    std::vector<bounded> sums;
    reference_result out;
    std::vector<std::vector<int>> summed;
    for (const product& t : s.terms) summed.push_back(summed_labels(t, left));
    nest(p_, left, index_, [&] { sums.push_back(right(s, summed, out.terms)); });
    std::size_t at = 0;
    if (s.left.local >= 0) shape(s.left, left);
    nest(p_, left, index_, [&] { out.value.push_back(put(s, sums[at], out)), ++at; });
    return out;
  }

 private:
  struct stored {
    std::vector<std::int64_t> strides;
    std::vector<bounded> values;
  };

  std::int64_t local_offset(const reference& r) const {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < r.axes.size(); ++d) at += index_[r.axes[d].label] * locals_[r.local].strides[d];
    return at;
  }

  const char* address(const reference& r, std::int64_t at) const {
    return static_cast<const char*>(b_.pointers[r.slot]) + at * static_cast<std::int64_t>(size_of(r.type));
  }

  bounded get(const reference& r) const {
    if (r.local >= 0) return locals_[r.local].values[static_cast<std::size_t>(local_offset(r))];
    const std::int64_t at = offset(r, index_, b_);
    return {load(r.type, b_.pointers[r.slot], at), error_at(address(r, at))};
  }

  /// The error of what was stored in an element; 0 if nothing was.
  long double error_at(const char* p) const {
    if (errors_.empty() || p < errors_.begin()->first || p > errors_.rbegin()->first) return 0;
    const auto known = errors_.find(p);
    return known == errors_.end() ? 0 : known->second;
  }

  void shape(const reference& r, const std::vector<int>& labels) {
    stored& x = locals_[r.local];
    if (!x.values.empty()) return;
    std::int64_t step = 1;
    x.strides.assign(labels.size(), 0);
    for (std::size_t d = labels.size(); d-- > 0;) x.strides[d] = step, step *= p_.labels[labels[d]].extent;
    x.values.resize(static_cast<std::size_t>(step));
  }

  bounded right(const statement& s, const std::vector<std::vector<int>>& summed, std::int64_t& terms) {
    bounded sum;
    std::int64_t count = 0;
    long double sizes = 0;
    for (std::size_t n = 0; n < s.terms.size(); ++n) {
      const product& t = s.terms[n];
      const wide coefficient = coefficient_of(t, s, b_);
      nest(p_, summed[n], index_, [&] {
        bounded x = t.factors.empty() ? bounded{1, 0} : factor(t.factors[0]);
        for (std::size_t f = 1; f < t.factors.size(); ++f) x = combined(t.how, x, factor(t.factors[f]));
        x = combined(combine::multiply, {coefficient, 0}, x);
        sum.value += x.value, sum.error += x.error, sizes += size(x.value);
        ++count;
      });
    }
    sum.error += static_cast<long double>(count) * sizes;
    terms = std::max(terms, count);
    return sum;
  }

  bounded factor(const reference& f) const {
    bounded x = get(f);
    if (f.conj) x.value = std::conj(x.value);
    return applied(f.apply, x);
  }

  /// Adds to or sets one element of the left side; what is stored in memory is rounded, its error remembered.
  wide put(const statement& s, bounded x, reference_result& out) {
    if (s.op != update::assign) {
      const bounded old = get(s.left);
      x.value += old.value;
      x.error += old.error + size(x.value) + size(old.value);
    }
    out.magnitude.push_back(x.error);
    if (s.left.local >= 0) {
      locals_[s.left.local].values[static_cast<std::size_t>(local_offset(s.left))] = x;
    } else {
      const std::int64_t at = offset(s.left, index_, b_);
      save(s.left.type, b_.pointers[s.left.slot], at, x.value);
      errors_[address(s.left, at)] = x.error + size(x.value);
    }
    return x.value;
  }

  const program& p_;
  const bindings& b_;
  std::vector<stored> locals_;
  std::vector<std::int64_t> index_;
  std::map<const char*, long double> errors_;  // of elements that were stored
};

}  // namespace

std::vector<reference_result> evaluate_all(const program& p, const bindings& b) {
  whole w(p, b);
  std::vector<reference_result> out;
  for (const statement& s : p.statements) out.push_back(w.one(s));
  return out;
}

void store(const program& p, int which, const bindings& b, const reference_result& r) {
  const statement& s = p.statements[which];
  const std::vector<int> left = left_labels(s);
  std::vector<std::int64_t> index(p.labels.size());
  std::size_t at = 0;
  nest(p, left, index, [&] { save(s.left.type, b.pointers[s.left.slot], offset(s.left, index, b), r.value[at++]); });
}

}  // namespace ricci
