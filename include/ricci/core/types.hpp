// Element types: their run-time names (dtype), the two 16-bit floats, and what each computes in.
#pragma once

#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ricci {

/// The element types, as a value. f16 and bf16 are stored in 16 bits and accumulate in float.
enum class dtype : std::uint8_t { f32, f64, c64, c128, f16, bf16 };

inline constexpr int dtype_count = 6;

/// Size of one element in bytes.
constexpr std::size_t size_of(dtype t) {
  constexpr std::size_t bytes[dtype_count] = {4, 8, 8, 16, 2, 2};
  return bytes[static_cast<int>(t)];
}

/// "f32", "f64", "c64", "c128", "f16", "bf16".
constexpr const char* name_of(dtype t) {
  constexpr const char* names[dtype_count] = {"f32", "f64", "c64", "c128", "f16", "bf16"};
  return names[static_cast<int>(t)];
}

/// The type a product of such elements is accumulated in: float for the 16-bit types, else itself.
constexpr dtype compute_type(dtype t) { return t == dtype::f16 || t == dtype::bf16 ? dtype::f32 : t; }

constexpr bool is_complex(dtype t) { return t == dtype::c64 || t == dtype::c128; }

namespace detail {

/// Nearest-even rounding of a float to IEEE binary16.
constexpr std::uint16_t half_bits(float value) {
  const std::uint32_t x = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (x >> 16) & 0x8000u;
  const std::uint32_t magnitude = x & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds to infinity
  if (magnitude < 0x38800000u) {                                                    // subnormal or zero
    if (magnitude < 0x33000000u) return static_cast<std::uint16_t>(sign);
    const std::uint32_t shift = 126u - (magnitude >> 23);
    const std::uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
    const std::uint32_t kept = significand >> shift;
    const std::uint32_t rest = significand & ((1u << shift) - 1u);
    const std::uint32_t tie = 1u << (shift - 1u);
    return static_cast<std::uint16_t>(sign | (kept + (rest > tie || (rest == tie && (kept & 1u)) ? 1u : 0u)));
  }
  const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

constexpr float half_value(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t fraction = bits & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (fraction << 13));
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

constexpr std::uint16_t bfloat16_bits(float value) {
  const std::uint32_t x = std::bit_cast<std::uint32_t>(value);
  if ((x & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((x >> 16) | 0x40u);
  return static_cast<std::uint16_t>((x + 0x7fffu + ((x >> 16) & 1u)) >> 16);
}

}  // namespace detail

/// IEEE binary16, storage only: arithmetic happens in float.
struct half {
  std::uint16_t bits;
  half() = default;
  constexpr half(float value) : bits(detail::half_bits(value)) {}
  constexpr operator float() const { return detail::half_value(bits); }
};

/// bfloat16 (the upper half of a float), storage only: arithmetic happens in float.
struct bfloat16 {
  std::uint16_t bits;
  bfloat16() = default;
  constexpr bfloat16(float value) : bits(detail::bfloat16_bits(value)) {}
  constexpr operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

// x += y and the like of the small types: in float, rounded once. No templates: clang 19 tries them for every type.
constexpr half& operator+=(half& x, float y) { return x = x + y; }
constexpr half& operator-=(half& x, float y) { return x = x - y; }
constexpr half& operator*=(half& x, float y) { return x = x * y; }
constexpr half& operator/=(half& x, float y) { return x = x / y; }
constexpr bfloat16& operator+=(bfloat16& x, float y) { return x = x + y; }
constexpr bfloat16& operator-=(bfloat16& x, float y) { return x = x - y; }
constexpr bfloat16& operator*=(bfloat16& x, float y) { return x = x * y; }
constexpr bfloat16& operator/=(bfloat16& x, float y) { return x = x / y; }

template <class T> struct element_traits;  // no primary: the six element types are listed below
template <> struct element_traits<float> { static constexpr dtype type = dtype::f32; using compute = float; };
template <> struct element_traits<double> { static constexpr dtype type = dtype::f64; using compute = double; };
template <> struct element_traits<std::complex<float>> { static constexpr dtype type = dtype::c64; using compute = std::complex<float>; };
template <> struct element_traits<std::complex<double>> { static constexpr dtype type = dtype::c128; using compute = std::complex<double>; };
template <> struct element_traits<half> { static constexpr dtype type = dtype::f16; using compute = float; };
template <> struct element_traits<bfloat16> { static constexpr dtype type = dtype::bf16; using compute = float; };

/// One of the six element types.
template <class T>
concept element = requires { element_traits<T>::type; };

/// What an index tensor holds, signed integers of 32 or 64 bits whatever they are called: `tensor<std::int32_t, ...>`
/// stands where a label may, as in u(dof(e, a)).
template <class T>
concept index_element = (std::is_same_v<T, int> || std::is_same_v<T, long> || std::is_same_v<T, long long>) && (sizeof(T) == 4 || sizeof(T) == 8);

/// What a tensor may hold.
template <class T>
concept storable = element<T> || index_element<T>;

/// dtype of T.
template <element T> inline constexpr dtype dtype_of = element_traits<T>::type;

/// The type T is accumulated in.
template <element T> using compute_of = typename element_traits<T>::compute;

/// Where memory lives.
enum class memory_space : std::uint8_t { host, gpu };

}  // namespace ricci
