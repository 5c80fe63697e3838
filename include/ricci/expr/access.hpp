// A(i, j): a tensor's view with subscripts. It can stand on either side of a statement.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include <ricci/expr/flat.hpp>
#include <ricci/expr/lookup.hpp>
#include <ricci/index/subscript.hpp>
#include <ricci/tensor/view.hpp>

namespace ricci {

/// A base by which the operators and functions of expressions are found: sqrt(s()) of a local without labels.
struct expression_base {};

namespace detail {

template <class E> concept expression = requires { E::ricci_expression; };
/// An expression that was reported?
template <class E> inline constexpr bool is_said = false;
template <expression E> inline constexpr bool is_said<E> = E::size.broken;

template <class S> inline constexpr bool is_complex_type = false;
template <class R> inline constexpr bool is_complex_type<std::complex<R>> = true;

/// A number that may multiply a product.
template <class S>
concept scalar_like =
    std::is_arithmetic_v<S> || is_complex_type<S> || std::is_same_v<S, half> || std::is_same_v<S, bfloat16>;

/// A tensor or a local without labels where an expression is wanted, an index tensor, which stands in the place of a label,
/// or a std::vector, which wants a view.
template <class X>
concept unlabelled = !expression<X> && (lookup_like<X> || requires { X::ricci_local; } || has_shape<X> || element_list<X>);

/// What may be assigned; the last is reported. So is whatever else is assigned, where the statement would run.
template <class E> concept right_side = expression<E> || scalar_like<E> || unlabelled<E>;

/// An element of it is not to be had without subscripts; compilers print the name.
template <class View>
concept no_element_R031 = View::shape_type::rank > 0 || View::shape_type::space != memory_space::host;

template <class Left> struct list_of_elements;  // analysis/misuse.hpp

/// Runs `left op right` at once; lower/run.hpp.
template <update Op, class Left, class Right>
void run_statement(const Left& left, const Right& right, void* stream = nullptr);

}  // namespace detail

class stream;
namespace detail {
template <class Access> class enqueued;
template <update Op, class Left, class Right>
constexpr auto make_statement(const Left& left, const Right& right);
}  // namespace detail

/// left(labels) = sum of products; also +=, -=, and *=, /= as A(i) *= 2 for A(i) = A(i) * 2. `=` runs at once; assign, add, subtract make a statement for a plan.
///
/// Shapes    every label has one extent in a statement; ranges are said once.
/// Aliasing  any: the right side is evaluated as if complete before the left changes.
/// Cost      planned at the first run, remembered by type and run-time numbers afterwards.
/// Errors    at compile time where types know it, else ricci::error; docs/errors.md. Nothing is changed then.
template <class View, class... Subscripts>
class access {
 public:
  using shape_type = typename View::shape_type;
  using element_type = typename View::element_type;
  static constexpr bool ricci_expression = true;
  using tables = detail::table_list<Subscripts...>;
  static constexpr bool broken = sizeof...(Subscripts) != shape_type::rank || tables::count > 1 || !element<std::remove_cv_t<element_type>>;
  static constexpr int number_count = shape_type::number_count + (0 + ... + Subscripts::info.numbers);
  static constexpr detail::counts size{1 + tables::count, shape_type::rank + tables::axes,
                                       number_count + tables::numbers, 0, 0, 1, 1, 1 + tables::count, 0, broken};

  constexpr access(const View& view, const Subscripts&... subscripts) : data_(view.data()), tables_(subscripts...) {
    std::int64_t* to = numbers_;
    for (int n = 0; n < shape_type::number_count; ++n) *to++ = view.numbers()[n];
    (subscripts.put(to), ...);
  }
  constexpr access(const access&) = default;

