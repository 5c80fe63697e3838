// einsum with a string known at compile time: `auto C = ricci::einsum<"ij,jk->ik">(A, B);`.
#pragma once

#include <ricci/lower/run.hpp>
#include <ricci/tensor/tensor.hpp>

namespace ricci {
namespace detail {

/// The letters of one operand or of the result, within the string.
struct einsum_part {
  int letters[max_rank]{};  // positions in the string
  int count = 0;
};

template <int Parts>
struct einsum_parts {
  einsum_part part[at_least_one(Parts)];  // the operands, then the result
  bool ok = true;
};

constexpr int count_parts(const char* text) {
  int parts = 2;
  for (; *text; ++text) parts += *text == ',';
  return parts;
}

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Letters, commas, one arrow, spaces.
template <fixed_string S>
constexpr auto parse_einsum() {
  constexpr int parts = count_parts(S.text);
  einsum_parts<parts> out;
  int now = 0;
  bool arrow = false;
  for (int at = 0; at < S.size() && out.ok; ++at) {
    const char c = S.text[at];
    if (is_letter(c) && out.part[now].count < max_rank) out.part[now].letters[out.part[now].count++] = at;
    else if (c == ',' && !arrow) ++now;
    else if (c == '-' && !arrow && S.text[at + 1] == '>') ++at, ++now, arrow = true;
    else if (c != ' ') out.ok = false;
  }
  out.ok = out.ok && arrow;
  return out;
}

template <class X>
constexpr auto view_of(const X& x) {
  if constexpr (requires { x.view(); }) return x.view();
  else return x;
}
template <class X> using view_type_of = decltype(view_of(std::declval<const X&>()));

/// What a compile-time einsum takes: the rank and the elements of an ndarray or a number are not those of a tensor's type.
template <class X>
concept static_operand = requires {
  typename view_type_of<X>::shape_type;
  requires element<typename view_type_of<X>::value_type>;
};

/// The extent of a letter of the result: static where an operand knows it.
template <fixed_string S, class... View>
constexpr std::int64_t einsum_extent(int output_axis) {
  constexpr auto parsed = parse_einsum<S>();
  const std::int64_t* const extents[] = {View::shape_type::list.at...};
  const char letter = S.text[parsed.part[sizeof...(View)].letters[output_axis]];
  for (std::size_t o = 0; o < sizeof...(View); ++o)
    for (int d = 0; d < parsed.part[o].count; ++d)
      if (S.text[parsed.part[o].letters[d]] == letter && extents[o][d] != dynamic) return extents[o][d];
  return dynamic;
}

template <fixed_string S, class Sequence, class... View> struct einsum_result;
template <fixed_string S, int... D, class First, class... View>
struct einsum_result<S, std::integer_sequence<int, D...>, First, View...> {
  using type = tensor<typename First::value_type, option_of<einsum_extent<S, First, View...>(D)>...>;
};

/// As detail::source, made from the string: views[0] is the result.
template <fixed_string S, class... View>
struct einsum_source {
  static constexpr int operands = sizeof...(View) - 1;
  static constexpr int axes = (0 + ... + View::shape_type::rank);
  static constexpr counts size{operands + 1, axes, (0 + ... + View::shape_type::number_count), 0, 0, 2,
                               operands + 1, operands + 1, 0, false};
  static constexpr auto storage = [] {
    constexpr auto parsed = parse_einsum<S>();
    flat_storage<operands + 1, axes, operands, 1, 1, axes> out;
    flat_writer to = out.writer();
    int n = 0;
    const auto leaf = [&]<class V>(const V*) {
      const einsum_part& part = parsed.part[n == 0 ? operands : n - 1];
      subscript_info infos[max_rank];
      for (int d = 0; d < part.count; ++d) infos[d].name = {S.text + part.letters[d], 1};
      using shape = typename V::shape_type;
      to.leaf({dtype_of<typename V::value_type>, shape::space, shape::order, false, 0, shape::rank, shape::width},
              shape::list.at, infos);
      if (n > 0) to.use({use_info::kind::factor, false, n, 0});
      ++n;
    };
    (leaf(static_cast<const View*>(nullptr)), ...);
    out.terms[0] = {false, 0, operands};
    out.statements[0] = {update::assign, 0, 0, 1};
    out.label_count = to.label_count;
    out.number_count = to.number_count;
    out.slot_count = operands + 1;
    return out;
  }();
  static constexpr flat_program flat = [] {
    flat_program p = storage.program();
    p.sum_lone = true;
    return p;
  }();
  static constexpr verdict fault = [] {
    label_facts facts[at_least_one(axes)];
    return judge_statically(flat, facts);
  }();
};

template <class View>
struct view_part {
  View view;
  constexpr void put(sink& to) const {
    *to.bases++ = view.data();
    for (int n = 0; n < View::shape_type::number_count; ++n) *to.numbers++ = view.numbers()[n];
  }
};

/// -1: the string fits; else the first operand it does not fit, or the number of operands if that is wrong.
template <fixed_string S, class... View>
constexpr int einsum_misfit() {
  constexpr auto parsed = parse_einsum<S>();
  if (count_parts(S.text) != static_cast<int>(sizeof...(View)) + 1) return sizeof...(View);
  const int ranks[] = {View::shape_type::rank...};
  for (int o = 0; o < static_cast<int>(sizeof...(View)); ++o)
    if (parsed.part[o].count != ranks[o]) return o;
  return -1;
}

template <fixed_string S, class Result, class... View>
Result make_result(const View&... views) {
  if constexpr (Result::shape_type::dynamic_count == 0) {
    return Result();
  } else {
    constexpr auto parsed = parse_einsum<S>();
    const auto extent_of = [&](char letter) {
      std::int64_t found = 0;
      int o = 0;
      const auto look_in = [&](const auto& view) {
        for (int d = 0; d < view.rank(); ++d)
          if (S.text[parsed.part[o].letters[d]] == letter) found = view.extent(d);
        ++o;
      };
      (look_in(views), ...);
      return found;
    };
    return [&]<int... D>(std::integer_sequence<int, D...>) {
      return Result(with_dynamic_extents, extent_of(S.text[parsed.part[sizeof...(View)].letters[D]])...);
    }(std::make_integer_sequence<int, Result::shape_type::rank>{});
  }
}

}  // namespace detail

/// einsum<"ij,jk->ik">(A, B): a new tensor, static in every extent that an operand knows statically.
///
/// Shapes   one letter for each axis; the string says `->`. A letter that the result lacks is summed, lone or not.
/// Errors   at compile time: the string, ranks, repeated or unknown letters of the result, static extents, element
///          types; at run time bad_extent for dynamic extents.
template <fixed_string S, class... X>
auto einsum(const X&... operands) {
  using detail::view_type_of;
  constexpr auto parsed = detail::parse_einsum<S>();
  constexpr int count = sizeof...(X);
  constexpr bool tensors = (detail::static_operand<X> && ...);
  if constexpr (!tensors) {
    static_assert(tensors, "ricci[R017]: an operand of a compile-time einsum is no tensor of numbers; see docs/errors.md#R017");
    return tensor<double>();
  } else if constexpr (!parsed.ok || count == 0) {
    static_cast<void>(sizeof(detail::bad_einsum<S>));
    return tensor<double>();
  } else if constexpr (constexpr int o = detail::einsum_misfit<S, view_type_of<X>...>(); o >= 0) {
    constexpr int ranks[] = {view_type_of<X>::shape_type::rank...};
    constexpr int wanted = detail::count_parts(S.text) - 1;
    if constexpr (o == count) static_cast<void>(sizeof(detail::einsum_operands<S, -1, wanted, count>));
    else static_cast<void>(sizeof(detail::einsum_operands<S, o, parsed.part[o].count, ranks[o]>));
    return tensor<double>();
  } else {
    using result = typename detail::einsum_result<S, std::make_integer_sequence<int, parsed.part[count].count>,
                                                  view_type_of<X>...>::type;
    using source = detail::einsum_source<S, typename result::view_type, view_type_of<X>...>;
    result out = detail::make_result<S, result>(detail::view_of(operands)...);
    if constexpr (source::fault.ok())
      detail::run_now<source>(nullptr, detail::view_part<typename result::view_type>{out.view()},
                              detail::view_part<view_type_of<X>>{detail::view_of(operands)}...);
    else
      detail::report<source>();
    return out;
  }
}

}  // namespace ricci
