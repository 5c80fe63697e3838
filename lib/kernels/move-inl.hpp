// Moves between element types and layouts.
#pragma once
#include "frame-inl.hpp"
namespace ricci::kernels::RICCI_ISA {
inline void fill_moves(kernel_set&) {}
}
