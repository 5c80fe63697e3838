// Tiny products of static extents, evaluated where they are called: loops of fixed length into a local array of the
// compute type, then one store. Alias-safe because nothing is stored before everything is read.
#pragma once

#include <utility>

#include <ricci/analysis/diagnostics.hpp>
#include <ricci/lower/front.hpp>

namespace ricci::detail {

/// Most multiply-adds that are inlined, of which a complex one counts four, and most elements of the result: a 4x4 by 4x4 product of
/// doubles takes 9 ns inlined at -O2 and 8 ns as a plan whose kernel is written at run time, of complex ones 65 and 13; 36 elements
/// transposed take 6 and 7, 64 of them 17 and 8; a matrix of 8x8 times a vector 15 and 8. Does not depend on the compiler's flags: files
/// compiled with different ones must agree on what is inlined.
inline constexpr std::int64_t most_inlined_work = 64, most_inlined_out = 36;
/// The same where results are fewer than 16, as those of a matrix and a vector, whose sums are not a row side by side.
inline constexpr std::int64_t most_inlined_few = 36;

/// Longest loop that is inlined: all of them are unrolled, by pragmas that say so many, since compilers do it only at -O3.
inline constexpr std::int64_t most_inlined_extent = 16;

struct tiny_loop {
  std::int64_t extent = 0, a = 0, b = 0, out = 0;  // strides of both factors and of the local array
};

/// One term (or, for the store, the left side as factor a).
template <int Labels>
struct tiny_nest {
  tiny_loop loops[at_least_one(Labels)]{};
  int loop_count = 0;
  int row_at = 0;        // loops before it are around the row of the last left label, which is kept in registers
  std::int64_t row = 1;  // its length
  int leaf_a = -1, leaf_b = -1;
  bool conj_a = false, conj_b = false;
};

template <int Labels, int Terms, int Leaves>
struct tiny_table {
  bool applies = false;
  std::int64_t out_size = 1;
  std::int64_t offset[at_least_one(Leaves)]{};  // elements, by ranges and static constants
  tiny_nest<Labels> terms[at_least_one(Terms)]{};
  tiny_nest<Labels> store{};
};

/// Strides of a leaf; false if one that matters is not static.
constexpr bool static_strides(const flat_program& p, const leaf_info& leaf, std::int64_t* to) {
  std::int64_t step = 1;
  for (int n = 0; n < leaf.rank; ++n) {
    const int d = leaf.order == layout::column_major ? n : leaf.rank - 1 - n;
    if (step == unknown) return false;
    to[d] = step;
    const std::int64_t extent = p.axes[leaf.first_axis + d].extent;
    step = extent == unknown ? unknown : step * extent;
  }
  return true;
}

/// Stride of a label in a leaf; a diagonal is the sum.
constexpr std::int64_t label_stride(const flat_program& p, const leaf_info& leaf, const std::int64_t* strides,
                                    int label) {
  std::int64_t sum = 0;
  for (int d = 0; d < leaf.rank; ++d)
    if (p.axes[leaf.first_axis + d].label == label) sum += strides[d];
  return sum;
}

constexpr bool has_label(const flat_program& p, const leaf_info& leaf, int label) {
  for (int d = 0; d < leaf.rank; ++d)
    if (p.axes[leaf.first_axis + d].label == label) return true;
  return false;
}

/// All about the leaf is static but for integers that fix an axis.
constexpr bool is_tiny_leaf(const flat_program& p, const leaf_info& leaf) {
  if (leaf.local || leaf.space != memory_space::host || leaf.order == layout::strided || leaf.width > 0 || leaf.even_odd)
    return false;
  for (int d = 0; d < leaf.rank; ++d) {
    const axis_info& axis = p.axes[leaf.first_axis + d];
    if (axis.table >= 0) return false;
    const bool run_time_label = axis.label >= 0 && (axis.extent == unknown || axis.first_at >= 0);
    const bool unchecked_constant = axis.label < 0 && axis.extent_at >= 0 && axis.first_at < 0;
    if (run_time_label || unchecked_constant) return false;
  }
  return true;
}

template <class Source>
class tiny_maker {
  static constexpr std::size_t labels = at_least_one(Source::size.axes + Source::size.marks);
  static constexpr const flat_program& p = Source::flat;

 public:
  tiny_table<Source::flat.label_count, Source::flat.term_count, Source::size.leaves> table;

