// Tensors of small integers, of which every sum is exact.
#pragma once

template <class Tensor> void fill(Tensor& x, unsigned state) {
  for (auto& value : x) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<int>(state >> 16) % 7 - 3;
  }
}
