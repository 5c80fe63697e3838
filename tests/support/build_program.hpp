// Builds programs by hand for tests: labels by letter, memory owned by the case.
#pragma once

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <ricci/engine/engine.hpp>

#include "program/reference.hpp"
#include "uniform.hpp"

namespace ricci::test {

inline double epsilon_of(dtype t) {
  switch (t) {
    case dtype::f64: case dtype::c128: return std::numeric_limits<double>::epsilon();
    case dtype::f16: return 0x1p-10;
    case dtype::bf16: return 0x1p-7;
    default: return static_cast<double>(std::numeric_limits<float>::epsilon());
  }
}

/// Writes x, rounded to type t, as element i.
inline void put(dtype t, void* p, std::int64_t i, std::complex<double> x) {
  switch (t) {
    case dtype::f32: static_cast<float*>(p)[i] = static_cast<float>(x.real()); break;
    case dtype::f64: static_cast<double*>(p)[i] = x.real(); break;
    case dtype::c64: static_cast<std::complex<float>*>(p)[i] = std::complex<float>(x); break;
    case dtype::c128: static_cast<std::complex<double>*>(p)[i] = x; break;
    case dtype::f16: static_cast<half*>(p)[i] = half(static_cast<float>(x.real())); break;
    case dtype::bf16: static_cast<bfloat16*>(p)[i] = bfloat16(static_cast<float>(x.real())); break;
  }
}

inline std::complex<double> get(dtype t, const void* p, std::int64_t i) {
  switch (t) {
    case dtype::f32: return static_cast<double>(static_cast<const float*>(p)[i]);
    case dtype::f64: return static_cast<const double*>(p)[i];
    case dtype::c64: return std::complex<double>(static_cast<const std::complex<float>*>(p)[i]);
    case dtype::c128: return static_cast<const std::complex<double>*>(p)[i];
    case dtype::f16: return static_cast<double>(static_cast<float>(static_cast<const half*>(p)[i]));
    case dtype::bf16: return static_cast<double>(static_cast<float>(static_cast<const bfloat16*>(p)[i]));
  }
  return 0;
}

/// A program and the memory behind its slots. Labels are single letters with extents given first.
class case_builder {
 public:
  explicit case_builder(dtype t, unsigned seed = 1) : type(t), rng_(seed) {}

  int label(char name, std::int64_t extent) {
    p.labels.push_back({std::string(1, name), extent});
    return static_cast<int>(p.labels.size()) - 1;
  }

  int find(char name) const {
    for (std::size_t l = 0; l < p.labels.size(); ++l)
      if (p.labels[l].name[0] == name) return static_cast<int>(l);
    return -1;
  }

  /// A tensor with one axis a letter, memory order given by `order` (outermost first; default: as written), every
  /// stride multiplied by `gap`.
  reference tensor(const std::string& name, const std::string& labels, std::string order = "", std::int64_t gap = 1) {
    reference r;
    r.name = name;
    r.type = type;
    r.slot = p.slot_count++;
    if (order.empty()) order = labels;
    std::int64_t step = gap;
    std::vector<std::int64_t> stride(labels.size());
    for (std::size_t d = order.size(); d-- > 0;) {
      stride[labels.find(order[d])] = step;
      step *= p.labels[find(order[d])].extent;
    }
    for (std::size_t d = 0; d < labels.size(); ++d) r.axes.push_back({find(labels[d]), stride[d]});
    add_memory(std::max<std::int64_t>(step, 1));
    return r;
  }

  reference local(const std::string& name, int id, const std::string& labels) {
    reference r;
    r.name = name, r.type = type, r.local = id;
    p.local_count = std::max(p.local_count, id + 1);
    for (char c : labels) r.axes.push_back({find(c), 0});
    return r;
  }

  int scalar(std::complex<double> x) {
    scalars.push_back(is_complex(type) ? x : x.real());
    p.scalar_count = static_cast<int>(scalars.size());
    return p.scalar_count - 1;
  }

  bindings bind() const { return {pointers.data(), scalars.data()}; }

  program p;
  dtype type;
  std::vector<void*> pointers;
  std::vector<std::unique_ptr<char[]>> memory;
  std::vector<std::int64_t> sizes;
  std::vector<std::complex<double>> scalars;

 private:
  void add_memory(std::int64_t size) {
    const auto bytes = static_cast<std::size_t>(size) * size_of(type);
    memory.push_back(std::make_unique<char[]>(bytes + 64));
    pointers.push_back(memory.back().get());
    sizes.push_back(size);
    const ricci::test::uniform<double> value{-1, 1};
    const bool complex = is_complex(type);
    for (std::int64_t i = 0; i < size; ++i) {
      const double real = value(rng_);
      put(type, pointers.back(), i, {real, complex ? value(rng_) : 0});
    }
  }

  quick_bits rng_;
};

/// The largest error of the left side of statement s in units of its bound; `factors` is the longest product.
inline double error_in_bounds(const program& p, int s, const bindings& b, const reference_result& expected, int factors) {
  const statement& st = p.statements[s];
  const double eps = epsilon_of(compute_type(st.left.type)), eps_store = epsilon_of(st.left.type);
  const double complex_factor = is_complex(st.left.type) ? 2.9 : 1;
  std::vector<std::int64_t> index(st.left.axes.size(), 0);
  double worst = 0;
  for (std::size_t at = 0; at < expected.value.size(); ++at) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * st.left.axes[d].stride;
    const auto got = get(st.left.type, b.pointers[st.left.slot], offset);
    const auto want = std::complex<double>(expected.value[at]);
    const double magnitude = static_cast<double>(expected.magnitude[at]);
    const double bound = (static_cast<double>(expected.terms) + factors + 3) * eps * complex_factor * magnitude +
                         (eps_store != eps ? eps_store * std::abs(want) + 0x1p-24 : 0);
    const double error = std::abs(got - want);
    if (!(error <= bound)) worst = std::max(worst, bound > 0 ? error / bound : 1e300);
    if (std::isnan(error)) return 1e301;
    if (bound > 0) worst = std::max(worst, error / bound);
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < p.labels[st.left.axes[d].label].extent) break;
      index[d] = 0;
    }
  }
  return worst;
}

}  // namespace ricci::test