  const access& operator=(const access& right) const {
    detail::run_statement<update::assign>(*this, right);
    return *this;
  }
  access& operator=(const access& right) {
    detail::run_statement<update::assign>(*this, right);
    return *this;
  }
  template <class E>
  const access& operator=(const E& right) const {
    constexpr bool on_host = shape_type::space == memory_space::host;
    constexpr bool fits = !std::is_const_v<element_type> && (!detail::is_complex_type<E> || detail::is_complex_type<element_type>);
    if constexpr (shape_type::rank == 0 && detail::scalar_like<E> && on_host && fits) set(right);
    else detail::run_statement<update::assign>(*this, right);
    return *this;
  }
  /// x(i) = {1, 2, 3}.
  template <class E>
  const access& operator=(std::initializer_list<E>) const {
    if constexpr (!broken) static_cast<void>(sizeof(detail::list_of_elements<access>));
    return *this;
  }
  template <class E>
  const access& operator+=(const E& right) const {
    detail::run_statement<update::add>(*this, right);
    return *this;
  }
  template <class E>
  const access& operator-=(const E& right) const {
    detail::run_statement<update::subtract>(*this, right);
    return *this;
  }
  template <class E>
  const access& operator*=(const E& right) const {
    if constexpr (detail::right_side<E>) detail::run_statement<update::assign>(*this, *this * right);
    else detail::run_statement<update::assign>(*this, right);
    return *this;
  }
  template <class E>
  const access& operator/=(const E& right) const {
    if constexpr (detail::right_side<E>) detail::run_statement<update::assign>(*this, *this / right);
    else detail::run_statement<update::assign>(*this, right);
    return *this;
  }

  /// The first three as values; nothing runs.
  template <class E>
  constexpr auto assign(const E& right) const { return detail::make_statement<update::assign>(*this, right); }
  template <class E>
  constexpr auto add(const E& right) const { return detail::make_statement<update::add>(*this, right); }
  template <class E>
  constexpr auto subtract(const E& right) const { return detail::make_statement<update::subtract>(*this, right); }

  /// `C(i,j).on(s) = ...` enqueues on a stream and returns.
  constexpr detail::enqueued<access> on(const stream& s) const { return {*this, s}; }

  /// The element of a rank-0 tensor, which the host can reach.
  constexpr operator element_type&() const requires(shape_type::rank == 0 && shape_type::space == memory_space::host) { return element(); }
  operator double() const requires(broken);  // after what was reported
  operator double() const requires(!broken && detail::no_element_R031<View>) = delete;  // ricci[R031]: elements with labels are no number; see docs/errors.md#R031
  constexpr element_type* data() const { return data_; }

  static constexpr void describe(detail::flat_writer& to) {
    constexpr detail::subscript_info infos[sizeof...(Subscripts) + 1] = {Subscripts::info...};
    constexpr dtype type = dtype_of<std::remove_cv_t<element_type>>;
    detail::leaf_info leaf{type, shape_type::space, shape_type::order, false, 0, shape_type::rank, shape_type::width};
    leaf.even_odd = detail::is_even_odd<View>;
    to.leaf(leaf, shape_type::list.at, infos);
    tables::describe(to);
  }
  static constexpr void put_term(detail::flat_writer& to, int, int leaf, int, bool conj) {
    to.use({detail::use_info::kind::factor, conj, leaf, 0});
  }
  constexpr void put(detail::sink& to) const {
    *to.bases++ = data_;
    for (int n = 0; n < number_count; ++n) *to.numbers++ = numbers_[n];
    tables_.put(to);
  }

 private:
  /// A real number by way of the real type that is computed in.
  template <class E>
  constexpr void set(const E& right) const {
    using real = decltype(std::abs(compute_of<std::remove_const_t<element_type>>()));
    if constexpr (detail::is_complex_type<E>) element() = static_cast<element_type>(right);
    else element() = static_cast<element_type>(static_cast<real>(right));
  }

  constexpr element_type& element() const {
#ifndef NDEBUG
    if (!data_) detail::throw_no_memory();
#endif
    return *data_;
  }

