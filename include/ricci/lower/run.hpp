// Running a statement at once, and the frame that collects its run-time part.
#pragma once

#include <tuple>

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

template <class S> inline constexpr bool is_statement = requires { S::op; };
template <class... S> using no_statement_of = std::tuple_element_t<first_true({!is_statement<S>...}), std::tuple<S...>>;

/// What there is to say against statements. Asked first, answered without an error: after a failed static_assert
/// compilers go on, and what they find then is noise.
enum class complaint { none, said, left_side, verdict };

template <class... S>
constexpr complaint complaint_about() {
  if constexpr (!(is_statement<S> && ...)) return is_said<no_statement_of<S...>> ? complaint::said : complaint::left_side;
  else if constexpr (total_size<S...>().broken) return complaint::said;
  else if constexpr ((std::is_const_v<typename S::left_type::element_type> || ...)) return complaint::left_side;
  else if constexpr (sizeof...(S) == 1 && total_size<S...>().locals > 0) return complaint::left_side;
  else return source<S...>::fault.ok() ? complaint::none : complaint::verdict;
}

/// No statement, a const left side, or a local outside of ricci::fuse. Verdicts are reported where they are found: a
/// function in between would be a line more in every message.
template <class... S>
void report_left() {
  if constexpr (!(is_statement<S> && ...)) (void)sizeof(no_statement<no_statement_of<S...>>);
  else if constexpr ((std::is_const_v<typename S::left_type::element_type> || ...))
    (void)sizeof(const_left<std::common_type_t<typename S::left_type::element_type...>>);
  else (void)sizeof(bad_local<total_size<S...>().locals>);
}

template <class Source, class... Part>
void run_now([[maybe_unused]] void* stream, const Part&... parts) {
  // Only what the case at hand needs; not a frame, which would be three more functions for every statement.
  constexpr bool inlined = tiny<Source>::applies;
  void* bases[at_least_one(Source::size.leaves) + (inlined ? 0 : Source::flat.slot_count)];
  std::int64_t numbers[at_least_one(Source::size.numbers)]{};
  std::complex<double> scalars[at_least_one(Source::size.scalars) + (inlined || Source::size.scalars == 0 ? 0 : Source::flat.term_count)];
  sink to{const_cast<const void**>(bases), numbers, scalars};
  (parts.put(to), ...);
  if constexpr (inlined) {
    tiny<Source>::run(const_cast<const void**>(bases), numbers, scalars);
  } else {
    memo& remembered = memo_of<Source>;
    if constexpr (Source::flat.slot_count == Source::size.leaves)
      if (void** const pointers = bases + Source::size.leaves;
          !stream && runs_again(remembered, numbers, bases, pointers, std::make_index_sequence<Source::size.numbers>(), std::make_index_sequence<Source::size.leaves>()))
        return run(*remembered.code, {pointers, scalars});
    execute(Source::flat, bases, numbers, scalars, remembered, stream);
  }
}

template <update Op, class Left, class Right>
void run_statement(const Left& left, const Right& right, void* stream) {
  using whole = statement_of<Op, Left, node_of<Right>>;
  constexpr bool is_right = expression<Right> || scalar_like<Right>;
  constexpr complaint about = is_right ? complaint_about<whole>() : complaint::said;
  if constexpr (!is_right) static_cast<void>(node(right));
  else if constexpr (about == complaint::verdict) report<source<whole>>();
  else if constexpr (about == complaint::left_side) report_left<whole>();
  else if constexpr (about == complaint::said) return;
  else if constexpr (expression<Right>) run_now<source<whole>>(stream, left, right);
  else run_now<source<whole>>(stream, left, node(right));
}

}  // namespace ricci::detail