  constexpr void make() {
    if (p.statement_count != 1) return;
    for (int l = 0; l < p.leaf_count; ++l)
      if (!is_tiny_leaf(p, p.leaves[l]) || !static_strides(p, p.leaves[l], strides[l])) return;
    static_cast<void>(judge(p, nullptr).statement(0, facts));
    for (int l = 0; l < p.leaf_count; ++l) offsets(l);
    std::int64_t work = 0;
    for (int t = 0; t < p.term_count; ++t)
      if (!term(table.terms[t], p.terms[t], work)) return;
    left();
    const std::int64_t weight = is_complex(p.leaves[0].type) ? 4 : 1;
    const std::int64_t most = table.out_size < 16 ? most_inlined_few : most_inlined_work;
    table.applies = short_loops && weight * work <= most && table.out_size <= most_inlined_out;
  }

 private:
  std::int64_t strides[at_least_one(Source::size.leaves)][max_rank]{};
  label_facts facts[labels]{};
  bool short_loops = true;

  constexpr void offsets(int l) {
    const leaf_info& leaf = p.leaves[l];
    for (int d = 0; d < leaf.rank; ++d) {
      const axis_info& axis = p.axes[leaf.first_axis + d];
      const std::int64_t constant = axis.first_at < 0 ? axis.first : 0;
      table.offset[l] += strides[l][d] * (axis.label >= 0 ? facts[axis.label].first : constant);
    }
  }

  /// Stride of a label in the dense local array, whose axes are the left side's labels in order.
  constexpr std::int64_t out_stride(int label) const {
    const leaf_info& left_side = p.leaves[0];
    std::int64_t step = 1;
    for (int d = left_side.rank - 1; d >= 0; --d) {
      const int l = p.axes[left_side.first_axis + d].label;
      if (l == label) return step;
      if (l >= 0) step *= facts[l].length;
    }
    return 0;
  }

  /// Left labels but the last, summed labels, the last left label: the innermost loop runs along the local array.
  constexpr bool term(tiny_nest<Source::flat.label_count>& nest, const term_info& t, std::int64_t& work) {
    for (int u = t.first_use; u < t.first_use + t.use_count; ++u) {
      const use_info& use = p.uses[u];
      if (use.apply != function::identity || t.how != combine::multiply) return false;
      if (use.what != use_info::kind::factor) continue;
      if (nest.leaf_b >= 0) return false;
      (nest.leaf_a < 0 ? nest.leaf_a : nest.leaf_b) = use.index;
      (nest.leaf_b < 0 ? nest.conj_a : nest.conj_b) = use.conj && is_complex(p.leaves[0].type);
    }
    const leaf_info& left_side = p.leaves[0];
    int last = -1;
    for (int d = 0; d < left_side.rank; ++d)
      if (const int l = p.axes[left_side.first_axis + d].label; l >= 0) last = l;
    std::int64_t product = 1;
    for (int d = 0; d < left_side.rank; ++d)
      if (const int l = p.axes[left_side.first_axis + d].label; l >= 0 && l != last) loop(nest, l, product);
    nest.row_at = nest.loop_count;
    nest.row = last >= 0 ? facts[last].length : 1;
    for (int l = 0; l < p.label_count; ++l)
      if (!has_label(p, left_side, l) && ((nest.leaf_a >= 0 && has_label(p, p.leaves[nest.leaf_a], l)) ||
                                          (nest.leaf_b >= 0 && has_label(p, p.leaves[nest.leaf_b], l))))
        loop(nest, l, product);
    if (last >= 0) loop(nest, last, product);
    work += product;
    return true;
  }

  constexpr void loop(tiny_nest<Source::flat.label_count>& nest, int l, std::int64_t& product) {
    const int a = nest.leaf_a, b = nest.leaf_b;
    const std::int64_t length = facts[l].length;
    short_loops = short_loops && length <= most_inlined_extent;
    nest.loops[nest.loop_count++] = {length, a < 0 ? 0 : label_stride(p, p.leaves[a], strides[a], l),
                                     b < 0 ? 0 : label_stride(p, p.leaves[b], strides[b], l), out_stride(l)};
    if (product > 0 && length > most_inlined_work) product = most_inlined_work + 1;
    else product *= length;
    if (product > most_inlined_work) product = most_inlined_work + 1;
  }

