// Intermediates of fused programs.
#pragma once

#include <ricci/expr/statement.hpp>

namespace ricci {

template <element T> class local;

namespace detail {

/// What tells one local from another, and its name in errors and plans.
struct local_identity {
  const char* name = nullptr;
};

template <int rank> struct bad_local;  // analysis/diagnostics.hpp

/// g(e, q): a local with its labels. Only a fused program gives it extents and a value.
template <class T, class... Subscripts>
class local_access : expression_base {
 public:
  using element_type = T;
  static constexpr bool ricci_expression = true;
  static constexpr int rank = sizeof...(Subscripts);
  static constexpr counts size{1, rank, rank + (0 + ... + Subscripts::info.numbers), 0, 0, 1, 1, 1, 1, false};

  constexpr local_access(const local_identity* identity, const Subscripts&... subscripts) : identity_(identity) {
    [[maybe_unused]] std::int64_t* to = numbers_;
    (subscripts.put(to), ...);
  }

  template <right_side E>
  constexpr auto assign(const E& right) const { return make_statement<update::assign>(*this, right); }

  /// A local is assigned once; a sum stands in that one statement.
  template <right_side E>
  constexpr auto add(const E& right) const { return updated<update::add>(right); }
  template <right_side E>
  constexpr auto subtract(const E& right) const { return updated<update::subtract>(right); }
  template <right_side E>
  constexpr void operator=(const E&) const { refuse<E>(); }
  template <right_side E>
  constexpr void operator+=(const E&) const { refuse<E>(); }
  template <right_side E>
  constexpr void operator-=(const E&) const { refuse<E>(); }
  template <right_side E>
  constexpr void operator*=(const E&) const { refuse<E>(); }
  template <right_side E>
  constexpr void operator/=(const E&) const { refuse<E>(); }

  static constexpr void describe(flat_writer& to) {
    constexpr subscript_info infos[sizeof...(Subscripts) + 1] = {Subscripts::info...};
    std::int64_t extents[sizeof...(Subscripts) + 1]{};
    for (int d = 0; d < rank; ++d) extents[d] = dynamic;
    to.leaf({dtype_of<T>, memory_space::host, layout::row_major, true, 0, rank}, extents, infos);
  }
  static constexpr void put_term(flat_writer& to, int, int leaf, int, bool conj) {
    to.use({use_info::kind::factor, conj, leaf, 0});
  }
  constexpr void put(sink& to) const {
    *to.bases++ = identity_;
    for (int d = 0; d < rank; ++d) *to.numbers++ = unknown;
    for (int n = rank; n < size.numbers; ++n) *to.numbers++ = numbers_[n - rank];
  }

 private:
  template <class E>
  static constexpr void refuse() { static_cast<void>(sizeof(bad_local<(sizeof(E) > 0 ? rank : 0)>)); }
  template <update Op, class E>
  constexpr auto updated(const E& right) const {
    refuse<E>();
    return make_statement<Op>(*this, right);
  }

  const local_identity* const identity_;
  std::int64_t numbers_[(0 + ... + Subscripts::info.numbers) + 1]{};
};

}  // namespace detail

/// An intermediate of a fused program: `local<double> g; fuse(g(e,q).assign(...), v(e,a).assign(... * g(e,q)))`.
/// Rank and extents follow from the one statement that assigns it. Its identity is the object, so it is not copied.
template <element T>
class local : detail::local_identity {
 public:
  static constexpr bool ricci_local = true;
  local() = default;
  /// With a name for errors and plans: `local<double> g("g")`. The text must live as long.
  constexpr explicit local(const char* called) : local_identity{called} {}
  local(const local&) = delete;
  local& operator=(const local&) = delete;

  template <class... S>
  constexpr auto operator()(const S&... subscripts) const {
    return detail::local_access<T, decltype(detail::canonical(subscripts))...>(this, detail::canonical(subscripts)...);
  }
};

}  // namespace ricci
