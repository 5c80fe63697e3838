// Batches of matrix products on the GPU: strided and by pointers.
#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <ricci/core/error.hpp>
#include <ricci/engine/gemm.hpp>

#include "gpu/executable.hpp"

namespace ricci {
namespace {

using namespace cuda;

step_shape shape_of_problem(const gemm_problem& p) {
  step_shape s;
  s.a = s.b = s.c = p.type;
  s.conj_a = p.conj_a && is_complex(p.type), s.conj_b = p.conj_b && is_complex(p.type);
  s.beta = p.beta != 0.0;
  const auto add = [](std::vector<axis>& group, const axis& x) {
    if (x.extent != 1) group.push_back(x);
  };
  add(s.batch, {p.batch, p.a_step, p.b_step, p.c_step});
  add(s.batch, {p.lanes, p.a_lane, p.b_lane, p.c_lane});
  add(s.m, {p.m, p.a_row, 0, p.c_row});
  add(s.n, {p.n, 0, p.b_col, p.c_col});
  add(s.k, {p.k, p.a_col, p.b_row, 0});
  if (p.c_row == 1 && p.c_col != 1) swap_factors(s);
  return s;
}

/// What a thread did last: the plan of a problem, whatever its scalars and pointers, and its kernel for their alignment.
struct remembered {
  gemm_problem problem;
  bool each = false;
  int ordinal = -1;
  alignments at;
  step_plan plan;
  kernel code;
};

bool same(const gemm_problem& x, const gemm_problem& y) {
  const auto parts = [](const gemm_problem& p) {
    return std::make_tuple(p.type, p.conj_a, p.conj_b, p.m, p.n, p.k, p.a_row, p.a_col, p.b_row, p.b_col, p.c_row, p.c_col, p.batch, p.a_step,
                           p.b_step, p.c_step, p.lanes, p.a_lane, p.b_lane, p.c_lane, p.alpha == 0.0, p.beta == 0.0, p.deterministic);
  };
  return parts(x) == parts(y);
}

/// The plan and the kernel of a problem; `make` plans it.
template <class Make>
const remembered& remember(const device& d, const gemm_problem& p, bool each, const alignments& at, const Make& make) {
  thread_local std::array<remembered, 8> recent;
  thread_local unsigned next = 0;
  for (const remembered& r : recent)
    if (r.ordinal == d.ordinal && r.each == each && r.at == at && same(r.problem, p)) return r;
  remembered fresh{p, each, d.ordinal, at, make(), {}};
  if (fresh.plan.blas.used) fresh.plan.blas.used = prepare_blas(d);
  if (!fresh.plan.blas.used) {
    const use_device use(d);
    fresh.code = load_kernel(d, request_of(fresh.plan, at));
  }
  return recent[next++ % recent.size()] = std::move(fresh);
}

void launch(const remembered& r, const operands& x, const device& d, void* stream) {
  const use_device use(d);
  const auto to = static_cast<cu_stream>(stream);
  const step_plan& p = r.plan;
  if (p.blas.used) {
    const bool swapped = p.shape.swapped;
    if (run_blas(p.shape, p.blas, swapped ? x.b : x.a, swapped ? x.a : x.b, x.c, x.alpha, x.beta, d, to)) return;
  }
  const kernel code = p.blas.used ? load_kernel(d, request_of(p, r.at)) : r.code;
  packed_args args = pack(p, x, code, d.machine);
  void* list[] = {args.bytes};
  check(need_driver().launch(code.function, args.grid, 1, 1, static_cast<unsigned>(threads_of(p)), 1, 1, code.shared_bytes, to, list, nullptr),
        "launching a batch of products");
}

/// In the GPU's memory, and at a multiple of `bytes`.
void require_device(const void* pointer, const char* name, const device& d, std::size_t bytes) {
  const int owner = owner_of(pointer);
  if (owner == d.ordinal && reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0) return;
  if (owner == d.ordinal)
    throw error(errc::bad_argument, std::string(name) + " is not at a multiple of " + std::to_string(bytes) + " bytes, as a GPU wants it");
  throw error(errc::wrong_space, std::string(name) + (owner < 0 ? " is not in GPU memory" : " is in the memory of another GPU"));
}

/// alpha == 0 or k == 0: c is scaled, a and b are not read.
bool is_scaling(const gemm_problem& p) { return p.k == 0 || p.alpha == 0.0; }

/// reads: of a and b as well.
operands operands_of(const gemm_problem& p, const void* a, const void* b, void* c, const device& d, bool reads, std::size_t bytes) {
  if (reads) require_device(a, "a", d, bytes), require_device(b, "b", d, bytes);
  require_device(c, "c", d, bytes);
  operands x;
  x.a = a, x.b = b, x.c = c;
  x.alpha[0] = p.alpha.real(), x.alpha[1] = p.alpha.imag(), x.beta[0] = p.beta.real(), x.beta[1] = p.beta.imag();
  return x;
}

bool nothing_to_do(const gemm_problem& p) { return p.m == 0 || p.n == 0 || p.batch == 0 || p.lanes == 0; }

step_shape scaled_only(step_shape s) {
  s.has_a = s.has_b = false;
  s.k.clear();
  return s;
}

}  // namespace

void run_gemm_gpu(const gemm_problem& p, const void* a, const void* b, void* c, void* stream) {
  if (nothing_to_do(p)) return;
  const device& d = current_device();
  const bool scaled = is_scaling(p);
  operands x = operands_of(p, a, b, c, d, !scaled, size_of(p.type));
  if (scaled) x.alpha[0] = x.alpha[1] = 0;
  step_shape of_types;
  of_types.a = of_types.b = of_types.c = p.type;
  const bool swapped = p.c_row == 1 && p.c_col != 1;
  const alignments at = alignments_of(of_types, swapped ? b : a, swapped ? a : b, c);
  launch(remember(d, p, false, at, [&] {
           gpu_machine m = d.machine;
           if (p.deterministic) m.blas = blas_use::never, m.tuned = nullptr;
           step_shape s = shape_of_problem(p);
           if (scaled) s = scaled_only(s);
           return cuda::plan_step(s, m, false);  // there is no memory for partial sums
         }), x, d, stream);
}

void run_gemm_each_gpu(const gemm_problem& p, const void* const* a, const void* const* b, void* const* c, void* stream) {
  if (nothing_to_do(p)) return;
  constexpr std::int64_t most = 64;
  if (p.m > most || p.n > most || p.k > most || p.k == 0 || p.lanes != 1)
    throw error(errc::bad_argument, "arrays of pointers on the GPU take matrices from 1 to 64 a side");
  const device& d = current_device();
  const operands x = operands_of(p, a, b, const_cast<void**>(c), d, true, sizeof(void*));
  launch(remember(d, p, true, {}, [&] {
           step_plan plan;
           plan.kind = kernel_kind::small;
           plan.shape = shape_of_problem(p);
           plan.small.step = plan.shape;
           plan.small.step.batch.clear();
           plan.small.inner = {p.batch, 0, 0, 0};
           plan.small.pointers = true;
           plan.config = choose_small(plan.small, d.machine);
           if (shared_bytes_of(plan.small, plan.config, {}) > d.machine.shared_most)
             throw error(errc::bad_argument, "arrays of pointers: matrices of this size do not fit into the shared memory of " + d.machine.name);
           return plan;
         }), x, d, stream);
}

}  // namespace ricci
