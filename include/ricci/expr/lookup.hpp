// dof(e, a) where a label may stand: an index tensor says which element, as in u(dof(e, a)).
#pragma once

#include <cstdint>

#include <ricci/expr/flat.hpp>
#include <ricci/tensor/view.hpp>

namespace ricci::detail {

/// A view of integers with labels on its axes. Entries are positions on the axis it stands for, from 0.
template <class View, class... Subscripts>
class table_access {
 public:
  using shape_type = typename View::shape_type;
  static constexpr bool ricci_lookup = true;
  static constexpr subscript_info info{{}, 0, 0, false, 0, true};
  static constexpr int rank = shape_type::rank;
  static constexpr int number_count = shape_type::number_count + (0 + ... + Subscripts::info.numbers);

  constexpr table_access(const View& view, const Subscripts&... subscripts) : data_(view.data()) {
    std::int64_t* to = numbers_;
    for (int n = 0; n < shape_type::number_count; ++n) *to++ = view.numbers()[n];
    (subscripts.put(to), ...);
  }

  constexpr table_access(const table_access&) = default;

  // It is no left side.
  table_access& operator=(const table_access&) { return lacks_labels(*this); }
  template <class E> table_access& operator=(const E&) { return lacks_labels(*this); }

  constexpr void put(std::int64_t*&) const {}  // as a subscript it brings no numbers of its own
  constexpr void put_table(sink& to) const {
    *to.bases++ = data_;
    for (int n = 0; n < number_count; ++n) *to.numbers++ = numbers_[n];
  }
  static constexpr void describe(flat_writer& to) {
    constexpr subscript_info infos[sizeof...(Subscripts) + 1] = {Subscripts::info...};
    leaf_info leaf{dtype::f64, shape_type::space, shape_type::order, false, 0, rank, shape_type::width};
    leaf.index_bytes = sizeof(typename View::value_type);
    to.leaf(leaf, shape_type::list.at, infos);
  }

 private:
  static table_access& lacks_labels(table_access& x) {
    static_cast<void>(sizeof(without_labels<table_access>));
    return x;
  }

  const void* const data_;
  std::int64_t numbers_[at_least_one(number_count)]{};
};

/// The tables among the subscripts of an access, kept for its run-time part.
template <class... Subscripts>
struct table_list {
  static constexpr int count = 0, axes = 0, numbers = 0;
  constexpr table_list(const Subscripts&...) {}
  constexpr void put(sink&) const {}
  static constexpr void describe(flat_writer&) {}
};

template <class First, class... Rest>
struct table_list<First, Rest...> {
  static constexpr int count = table_list<Rest...>::count, axes = table_list<Rest...>::axes,
                       numbers = table_list<Rest...>::numbers;
  constexpr table_list(const First&, const Rest&... others) : rest(others...) {}
  constexpr void put(sink& to) const { rest.put(to); }
  static constexpr void describe(flat_writer& to) { table_list<Rest...>::describe(to); }
  [[no_unique_address]] table_list<Rest...> rest;
};

template <lookup_like First, class... Rest>
struct table_list<First, Rest...> {
  static constexpr int count = 1 + table_list<Rest...>::count, axes = First::rank + table_list<Rest...>::axes,
                       numbers = First::number_count + table_list<Rest...>::numbers;
  constexpr table_list(const First& table, const Rest&... others) : first(table), rest(others...) {}
  constexpr void put(sink& to) const {
    first.put_table(to);
    rest.put(to);
  }
  static constexpr void describe(flat_writer& to) {
    First::describe(to);
    table_list<Rest...>::describe(to);
  }
  First first;
  [[no_unique_address]] table_list<Rest...> rest;
};

/// Whether a view was declared by ricci::even_odd.
template <class View> inline constexpr bool is_even_odd = false;

}  // namespace ricci::detail
