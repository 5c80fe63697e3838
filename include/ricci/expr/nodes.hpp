// The inner nodes of an expression. Each holds its children by value and knows: how much room it needs (size), its
// leaves (describe), its t-th term after distribution (put_term), and its run-time part (put).
#pragma once

#include <ricci/expr/access.hpp>

namespace ricci::detail {

/// A member that keeps a node from being assigned: member by member, that would run statements over its tensors.
struct only_copied {
  constexpr only_copied() = default;
  constexpr only_copied(const only_copied&) = default;
  only_copied& operator=(const only_copied&) = delete;
};

/// What `double v = 2 * s()` is of: the type of an expression without labels; void: it has labels. expr/value.hpp
template <class E> struct value_of { using type = void; };

/// Asked of every conversion of a node, so what is cheap to tell comes first.
template <class E, class T>
concept has_value = scalar_like<T> && std::is_same_v<typename value_of<E>::type, T>;

/// What has none is no number; compilers print the name.
template <class E>
concept no_number_R031 = std::is_void_v<typename value_of<E>::type>;

template <bool Complex>
struct scalar_node {
  std::complex<double> value;
  static constexpr bool ricci_expression = true;
  static constexpr counts size{0, 0, 0, 1, 0, 1, 1, 0, 0, false};
  static constexpr void describe(flat_writer&) {}
  static constexpr void put_term(flat_writer& to, int, int, int scalar, bool conj) {
    to.use({Complex ? use_info::kind::complex_scalar : use_info::kind::real_scalar, conj, scalar, 0});
  }
  constexpr void put(sink& to) const { *to.scalars++ = value; }
};

template <class L, class R>
struct product_node {
  L left;
  R right;
  [[no_unique_address]] only_copied guard{};
  static constexpr bool ricci_expression = true;
  static constexpr counts size = times(L::size, R::size);
  static constexpr void describe(flat_writer& to) {
    L::describe(to);
    R::describe(to);
  }
  static constexpr void put_term(flat_writer& to, int term, int leaf, int scalar, bool conj) {
    L::put_term(to, term / R::size.terms, leaf, scalar, conj);
    R::put_term(to, term % R::size.terms, leaf + L::size.leaves, scalar + L::size.scalars, conj);
  }
  constexpr void put(sink& to) const {
    left.put(to);
    right.put(to);
  }

  /// Read now.
  template <class T>
    requires has_value<product_node, T>
  constexpr operator T() const { return value_as<T>(*this); }
  operator double() const requires no_number_R031<product_node> = delete;  // ricci[R031]: a sum goes to a tensor of rank 0, s() = A(i) * B(i); see docs/errors.md#R031
};

template <class L, class R, bool Minus>
struct sum_node {
  L left;
  R right;
  [[no_unique_address]] only_copied guard{};
  static constexpr bool ricci_expression = true;
  static constexpr counts size = beside(L::size, R::size);
  static constexpr void describe(flat_writer& to) {
    L::describe(to);
    R::describe(to);
  }
  static constexpr void put_term(flat_writer& to, int term, int leaf, int scalar, bool conj) {
    if (term < L::size.terms) return L::put_term(to, term, leaf, scalar, conj);
    if (Minus) to.terms[to.term_count].negate ^= true;
    R::put_term(to, term - L::size.terms, leaf + L::size.leaves, scalar + L::size.scalars, conj);
  }
  constexpr void put(sink& to) const {
    left.put(to);
    right.put(to);
  }

  /// Read now.
  template <class T>
    requires has_value<sum_node, T>
  constexpr operator T() const { return value_as<T>(*this); }
  operator double() const requires no_number_R031<sum_node> = delete;  // ricci[R031]: a sum goes to a tensor of rank 0, s() = A(i) * B(i); see docs/errors.md#R031
};

template <class E>
struct negated_node {
  E inner;
  [[no_unique_address]] only_copied guard{};
  static constexpr bool ricci_expression = true;
  static constexpr counts size = [] {
    counts out = E::size;
    out.negated = !out.negated;
    return out;
  }();
  static constexpr void describe(flat_writer& to) { E::describe(to); }
  static constexpr void put_term(flat_writer& to, int term, int leaf, int scalar, bool conj) {
    to.terms[to.term_count].negate ^= true;
    E::put_term(to, term, leaf, scalar, conj);
  }
  constexpr void put(sink& to) const { inner.put(to); }

  /// Read now.
  template <class T>
    requires has_value<negated_node, T>
  constexpr operator T() const { return value_as<T>(*this); }
  operator double() const requires no_number_R031<negated_node> = delete;  // ricci[R031]: a sum goes to a tensor of rank 0, s() = A(i) * B(i); see docs/errors.md#R031
};

template <class E>
struct conjugated_node {
  E inner;
  [[no_unique_address]] only_copied guard{};
  static constexpr bool ricci_expression = true;
  static constexpr counts size = E::size;
  static constexpr void describe(flat_writer& to) { E::describe(to); }
  static constexpr void put_term(flat_writer& to, int term, int leaf, int scalar, bool conj) {
    E::put_term(to, term, leaf, scalar, !conj);
  }
  constexpr void put(sink& to) const { inner.put(to); }

