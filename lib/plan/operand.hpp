// The parts of an operation: its operands with their labels and strides, and its coefficients.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ricci/core/types.hpp>

namespace ricci {

inline bool contains(const std::vector<int>& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

/// A tensor as one step sees it. `one` is the constant 1 that makes a step of a single factor.
struct operand {
  enum class kind : std::uint8_t { external, temporary, one };
  kind where = kind::one;
  int id = 0;                         // slot or index of the temporary
  dtype type = dtype::f64;
  bool conj = false;
  std::string name = "1";
  std::vector<int> labels;            // outermost first, no label twice
  std::vector<std::int64_t> strides;  // in elements; empty for a temporary whose layout is still open
  int parity = 0;                     // of an even (1) or odd (-1) matrix
  int memory = -1;                    // as reference::memory
  bool within_line = false;           // as reference::within_line
  bool operator==(const operand&) const = default;
};

/// base * scalars[scalar]; for beta: that and a sum of signed scalars.
struct coefficient {
  double base = 1;                           // the value, or the factor of the scalar
  int scalar = -1;                           // slot, or -1
  std::vector<std::pair<int, double>> more;  // beta only: (slot, sign) added
  bool operator==(const coefficient&) const = default;
};

/// No scalar of a run is in it.
inline bool is_known(const coefficient& c) { return c.scalar < 0 && c.more.empty(); }
inline bool is_zero(const coefficient& c) { return is_known(c) && c.base == 0; }
inline bool is_one(const coefficient& c) { return is_known(c) && c.base == 1; }

inline std::complex<double> value_of(const coefficient& c, const std::complex<double>* scalars) {
  std::complex<double> x = c.base;
  if (c.scalar >= 0) x = c.base * scalars[c.scalar];  // part by part: of infinity too
  for (const auto& [slot, sign] : c.more) x += sign * scalars[slot];
  return x;
}

/// The same tensor, in whatever order its labels stand.
inline bool same_place(const operand& x, const operand& y) { return x.where == y.where && x.id == y.id; }

inline bool has(const operand& x, int label) { return contains(x.labels, label); }

/// 0 for a label that the operand does not have.
inline std::int64_t stride_of(const operand& x, int label) {
  const auto at = std::find(x.labels.begin(), x.labels.end(), label);
  return at == x.labels.end() ? 0 : x.strides[static_cast<std::size_t>(at - x.labels.begin())];
}

}  // namespace ricci
