// What kernels' texts on this CPU begin with: the shim, and the headers that no text configures. Compiled once, by the build.
#pragma once
#include "host_cuda.hpp"

#include "chain.cuh"
#include "runs.cuh"
#include "small_complex.cuh"
#include "small_image.cuh"
#include "turn_elements.cuh"
#include "words.cuh"

extern "C" inline __attribute__((used)) void watch(const char* begin, const char* end) { host::readable = begin, host::readable_end = end, host::words_read = host::words_beyond = 0; }
extern "C" inline __attribute__((used)) void counted(long& read, long& beyond) { read = host::words_read, beyond = host::words_beyond; }
