// Written by bench_gpu_tune on one NVIDIA H200, 2026-11-22; packed row-major batches of 1 GiB an operand. The comment is
// the share of the triad's bandwidth that was reached: the least of alone, many in a row, and elsewhere in memory.
#include "gpu/small_table.hpp"

namespace ricci::cuda {

// type, n, beta, {problems, group, block, stages, compute, rm, rn, pad_a, pad_b, pad_c, unroll, blocks, vectors, lined,
// spread, over, bulk, together}
const small_entry small_entries[] = {
    {dtype::f32, 2, false, {192, 128, 128, 1, arithmetic::threads, 1, 2, 0, 0, 0, 2, 1}},  // 99.2 %
    {dtype::f32, 3, false, {56, 128, 128, 1, arithmetic::threads, 3, 3, 0, 0, 0, 3, 8}},  // 100.7 %
    {dtype::f32, 4, false, {33, 128, 128, 1, arithmetic::threads, 2, 4, 0, 0, 0, 4, 12}},  // 100.8 %
    {dtype::f32, 5, false, {40, 128, 128, 1, arithmetic::threads, 3, 5, 0, 0, 0, 5, 1}},  // 100.7 %
    {dtype::f32, 6, false, {14, 64, 64, 1, arithmetic::threads, 3, 6, 0, 0, 0, 6, 16}},  // 100.5 %
    {dtype::f32, 7, false, {40, 128, 128, 1, arithmetic::threads, 7, 4, 0, 0, 0, 7, 1}},  // 100.3 %
    {dtype::f32, 8, false, {4, 32, 32, 1, arithmetic::threads, 2, 4, 0, 0, 0, 8, 1, true, false, false, false, 0, 2}},  // 100.7 %
    {dtype::f32, 9, false, {24, 256, 256, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 5}},  // 100.7 %
    {dtype::f32, 10, false, {10, 64, 64, 1, arithmetic::threads, 5, 4, 0, 0, 0, 4, 1}},  // 100.7 %
    {dtype::f32, 11, false, {16, 128, 128, 1, arithmetic::threads, 4, 6, 0, 0, 0, 4, 1, false, false, false, false, 2, 2}},  // 101.1 %
    {dtype::f32, 12, false, {14, 128, 128, 1, arithmetic::threads, 3, 6, 0, 0, 0, 4, 1}},  // 99.7 %
    {dtype::f32, 13, false, {8, 64, 64, 1, arithmetic::threads, 7, 5, 0, 0, 0, 4, 14}},  // 99.6 %
    {dtype::f32, 14, false, {10, 64, 64, 1, arithmetic::threads, 7, 5, 0, 0, 0, 4, 1}},  // 100.6 %
    {dtype::f32, 15, false, {8, 64, 64, 1, arithmetic::threads, 5, 8, 0, 0, 0, 4, 1, false, false, false, false, 2, 3}},  // 100.7 %
    {dtype::f32, 16, false, {8, 64, 64, 1, arithmetic::threads, 4, 8, 0, 0, 0, 4, 1, true}},  // 99.4 %
    {dtype::f32, 17, false, {7, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 8, false, true, false, false, 0, 1}},  // 100.4 %
    {dtype::f32, 18, false, {6, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 1, true}},  // 100.2 %
    {dtype::f32, 19, false, {8, 64, 64, 1, arithmetic::threads, 5, 5, 0, 0, 0, 4, 16, false, true}},  // 99.8 %
    {dtype::f32, 20, false, {5, 64, 64, 1, arithmetic::threads, 7, 5, 0, 0, 0, 4, 1}},  // 99.4 %
    {dtype::f32, 21, false, {8, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 1, false, true}},  // 100.2 %
    {dtype::f32, 22, false, {4, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 1}},  // 99.7 %
    {dtype::f32, 23, false, {8, 128, 128, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 1, false, true}},  // 100 %
    {dtype::f32, 24, false, {3, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 1, true}},  // 100 %
    {dtype::f32, 25, false, {5, 64, 64, 1, arithmetic::threads, 5, 5, 0, 0, 0, 4, 1, false, true}},  // 99 %
    {dtype::f32, 26, false, {2, 32, 32, 1, arithmetic::threads, 7, 7, 0, 0, 0, 4, 1, true, false, false, false, 2}},  // 100.4 %
    {dtype::f32, 27, false, {5, 64, 64, 1, arithmetic::threads, 9, 7, 0, 0, 0, 4, 1, false, true, false, true}},  // 99.9 %
    {dtype::f32, 28, false, {2, 32, 32, 1, arithmetic::threads, 7, 7, 0, 0, 0, 4, 1, true}},  // 99.8 %
    {dtype::f32, 29, false, {5, 64, 64, 1, arithmetic::threads, 10, 8, 0, 0, 0, 4, 6, false, true, false, true, 0, 2}},  // 99.3 %
    {dtype::f32, 30, false, {2, 64, 64, 1, arithmetic::threads, 5, 6, 0, 0, 0, 4, 1, true}},  // 98.9 %
    {dtype::f32, 31, false, {2, 64, 64, 1, arithmetic::threads, 8, 4, 0, 0, 0, 4, 1, false, true, false, false, 0, 1}},  // 98 %
    {dtype::f32, 32, false, {1, 32, 32, 1, arithmetic::threads, 9, 4, 0, 0, 0, 4, 1, true, false, false, true, 0, 1}},  // 100.6 %
    {dtype::f32, 33, false, {4, 64, 64, 1, arithmetic::threads, 11, 7, 0, 0, 0, 4, 6, false, false, false, true, 2, 3}},  // 94.6 %
    {dtype::f32, 36, false, {4, 96, 96, 1, arithmetic::threads, 6, 9, 0, 0, 0, 4, 5, true, false, false, true}},  // 99.6 %
    {dtype::f32, 40, false, {1, 32, 32, 1, arithmetic::threads, 10, 5, 0, 0, 0, 4, 16, true, false, false, true, 2}},  // 99.5 %
    {dtype::f32, 44, false, {1, 32, 32, 1, arithmetic::threads, 6, 11, 0, 0, 0, 4, 1, true, false, false, true, 2, 2}},  // 87 %
    {dtype::f32, 48, false, {1, 32, 32, 1, arithmetic::threads, 12, 6, 0, 0, 0, 4, 11, true, false, false, true, 2, 2}},  // 98.4 %
    {dtype::f32, 56, false, {1, 64, 64, 1, arithmetic::threads, 7, 7, 0, 0, 0, 4, 1, true, false, false, true, 2, 2}},  // 86.8 %
    {dtype::f32, 64, false, {2, 96, 96, 1, arithmetic::threads, 11, 8, 0, 0, 0, 4, 3, true, false, false, true, 2}},  // 74.5 %
    {dtype::f32, 2, true, {256, 256, 256, 1, arithmetic::threads, 2, 1, 0, 0, 0, 2, 4}},  // 101.3 %
    {dtype::f32, 3, true, {64, 128, 128, 1, arithmetic::threads, 2, 3, 0, 0, 0, 3, 1}},  // 102.1 %
    {dtype::f32, 4, true, {64, 128, 128, 1, arithmetic::threads, 2, 4, 0, 0, 0, 4, 12}},  // 101.6 %
    {dtype::f32, 5, true, {64, 128, 128, 1, arithmetic::threads, 5, 3, 0, 0, 0, 5, 8}},  // 101.4 %
    {dtype::f32, 6, true, {32, 64, 64, 1, arithmetic::threads, 3, 6, 0, 0, 0, 6, 1}},  // 101.5 %
    {dtype::f32, 7, true, {32, 64, 64, 1, arithmetic::threads, 4, 7, 0, 0, 0, 7, 1}},  // 101.2 %
    {dtype::f32, 8, true, {32, 64, 64, 1, arithmetic::threads, 4, 8, 0, 0, 0, 8, 1}},  // 101.4 %
    {dtype::f32, 9, true, {16, 64, 64, 1, arithmetic::threads, 5, 5, 0, 0, 0, 4, 1}},  // 100.5 %
    {dtype::f32, 10, true, {16, 64, 64, 1, arithmetic::threads, 5, 5, 0, 0, 0, 4, 16}},  // 101.4 %
    {dtype::f32, 11, true, {16, 128, 128, 1, arithmetic::threads, 4, 6, 0, 0, 0, 4, 1}},  // 100.7 %
    {dtype::f32, 12, true, {14, 128, 128, 1, arithmetic::threads, 3, 6, 0, 0, 0, 4, 1}},  // 101.8 %
    {dtype::f32, 13, true, {8, 64, 64, 1, arithmetic::threads, 7, 5, 0, 0, 0, 4, 1}},  // 100.6 %
    {dtype::f32, 14, true, {8, 64, 64, 1, arithmetic::threads, 4, 7, 0, 0, 0, 4, 16}},  // 101.1 %
    {dtype::f32, 15, true, {8, 64, 64, 1, arithmetic::threads, 5, 8, 0, 0, 0, 4, 1}},  // 100.2 %
    {dtype::f32, 16, true, {6, 64, 64, 1, arithmetic::threads, 6, 3, 0, 0, 0, 4, 14}},  // 101.4 %
    {dtype::f32, 17, true, {7, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 1, false, true}},  // 100.3 %
    {dtype::f32, 18, true, {6, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 1}},  // 100.7 %
    {dtype::f32, 19, true, {5, 64, 64, 1, arithmetic::threads, 7, 5, 0, 0, 0, 4, 1, false, true}},  // 101.1 %
    {dtype::f32, 20, true, {4, 64, 64, 1, arithmetic::threads, 5, 5, 0, 0, 0, 4, 1}},  // 101.3 %
    {dtype::f32, 21, true, {8, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 1, false, true}},  // 100.8 %
    {dtype::f32, 22, true, {4, 64, 64, 1, arithmetic::threads, 8, 6, 0, 0, 0, 4, 1, true}},  // 100.8 %
    {dtype::f32, 23, true, {8, 128, 128, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 1, false, true}},  // 100.5 %
    {dtype::f32, 24, true, {3, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 1, true}},  // 101.8 %
    {dtype::f32, 25, true, {5, 128, 128, 1, arithmetic::threads, 5, 5, 0, 0, 0, 4, 1, false, true}},  // 100.8 %
    {dtype::f32, 26, true, {2, 64, 64, 1, arithmetic::threads, 4, 7, 0, 0, 0, 4, 1}},  // 99.9 %
    {dtype::f32, 27, true, {5, 64, 64, 1, arithmetic::threads, 5, 7, 0, 0, 0, 4, 1, false, true}},  // 100.4 %
    {dtype::f32, 28, true, {2, 64, 64, 1, arithmetic::threads, 4, 7, 0, 0, 0, 4, 1, true}},  // 101.5 %
    {dtype::f32, 29, true, {4, 96, 96, 1, arithmetic::threads, 8, 5, 0, 0, 0, 4, 1, false, true}},  // 99.2 %
    {dtype::f32, 30, true, {2, 64, 64, 1, arithmetic::threads, 5, 6, 0, 0, 0, 4, 1, true}},  // 100.4 %
    {dtype::f32, 31, true, {3, 96, 96, 1, arithmetic::threads, 8, 4, 0, 0, 0, 4, 1, false, true}},  // 99.4 %
    {dtype::f32, 32, true, {1, 32, 32, 1, arithmetic::threads, 9, 4, 0, 0, 0, 4, 1, true, false, false, false, 0, 1}},  // 101.5 %
    {dtype::f32, 40, true, {1, 32, 32, 1, arithmetic::threads, 11, 5, 0, 0, 0, 4, 1, true, false, false, false, 0, 3}},  // 101.3 %
    {dtype::f32, 48, true, {2, 96, 96, 1, arithmetic::threads, 8, 6, 0, 0, 0, 4, 1, true}},  // 101.2 %
    {dtype::f32, 56, true, {1, 64, 64, 1, arithmetic::threads, 7, 7, 0, 0, 0, 4, 1, true, false, false, false, 0, 2}},  // 91.1 %
    {dtype::f32, 64, true, {1, 64, 64, 1, arithmetic::threads, 10, 8, 0, 0, 0, 4, 1, true, false, false, false, 2}},  // 73.4 %
    {dtype::f64, 2, false, {66, 128, 128, 1, arithmetic::threads, 2, 2, 0, 0, 0, 2, 12}},  // 101 %
    {dtype::f64, 3, false, {84, 256, 256, 1, arithmetic::threads, 1, 3, 0, 0, 0, 3, 4}},  // 100.8 %
    {dtype::f64, 4, false, {8, 32, 32, 1, arithmetic::threads, 2, 2, 0, 0, 0, 4, 1, true, false, false, false, 0, 2}},  // 100.5 %
    {dtype::f64, 5, false, {20, 64, 64, 1, arithmetic::threads, 3, 5, 0, 0, 0, 5, 1}},  // 100.6 %
    {dtype::f64, 6, false, {14, 64, 64, 1, arithmetic::threads, 6, 2, 0, 0, 0, 6, 1}},  // 100.7 %
    {dtype::f64, 7, false, {16, 256, 256, 1, arithmetic::mma_f64, 1, 1, 5, 5, 0, 4, 4}},  // 100.3 %
    {dtype::f64, 8, false, {8, 256, 256, 1, arithmetic::mma_f64, 1, 1, 0, 0, 0, 4, 6}},  // 100.2 %
    {dtype::f64, 9, false, {8, 128, 128, 1, arithmetic::mma_f64, 2, 2, 3, 3, 0, 4, 1}},  // 100.6 %
    {dtype::f64, 10, false, {6, 64, 64, 1, arithmetic::threads, 2, 5, 0, 0, 0, 4, 1}},  // 100.4 %
    {dtype::f64, 11, false, {2, 64, 64, 1, arithmetic::mma_f64, 2, 2, 1, 1, 0, 4, 16}},  // 100.3 %
    {dtype::f64, 12, false, {3, 128, 128, 1, arithmetic::mma_f64, 2, 2, 0, 0, 0, 4, 1}},  // 101 %
    {dtype::f64, 13, false, {2, 64, 64, 1, arithmetic::mma_f64, 2, 2, 7, 7, 0, 4, 1}},  // 100.8 %
    {dtype::f64, 14, false, {4, 64, 64, 1, arithmetic::threads, 2, 7, 0, 0, 0, 4, 1}},  // 99.5 %
    {dtype::f64, 15, false, {2, 128, 128, 1, arithmetic::mma_f64, 2, 2, 5, 5, 0, 4, 8}},  // 100.5 %
    {dtype::f64, 16, false, {1, 64, 64, 1, arithmetic::mma_f64, 2, 2, 4, 4, 0, 4, 1}},  // 101 %
    {dtype::f64, 17, false, {2, 64, 64, 1, arithmetic::mma_f64, 3, 1, 3, 3, 0, 4, 1}},  // 100.3 %
    {dtype::f64, 18, false, {3, 128, 128, 1, arithmetic::threads, 2, 6, 0, 0, 0, 4, 8}},  // 100 %
    {dtype::f64, 19, false, {2, 64, 64, 1, arithmetic::mma_f64, 3, 3, 1, 1, 0, 4, 1}},  // 100.3 %
    {dtype::f64, 20, false, {6, 128, 128, 1, arithmetic::threads, 5, 4, 0, 0, 0, 4, 1, false, false, false, false, 1}},  // 100.1 %
    {dtype::f64, 21, false, {1, 64, 64, 1, arithmetic::mma_f64, 3, 1, 7, 7, 0, 4, 1}},  // 100.2 %
    {dtype::f64, 22, false, {1, 128, 128, 1, arithmetic::mma_f64, 3, 1, 0, 0, 0, 4, 1}},  // 100.2 %
    {dtype::f64, 23, false, {1, 128, 128, 1, arithmetic::mma_f64, 3, 1, 5, 5, 0, 4, 8}},  // 100.7 %
    {dtype::f64, 24, false, {1, 128, 128, 1, arithmetic::mma_f64, 3, 1, 4, 4, 0, 4, 8}},  // 99.6 %
    {dtype::f64, 25, false, {1, 64, 64, 1, arithmetic::mma_f64, 4, 2, 3, 3, 0, 4, 1}},  // 100.6 %
    {dtype::f64, 26, false, {1, 128, 128, 1, arithmetic::mma_f64, 4, 2, 0, 0, 0, 4, 8}},  // 100.4 %
    {dtype::f64, 27, false, {1, 64, 64, 1, arithmetic::mma_f64, 4, 2, 1, 1, 0, 4, 1}},  // 100 %
    {dtype::f64, 28, false, {1, 128, 128, 1, arithmetic::mma_f64, 4, 2, 0, 0, 0, 4, 1}},  // 100.6 %
    {dtype::f64, 29, false, {1, 64, 64, 1, arithmetic::mma_f64, 4, 2, 7, 7, 0, 4, 1}},  // 100.5 %
    {dtype::f64, 30, false, {1, 64, 64, 1, arithmetic::threads, 3, 5, 0, 0, 0, 4, 1}},  // 100.2 %
    {dtype::f64, 31, false, {1, 128, 128, 1, arithmetic::mma_f64, 4, 2, 5, 5, 0, 2, 1}},  // 99.9 %
    {dtype::f64, 32, false, {1, 128, 128, 1, arithmetic::mma_f64, 4, 2, 4, 4, 0, 2, 1}},  // 99.5 %
    {dtype::f64, 2, true, {128, 256, 256, 1, arithmetic::threads, 2, 1, 0, 0, 0, 2, 4}},  // 101.6 %
    {dtype::f64, 3, true, {84, 256, 256, 1, arithmetic::threads, 1, 3, 0, 0, 0, 3, 4}},  // 100.8 %
    {dtype::f64, 4, true, {32, 64, 64, 1, arithmetic::threads, 2, 4, 0, 0, 0, 4, 16}},  // 101.4 %
    {dtype::f64, 5, true, {32, 64, 64, 1, arithmetic::threads, 5, 3, 0, 0, 0, 5, 16}},  // 101.4 %
    {dtype::f64, 6, true, {14, 64, 64, 1, arithmetic::threads, 6, 2, 0, 0, 0, 6, 1}},  // 101.3 %
    {dtype::f64, 7, true, {16, 256, 256, 1, arithmetic::mma_f64, 1, 1, 5, 5, 0, 4, 6}},  // 101.7 %
    {dtype::f64, 8, true, {8, 256, 256, 1, arithmetic::mma_f64, 1, 1, 0, 0, 0, 4, 4}},  // 101.7 %
    {dtype::f64, 9, true, {8, 128, 128, 1, arithmetic::mma_f64, 2, 2, 3, 3, 0, 4, 1}},  // 101.3 %
    {dtype::f64, 10, true, {10, 128, 128, 1, arithmetic::threads, 3, 5, 0, 0, 0, 4, 1}},  // 101.1 %
    {dtype::f64, 11, true, {4, 64, 64, 1, arithmetic::mma_f64, 2, 2, 1, 1, 0, 4, 1}},  // 101 %
    {dtype::f64, 12, true, {4, 128, 128, 1, arithmetic::mma_f64, 2, 2, 0, 0, 0, 4, 1}},  // 102 %
    {dtype::f64, 13, true, {4, 128, 128, 1, arithmetic::mma_f64, 2, 2, 7, 7, 0, 4, 1}},  // 101.6 %
    {dtype::f64, 14, true, {4, 64, 64, 1, arithmetic::threads, 2, 7, 0, 0, 0, 4, 1}},  // 101.6 %
    {dtype::f64, 15, true, {4, 256, 256, 1, arithmetic::mma_f64, 2, 2, 5, 5, 0, 4, 4}},  // 101.7 %
    {dtype::f64, 16, true, {2, 128, 128, 1, arithmetic::mma_f64, 2, 2, 4, 4, 0, 4, 1}},  // 101.7 %
    {dtype::f64, 17, true, {2, 64, 64, 1, arithmetic::mma_f64, 3, 1, 3, 3, 0, 4, 1}},  // 101 %
    {dtype::f64, 18, true, {2, 64, 64, 1, arithmetic::threads, 2, 6, 0, 0, 0, 4, 1}},  // 100.5 %
    {dtype::f64, 19, true, {2, 128, 128, 1, arithmetic::mma_f64, 3, 1, 1, 1, 0, 4, 1}},  // 100.7 %
    {dtype::f64, 20, true, {1, 128, 128, 1, arithmetic::mma_f64, 3, 1, 0, 0, 0, 4, 1}},  // 102 %
    {dtype::f64, 21, true, {2, 256, 256, 1, arithmetic::mma_f64, 3, 1, 7, 7, 0, 4, 4}},  // 101 %
    {dtype::f64, 22, true, {2, 256, 256, 1, arithmetic::mma_f64, 3, 1, 0, 0, 0, 4, 4}},  // 101 %
    {dtype::f64, 23, true, {2, 256, 256, 1, arithmetic::mma_f64, 3, 1, 5, 5, 0, 4, 4}},  // 100.8 %
    {dtype::f64, 24, true, {1, 128, 128, 1, arithmetic::mma_f64, 3, 1, 4, 4, 0, 4, 1}},  // 100.8 %
    {dtype::f64, 25, true, {1, 64, 64, 1, arithmetic::mma_f64, 4, 2, 3, 3, 0, 4, 1}},  // 100.2 %
    {dtype::f64, 26, true, {1, 64, 64, 1, arithmetic::threads, 3, 4, 0, 0, 0, 4, 1}},  // 100.5 %
    {dtype::f64, 27, true, {1, 64, 64, 1, arithmetic::mma_f64, 4, 2, 1, 1, 0, 4, 1}},  // 100.1 %
    {dtype::f64, 28, true, {1, 128, 128, 1, arithmetic::mma_f64, 4, 2, 0, 0, 0, 4, 1}},  // 101.6 %
    {dtype::f64, 29, true, {1, 64, 64, 1, arithmetic::mma_f64, 4, 2, 7, 7, 0, 4, 1}},  // 99.8 %
    {dtype::f64, 30, true, {1, 64, 64, 1, arithmetic::threads, 3, 5, 0, 0, 0, 4, 1}},  // 99.7 %
    {dtype::f64, 31, true, {1, 128, 128, 1, arithmetic::mma_f64, 4, 2, 5, 5, 0, 4, 1}},  // 100.5 %
    {dtype::f64, 32, true, {1, 256, 256, 1, arithmetic::mma_f64, 4, 2, 4, 4, 0, 4, 4}},  // 101.3 %
    {dtype::c64, 2, false, {66, 128, 128, 1, arithmetic::threads, 2, 2, 0, 0, 0, 2, 12, true}},  // 100.6 %
    {dtype::c64, 3, false, {84, 256, 256, 1, arithmetic::threads, 1, 3, 0, 0, 0, 3, 4}},  // 100.5 %
    {dtype::c64, 4, false, {8, 32, 32, 1, arithmetic::threads, 1, 4, 0, 0, 0, 4, 1, true, false, false, true}},  // 100.7 %
    {dtype::c64, 5, false, {20, 64, 64, 1, arithmetic::threads, 3, 5, 0, 0, 0, 5, 1}},  // 100.3 %
    {dtype::c64, 6, false, {29, 128, 128, 1, arithmetic::threads, 3, 3, 0, 0, 0, 6, 1, true}},  // 100.3 %
    {dtype::c64, 7, false, {20, 128, 128, 1, arithmetic::threads, 7, 2, 0, 0, 0, 7, 1}},  // 99.7 %
    {dtype::c64, 8, false, {8, 64, 64, 1, arithmetic::threads, 2, 4, 0, 0, 0, 4, 1}},  // 100.3 %
    {dtype::c64, 9, false, {12, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 16}},  // 99.4 %
    {dtype::c64, 10, false, {6, 64, 64, 1, arithmetic::threads, 5, 2, 0, 0, 0, 4, 1}},  // 100 %
    {dtype::c64, 11, false, {8, 128, 128, 1, arithmetic::threads, 4, 3, 0, 0, 0, 4, 1}},  // 99.8 %
    {dtype::c64, 12, false, {7, 128, 128, 1, arithmetic::threads, 4, 3, 0, 0, 0, 4, 8}},  // 99.9 %
    {dtype::c64, 13, false, {4, 64, 64, 1, arithmetic::threads, 7, 2, 0, 0, 0, 4, 1, false, false, false, true}},  // 100.3 %
    {dtype::c64, 14, false, {4, 64, 64, 1, arithmetic::threads, 3, 5, 0, 0, 0, 4, 1, true}},  // 99.7 %
    {dtype::c64, 15, false, {4, 64, 64, 1, arithmetic::threads, 5, 3, 0, 0, 0, 4, 1}},  // 100 %
    {dtype::c64, 16, false, {2, 32, 32, 1, arithmetic::threads, 9, 2, 0, 0, 0, 4, 1, true, false, false, false, 2, 1}},  // 100.5 %
    {dtype::c64, 17, false, {8, 96, 96, 1, arithmetic::threads, 9, 3, 0, 0, 0, 4, 4, false, false, false, false, 2, 3}},  // 100.3 %
    {dtype::c64, 18, false, {3, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 16, true}},  // 99.4 %
    {dtype::c64, 19, false, {4, 64, 64, 1, arithmetic::threads, 5, 5, 0, 0, 0, 4, 1, false, false, false, true, 2}},  // 100.1 %
    {dtype::c64, 20, false, {3, 64, 64, 1, arithmetic::threads, 5, 4, 0, 0, 0, 4, 1, true}},  // 98.7 %
    {dtype::c64, 21, false, {3, 64, 64, 1, arithmetic::threads, 7, 3, 0, 0, 0, 4, 1, false, true, false, true, 0, 3}},  // 99.2 %
    {dtype::c64, 22, false, {4, 64, 64, 1, arithmetic::threads, 11, 3, 0, 0, 0, 4, 7, true, false, false, true, 2}},  // 98.8 %
    {dtype::c64, 23, false, {4, 96, 96, 1, arithmetic::threads, 8, 3, 0, 0, 0, 4, 1, false, false, false, true, 2, 1}},  // 99.1 %
    {dtype::c64, 24, false, {2, 64, 64, 1, arithmetic::threads, 6, 3, 0, 0, 0, 4, 1, false, false, false, true}},  // 100 %
    {dtype::c64, 25, false, {3, 64, 64, 1, arithmetic::threads, 7, 5, 0, 0, 0, 4, 1, false, false, false, true, 2}},  // 87.9 %
    {dtype::c64, 26, false, {3, 64, 64, 1, arithmetic::threads, 9, 4, 0, 0, 0, 4, 6, true, false, false, true, 2, 1}},  // 89 %
    {dtype::c64, 27, false, {3, 64, 64, 1, arithmetic::threads, 9, 4, 0, 0, 0, 4, 6, false, false, false, true, 2, 1}},  // 90.4 %
    {dtype::c64, 28, false, {1, 32, 32, 1, arithmetic::threads, 10, 3, 0, 0, 0, 4, 11, true, false, false, false, 2}},  // 82 %
    {dtype::c64, 29, false, {2, 64, 64, 1, arithmetic::threads, 5, 6, 0, 0, 0, 4, 1, false, false, false, true, 2, 2}},  // 87.3 %
    {dtype::c64, 30, false, {2, 64, 64, 1, arithmetic::threads, 5, 6, 0, 0, 0, 4, 7, true, false, false, true, 2, 2}},  // 88 %
    {dtype::c64, 31, false, {1, 32, 32, 1, arithmetic::threads, 8, 4, 0, 0, 0, 4, 14, false, false, false, true, 1, 1}},  // 88 %
    {dtype::c64, 32, false, {1, 32, 32, 1, arithmetic::threads, 8, 4, 0, 0, 0, 4, 13, true, false, false, true, 2, 1}},  // 94.3 %
    {dtype::c64, 36, false, {2, 96, 96, 1, arithmetic::threads, 9, 3, 0, 0, 0, 4, 5, true, false, false, true, 2, 2}},  // 85 %
    {dtype::c64, 40, false, {2, 160, 160, 1, arithmetic::threads, 4, 5, 0, 0, 0, 4, 1, true, false, false, true, 2}},  // 76.9 %
    {dtype::c64, 44, false, {2, 128, 128, 1, arithmetic::threads, 11, 3, 0, 0, 0, 4, 3, true, false, false, true, 2}},  // 66.2 %
    {dtype::c64, 48, false, {1, 96, 96, 1, arithmetic::threads, 8, 3, 0, 0, 0, 4, 1, true, false, false, true, 2}},  // 69.9 %
    {dtype::c64, 2, true, {128, 256, 256, 1, arithmetic::threads, 2, 1, 0, 0, 0, 2, 4, true}},  // 101.9 %
    {dtype::c64, 3, true, {64, 128, 128, 1, arithmetic::threads, 2, 3, 0, 0, 0, 3, 1}},  // 101.5 %
    {dtype::c64, 4, true, {32, 64, 64, 1, arithmetic::threads, 2, 4, 0, 0, 0, 4, 16}},  // 101.2 %
    {dtype::c64, 5, true, {32, 64, 64, 1, arithmetic::threads, 5, 3, 0, 0, 0, 5, 16}},  // 101.3 %
    {dtype::c64, 6, true, {14, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 6, 1, true}},  // 101.4 %
    {dtype::c64, 7, true, {16, 64, 64, 1, arithmetic::threads, 7, 2, 0, 0, 0, 7, 1}},  // 101.4 %
    {dtype::c64, 8, true, {8, 64, 64, 1, arithmetic::threads, 2, 4, 0, 0, 0, 4, 1, true}},  // 101.6 %
    {dtype::c64, 9, true, {12, 128, 128, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 1}},  // 100.2 %
    {dtype::c64, 10, true, {8, 64, 64, 1, arithmetic::threads, 3, 5, 0, 0, 0, 4, 1, true}},  // 101.1 %
    {dtype::c64, 11, true, {8, 128, 128, 1, arithmetic::threads, 3, 4, 0, 0, 0, 4, 1}},  // 101.3 %
    {dtype::c64, 12, true, {5, 64, 64, 1, arithmetic::threads, 4, 3, 0, 0, 0, 4, 1}},  // 100.9 %
    {dtype::c64, 13, true, {4, 64, 64, 1, arithmetic::threads, 7, 2, 0, 0, 0, 4, 1}},  // 100.5 %
    {dtype::c64, 14, true, {4, 64, 64, 1, arithmetic::threads, 7, 2, 0, 0, 0, 4, 1}},  // 101.3 %
    {dtype::c64, 15, true, {4, 128, 128, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 1}},  // 100.5 %
    {dtype::c64, 16, true, {4, 128, 128, 1, arithmetic::threads, 4, 4, 2, 2, 0, 4, 1, true}},  // 99.7 %
    {dtype::c64, 17, true, {3, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 16, true, true}},  // 99.8 %
    {dtype::c64, 18, true, {2, 64, 64, 1, arithmetic::threads, 2, 6, 0, 0, 0, 4, 1, true}},  // 100.2 %
    {dtype::c64, 19, true, {3, 64, 64, 1, arithmetic::threads, 4, 5, 0, 0, 0, 4, 1, false, true}},  // 99.8 %
    {dtype::c64, 20, true, {2, 64, 64, 1, arithmetic::threads, 4, 4, 0, 0, 0, 4, 1, true}},  // 101.4 %
    {dtype::c64, 21, true, {3, 64, 64, 1, arithmetic::threads, 7, 3, 0, 0, 0, 4, 1, false, true}},  // 99.7 %
    {dtype::c64, 22, true, {2, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 1, false, true}},  // 99.5 %
    {dtype::c64, 23, true, {3, 96, 96, 1, arithmetic::threads, 6, 3, 0, 0, 0, 4, 1, false, true}},  // 99.4 %
    {dtype::c64, 24, true, {3, 96, 96, 1, arithmetic::threads, 3, 6, 0, 0, 0, 4, 1, true}},  // 101.1 %
    {dtype::c64, 25, true, {3, 64, 64, 1, arithmetic::threads, 7, 5, 0, 0, 0, 4, 1, false, true}},  // 95.1 %
    {dtype::c64, 26, true, {3, 64, 64, 1, arithmetic::threads, 4, 9, 0, 0, 0, 4, 4, true, false, false, false, 2, 2}},  // 87.3 %
    {dtype::c64, 27, true, {3, 64, 64, 1, arithmetic::threads, 4, 9, 0, 0, 0, 4, 4, false, false, false, false, 2, 1}},  // 91.8 %
    {dtype::c64, 28, true, {1, 32, 32, 1, arithmetic::threads, 10, 3, 0, 0, 0, 4, 11, true, false, false, false, 2}},  // 94.1 %
    {dtype::c64, 29, true, {1, 32, 32, 1, arithmetic::threads, 6, 5, 0, 0, 0, 4, 1, false, false, false, false, 2, 2}},  // 91.3 %
    {dtype::c64, 30, true, {1, 32, 32, 1, arithmetic::threads, 10, 3, 0, 0, 0, 4, 1, true, false, false, false, 2, 2}},  // 95.9 %
    {dtype::c64, 31, true, {1, 32, 32, 1, arithmetic::threads, 8, 4, 0, 0, 0, 4, 1, false, false, false, false, 2, 1}},  // 92.7 %
    {dtype::c64, 32, true, {1, 32, 32, 1, arithmetic::threads, 8, 4, 0, 0, 0, 4, 9, true, false, false, false, 2, 1}},  // 100.6 %
    {dtype::c64, 36, true, {2, 160, 160, 1, arithmetic::threads, 6, 3, 0, 0, 0, 4, 1, true, false, false, false, 2, 2}},  // 86.2 %
    {dtype::c64, 40, true, {1, 64, 64, 1, arithmetic::threads, 5, 5, 0, 0, 0, 4, 1, true, false, false, false, 2}},  // 84.7 %
    {dtype::c128, 2, false, {33, 128, 128, 1, arithmetic::threads, 1, 2, 0, 0, 0, 2, 12}},  // 100.1 %
    {dtype::c128, 3, false, {42, 128, 128, 1, arithmetic::threads, 1, 3, 0, 0, 0, 3, 1}},  // 100.5 %
    {dtype::c128, 4, false, {32, 128, 128, 1, arithmetic::threads, 2, 2, 0, 0, 0, 4, 1, false, true}},  // 99.5 %
    {dtype::c128, 5, false, {10, 64, 64, 1, arithmetic::threads, 2, 5, 0, 0, 0, 5, 1}},  // 100.7 %
    {dtype::c128, 6, false, {14, 128, 128, 1, arithmetic::threads, 3, 3, 0, 0, 0, 6, 1}},  // 101.1 %
    {dtype::c128, 7, false, {10, 64, 64, 1, arithmetic::threads, 3, 4, 0, 0, 0, 7, 1}},  // 100.3 %
    {dtype::c128, 8, false, {2, 32, 32, 1, arithmetic::threads, 4, 1, 0, 0, 0, 8, 1}},  // 100 %
    {dtype::c128, 9, false, {4, 64, 64, 1, arithmetic::threads, 2, 3, 0, 0, 0, 4, 1}},  // 100.6 %
    {dtype::c128, 10, false, {2, 64, 64, 1, arithmetic::threads, 2, 2, 0, 0, 0, 4, 16}},  // 100 %
    {dtype::c128, 11, false, {4, 64, 64, 1, arithmetic::threads, 3, 4, 0, 0, 0, 4, 1}},  // 100.6 %
    {dtype::c128, 12, false, {2, 32, 32, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 1, false, false, false, false, 0, 3}},  // 99.8 %
    {dtype::c128, 13, false, {2, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 1}},  // 99.1 %
    {dtype::c128, 14, false, {2, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 1}},  // 100.5 %
    {dtype::c128, 15, false, {2, 64, 64, 1, arithmetic::threads, 2, 5, 0, 0, 0, 4, 1}},  // 100.3 %
    {dtype::c128, 16, false, {1, 32, 32, 1, arithmetic::threads, 4, 2, 0, 0, 0, 4, 1, false, false, false, true, 1}},  // 100 %
    {dtype::c128, 17, false, {2, 64, 64, 1, arithmetic::threads, 3, 4, 0, 0, 0, 4, 1, false, false, false, false, 2}},  // 100.5 %
    {dtype::c128, 18, false, {2, 128, 128, 1, arithmetic::mma_c128, 1, 3, 0, 0, 0, 1, 8, false, false, false, false, 1}},  // 100.4 %
    {dtype::c128, 19, false, {2, 128, 128, 1, arithmetic::mma_c128, 3, 1, 0, 0, 0, 1, 8, false, true}},  // 100.1 %
    {dtype::c128, 20, false, {1, 128, 128, 1, arithmetic::mma_c128, 1, 3, 0, 0, 0, 1, 8}},  // 100.1 %
    {dtype::c128, 21, false, {2, 128, 128, 1, arithmetic::mma_c128, 3, 1, 0, 0, 0, 1, 8}},  // 99.9 %
    {dtype::c128, 22, false, {1, 128, 128, 1, arithmetic::mma_c128, 3, 1, 0, 0, 0, 1, 8}},  // 99.6 %
    {dtype::c128, 23, false, {2, 96, 96, 1, arithmetic::threads, 4, 3, 0, 0, 0, 4, 1, false, false, false, false, 2, 1}},  // 99.8 %
    {dtype::c128, 24, false, {1, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 1, false, true}},  // 100.2 %
    {dtype::c128, 25, false, {1, 64, 64, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 1, 1, false, true}},  // 98.1 %
    {dtype::c128, 26, false, {1, 64, 64, 1, arithmetic::mma_c128, 4, 2, 0, 0, 0, 1, 1}},  // 100.2 %
    {dtype::c128, 27, false, {1, 64, 64, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 1, 1, false, true}},  // 97.6 %
    {dtype::c128, 28, false, {1, 32, 32, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 1, 1}},  // 100.2 %
    {dtype::c128, 29, false, {1, 64, 64, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 1, 1, false, true}},  // 97.7 %
    {dtype::c128, 30, false, {1, 64, 64, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 2, 1, false, true}},  // 99.5 %
    {dtype::c128, 31, false, {1, 64, 64, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 1, 1, false, true}},  // 97.7 %
    {dtype::c128, 32, false, {1, 64, 64, 1, arithmetic::mma_c128, 4, 2, 2, 2, 0, 2, 1}},  // 99.8 %
    {dtype::c128, 33, false, {1, 160, 160, 1, arithmetic::mma_c128, 5, 1, 0, 0, 0, 2, 1, false, false, false, false, 2}},  // 75.4 %
    {dtype::c128, 36, false, {1, 160, 160, 1, arithmetic::mma_c128, 5, 1, 0, 0, 0, 1, 1, false, false, false, false, 2}},  // 85.6 %
    {dtype::c128, 40, false, {1, 160, 160, 1, arithmetic::mma_c128, 5, 1, 0, 0, 0, 2, 1}},  // 97.1 %
    {dtype::c128, 44, false, {1, 192, 192, 1, arithmetic::mma_c128, 2, 1, 0, 0, 0, 2, 1, false, false, false, false, 2}},  // 85.1 %
    {dtype::c128, 48, false, {1, 192, 192, 1, arithmetic::mma_c128, 2, 3, 2, 2, 0, 1, 1}},  // 93.1 %
    {dtype::c128, 2, true, {128, 256, 256, 1, arithmetic::threads, 1, 2, 0, 0, 0, 2, 4}},  // 101.7 %
    {dtype::c128, 3, true, {32, 64, 64, 1, arithmetic::threads, 2, 3, 0, 0, 0, 3, 1}},  // 101.6 %
    {dtype::c128, 4, true, {32, 128, 128, 1, arithmetic::threads, 2, 2, 0, 0, 0, 4, 1, false, true}},  // 101.2 %
    {dtype::c128, 5, true, {12, 64, 64, 1, arithmetic::threads, 1, 5, 0, 0, 0, 5, 1}},  // 100.4 %
    {dtype::c128, 6, true, {14, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 6, 1}},  // 101.9 %
    {dtype::c128, 7, true, {10, 128, 128, 1, arithmetic::threads, 7, 1, 0, 0, 0, 7, 1}},  // 100.7 %
    {dtype::c128, 8, true, {8, 64, 64, 1, arithmetic::threads, 2, 4, 1, 1, 0, 8, 1}},  // 100 %
    {dtype::c128, 9, true, {4, 64, 64, 1, arithmetic::threads, 3, 2, 0, 0, 0, 4, 1}},  // 100.8 %
    {dtype::c128, 10, true, {4, 64, 64, 1, arithmetic::threads, 2, 4, 0, 0, 0, 4, 1}},  // 101.4 %
    {dtype::c128, 11, true, {4, 128, 128, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 1}},  // 101.2 %
    {dtype::c128, 12, true, {3, 64, 64, 1, arithmetic::threads, 2, 6, 1, 1, 0, 4, 1}},  // 98.7 %
    {dtype::c128, 13, true, {2, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 1}},  // 100.1 %
    {dtype::c128, 14, true, {2, 64, 64, 1, arithmetic::threads, 3, 4, 0, 0, 0, 4, 1}},  // 101.4 %
    {dtype::c128, 15, true, {2, 64, 64, 1, arithmetic::threads, 4, 3, 0, 0, 0, 4, 1}},  // 100.6 %
    {dtype::c128, 16, true, {2, 128, 128, 1, arithmetic::threads, 4, 2, 1, 1, 0, 4, 1}},  // 99.9 %
    {dtype::c128, 17, true, {2, 128, 128, 1, arithmetic::mma_c128, 1, 3, 0, 0, 0, 1, 8, false, true}},  // 100.8 %
    {dtype::c128, 18, true, {1, 128, 128, 1, arithmetic::mma_c128, 1, 3, 0, 0, 0, 1, 8}},  // 101.3 %
    {dtype::c128, 19, true, {2, 128, 128, 1, arithmetic::mma_c128, 1, 3, 0, 0, 0, 1, 8, false, true}},  // 100.7 %
    {dtype::c128, 20, true, {1, 128, 128, 1, arithmetic::mma_c128, 3, 1, 0, 0, 0, 1, 8}},  // 101.7 %
    {dtype::c128, 21, true, {2, 128, 128, 1, arithmetic::mma_c128, 3, 1, 0, 0, 0, 1, 8, false, true}},  // 100.6 %
    {dtype::c128, 22, true, {1, 64, 64, 1, arithmetic::threads, 4, 3, 0, 0, 0, 4, 1}},  // 99.1 %
    {dtype::c128, 23, true, {2, 96, 96, 1, arithmetic::threads, 3, 4, 0, 0, 0, 4, 1, false, true, false, false, 0, 1}},  // 100.3 %
    {dtype::c128, 24, true, {1, 64, 64, 1, arithmetic::threads, 3, 4, 1, 1, 0, 4, 1}},  // 99.9 %
    {dtype::c128, 25, true, {1, 32, 32, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 2, 1, false, true}},  // 99.2 %
    {dtype::c128, 26, true, {1, 64, 64, 1, arithmetic::threads, 3, 4, 0, 0, 0, 4, 1, false, true}},  // 100 %
    {dtype::c128, 27, true, {1, 64, 64, 1, arithmetic::threads, 3, 4, 0, 0, 0, 4, 1, false, true}},  // 99.7 %
    {dtype::c128, 28, true, {1, 32, 32, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 1, 1}},  // 101.1 %
    {dtype::c128, 29, true, {1, 64, 64, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 1, 1, false, true}},  // 99.4 %
    {dtype::c128, 30, true, {1, 64, 64, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 1, 1, false, true}},  // 100.8 %
    {dtype::c128, 31, true, {1, 64, 64, 1, arithmetic::mma_c128, 2, 4, 0, 0, 0, 1, 1, false, true}},  // 99.3 %
    {dtype::c128, 32, true, {2, 128, 128, 1, arithmetic::mma_c128, 4, 2, 2, 2, 0, 2, 1}},  // 100.8 %
    {dtype::c128, 33, true, {1, 160, 160, 1, arithmetic::mma_c128, 1, 5, 0, 0, 0, 1, 1}},  // 84 %
    {dtype::c128, 40, true, {1, 160, 160, 1, arithmetic::mma_c128, 5, 1, 0, 0, 0, 2, 1}},  // 100.9 %
    {dtype::c128, 48, true, {1, 192, 192, 1, arithmetic::mma_c128, 2, 3, 0, 0, 0, 1, 1}},  // 99.6 %
    {dtype::f16, 2, false, {640, 256, 256, 1, arithmetic::threads, 2, 1, 0, 0, 0, 2, 6}},  // 100.4 %
    {dtype::f16, 3, false, {128, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 3, 1}},  // 98.7 %
    {dtype::f16, 4, false, {32, 64, 64, 1, arithmetic::threads, 2, 4, 0, 0, 0, 4, 16}},  // 100.5 %
    {dtype::f16, 5, false, {128, 128, 128, 1, arithmetic::threads, 5, 5, 0, 0, 0, 5, 8}},  // 98.8 %
    {dtype::f16, 6, false, {28, 64, 64, 1, arithmetic::threads, 3, 6, 0, 0, 0, 6, 1}},  // 99.1 %
    {dtype::f16, 7, false, {32, 64, 64, 1, arithmetic::threads, 7, 4, 0, 0, 0, 7, 1}},  // 99.9 %
    {dtype::f16, 8, false, {40, 256, 256, 1, arithmetic::mma_16, 1, 1, 0, 0, 0, 2, 4}},  // 100.4 %
    {dtype::f16, 9, false, {32, 64, 64, 1, arithmetic::threads, 5, 3, 0, 0, 0, 4, 16}},  // 97.6 %
    {dtype::f16, 10, false, {32, 128, 128, 1, arithmetic::threads, 5, 5, 0, 0, 0, 4, 8, false, false, false, true, 2, 3}},  // 99 %
    {dtype::f16, 11, false, {16, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 16, false, false, false, false, 2, 2}},  // 99.7 %
    {dtype::f16, 12, false, {16, 128, 128, 1, arithmetic::mma_16, 1, 2, 0, 0, 0, 2, 8}},  // 98.8 %
    {dtype::f16, 13, false, {16, 128, 128, 1, arithmetic::mma_16, 1, 2, 0, 0, 0, 2, 1}},  // 98.7 %
    {dtype::f16, 14, false, {8, 128, 128, 1, arithmetic::mma_16, 1, 2, 0, 0, 0, 2, 12}},  // 100.7 %
    {dtype::f16, 15, false, {32, 256, 256, 1, arithmetic::mma_16, 1, 2, 0, 0, 0, 2, 12, false, false, false, false, 2}},  // 99.1 %
    {dtype::f16, 16, false, {2, 64, 64, 1, arithmetic::mma_16, 1, 2, 0, 0, 0, 2, 1}},  // 100.7 %
    {dtype::f16, 17, false, {16, 128, 128, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 1, false, false, false, false, 2}},  // 99.1 %
    {dtype::f16, 18, false, {4, 64, 64, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 16}},  // 99.4 %
    {dtype::f16, 19, false, {16, 128, 128, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 1, false, false, false, false, 2}},  // 97.8 %
    {dtype::f16, 20, false, {8, 128, 128, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 8}},  // 98.8 %
    {dtype::f16, 21, false, {16, 128, 128, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 1, false, false, false, false, 2}},  // 92.6 %
    {dtype::f16, 22, false, {4, 64, 64, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 1}},  // 99.3 %
    {dtype::f16, 23, false, {8, 128, 128, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 1, false, true}},  // 96 %
    {dtype::f16, 24, false, {3, 128, 128, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 8}},  // 100 %
    {dtype::f16, 25, false, {16, 128, 128, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 1, false, false, false, false, 2}},  // 99.2 %
    {dtype::f16, 26, false, {4, 128, 128, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 8}},  // 98.8 %
    {dtype::f16, 27, false, {16, 256, 256, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 1, false, false, false, false, 2}},  // 96.7 %
    {dtype::f16, 28, false, {2, 64, 64, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 1}},  // 100.1 %
    {dtype::f16, 29, false, {8, 128, 128, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 8, false, true, true}},  // 95.2 %
    {dtype::f16, 30, false, {4, 128, 128, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 8, false, false, false, false, 2}},  // 98.3 %
    {dtype::f16, 31, false, {7, 128, 128, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 1, 1, false, true, true}},  // 96.4 %
    {dtype::f16, 32, false, {2, 64, 64, 1, arithmetic::mma_16, 2, 4, 0, 0, 8, 1, 16}},  // 99.9 %
    {dtype::f16, 33, false, {4, 64, 64, 1, arithmetic::mma_16, 3, 5, 0, 0, 0, 2, 1, false, false, false, false, 2}},  // 63.8 %
    {dtype::f16, 36, false, {2, 32, 32, 1, arithmetic::mma_16, 3, 5, 0, 0, 0, 2, 1, false, false, false, false, 2}},  // 96.6 %
    {dtype::f16, 40, false, {1, 32, 32, 1, arithmetic::mma_16, 3, 5, 0, 0, 8, 2, 1}},  // 100.4 %
    {dtype::f16, 44, false, {1, 32, 32, 1, arithmetic::mma_16, 1, 6, 0, 0, 0, 2, 1, false, false, false, false, 2}},  // 100.3 %
    {dtype::f16, 48, false, {1, 32, 32, 1, arithmetic::mma_16, 3, 6, 0, 0, 8, 2, 1}},  // 100.5 %
    {dtype::f16, 56, false, {1, 64, 64, 1, arithmetic::mma_16, 4, 1, 0, 0, 0, 2, 1, false, false, false, false, 2}},  // 100 %
    {dtype::f16, 64, false, {1, 128, 128, 1, arithmetic::mma_16, 2, 4, 8, 8, 8, 2, 1}},  // 96.9 %
    {dtype::f16, 2, true, {512, 256, 256, 1, arithmetic::threads, 2, 2, 0, 0, 0, 2, 6}},  // 101.7 %
    {dtype::f16, 3, true, {128, 64, 64, 1, arithmetic::threads, 3, 3, 0, 0, 0, 3, 1}},  // 99.8 %
    {dtype::f16, 4, true, {128, 128, 128, 1, arithmetic::threads, 2, 4, 0, 0, 0, 4, 12}},  // 101.6 %
    {dtype::f16, 5, true, {128, 256, 256, 1, arithmetic::threads, 5, 3, 0, 0, 0, 5, 6}},  // 101 %
    {dtype::f16, 6, true, {28, 64, 64, 1, arithmetic::threads, 3, 6, 0, 0, 0, 6, 1}},  // 99.1 %
    {dtype::f16, 7, true, {64, 128, 128, 1, arithmetic::threads, 7, 4, 0, 0, 0, 7, 8}},  // 101.1 %
    {dtype::f16, 8, true, {8, 64, 64, 1, arithmetic::mma_16, 1, 1, 0, 0, 0, 2, 1}},  // 101.8 %
    {dtype::f16, 9, true, {32, 64, 64, 1, arithmetic::threads, 5, 3, 0, 0, 0, 4, 16, false, false, false, false, 2, 2}},  // 97.7 %
    {dtype::f16, 10, true, {32, 128, 128, 1, arithmetic::threads, 5, 5, 0, 0, 0, 4, 8}},  // 99.9 %
    {dtype::f16, 11, true, {16, 64, 64, 1, arithmetic::threads, 6, 6, 0, 0, 0, 4, 16}},  // 99.1 %
    {dtype::f16, 12, true, {8, 64, 64, 1, arithmetic::mma_16, 1, 2, 0, 0, 0, 2, 16}},  // 100.1 %
    {dtype::f16, 13, true, {32, 256, 256, 1, arithmetic::mma_16, 1, 2, 0, 0, 0, 2, 1, false, false, false, false, 2}},  // 100.4 %
    {dtype::f16, 14, true, {16, 256, 256, 1, arithmetic::mma_16, 1, 2, 0, 0, 0, 2, 6}},  // 101.7 %
    {dtype::f16, 15, true, {32, 256, 256, 1, arithmetic::mma_16, 1, 2, 0, 0, 0, 2, 1, false, false, false, false, 2}},  // 99.7 %
    {dtype::f16, 16, true, {4, 64, 64, 1, arithmetic::mma_16, 1, 2, 0, 0, 0, 2, 16}},  // 101.3 %
    {dtype::f16, 17, true, {16, 128, 128, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 1, false, false, false, false, 2}},  // 99.4 %
    {dtype::f16, 18, true, {8, 128, 128, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 1}},  // 99.4 %
    {dtype::f16, 19, true, {8, 128, 128, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 8, false, true}},  // 98.7 %
    {dtype::f16, 20, true, {8, 128, 128, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 8}},  // 100 %
    {dtype::f16, 21, true, {16, 128, 128, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 1, false, false, true, false, 2}},  // 93 %
    {dtype::f16, 22, true, {4, 64, 64, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 16}},  // 98.8 %
    {dtype::f16, 23, true, {16, 256, 256, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 1, false, false, false, false, 2}},  // 97.6 %
    {dtype::f16, 24, true, {3, 128, 128, 1, arithmetic::mma_16, 2, 3, 0, 0, 0, 2, 8}},  // 101.3 %
    {dtype::f16, 25, true, {16, 256, 256, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 1, false, false, false, false, 2}},  // 99.9 %
    {dtype::f16, 26, true, {4, 128, 128, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 8, false, false, false, false, 2}},  // 99.2 %
    {dtype::f16, 27, true, {3, 64, 64, 1, arithmetic::mma_16, 2, 2, 0, 0, 0, 2, 16, false, true}},  // 96.4 %
    {dtype::f16, 28, true, {4, 128, 128, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 1}},  // 101.6 %
    {dtype::f16, 29, true, {8, 128, 128, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 1, false, true, true}},  // 96.5 %
    {dtype::f16, 30, true, {4, 128, 128, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 1, false, false, false, false, 2}},  // 98.8 %
    {dtype::f16, 31, true, {16, 256, 256, 1, arithmetic::mma_16, 2, 4, 0, 0, 0, 2, 1, false, false, true, false, 2}},  // 95.3 %
    {dtype::f16, 32, true, {2, 64, 64, 1, arithmetic::mma_16, 2, 4, 0, 0, 8, 1, 1}},  // 100.2 %
    {dtype::f16, 48, true, {1, 64, 64, 1, arithmetic::mma_16, 3, 2, 0, 0, 8, 2, 1}},  // 99.6 %
    {dtype::f16, 64, true, {1, 256, 256, 1, arithmetic::mma_16, 1, 4, 8, 8, 8, 1, 1}},  // 96 %
};

const int small_entry_count = static_cast<int>(sizeof small_entries / sizeof small_entries[0]);

}  // namespace ricci::cuda
