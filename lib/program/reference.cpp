// The reference in plain loops and long double.
#include "program/reference.hpp"

#include <algorithm>

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

std::int64_t offset(const reference& r, const std::vector<std::int64_t>& index) {
  std::int64_t at = 0;
  for (const auto& axis : r.axes) at += index[axis.label] * axis.stride;
  return at;
}

}  // namespace

reference_result evaluate(const program& p, int which, const bindings& b) {
  const statement& s = p.statements[which];
  std::vector<int> left;
  for (const auto& axis : s.left.axes) left.push_back(axis.label);
  std::vector<std::int64_t> index(p.labels.size());
  reference_result out;
  nest(p, left, index, [&] {
    wide sum = 0;
    long double magnitude = 0;
    std::int64_t terms = 0;
    if (s.op != update::assign) {
      sum = load(s.left.type, b.pointers[s.left.slot], offset(s.left, index));
      magnitude = std::abs(sum);
      ++terms;
    }
    for (const product& t : s.terms) {
      std::vector<int> summed;
      for (const reference& f : t.factors)
        for (const auto& axis : f.axes)
          if (std::find(left.begin(), left.end(), axis.label) == left.end() &&
              std::find(summed.begin(), summed.end(), axis.label) == summed.end())
            summed.push_back(axis.label);
      wide coefficient = t.scalar < 0 ? wide(1) : wide(b.scalars[t.scalar]);
      if (t.negate != (s.op == update::subtract)) coefficient = -coefficient;
      nest(p, summed, index, [&] {
        wide x = coefficient;
        for (const reference& f : t.factors) {
          const wide y = load(f.type, b.pointers[f.slot], offset(f, index));
          x *= f.conj ? std::conj(y) : y;
        }
        sum += x;
        magnitude += std::abs(x);
        ++terms;
      });
    }
    out.value.push_back(sum);
    out.magnitude.push_back(magnitude);
    out.terms = std::max(out.terms, terms);
  });
  return out;
}

void store(const program& p, int which, const bindings& b, const reference_result& r) {
  const statement& s = p.statements[which];
  std::vector<int> left;
  for (const auto& axis : s.left.axes) left.push_back(axis.label);
  std::vector<std::int64_t> index(p.labels.size());
  std::size_t at = 0;
  nest(p, left, index, [&] { save(s.left.type, b.pointers[s.left.slot], offset(s.left, index), r.value[at++]); });
}

}  // namespace ricci
