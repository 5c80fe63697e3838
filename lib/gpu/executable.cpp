// From a program to launches.
#include "gpu/executable.hpp"

#include <algorithm>
#include <unordered_map>

#include <ricci/core/error.hpp>

namespace ricci::cuda {
namespace {

constexpr std::int64_t line = 256;

std::int64_t bytes_of(const temporary& t) {
  return (t.size * static_cast<std::int64_t>(size_of(t.type)) + line - 1) / line * line;
}

/// First gap that is free from the step that writes a temporary to the last that reads it.
void place_temporaries(planning::work& w, program_plan& p) {
  std::vector<temporary*> placed;
  for (temporary& t : w.temporaries) t.born = -1;
  const auto visit = [&](const operand& x, int step) {
    if (x.where != operand::kind::temporary) return;
    temporary& t = w.temporaries[static_cast<std::size_t>(x.id)];
    if (t.born < 0) t.born = step;
    t.dies = step;
  };
  for (int s = 0; s < static_cast<int>(w.ops.size()); ++s)
    for (const operand* x : {&w.ops[static_cast<std::size_t>(s)].a, &w.ops[static_cast<std::size_t>(s)].b, &w.ops[static_cast<std::size_t>(s)].c}) visit(*x, s);
  for (temporary& t : w.temporaries) {
    if (t.born < 0) continue;
    t.offset = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (const temporary* other : placed) {
        if (t.dies < other->born || other->dies < t.born) continue;
        if (t.offset + bytes_of(t) <= other->offset || other->offset + bytes_of(*other) <= t.offset) continue;
        t.offset = other->offset + bytes_of(*other);
        moved = true;
      }
    }
    placed.push_back(&t);
    p.workspace = std::max(p.workspace, t.offset + bytes_of(t));
  }
}

place place_of(const operand& x, const planning::work& w) {
  place at;
  at.where = x.where;
  if (x.where == operand::kind::external) at.slot = x.id;
  if (x.where == operand::kind::temporary) at.offset = w.temporaries[static_cast<std::size_t>(x.id)].offset;
  return at;
}

int rank_of(int alignment) { return alignment >= 16 ? 0 : alignment >= 8 ? 1 : alignment >= 4 ? 2 : 3; }

void scale(const coefficient& c, const std::complex<double>* scalars, double (&to)[2]) {
  std::complex<double> x = c.base;
  if (c.scalar >= 0) x *= scalars[c.scalar];
  for (const auto& [slot, sign] : c.more) x += sign * scalars[slot];
  to[0] = x.real(), to[1] = x.imag();
}

}  // namespace

bool on_gpu(const program& p) {
  for (const statement& s : p.statements) {
    if (s.left.local < 0 && s.left.space == memory_space::gpu) return true;
    for (const product& t : s.terms)
      for (const reference& f : t.factors)
        if (f.local < 0 && f.space == memory_space::gpu) return true;
  }
  return false;
}

program_plan make_program_plan(const program& source, const gpu_machine& m, const options& o) {
  program_plan p;
  planning::work w = planning::make_work(source, o);
  planning::choose_layouts(w, -1);
  place_temporaries(w, p);
  std::vector<std::int64_t> extents;
  for (const label_info& l : w.source.labels) extents.push_back(l.extent);
  for (const pair_op& op : w.ops) {
    if (op.what != action::contract)
      throw error(errc::no_gpu, "the GPU backend has no pointwise functions and index tensors yet");
    p.steps.push_back(plan_step(shape_of(op, extents), m));
    p.places.push_back({place_of(op.a, w), place_of(op.b, w), place_of(op.c, w)});
    const step_plan& s = p.steps.back();
    p.partials.push_back(partial_bytes(s) > 0 ? p.workspace : -1);
    p.workspace += (partial_bytes(s) + line - 1) / line * line;
    p.flops += s.shape.has_a ? s.flops : 0;
    p.bytes += s.bytes;
    p.bound_seconds += s.bound_seconds;
  }
  p.ops = std::move(w.ops);
  p.notes = std::move(w.notes);
  p.source = std::move(w.source);
  return p;
}

/// Kernels by step and alignment: a slot is filled once and never changes, so that readers need no lock.
struct executable::variants {
  static constexpr int per_step = 2 * 64;
  explicit variants(std::size_t steps) : known(steps * per_step) {}
  std::mutex lock;
  std::deque<kernel> kernels;
  std::vector<std::atomic<const kernel*>> known;
};

executable::executable(const program& p, const options& o)
    : device_(current_device()), plan_(make_program_plan(p, device_.machine, o)),
      variants_(std::make_shared<variants>(plan_.steps.size())) {
  for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
    kernel_of(s, {}, false);
    if (plan_.partials[s] >= 0) kernel_of(s, {}, true);
  }
}

