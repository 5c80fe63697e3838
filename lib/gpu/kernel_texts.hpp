// The headers of lib/gpu/kernels as strings; the definitions are written by CMake.
#pragma once

namespace ricci::cuda {

extern const int kernel_text_count;
extern const char* const kernel_texts[];
extern const char* const kernel_text_names[];

}  // namespace ricci::cuda