  constexpr void left() {
    std::int64_t size = 1;
    table.store.leaf_a = 0;
    const leaf_info& left_side = p.leaves[0];
    for (int d = 0; d < left_side.rank; ++d)
      if (const int l = p.axes[left_side.first_axis + d].label; l >= 0) loop(table.store, l, size);
    table.out_size = size;
  }
};

template <class Source>
constexpr auto make_tiny() {
  tiny_maker<Source> maker;
  maker.make();
  return maker.table;
}

template <dtype> struct element_for;
template <> struct element_for<dtype::f32> { using type = float; };
template <> struct element_for<dtype::f64> { using type = double; };
template <> struct element_for<dtype::c64> { using type = std::complex<float>; };
template <> struct element_for<dtype::c128> { using type = std::complex<double>; };
template <> struct element_for<dtype::f16> { using type = half; };
template <> struct element_for<dtype::bf16> { using type = bfloat16; };

/// Without the library call for infinities that std::complex's operator makes.
template <class C>
[[gnu::always_inline]] inline C multiply(const C& x, const C& y) {
  if constexpr (is_complex_type<C>)
    return C(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
  else
    return x * y;
}

template <class C, bool Conj, class T>
[[gnu::always_inline]] inline C load(const T* x) {
  if constexpr (Conj) return std::conj(C(*x));
  else return static_cast<C>(*x);
}

/// A quick no for most statements that are not tiny: building the table takes longer.
constexpr bool may_be_tiny(const flat_program& p) {
  if (p.statement_count != 1) return false;
  for (int l = 0; l < p.leaf_count; ++l) {
    const leaf_info& leaf = p.leaves[l];
    if (!is_tiny_leaf(p, leaf)) return false;
    std::int64_t used = 1;
    for (int d = 0; d < leaf.rank; ++d) {
      const axis_info& axis = p.axes[leaf.first_axis + d];
      if (axis.label >= 0 && !axis.ranged && axis.extent > 0) used *= axis.extent;
      if (used > 64 * most_inlined_work) return false;
    }
  }
  return true;
}

template <class Source, bool Perhaps = may_be_tiny(Source::flat)>
class tiny {
 public:
  static constexpr bool applies = false;
};

template <class Source>
class tiny<Source, true> {
  static constexpr auto table = make_tiny<Source>();
  static constexpr const flat_program& p = Source::flat;
  using T = typename element_for<Source::flat.leaves[0].type>::type;
  using C = compute_of<T>;
  using R = decltype(std::abs(C()));

 public:
  static constexpr bool applies = table.applies;

  static void run(const void* const* bases, const std::int64_t* numbers, const std::complex<double>* scalars) {
    const T* at[Source::size.leaves];
    bool all = true;
    for (int l = 0; l < Source::size.leaves; ++l) all = all && bases[l];
    if (!all) [[unlikely]] check({&p, bases, numbers, scalars, nullptr, nullptr});  // a tensor without elements may be null
    for (int l = 0; l < Source::size.leaves; ++l)
      at[l] = static_cast<const T*>(bases[l]) + table.offset[l] + (p.number_count > 0 ? moved(l, numbers) : 0);
    start<(table.out_size > 0 ? table.out_size : 1)> whole;
    C* const out = whole.at;
    [&]<int... Term>(std::integer_sequence<int, Term...>) { (add_term<Term>(at, scalars, out), ...); }
    (std::make_integer_sequence<int, Source::flat.term_count>{});
    store<0>(const_cast<T*>(at[0]), out);
  }

 private:
  /// What is added to: sums begin with 0, what has none with -0, to which any number is added without a change.
  template <std::int64_t Count, bool Sums = false>
  struct start {
    C at[static_cast<std::size_t>(Count)];
    [[gnu::always_inline]] start() {
      constexpr R nothing = Sums ? R(0) : -R(0);
#pragma GCC unroll 64
      for (std::int64_t x = 0; x < Count; ++x) {
        if constexpr (is_complex_type<C>) at[x] = C(nothing, nothing);
        else at[x] = nothing;
      }
    }
  };

  template <int Term>
  static constexpr bool sums = table.terms[Term].loop_count > table.terms[Term].row_at + (table.store.loop_count > 0 ? 1 : 0);

  /// Offset by integers that fix an axis.
  static std::int64_t moved(int l, const std::int64_t* numbers) {
    std::int64_t strides[max_rank], sum = 0;
    static_strides(p, p.leaves[l], strides);
    for (int d = 0; d < p.leaves[l].rank; ++d) {
      const axis_info& axis = p.axes[p.leaves[l].first_axis + d];
      if (axis.first_at < 0) continue;
      const known_axis k = look(axis, numbers);
      if (k.first < 0 || k.first >= k.extent) throw_verdict({fault::bad_constant, -1, d, k.first, k.extent}, p);
      sum += k.first * strides[d];
    }
    return sum;
  }

  template <int Term>
  [[gnu::always_inline]] static void add_term(const T* const* at, const std::complex<double>* scalars, C* out) {
    constexpr auto& nest = table.terms[Term];
    const T* const a = nest.leaf_a < 0 ? nullptr : at[nest.leaf_a < 0 ? 0 : nest.leaf_a];
    const T* const b = nest.leaf_b < 0 ? nullptr : at[nest.leaf_b < 0 ? 0 : nest.leaf_b];
    if constexpr (Source::size.scalars == 0 && !p.terms[Term].negate) {
      walk<Term, 0>(a, b, out);
    } else {
      start<(table.out_size > 0 ? table.out_size : 1)> whole;
      C* const part = whole.at;
      walk<Term, 0>(a, b, part);
      const auto alpha = coefficient<Term>(scalars);
      for (std::int64_t x = 0; x < table.out_size; ++x)
        if constexpr (std::is_same_v<decltype(alpha), const C>) out[x] += multiply(alpha, part[x]);
        else out[x] += alpha * part[x];
    }
  }

  static constexpr bool is_real(const term_info& t) {
    for (int u = t.first_use; u < t.first_use + t.use_count; ++u)
      if (p.uses[u].what == use_info::kind::complex_scalar) return false;
    return true;
  }

  /// A real number if all of it is real, which scales both parts of a complex one: 0 i times infinity would be NaN. In double, as the
  /// coefficients of plans.
  template <int Term>
  [[gnu::always_inline]] static auto coefficient(const std::complex<double>* scalars) {
    constexpr const term_info& t = p.terms[Term];
    double real = t.negate ? -1 : 1;
    std::complex<double> other = 1;
    for (int u = t.first_use; u < t.first_use + t.use_count; ++u) {
      const use_info& use = p.uses[u];
      if (use.what == use_info::kind::real_scalar) real *= scalars[use.index].real();
      if constexpr (is_complex_type<C>)
        if (use.what == use_info::kind::complex_scalar) other = multiply(other, use.conj ? std::conj(scalars[use.index]) : scalars[use.index]);
    }
    if constexpr (is_real(t)) return static_cast<R>(real);
    else return static_cast<C>(real * other);
  }

  template <int Term, int Depth>
  [[gnu::always_inline]] static void walk(const T* a, const T* b, C* out) {
    constexpr auto& nest = table.terms[Term];
    if constexpr (Depth < nest.row_at) {
      constexpr tiny_loop loop = nest.loops[Depth];
#pragma GCC unroll 16
      for (std::int64_t x = 0; x < loop.extent; ++x)
        walk<Term, Depth + 1>(a + x * loop.a, b + x * loop.b, out + x * loop.out);
    } else {
      start<(nest.row > 0 ? nest.row : 1), sums<Term>> whole;
      C* const row = whole.at;
      add_row<Term, Depth>(a, b, row);
#pragma GCC unroll 16
      for (std::int64_t x = 0; x < nest.row; ++x) out[x] += row[x];
    }
  }

  template <int Term, int Depth>
  [[gnu::always_inline]] static void add_row(const T* a, const T* b, C* out) {
    constexpr auto& nest = table.terms[Term];
    if constexpr (Depth < nest.loop_count) {
      constexpr tiny_loop loop = nest.loops[Depth];
#pragma GCC unroll 16
      for (std::int64_t x = 0; x < loop.extent; ++x)
        add_row<Term, Depth + 1>(a + x * loop.a, b + x * loop.b, out + x * loop.out);
    } else if constexpr (nest.leaf_b >= 0) {
      *out += multiply(load<C, nest.conj_a>(a), load<C, nest.conj_b>(b));
    } else if constexpr (nest.leaf_a >= 0) {
      *out += load<C, nest.conj_a>(a);
    } else {
      *out += C(1);
    }
  }

  template <int Depth>
  [[gnu::always_inline]] static void store(T* left, const C* out) {
    if constexpr (Depth < table.store.loop_count) {
      constexpr tiny_loop loop = table.store.loops[Depth];
#pragma GCC unroll 16
      for (std::int64_t x = 0; x < loop.extent; ++x) store<Depth + 1>(left + x * loop.a, out + x * loop.out);
    } else if constexpr (p.statements[0].op == update::assign) {
      *left = static_cast<T>(*out);
    } else if constexpr (p.statements[0].op == update::add) {
      *left = static_cast<T>(static_cast<C>(*left) + *out);
    } else {
      *left = static_cast<T>(static_cast<C>(*left) - *out);
    }
  }
};

}  // namespace ricci::detail
