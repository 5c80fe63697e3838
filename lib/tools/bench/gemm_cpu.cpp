// ricci bench gemm on the CPU: every case of the request, ricci beside the peers.
#include <ricci/core/error.hpp>

#include <algorithm>

#include "machine/machine.hpp"
#include "tools/bench/bench.hpp"
#include "tools/interrupt.hpp"

namespace ricci::tools {
namespace {

/// Bytes of A, B and C together: half of the cache or less, or far more than all of it.
std::int64_t footprint_bytes(const std::string& where) {
  const machine& m = this_machine();
  if (where == "l1") return m.caches[0].bytes / 2;
  if (where == "l2") return std::min<std::int64_t>(m.caches[1].bytes / 2, 256 << 10);
  if (where == "l3") return std::min<std::int64_t>(m.caches.back().bytes / 2, std::int64_t{16} << 20);
  return std::clamp<std::int64_t>(6 * m.caches.back().bytes, std::int64_t{256} << 20, std::int64_t{640} << 20);
}

std::int64_t batch_for(const gemm_case& c, int threads) {
  const std::int64_t each = c.elements() * static_cast<std::int64_t>(size_of(c.type));
  // Caches are each core's own, memory is shared.
  const std::int64_t bytes = footprint_bytes(c.footprint) * (c.footprint == "dram" ? 1 : threads);
  const std::int64_t whole = c.layout == "interleaved" ? 64 / static_cast<std::int64_t>(size_of(c.type)) : 8;
  return std::max<std::int64_t>(whole, bytes / each / whole * whole);
}

template <class F>
void for_each_case(const bench_request& r, F f) {
  for (const dtype type : r.types)
    for (const std::string& layout : r.layouts)
      for (const std::string& where : r.footprints)
        for (const int beta : r.betas)
          for (const std::string& trans : r.transposed)
            for (const gemm_size& size : r.sizes) {
              gemm_case c{type, size, beta, layout, where, 1, r.threads, r.deterministic, trans[0] == 't', trans[1] == 't', r.ld};
              c.batch = batch_for(c, r.threads);
              f(c);
            }
}

}  // namespace

void bench_gemm_cpu(const bench_request& r) {
  const std::vector<peer> peers = find_peers(r);
  print_head(r, peers);
  std::vector<gemm_answer> all;
  const interrupt stop;
  for_each_case(r, [&](const gemm_case& c) {
    if (stop.asked()) return;
    gemm_data data(c);
    std::vector<contender> contenders;
    add_ours(c, data, contenders);
    for (const peer& p : peers) p.add(c, data, contenders);
    all.push_back(measure(r, c, data, std::move(contenders)));
    print_answer(all.back());
  });
  print_summary(all);
  stop.rest();
  if (!r.json.empty()) write_json(r, peers, all);
  for (const gemm_answer& a : all)
    for (const timing& t : a.contenders)
      if (t.ours && !t.agrees) throw error(errc::bad_argument, "a result of " + t.name + " was wrong; the table says where");
  stop.end();
}

}  // namespace ricci::tools
