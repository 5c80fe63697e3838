// What stands between the angle brackets of a tensor or view: extents and tags, as values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <ricci/core/types.hpp>
#include <ricci/index/subscript.hpp>

namespace ricci {

/// An extent that is known at run time only.
inline constexpr std::int64_t dynamic = std::numeric_limits<std::int64_t>::min();

struct gpu_tag {};
struct row_major_tag {};
struct column_major_tag {};
struct strided_tag {};
template <int Width>
struct interleaved_tag {
  static_assert(Width > 0, "ricci: interleaved<W> puts W problems side by side");
};

/// Tags of `tensor` and `extents`: memory on the GPU; last axis fastest (the default); first axis fastest.
inline constexpr gpu_tag gpu{};
inline constexpr row_major_tag row_major{};
inline constexpr column_major_tag column_major{};
/// The first axis counts problems, and element x of W problems lies side by side: problem e is lane e % W of block e / W.
/// A last block that is not full is there in memory. The other axes are row-major inside a block.
template <int Width>
inline constexpr interleaved_tag<Width> interleaved{};
/// Tag of a view whose strides are known at run time only.
inline constexpr strided_tag strided{};

namespace detail {

enum class layout : std::uint8_t { row_major, column_major, strided, interleaved };

template <class O> inline constexpr int width_of = 0;
template <int Width> inline constexpr int width_of<interleaved_tag<Width>> = Width;

/// A product of extents. Beside an extent of 0 the others may pass 64 bits: then nobody needs it, but it must be defined.
constexpr std::int64_t product_of(std::int64_t x, std::int64_t y) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
}

/// The length of an array that may have no elements.
constexpr std::size_t at_least_one(int n) { return n > 0 ? static_cast<std::size_t>(n) : 1; }

/// Throws errc::bad_argument: the first axis of an interleaved tensor has no stride.
[[noreturn]] void throw_no_stride();

template <std::int64_t Extent> struct negative_extent;  // analysis/diagnostics.hpp
template <class Given> struct not_an_extent;            // analysis/diagnostics.hpp
template <int Wanted, int Given> struct extent_arguments;  // analysis/diagnostics.hpp
template <class... Given> struct repeated_option;       // analysis/diagnostics.hpp
template <class Given> struct without_labels;           // analysis/diagnostics.hpp
template <class Given> struct not_an_element;           // analysis/diagnostics.hpp

/// What an extent is: any integer, an enumerator, or a constant, 3_c.
template <class N>
concept extent_number = integer_like<N> || constant_like<N>;

template <class First, class... Rest>
constexpr void first_not_an_extent() {
  if constexpr (extent_number<First>) first_not_an_extent<Rest...>();
  else static_cast<void>(sizeof(not_an_extent<First>));
}

/// What a tensor or a view holds. A constraint would say more in more lines.
template <class T> struct sound_element {};
template <class T>
  requires(!storable<T>)
struct sound_element<T> : not_an_element<T> {};

template <class O> inline constexpr bool is_extent_option = std::is_integral_v<O>;
template <class O>
inline constexpr bool is_tag_option = std::is_same_v<O, gpu_tag> || std::is_same_v<O, row_major_tag> ||
                                      std::is_same_v<O, column_major_tag> || std::is_same_v<O, strided_tag> || width_of<O> != 0;

template <auto Option> struct sound_option {};
template <auto Option>
  requires(is_extent_option<std::remove_cv_t<decltype(Option)>> && Option < 0 && Option != dynamic)
struct sound_option<Option> : negative_extent<Option> {};
template <auto Option>
  requires(!is_extent_option<std::remove_cv_t<decltype(Option)>> && !is_tag_option<std::remove_cv_t<decltype(Option)>>)
struct sound_option<Option> : not_an_extent<std::remove_cv_t<decltype(Option)>> {};

template <bool Repeats, class... Given> struct sound_options {};
template <class... Given>
struct sound_options<true, Given...> : repeated_option<Given...> {};

/// The numbers and tags of an option list, sorted out. Copied nowhere: read through its static members.
template <auto... Options>
struct shape {
  static_assert((true && ... && (sizeof(sound_option<Options>) > 0)));
  template <class Tag>
  static constexpr int count = (0 + ... + static_cast<int>(std::is_same_v<std::remove_cv_t<decltype(Options)>, Tag>));
  template <class Tag>
  static constexpr bool has = count<Tag> > 0;
  static constexpr int rank = (0 + ... + static_cast<int>(is_extent_option<std::remove_cv_t<decltype(Options)>>));
  static_assert(rank <= 32, "ricci: a tensor has at most 32 axes");
  static constexpr memory_space space = has<gpu_tag> ? memory_space::gpu : memory_space::host;
  static constexpr int width = (0 + ... + width_of<std::remove_cv_t<decltype(Options)>>);
  static constexpr int widths = (0 + ... + static_cast<int>(width_of<std::remove_cv_t<decltype(Options)>> > 0));
  static constexpr layout order = width > 0               ? layout::interleaved
                                  : has<strided_tag>      ? layout::strided
                                  : has<column_major_tag> ? layout::column_major
                                                          : layout::row_major;
  static constexpr bool repeats = count<gpu_tag> > 1 || count<row_major_tag> + count<column_major_tag> + count<strided_tag> > 1 || widths > 1;
  static_assert(sizeof(sound_options<repeats, std::remove_cv_t<decltype(Options)>...>) > 0);
  static_assert(width == 0 || rank > 0, "ricci: an interleaved tensor has an axis of problems");
  static_assert(width == 0 || !(has<strided_tag> || has<column_major_tag>), "ricci: interleaved goes with row-major tensors");

