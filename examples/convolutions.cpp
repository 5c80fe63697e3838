// Convolutions, stencils and moving sums: contractions of views whose windows overlap. Nothing is copied.
#include <iostream>
#include <vector>

#include <ricci/ricci.hpp>

using namespace ricci::labels;

int main() {
  // One image, one filter: out(p,q) = sum_rs image(p+r, q+s) f(r,s).
  // [image]
  constexpr int H = 6, W = 8, R = 3, S = 3;
  std::vector<float> pixels(H * W), filter(R * S, 1.0f / 9);
  for (std::size_t x = 0; x < pixels.size(); ++x) pixels[x] = static_cast<float>(x % 5);

  const auto image = ricci::view(pixels.data(), {H - R + 1, W - S + 1, R, S}, {W, 1, W, 1});  // p and r step by rows, q and s by columns
  const auto f = ricci::view(filter.data(), {R, S});
  ricci::tensor<float, H - R + 1, W - S + 1> smooth;
  smooth(p, q) = image(p, q, r, s) * f(r, s);
  // [/image]
  std::cout << smooth(0, 0) << ' ' << smooth(3, 5) << '\n';

  // Filters that are turned, as signal processing has them: steps of r and s that go back, from the window's last element.
  // [turned]
  const auto back = ricci::view(pixels.data() + (R - 1) * W + S - 1, {H - R + 1, W - S + 1, R, S}, {W, 1, -W, -1});
  smooth(p, q) = back(p, q, r, s) * f(r, s);
  // [/turned]

  // Many images, channels and filters; every second place, taps two apart.
  // [channels]
  constexpr int N = 2, C = 3, K = 4, stride = 2, gap = 2;
  constexpr int P = (12 - gap * (R - 1) - 1) / stride + 1, Q = (14 - gap * (S - 1) - 1) / stride + 1;
  ricci::tensor<float, N, C, 12, 14> in;
  ricci::tensor<float, K, C, R, S> filters;
  ricci::tensor<float, N, K, P, Q> out;
  in.fill(2), filters.fill(0.5f);

  const auto windows = ricci::view(in.data(), {N, C, P, Q, R, S}, {in.stride(0), in.stride(1), stride * in.stride(2), stride * in.stride(3), gap * in.stride(2), gap * in.stride(3)});
  out(n, k, p, q) = windows(n, c, p, q, r, s) * filters(k, c, r, s);
  // [/channels]
  std::cout << out(1, 3, 2, 2) << '\n';

  // Each channel by itself (depthwise): c is on the left and in both factors. The gradient of the filters: the same view.
  // [others]
  ricci::tensor<float, C, R, S> each, gradient;
  ricci::tensor<float, N, C, P, Q> deep;
  each.fill(1);
  deep(n, c, p, q) = windows(n, c, p, q, r, s) * each(c, r, s);
  gradient(c, r, s) = windows(n, c, p, q, r, s) * deep(n, c, p, q);
  // [/others]
  std::cout << deep(0, 2, 1, 1) << ' ' << gradient(2, 2, 2) << '\n';

  // Sums of windows without a filter.
  // [pooling]
  smooth(p, q) = 0.25f * sum(r, sum(s, ricci::view(pixels.data(), {H - R + 1, W - S + 1, 2, 2}, {W, 1, W, 1})(p, q, r, s)));
  // [/pooling]
  std::cout << smooth(0, 0) << '\n';
}
