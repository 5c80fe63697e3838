// Batches of matrix products: the program of one, and the thread's memory of plans.
#include <ricci/engine/engine.hpp>
#include <ricci/engine/gemm.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <memory>

#include "engine/each.hpp"

namespace ricci {
namespace {

/// Values of alpha and beta that a plan may know; any other comes with the run.
enum class known : std::uint8_t { zero, one, minus_one, no };

known kind_of(const std::complex<double>& x) {
  if (x.imag() != 0) return known::no;
  return x.real() == 0 ? known::zero : x.real() == 1 ? known::one : x.real() == -1 ? known::minus_one : known::no;
}

/// The product itself has nothing to add: c = beta c.
bool is_scaling(const gemm_problem& p, known alpha) { return alpha == known::zero || p.k == 0; }

constexpr int label_e = 0, label_i = 1, label_j = 2, label_l = 3, label_k = 4;

reference matrix(const gemm_problem& p, int slot, const char* name, bool conj, std::int64_t step, std::int64_t lane, int row,
                 std::int64_t row_stride, int col, std::int64_t col_stride) {
  reference r;
  r.slot = slot;
  r.type = p.type;
  r.conj = conj;
  r.name = name;
  if (p.batch > 1 && step != 0) r.axes.push_back({label_e, step});
  r.axes.push_back({row, row_stride});
  r.axes.push_back({col, col_stride});
  if (p.lanes > 1 && lane != 0) r.axes.push_back({label_l, lane});
  return r;
}

constexpr int slot_c = 0, slot_a = 1, slot_b = 2, slot_old = 3;  // the last: c as it was

/// Appends beta c, if there is something to append.
void add_old(program& p, const gemm_problem& g, known beta, int slot) {
  statement& s = p.statements[0];
  if (beta == known::zero) return;
  if (beta == known::one) {
    s.op = update::add;
    return;
  }
  product& old = s.terms.emplace_back();
  old.factors.push_back(matrix(g, slot, "C", false, g.c_step, g.c_lane, label_i, g.c_row, label_j, g.c_col));
  if (beta == known::minus_one) old.negate = true;
  else old.scalar = p.scalar_count++;
  p.overlaps.push_back({slot_c, slot, overlap::kind::same});
  p.slot_count = slot + 1;
}

program program_of(const gemm_problem& g, known alpha, known beta) {
  program p;
  p.labels = {{"e", g.batch}, {"i", g.m}, {"j", g.n}, {"l", g.lanes}};
  statement& s = p.statements.emplace_back();
  s.left = matrix(g, slot_c, "C", false, g.c_step, g.c_lane, label_i, g.c_row, label_j, g.c_col);
  p.slot_count = 1;
  if (is_scaling(g, alpha)) {
    add_old(p, g, beta, 1);
    return p;
  }
  p.labels.push_back({"k", g.k});
  product& t = s.terms.emplace_back();
  t.factors.push_back(matrix(g, slot_a, "A", g.conj_a, g.a_step, g.a_lane, label_i, g.a_row, label_k, g.a_col));
  t.factors.push_back(matrix(g, slot_b, "B", g.conj_b, g.b_step, g.b_lane, label_k, g.b_row, label_j, g.b_col));
  // Matrices that share both factors: a label of the left side alone would be an error.
  if (g.batch > 1 && g.a_step == 0 && g.b_step == 0) t.factors[0].axes.push_back({label_e, 0});
  if (g.lanes > 1 && g.a_lane == 0 && g.b_lane == 0) t.factors[0].axes.push_back({label_l, 0});
  p.slot_count = 3;
  if (alpha == known::minus_one) t.negate = true;
  else if (alpha == known::no) t.scalar = p.scalar_count++;
  add_old(p, g, beta, slot_old);
  return p;
}

/// All that a plan depends on, as numbers.
struct gemm_key {
  std::array<std::int64_t, 18> words;

  static std::int64_t first_word(const gemm_problem& g, known alpha, known beta) {
    return static_cast<std::int64_t>(g.type) | g.conj_a << 4 | g.conj_b << 5 | g.deterministic << 6 | static_cast<std::int64_t>(alpha) << 8 |
           static_cast<std::int64_t>(beta) << 12 | static_cast<std::int64_t>(g.threads) << 16;
  }

  gemm_key() = default;
  gemm_key(const gemm_problem& g, known alpha, known beta)
      : words{first_word(g, alpha, beta),
              g.m, g.n, g.k, g.a_row, g.a_col, g.b_row, g.b_col, g.c_row, g.c_col, g.batch, g.a_step, g.b_step, g.c_step,
              g.lanes, g.a_lane, g.b_lane, g.c_lane} {}

  bool operator==(const gemm_key&) const = default;

  /// Is this the key of such a problem? Number by number: a key made just now would be in memory in small pieces, which
  /// a comparison of vectors has to wait for.
  bool is_of(const gemm_problem& g, known alpha, known beta) const {
    const auto& w = words;
    return w[0] == first_word(g, alpha, beta) && w[1] == g.m && w[2] == g.n && w[3] == g.k && w[4] == g.a_row &&
           w[5] == g.a_col && w[6] == g.b_row && w[7] == g.b_col && w[8] == g.c_row && w[9] == g.c_col && w[10] == g.batch &&
           w[11] == g.a_step && w[12] == g.b_step && w[13] == g.c_step && w[14] == g.lanes && w[15] == g.a_lane &&
           w[16] == g.b_lane && w[17] == g.c_lane;
  }

