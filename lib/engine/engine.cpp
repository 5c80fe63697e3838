// compile: a program becomes an executable, remembered by its value. run, describe.
#include <ricci/core/error.hpp>
#include <ricci/core/memory.hpp>
#include <ricci/engine/engine.hpp>
#include <ricci/engine/tables.hpp>

#include <omp.h>

#include <mutex>
#include <new>
#include <unordered_map>

#include "engine/explain.hpp"
#include "engine/single.hpp"
#include "engine/tables.hpp"
#include "gpu/executable.hpp"
#include "gpu/tables.hpp"

namespace ricci {

class executable {
 public:
  executable(const program& p, const options& o) : made_(std::make_shared<const parts>(p, o)) {
    if (!made_->decisions.stages.empty() || bound().calls.empty()) return;
    calls_ = &bound();
    if (calls_->calls.size() == 1 && calls_->calls_bytes == 0) alone_ = &calls_->calls[0];
  }
  /// The same with what its tables say, stage by stage.
  executable(const executable& other, std::vector<read_tables> tables) : made_(other.made_), tables_(std::move(tables)) {}

  const plan& decisions() const { return made_->decisions; }
  /// The plan itself, or its stages.
  std::size_t stages() const { return made_->bounds.size(); }
  const plan& stage(std::size_t i) const { return made_->decisions.stages.empty() ? made_->decisions : made_->decisions.stages[i]; }
  const bound_plan& bound(std::size_t i = 0) const { return made_->bounds[i]; }
  const read_tables& tables(std::size_t i = 0) const {
    static const read_tables& none = *new read_tables;
    return tables_.empty() ? none : tables_[i];
  }
  const cuda::executable* gpu() const { return made_->gpu.get(); }
  /// Of what grows with the problem: lists and code.
  std::int64_t large_bytes() const { return made_->listed_bytes() + made_->code_bytes; }
  /// The plan, if it is a list of kernel calls, and the call, if it is one without scratch; else null.
  const bound_plan* calls() const { return calls_; }
  const single_call* alone() const { return alone_; }

 private:
  struct parts {
    parts(const program& p, const options& o) {
      const std::size_t before = codegen::written_bytes();
      if (cuda::on_gpu(p)) {
        gpu = std::make_unique<cuda::executable>(p, o);
        bounds.emplace_back();
        return;
      }
      try {
        make(p, this_machine(), o);
      } catch (const kernel_refused&) {
        machine compiled_only = this_machine();
        compiled_only.writes_kernels = false;
        make(p, compiled_only, o);
      }
      code_bytes = static_cast<std::int64_t>(codegen::written_bytes() - before);
    }

    /// Of the lists that grow with extents.
    std::int64_t listed_bytes() const {
      std::size_t numbers = 0;
      for (const bound_plan& b : bounds)
        for (const bound_segment& g : b.segments)
          for (const bound_step& s : g.steps) {
            numbers += s.offsets.size() + s.blocked.real_rows.size();
            const flat_lists& l = s.blocked.lists;
            for (const auto* list : {&l.row_a, &l.row_c, &l.col_b, &l.col_c, &l.sum_a, &l.sum_b}) numbers += list->size();
          }
      return static_cast<std::int64_t>(numbers * sizeof(std::int64_t));
    }

    void make(const program& p, const machine& m, const options& o) {
      decisions = make_plan(p, m, o);
      bounds.clear();
      if (decisions.stages.empty()) bounds.push_back(bind(decisions, kernels::best(), o));
      for (const plan& stage : decisions.stages) bounds.push_back(bind(stage, kernels::best(), o));
    }

