// Remembered plans: a statement that runs again with the same numbers costs a few comparisons.
//
// The plan depends on the pointers only through how left and factors overlap. So an entry keeps, for each factor, that
// its memory was far from the left's (then any far memory will do) or else the exact distance. Either is one comparison.
// Where constants and beginnings of ranges are numbers, a plan may serve for others as well (moved.hpp).
#include <cxxabi.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <ricci/core/memory.hpp>
#include <ricci/engine/tables.hpp>

#include "front/lowering.hpp"
#include "front/moved.hpp"
#include "front/recipe.hpp"

namespace ricci::detail {

struct memo_entry {
  memo_entry* next = nullptr;
  int gpu = -1;  // whose plan this is; -1: the host's
  bool bare = false;  // on the host, and the scalars are the coefficients: nothing to do but run the code
  std::shared_ptr<const executable> code;
  std::shared_ptr<const recipe> parts;  // instead of code, for interleaved tensors
  std::optional<program> checked;       // its index tensors are, before every run
  std::vector<std::int64_t> numbers;
  std::vector<memo_slot> slots;
  std::shared_ptr<const moved_places> moved;  // instead of the slots, in the last list: for other constants as well
  int repeats = 0, misses = 0;                // how often it ran with these numbers, which are then its last ones; and no entry did
};

namespace {

constexpr std::uint64_t list_count = 32;  // and one of plans that serve for other constants
constexpr int most_entries = 8;  // of a list

/// Which list has the plans for these numbers.
std::uint64_t list_of(const std::int64_t* numbers, int count) {
  std::uint64_t sum = 0;
  for (int n = 0; n < count; ++n) sum += static_cast<std::uint64_t>(numbers[n]) * (2 * static_cast<std::uint64_t>(n) + 1);
  return (sum * 0x9e3779b97f4a7c15u) >> 59;
}

void free_all(memo& m) {
  m.code = nullptr;
  for (std::uint64_t l = 0; m.lists && l <= list_count; ++l)
    while (memo_entry* e = m.lists[l]) {
      m.lists[l] = e->next;
      delete e;
    }
  delete[] std::exchange(m.lists, nullptr);
}

/// m is freed when its thread ends, by the rules of the library that has its statement, as p: until then it stays loaded, and
/// what runs later, in destructors, is remembered anew. False if that cannot be had.
bool frees_at_end(memo& m, const flat_program& p) {
  return abi::__cxa_thread_atexit([](void* x) { free_all(*static_cast<memo*>(x)); }, &m, const_cast<flat_program*>(&p)) == 0;
}

/// Any memory that left and factor do not share, or the same distance again; the left slot is its own and always passes.
memo_slot slot_of(const slot_use& left, std::uint64_t left_base, const slot_use& s, std::uint64_t base, std::int64_t element) {
  memo_slot to{s.leaf, s.low < s.high ? s.offset * element : 0, s.low < s.high, 0, 0};
  const bool any = &s == &left || left.low == left.high || s.low == s.high;
  if (any) return to;
  const auto distance = static_cast<std::int64_t>(base - left_base), before = left.low - s.high, behind = left.high - s.low;
  // Memory of the very same tensor is never far: that it is disjoint is part of the plan's text.
  const bool far = distance != 0 && (distance <= before || distance >= behind);
  to.near = static_cast<std::uint64_t>(far ? before : distance) + 1;
  to.span = far ? static_cast<std::uint64_t>(behind - before - 1) : ~std::uint64_t{0};
  return to;
}

/// Fills the pointers in.
[[gnu::always_inline]] inline bool matches(const memo_entry& e, int number_count, const std::int64_t* numbers, const void* const* bases, void** pointers) {
  const std::int64_t* const known = e.numbers.data();
  for (int n = 0; n < number_count; ++n)
    if (known[n] != numbers[n]) return false;
  const memo_slot* s = e.slots.data();
  const memo_slot* const end = s + e.slots.size();
  for (const auto left = reinterpret_cast<std::uint64_t>(bases[s->leaf]); s < end; ++s) {
    const auto base = reinterpret_cast<std::uint64_t>(bases[s->leaf]);
    if (base < s->least || base - left - s->near < s->span) return false;  // what is null is refused when a plan is made
    *pointers++ = reinterpret_cast<void*>(base + static_cast<std::uint64_t>(s->offset));
  }
  return true;
}

/// The next run of the same statement may look at it alone.
void keep_last(memo& m, const memo_entry& e) {
  for (std::size_t s = 0; s < e.slots.size(); ++s)
    if (e.slots[s].leaf != static_cast<std::int64_t>(s)) return;
  m.code = e.code.get(), m.numbers = e.numbers.data(), m.places = e.slots.data();
}

/// Has each term at most one scalar, as it is?
bool is_bare(const flat_program& p) {
  int count = 0;
  for (int t = 0; t < p.term_count; ++t) {
    const int first = count;
    for (int u = p.terms[t].first_use; u < p.terms[t].first_use + p.terms[t].use_count; ++u) {
      const use_info& use = p.uses[u];
      if (use.what != use_info::kind::real_scalar && use.what != use_info::kind::complex_scalar) continue;
      if (count > first || use.index != count || use.conj || use.apply != function::identity) return false;
      ++count;
    }
  }
  return true;
}

/// One tensor on the host by one table to or from another: the plan knows nothing of what the table holds.
bool is_lookup_alone(const flat_program& p) {
  if (p.statement_count != 1 || p.term_count != 1 || p.slot_count != 3 || !p.looks_at_memory || is_interleaved(p)) return false;
  bool alone = true, has_table = false;
  for (int l = 0; l < p.leaf_count; ++l) {
    const leaf_info& leaf = p.leaves[l];
    alone = alone && !leaf.even_odd && !leaf.local && leaf.space == memory_space::host;
    has_table = has_table || leaf.index_bytes > 0;
  }
  return alone && has_table;
}

/// Null if the plan keeps what it has read of tables.
std::unique_ptr<memo_entry> make_entry(const front_call& call, bool may_move) {
  const lowering low = resolve(call);
  auto e = std::make_unique<memo_entry>();
  if (call.program->looks_at_memory) {
    e->checked = make_program(call, low, naming::by_place);
    e->code = compile(*e->checked);
    if (keeps_tables(*e->code)) return nullptr;
  } else if (is_interleaved(low))
    e->parts = std::make_shared<const recipe>(lower_interleaved(call, low, naming::by_place, {}), options{}, call.bases);
  else
    e->code = compile(make_program(call, low, naming::by_place));
  if (e->code && may_move) e->moved = moved_places::of(call, low);
  if (call.program->leaves[low.slots[0].leaf].space == memory_space::gpu) e->gpu = current_gpu();
  e->numbers.assign(call.numbers, call.numbers + call.program->number_count);
  e->bare = e->code && e->gpu < 0 && !e->checked && is_bare(*call.program);
  const auto address = [&](const slot_use& s) { return reinterpret_cast<std::uint64_t>(call.bases[s.leaf]); };
  for (const slot_use& s : low.slots)
    e->slots.push_back(slot_of(low.slots[0], address(low.slots[0]), s, address(s), element_bytes(call.program->leaves[s.leaf])));
  return e;
}

memo_entry* put_first(memo_entry*& list, std::unique_ptr<memo_entry> made) {
  memo_entry* const e = made.release();
  e->next = list;
  list = e;
  int count = 1;
  for (memo_entry* last = e; last->next; last = last->next)
    if (++count > most_entries) {
      delete last->next;
      last->next = nullptr;
      break;
    }
  return e;
}

memo_entry* remember(memo& m, std::unique_ptr<memo_entry> made) {
  if (!m.lists) m.lists = new memo_entry*[list_count + 1]();
  m.code = nullptr;
  if (made->moved) {
    auto other = std::make_unique<memo_entry>();
    other->bare = made->bare, other->code = made->code, other->moved = std::move(made->moved), other->numbers = made->numbers;
    put_first(m.lists[list_count], std::move(other));
  }
  memo_entry*& list = m.lists[list_of(made->numbers.data(), static_cast<int>(made->numbers.size()))];
  return put_first(list, std::move(made));
}

/// Where lengths change from run to run the list is full of what will not come again: few others replace it.
bool wants_moved(const memo& m) {
  constexpr int seldom = 64;
  memo_entry* const list = m.lists ? m.lists[list_count] : nullptr;
  int count = 0;
  for (const memo_entry* e = list; e; e = e->next) ++count;
  return count < most_entries || ++list->misses % seldom == 0;
}

/// A plan that serves for these constants as well, with the pointers filled in; null if there is none.
memo_entry* find_moved(const memo& m, const flat_program& p, void** bases, const std::int64_t* numbers) {
  memo_entry* e = m.lists ? m.lists[list_count] : nullptr;
  label_facts facts[moved_places::most_labels];
  if (!e || !judge(p, numbers).statement(0, facts).ok()) return nullptr;  // a fault is said when a plan is made
  while (e && !e->moved->matches(p, bases, numbers, facts, bases + p.leaf_count)) e = e->next;
  return e;
}

/// Whether the same constants came again and again: then they are worth a plan that is found by a few comparisons.
bool is_repeated(memo_entry& e, const std::int64_t* numbers) {
  constexpr int enough = 8;
  if (std::equal(e.numbers.begin(), e.numbers.end(), numbers)) return ++e.repeats > enough;
  std::copy(numbers, numbers + e.numbers.size(), e.numbers.begin());
  e.repeats = 0;
  return false;
}

front_call call_of(const flat_program& p, void** bases, const std::int64_t* numbers, std::complex<double>* scalars, void* stream) {
  return {&p, bases, numbers, scalars, bases + p.leaf_count, scalars + p.scalar_count, stream};
}

/// With its pointers filled in.
[[gnu::noinline]] void run_entry(const memo_entry& e, const front_call& call) {
  if (call.program->scalar_count > 0) bind_coefficients(call);
  if (e.checked) check_indices(*e.checked, {call.pointers, call.coefficients});
  if (e.parts) e.parts->run(call.bases, call.coefficients, call.stream);
  else if (call.stream) run(*e.code, {call.pointers, call.coefficients}, call.stream);
  else run(*e.code, {call.pointers, call.coefficients});
}

/// A plan that depends on what is in memory is not remembered.
void run_once(const front_call& call) {
  if (is_interleaved(*call.program)) return run(*prepare_recipe(call, {}), call);
  const std::shared_ptr<const executable> code = prepare(call, {});
  return call.stream ? run(*code, {call.pointers, call.coefficients}, call.stream) : run(*code, {call.pointers, call.coefficients});
}

[[gnu::noinline]] void plan_and_run(const flat_program& p, void** bases, const std::int64_t* numbers, std::complex<double>* scalars, memo& remembered, void* stream, bool is_moved) {
  const front_call call = call_of(p, bases, numbers, scalars, stream);
  std::unique_ptr<memo_entry> made;
  if (!p.looks_at_memory || is_lookup_alone(p)) made = with_memory_for_plan([&] { return make_entry(call, !is_moved && wants_moved(remembered)); });
  if (!made) return run_once(call);
  matches(*made, call.program->number_count, call.numbers, call.bases, call.pointers);
  const bool is_large = made->code && large_bytes(*made->code) > most_large_bytes_elsewhere;
  if (is_large || (!remembered.lists && !frees_at_end(remembered, p))) return run_entry(*made, call);
  run_entry(*with_memory_for_plan([&] { return remember(remembered, std::move(made)); }), call);
}

}  // namespace

void execute(const flat_program& p, void** bases, const std::int64_t* numbers, std::complex<double>* scalars, memo& remembered, void* stream) {
  void** const pointers = bases + p.leaf_count;
  for (const memo_entry* e = remembered.lists ? remembered.lists[list_of(numbers, p.number_count)] : nullptr; e; e = e->next) {
    if (!matches(*e, p.number_count, numbers, bases, pointers)) continue;
    if (e->bare && !stream) {
      keep_last(remembered, *e);
      return run(*e->code, {pointers, scalars});
    }
    if (e->gpu >= 0 && e->gpu != current_gpu()) continue;
    return run_entry(*e, call_of(p, bases, numbers, scalars, stream));
  }
  memo_entry* const moved = find_moved(remembered, p, bases, numbers);
  const bool is_moved = moved && is_repeated(*moved, numbers);
  if (moved && !is_moved) {
    if (moved->bare && !stream) return run(*moved->code, {pointers, scalars});
    return run_entry(*moved, call_of(p, bases, numbers, scalars, stream));
  }
  plan_and_run(p, bases, numbers, scalars, remembered, stream, is_moved);
}

}  // namespace ricci::detail
