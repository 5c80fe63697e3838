// What the front end's tests share: integer data, on which every evaluation is exact, and the lowered program.
#pragma once

#include <cstdint>

#include <ricci/ricci.hpp>

namespace front {

/// Small integers that differ along every axis; exact in every element type and in every order of summation.
template <class Tensor>
void count_up(Tensor& t, int start = 1) {
  int x = start;
  for (auto& e : t) e = static_cast<typename Tensor::value_type>(static_cast<float>((x = (x * 7 + 3) % 11) - 5));
}

/// The program a list of statements lowers to.
template <class... S>
ricci::program program_of(const S&... statements) {
  using source = ricci::detail::source<S...>;
  ricci::detail::frame<source> f{};
  ricci::detail::sink to = f.writer();
  (statements.put(to), ...);
  return ricci::detail::lower(f.call());
}

/// The program of a list of statements with the memory behind it.
template <class... S>
struct lowered_call {
  using source = ricci::detail::source<S...>;
  explicit lowered_call(const S&... statements) {
    ricci::detail::sink to = frame.writer();
    (statements.put(to), ...);
    static_cast<void>(ricci::detail::prepare(frame.call(), {}));  // fills in pointers and coefficients
    program = ricci::detail::lower(frame.call());
  }
  ricci::bindings bindings() const { return {frame.pointers, frame.coefficients}; }

  ricci::detail::frame<source> frame{};
  ricci::program program;
};

/// Was it inlined at the call?
template <class S>
constexpr bool is_inlined(const S&) { return ricci::detail::tiny<ricci::detail::source<S>>::applies; }

}  // namespace front
