// Conversion of elements, one switch over the types of files.
#include "tools/convert.hpp"

#include <ricci/core/error.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

namespace ricci::tools {
namespace {

/// Calls f with a value of the C++ type that holds elements of a file.
template <class F>
auto with_type(npy_type t, F f) {
  const int code = t.kind * 32 + t.bytes;
  switch (code) {
    case 'b' * 32 + 1: return f(bool{});
    case 'i' * 32 + 1: return f(std::int8_t{});
    case 'i' * 32 + 2: return f(std::int16_t{});
    case 'i' * 32 + 4: return f(std::int32_t{});
    case 'i' * 32 + 8: return f(std::int64_t{});
    case 'u' * 32 + 1: return f(std::uint8_t{});
    case 'u' * 32 + 2: return f(std::uint16_t{});
    case 'u' * 32 + 4: return f(std::uint32_t{});
    case 'u' * 32 + 8: return f(std::uint64_t{});
    case 'f' * 32 + 2: return f(half(0.0f));
    case 'f' * 32 + 4: return f(float{});
    case 'c' * 32 + 8: return f(std::complex<float>{});
    case 'c' * 32 + 16: return f(std::complex<double>{});
    default: return f(double{});
  }
}

/// A float whose last bit says that something was cut off: rounding it is rounding x once.
float cut(double x) {
  const float y = static_cast<float>(x);
  if (!(std::abs(x) <= std::numeric_limits<float>::max()) || static_cast<double>(y) == x) return y;
  const auto bits = std::bit_cast<std::uint32_t>(y) - (std::abs(static_cast<double>(y)) > std::abs(x) ? 1u : 0u);
  return std::bit_cast<float>(bits | 1u);
}

template <class To, class From>
To cast(const From& x) {
  constexpr bool from_complex = std::is_same_v<From, std::complex<float>> || std::is_same_v<From, std::complex<double>>;
  constexpr bool to_complex = std::is_same_v<To, std::complex<float>> || std::is_same_v<To, std::complex<double>>;
  if constexpr (from_complex && to_complex) {
    return To(static_cast<typename To::value_type>(x.real()), static_cast<typename To::value_type>(x.imag()));
  } else if constexpr (to_complex) {
    return To(static_cast<typename To::value_type>(x));
  } else if constexpr (from_complex) {
    return cast<To>(x.real());
  } else if constexpr (std::is_same_v<To, half> || std::is_same_v<To, bfloat16>) {
    return To(cut(static_cast<double>(x)));
  } else {
    return static_cast<To>(x);
  }
}

template <class To>
std::vector<std::byte> convert_to(const npy_array& array) {
  return with_type(array.type, [&](auto example) {
    using from = decltype(example);
    const std::size_t count = array.data.size() / sizeof(from);
    std::vector<std::byte> out(count * sizeof(To));
    for (std::size_t e = 0; e < count; ++e) {
      from x;
      if constexpr (std::is_same_v<from, bool>) x = array.data[e] != std::byte{0};
      else std::memcpy(&x, array.data.data() + e * sizeof(from), sizeof x);
      const To y = cast<To>(x);
      std::memcpy(out.data() + e * sizeof(To), &y, sizeof y);
    }
    return out;
  });
}

/// Bytes of the real type that an integer needs beside floats, as NumPy has it.
int real_bytes(npy_type t) {
  if (t.kind == 'c') return t.bytes / 2;
  if (t.kind == 'f') return t.bytes;
  return t.bytes == 1 ? 2 : t.bytes == 2 ? 4 : 8;
}

npy_type promote_integers(npy_type a, npy_type b) {
  if (a.kind == 'b') return b;
  if (b.kind == 'b') return a;
  if (a.kind == b.kind) return a.bytes > b.bytes ? a : b;
  const npy_type i = a.kind == 'i' ? a : b, u = a.kind == 'i' ? b : a;
  if (i.bytes > u.bytes) return i;
  if (u.bytes == 8) return {'f', 8};
  return {'i', 2 * u.bytes};
}

}  // namespace

bool is_integer(npy_type type) { return type.kind == 'b' || type.kind == 'i' || type.kind == 'u'; }

npy_type promote(npy_type a, npy_type b) {
  if (is_integer(a) && is_integer(b)) return promote_integers(a, b);
  const bool any_complex = a.kind == 'c' || b.kind == 'c';
  int bytes = std::max(a.kind == 'b' ? 2 : real_bytes(a), b.kind == 'b' ? 2 : real_bytes(b));
  if (any_complex) bytes = std::max(bytes, 4);
  return any_complex ? npy_type{'c', 2 * bytes} : npy_type{'f', bytes};
}

dtype compute_dtype(npy_type type) {
  if (type.kind == 'c') return type.bytes == 8 ? dtype::c64 : dtype::c128;
  if (type.kind == 'f' && type.bytes < 8) return type.bytes == 2 ? dtype::f16 : dtype::f32;
  return dtype::f64;
}

npy_type file_type(dtype type) {
  switch (type) {
    case dtype::f32: return {'f', 4};
    case dtype::c64: return {'c', 8};
    case dtype::c128: return {'c', 16};
    case dtype::f16: return {'f', 2};
    case dtype::bf16: throw error(errc::bad_argument, "a .npy file has no type for bf16");
    default: return {'f', 8};
  }
}

std::vector<std::byte> convert(const npy_array& array, dtype type) {
  if (array.type.kind == 'c' && !is_complex(type))
    throw error(errc::bad_argument, "an array of " + name_of(array.type) + " cannot become " + ricci::name_of(type));
  switch (type) {
    case dtype::f32: return convert_to<float>(array);
    case dtype::c64: return convert_to<std::complex<float>>(array);
    case dtype::c128: return convert_to<std::complex<double>>(array);
    case dtype::f16: return convert_to<half>(array);
    case dtype::bf16: return convert_to<bfloat16>(array);
    default: return convert_to<double>(array);
  }
}

long double largest(const npy_array& array) {
  return with_type(array.type, [&](auto example) {
    using from = decltype(example);
    long double most = 1;
    if constexpr (std::is_integral_v<from> && !std::is_same_v<from, bool>)
      for (std::size_t at = 0; at < array.data.size(); at += sizeof(from)) {
        from x;
        std::memcpy(&x, array.data.data() + at, sizeof x);
        const long double wide = static_cast<long double>(x);
        most = std::max(most, wide < 0 ? -wide : wide);
      }
    return most;
  });
}

std::vector<std::byte> to_integers(const std::vector<std::byte>& doubles, npy_type type) {
  return with_type(type, [&](auto example) {
    using to = decltype(example);
    const std::size_t count = doubles.size() / sizeof(double);
    std::vector<std::byte> out(count * sizeof(to));
    for (std::size_t e = 0; e < count; ++e) {
      double x;
      std::memcpy(&x, doubles.data() + e * sizeof x, sizeof x);
      if constexpr (std::is_same_v<to, bool>) {
        out[e] = std::byte{x != 0};
      } else if constexpr (std::is_integral_v<to>) {
        const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
        const to y = static_cast<to>(bits);
        std::memcpy(out.data() + e * sizeof y, &y, sizeof y);
      }
    }
    return out;
  });
}

}  // namespace ricci::tools
