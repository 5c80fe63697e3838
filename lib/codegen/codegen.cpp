// What this CPU can run, and the making of a kernel.
#include "codegen/codegen.hpp"
#include "codegen/apart.hpp"
#include "codegen/fibres.hpp"
#include "codegen/halves.hpp"
#include "codegen/pointwise.hpp"
#include "codegen/turns.hpp"

#include <cstdlib>
#include <cstring>

#if defined(RICCI_HAVE_XBYAK)
#include "codegen/amx_code.hpp"
#include "codegen/contract_code.hpp"
#include "codegen/dots_code.hpp"
#include "codegen/lone_dots_code.hpp"
#include "codegen/spread_code.hpp"
#endif

namespace ricci::codegen {

#if defined(RICCI_HAVE_XBYAK)

target best_target() {
  static const target found = [] {
    const char* wanted = std::getenv("RICCI_JIT");
    if (wanted && std::strcmp(wanted, "0") == 0) return target::none;
    const char* isa = kernels::best().isa;
    if (std::strcmp(isa, "AVX-512") == 0) return target::avx512;
    if (std::strcmp(isa, "AVX2") == 0) return target::avx2;
    return target::none;
  }();
  return found;
}

namespace {
thread_local std::size_t all_written = 0;
}

void count_written(std::size_t bytes) { all_written += bytes; }
std::size_t written_bytes() { return all_written; }

std::shared_ptr<const kernel> make(const request& r, target t) {
  if (r.past_caches && (r.lanes == kernels::lanes::k || r.beta != factor::zero || r.type_c != r.type)) return nullptr;
  if (in_tile_registers(r, t) && !r.past_caches) {
    request one = r;  // problem, in other registers
    one.tiles = tile_use::never, one.args.loop_count = 0;
    const auto slow = r.type_a == dtype::f16 ? make(one, t) : nullptr;
    if (slow || r.type_a != dtype::f16) return written<kernel, amx_code>(r, slow);
  }
  if (const std::vector<spread> s = spread_of(r, t); !s.empty())
    if (auto made = written<kernel, spread_code>(r, s[0], t)) return made;
  if (const std::vector<dots> d = dots_of(r, t); !d.empty()) return written<kernel, dots_code>(r, d[0], t);
  if (const std::vector<lone_dots> d = lone_dots_of(r, t); !d.empty()) return written<kernel, lone_dots_code>(r, d[0], t);
  const std::vector<nest> nests = shape(r, t);
  if (nests.empty() || (r.past_caches && !writes_whole_lines(r, nests))) return nullptr;
  return written<kernel, contract_code>(r, t, nests, std::size_t{4096});
}

#else

target best_target() { return target::none; }
std::size_t written_bytes() { return 0; }
bool double_pumped() { return false; }
bool c_first_and_alternate() { return false; }
std::shared_ptr<const pointwise_kernel> make(const pointwise_request&, target) { return nullptr; }
std::shared_ptr<const kernel> make(const halves_request&, target) { return nullptr; }
std::shared_ptr<const pointwise_kernel> make(const fibres_request&, target) { return nullptr; }
std::shared_ptr<const kernel> make(const turn_request&, target) { return nullptr; }
std::shared_ptr<const kernel> make(const copy_request&, target) { return nullptr; }
std::shared_ptr<const kernel> make(const apart_request&, target) { return nullptr; }
std::int64_t halves_bytes(const kernels::halves_args&, dtype) { return 0; }
void make_halves(const kernels::halves_args&, dtype, const void*, const void*, void*) {}
std::shared_ptr<const kernel> make(const request&, target) { return nullptr; }
std::vector<tile_choice> tile_candidates(const request&, target, int) { return {{}}; }

#endif

}  // namespace ricci::codegen
