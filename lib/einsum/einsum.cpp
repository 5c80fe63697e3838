// einsum calls, remembered by words, shapes and strides; running them.
#include <ricci/core/error.hpp>
#include <ricci/core/memory.hpp>
#include <ricci/einsum/einsum.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "einsum/lower.hpp"
#include "einsum/subscripts.hpp"

namespace ricci::detail {
namespace {

constexpr std::size_t most_remembered = 4096;

struct memory {
  std::mutex lock;
  std::unordered_map<std::string, std::shared_ptr<const prepared_einsum>> calls;
  std::int64_t large_bytes = 0;
};

memory& remembered() {
  static memory& m = *new memory;  // never destroyed: destructors of static objects may call einsum
  return m;
}

/// Equal exactly for equal calls.
class call_key {
 public:
  void clear() { count_ = 0; }

  void write(const einsum_words& words, std::span<const array_info> operands, const array_info* out, const options& o) {
    append((words.lists != nullptr) + 2 * (words.result != nullptr) + 4 * (out != nullptr) + 8 * o.strict + 16 * o.deterministic +
           32 * std::int64_t{o.threads});
    append_list(words.text);
    if (words.lists) {
      append(static_cast<std::int64_t>(words.lists->size()));
      for (const auto& labels : *words.lists) append_list(labels);
    }
    if (words.result) append_list(*words.result);
    for (const array_info& x : operands) append(x);
    if (out) append(*out);
  }

  bool operator==(const call_key& other) const { return count_ == other.count_ && std::equal(words_.begin(), words_.begin() + count_, other.words_.begin()); }
  std::string text() const { return {reinterpret_cast<const char*>(words_.data()), static_cast<std::size_t>(count_) * sizeof(std::int64_t)}; }

  /// Cheap, for a place in a small table.
  std::uint64_t mix() const {
    std::uint64_t sum = 0;
    for (std::ptrdiff_t n = 0; n < count_; ++n) sum += static_cast<std::uint64_t>(words_[static_cast<std::size_t>(n)]) * static_cast<std::uint64_t>(2 * n + 1);
    return (sum * 0x9e3779b97f4a7c15u) >> 32;
  }

 private:
  /// Room for so many words more, which keeps its memory from call to call.
  std::int64_t* take(std::size_t more) {
    const auto here = static_cast<std::size_t>(count_);
    if (words_.size() < here + more) words_.resize(2 * (here + more));
    count_ += static_cast<std::ptrdiff_t>(more);
    return words_.data() + here;
  }

  void append(std::int64_t x) { *take(1) = x; }

  template <class List>
  void append_list(const List& list) {
    const std::size_t bytes = list.size() * sizeof(*list.data()), count = (bytes + 7) / 8;
    std::int64_t* const to = take(1 + count);
    to[0] = static_cast<std::int64_t>(list.size());
    if (count == 0) return;
    to[count] = 0;
    std::memcpy(to + 1, list.data(), bytes);
  }

  void append(const array_info& x) {
    append(static_cast<std::int64_t>(x.type) * 2 + (x.data == nullptr));
    append_list(x.extents), append_list(x.strides);
  }

  std::vector<std::int64_t> words_;
  std::ptrdiff_t count_ = 0;  // of these
};

constinit thread_local bool recent_gone = false;

/// Calls that a thread made last, each at the place of its key: found without a lock. Until the thread ends.
struct recent_calls {
  struct entry {
    call_key key;
    std::shared_ptr<const prepared_einsum> call;
  };
  call_key key;  // of the call that is looked for
  entry entries[16];
  ~recent_calls() { recent_gone = true; }
};

recent_calls* recent() {
  if (recent_gone) return nullptr;
  thread_local recent_calls kept;
  return &kept;
}

struct address_range {
  std::uintptr_t first, last;
};

/// The bytes between the lowest and the highest element; there are elements.
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

bool is_empty(const array_info& x) { return std::find(x.extents.begin(), x.extents.end(), 0) != x.extents.end(); }

bool may_overlap(const array_info& out, std::span<const array_info> operands) {
  if (is_empty(out)) return false;
  const address_range x = range_of(out);
  return std::any_of(operands.begin(), operands.end(), [&](const array_info& operand) {
    if (is_empty(operand)) return false;
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

std::int64_t large_bytes(const prepared_einsum& e) { return e.plan ? detail::large_bytes(*e.plan) : 0; }

/// Large plans are the engine's to keep.
bool is_large(const prepared_einsum& e) { return large_bytes(e) > most_large_bytes_elsewhere; }

/// Of any thread, or made now.
std::shared_ptr<const prepared_einsum> remembered_call(const std::string& key, const einsum_words& words, std::span<const array_info> operands,
                                                       const array_info* out, const options& o) {
  memory& m = remembered();
  {
    const std::lock_guard guard(m.lock);
    if (const auto found = m.calls.find(key); found != m.calls.end()) return found->second;
  }
  auto made = prepare(words, operands, out, o);
  if (is_large(*made)) return made;
  const std::lock_guard guard(m.lock);
  const std::int64_t bytes = large_bytes(*made);
  if (m.calls.size() >= most_remembered || m.large_bytes + bytes > most_large_bytes) m.calls.clear(), m.large_bytes = 0;
  const auto [at, is_first] = m.calls.try_emplace(key, std::move(made));
  if (is_first) m.large_bytes += bytes;
  return at->second;
}

}  // namespace

namespace {

std::shared_ptr<const prepared_einsum> find_or_prepare(const einsum_words& words, std::span<const array_info> operands, const array_info* out, const options& o) {
  // What overlaps how depends on pointers, which are no part of the key; the engine remembers such plans.
  if (out && may_overlap(*out, operands)) return prepare(words, operands, out, o);
  recent_calls* const last = recent();
  call_key late;  // for what runs in destructors after the thread's end
  call_key& now = last ? last->key : late;
  now.clear();
  now.write(words, operands, out, o);
  recent_calls::entry* const place = last ? &last->entries[now.mix() % std::size(last->entries)] : nullptr;
  if (place && place->call && place->key == now) return place->call;
  auto found = remembered_call(now.text(), words, operands, out, o);
  if (place && !is_large(*found)) place->key = now, place->call = found;
  return found;
}

}  // namespace

std::shared_ptr<const prepared_einsum> prepare_einsum(const einsum_words& words, std::span<const array_info> operands,
                                                      const array_info* out, const options& o) {
  return with_memory_for_plan([&] { return find_or_prepare(words, operands, out, o); });
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
