// The program: what a statement means, as a plain value. DSEL, einsum strings and the command all end here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ricci/core/types.hpp>

namespace ricci {

/// A label of the program: its name and the one extent it has everywhere (the length of its range).
struct label_info {
  std::string name;
  std::int64_t extent = 0;
  bool operator==(const label_info&) const = default;
};

/// One axis of a reference: which label runs along it and the step between neighbours, in elements.
struct reference_axis {
  int label = 0;            // index into program::labels
  std::int64_t stride = 0;  // 0 is legal: the same element for every value of the label
  bool operator==(const reference_axis&) const = default;
};

/// A tensor as one place of a statement sees it, after ranges and constants became offsets of its pointer,
/// diagonals became one axis with the sum of the strides, and broadcast axes (extent 1) were dropped.
/// Every label occurs once. A local has no memory; its axes' strides are meaningless.
struct reference {
  int slot = 0;        // index into bindings::pointers; unique for every reference of the program; unused if local
  int local = -1;      // >= 0: index of the local tensor
  dtype type = dtype::f64;
  memory_space space = memory_space::host;
  bool conj = false;   // complex conjugate of the tensor (right side only)
  std::string name;    // for people: "A", "C", "operand 0"
  std::vector<reference_axis> axes;
  bool operator==(const reference&) const = default;
};

/// coefficient * factors[0] * factors[1] * ...   summed over the labels that the left side lacks.
struct product {
  int scalar = -1;  // index into bindings::scalars, or -1 for the coefficient one
  bool negate = false;
  std::vector<reference> factors;  // may be empty: the coefficient alone
  bool operator==(const product&) const = default;
};

enum class update : std::uint8_t { assign, add, subtract };

/// left (=, +=, -=) terms[0] + terms[1] + ...; the right side is evaluated as if complete before the left changes.
struct statement {
  reference left;
  update op = update::assign;
  std::vector<product> terms;
  bool operator==(const statement&) const = default;
};

/// What is known about the memory of the left side of one statement and of another reference.
/// A pair of slots that is not listed is disjoint.
struct overlap {
  enum class kind : std::uint8_t {
    disjoint,  // the same tensor, but the ranges were proven not to meet (listed for the plan's text)
    same,      // element for element the same place: equal pointers, labels and strides
    may,       // anything else
  };
  int left_slot = 0;
  int other_slot = 0;
  kind verdict = kind::may;
  bool operator==(const overlap&) const = default;
};

/// A sequence of statements over common labels. With more than one statement it is a fused program.
struct program {
  std::vector<label_info> labels;
  int local_count = 0;
  int slot_count = 0;
  int scalar_count = 0;
  std::vector<statement> statements;
  std::vector<overlap> overlaps;
  bool operator==(const program&) const = default;
};

/// One line a statement, then labels and strides: the form golden tests compare and caches may print.
std::string to_string(const program& p);

/// Throws ricci::error if the program breaks a rule of this page (a label out of range, repeated or lone; strides of a
/// left side that write one element twice; mixed spaces or element types; a local read before it is assigned or
/// assigned twice).
void check(const program& p);

/// What a run needs besides the plan: where each slot's first element is and the values of the coefficients.
struct bindings {
  void* const* pointers = nullptr;
  const std::complex<double>* scalars = nullptr;
};

}  // namespace ricci
