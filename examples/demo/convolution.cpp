// Case (c): convolution of images with filters, written as a contraction.
#include <vector>

#include <ricci/ricci.hpp>

#include "cases.hpp"
#include "eigen_peers.hpp"

using namespace ricci::labels;

namespace demo {
namespace {

using shape = peers::convolution_shape;

std::vector<float> absolutes(const std::vector<float>& from) {
  std::vector<float> to(from.size());
  absolute(from.data(), to.data(), std::int64_t(from.size()));
  return to;
}

std::vector<std::string> row(const settings& s, const shape& z) {
  const std::int64_t H = z.height, W = z.width, plane = H * W;
  std::vector<float> images(z.images * z.channels * plane), filters(z.filters * z.channels * z.taps * z.taps);
  std::vector<float> out(std::size_t(z.images) * z.filters * z.rows() * z.columns()), peer(out), magnitude(out);
  fill(images.data(), std::int64_t(images.size()), 4);
  fill(filters.data(), std::int64_t(filters.size()), 5);

  const auto F = ricci::view(filters.data(), {z.filters, z.channels, z.taps, z.taps},
                             {z.channels * z.taps * z.taps, z.taps * z.taps, z.taps, 1});
  const auto I = ricci::view(images.data(), {z.images, z.channels, z.rows(), z.taps, z.columns(), z.taps},
                             {z.channels * plane, plane, W, W, 1, 1});
  const auto O = ricci::view(out.data(), {z.images, z.filters, z.rows(), z.columns()},
                             {z.filters * z.rows() * z.columns(), z.rows() * z.columns(), z.columns(), 1});
  const auto plan = ricci::plan(O(b, f, y, x).assign(F(f, c, p, q) * I(b, c, y, p, x, q)));

  const job run = [&] { plan.run(); };
  const auto convolve = [&](std::int64_t bytes) {
    return [&, bytes] { peers::convolve(bytes, z, filters.data(), images.data(), peer.data()); };
  };
  times t;
  {
    const one_core alone;
    const job eigen = fastest({convolve(1 << 30), convolve(1 << 20), convolve(1 << 18), convolve(1 << 16)});
    const auto medians = interleaved({run, eigen}, s);
    t.ricci = medians[0];
    t.eigen = medians[1];
  }
  t.all = interleaved({run}, s)[0];

  const int depth = z.channels * z.taps * z.taps;
  peers::convolve(1 << 20, z, absolutes(filters).data(), absolutes(images).data(), magnitude.data());
  const double error = worst_error(out.data(), peer.data(), magnitude.data(), std::int64_t(out.size()), depth);
  const double flops = 2.0 * double(out.size()) * depth, bytes = 4.0 * double(images.size() + out.size());
  const auto text = [](int v) { return std::to_string(v); };
  std::vector<std::string> cells{
      text(z.channels) + " -> " + text(z.filters) + ", " + text(z.taps) + " x " + text(z.taps), checked(error)};
  const auto speed = speed_columns(t, flops, roofline(s.machine, s.machine.peak_f32, flops, bytes));
  cells.insert(cells.end(), speed.begin(), speed.end());
  return cells;
}

}  // namespace

void show_convolution(const settings& s) {
  table out{{"float, channels, taps", "error"}, {}, {}};
  out.head.insert(out.head.end(), speed_head.begin(), speed_head.end());
  if (s.quick)
    out.rows = {row(s, {2, 3, 4, 12, 14, 3}), row(s, {1, 4, 8, 12, 14, 5})};
  else
    out.rows = {row(s, {16, 3, 16, 64, 64, 3}), row(s, {16, 16, 16, 64, 64, 3}), row(s, {16, 3, 16, 64, 64, 5}),
                row(s, {16, 16, 32, 64, 64, 5})};
  print(s, "O(b, f, y, x) = F(f, c, p, q) * I(b, c, y, p, x, q)",
        "16 images of 64 x 64; I is a view whose axes y, p and x, q share strides; Eigen: im2col in blocks", out);
}

}  // namespace demo
