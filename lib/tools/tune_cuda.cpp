// ricci tune --backend cuda: measures kernels for many small products on this machine's GPU.
#include <ricci/core/error.hpp>

#include <cstdio>
#include <iostream>

#include <fmt/format.h>

#include "gpu/tune.hpp"
#include "tools/interrupt.hpp"
#include "tools/options.hpp"
#include "tools/tune_cuda.hpp"

namespace ricci::tools {

void tune_gpu(const gpu_tuning& how) {
  const cuda::device& d = cuda::current_device();
  const std::string file = how.output.empty() ? cuda::tuned_file_of(d.machine) : how.output;
  if (!how.dry) check_table_file(file);
  if (!d.complaint.empty()) std::fprintf(stderr, "ignored: %s\n", d.complaint.c_str());
  cuda::tune_order order;
  order.rounds = how.rounds, order.thorough = how.thorough;
  for (const auto& [type, m, n, k] : how.problems)
    for (const bool beta : {false, true}) order.problems.push_back({type, beta, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k)});
  const interrupt stop;
  std::size_t measured = 0;
  const cuda::tuned_table fresh = cuda::measure_small(order, [&](std::size_t done, const cuda::tune_step& s) {
    measured = done;
    std::fprintf(stderr, "%s", fmt::format("{:4d} of {}  {} {}x{}x{}{}  {:.1f} % of the triad, {:.2f}x, {} candidates{}\n", done, order.problems.size(), name_of(s.what.type),
                                            s.what.m, s.what.n, s.what.k, s.what.beta ? " +=" : "", 100 * s.best.fraction, s.best.gain, s.candidates,
                                            s.wrong > 0 ? fmt::format(", {} of them wrong", s.wrong) : "").c_str());
    return !stop.asked();
  });
  fmt::print("{}: {} problems, {} with a better kernel than before\n", fresh.gpu, measured, fresh.entries.size());
  stop.rest();
  if (how.dry) return stop.end();
  const cuda::tuned_table all = d.machine.tuned ? cuda::merged(*d.machine.tuned, fresh) : fresh;
  cuda::save(all, file);
  fmt::print("remembered in {}\n", file);
  stop.end();
}

}  // namespace ricci::tools