  element_type* data_;
  std::int64_t numbers_[detail::at_least_one(number_count)]{};
  [[no_unique_address]] tables tables_;
};

namespace detail {

template <int Rank, int Subscripts> struct subscript_count;  // analysis/diagnostics.hpp
template <int Axis> struct not_a_subscript;                  // analysis/diagnostics.hpp
template <int Rank> struct bad_lookup;                       // analysis/diagnostics.hpp
template <int Axis, std::int64_t Value, std::int64_t Extent> struct bad_constant;  // analysis/diagnostics.hpp

/// The first axis whose constant is outside of it, as far as types know; or -1.
template <class Shape, class... S>
constexpr int axis_of_bad_constant() {
  constexpr subscript_info infos[] = {S::info...};
  for (int d = 0; d < Shape::rank; ++d)
    if (infos[d].numbers == 0 && (infos[d].first < 0 || (Shape::list.at[d] != dynamic && infos[d].first >= Shape::list.at[d]))) return d;
  return -1;
}

template <class View, class... S>
constexpr typename View::element_type& element_of(const View& view, const S&... subscripts) {
  static_assert(View::shape_type::space == memory_space::host,
                "ricci: an element of a gpu tensor cannot be reached from the host; ricci::copy the tensor first");
  if constexpr ((0 + ... + S::info.numbers) < static_cast<int>(sizeof...(S))) {
    constexpr int wrong = axis_of_bad_constant<typename View::shape_type, S...>();
    if constexpr (wrong >= 0) {
      constexpr subscript_info infos[] = {S::info...};
      static_cast<void>(sizeof(bad_constant<wrong, infos[wrong].first, View::shape_type::list.at[wrong] == dynamic ? unknown : View::shape_type::list.at[wrong]>));
    }
  }
#ifndef NDEBUG
  check_memory(view);
#endif
  std::int64_t at[sizeof...(S)];
  int d = 0;
  const auto step = [&](std::int64_t index) {
#ifndef NDEBUG
    if (index < 0 || index >= view.extent(d)) throw_bad_index(d, index, view.extent(d));
#endif
    at[d++] = index;
  };
  (step(subscripts.value), ...);
  return view.data()[View::shape_type::offset(view.numbers(), at)];
}

template <class S> inline constexpr bool is_plain_index = integer_like<S> || constant_like<S>;

template <class S> inline constexpr bool is_no_subscript = !is_labelled<S> && !is_plain_index<S> && !lookup_like<S>;

constexpr int first_true(std::initializer_list<bool> flags) {
  int at = 0;
  for (bool f : flags) {
    if (f) return at;
    ++at;
  }
  return -1;
}

template <class View, class... S>
constexpr decltype(auto) subscript(const View& view, const S&... subscripts) {
  constexpr int wrong = first_true({is_no_subscript<S>...});
  if constexpr (sizeof...(S) != static_cast<std::size_t>(View::rank())) {
    static_cast<void>(sizeof(subscript_count<View::rank(), sizeof...(S)>));
    return access<View>(view);
  } else if constexpr ((std::is_same_v<S, broken_subscript> || ...)) {
    return access<View>(view);
  } else if constexpr (wrong >= 0) {
    static_cast<void>(sizeof(not_a_subscript<wrong>));
    return access<View>(view);
  } else if constexpr (sizeof...(S) > 0 && (is_plain_index<S> && ...)) {
    return element_of(view, canonical(subscripts)...);
  } else if constexpr (index_element<typename View::value_type>) {
    static_assert(!(lookup_like<S> || ...), "ricci: an index tensor is not looked up in another one");
    return table_access<View, decltype(canonical(subscripts))...>(view, canonical(subscripts)...);
  } else {
    if constexpr ((0 + ... + static_cast<int>(lookup_like<S>)) > 1) static_cast<void>(sizeof(bad_lookup<View::rank()>));
    return access<View, decltype(canonical(subscripts))...>(view, canonical(subscripts)...);
  }
}

}  // namespace detail
}  // namespace ricci