const kernel& executable::kernel_of(std::size_t step, const alignments& at, bool last) const {
  const std::size_t index = step * variants::per_step + (last ? 64 : 0) + static_cast<std::size_t>(rank_of(at.a) * 16 + rank_of(at.b) * 4 + rank_of(at.c));
  if (const kernel* known = variants_->known[index].load(std::memory_order_acquire)) return *known;
  const kernel made = load_kernel(device_, request_of(plan_.steps[step], at, last));
  const std::lock_guard guard(variants_->lock);
  if (const kernel* known = variants_->known[index].load(std::memory_order_acquire)) return *known;
  variants_->kernels.push_back(made);
  variants_->known[index].store(&variants_->kernels.back(), std::memory_order_release);
  return variants_->kernels.back();
}

/// Memory that the GPU cannot reach would be a sticky error, so it is asked for before anything starts. A thread
/// remembers the last few answers.
void executable::check_pointers(const bindings& b) const {
  struct answer {
    const void* pointer;
    int owner;
  };
  thread_local std::array<answer, 16> recent{};
  thread_local unsigned next = 0;
  for (const auto& places : plan_.places)
    for (const place& x : places) {
      if (x.where != operand::kind::external) continue;
      const void* const pointer = b.pointers[x.slot];
      const auto known = std::find_if(recent.begin(), recent.end(), [&](const answer& a) { return a.pointer == pointer && pointer; });
      const int owner = known != recent.end() ? known->owner : owner_of(pointer);
      if (known == recent.end() && owner >= 0) recent[next++ % recent.size()] = {pointer, owner};
      if (owner == device_.ordinal) continue;
      std::string name = "a tensor";
      for (const auto& op : plan_.ops)
        for (const operand* y : {&op.a, &op.b, &op.c})
          if (y->where == operand::kind::external && y->id == x.slot) name = y->name;
      if (!pointer) throw error(errc::bad_argument, "the data of " + name + " is null");
      if (owner < 0) throw error(errc::wrong_space, name + " is said to be in GPU memory but its data is not");
      throw error(errc::wrong_space, name + " is in the memory of GPU " + std::to_string(owner) + ", the plan is for GPU " + std::to_string(device_.ordinal));
    }
}

void executable::launch(std::size_t step, const operands& x, cu_stream stream, const char* scratch) const {
  const driver& cuda = need_driver();
  const step_plan& p = plan_.steps[step];
  const auto one_pass = [&](const operands& given, bool last) {
    const void *a = given.a, *b = given.b;
    if (p.shape.swapped) std::swap(a, b);
    const alignments at = alignments_of(p.shape, a, b, given.c);
    const bool matters = p.kind == kernel_kind::small || p.kind == kernel_kind::tile;
    const kernel& k = kernel_of(step, matters ? at : alignments{}, last);
    packed_args args = pack(p, given, k, device_.machine, last);
    void* list[] = {args.bytes};
    check(cuda.launch(k.function, args.grid, 1, 1, static_cast<unsigned>(threads_of(p)), 1, 1, k.shared_bytes, stream, list, nullptr),
          "launching the kernel for " + plan_.ops[step].c.name);
  };
  if (plan_.partials[step] < 0) return one_pass(x, false);
  char* const partial = const_cast<char*>(scratch) + plan_.partials[step];
  operands first = x, last = x;
  first.c = partial;
  first.alpha[0] = 1, first.alpha[1] = 0;
  last.a = nullptr, last.b = partial;
  if (p.shape.swapped) std::swap(last.a, last.b);
  one_pass(first, false);
  one_pass(last, true);
}

void executable::run(const bindings& b, void* stream_handle) const {
  if (plan_.steps.empty()) return;
  check_pointers(b);
  const driver& cuda = need_driver();
  const use_device use(device_);
  const auto stream = static_cast<cu_stream>(stream_handle);
  cu_pointer scratch = 0;
  if (plan_.workspace > 0)
    check(cuda.pool_allocate(&scratch, static_cast<std::size_t>(plan_.workspace), device_.pool, stream),
          "reserving " + std::to_string(plan_.workspace) + " bytes for temporaries on " + device_.machine.name);
  struct keeper {
    cu_pointer memory;
    cu_stream stream;
    ~keeper() {
      if (memory) find_driver().pool_free(memory, stream);
    }
  } const held{scratch, stream};
  char* const workspace = reinterpret_cast<char*>(scratch);
  for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
    operands x;
    const auto pointer = [&](const place& p) -> void* {
      if (p.where == operand::kind::external) return b.pointers[p.slot];
      return p.where == operand::kind::temporary ? workspace + p.offset : nullptr;
    };
    x.a = pointer(plan_.places[s][0]), x.b = pointer(plan_.places[s][1]), x.c = pointer(plan_.places[s][2]);
    scale(plan_.ops[s].alpha, b.scalars, x.alpha);
    scale(plan_.ops[s].beta, b.scalars, x.beta);
    launch(s, x, stream, workspace);
  }
}

std::string executable::describe() const { return to_string(plan_, device_.machine, &device_); }

}  // namespace ricci::cuda
