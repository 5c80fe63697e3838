// Plans: every decision made once, run as often as wanted.
#pragma once

#include <iosfwd>

#include <ricci/analysis/cost.hpp>
#include <ricci/lower/run.hpp>

namespace ricci {

namespace detail {

void print_plan(std::ostream& out, const executable& code);
void print_plan(std::ostream& out, const recipe& code);
void print_inlined(std::ostream& out, double flops);

/// The cost of a program that was checked, all numbers known.
cost_value known_cost(const flat_program& p, const std::int64_t* numbers);

/// Whether a source's tensors are in GPU memory; locals have none.
template <class Source>
inline constexpr bool on_gpu = [] {
  for (int l = 0; l < Source::flat.leaf_count; ++l)
    if (!Source::flat.leaves[l].local && Source::flat.leaves[l].space == memory_space::gpu) return true;
  return false;
}();

template <class... Given> struct not_a_stream;    // analysis/misuse.hpp
template <class... Given> struct plan_arguments;  // the same

/// What ricci::plan and ricci::fuse give. Copies share the plan; each keeps its pointers.
template <class Source>
class planned {
 public:
  template <class... S>
  explicit planned(const options& o, const S&... statements) : options_(o) {
    sink to = frame_.writer();
    (statements.put(to), ...);
    if constexpr (in_parts) code_ = prepare_recipe(frame_.call(), o);
    else if constexpr (!tiny<Source>::applies) code_ = prepare(frame_.call(), o);
    else check(o), check(frame_.call());
  }

  // Not moved: a plan that was given on still runs.
  planned(const planned&) = default;
  planned& operator=(const planned&) = default;

  /// Evaluates with the tensors' present elements. Allocates nothing but copies of interleaved tensors, where the plan says that
  /// there are some.
  void run() const {
    if constexpr (tiny<Source>::applies) tiny<Source>::run(frame_.bases, frame_.numbers, frame_.scalars);
    else if constexpr (in_parts) run_parts(nullptr);
    else ricci::run(*code_, {frame_.pointers, frame_.coefficients});
  }

  /// Enqueues on a CUDA stream. Errors: wrong_space for host tensors.
  void run(const stream& s) const {
    if constexpr (on_gpu<Source> && in_parts) run_parts(s.handle());
    else if constexpr (on_gpu<Source>) ricci::run(*code_, {frame_.pointers, frame_.coefficients}, s.handle());
    else throw_host_stream();
  }

  template <class... X>
    requires(sizeof...(X) > 1 || (!std::is_convertible_v<const X&, const stream&> || ...))
  void run(const X&...) const { static_cast<void>(sizeof(not_a_stream<X...>)); }

  /// Floating-point operations of the statements in the best order of pairwise products; a multiply-add counts 2, a
  /// complex one 8; scalars, functions and the sum of terms count nothing. The plan's text has what is run. constexpr
  /// where all extents are static and no term has more than eight factors; what is run for more factors, index tensors,
  /// and labels of locals alone.
  static constexpr double flops() requires(is_static_cost<Source>) { return static_flops<Source>; }
  double flops() const requires(!is_static_cost<Source>) {
    const cost_value cost = known_cost(Source::flat, frame_.numbers);
    return cost.known ? cost.flops : flops_of(*code_);
  }

  /// Bytes of the left side, twice if it is read, and of every factor as it stands.
  static constexpr double bytes() requires(is_static_cost<Source>) { return static_bytes<Source>; }
  double bytes() const requires(!is_static_cost<Source>) {
    const cost_value cost = known_cost(Source::flat, frame_.numbers);
    return cost.known ? cost.bytes : bytes_of(*code_);
  }

  friend std::ostream& operator<<(std::ostream& out, const planned& p) {
    p.print(out);
    return out;
  }

 private:
  static constexpr bool in_parts = is_interleaved(Source::flat);
  using code_type = std::conditional_t<in_parts, recipe, executable>;
  static double flops_of(const executable& e) { return ricci::flops(e); }
  static double flops_of(const recipe& r) { return detail::flops(r); }
  static double bytes_of(const executable& e) { return ricci::bytes(e); }
  static double bytes_of(const recipe& r) { return detail::bytes(r); }

