// Remembered plans: a statement that runs again with the same numbers costs a few comparisons.
//
// The plan depends on the pointers only through how left and factors overlap. So an entry keeps, for each factor, that
// its memory was far from the left's (then any far memory will do) or else the exact distance.
#include <vector>

#include "front/lowering.hpp"
#include "front/recipe.hpp"

namespace ricci::detail {

struct memo_entry {
  struct slot {
    int leaf;
    std::int64_t offset, low, high;  // bytes from the base of the leaf
    std::int64_t distance;           // base minus the left's base
    bool far;
  };
  memo_entry* next = nullptr;
  int gpu = -1;  // whose plan this is; -1: the host's
  std::shared_ptr<const executable> code;
  std::shared_ptr<const recipe> parts;  // instead of code, for interleaved tensors
  std::vector<std::int64_t> numbers;
  std::vector<slot> slots;
};

namespace {

constexpr int most_entries = 8;

void free_all(memo& m) {
  while (memo_entry* e = m.first) {
    m.first = e->next;
    delete e;
  }
}

/// Frees the memos of a thread when it ends.
struct keeper {
  std::vector<memo*> memos;
  ~keeper();
};
thread_local bool keeper_gone = false;
thread_local keeper kept;

keeper::~keeper() {
  keeper_gone = true;
  for (memo* m : memos) free_all(*m);
}

std::int64_t address(const front_call& call, const memo_entry::slot& s) {
  return reinterpret_cast<std::int64_t>(call.bases[s.leaf]);
}

bool is_far(const memo_entry::slot& left, std::int64_t left_base, const memo_entry::slot& s, std::int64_t base) {
  return left.low == left.high || s.low == s.high || left_base + left.high <= base + s.low ||
         base + s.high <= left_base + left.low;
}

bool matches(const memo_entry& e, const front_call& call) {
  const int count = call.program->number_count;
  for (int n = 0; n < count; ++n)
    if (e.numbers[n] != call.numbers[n]) return false;
  if (e.gpu >= 0 && e.gpu != current_gpu()) return false;
  const memo_entry::slot& left = e.slots[0];
  const std::int64_t left_base = address(call, left);
  if (left_base == 0 && left.low < left.high) return false;  // what is null is refused when a plan is made
  for (std::size_t s = 1; s < e.slots.size(); ++s) {
    const memo_entry::slot& slot = e.slots[s];
    const std::int64_t base = address(call, slot);
    if (base == 0 && slot.low < slot.high) return false;
    if (slot.far ? !is_far(left, left_base, slot, base) : base - left_base != slot.distance) return false;
  }
  return true;
}

std::unique_ptr<memo_entry> make_entry(const front_call& call) {
  const lowering low = resolve(call);
  auto e = std::make_unique<memo_entry>();
  if (is_interleaved(low))
    e->parts = std::make_shared<const recipe>(lower_interleaved(call, low, naming::by_place, {}), options{}, call.bases);
  else
    e->code = compile(make_program(call, low, naming::by_place));
  if (call.program->leaves[low.slots[0].leaf].space == memory_space::gpu) e->gpu = current_gpu();
  e->numbers.assign(call.numbers, call.numbers + call.program->number_count);
  for (const slot_use& s : low.slots) {
    const std::int64_t size = element_bytes(call.program->leaves[s.leaf]);
    memo_entry::slot& to = e->slots.emplace_back(memo_entry::slot{s.leaf, s.offset * size, s.low, s.high, 0, false});
    to.distance = address(call, to) - address(call, e->slots[0]);
    // Memory of the very same tensor is never far: that it is disjoint is part of the plan's text.
    to.far = to.distance != 0 && is_far(e->slots[0], address(call, e->slots[0]), to, address(call, to));
  }
  return e;
}

memo_entry* remember(memo& m, std::unique_ptr<memo_entry> made) {
  if (!m.first) kept.memos.push_back(&m);
  memo_entry* const e = made.release();
  e->next = m.first;
  m.first = e;
  int count = 1;
  for (memo_entry* last = e; last->next; last = last->next)
    if (++count > most_entries) {
      delete last->next;
      last->next = nullptr;
      break;
    }
  return e;
}

void run_entry(const memo_entry& e, const front_call& call) {
  if (e.parts) {
    if (call.program->scalar_count > 0) bind_coefficients(call);
    return e.parts->run(call.bases, call.coefficients, call.stream);
  }
  for (std::size_t s = 0; s < e.slots.size(); ++s) {
    const auto base = static_cast<const char*>(call.bases[e.slots[s].leaf]);
    call.pointers[s] = const_cast<char*>(base ? base + e.slots[s].offset : nullptr);
  }
  if (call.program->scalar_count > 0) bind_coefficients(call);
  if (call.stream) run(*e.code, {call.pointers, call.coefficients}, call.stream);
  else run(*e.code, {call.pointers, call.coefficients});
}

}  // namespace

void execute(const front_call& call, memo& remembered) {
  if (call.program->looks_at_memory) {
    if (is_interleaved(*call.program)) return run(*prepare_recipe(call, {}), call);
    const std::shared_ptr<const executable> code = prepare(call, {});
    return call.stream ? run(*code, {call.pointers, call.coefficients}, call.stream) : run(*code, {call.pointers, call.coefficients});
  }
  for (const memo_entry* e = remembered.first; e; e = e->next)
    if (matches(*e, call)) return run_entry(*e, call);
  std::unique_ptr<memo_entry> made = make_entry(call);
  if (keeper_gone) return run_entry(*made, call);
  run_entry(*remember(remembered, std::move(made)), call);
}

}  // namespace ricci::detail
