// What this CPU can run, and the making of a kernel.
#include "codegen/codegen.hpp"
#include "codegen/fibres.hpp"
#include "codegen/halves.hpp"
#include "codegen/pointwise.hpp"

#include <cstdlib>
#include <cstring>

#if defined(RICCI_HAVE_XBYAK)
#include "codegen/amx_code.hpp"
#include "codegen/contract_code.hpp"
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

template <class C> std::shared_ptr<const kernel> ready(std::shared_ptr<C> code) {
  code->readyRE();
  const auto entry = code->template getCode<kernel::function>();
  const std::size_t bytes = code->getSize();
  return std::make_shared<const kernel>(entry, std::move(code), bytes);
}

}  // namespace

std::shared_ptr<const kernel> make(const request& r, target t) {
  try {
    if (in_tile_registers(r, t)) return ready(std::make_shared<amx_code>(r));
    const std::vector<nest> nests = shape(r, t);
    if (nests.empty()) return nullptr;
    return ready(std::make_shared<contract_code>(r, t, nests, 4096));
  } catch (const Xbyak::Error&) {  // no memory that may be executed, or an offset too far: the compiled kernels do it
    return nullptr;
  }
}

#else

target best_target() { return target::none; }
bool two_passes() { return false; }
std::shared_ptr<const pointwise_kernel> make(const pointwise_request&, target) { return nullptr; }
std::shared_ptr<const kernel> make(const halves_request&, target) { return nullptr; }
std::shared_ptr<const pointwise_kernel> make(const fibres_request&, target) { return nullptr; }
std::int64_t halves_bytes(const kernels::halves_args&, dtype) { return 0; }
void make_halves(const kernels::halves_args&, dtype, const void*, const void*, void*) {}
std::shared_ptr<const kernel> make(const request&, target) { return nullptr; }
std::vector<tile_choice> tile_candidates(const request&, target, int) { return {{}}; }

#endif

}  // namespace ricci::codegen
