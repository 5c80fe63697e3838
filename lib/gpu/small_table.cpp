// Written by bench_gpu_tune on one NVIDIA H200, 2026-11-21; packed row-major batches of 1 GiB an operand. The comment is
// the share of the triad's bandwidth that was reached.
#include "gpu/small_table.hpp"

namespace ricci::cuda {

// type, n, beta, {problems, group, block, stages, compute, rm, rn, pad_a, pad_b, pad_c, unroll, blocks}
const small_entry small_entries[] = {
    {dtype::f32, 2, false, {192, 128, 128, 1, arithmetic::threads, 1, 2, 0, 0, 0, 2, 1}},  // 102.3 %
    {dtype::f32, 3, false, {128, 128, 128, 1, arithmetic::threads, 3, 3, 0, 0, 0, 3, 1}},  // 101.5 %
    {dtype::f32, 4, false, {64, 128, 128, 1, arithmetic::threads, 2, 4, 0, 0, 0, 4, 1}},  // 101.4 %
    {dtype::f32, 5, false, {64, 128, 128, 1, arithmetic::threads, 3, 5, 0, 0, 0, 5, 1}},  // 101.6 %
    {dtype::f32, 6, false, {32, 32, 128, 2, arithmetic::threads, 6, 3, 0, 0, 0, 6, 1}},  // 96.3 %
    {dtype::f32, 7, false, {40, 128, 128, 1, arithmetic::threads, 7, 4, 0, 0, 0, 7, 1}},  // 101.8 %
    {dtype::f32, 8, false, {33, 256, 256, 3, arithmetic::threads, 4, 8, 0, 0, 0, 8, 1}},  // 98.0 %
    {dtype::f32, 9, false, {24, 128, 128, 1, arithmetic::threads, 3, 3, 0, 0, 0, 4, 1}},  // 101.4 %
    {dtype::f32, 10, false, {16, 32, 128, 2, arithmetic::threads, 5, 5, 0, 0, 0, 4, 1}},  // 96.5 %
    {dtype::f32, 11, false, {16, 128, 128, 1, arithmetic::threads, 6, 4, 0, 0, 0, 4, 1}},  // 101.8 %
    {dtype::f32, 12, false, {10, 32, 128, 2, arithmetic::threads, 4, 6, 0, 0, 0, 4, 1}},  // 97.6 %
    {dtype::f32, 13, false, {8, 32, 128, 2, arithmetic::threads, 7, 4, 0, 0, 0, 4, 1}},  // 96.2 %
    {dtype::f32, 14, false, {8, 32, 128, 2, arithmetic::threads, 4, 7, 0, 0, 0, 4, 1}},  // 97.0 %
    {dtype::f32, 15, false, {8, 32, 128, 2, arithmetic::threads, 4, 8, 0, 0, 0, 4, 1}},  // 92.5 %
    {dtype::f32, 16, false, {4, 128, 128, 2, arithmetic::threads, 8, 4, 0, 0, 0, 4, 1}},  // 89.1 %
    {dtype::f32, 17, false, {4, 128, 128, 3, arithmetic::threads, 5, 6, 0, 0, 0, 4, 1}},  // 69.2 %
    {dtype::f32, 18, false, {2, 32, 128, 2, arithmetic::threads, 5, 6, 0, 0, 0, 4, 1}},  // 93.9 %
    {dtype::f32, 19, false, {4, 32, 128, 2, arithmetic::threads, 5, 5, 0, 0, 0, 4, 1}},  // 88.5 %
    {dtype::f32, 20, false, {5, 128, 128, 2, arithmetic::threads, 5, 5, 0, 0, 0, 4, 1}},  // 93.7 %
    {dtype::f32, 21, false, {4, 128, 128, 3, arithmetic::threads, 3, 7, 0, 0, 0, 4, 1}},  // 82.7 %
    {dtype::f32, 22, false, {4, 128, 128, 2, arithmetic::threads, 4, 8, 0, 0, 0, 4, 1}},  // 88.3 %
    {dtype::f32, 23, false, {4, 128, 128, 2, arithmetic::threads, 4, 8, 0, 0, 0, 4, 1}},  // 79.0 %
    {dtype::f32, 24, false, {3, 128, 128, 2, arithmetic::threads, 4, 8, 0, 0, 0, 4, 1}},  // 83.3 %
    {dtype::f32, 25, false, {3, 128, 128, 2, arithmetic::threads, 5, 5, 0, 0, 0, 4, 1}},  // 56.5 %
    {dtype::f32, 26, false, {1, 32, 128, 2, arithmetic::threads, 4, 7, 0, 0, 0, 4, 1}},  // 85.3 %
    {dtype::f32, 27, false, {1, 32, 128, 2, arithmetic::threads, 4, 7, 0, 0, 0, 4, 1}},  // 50.3 %
    {dtype::f32, 28, false, {1, 32, 128, 3, arithmetic::threads, 4, 7, 0, 0, 0, 4, 1}},  // 96.6 %
    {dtype::f32, 29, false, {2, 128, 128, 2, arithmetic::threads, 5, 6, 0, 0, 0, 4, 1}},  // 54.1 %
    {dtype::f32, 30, false, {1, 32, 128, 2, arithmetic::threads, 5, 6, 0, 0, 0, 4, 1}},  // 87.9 %
    {dtype::f32, 31, false, {2, 128, 128, 1, arithmetic::threads, 4, 8, 0, 0, 0, 4, 1}},  // 55.5 %
    {dtype::f32, 32, false, {2, 128, 128, 1, arithmetic::threads, 4, 8, 4, 4, 0, 4, 1}},  // 71.8 %
    {dtype::f64, 2, false, {128, 128, 128, 1, arithmetic::threads, 2, 2, 0, 0, 0, 2, 1}},  // 102.5 %
    {dtype::f64, 3, false, {84, 128, 128, 1, arithmetic::threads, 1, 3, 0, 0, 0, 3, 1}},  // 101.7 %
    {dtype::f64, 4, false, {66, 256, 256, 2, arithmetic::threads, 2, 4, 0, 0, 0, 4, 1}},  // 97.3 %
    {dtype::f64, 5, false, {32, 32, 128, 2, arithmetic::threads, 5, 3, 0, 0, 0, 5, 1}},  // 97.8 %
    {dtype::f64, 6, false, {29, 128, 128, 1, arithmetic::threads, 3, 3, 0, 0, 0, 6, 1}},  // 101.8 %
    {dtype::f64, 7, false, {20, 128, 128, 1, arithmetic::threads, 2, 7, 0, 0, 0, 7, 1}},  // 101.2 %
    {dtype::f64, 8, false, {8, 128, 128, 2, arithmetic::mma_f64, 1, 1, 4, 4, 0, 2, 1}},  // 93.1 %
    {dtype::f64, 9, false, {12, 256, 256, 3, arithmetic::threads, 3, 3, 0, 0, 0, 4, 1}},  // 97.0 %
    {dtype::f64, 10, false, {4, 128, 128, 2, arithmetic::mma_f64, 2, 2, 0, 0, 0, 2, 1}},  // 97.4 %
    {dtype::f64, 11, false, {8, 128, 128, 1, arithmetic::threads, 3, 4, 0, 0, 0, 4, 1}},  // 97.4 %
    {dtype::f64, 12, false, {4, 128, 128, 1, arithmetic::mma_f64, 2, 2, 0, 0, 0, 2, 1}},  // 100.9 %
    {dtype::f64, 13, false, {4, 32, 128, 2, arithmetic::threads, 7, 2, 0, 0, 0, 4, 1}},  // 95.9 %
    {dtype::f64, 14, false, {2, 128, 128, 2, arithmetic::mma_f64, 2, 2, 0, 0, 0, 2, 1}},  // 98.0 %
    {dtype::f64, 15, false, {4, 128, 128, 1, arithmetic::mma_f64, 2, 2, 5, 5, 0, 2, 1}},  // 102.0 %
    {dtype::f64, 16, false, {4, 128, 128, 1, arithmetic::mma_f64, 2, 2, 4, 4, 0, 2, 1}},  // 101.3 %
    {dtype::f64, 17, false, {2, 128, 128, 2, arithmetic::mma_f64, 3, 3, 3, 3, 0, 2, 1}},  // 95.9 %
    {dtype::f64, 18, false, {1, 128, 128, 2, arithmetic::mma_f64, 3, 1, 0, 0, 0, 2, 1}},  // 95.9 %
    {dtype::f64, 19, false, {2, 32, 128, 2, arithmetic::mma_f64, 3, 3, 1, 1, 0, 2, 1}},  // 94.5 %
    {dtype::f64, 20, false, {1, 128, 128, 1, arithmetic::mma_f64, 3, 1, 0, 0, 0, 2, 1}},  // 98.5 %
    {dtype::f64, 21, false, {2, 256, 256, 3, arithmetic::mma_f64, 3, 1, 7, 7, 0, 2, 1}},  // 97.9 %
    {dtype::f64, 22, false, {1, 128, 128, 2, arithmetic::mma_f64, 3, 3, 0, 0, 0, 2, 1}},  // 95.7 %
    {dtype::f64, 23, false, {1, 128, 128, 1, arithmetic::mma_f64, 3, 1, 5, 5, 0, 2, 1}},  // 101.7 %
    {dtype::f64, 24, false, {1, 128, 128, 1, arithmetic::mma_f64, 3, 1, 4, 4, 0, 2, 1}},  // 100.7 %
    {dtype::f64, 25, false, {1, 128, 128, 2, arithmetic::mma_f64, 4, 2, 3, 3, 0, 2, 1}},  // 89.9 %
    {dtype::f64, 26, false, {1, 128, 128, 2, arithmetic::mma_f64, 4, 4, 0, 0, 0, 2, 1}},  // 96.9 %
    {dtype::f64, 27, false, {1, 128, 128, 3, arithmetic::mma_f64, 4, 2, 1, 1, 0, 2, 1}},  // 91.1 %
    {dtype::f64, 28, false, {1, 32, 128, 2, arithmetic::mma_f64, 4, 2, 0, 0, 0, 2, 1}},  // 95.6 %
    {dtype::f64, 29, false, {1, 128, 128, 1, arithmetic::mma_f64, 4, 2, 7, 7, 0, 2, 1}},  // 97.3 %
    {dtype::f64, 30, false, {1, 128, 128, 2, arithmetic::mma_f64, 4, 4, 0, 0, 0, 2, 1}},  // 94.4 %
    {dtype::f64, 31, false, {1, 128, 128, 1, arithmetic::mma_f64, 4, 2, 5, 5, 0, 2, 1}},  // 101.3 %
    {dtype::f64, 32, false, {1, 128, 128, 1, arithmetic::mma_f64, 4, 2, 4, 4, 0, 2, 1}},  // 101.8 %
};

const int small_entry_count = static_cast<int>(sizeof small_entries / sizeof small_entries[0]);

}  // namespace ricci::cuda
