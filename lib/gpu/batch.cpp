// Batches of matrix products on the GPU: strided and by pointers.
#include <algorithm>

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

void launch(const step_plan& p, const operands& x, const alignments& at, void* stream) {
  const device& d = current_device();
  const use_device use(d);
  const kernel k = load_kernel(d, request_of(p, at));
  packed_args args = pack(p, x, k, d.machine);
  void* list[] = {args.bytes};
  check(need_driver().launch(k.function, args.grid, 1, 1, static_cast<unsigned>(threads_of(p)), 1, 1, k.shared_bytes,
                             static_cast<cu_stream>(stream), list, nullptr), "launching a batch of products");
}

void require_device(const void* pointer, const char* name) {
  const device& d = current_device();
  const int owner = owner_of(pointer);
  if (owner == d.ordinal) return;
  throw error(errc::wrong_space, std::string(name) + (owner < 0 ? " is not in GPU memory" : " is in the memory of another GPU"));
}

operands operands_of(const gemm_problem& p, const void* a, const void* b, void* c) {
  require_device(a, "a"), require_device(b, "b"), require_device(c, "c");
  operands x;
  x.a = a, x.b = b, x.c = c;
  x.alpha[0] = p.alpha.real(), x.alpha[1] = p.alpha.imag(), x.beta[0] = p.beta.real(), x.beta[1] = p.beta.imag();
  return x;
}

bool nothing_to_do(const gemm_problem& p) { return p.m == 0 || p.n == 0 || p.batch == 0 || p.lanes == 0; }

/// alpha == 0 or k == 0: c is scaled, a and b are not read.
step_shape scaled_only(step_shape s) {
  s.has_a = s.has_b = false;
  s.k.clear();
  return s;
}

}  // namespace

void run_gemm_gpu(const gemm_problem& p, const void* a, const void* b, void* c, void* stream) {
  if (nothing_to_do(p)) return;
  operands x = operands_of(p, a, b, c);
  step_shape s = shape_of_problem(p);
  if (p.k == 0 || p.alpha == 0.0) s = scaled_only(s), x.alpha[0] = x.alpha[1] = 0;
  const step_plan plan = cuda::plan_step(s, current_device().machine);
  const void *first = s.swapped ? b : a, *second = s.swapped ? a : b;
  launch(plan, x, alignments_of(s, first, second, c), stream);
}

void run_gemm_each_gpu(const gemm_problem& p, const void* const* a, const void* const* b, void* const* c, void* stream) {
  if (nothing_to_do(p)) return;
  constexpr std::int64_t most = 64;
  if (p.m > most || p.n > most || p.k > most || p.k == 0 || p.lanes != 1)
    throw error(errc::bad_argument, "arrays of pointers on the GPU take matrices from 1 to 64 a side");
  const operands x = operands_of(p, a, b, const_cast<void**>(c));
  step_plan plan;
  plan.kind = kernel_kind::small;
  plan.shape = shape_of_problem(p);
  plan.small.step = plan.shape;
  plan.small.step.batch.clear();
  plan.small.inner = {p.batch, 0, 0, 0};
  plan.small.pointers = true;
  plan.config = choose_small(plan.small, current_device().machine);
  launch(plan, x, {}, stream);
}

}  // namespace ricci
