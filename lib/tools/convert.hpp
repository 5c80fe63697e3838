// Between the element types of files and those of the library.
#pragma once

#include <ricci/core/types.hpp>

#include <vector>

#include "tools/npy.hpp"

namespace ricci::tools {

/// The type that NumPy promotes both to.
npy_type promote(npy_type a, npy_type b);

/// The library's type for a file's; f64 for integers and booleans.
dtype compute_dtype(npy_type type);
npy_type file_type(dtype type);

bool is_integer(npy_type type);

/// The elements as `type`, in the same order. From complex to real is an error (bad_argument).
std::vector<std::byte> convert(const npy_array& array, dtype type);

/// Largest absolute value of integer or boolean elements, at least 1.
long double largest(const npy_array& array);

/// Integers from exact doubles; what does not fit wraps as NumPy's integers do, and anything but 0 is true.
std::vector<std::byte> to_integers(const std::vector<std::byte>& doubles, npy_type type);

}  // namespace ricci::tools
