// From a program to launches.
#include "gpu/executable.hpp"

#include <algorithm>
#include <future>
#include <unordered_map>

#include <ricci/core/error.hpp>

#include "gpu/program_parts.hpp"
#include "gpu/transposed.hpp"

namespace ricci::cuda {
namespace {

constexpr std::int64_t line = 256;

std::int64_t bytes_of(const temporary& t) {
  return (t.size * static_cast<std::int64_t>(size_of(t.type)) + line - 1) / line * line;
}

/// First gap that is free from the kernel that writes a temporary to the last that reads it.
void place_temporaries(planning::work& w, const std::vector<program_part>& parts, program_plan& p) {
  std::vector<temporary*> placed;
  for (temporary& t : w.temporaries) t.born = -1;
  const auto visit = [&](const operand& x, int part) {
    if (x.where != operand::kind::temporary) return;
    const auto& chain = parts[static_cast<std::size_t>(part)].chain;
    if (chain && !chain->outside[static_cast<std::size_t>(x.id)]) return;
    temporary& t = w.temporaries[static_cast<std::size_t>(x.id)];
    if (t.born < 0) t.born = part;
    t.dies = part;
  };
  for (int n = 0; n < static_cast<int>(parts.size()); ++n)
    for (int s = parts[static_cast<std::size_t>(n)].first; s < parts[static_cast<std::size_t>(n)].last; ++s)
      for_each_operand(w.ops[static_cast<std::size_t>(s)], [&](const operand& x) { visit(x, n); });
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
  at.where = x.where, at.bytes = static_cast<int>(size_of(x.type));
  if (x.where == operand::kind::external) at.slot = x.id;
  if (x.where == operand::kind::temporary) at.offset = w.temporaries[static_cast<std::size_t>(x.id)].offset;
  return at;
}

int rank_of(int alignment) { return alignment >= 16 ? 0 : alignment >= 8 ? 1 : alignment >= 4 ? 2 : 3; }

void scale(const coefficient& c, const std::complex<double>* scalars, double (&to)[2]) {
  const std::complex<double> x = value_of(c, scalars);
  to[0] = x.real(), to[1] = x.imag();
}

/// Plans the step of a launch and adds it to the program's sums and workspace.
void plan_launch(launch_plan& l, const step_shape& shape, const gpu_machine& m, program_plan& p) {
  l.step = plan_step(shape, m);
  const std::int64_t partial = partial_bytes(l.step);
  l.partials = partial > 0 ? p.workspace : -1;
  p.workspace += (partial + line - 1) / line * line;
  p.flops += l.step.shape.has_a ? l.step.flops : 0;
  p.bytes += l.step.bytes;
  p.bound_seconds += l.step.bound_seconds;
}

/// `shape` is that of a contraction.
launch_plan launch_of(program_part part, const step_shape& shape, const planning::work& w, const gpu_machine& m, program_plan& p) {
  launch_plan l;
  l.op = part.first;
  if (part.chain) {
    l.chain = std::move(part.chain);
    for (const operand& x : pointers_of(*l.chain)) l.pointers.push_back(place_of(x, w));
    l.scalars = scalars_of(*l.chain);
    p.flops += l.chain->flops, p.bytes += l.chain->bytes, p.bound_seconds += l.chain->bound_seconds;
    return l;
  }
  if (part.tiles) {
    l.tiles = std::move(part.tiles);
    for (const operand& x : pointers_of(*l.tiles)) l.pointers.push_back(place_of(x, w));
    l.scalars = scalars_of(*l.tiles);
    p.flops += l.tiles->flops, p.bytes += l.tiles->bytes, p.bound_seconds += l.tiles->bound_seconds;
    return l;
  }
  const pair_op& op = w.ops[static_cast<std::size_t>(part.first)];
  if (op.what != action::contract) throw error(errc::gpu_failed, "the statement of " + op.c.name + " has too many factors for a kernel");
  l.places = {place_of(op.a, w), place_of(op.b, w), place_of(op.c, w)};
  plan_launch(l, shape, m, p);
  return l;
}

bool runs_rows_together(const step_plan& p) { return p.kind == kernel_kind::small && !p.blas.used && p.small.rows > 1 && shares_small_factor(p.small); }

/// One launch, or two where a few rows are better off in one of their own.
void add_launches(program_part part, const planning::work& w, const gpu_machine& m, const std::vector<std::int64_t>& extents, program_plan& p) {
  const pair_op& op = w.ops[static_cast<std::size_t>(part.first)];
  const bool is_step = !part.chain && !part.tiles && op.what == action::contract;
  step_shape shape = is_step ? shape_of(op, extents) : step_shape{};
  odd_rows odd = is_step ? find_odd_rows(shape) : odd_rows{};
  if (odd.count > 0) {
    (shape.*odd.group)[0].extent -= odd.count;
    if (!runs_rows_together(plan_step(shape, m))) (shape.*odd.group)[0].extent += odd.count, odd = {};
  }
  p.launches.push_back(launch_of(std::move(part), shape, w, m, p));
  if (odd.count == 0) return;
  axis& rows = (shape.*odd.group)[0];
  launch_plan rest;
  rest.op = p.launches.back().op;
  rest.places = p.launches.back().places;
  const std::int64_t strides[] = {shape.swapped ? rows.b : rows.a, shape.swapped ? rows.a : rows.b, rows.c};  // of the operation's factors, as places are
  for (std::size_t x = 0; x < 3; ++x) rest.places[x].offset += rows.extent * strides[x] * rest.places[x].bytes;
  rows.extent = odd.count;
  plan_launch(rest, shape, m, p);
  p.launches.push_back(std::move(rest));
}

std::string name_of_slot(const program_plan& p, int slot) {
  std::string name = "a tensor";
  for (const pair_op& op : p.ops)
    for_each_operand(op, [&](const operand& x) {
      if (x.where == operand::kind::external && x.id == slot) name = x.name;
    });
  return name;
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

program placed_on_gpu(program p) {
  for (statement& s : p.statements) {
    s.left.space = memory_space::gpu;
    for (product& t : s.terms)
      for (reference& f : t.factors) f.space = memory_space::gpu;
  }
  return p;
}

program_plan make_program_plan(const program& source, const gpu_machine& machine, const options& o) {
  gpu_machine m = machine;
  if (o.deterministic) m.blas = blas_use::never, m.tuned = nullptr;  // which of its kernels runs is the library's own affair
  program_plan p;
  planning::work w = ordered_work(source, o, m);
  std::vector<program_part> parts = parts_of(w, m);
  place_temporaries(w, parts, p);
  std::vector<std::int64_t> extents;
  for (const label_info& l : w.source.labels) extents.push_back(l.extent);
  for (program_part& part : parts) {
    transposed_product t;
    if (!part.chain && !part.tiles) {
      const pair_op& op = w.ops[static_cast<std::size_t>(part.first)];
      const int first = static_cast<int>(w.temporaries.size());
      t = by_moving_windows(op, extents, m, first);
      if (t.ops.empty()) t = by_transposition(op, extents, m, first);
    }
    for (const label_info& l : t.labels) w.source.labels.push_back(l), extents.push_back(l.extent);
    for (temporary& room : t.temporaries) {
      room.offset = p.workspace;
      p.workspace += bytes_of(room);
      w.temporaries.push_back(std::move(room));
    }
    if (t.ops.empty()) add_launches(std::move(part), w, m, extents, p);
    for (pair_op& op : t.ops) {
      program_part piece;
      piece.first = static_cast<int>(w.ops.size()), piece.last = piece.first + 1;
      w.ops.push_back(std::move(op));
      add_launches(std::move(piece), w, m, extents, p);
    }
  }
  p.ops = std::move(w.ops);
  p.notes = std::move(w.notes);
  p.source = std::move(w.source);
  return p;
}

/// Kernels by step and alignment: a slot is filled once and never changes, so that readers need no lock.
struct executable::variants {
  static constexpr std::size_t per_pass = 64, per_step = step_passes::most * per_pass;
  explicit variants(std::size_t steps) : known(steps * per_step) {}
  std::mutex lock;
  std::deque<kernel> kernels;
  std::vector<std::atomic<const kernel*>> known;
};

namespace {

/// The plan for the current device; without the vendor's library if that is wanted but cannot be found.
program_plan plan_here(const program& p, const options& o) {
  gpu_machine m = current_device().machine;
  program_plan made = make_program_plan(p, m, o);
  const auto wants_it = [](const launch_plan& l) { return l.step.blas.used; };
  if (std::none_of(made.launches.begin(), made.launches.end(), wants_it) || find_blas().missing.empty()) return made;
  m.blas = blas_use::never;
  return make_program_plan(p, m, o);
}

}  // namespace

executable::executable(const program& p, const options& o) : executable(plan_here(p, o)) {}

executable::executable(program_plan p)
    : device_(current_device()), plan_(std::move(p)),
      variants_(std::make_shared<variants>(plan_.launches.size())) {
  // A kernel takes a fifth of a second to compile, the library to be made ready as long: all at once.
  const std::size_t launches = plan_.launches.size(), hands = std::min<std::size_t>(launches, 8);
  const auto share = [&](std::size_t first) {
    for (std::size_t s = first; s < launches; s += hands) prepare(s);
  };
  std::vector<std::future<void>> others;
  for (std::size_t h = 1; h < hands; ++h) others.push_back(std::async(std::launch::async, share, h));
  if (launches > 0) share(0);
  for (std::future<void>& f : others) f.get();
}

void executable::prepare(std::size_t launch) {
  launch_plan& l = plan_.launches[launch];
  if (l.chain) settle(*l.chain, device_.machine);
  if (!l.chain && !l.tiles && settle_blas(l.step)) return;
  if (l.chain || l.tiles) kernel_of(launch, {}, 0);
  else
    for (std::size_t pass = 0; pass < passes_of(l.step).count; ++pass) kernel_of(launch, {}, pass);
}

/// True if the step is the vendor's library's and that is there; else an own kernel does it.
bool executable::settle_blas(step_plan& p) const {
  if (!p.blas.used) return false;
  p.blas.used = prepare_blas(device_);
  return p.blas.used;
}

const kernel& executable::kernel_of(std::size_t launch, const alignments& at, std::size_t pass) const {
  const std::size_t index = launch * variants::per_step + pass * variants::per_pass + static_cast<std::size_t>(rank_of(at.a) * 16 + rank_of(at.b) * 4 + rank_of(at.c));
  if (const kernel* known = variants_->known[index].load(std::memory_order_acquire)) return *known;
  const launch_plan& l = plan_.launches[launch];
  const kernel made = load_kernel(device_, l.chain ? request_of(*l.chain) : l.tiles ? request_of(*l.tiles) : request_of(*passes_of(l.step).all[pass].plan, at));
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
  const auto check_one = [&](const place& x) {
    if (x.where != operand::kind::external) return;
    const void* const pointer = b.pointers[x.slot];
    if (reinterpret_cast<std::uintptr_t>(pointer) % static_cast<std::uintptr_t>(x.bytes) != 0)
      throw error(errc::bad_argument, "the data of " + name_of_slot(plan_, x.slot) + " is not at a multiple of " + std::to_string(x.bytes) + " bytes, the size of its elements, as a GPU wants it");
    const auto known = std::find_if(recent.begin(), recent.end(), [&](const answer& a) { return a.pointer == pointer && pointer; });
    if (known != recent.end() && known->owner == device_.ordinal) return;
    const int owner = owner_of(pointer);  // also where another GPU is known: that memory may have been freed since
    if (known != recent.end()) known->owner = owner;
    else if (owner >= 0) recent[next++ % recent.size()] = {pointer, owner};
    if (owner == device_.ordinal) return;
    const std::string name = name_of_slot(plan_, x.slot);
    if (!pointer) throw error(errc::bad_argument, "the data of " + name + " is null");
    if (owner < 0) throw error(errc::wrong_space, name + " is said to be in GPU memory but its data is not");
    throw error(errc::wrong_space, name + " is in the memory of GPU " + std::to_string(owner) + ", the plan is for GPU " + std::to_string(device_.ordinal));
  };
  for (const launch_plan& l : plan_.launches) {
    for (const place& x : l.places) check_one(x);
    for (const place& x : l.pointers) check_one(x);
  }
}

void executable::launch_step(std::size_t launch, const operands& x, cu_stream stream, const char* scratch) const {
  const driver& cuda = need_driver();
  const launch_plan& l = plan_.launches[launch];
  const step_passes passes = passes_of(l.step);
  for (std::size_t n = 0; n < passes.count; ++n) {
    const step_plan& p = *passes.all[n].plan;
    const operands given = operands_of(passes.all[n], x, const_cast<char*>(scratch) + std::max<std::int64_t>(0, l.partials));
    const void *a = given.a, *b = given.b;
    if (p.shape.swapped) std::swap(a, b);
    if (p.blas.used && run_blas(p.shape, p.blas, a, b, given.c, given.alpha, given.beta, device_, stream)) continue;
    const alignments at = alignments_of(p.shape, a, b, given.c);
    const bool matters = (p.kind != kernel_kind::permute || p.turn.used()) && (p.kind != kernel_kind::general || p.general.run.count > 1);
    const kernel& k = kernel_of(launch, matters ? at : alignments{}, n);
    packed_args args = pack(p, given, k, device_.machine);
    void* list[] = {args.bytes};
    check(cuda.launch(k.function, args.grid, 1, 1, static_cast<unsigned>(threads_of(p)), 1, 1, k.shared_bytes, stream, list, nullptr),
          [&] { return "launching the kernel for " + plan_.ops[static_cast<std::size_t>(l.op)].c.name; });
  }
}

void executable::launch_chain(std::size_t launch, const bindings& b, cu_stream stream, char* scratch) const {
  const launch_plan& l = plan_.launches[launch];
  const kernel& k = kernel_of(launch, {}, 0);
  chain_args args(*l.chain, device_.machine.multiprocessors);
  for (const place& p : l.pointers) args.add(p.where == operand::kind::external ? b.pointers[p.slot] : scratch + p.offset);
  args.add_counts();
  for (const coefficient& c : l.scalars) {
    double x[2];
    scale(c, b.scalars, x);
    args.add(x);
  }
  void* list[] = {args.bytes()};
  check(need_driver().launch(k.function, args.grid(), 1, 1, static_cast<unsigned>(l.chain->config.threads), 1, 1, k.shared_bytes, stream, list, nullptr),
        [&] { return "launching the kernel for " + plan_.ops[static_cast<std::size_t>(l.op)].c.name; });
}

void executable::launch_tiles(std::size_t launch, const bindings& b, cu_stream stream) const {
  const launch_plan& l = plan_.launches[launch];
  const kernel& k = kernel_of(launch, {}, 0);
  const std::int64_t tiles = tiles_of(*l.tiles);
  argument_list args;
  for (const place& p : l.pointers) args.add(b.pointers[p.slot]);
  args.add(tiles);
  for (const coefficient& c : l.scalars) {
    double x[2];
    scale(c, b.scalars, x);
    args.add(x);
  }
  void* list[] = {args.bytes()};
  check(need_driver().launch(k.function, grid_of(*l.tiles), 1, 1, static_cast<unsigned>(l.tiles->threads), 1, 1, k.shared_bytes, stream, list, nullptr),
        [&] { return "launching the kernel for " + plan_.ops[static_cast<std::size_t>(l.op)].c.name; });
}

void executable::run(const bindings& b, void* stream_handle) const {
  if (plan_.launches.empty()) return;
  check_pointers(b);
  const driver& cuda = need_driver();
  const use_device use(device_);
  const auto stream = static_cast<cu_stream>(stream_handle);
  cu_pointer scratch = 0;
  if (plan_.workspace > 0)
    check(cuda.pool_allocate(&scratch, static_cast<std::size_t>(plan_.workspace), device_.pool, stream),
          [&] { return "reserving " + std::to_string(plan_.workspace) + " bytes for temporaries on " + device_.machine.name; });
  struct keeper {
    cu_pointer memory;
    cu_stream stream;
    ~keeper() {
      if (memory) find_driver().pool_free(memory, stream);
    }
  } const held{scratch, stream};
  char* const workspace = reinterpret_cast<char*>(scratch);
  for (std::size_t n = 0; n < plan_.launches.size(); ++n) {
    const launch_plan& l = plan_.launches[n];
    if (l.chain) {
      launch_chain(n, b, stream, workspace);
      continue;
    }
    if (l.tiles) {
      launch_tiles(n, b, stream);
      continue;
    }
    operands x;
    const auto pointer = [&](const place& p) -> void* {
      if (p.where == operand::kind::external) return static_cast<char*>(b.pointers[p.slot]) + p.offset;
      return p.where == operand::kind::temporary ? workspace + p.offset : nullptr;
    };
    x.a = pointer(l.places[0]), x.b = pointer(l.places[1]), x.c = pointer(l.places[2]);
    const pair_op& op = plan_.ops[static_cast<std::size_t>(l.op)];
    scale(op.alpha, b.scalars, x.alpha);
    scale(op.beta, b.scalars, x.beta);
    launch_step(n, x, stream, workspace);
  }
}

std::string executable::describe() const { return to_string(plan_, device_.machine, &device_); }

}  // namespace ricci::cuda