    plan decisions;
    std::vector<bound_plan> bounds;
    std::int64_t code_bytes = 0;
    std::unique_ptr<cuda::executable> gpu;  // instead of the two, if the tensors are in GPU memory
  };
  const bound_plan* calls_ = nullptr;
  const single_call* alone_ = nullptr;
  std::shared_ptr<const parts> made_;
  std::vector<read_tables> tables_;
};

namespace {

/// The caller's pointers and, behind them, those of the tensors between stages; both are in memory of this thread.
bindings with_tensors_between(const plan& p, const bindings& b) {
  const auto slots = static_cast<std::size_t>(p.source.slot_count);
  const auto rounded = [](std::int64_t bytes) { return (bytes + 4095) / 4096 * 4096 + 128; };
  std::int64_t all = 0;
  for (std::int64_t bytes : p.between) all += rounded(bytes);
  char* at = between_stages(all + static_cast<std::int64_t>((slots + p.between.size()) * sizeof(void*)));
  void** const pointers = reinterpret_cast<void**>(at + all);
  if (b.pointers) std::copy(b.pointers, b.pointers + slots, pointers);
  for (std::size_t n = 0; n < p.between.size(); ++n) pointers[slots + n] = at, at += rounded(p.between[n]);
  return {pointers, b.scalars};
}

/// Plans that are remembered before the memory is emptied.
constexpr std::size_t most_remembered = 4096;

void append(std::string& key, std::int64_t x) { key.append(reinterpret_cast<const char*>(&x), sizeof x); }

void append(std::string& key, const reference& r) {
  append(key, r.slot), append(key, r.local), append(key, static_cast<int>(r.type) * 4 + static_cast<int>(r.space) * 2 + r.conj);
  append(key, static_cast<std::int64_t>(r.name.size())), key += r.name;
  append(key, static_cast<std::int64_t>(r.axes.size()));
  for (const auto& x : r.axes) append(key, x.label), append(key, x.stride);
  append(key, static_cast<int>(r.apply) * 8 + r.within_line * 4 + r.parity + 1), append(key, r.memory);
  append(key, static_cast<std::int64_t>(r.lookups.size()));
  for (const lookup& x : r.lookups) {
    append(key, x.slot), append(key, x.wide), append(key, x.stride), append(key, x.extent), append(key, x.axis);
    append(key, x.memory), append(key, static_cast<std::int64_t>(x.name.size())), key += x.name;
    append(key, static_cast<std::int64_t>(x.axes.size()));
    for (const auto& y : x.axes) append(key, y.label), append(key, y.stride);
  }
}

/// The program as bytes; equal exactly for equal programs and options but for check_indices, of which plans know nothing.
std::string key_of(const program& p, const options& o) {
  std::string key;
  append(key, o.strict + 2 * o.deterministic + 4 * std::int64_t{o.threads});
  append(key, static_cast<std::int64_t>(p.labels.size()));
  for (const label_info& l : p.labels) append(key, static_cast<std::int64_t>(l.name.size())), key += l.name, append(key, l.extent);
  append(key, p.local_count), append(key, p.slot_count), append(key, p.scalar_count);
  for (const statement& s : p.statements) {
    append(key, static_cast<int>(s.op)), append(key, static_cast<std::int64_t>(s.terms.size()));
    append(key, s.left);
    for (const product& t : s.terms) {
      append(key, t.scalar), append(key, t.negate), append(key, static_cast<int>(t.how)), append(key, static_cast<std::int64_t>(t.factors.size()));
      for (const reference& f : t.factors) append(key, f);
    }
  }
  for (const overlap& x : p.overlaps) append(key, x.left_slot), append(key, x.other_slot), append(key, static_cast<int>(x.verdict));
  return key;
}

struct memory {
  std::mutex lock;
  std::unordered_map<std::string, std::shared_ptr<const executable>> plans;
  std::int64_t large_bytes = 0;