  std::size_t hash() const {
    std::uint64_t h = 0;
    for (const std::int64_t w : words) h = (h ^ static_cast<std::uint64_t>(w)) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    return static_cast<std::size_t>(h);
  }
};

struct gemm_entry {
  gemm_key key{};
  bool in_order = false;  // matrices c may share elements: one problem after the other, without a plan of the whole
  bool is_bare = false;   // a run is one kernel call
  bool set_each = false;  // its coefficients come with every run
  std::shared_ptr<const executable> code;
  bare_call bare{};
  bool is_packed = false;  // or a copy and a kernel call
  packed_call packed{};

  each_call ready_each(const std::complex<double>* scalars) {
    if (is_packed && set_each) packed.set_scalars(scalars);
    return {ready(scalars), is_packed ? &packed : nullptr};
  }

  const bare_call* ready(const std::complex<double>* scalars) {
    if (!is_bare) return nullptr;
    if (set_each) bare.set_scalars(scalars);
    return &bare;
  }
};

/// Plans that one thread remembers. A place for each hash; the engine remembers what is pushed out.
struct gemm_memory {
  static constexpr std::size_t places = 256;
  const bare_call* quick = nullptr;  // the last problem, if it was one kernel call; its coefficients are set
  bool swapped = false;              // its factors have changed places
  gemm_problem quick_problem;
  std::uint64_t number = 0;          // of the last problem
  gemm_entry* last = nullptr;
  gemm_entry entries[places];
};

/// The thread's memory is freed when the thread ends; what runs later (in destructors) plans without it.
thread_local gemm_memory* memory_of_thread = nullptr;
thread_local bool memory_gone = false;
struct memory_keeper {
  ~memory_keeper() {
    delete memory_of_thread;
    memory_of_thread = nullptr;
    memory_gone = true;
  }
};

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

/// The very same problem, scalars included? Number by number, see gemm_key::is_of().
bool is_same(const gemm_problem& x, const gemm_problem& y) {
  return x.m == y.m && x.n == y.n && x.k == y.k && x.batch == y.batch && x.a_row == y.a_row && x.a_col == y.a_col &&
         x.b_row == y.b_row && x.b_col == y.b_col && x.c_row == y.c_row && x.c_col == y.c_col && x.a_step == y.a_step &&
         x.b_step == y.b_step && x.c_step == y.c_step && x.lanes == y.lanes && x.a_lane == y.a_lane && x.b_lane == y.b_lane &&
         x.c_lane == y.c_lane && x.type == y.type && x.conj_a == y.conj_a && x.conj_b == y.conj_b && x.threads == y.threads &&
         x.deterministic == y.deterministic && bits(x.alpha.real()) == bits(y.alpha.real()) &&
         bits(x.alpha.imag()) == bits(y.alpha.imag()) && bits(x.beta.real()) == bits(y.beta.real()) &&
         bits(x.beta.imag()) == bits(y.beta.imag());
}

void run_quick(const gemm_memory& m, const void* a, const void* b, void* c) {
  m.swapped ? (*m.quick)(b, a, c) : (*m.quick)(a, b, c);
}

gemm_memory* make_memory() {
  thread_local const memory_keeper keeper;
  static_cast<void>(&keeper);
  if (!memory_gone) memory_of_thread = new gemm_memory;
  return memory_of_thread;
}

/// What is about to run may take the place of the last problem in memory, or its coefficients.
void forget_quick() {
  if (memory_of_thread) memory_of_thread->quick = nullptr;
}

void remember_quick(const gemm_problem& g, const bare_call& bare) {
  gemm_memory* const m = memory_of_thread;
  if (!m) return;
  const bool plain = bare.slot_a() == slot_a && bare.slot_b() == slot_b;
  if (!plain && (bare.slot_a() != slot_b || bare.slot_b() != slot_a)) return;
  m->quick_problem = g;
  m->swapped = !plain;
  m->quick = &bare;
  ++m->number;
}

/// May matrices c of the batch share elements? Strides that nest prove that they do not.
bool may_share(const gemm_problem& g) {
  std::pair<std::int64_t, std::int64_t> axes[] = {{std::abs(g.c_row), g.m}, {std::abs(g.c_col), g.n},
                                                  {std::abs(g.c_step), g.batch}, {std::abs(g.c_lane), g.lanes}};
  std::sort(std::begin(axes), std::end(axes));
  std::int64_t reach = 0;
  for (const auto& [stride, extent] : axes) {
    if (extent == 1) continue;
    if (stride <= reach) return true;
    reach += (extent - 1) * stride;
  }
  return false;
}

void make_entry(gemm_entry& e, const gemm_key& key, const gemm_problem& g, known alpha, known beta) {
  e.code = nullptr;
  e.key = {};
  e.is_bare = e.is_packed = false;
  e.in_order = (g.batch > 1 || g.lanes > 1) && may_share(g);
  if (!e.in_order) {
    options o;
    o.threads = g.threads, o.deterministic = g.deterministic;
    e.code = compile(program_of(g, alpha, beta), o);
    e.is_bare = !is_scaling(g, alpha) && e.bare.prepare(bound_of(*e.code));
    e.set_each = alpha == known::no || beta == known::no;
    e.is_packed = !is_scaling(g, alpha) && e.packed.prepare(bound_of(*e.code));
    if (e.is_bare && !e.set_each) e.bare.set_scalars(nullptr);
    if (e.is_packed && !e.set_each) e.packed.set_scalars(nullptr);
  }
  e.key = key;
}

/// Calls f with the problem's entry. f by reference: a copy of it would read in one piece what was just stored in several.
template <class F>
void with_entry(const gemm_problem& g, known alpha, known beta, const F& f) {
  gemm_memory* m = memory_of_thread;
  if (m && m->last && m->last->key.is_of(g, alpha, beta)) return f(*m->last);
  const gemm_key key(g, alpha, beta);
  if (!m) m = make_memory();
  if (!m) {
    gemm_entry e;
    make_entry(e, key, g, alpha, beta);
    return f(e);
  }
  gemm_entry& e = m->entries[key.hash() % gemm_memory::places];
  if (!(e.key == key)) {
    m->last = nullptr;
    make_entry(e, key, g, alpha, beta);
  }
  m->last = &e;
  f(e);
}

struct scalar_list {
  std::complex<double> at[2];
  scalar_list(const gemm_problem& g, known alpha, known beta) {
    int n = 0;
    if (alpha == known::no && g.k > 0) at[n++] = g.alpha;
    if (beta == known::no) at[n++] = g.beta;
  }
};

bool is_nothing(const gemm_problem& g, known alpha, known beta) {
  return g.m == 0 || g.n == 0 || g.batch == 0 || g.lanes == 0 || (is_scaling(g, alpha) && beta == known::one);
}

void run_in_order(gemm_problem g, const void* a, const void* b, void* c) {
  const auto size = static_cast<std::int64_t>(size_of(g.type));
  const std::int64_t count = g.batch, lanes = g.lanes;
  g.batch = g.lanes = 1;
  for (std::int64_t e = 0; e < count; ++e)
    for (std::int64_t l = 0; l < lanes; ++l)
      run_gemm(g, static_cast<const char*>(a) + (e * g.a_step + l * g.a_lane) * size,
               static_cast<const char*>(b) + (e * g.b_step + l * g.b_lane) * size,
               static_cast<char*>(c) + (e * g.c_step + l * g.c_lane) * size);
}

}  // namespace

std::uint64_t last_gemm() noexcept {
  const gemm_memory* const m = memory_of_thread;
  return m && m->quick ? m->number : 0;
}

bool run_gemm_again(std::uint64_t which, const void* a, const void* b, void* c) {
  const gemm_memory* const m = memory_of_thread;
  if (!m || !m->quick || m->number != which) return false;
  run_quick(*m, a, b, c);
  return true;
}

void run_gemm(const gemm_problem& g, const void* a, const void* b, void* c) {
  if (const gemm_memory* const m = memory_of_thread; m && m->quick && is_same(m->quick_problem, g)) return run_quick(*m, a, b, c);
  forget_quick();
  const known alpha = kind_of(g.alpha), beta = kind_of(g.beta);
  if (is_nothing(g, alpha, beta)) return;
  const scalar_list scalars(g, alpha, beta);
  void* pointers[4] = {c, const_cast<void*>(a), const_cast<void*>(b), c};
  if (is_scaling(g, alpha)) pointers[1] = c;
  with_entry(g, alpha, beta, [&](gemm_entry& e) {
    if (e.in_order) return run_in_order(g, a, b, c), forget_quick();  // what ran last was one product, not all of them
    if (const bare_call* const bare = e.ready(scalars.at)) {
      remember_quick(g, *bare);
      return (*bare)(pointers[bare->slot_a()], pointers[bare->slot_b()], c);
    }
    run(*e.code, {pointers, scalars.at});
  });
}

void run_gemm_each(const gemm_problem& g, const void* const* a, const void* const* b, void* const* c) {
  forget_quick();
  const known alpha = kind_of(g.alpha), beta = kind_of(g.beta);
  if (is_nothing(g, alpha, beta)) return;
  gemm_problem one = g;
  one.batch = one.lanes = 1;
  one.a_step = one.b_step = one.c_step = one.a_lane = one.b_lane = one.c_lane = 0;
  const scalar_list scalars(g, alpha, beta);
  const void* const* slots[4] = {c, a, b, c};
  if (is_scaling(g, alpha)) slots[1] = c;
  const int used = is_scaling(g, alpha) ? 2 : 4;
  with_entry(one, alpha, beta, [&](gemm_entry& e) {
    execute_each(bound_of(*e.code), e.ready_each(scalars.at), slots, used, g.batch, scalars.at);
  });
}

}  // namespace ricci
