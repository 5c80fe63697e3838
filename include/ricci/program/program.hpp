// The program: what a statement means, as a plain value. DSEL, einsum strings and the command all end here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ricci/core/functions.hpp>
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

/// An axis whose index is looked up: the element stands `stride * table[axes]` further. A table holds 32 or 64-bit
/// integers in [0, extent), which the plan checks; on the left side several entries may be equal (scatter-add).
struct lookup {
  int slot = 0;              // of the table, in bindings::pointers
  bool wide = false;         // 64-bit entries
  std::int64_t stride = 0;   // of the tensor's axis, in elements
  std::int64_t extent = 0;   // of the tensor's axis
  int axis = 0;              // which axis of the tensor that is, for people
  std::string name;          // of the table
  std::vector<reference_axis> axes;
  int memory = -1;           // as reference::memory
  std::vector<std::int64_t> first{};  // index of the table at 0 of each of its axes, for people; empty: 0
  bool operator==(const lookup&) const = default;
};

/// A tensor as one place of a statement sees it, after ranges and constants became offsets of its pointer,
/// diagonals became one axis with the sum of the strides, and broadcast axes (extent 1) were dropped.
/// Every label occurs once among its axes. A local has no memory; its axes' strides are meaningless.
struct reference {
  int slot = 0;        // index into bindings::pointers; unique for every reference of the program; unused if local
  int local = -1;      // >= 0: index of the local tensor
  dtype type = dtype::f64;
  memory_space space = memory_space::host;
  bool conj = false;   // complex conjugate of the tensor (right side only)
  std::string name;    // for people: "A", "C", "operand 0"
  std::vector<reference_axis> axes;
  function apply = function::identity;  // right side only
  int parity = 0;      // 1, -1: declared r(y,x) = parity * r(Y-1-y, X-1-x), two axes; 0: nothing is known
  std::vector<lookup> lookups;          // at most one
  int memory = -1;     // equal and not -1: equal first elements, so that equal products are computed once
  bool within_line = false;  // when the program was made, the first element did not begin a line of 64 bytes: plans are chosen by it, no more
  bool operator==(const reference&) const = default;
};

/// coefficient * factors[0] * factors[1] * ...   summed over the labels that the left side lacks.
struct product {
  int scalar = -1;  // index into bindings::scalars, or -1 for the coefficient one
  bool negate = false;
  std::vector<reference> factors;  // may be empty: the coefficient alone
  combine how = combine::multiply; // minimum, maximum: of the factors, instead of their product
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

/// Throws ricci::error if the program breaks a rule of this page (a label out of range or repeated; strides of a
/// left side that write one element twice; mixed spaces or element types; a local read before it is assigned or
/// assigned twice; a function of complex elements; a looked-up left side that is assigned).
void check(const program& p);

/// Whether a reference of the program is looked up: then its tables are looked at when it is compiled.
bool has_lookups(const program& p);

/// All labels of a reference, those of its tables included, each once.
std::vector<int> labels_of(const reference& r);

/// What a run needs besides the plan: where each slot's first element is and the values of the coefficients.
struct bindings {
  void* const* pointers = nullptr;
  const std::complex<double>* scalars = nullptr;
};

}  // namespace ricci
