// An expression as a flat value: what templates hand to the label analysis and to the compiled library.
#pragma once

#include <cstdint>

#include <ricci/core/types.hpp>
#include <ricci/index/subscript.hpp>
#include <ricci/program/program.hpp>
#include <ricci/tensor/shape.hpp>

namespace ricci::detail {

inline constexpr int max_rank = 32;
inline constexpr std::int64_t unknown = -1;

/// One axis of a tensor as an access writes it. *_at index the run-time numbers, -1: known here.
struct axis_info {
  std::int64_t extent = unknown;
  std::int64_t first = 0, last = 0;  // the range, or the constant and one more
  int label = -1;                    // index into flat_program::labels; -1: a constant
  bool ranged = false;
  int extent_at = -1, stride_at = -1, first_at = -1, last_at = -1;
  int table = -1;                    // the leaf that says where; then there is no label
};

/// One access A(...). Its axes are axes[first_axis, first_axis + rank).
struct leaf_info {
  dtype type = dtype::f64;
  memory_space space = memory_space::host;
  layout order = layout::row_major;
  bool local = false;
  int first_axis = 0, rank = 0;
  int width = 0;  // of an interleaved tensor: problems side by side
  int index_bytes = 0;     // of a table's entries; 0: a tensor of numbers
  bool even_odd = false;   // declared by ricci::even_odd
};

/// What a term is multiplied from, in the order written.
struct use_info {
  enum class kind : std::uint8_t { factor, real_scalar, complex_scalar, mark };
  kind what = kind::factor;
  bool conj = false;
  int index = 0;   // leaf, scalar, or (mark) label of sum(label, ...)
  int covers = 0;  // mark: how many uses before it stand inside the sum
  function apply = function::identity;
};

struct term_info {
  bool negate = false;
  int first_use = 0, use_count = 0;
  combine how = combine::multiply;
};

struct statement_info {
  update op = update::assign;
  int left = 0;  // leaf
  int first_term = 0, term_count = 0;
};

/// The whole of one or several statements. A slot is a left side or a factor use, numbered in the order
/// left, factors of the terms; statement by statement.
struct flat_program {
  const leaf_info* leaves = nullptr;
  const axis_info* axes = nullptr;
  const use_info* uses = nullptr;
  const term_info* terms = nullptr;
  const statement_info* statements = nullptr;
  const name_ref* labels = nullptr;
  int leaf_count = 0, axis_count = 0, use_count = 0, term_count = 0, statement_count = 0, label_count = 0;
  int number_count = 0, scalar_count = 0, slot_count = 0;
  bool sum_lone = false;         // einsum: a lone label is meant
  bool looks_at_memory = false;  // there are tables or declared symmetries, on whose contents the plan depends
};

/// How much room an expression needs; every node knows its own.
struct counts {
  int leaves = 0, axes = 0, numbers = 0, scalars = 0, marks = 0;
  int terms = 0, uses = 0, factors = 0;  // after distribution; uses counts factors, scalars and marks
  int locals = 0;                        // leaves that are locals
  bool broken = false;                   // an error was reported already: say and do no more
  bool negated = false;                  // a sign stands before a factor, and is kept with the term
  bool extremum = false;                 // a minimum or maximum is in it
};

constexpr counts beside(const counts& l, const counts& r) {
  return {l.leaves + r.leaves, l.axes + r.axes, l.numbers + r.numbers, l.scalars + r.scalars, l.marks + r.marks,
          l.terms + r.terms,   l.uses + r.uses, l.factors + r.factors, l.locals + r.locals, l.broken || r.broken,
          l.negated || r.negated, l.extremum || r.extremum};
}

constexpr counts times(const counts& l, const counts& r) {
  counts out = beside(l, r);
  out.terms = l.terms * r.terms;
  out.uses = l.uses * r.terms + r.uses * l.terms;
  out.factors = l.factors * r.terms + r.factors * l.terms;
  return out;
}

/// Writes the flat form; expression nodes call it at compile time.
struct flat_writer {
  leaf_info* leaves;
  axis_info* axes;
  use_info* uses;
  term_info* terms;
  name_ref* labels;
  int leaf_count = 0, axis_count = 0, use_count = 0, term_count = 0, label_count = 0, number_count = 0;

  constexpr int label_index(const name_ref& name) {
    for (int l = 0; l < label_count; ++l)
      if (labels[l] == name) return l;
    labels[label_count] = name;
    return label_count++;
  }

  /// A leaf whose numbers are: dynamic extents, strides if strided, numbers of the subscripts.
  constexpr void leaf(leaf_info info, const std::int64_t* extents, const subscript_info* subscripts) {
    info.first_axis = axis_count;
    leaves[leaf_count++] = info;
    int table = leaf_count;  // the tables' leaves follow
    for (int d = 0; d < info.rank; ++d) {
      axis_info& axis = axes[axis_count + d];
      if (extents[d] == dynamic) axis.extent_at = number_count++;
      else axis.extent = extents[d];
    }
    for (int d = 0; d < info.rank; ++d) {
      axis_info& axis = axes[axis_count + d];
      if (info.order == layout::strided) axis.stride_at = number_count++;
    }
    for (int d = 0; d < info.rank; ++d) {
      axis_info& axis = axes[axis_count + d];
      const subscript_info& s = subscripts[d];
      axis.first = s.first;
      axis.last = s.last;
      axis.ranged = s.ranged;
      if (s.name.size > 0) axis.label = label_index(s.name);
      if (s.looked_up) axis.table = table++;
      if (s.numbers > 0) axis.first_at = number_count++;
      if (s.numbers > 1) axis.last_at = number_count++;
    }
    axis_count += info.rank;
  }

  constexpr void use(const use_info& u) { uses[use_count++] = u; }
};

/// Where an expression's run-time part goes: base pointers, numbers and scalars, in the order of the leaves.
struct sink {
  const void** bases;
  std::int64_t* numbers;
  std::complex<double>* scalars;
};

}  // namespace ricci::detail