  void run_parts(void* stream) const {
    detail::run(*code_, {&Source::flat, frame_.bases, frame_.numbers, frame_.scalars, nullptr, const_cast<std::complex<double>*>(frame_.coefficients), stream});
  }

  void print(std::ostream& out) const {
    if constexpr (tiny<Source>::applies) {
      frame<Source> f = frame_;
      print_inlined(out, static_flops<Source>);
      print_plan(out, *prepare(f.call(), options_));
    } else {
      print_plan(out, *code_);
    }
  }

  frame<Source> frame_;
  options options_;
  std::shared_ptr<const code_type> code_;
};

/// Stands for a plan whose error was reported.
struct no_plan {
  void run() const {}
  void run(const stream&) const {}
  friend std::ostream& operator<<(std::ostream& out, const no_plan&) { return out; }
  static constexpr double flops() { return 0; }
  static constexpr double bytes() { return 0; }
};

}  // namespace detail

/// The plan of one statement: `auto p = plan(C(i,j).assign(A(i,k) * B(k,j))); p.run();`
///
/// Aliasing  any. The tensors must live as long as the plan runs.
/// Cost      planning once; run() adds under 30 ns to the work itself for tiny static products.
/// Errors    those of the statement; options::strict adds too_slow.
template <update Op, class Left, class Right>
auto plan(const statement_of<Op, Left, Right>& s, const options& o = {}) {
  using whole = statement_of<Op, Left, Right>;
  constexpr detail::complaint about = detail::complaint_about<whole>();
  if constexpr (about == detail::complaint::none) return detail::planned<detail::source<whole>>(o, s);
  else if constexpr (about == detail::complaint::verdict) detail::report<detail::source<whole>>();
  else if constexpr (about == detail::complaint::left_side) detail::report_left<whole>();
  if constexpr (about != detail::complaint::none) return detail::no_plan{};
}
/// plan(C(i,j) = ...) runs the statement first, and nothing is left to plan.
template <detail::right_side E>
auto plan(const E&, const options& = {}) {
  if constexpr (!detail::is_said<E>) static_cast<void>(sizeof(detail::no_statement<E>));
  return detail::no_plan{};
}

/// plan(options, statement), plan(one, two).
template <class X, class Y, class... More>
  requires(sizeof...(More) > 0 || !std::is_convertible_v<const Y&, const options&>)
detail::no_plan plan(const X&, const Y&, const More&...) {
  static_cast<void>(sizeof(detail::plan_arguments<X, Y, More...>));
  return {};
}

/// plan(), fuse(): it says that there is nothing.
template <int Given = 0>
detail::no_plan plan() {
  static_cast<void>(sizeof(detail::nothing_to_plan<Given>));
  return {};
}

/// Statements run as one program; locals live inside it only.
///
/// Cost      planning once; an equal program (types, extents, strides) is found again in some microseconds.
/// Errors    bad_argument for a local read before it is assigned or assigned twice; those of the statements.
template <class... S>
  requires(sizeof...(S) > 0)
auto fuse(const options& o, const S&... statements) {
  constexpr detail::complaint about = detail::complaint_about<S...>();
  if constexpr (about == detail::complaint::none) return detail::planned<detail::source<S...>>(o, statements...);
  else if constexpr (about == detail::complaint::verdict) detail::report<detail::source<S...>>();
  else if constexpr (about == detail::complaint::left_side) detail::report_left<S...>();
  if constexpr (about != detail::complaint::none) return detail::no_plan{};
}
template <class... S>
  requires(sizeof...(S) > 0 && (detail::is_statement<S> && ...))
auto fuse(const S&... statements) {
  return fuse(options{}, statements...);
}
/// fuse(C(i,j) = ..., ...): as for plan.
template <class... S>
  requires(sizeof...(S) > 0 && !(detail::is_statement<S> && ...))
auto fuse(const S&...) {
  if constexpr (!detail::is_said<detail::no_statement_of<S...>>) static_cast<void>(sizeof(detail::no_statement<detail::no_statement_of<S...>>));
  return detail::no_plan{};
}
template <int Given = 0>
detail::no_plan fuse() {
  static_cast<void>(sizeof(detail::nothing_to_plan<Given>));
  return {};
}

}  // namespace ricci
