// Running a statement at once, and the frame that collects its run-time part.
#pragma once

#include <ricci/analysis/diagnostics.hpp>
#include <ricci/lower/front.hpp>
#include <ricci/lower/tiny.hpp>

namespace ricci::detail {

/// Room for the run-time part of a source, on the stack of one call or inside a plan.
template <class Source>
struct frame {
  const void* bases[at_least_one(Source::size.leaves)];
  std::int64_t numbers[at_least_one(Source::size.numbers)];
  std::complex<double> scalars[at_least_one(Source::size.scalars)];
  void* pointers[at_least_one(Source::flat.slot_count)];
  std::complex<double> coefficients[at_least_one(Source::size.scalars > 0 ? Source::flat.term_count : 0)];

  constexpr sink writer() { return {bases, numbers, scalars}; }
  front_call call() { return {&Source::flat, bases, numbers, scalars, pointers, coefficients}; }
};

template <class Source>
inline constinit thread_local memo memo_of{};

template <class E> concept local_like = requires { E::is_local; };

/// No error so far, and the left side may be written.
template <class Left, class Source>
constexpr bool is_well_formed() {
  if constexpr (Source::size.broken) {
    return false;
  } else if constexpr (std::is_const_v<typename Left::element_type>) {
    (void)say<const_left<typename Left::element_type>>;
    return false;
  } else if constexpr (!Source::fault.ok()) {
    report<Source>();
    return false;
  } else {
    return true;
  }
}

template <class Source, class... Part>
void run_now(const Part&... parts) {
  frame<Source> f;
  sink to = f.writer();
  (parts.put(to), ...);
  if constexpr (tiny<Source>::applies)
    tiny<Source>::run(f.bases, f.numbers, f.scalars);
  else
    execute(f.call(), memo_of<Source>);
}

template <update Op, class Left, class Right>
void run_statement(const Left& left, const Right& right) {
  using source = detail::source<statement_of<Op, Left, node_of<Right>>>;
  if constexpr (is_well_formed<Left, source>()) run_now<source>(left, node(right));
}

}  // namespace ricci::detail
