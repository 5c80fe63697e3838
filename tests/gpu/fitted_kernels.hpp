// Kernels of tiles that fit the sides of a product: those that are chosen, and some others.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gpu/measure.hpp"
#include "gpu/tile_fit.hpp"

namespace ricci::test {

/// With their names; for an architecture that has clusters.
inline std::vector<std::pair<std::string, cuda::kernel_request>> fitted_kernels(bool all) {
  std::vector<std::pair<std::string, cuda::kernel_request>> found;
  const cuda::gpu_machine& m = cuda::described_h200();
  for (const dtype type : {dtype::f32, dtype::f64, dtype::c64, dtype::c128})
    for (const std::int64_t side : {80, 100, 150, 200})
      for (const bool along : {true, false}) {
        cuda::step_plan p;
        p.kind = cuda::kernel_kind::tile, p.shape = cuda::product_step(type, side, side, side, side == 100, 100);
        if (along) p.shape.k[0].b = 1, p.shape.n[0].b = side;
        const cuda::tile_config usual = cuda::choose_tile(p.shape, m, true);
        const std::vector<cuda::tile_config> fitted = cuda::fitted_tiles(p.shape, cuda::copies_of(cuda::arranged_for_tiles(p.shape, usual), usual, {16, 16, 16}));
        const auto add = [&](const cuda::tile_config& c, const char* what) {
          p.tile = c;
          found.push_back({cuda::to_string(p) + what + name_of(type), cuda::request_of(p, {})});
        };
        add(cuda::fit_tile(p.shape, usual, m, true), " that fit best, ");
        for (std::size_t n = static_cast<std::size_t>(side) % 7; n < fitted.size(); n += all ? 5 : 97) {
          cuda::tile_config c = fitted[n];
          c.beside = n % 2 == 0, c.parts = c.beside ? 2 : 1;
          add(c, " that fit, ");
        }
      }
  return found;
}

}  // namespace ricci::test
