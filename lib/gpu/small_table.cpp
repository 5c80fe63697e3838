// Written by bench_gpu_tune on one NVIDIA H200, 2026-11-21; packed row-major batches of 1 GiB an operand. The comment is
// the share of the triad's bandwidth that was reached.
#include "gpu/small_table.hpp"

namespace ricci::cuda {

// type, n, beta, {problems, group, block, stages, compute, rm, rn, pad_a, pad_b, pad_c, unroll, blocks}
const small_entry small_entries[] = {
    {dtype::f32, 2, false, {192, 128, 128, 1, arithmetic::threads, 1, 2, 0, 0, 0, 2, 1}},  // 102.3 %
    {dtype::f32, 3, false, {56, 128, 128, 1, arithmetic::threads, 3, 3, 0, 0, 0, 3, 8}},  // 102.2 %
    {dtype::f32, 4, false, {33, 128, 128, 1, arithmetic::threads, 2, 4, 0, 0, 0, 4, 12}},  // 102.1 %
    {dtype::f32, 5, false, {40, 128, 128, 1, arithmetic::threads, 3, 5, 0, 0, 0, 5, 1}},  // 102.3 %
    {dtype::f32, 6, false, {14, 64, 64, 1, arithmetic::threads, 3, 6, 0, 0, 0, 6, 16}},  // 102.0 %
    {dtype::f32, 7, false, {40, 128, 128, 1, arithmetic::threads, 7, 4, 0, 0, 0, 7, 1}},  // 101.8 %
    {dtype::f32, 8, false, {33, 256, 256, 3, arithmetic::threads, 4, 8, 0, 0, 0, 8, 1}},  // 98.0 %
    {dtype::f32, 9, false, {24, 256, 256, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 5}},  // 102.0 %
    {dtype::f32, 10, false, {10, 64, 64, 1, arithmetic::threads, 5, 4, 0, 0, 0, 4, 1}},  // 102.2 %
    {dtype::f32, 11, false, {16, 128, 128, 1, arithmetic::threads, 6, 4, 0, 0, 0, 4, 1}},  // 101.8 %
    {dtype::f32, 12, false, {14, 128, 128, 1, arithmetic::threads, 3, 6, 0, 0, 0, 4, 1}},  // 101.9 %
    {dtype::f32, 13, false, {8, 64, 64, 1, arithmetic::threads, 7, 5, 0, 0, 0, 4, 14}},  // 101.3 %
    {dtype::f32, 14, false, {10, 64, 64, 1, arithmetic::threads, 7, 5, 0, 0, 0, 4, 1}},  // 101.2 %
    {dtype::f32, 15, false, {8, 64, 64, 1, arithmetic::threads, 8, 5, 0, 0, 0, 4, 1}},  // 101.2 %
    {dtype::f32, 16, false, {8, 64, 64, 1, arithmetic::threads, 4, 8, 0, 0, 0, 4, 1, true}},  // 99.7 %
    {dtype::f32, 17, false, {7, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 8, false, true}},  // 92.7 %
    {dtype::f32, 18, false, {6, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 1, true}},  // 101.7 %
    {dtype::f32, 19, false, {8, 64, 64, 1, arithmetic::threads, 5, 5, 0, 0, 0, 4, 16, false, true}},  // 99.2 %
    {dtype::f32, 20, false, {5, 64, 64, 1, arithmetic::threads, 7, 5, 0, 0, 0, 4, 1}},  // 101.6 %
    {dtype::f32, 21, false, {8, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 1, false, true}},  // 100.3 %
    {dtype::f32, 22, false, {4, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 1}},  // 101.4 %
    {dtype::f32, 23, false, {8, 128, 128, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 1, false, true}},  // 100 %
    {dtype::f32, 24, false, {3, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 1, true}},  // 101.6 %
    {dtype::f32, 25, false, {5, 64, 64, 1, arithmetic::threads, 5, 5, 0, 0, 0, 4, 1, false, true}},  // 98.9 %
    {dtype::f32, 26, false, {2, 64, 64, 1, arithmetic::threads, 4, 7, 0, 0, 0, 4, 16, true}},  // 99.8 %
    {dtype::f32, 27, false, {4, 96, 96, 1, arithmetic::threads, 5, 7, 0, 0, 0, 4, 1}},  // 94.1 %
    {dtype::f32, 28, false, {2, 32, 128, 2, arithmetic::threads, 7, 7, 0, 0, 0, 4, 1}},  // 98.1 %
    {dtype::f32, 29, false, {4, 128, 128, 1, arithmetic::threads, 5, 6, 0, 0, 0, 4, 1}},  // 93.3 %
    {dtype::f32, 30, false, {2, 64, 64, 1, arithmetic::threads, 5, 6, 0, 0, 0, 4, 1, true}},  // 100.7 %
    {dtype::f32, 31, false, {2, 64, 64, 1, arithmetic::threads, 8, 4, 0, 0, 0, 4, 1, false, true}},  // 95.6 %
    {dtype::f32, 32, false, {2, 64, 64, 1, arithmetic::threads, 4, 8, 4, 4, 0, 4, 1, true}},  // 98.0 %
    {dtype::f32, 2, true, {256, 256, 256, 1, arithmetic::threads, 2, 1, 0, 0, 0, 2, 4}},  // 103.4 %
    {dtype::f32, 3, true, {64, 128, 128, 1, arithmetic::threads, 2, 3, 0, 0, 0, 3, 1}},  // 103.7 %
    {dtype::f32, 4, true, {64, 128, 128, 1, arithmetic::threads, 2, 4, 0, 0, 0, 4, 12}},  // 103.3 %
    {dtype::f32, 5, true, {64, 128, 128, 1, arithmetic::threads, 5, 3, 0, 0, 0, 5, 8}},  // 103.1 %
    {dtype::f32, 6, true, {32, 64, 64, 1, arithmetic::threads, 3, 6, 0, 0, 0, 6, 1}},  // 103.2 %
    {dtype::f32, 7, true, {32, 64, 64, 1, arithmetic::threads, 4, 7, 0, 0, 0, 7, 1}},  // 102.8 %
    {dtype::f32, 8, true, {32, 64, 64, 1, arithmetic::threads, 4, 8, 0, 0, 0, 8, 1}},  // 102.8 %
    {dtype::f32, 9, true, {16, 64, 64, 1, arithmetic::threads, 5, 5, 0, 0, 0, 4, 1}},  // 101.9 %
    {dtype::f32, 10, true, {16, 64, 64, 1, arithmetic::threads, 5, 5, 0, 0, 0, 4, 16}},  // 103.2 %
    {dtype::f32, 11, true, {16, 128, 128, 1, arithmetic::threads, 4, 6, 0, 0, 0, 4, 1}},  // 102.5 %
    {dtype::f32, 12, true, {14, 128, 128, 1, arithmetic::threads, 3, 6, 0, 0, 0, 4, 1}},  // 103.3 %
    {dtype::f32, 13, true, {8, 64, 64, 1, arithmetic::threads, 7, 5, 0, 0, 0, 4, 1}},  // 101.3 %
    {dtype::f32, 14, true, {8, 64, 64, 1, arithmetic::threads, 4, 7, 0, 0, 0, 4, 16}},  // 102.8 %
    {dtype::f32, 15, true, {8, 64, 64, 1, arithmetic::threads, 5, 8, 0, 0, 0, 4, 1}},  // 101.7 %
    {dtype::f32, 16, true, {6, 64, 64, 1, arithmetic::threads, 6, 3, 0, 0, 0, 4, 14}},  // 101.2 %
    {dtype::f32, 17, true, {7, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 1, false, true}},  // 99.3 %
    {dtype::f32, 18, true, {6, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 1}},  // 102.3 %
    {dtype::f32, 19, true, {5, 64, 64, 1, arithmetic::threads, 7, 5, 0, 0, 0, 4, 1, false, true}},  // 101.5 %
    {dtype::f32, 20, true, {4, 64, 64, 1, arithmetic::threads, 5, 5, 0, 0, 0, 4, 1}},  // 102.9 %
    {dtype::f32, 21, true, {8, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 1, false, true}},  // 101.1 %
    {dtype::f32, 22, true, {4, 64, 64, 1, arithmetic::threads, 8, 6, 0, 0, 0, 4, 1, true}},  // 102.3 %
    {dtype::f32, 23, true, {8, 128, 128, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 1, false, true}},  // 101.2 %
    {dtype::f32, 24, true, {3, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 1, true}},  // 103.2 %
    {dtype::f32, 25, true, {5, 128, 128, 1, arithmetic::threads, 5, 5, 0, 0, 0, 4, 1, false, true}},  // 100.9 %
    {dtype::f32, 26, true, {2, 64, 64, 1, arithmetic::threads, 4, 7, 0, 0, 0, 4, 1}},  // 102.0 %
    {dtype::f32, 27, true, {5, 64, 64, 1, arithmetic::threads, 5, 7, 0, 0, 0, 4, 1, false, true}},  // 100.4 %
    {dtype::f32, 28, true, {2, 64, 64, 1, arithmetic::threads, 4, 7, 0, 0, 0, 4, 1, true}},  // 103.2 %
    {dtype::f32, 29, true, {4, 96, 96, 1, arithmetic::threads, 8, 5, 0, 0, 0, 4, 1, false, true}},  // 99.2 %
    {dtype::f32, 30, true, {2, 64, 64, 1, arithmetic::threads, 5, 6, 0, 0, 0, 4, 1, true}},  // 101.9 %
    {dtype::f32, 31, true, {3, 96, 96, 1, arithmetic::threads, 8, 4, 0, 0, 0, 4, 1, false, true}},  // 99.7 %
    {dtype::f32, 32, true, {2, 64, 64, 1, arithmetic::threads, 4, 8, 4, 4, 0, 4, 1, true}},  // 97.4 %
    {dtype::f64, 2, false, {66, 128, 128, 1, arithmetic::threads, 2, 2, 0, 0, 0, 2, 12}},  // 102.8 %
    {dtype::f64, 3, false, {84, 256, 256, 1, arithmetic::threads, 1, 3, 0, 0, 0, 3, 4}},  // 102.6 %
    {dtype::f64, 4, false, {64, 64, 64, 1, arithmetic::threads, 2, 4, 0, 0, 0, 4, 16}},  // 99.0 %
    {dtype::f64, 5, false, {20, 64, 64, 1, arithmetic::threads, 3, 5, 0, 0, 0, 5, 1}},  // 102.5 %
    {dtype::f64, 6, false, {14, 64, 64, 1, arithmetic::threads, 6, 2, 0, 0, 0, 6, 1}},  // 102.5 %
    {dtype::f64, 7, false, {16, 256, 256, 1, arithmetic::mma_f64, 1, 1, 5, 5, 0, 4, 4}},  // 102.2 %
    {dtype::f64, 8, false, {8, 256, 256, 1, arithmetic::mma_f64, 1, 1, 0, 0, 0, 4, 6}},  // 101.9 %
    {dtype::f64, 9, false, {8, 128, 128, 1, arithmetic::mma_f64, 2, 2, 3, 3, 0, 4, 1}},  // 102.3 %
    {dtype::f64, 10, false, {6, 64, 64, 1, arithmetic::threads, 2, 5, 0, 0, 0, 4, 1}},  // 102.0 %
    {dtype::f64, 11, false, {2, 64, 64, 1, arithmetic::mma_f64, 2, 2, 1, 1, 0, 4, 16}},  // 102.3 %
    {dtype::f64, 12, false, {3, 128, 128, 1, arithmetic::mma_f64, 2, 2, 0, 0, 0, 4, 1}},  // 102.6 %
    {dtype::f64, 13, false, {2, 64, 64, 1, arithmetic::mma_f64, 2, 2, 7, 7, 0, 4, 1}},  // 102.4 %
    {dtype::f64, 14, false, {4, 64, 64, 1, arithmetic::threads, 2, 7, 0, 0, 0, 4, 1}},  // 101.4 %
    {dtype::f64, 15, false, {2, 128, 128, 1, arithmetic::mma_f64, 2, 2, 5, 5, 0, 4, 8}},  // 102.3 %
    {dtype::f64, 16, false, {1, 64, 64, 1, arithmetic::mma_f64, 2, 2, 4, 4, 0, 4, 1}},  // 102.6 %
    {dtype::f64, 17, false, {2, 64, 64, 1, arithmetic::mma_f64, 3, 1, 3, 3, 0, 4, 1}},  // 102.0 %
    {dtype::f64, 18, false, {3, 128, 128, 1, arithmetic::threads, 2, 6, 0, 0, 0, 4, 8}},  // 101.7 %
    {dtype::f64, 19, false, {2, 64, 64, 1, arithmetic::mma_f64, 3, 3, 1, 1, 0, 4, 1}},  // 101.8 %
    {dtype::f64, 20, false, {2, 64, 64, 1, arithmetic::threads, 4, 4, 0, 0, 0, 4, 1}},  // 102.4 %
    {dtype::f64, 21, false, {1, 64, 64, 1, arithmetic::mma_f64, 3, 1, 7, 7, 0, 4, 1}},  // 102.1 %
    {dtype::f64, 22, false, {1, 128, 128, 1, arithmetic::mma_f64, 3, 1, 0, 0, 0, 4, 1}},  // 102.0 %
    {dtype::f64, 23, false, {1, 128, 128, 1, arithmetic::mma_f64, 3, 1, 5, 5, 0, 4, 8}},  // 102.0 %
    {dtype::f64, 24, false, {1, 128, 128, 1, arithmetic::mma_f64, 3, 1, 4, 4, 0, 4, 8}},  // 101.4 %
    {dtype::f64, 25, false, {1, 64, 64, 1, arithmetic::mma_f64, 4, 2, 3, 3, 0, 4, 1}},  // 102.0 %
    {dtype::f64, 26, false, {1, 128, 128, 1, arithmetic::mma_f64, 4, 2, 0, 0, 0, 4, 8}},  // 102.1 %
    {dtype::f64, 27, false, {1, 64, 64, 1, arithmetic::mma_f64, 4, 2, 1, 1, 0, 4, 1}},  // 101.7 %
    {dtype::f64, 28, false, {1, 128, 128, 1, arithmetic::mma_f64, 4, 2, 0, 0, 0, 4, 1}},  // 102.2 %
    {dtype::f64, 29, false, {1, 64, 64, 1, arithmetic::mma_f64, 4, 2, 7, 7, 0, 4, 1}},  // 101.8 %
    {dtype::f64, 30, false, {1, 64, 64, 1, arithmetic::threads, 3, 5, 0, 0, 0, 4, 1}},  // 101.7 %
    {dtype::f64, 31, false, {1, 128, 128, 1, arithmetic::mma_f64, 4, 2, 5, 5, 0, 2, 1}},  // 101.3 %
    {dtype::f64, 32, false, {1, 128, 128, 1, arithmetic::mma_f64, 4, 2, 4, 4, 0, 2, 1}},  // 101.8 %
    {dtype::f64, 2, true, {128, 256, 256, 1, arithmetic::threads, 2, 1, 0, 0, 0, 2, 4}},  // 103.4 %
    {dtype::f64, 3, true, {84, 256, 256, 1, arithmetic::threads, 1, 3, 0, 0, 0, 3, 4}},  // 102.4 %
    {dtype::f64, 4, true, {32, 64, 64, 1, arithmetic::threads, 2, 4, 0, 0, 0, 4, 16}},  // 103.1 %
    {dtype::f64, 5, true, {32, 64, 64, 1, arithmetic::threads, 5, 3, 0, 0, 0, 5, 16}},  // 103.1 %
    {dtype::f64, 6, true, {14, 64, 64, 1, arithmetic::threads, 6, 2, 0, 0, 0, 6, 1}},  // 103.2 %
    {dtype::f64, 7, true, {16, 256, 256, 1, arithmetic::mma_f64, 1, 1, 5, 5, 0, 4, 6}},  // 103.3 %
    {dtype::f64, 8, true, {8, 256, 256, 1, arithmetic::mma_f64, 1, 1, 0, 0, 0, 4, 4}},  // 103.3 %
    {dtype::f64, 9, true, {8, 128, 128, 1, arithmetic::mma_f64, 2, 2, 3, 3, 0, 4, 1}},  // 102.7 %
    {dtype::f64, 10, true, {10, 128, 128, 1, arithmetic::threads, 3, 5, 0, 0, 0, 4, 1}},  // 103.1 %
    {dtype::f64, 11, true, {4, 64, 64, 1, arithmetic::mma_f64, 2, 2, 1, 1, 0, 4, 1}},  // 102.7 %
    {dtype::f64, 12, true, {4, 128, 128, 1, arithmetic::mma_f64, 2, 2, 0, 0, 0, 4, 1}},  // 103.6 %
    {dtype::f64, 13, true, {4, 128, 128, 1, arithmetic::mma_f64, 2, 2, 7, 7, 0, 4, 1}},  // 103.3 %
    {dtype::f64, 14, true, {4, 64, 64, 1, arithmetic::threads, 2, 7, 0, 0, 0, 4, 1}},  // 102.9 %
    {dtype::f64, 15, true, {4, 256, 256, 1, arithmetic::mma_f64, 2, 2, 5, 5, 0, 4, 4}},  // 103.2 %
    {dtype::f64, 16, true, {2, 128, 128, 1, arithmetic::mma_f64, 2, 2, 4, 4, 0, 4, 1}},  // 103.3 %
    {dtype::f64, 17, true, {2, 64, 64, 1, arithmetic::mma_f64, 3, 1, 3, 3, 0, 4, 1}},  // 102.5 %
    {dtype::f64, 18, true, {2, 64, 64, 1, arithmetic::threads, 2, 6, 0, 0, 0, 4, 1}},  // 102.2 %
    {dtype::f64, 19, true, {2, 128, 128, 1, arithmetic::mma_f64, 3, 1, 1, 1, 0, 4, 1}},  // 102.3 %
    {dtype::f64, 20, true, {1, 128, 128, 1, arithmetic::mma_f64, 3, 1, 0, 0, 0, 4, 1}},  // 103.6 %
    {dtype::f64, 21, true, {2, 256, 256, 1, arithmetic::mma_f64, 3, 1, 7, 7, 0, 4, 4}},  // 102.8 %
    {dtype::f64, 22, true, {2, 256, 256, 1, arithmetic::mma_f64, 3, 1, 0, 0, 0, 4, 4}},  // 102.8 %
    {dtype::f64, 23, true, {2, 256, 256, 1, arithmetic::mma_f64, 3, 1, 5, 5, 0, 4, 4}},  // 102.6 %
    {dtype::f64, 24, true, {1, 128, 128, 1, arithmetic::mma_f64, 3, 1, 4, 4, 0, 4, 1}},  // 102.5 %
    {dtype::f64, 25, true, {1, 64, 64, 1, arithmetic::mma_f64, 4, 2, 3, 3, 0, 4, 1}},  // 101.8 %
    {dtype::f64, 26, true, {1, 64, 64, 1, arithmetic::threads, 3, 4, 0, 0, 0, 4, 1}},  // 102.2 %
    {dtype::f64, 27, true, {1, 64, 64, 1, arithmetic::mma_f64, 4, 2, 1, 1, 0, 4, 1}},  // 101.7 %
    {dtype::f64, 28, true, {1, 128, 128, 1, arithmetic::mma_f64, 4, 2, 0, 0, 0, 4, 1}},  // 103.2 %
    {dtype::f64, 29, true, {1, 64, 64, 1, arithmetic::mma_f64, 4, 2, 7, 7, 0, 4, 1}},  // 101.3 %
    {dtype::f64, 30, true, {1, 64, 64, 1, arithmetic::threads, 3, 5, 0, 0, 0, 4, 1}},  // 101.4 %
    {dtype::f64, 31, true, {1, 128, 128, 1, arithmetic::mma_f64, 4, 2, 5, 5, 0, 4, 1}},  // 102.2 %
    {dtype::f64, 32, true, {1, 256, 256, 1, arithmetic::mma_f64, 4, 2, 4, 4, 0, 4, 4}},  // 102.9 %
    {dtype::c64, 2, false, {66, 128, 128, 1, arithmetic::threads, 2, 2, 0, 0, 0, 2, 12, true}},  // 102.6 %
    {dtype::c64, 3, false, {84, 256, 256, 1, arithmetic::threads, 1, 3, 0, 0, 0, 3, 4}},  // 102.5 %
    {dtype::c64, 4, false, {64, 64, 64, 1, arithmetic::threads, 4, 2, 0, 0, 0, 4, 16, true}},  // 98.6 %
    {dtype::c64, 5, false, {20, 64, 64, 1, arithmetic::threads, 3, 5, 0, 0, 0, 5, 1}},  // 102.3 %
    {dtype::c64, 6, false, {29, 128, 128, 1, arithmetic::threads, 3, 3, 0, 0, 0, 6, 1, true}},  // 102.3 %
    {dtype::c64, 7, false, {20, 128, 128, 1, arithmetic::threads, 7, 2, 0, 0, 0, 7, 1}},  // 102.0 %
    {dtype::c64, 8, false, {8, 64, 64, 1, arithmetic::threads, 2, 4, 0, 0, 0, 4, 1}},  // 100.5 %
    {dtype::c64, 9, false, {12, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 16}},  // 101.6 %
    {dtype::c64, 10, false, {6, 64, 64, 1, arithmetic::threads, 5, 2, 0, 0, 0, 4, 1}},  // 102.1 %
    {dtype::c64, 11, false, {8, 128, 128, 1, arithmetic::threads, 4, 3, 0, 0, 0, 4, 1}},  // 101.8 %
    {dtype::c64, 12, false, {7, 128, 128, 1, arithmetic::threads, 4, 3, 0, 0, 0, 4, 8}},  // 102.1 %
    {dtype::c64, 13, false, {4, 64, 64, 1, arithmetic::threads, 3, 5, 0, 0, 0, 4, 1}},  // 98.2 %
    {dtype::c64, 14, false, {4, 64, 64, 1, arithmetic::threads, 3, 5, 0, 0, 0, 4, 1, true}},  // 102.1 %
    {dtype::c64, 15, false, {4, 64, 64, 1, arithmetic::threads, 5, 3, 0, 0, 0, 4, 1}},  // 102.0 %
    {dtype::c64, 16, false, {4, 128, 128, 1, arithmetic::threads, 2, 8, 2, 2, 0, 4, 8, true}},  // 98.1 %
    {dtype::c64, 17, false, {8, 96, 96, 1, arithmetic::threads, 5, 3, 0, 0, 0, 4, 1}},  // 93.5 %
    {dtype::c64, 18, false, {3, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 16, true}},  // 100.7 %
    {dtype::c64, 19, false, {3, 64, 64, 1, arithmetic::threads, 5, 2, 0, 0, 0, 4, 1, false, true}},  // 94.9 %
    {dtype::c64, 20, false, {3, 64, 64, 1, arithmetic::threads, 5, 4, 0, 0, 0, 4, 1, true}},  // 99 %
    {dtype::c64, 21, false, {3, 64, 64, 1, arithmetic::threads, 7, 3, 0, 0, 0, 4, 1, false, true}},  // 97.2 %
    {dtype::c64, 22, false, {2, 64, 64, 1, arithmetic::threads, 6, 3, 0, 0, 0, 4, 9, true}},  // 89.4 %
    {dtype::c64, 23, false, {2, 64, 64, 1, arithmetic::threads, 6, 3, 0, 0, 0, 4, 1, false, true}},  // 90 %
    {dtype::c64, 24, false, {2, 64, 64, 1, arithmetic::threads, 6, 3, 0, 0, 0, 4, 1}},  // 97.5 %
    {dtype::c64, 2, true, {128, 256, 256, 1, arithmetic::threads, 2, 1, 0, 0, 0, 2, 4, true}},  // 103.8 %
    {dtype::c64, 3, true, {64, 128, 128, 1, arithmetic::threads, 2, 3, 0, 0, 0, 3, 1}},  // 103.4 %
    {dtype::c64, 4, true, {32, 64, 64, 1, arithmetic::threads, 2, 4, 0, 0, 0, 4, 16}},  // 103.1 %
    {dtype::c64, 5, true, {32, 64, 64, 1, arithmetic::threads, 5, 3, 0, 0, 0, 5, 16}},  // 103.1 %
    {dtype::c64, 6, true, {14, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 6, 1, true}},  // 103.1 %
    {dtype::c64, 7, true, {16, 64, 64, 1, arithmetic::threads, 7, 2, 0, 0, 0, 7, 1}},  // 103.4 %
    {dtype::c64, 8, true, {8, 64, 64, 1, arithmetic::threads, 2, 4, 0, 0, 0, 4, 1, true}},  // 102.3 %
    {dtype::c64, 9, true, {12, 128, 128, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 1}},  // 102.0 %
    {dtype::c64, 10, true, {8, 64, 64, 1, arithmetic::threads, 3, 5, 0, 0, 0, 4, 1, true}},  // 102.8 %
    {dtype::c64, 11, true, {8, 128, 128, 1, arithmetic::threads, 3, 4, 0, 0, 0, 4, 1}},  // 103.0 %
    {dtype::c64, 12, true, {5, 64, 64, 1, arithmetic::threads, 4, 3, 0, 0, 0, 4, 1}},  // 102.9 %
    {dtype::c64, 13, true, {4, 64, 64, 1, arithmetic::threads, 7, 2, 0, 0, 0, 4, 1}},  // 102.2 %
    {dtype::c64, 14, true, {4, 64, 64, 1, arithmetic::threads, 7, 2, 0, 0, 0, 4, 1}},  // 103.4 %
    {dtype::c64, 15, true, {4, 128, 128, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 1}},  // 102.2 %
    {dtype::c64, 16, true, {4, 128, 128, 1, arithmetic::threads, 4, 4, 2, 2, 0, 4, 1, true}},  // 101.4 %
    {dtype::c64, 17, true, {3, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 16, true, true}},  // 100.8 %
    {dtype::c64, 18, true, {2, 64, 64, 1, arithmetic::threads, 2, 6, 0, 0, 0, 4, 1, true}},  // 102.2 %
    {dtype::c64, 19, true, {3, 64, 64, 1, arithmetic::threads, 4, 5, 0, 0, 0, 4, 1, false, true}},  // 100.5 %
    {dtype::c64, 20, true, {2, 64, 64, 1, arithmetic::threads, 4, 4, 0, 0, 0, 4, 1, true}},  // 102.9 %
    {dtype::c64, 21, true, {3, 64, 64, 1, arithmetic::threads, 7, 3, 0, 0, 0, 4, 1, false, true}},  // 100.6 %
    {dtype::c64, 22, true, {2, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 1, false, true}},  // 100.7 %
    {dtype::c64, 23, true, {3, 96, 96, 1, arithmetic::threads, 6, 3, 0, 0, 0, 4, 1, false, true}},  // 100.1 %
    {dtype::c64, 24, true, {3, 96, 96, 1, arithmetic::threads, 3, 6, 0, 0, 0, 4, 1, true}},  // 101.8 %
    {dtype::c128, 2, false, {33, 128, 128, 1, arithmetic::threads, 1, 2, 0, 0, 0, 2, 12}},  // 102.5 %
    {dtype::c128, 3, false, {42, 128, 128, 1, arithmetic::threads, 1, 3, 0, 0, 0, 3, 1}},  // 102.4 %
    {dtype::c128, 4, false, {32, 128, 128, 1, arithmetic::threads, 2, 2, 0, 0, 0, 4, 1, false, true}},  // 99.3 %
    {dtype::c128, 5, false, {10, 64, 64, 1, arithmetic::threads, 2, 5, 0, 0, 0, 5, 1}},  // 102.5 %
    {dtype::c128, 6, false, {14, 128, 128, 1, arithmetic::threads, 3, 3, 0, 0, 0, 6, 1}},  // 102.8 %
    {dtype::c128, 7, false, {10, 64, 64, 1, arithmetic::threads, 3, 4, 0, 0, 0, 7, 1}},  // 101.9 %
    {dtype::c128, 8, false, {4, 64, 64, 1, arithmetic::threads, 2, 4, 1, 1, 0, 8, 16}},  // 98.4 %
    {dtype::c128, 9, false, {4, 64, 64, 1, arithmetic::threads, 2, 3, 0, 0, 0, 4, 1}},  // 102.3 %
    {dtype::c128, 10, false, {2, 64, 64, 1, arithmetic::threads, 2, 2, 0, 0, 0, 4, 16}},  // 101.6 %
    {dtype::c128, 11, false, {4, 64, 64, 1, arithmetic::threads, 3, 4, 0, 0, 0, 4, 1}},  // 102.4 %
    {dtype::c128, 12, false, {3, 64, 64, 1, arithmetic::threads, 2, 6, 1, 1, 0, 4, 1}},  // 95.8 %
    {dtype::c128, 13, false, {2, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 1}},  // 100.3 %
    {dtype::c128, 14, false, {2, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 1}},  // 102.0 %
    {dtype::c128, 15, false, {2, 64, 64, 1, arithmetic::threads, 2, 5, 0, 0, 0, 4, 1}},  // 102.0 %
    {dtype::c128, 16, false, {2, 64, 64, 1, arithmetic::threads, 3, 4, 1, 1, 0, 4, 1}},  // 98.2 %
    {dtype::c128, 17, false, {2, 64, 64, 1, arithmetic::threads, 3, 4, 0, 0, 0, 4, 1, false, true}},  // 96.4 %
    {dtype::c128, 18, false, {1, 96, 96, 1, arithmetic::mma_c128, 1, 3, 0, 0, 0, 1, 8}},  // 97.3 %
    {dtype::c128, 19, false, {2, 128, 128, 1, arithmetic::mma_c128, 3, 1, 0, 0, 0, 1, 8, false, true}},  // 100 %
    {dtype::c128, 20, false, {1, 128, 128, 1, arithmetic::mma_c128, 1, 3, 0, 0, 0, 1, 8}},  // 100.4 %
    {dtype::c128, 21, false, {2, 128, 128, 1, arithmetic::mma_c128, 3, 1, 0, 0, 0, 1, 8}},  // 99.5 %
    {dtype::c128, 22, false, {1, 128, 128, 1, arithmetic::mma_c128, 3, 1, 0, 0, 0, 1, 8}},  // 100.5 %
    {dtype::c128, 23, false, {1, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 1}},  // 96.9 %
    {dtype::c128, 24, false, {1, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 1, false, true}},  // 100.3 %
    {dtype::c128, 25, false, {1, 64, 64, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 1, 1, false, true}},  // 98.1 %
    {dtype::c128, 26, false, {1, 64, 64, 1, arithmetic::mma_c128, 4, 2, 0, 0, 0, 1, 1}},  // 100.2 %
    {dtype::c128, 27, false, {1, 64, 64, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 1, 1, false, true}},  // 96.9 %
    {dtype::c128, 28, false, {1, 32, 32, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 1, 1}},  // 100 %
    {dtype::c128, 29, false, {1, 64, 64, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 1, 1, false, true}},  // 96.7 %
    {dtype::c128, 30, false, {1, 64, 64, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 2, 1, false, true}},  // 99.8 %
    {dtype::c128, 31, false, {1, 64, 64, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 1, 1, false, true}},  // 97.1 %
    {dtype::c128, 32, false, {1, 64, 64, 1, arithmetic::mma_c128, 4, 2, 2, 2, 0, 2, 1}},  // 99.9 %
    {dtype::c128, 2, true, {128, 256, 256, 1, arithmetic::threads, 1, 2, 0, 0, 0, 2, 4}},  // 103.7 %
    {dtype::c128, 3, true, {32, 64, 64, 1, arithmetic::threads, 2, 3, 0, 0, 0, 3, 1}},  // 103.4 %
    {dtype::c128, 4, true, {32, 128, 128, 1, arithmetic::threads, 2, 2, 0, 0, 0, 4, 1, false, true}},  // 101.5 %
    {dtype::c128, 5, true, {12, 64, 64, 1, arithmetic::threads, 1, 5, 0, 0, 0, 5, 1}},  // 102.1 %
    {dtype::c128, 6, true, {14, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 6, 1}},  // 103.5 %
    {dtype::c128, 7, true, {10, 128, 128, 1, arithmetic::threads, 7, 1, 0, 0, 0, 7, 1}},  // 102.2 %
    {dtype::c128, 8, true, {8, 64, 64, 1, arithmetic::threads, 2, 4, 1, 1, 0, 8, 1}},  // 101.4 %
    {dtype::c128, 9, true, {4, 64, 64, 1, arithmetic::threads, 3, 2, 0, 0, 0, 4, 1}},  // 102.4 %
    {dtype::c128, 10, true, {4, 64, 64, 1, arithmetic::threads, 2, 4, 0, 0, 0, 4, 1}},  // 103.3 %
    {dtype::c128, 11, true, {4, 128, 128, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 1}},  // 103.1 %
    {dtype::c128, 12, true, {3, 64, 64, 1, arithmetic::threads, 2, 6, 1, 1, 0, 4, 1}},  // 100.3 %
    {dtype::c128, 13, true, {2, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 1}},  // 101.8 %
    {dtype::c128, 14, true, {2, 64, 64, 1, arithmetic::threads, 3, 4, 0, 0, 0, 4, 1}},  // 103.3 %
    {dtype::c128, 15, true, {2, 64, 64, 1, arithmetic::threads, 4, 3, 0, 0, 0, 4, 1}},  // 102.3 %
    {dtype::c128, 16, true, {2, 128, 128, 1, arithmetic::threads, 4, 2, 1, 1, 0, 4, 1}},  // 101.8 %
    {dtype::c128, 17, true, {2, 128, 128, 1, arithmetic::mma_c128, 1, 3, 0, 0, 0, 1, 8, false, true}},  // 101.1 %
    {dtype::c128, 18, true, {1, 128, 128, 1, arithmetic::mma_c128, 1, 3, 0, 0, 0, 1, 8}},  // 101.2 %
    {dtype::c128, 19, true, {2, 128, 128, 1, arithmetic::mma_c128, 1, 3, 0, 0, 0, 1, 8, false, true}},  // 101 %
    {dtype::c128, 20, true, {1, 128, 128, 1, arithmetic::mma_c128, 3, 1, 0, 0, 0, 1, 8}},  // 101.3 %
    {dtype::c128, 21, true, {2, 128, 128, 1, arithmetic::mma_c128, 3, 1, 0, 0, 0, 1, 8, false, true}},  // 100.9 %
    {dtype::c128, 22, true, {1, 64, 64, 1, arithmetic::threads, 4, 3, 0, 0, 0, 4, 1}},  // 100.4 %
    {dtype::c128, 23, true, {1, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 1}},  // 96.7 %
    {dtype::c128, 24, true, {1, 64, 64, 1, arithmetic::threads, 3, 4, 1, 1, 0, 4, 1}},  // 101.2 %
    {dtype::c128, 25, true, {1, 32, 32, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 2, 1, false, true}},  // 99 %
    {dtype::c128, 26, true, {1, 64, 64, 1, arithmetic::threads, 3, 4, 0, 0, 0, 4, 1, false, true}},  // 101.2 %
    {dtype::c128, 27, true, {1, 64, 64, 1, arithmetic::threads, 3, 4, 0, 0, 0, 4, 1, false, true}},  // 99.4 %
    {dtype::c128, 28, true, {1, 32, 32, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 1, 1}},  // 101.5 %
    {dtype::c128, 29, true, {1, 64, 64, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 1, 1, false, true}},  // 99.3 %
    {dtype::c128, 30, true, {1, 64, 64, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 1, 1, false, true}},  // 101.3 %
    {dtype::c128, 31, true, {1, 64, 64, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 1, 1, false, true}},  // 99.6 %
    {dtype::c128, 32, true, {2, 128, 128, 1, arithmetic::mma_c128, 4, 2, 2, 2, 0, 2, 1}},  // 101.3 %
    {dtype::f16, 2, false, {640, 256, 256, 1, arithmetic::threads, 2, 1, 0, 0, 0, 2, 6}},  // 102.1 %
    {dtype::f16, 3, false, {128, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 3, 1}},  // 101.6 %
    {dtype::f16, 4, false, {32, 64, 64, 1, arithmetic::threads, 2, 4, 0, 0, 0, 4, 16}},  // 102.6 %
    {dtype::f16, 5, false, {128, 128, 128, 1, arithmetic::threads, 5, 5, 0, 0, 0, 5, 8}},  // 102.2 %
    {dtype::f16, 6, false, {28, 64, 64, 1, arithmetic::threads, 3, 6, 0, 0, 0, 6, 1}},  // 101.9 %
    {dtype::f16, 7, false, {32, 64, 64, 1, arithmetic::threads, 7, 4, 0, 0, 0, 7, 1}},  // 102.2 %
    {dtype::f16, 8, false, {40, 256, 256, 1, arithmetic::mma_16, 1, 1, 0, 0, 0, 2, 4}},  // 102.7 %
    {dtype::f16, 9, false, {32, 64, 64, 1, arithmetic::threads, 5, 3, 0, 0, 0, 4, 16}},  // 101.6 %
    {dtype::f16, 10, false, {32, 64, 64, 1, arithmetic::threads, 5, 4, 0, 0, 0, 4, 16}},  // 101.2 %
    {dtype::f16, 11, false, {16, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 16}},  // 96.4 %
    {dtype::f16, 12, false, {16, 128, 128, 1, arithmetic::mma_16, 1, 2, 0, 0, 0, 2, 8}},  // 101.0 %
    {dtype::f16, 13, false, {16, 128, 128, 1, arithmetic::mma_16, 1, 2, 0, 0, 0, 2, 1}},  // 100.2 %
    {dtype::f16, 14, false, {8, 128, 128, 1, arithmetic::mma_16, 1, 2, 0, 0, 0, 2, 12}},  // 102.5 %
    {dtype::f16, 15, false, {16, 128, 128, 1, arithmetic::mma_16, 1, 2, 0, 0, 0, 2, 1}},  // 98.6 %
    {dtype::f16, 16, false, {2, 64, 64, 1, arithmetic::mma_16, 1, 2, 0, 0, 0, 2, 1}},  // 102.6 %
    {dtype::f16, 17, false, {8, 64, 64, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 16}},  // 95.0 %
    {dtype::f16, 18, false, {4, 64, 64, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 16}},  // 101.4 %
    {dtype::f16, 19, false, {8, 64, 64, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 1}},  // 96.9 %
    {dtype::f16, 20, false, {8, 128, 128, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 8}},  // 101.6 %
    {dtype::f16, 21, false, {8, 64, 64, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 1}},  // 86.6 %
    {dtype::f16, 22, false, {4, 64, 64, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 1}},  // 101.4 %
    {dtype::f16, 23, false, {8, 128, 128, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 8}},  // 95.2 %
    {dtype::f16, 24, false, {3, 128, 128, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 8}},  // 102.3 %
    {dtype::f16, 25, false, {4, 64, 64, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 16}},  // 96.3 %
    {dtype::f16, 26, false, {4, 128, 128, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 8}},  // 100.6 %
    {dtype::f16, 27, false, {8, 64, 64, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 1}},  // 94.2 %
    {dtype::f16, 28, false, {2, 64, 64, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 1}},  // 102.0 %
    {dtype::f16, 29, false, {8, 128, 128, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 8, false, true, true}},  // 95.8 %
    {dtype::f16, 30, false, {4, 128, 128, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 8}},  // 99.5 %
    {dtype::f16, 31, false, {8, 128, 128, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 1, 6, false, true, true}},  // 93.1 %
    {dtype::f16, 32, false, {2, 64, 64, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 16}},  // 99.2 %
    {dtype::f16, 2, true, {512, 256, 256, 1, arithmetic::threads, 2, 2, 0, 0, 0, 2, 6}},  // 103.6 %
    {dtype::f16, 3, true, {128, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 3, 1}},  // 102.0 %
    {dtype::f16, 4, true, {128, 128, 128, 1, arithmetic::threads, 2, 4, 0, 0, 0, 4, 12}},  // 103.3 %
    {dtype::f16, 5, true, {128, 256, 256, 1, arithmetic::threads, 5, 3, 0, 0, 0, 5, 6}},  // 103.5 %
    {dtype::f16, 6, true, {28, 64, 64, 1, arithmetic::threads, 3, 6, 0, 0, 0, 6, 1}},  // 102.6 %
    {dtype::f16, 7, true, {64, 128, 128, 1, arithmetic::threads, 7, 4, 0, 0, 0, 7, 8}},  // 103.1 %
    {dtype::f16, 8, true, {8, 64, 64, 1, arithmetic::mma_16, 1, 1, 0, 0, 0, 2, 1}},  // 103.5 %
    {dtype::f16, 9, true, {32, 64, 64, 1, arithmetic::threads, 5, 5, 0, 0, 0, 4, 16}},  // 102.1 %
    {dtype::f16, 10, true, {32, 128, 128, 1, arithmetic::threads, 5, 5, 0, 0, 0, 4, 8}},  // 103.5 %
    {dtype::f16, 11, true, {16, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 16}},  // 100.9 %
    {dtype::f16, 12, true, {8, 64, 64, 1, arithmetic::mma_16, 1, 2, 0, 0, 0, 2, 16}},  // 102.1 %
    {dtype::f16, 13, true, {16, 128, 128, 1, arithmetic::mma_16, 1, 2, 0, 0, 0, 2, 8}},  // 99.9 %
    {dtype::f16, 14, true, {16, 256, 256, 1, arithmetic::mma_16, 1, 2, 0, 0, 0, 2, 6}},  // 103.4 %
    {dtype::f16, 15, true, {16, 128, 128, 1, arithmetic::mma_16, 1, 2, 0, 0, 0, 2, 12}},  // 99.4 %
    {dtype::f16, 16, true, {4, 64, 64, 1, arithmetic::mma_16, 1, 2, 0, 0, 0, 2, 16}},  // 103.3 %
    {dtype::f16, 17, true, {16, 64, 64, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 16}},  // 98 %
    {dtype::f16, 18, true, {8, 128, 128, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 1}},  // 102.5 %
    {dtype::f16, 19, true, {8, 128, 128, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 8, false, true}},  // 99.5 %
    {dtype::f16, 20, true, {8, 128, 128, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 8}},  // 103.2 %
    {dtype::f16, 21, true, {8, 64, 64, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 16}},  // 88.1 %
    {dtype::f16, 22, true, {4, 64, 64, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 16}},  // 100.7 %
    {dtype::f16, 23, true, {4, 64, 64, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 16, false, true, true}},  // 97.9 %
    {dtype::f16, 24, true, {3, 128, 128, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 8}},  // 103.6 %
    {dtype::f16, 25, true, {4, 64, 64, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 16, false, true}},  // 98.7 %
    {dtype::f16, 26, true, {4, 128, 128, 1, arithmetic::mma_16, 2, 2, 0, 0, 0, 2, 1}},  // 100.7 %
    {dtype::f16, 27, true, {3, 64, 64, 1, arithmetic::mma_16, 2, 2, 0, 0, 0, 2, 16, false, true}},  // 98 %
    {dtype::f16, 28, true, {4, 128, 128, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 1}},  // 103.3 %
    {dtype::f16, 29, true, {2, 64, 64, 1, arithmetic::mma_16, 2, 2, 0, 0, 0, 2, 16}},  // 93.0 %
    {dtype::f16, 30, true, {4, 128, 128, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 1}},  // 99.9 %
    {dtype::f16, 31, true, {8, 128, 128, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 1, 6, false, true, true}},  // 93.4 %
    {dtype::f16, 32, true, {1, 64, 64, 1, arithmetic::mma_16, 2, 2, 8, 8, 0, 1, 12}},  // 94.6 %
};

const int small_entry_count = static_cast<int>(sizeof small_entries / sizeof small_entries[0]);

}  // namespace ricci::cuda
