// Several plans run one after the other: statements over interleaved tensors.
#include <algorithm>
#include <ostream>
#include <utility>

#include <ricci/core/error.hpp>
#include <ricci/core/memory.hpp>
#include <ricci/tensor/tensor.hpp>

#include "front/recipe.hpp"

namespace ricci::detail {
namespace {

constexpr std::size_t usual_slots = 32;

/// Memory for the copies of one run. That of the GPU is given back when all that was enqueued is done.
class copies {
 public:
  copies(const std::vector<std::int64_t>& bytes, memory_space space) : space_(space) {
    try {
      for (const std::int64_t b : bytes)
        at_.push_back(static_cast<char*>(on_gpu() ? allocate_gpu(b, 1) : allocate(static_cast<std::size_t>(b), 64, true, "a copy")));
    } catch (...) {
      free_all();
      throw;
    }
  }
  ~copies() { free_all(); }
  copies(const copies&) = delete;
  copies& operator=(const copies&) = delete;
  char* operator[](int c) const { return at_[static_cast<std::size_t>(c)]; }

 private:
  void free_all() {
    for (char* p : at_) on_gpu() ? release_gpu(p) : release(p);
  }
  bool on_gpu() const { return space_ == memory_space::gpu; }
  const memory_space space_;
  std::vector<char*> at_;
};

/// Index tensors are checked before the program is cut, so that a bad entry has its place in the whole of them; those that are
/// interleaved are checked piece by piece.
options check_tables(const front_call& call, const lowering& low, const options& o) {
  options rest = o;
  const bool on_host = call.program->leaves[low.slots[0].leaf].space == memory_space::host;
  const auto tables = std::count_if(low.slots.begin(), low.slots.end(), [](const slot_use& s) { return s.is_table; });
  const auto plain = std::count_if(low.slots.begin(), low.slots.end(), [](const slot_use& s) { return s.is_table && s.width == 0; });
  if (!o.check_indices || !on_host || tables == 0 || plain < tables) return rest;
  bind(call, low);
  check_indices(make_program(call, low, naming::by_memory), {call.pointers, call.coefficients});
  rest.check_indices = false;
  return rest;
}

}  // namespace

recipe::recipe(lowered_parts parts, const options& o, const void* const* bases)
    : copies_(std::move(parts.copies)), kept_(std::move(parts.kept)), space_(parts.space) {
  for (const lowered_part& p : parts.parts) {
    std::vector<void*> pointers;  // for the tables alone, which are not copied by runs
    for (const lowered_part::source& s : p.slots) {
      const char* const base = s.kept >= 0 ? kept_[static_cast<std::size_t>(s.kept)].data() : s.leaf < 0 ? nullptr : static_cast<const char*>(bases[s.leaf]);
      pointers.push_back(const_cast<char*>(base ? base + s.offset : nullptr));
    }
    steps_.push_back({compile(p.what, o, {pointers.data(), nullptr}), p.slots});
  }
}

void recipe::run(const void* const* bases, const std::complex<double>* coefficients, void* stream) const {
  const copies mine(copies_, space_);
  void* few[usual_slots];
  std::vector<void*> many;
  if (steps_.size() > 1)  // what the first plan stores cannot be computed again
    for (const step& s : steps_) reserve(*s.code);
  for (const step& s : steps_) {
    void** pointers = few;
    if (s.slots.size() > usual_slots) many.resize(s.slots.size()), pointers = many.data();
    for (std::size_t i = 0; i < s.slots.size(); ++i) {
      const lowered_part::source& from = s.slots[i];
      const char* const base = from.copy >= 0   ? mine[from.copy]
                               : from.kept >= 0 ? kept_[static_cast<std::size_t>(from.kept)].data()
                               : from.leaf < 0  ? nullptr
                                                : static_cast<const char*>(bases[from.leaf]);
      pointers[i] = base ? const_cast<char*>(base + from.offset) : nullptr;
    }
    if (stream) ricci::run(*s.code, {pointers, coefficients}, stream);
    else ricci::run(*s.code, {pointers, coefficients});
  }
}

double recipe::flops() const {
  double sum = 0;
  for (const step& s : steps_) sum += ricci::flops(*s.code);
  return sum;
}

double recipe::bytes() const {
  double sum = 0;
  for (const step& s : steps_) sum += ricci::bytes(*s.code);
  return sum;
}

void recipe::print(std::ostream& out) const {
  if (!copies_.empty()) out << copies_.size() << " interleaved operands are copied to plain memory and back\n";
  for (const step& s : steps_) {
    if (steps_.size() > 1) out << "part " << &s - steps_.data() + 1 << " of " << steps_.size() << '\n';
    out << describe(*s.code);
  }
}

std::shared_ptr<const executable> prepare(const front_call& call, const options& o) {
  return with_memory_for_plan([&] {
    const lowering low = resolve(call);
    bind(call, low);
    const program p = make_program(call, low, naming::by_memory);
    return compile(p, o, {call.pointers, call.coefficients});
  });
}

std::shared_ptr<const recipe> prepare_recipe(const front_call& call, const options& o) {
  return with_memory_for_plan([&] {
    const lowering low = resolve(call);
    const options checked = check_tables(call, low, o);
    bind_coefficients(call);
    return std::make_shared<const recipe>(lower_interleaved(call, low, naming::by_memory, o), checked, call.bases);
  });
}

void run(const recipe& r, const front_call& call) { r.run(call.bases, call.coefficients, call.stream); }
double flops(const recipe& r) { return r.flops(); }
double bytes(const recipe& r) { return r.bytes(); }
void print_plan(std::ostream& out, const recipe& r) { r.print(out); }

}  // namespace ricci::detail
