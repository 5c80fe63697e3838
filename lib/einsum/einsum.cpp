// einsum calls, remembered by words, shapes and strides; running them.
#include <ricci/core/error.hpp>
#include <ricci/einsum/einsum.hpp>

#include <algorithm>
#include <mutex>
#include <string>
#include <unordered_map>

#include "einsum/lower.hpp"
#include "einsum/subscripts.hpp"

namespace ricci::detail {
namespace {

constexpr std::size_t most_remembered = 4096;

struct memory {
  std::mutex lock;
  std::unordered_map<std::string, std::shared_ptr<const prepared_einsum>> calls;
};

memory& remembered() {
  static memory& m = *new memory;  // never destroyed: destructors of static objects may call einsum
  return m;
}

constinit thread_local bool key_gone = false;

/// The buffer in which a thread writes its keys, until the thread ends.
struct key_buffer {
  std::string text;
  ~key_buffer() { key_gone = true; }
};

/// late: for what runs in destructors after that.
std::string& empty_key(std::string& late) {
  if (key_gone) return late;
  thread_local key_buffer kept;
  kept.text.clear();
  return kept.text;
}

void append(std::string& key, std::int64_t x) { key.append(reinterpret_cast<const char*>(&x), sizeof x); }

template <class List>
void append_list(std::string& key, const List& list) {
  append(key, static_cast<std::int64_t>(list.size()));
  key.append(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(*list.data()));
}

void append(std::string& key, const array_info& x) {
  append(key, static_cast<std::int64_t>(x.type) * 2 + (x.data == nullptr));
  append_list(key, x.extents), append_list(key, x.strides);
}

/// Equal keys exactly for equal calls; written into a buffer that keeps its memory.
void write_key(std::string& key, const einsum_words& words, std::span<const array_info> operands, const array_info* out,
               const options& o) {
  append(key, (words.lists != nullptr) + 2 * (words.result != nullptr) + 4 * (out != nullptr) + 8 * o.strict +
                  16 * o.deterministic + 32 * std::int64_t{o.threads});
  append_list(key, words.text);
  if (words.lists) {
    append(key, static_cast<std::int64_t>(words.lists->size()));
    for (const auto& labels : *words.lists) append_list(key, labels);
  }
  if (words.result) append_list(key, *words.result);
  for (const array_info& x : operands) append(key, x);
  if (out) append(key, *out);
}

struct address_range {
  std::uintptr_t first, last;
};

/// The bytes between the lowest and the highest element.
address_range range_of(const array_info& x) {
  std::int64_t low = 0, high = 1;
  for (std::size_t d = 0; d < x.extents.size(); ++d) {
    const std::int64_t reach = (x.extents[d] - 1) * x.strides[d];
    (reach < 0 ? low : high) += reach;
  }
  const auto base = reinterpret_cast<std::uintptr_t>(x.data);
  const auto bytes = static_cast<std::int64_t>(size_of(x.type));
  return {base + static_cast<std::uintptr_t>(low * bytes), base + static_cast<std::uintptr_t>(high * bytes)};
}

bool may_overlap(const array_info& out, std::span<const array_info> operands) {
  const address_range x = range_of(out);
  return std::any_of(operands.begin(), operands.end(), [&](const array_info& operand) {
    const address_range y = range_of(operand);
    return x.first < y.last && y.first < x.last;
  });
}

std::shared_ptr<const prepared_einsum> prepare(const einsum_words& words, std::span<const array_info> operands,
                                               const array_info* out, const options& o) {
  check(o);  // of einsums without elements too, which need no plan
  auto [statement, extents] = lower_einsum(parse(words, operands.size()), operands, out);
  auto made = std::make_shared<prepared_einsum>();
  const bool empty = std::find(extents.begin(), extents.end(), 0) != extents.end();
  if (!empty) made->plan = compile(statement, o);
  made->extents = std::move(extents);
  made->statement = std::move(statement);
  return made;
}

}  // namespace

std::shared_ptr<const prepared_einsum> prepare_einsum(const einsum_words& words, std::span<const array_info> operands,
                                                      const array_info* out, const options& o) {
  // What overlaps how depends on pointers, which are no part of the key; the engine remembers such plans.
  if (out && may_overlap(*out, operands)) return prepare(words, operands, out, o);
  std::string late;
  std::string& key = empty_key(late);
  write_key(key, words, operands, out, o);
  memory& m = remembered();
  {
    const std::lock_guard guard(m.lock);
    if (const auto found = m.calls.find(key); found != m.calls.end()) return found->second;
  }
  auto made = prepare(words, operands, out, o);
  const std::lock_guard guard(m.lock);
  if (m.calls.size() >= most_remembered) m.calls.clear();
  return m.calls.try_emplace(key, std::move(made)).first->second;
}

void run_einsum(const prepared_einsum& prepared, void* out, std::span<const array_info> operands) {
  if (!prepared.plan) return;
  constexpr std::size_t few = 15;
  void* near[few + 1];
  std::vector<void*> far;
  void** pointers = near;
  if (operands.size() > few) far.resize(operands.size() + 1), pointers = far.data();
  pointers[0] = out;
  for (std::size_t q = 0; q < operands.size(); ++q) pointers[q + 1] = operands[q].data;
  run(*prepared.plan, {pointers, nullptr});
}

}  // namespace ricci::detail