  struct extent_list {
    std::int64_t at[at_least_one(rank)]{};
    int number[at_least_one(rank)]{};  // where a dynamic extent stands among the run-time numbers
    int dynamic_count = 0;
  };
  static constexpr extent_list list = [] {
    extent_list out;
    int d = 0;
    [[maybe_unused]] const auto take = [&]<auto Option>() {
      if constexpr (is_extent_option<std::remove_cv_t<decltype(Option)>>) {
        out.at[d] = static_cast<std::int64_t>(Option);
        out.number[d] = out.at[d] == dynamic ? out.dynamic_count++ : -1;
        ++d;
      }
    };
    (take.template operator()<Options>(), ...);
    return out;
  }();
  static constexpr int dynamic_count = list.dynamic_count;
  static constexpr std::int64_t extent(const std::int64_t* numbers, int d) {
    return list.number[d] < 0 ? list.at[d] : numbers[list.number[d]];
  }
  static constexpr std::int64_t stride(const std::int64_t* numbers, int d) {
    if constexpr (order == layout::strided) return numbers[dynamic_count + d];
    if (width > 0 && d == 0) throw_no_stride();
    std::int64_t step = width > 0 ? width : 1;
    for (int a = order != layout::column_major ? d + 1 : 0; a < (order != layout::column_major ? rank : d); ++a)
      step = product_of(step, extent(numbers, a));
    return step;
  }

  /// Elements of one block of an interleaved tensor.
  static constexpr std::int64_t block(const std::int64_t* numbers) {
    std::int64_t size = width;
    for (int a = 1; a < rank; ++a) size = product_of(size, extent(numbers, a));
    return size;
  }

  /// Where an element is.
  static constexpr std::int64_t offset(const std::int64_t* numbers, const std::int64_t* at) {
    std::int64_t sum = 0;
    for (int d = width > 0 ? 1 : 0; d < rank; ++d) sum += at[d] * stride(numbers, d);
    if constexpr (width > 0) sum += at[0] / width * block(numbers) + at[0] % width;
    return sum;
  }

  /// Run-time numbers of a view of this shape: its dynamic extents in order, then all strides if strided.
  static constexpr int number_count = dynamic_count + (order == layout::strided ? rank : 0);
  static constexpr bool is_static = number_count == 0;
};

/// Whether what lies as From says may be described by To, which knows as much or less: an extent or the strides only at run
/// time.
template <class To, class From>
constexpr bool is_described_by() {
  if constexpr (To::rank != From::rank || To::space != From::space || To::width != From::width) {
    return false;
  } else {
    for (int d = 0; d < To::rank; ++d)
      if (To::list.at[d] != dynamic && To::list.at[d] != From::list.at[d]) return false;
    return To::order == From::order || (To::order == layout::strided && From::width == 0);
  }
}

/// An extent of the type a user would write: int where it fits.
template <std::int64_t Extent>
inline constexpr auto option_of = [] {
  if constexpr (Extent >= 0 && Extent <= std::numeric_limits<int>::max()) return static_cast<int>(Extent);
  else return Extent;
}();

}  // namespace detail
}  // namespace ricci