  /// Read now.
  template <class T>
    requires has_value<conjugated_node, T>
  constexpr operator T() const { return value_as<T>(*this); }
  operator double() const requires no_number_R031<conjugated_node> = delete;  // ricci[R031]: a sum goes to a tensor of rank 0, s() = A(i) * B(i); see docs/errors.md#R031
};

/// The reciprocal, root, ... of each factor of its child's one term. A sign goes with the term, behind the function.
template <function F, class E>
struct applied_node {
  E inner;
  [[no_unique_address]] only_copied guard{};
  static constexpr bool ricci_expression = true;
  static constexpr bool fits = E::size.terms == 1 && E::size.marks == 0 && E::size.uses > 0 && !E::size.extremum &&
                               (F == function::reciprocal || (E::size.uses == 1 && !E::size.negated));
  static constexpr counts size = [] {
    counts out = E::size;
    out.broken = out.broken || !fits;
    return out;
  }();
  static constexpr void describe(flat_writer& to) { E::describe(to); }
  static constexpr void put_term(flat_writer& to, int term, int leaf, int scalar, bool conj) {
    const int before = to.use_count;
    E::put_term(to, term, leaf, scalar, conj);
    for (int u = before; u < to.use_count; ++u) to.uses[u].apply = chained(to.uses[u].apply);
  }
  constexpr void put(sink& to) const { inner.put(to); }

  /// Read now.
  template <class T>
    requires has_value<applied_node, T>
  constexpr operator T() const { return value_as<T>(*this); }
  operator double() const requires no_number_R031<applied_node> = delete;  // ricci[R031]: a sum goes to a tensor of rank 0, s() = A(i) * B(i); see docs/errors.md#R031

 private:
  static constexpr function chained(function before) {
    if (before == function::identity) return F;
    if (F == function::reciprocal) {
      if (before == function::reciprocal) return function::identity;
      if (before == function::sqrt) return function::rsqrt;
      if (before == function::rsqrt) return function::sqrt;
    }
    return function::none;
  }
};

/// The larger or smaller of two factors; a term of its own.
template <combine How, class L, class R>
struct extremum_node {
  L left;
  R right;
  [[no_unique_address]] only_copied guard{};
  static constexpr bool ricci_whole_term = true;
  static constexpr bool ricci_expression = true;
  static constexpr counts size = [] {
    counts out = times(L::size, R::size);
    out.broken = out.broken || out.terms != 1 || L::size.uses != 1 || R::size.uses != 1 || out.scalars > 0 || out.negated;
    out.extremum = true;
    return out;
  }();
  static constexpr void describe(flat_writer& to) {
    L::describe(to);
    R::describe(to);
  }
  static constexpr void put_term(flat_writer& to, int, int leaf, int scalar, bool conj) {
    to.terms[to.term_count].how = How;
    L::put_term(to, 0, leaf, scalar, conj);
    R::put_term(to, 0, leaf + L::size.leaves, scalar, conj);
  }
  constexpr void put(sink& to) const {
    left.put(to);
    right.put(to);
  }

  operator double() const = delete;  // ricci[R031]: it goes to a tensor, z(i) = max(x(i), y(i)); see docs/errors.md#R031
};

/// Stands for what was reported, and becomes whatever is wanted of it.
struct broken_node : expression_base {
  template <class T>
    requires(!requires { T::ricci_expression; })
  operator T() const;
  template <class E>
  const broken_node& operator=(const E&) const;
  template <class E>
  const broken_node& operator+=(const E&) const;
  template <class E>
  const broken_node& operator-=(const E&) const;
  static constexpr bool ricci_expression = true;
  static constexpr counts size{0, 0, 0, 0, 0, 1, 1, 0, 0, true};
};

template <int factors> struct bad_function;              // analysis/diagnostics.hpp
template <class... given> struct bad_sum_arguments;      // analysis/diagnostics.hpp
template <class left, class right> struct not_compared;  // analysis/diagnostics.hpp
template <class number, class right> struct number_on_left;

template <class E>
concept whole_term = requires { E::ricci_whole_term; };

template <class L, class E>
struct summed_node {
  E inner;
  [[no_unique_address]] only_copied guard{};
  static constexpr bool ricci_expression = true;
  static constexpr counts size = [] {
    counts out = E::size;
    ++out.marks;
    out.uses += out.terms;
    return out;
  }();
  static constexpr void describe(flat_writer& to) {
    E::describe(to);
    to.label_index(L::name);
  }
  static constexpr void put_term(flat_writer& to, int term, int leaf, int scalar, bool conj) {
    const int before = to.use_count;
    E::put_term(to, term, leaf, scalar, conj);
    to.use({use_info::kind::mark, false, to.label_index(L::name), to.use_count - before});
  }
  constexpr void put(sink& to) const { inner.put(to); }

  operator double() const = delete;  // ricci[R031]: a sum goes to a tensor of rank 0, s() = sum(i, A(i)); see docs/errors.md#R031
};

/// A number as a node; an expression as itself.
template <expression E>
constexpr const E& node(const E& e) { return e; }
template <scalar_like E>
constexpr auto node(const E& e) {
  if constexpr (is_complex_type<E>) return scalar_node<true>{std::complex<double>(e)};
  else return scalar_node<false>{std::complex<double>(static_cast<double>(e))};
}

/// What has no labels, or is no tensor at all.
template <class E>
  requires(!expression<E> && !scalar_like<E>)
constexpr broken_node node(const E&) {
  if constexpr (!std::is_same_v<E, broken_subscript>) static_cast<void>(sizeof(without_labels<E>));
  return {};
}

template <class E> using node_of = std::remove_cvref_t<decltype(node(std::declval<const E&>()))>;

}  // namespace ricci::detail
