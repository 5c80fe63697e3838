// ricci's own ways: the C functions for strided and pointed-to batches, a statement for interleaved ones.
#include <ricci/engine/gemm.hpp>
#include <sys/mman.h>

#include <complex>
#include <cstring>
#include <memory>

#include "tools/bench/bench.hpp"

namespace ricci::tools {
namespace {

gemm_problem problem_of(const gemm_case& c, const gemm_data& d) {
  gemm_problem p;
  p.type = c.type;
  p.m = c.size.m, p.n = c.size.n, p.k = c.size.k;
  p.a_row = c.ld_a(), p.b_row = c.ld_b(), p.c_row = c.ld_c();
  if (c.trans_a) std::swap(p.a_row, p.a_col);
  if (c.trans_b) std::swap(p.b_row, p.b_col);
  p.a_step = d.step_a, p.b_step = d.step_b, p.c_step = d.step_c;
  p.beta = c.beta;
  p.threads = c.threads, p.deterministic = c.deterministic;
  return p;
}

/// Runs problems of a batch. A caller alone keeps the arguments from call to call, as one of the C functions would.
class batch_runner {
 public:
  batch_runner(const gemm_problem& p, bool alone) : kept_(p), alone_(alone) {}
  template <class F> void operator()(std::int64_t batch, const F& f) {
    if (alone_) {
      kept_.batch = batch;
      return f(kept_);
    }
    gemm_problem part = kept_;
    part.batch = batch;
    f(part);
  }

 private:
  gemm_problem kept_;
  bool alone_;
};

/// The operands with a cache line of problems side by side, in memory of their own.
struct interleaved_data {
  using memory = std::unique_ptr<char[], void (*)(char*)>;

  std::int64_t width, size;
  std::vector<memory> blocks;
  char *a, *b, *c;

  interleaved_data(const gemm_case& p, const gemm_data& d)
      : width(64 / static_cast<std::int64_t>(size_of(p.type))), size(static_cast<std::int64_t>(size_of(p.type))),
        a(block(0, p.batch * d.step_a)), b(block(1, p.batch * d.step_b)), c(block(2, p.batch * d.step_c)) {
    fill(a, d.a, d.step_a, p.batch);
    fill(b, d.b, d.step_b, p.batch);
    reset(p, d);
  }
  void reset(const gemm_case& p, const gemm_data& d) { fill(c, d.c, d.step_c, p.batch); }
  std::int64_t offset(std::int64_t step, std::int64_t e, std::int64_t at) const {
    return ((e / width * step + at) * width + e % width) * size;
  }

 private:
  /// Operand i, half a kilobyte further into its page than the one before, as in gemm_data.
  char* block(int i, std::int64_t elements) {
    const auto bytes = static_cast<std::size_t>((elements * size + 1024 + (1 << 21)) >> 21 << 21);
    memory m{static_cast<char*>(::operator new[](bytes, std::align_val_t{1 << 21})),
             [](char* x) { ::operator delete[](x, std::align_val_t{1 << 21}); }};
    madvise(m.get(), bytes, MADV_HUGEPAGE);
    blocks.push_back(std::move(m));
    return blocks.back().get() + 512 * i;
  }
  void fill(char* to, const char* from, std::int64_t step, std::int64_t batch) const {
    for (std::int64_t e = 0; e < batch; ++e)
      for (std::int64_t at = 0; at < step; ++at)
        std::memcpy(to + offset(step, e, at), from + (e * step + at) * size, static_cast<std::size_t>(size));
  }
};

void add_interleaved(const gemm_case& c, gemm_data& d, std::vector<contender>& to) {
  const auto own = std::make_shared<interleaved_data>(c, d);
  const std::int64_t width = own->width;
  gemm_problem p = problem_of(c, d);
  p.lanes = width, p.a_lane = p.b_lane = p.c_lane = 1;
  p.a_row *= width, p.b_row *= width, p.c_row *= width;
  p.a_col = p.b_col = p.c_col = width;
  p.a_step *= width, p.b_step *= width, p.c_step *= width;
  for (const bool alone : {false, true}) {
    if (alone && c.threads == 1) continue;
    to.push_back({alone ? "ricci in threads" : "ricci", true, alone, [own, width, run = batch_runner(p, c.threads == 1)](std::int64_t first, std::int64_t last) mutable {
                    const std::int64_t block = first / width;
                    run(last / width - block, [&](const gemm_problem& x) {
                      run_gemm(x, own->a + block * x.a_step * own->size, own->b + block * x.b_step * own->size,
                               own->c + block * x.c_step * own->size);
                    });
                  },
                  [own, &d](std::int64_t e, void* result) {
                    for (std::int64_t at = 0; at < d.step_c; ++at)
                      std::memcpy(static_cast<char*>(result) + at * own->size, own->c + own->offset(d.step_c, e, at),
                                  static_cast<std::size_t>(own->size));
                  },
                  [own, &c, &d] { own->reset(c, d); }});
  }
}

}  // namespace

void add_ours(const gemm_case& c, gemm_data& d, std::vector<contender>& to) {
  if (c.layout == "interleaved") return add_interleaved(c, d, to);
  const gemm_problem p = problem_of(c, d);
  // With threads of its own, and called from threads of the caller.
  for (const bool alone : {false, true}) {
    if (alone && c.threads == 1) continue;
    const std::string name = alone ? "ricci in threads" : "ricci";
    if (c.layout == "strided") {
      to.push_back({name, true, alone, [&d, run = batch_runner(p, c.threads == 1)](std::int64_t first, std::int64_t last) mutable {
                      run(last - first, [&](const gemm_problem& x) {
                        run_gemm(x, d.address(d.a, d.step_a, first), d.address(d.b, d.step_b, first), d.address(d.c, d.step_c, first));
                      });
                    }});
    } else if (c.layout == "pointers") {
      to.push_back({name, true, alone, [&d, run = batch_runner(p, c.threads == 1)](std::int64_t first, std::int64_t last) mutable {
                      run(last - first, [&](const gemm_problem& x) {
                        run_gemm_each(x, d.pointers_a.data() + first, d.pointers_b.data() + first, d.pointers_c.data() + first);
                      });
                    }});
    }
  }
}

}  // namespace ricci::tools