  void forget() { plans.clear(), large_bytes = 0; }
};

memory& remembered() {
  static memory& m = *new memory;  // never destroyed: destructors of static objects may run statements
  return m;
}

/// So that run() allocates nothing on this thread. alone: no other takes part.
void reserve(const executable& e, bool alone) {
  if (e.gpu()) return;
  for (std::size_t i = 0; i < e.stages(); ++i) {
    const bound_plan& p = e.bound(i);
    const int threads = alone ? 1 : most_threads(p);
    if (p.has_blocks) workspace(threads * p.own_bytes());
    else workspace(p.temporaries_bytes + threads * p.packs_bytes);
  }
  if (!e.decisions().stages.empty()) with_tensors_between(e.decisions(), {});
}

}  // namespace

void check(const options& o) {
  if (o.threads < 0) throw error(errc::bad_argument, "options::threads is " + std::to_string(o.threads) + "; it is 1 or more, or 0 for OpenMP's choice");
}

namespace {

/// Once more without the plans before, if there is no memory beside them.
std::shared_ptr<const executable> make(const program& p, const options& o) {
  try {
    return std::make_shared<const executable>(p, o);
  } catch (const std::bad_alloc&) {
    memory& m = remembered();
    const std::lock_guard guard(m.lock);
    m.forget();
  }
  return std::make_shared<const executable>(p, o);
}

std::shared_ptr<const executable> find_or_make(const program& p, const options& o) {
  std::string key = key_of(p, o);
  if (cuda::on_gpu(p)) append(key, detail::current_gpu());
  memory& m = remembered();
  {
    const std::lock_guard guard(m.lock);
    if (const auto found = m.plans.find(key); found != m.plans.end()) {
      reserve(*found->second, false);
      return found->second;
    }
  }
  check(p);
  std::shared_ptr<const executable> made = make(p, o);
  reserve(*made, false);
  const std::lock_guard guard(m.lock);
  const std::int64_t bytes = made->large_bytes();
  if (m.plans.size() >= most_remembered || m.large_bytes + bytes > detail::most_large_bytes) m.forget();
  const auto [at, is_first] = m.plans.try_emplace(key, std::move(made));
  if (is_first) m.large_bytes += bytes;
  return at->second;
}

}  // namespace

std::shared_ptr<const executable> compile(const program& p, const options& o) {
  check(o);
  return detail::with_memory_for_plan([&] { return find_or_make(p, o); });
}

std::shared_ptr<const executable> compile(const program& p, const options& o, const bindings& tables) {
  const auto made = compile(p, o);
  if (!has_lookups(p)) return made;
  if (o.check_indices) check_indices(p, made->gpu() ? cuda::host_tables(p, tables).bind() : tables);
  if (made->gpu() || !detail::keeps_tables(*made)) return made;
  std::vector<read_tables> read(made->stages());
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (made->bound(i).scatters) read[i].order = order_of(made->stage(i), made->bound(i), tables);
    if (made->bound(i).has_blocks) read[i].rows = rows_of(made->stage(i), made->bound(i), tables);
  }
  return std::make_shared<const executable>(*made, std::move(read));
}

const bound_plan& bound_of(const executable& e) { return e.bound(); }

void reserve(const executable& e) { reserve(e, omp_in_parallel()); }

namespace {

[[gnu::noinline]] void run_all(const executable& e, const bindings& b) {
  if (e.gpu()) return e.gpu()->run(b, nullptr);
  if (e.decisions().stages.empty()) return execute(e.bound(), b, e.tables());
  reserve(e);  // now: a stage that stored its results cannot run again
  const bindings all = with_tensors_between(e.decisions(), b);
  for (std::size_t i = 0; i < e.stages(); ++i) execute(e.bound(i), all, e.tables(i));
}

}  // namespace

void run(const executable& e, const bindings& b) {
  if (e.alone()) return e.alone()->run(b, nullptr, nullptr);
  if (e.calls()) return run_calls(*e.calls(), b);
  run_all(e, b);
}

void run(const executable& e, const bindings& b, void* stream) {
  if (!e.gpu()) throw error(errc::wrong_space, "a program over host tensors cannot be enqueued on a stream");
  e.gpu()->run(b, stream);
}

std::string describe(const executable& e) {
  if (e.gpu()) return e.gpu()->describe();
  return to_string(e.decisions(), this_machine());
}

std::string describe(const program& p, const machine& m, const options& o) {
  check(o);
  return to_string(make_plan(p, m, o), m, true);
}

bool detail::keeps_tables(const executable& e) {
  if (e.gpu()) return true;
  bool keeps = false;
  for (std::size_t i = 0; i < e.stages(); ++i) keeps = keeps || e.bound(i).has_blocks;
  return keeps;
}

std::int64_t detail::large_bytes(const executable& e) { return e.large_bytes(); }

int detail::current_gpu() { return cuda::current_device().ordinal; }

double flops(const executable& e) { return e.gpu() ? e.gpu()->plan().flops : e.decisions().flops; }

double bytes(const executable& e) { return e.gpu() ? e.gpu()->plan().bytes : e.decisions().bytes; }

}  // namespace ricci
