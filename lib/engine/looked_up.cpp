// Gathers and scatter-adds alone: the order of their loops, and the loops.
#include "engine/looked_up.hpp"

#include <algorithm>
#include <complex>
#include <cstring>

namespace ricci {
namespace {

constexpr std::int64_t line = 64;  // bytes

/// x times a coefficient.
template <class S> struct scaled {
  S by;
  scaled(S coefficient, bool) : by(coefficient) {}
  S operator()(S x) const { return by * x; }
};
/// x, or its conjugate, times a coefficient. A real one leaves the parts alone: an infinity stays in its own.
template <class P> struct scaled<std::complex<P>> {
  P re, im, sign;
  bool is_real;
  scaled(std::complex<P> by, bool conj) : re(by.real()), im(by.imag()), sign(conj ? -1 : 1), is_real(im == 0) {}
  std::complex<P> operator()(std::complex<P> x) const {
    const P x_im = sign * x.imag();
    if (is_real) return {re * x.real(), re * x_im};
    return {re * x.real() - im * x_im, re * x_im + im * x.real()};
  }
};

/// What becomes of an element of the looked-up tensor, x, and of the dense one, y. copies: bytes as they are, with loops of their
/// own for rows of two and three.
template <class T> struct copied {
  static constexpr bool copies = true, scatters = false;
  void operator()(const T& x, T& y) const { std::memcpy(&y, &x, sizeof(T)); }
};
template <class T, class S> struct assigned {
  static constexpr bool copies = false, scatters = false;
  scaled<S> scale;
  void operator()(const T& x, T& y) const { y = static_cast<T>(scale(static_cast<S>(x))); }
};
template <class T, class S> struct added {
  static constexpr bool copies = false, scatters = false;
  scaled<S> scale;
  void operator()(const T& x, T& y) const { y = static_cast<T>(static_cast<S>(y) + scale(static_cast<S>(x))); }
};
template <class T, class S> struct updated {
  static constexpr bool copies = false, scatters = false;
  scaled<S> scale, beta;
  void operator()(const T& x, T& y) const { y = static_cast<T>(beta(static_cast<S>(y)) + scale(static_cast<S>(x))); }
};
template <class T, class S> struct scattered {
  static constexpr bool copies = false, scatters = true;
  scaled<S> scale;
  void operator()(T& x, const T& y) const { x = static_cast<T>(static_cast<S>(x) + scale(static_cast<S>(y))); }
};

/// The same for rows of neighbours and a real coefficient, by a kernel; its numbers are the parts of T.
template <class T, bool Scatters> struct in_rows {
  static constexpr bool scatters = Scatters;
  kernels::found_fn run;
  const void *alpha, *beta;
  std::int64_t ahead;

  template <class Index, class X, class Y> void operator()(const lookup_strip& g, const Index* table, X* x, Y* y) const {
    constexpr std::int64_t parts = is_complex(dtype_of<T>) ? 2 : 1;
    const lookup_loop u = g.outer;
    const std::int64_t entry = parts * g.step, indexed = parts * u.indexed, dense = parts * u.dense;
    const kernels::found_args rows{.rows = u.extent, .row = parts * g.inner.extent, .wide = sizeof(Index) == 8, .table = u.table,
                                    .from_entry = Scatters ? 0 : entry, .to_entry = Scatters ? entry : 0,
                                    .from = Scatters ? dense : indexed, .to = Scatters ? indexed : dense, .ahead = ahead};
    if constexpr (Scatters) run(rows, table, y, x, alpha, beta);
    else run(rows, table, x, y, alpha, beta);
  }
};
template <class Apply> inline constexpr bool by_kernel = false;
template <class T, bool Scatters> inline constexpr bool by_kernel<in_rows<T, Scatters>> = true;

/// n elements of both tensors, which share none. N: n, if it is known.
template <int N, class X, class Y, class Apply>
void run_row(std::int64_t n, X* __restrict x, Y* __restrict y, const Apply& apply) {
  if constexpr (N > 0) {
    for (int i = 0; i < N; ++i) apply(x[i], y[i]);
  } else if constexpr (Apply::copies) {
    std::memcpy(y, x, static_cast<std::size_t>(n) * sizeof(Y));
  } else {
    for (std::int64_t i = 0; i < n; ++i) apply(x[i], y[i]);
  }
}

constexpr std::int64_t short_copy = 32, long_copy = 512;  // bytes of a row: between them a kernel copies; measured
constexpr std::int64_t bytes_ahead = 2048, least_ahead = 2, most_ahead = 16;  // of rows; measured

/// How many rows ahead one is asked for; 0: none is.
std::int64_t rows_ahead(std::int64_t bytes) { return bytes < line / 2 || bytes > bytes_ahead ? 0 : std::clamp(bytes_ahead / bytes, least_ahead, most_ahead); }

/// Inlined before gcc looks for side effects, of which it sees none here.
template <bool Writes> [[gnu::always_inline]] inline void ask_for(const void* row, std::int64_t bytes) {
  for (std::int64_t at = 0; at < bytes; at += line) __builtin_prefetch(static_cast<const char*>(row) + at, Writes);
}

/// Rows that the table finds, as long as N says or n. What is applied is a copy, as in all of these loops: they would read its coefficients
/// again behind every store.
template <int N, class X, class Y, class Index, class Apply>
void run_rows(const lookup_strip& g, std::int64_t n, const Index* table, X* x, Y* y, const Apply& apply) {
  const Apply f = apply;
  const lookup_loop u = g.outer;
  const std::int64_t bytes = N > 0 ? 0 : n * static_cast<std::int64_t>(sizeof(X)), ahead = rows_ahead(bytes);
  for (std::int64_t i = 0; i < u.extent; ++i) {
    if (ahead > 0 && i + ahead < u.extent) ask_for<Apply::scatters>(x + table[(i + ahead) * u.table] * g.step + (i + ahead) * u.indexed, bytes);
    run_row<N>(n, x + table[i * u.table] * g.step + i * u.indexed, y + i * u.dense, f);
  }
}

template <class X, class Y, class Index, class Apply>
void run_strided_rows(const lookup_strip& g, std::int64_t n, const Index* table, X* x, Y* y, const Apply& apply) {
  const Apply f = apply;
  const lookup_loop u = g.outer, v = g.inner;
  const std::int64_t bytes = v.indexed == 1 ? n * static_cast<std::int64_t>(sizeof(X)) : 0, ahead = rows_ahead(bytes);
  for (std::int64_t i = 0; i < u.extent; ++i) {
    if (ahead > 0 && i + ahead < u.extent) ask_for<Apply::scatters>(x + table[(i + ahead) * u.table] * g.step + (i + ahead) * u.indexed, bytes);
    X* const from = x + table[i * u.table] * g.step + i * u.indexed;
    Y* const to = y + i * u.dense;
    for (std::int64_t j = 0; j < n; ++j) f(from[j * v.indexed], to[j * v.dense]);
  }
}

/// Elements that the table finds one by one.
template <class X, class Y, class Index, class Apply>
void run_elements(const lookup_strip& g, const Index* table, X* x, Y* y, const Apply& apply) {
  const Apply f = apply;
  const lookup_loop u = g.outer, v = g.inner;
  for (std::int64_t i = 0; i < u.extent; ++i) {
    const Index* const at = table + i * u.table;
    X* const from = x + i * u.indexed;
    Y* const to = y + i * u.dense;
    if (v.table == 1 && v.dense == 1 && v.indexed == 0 && g.step == 1)
      for (std::int64_t j = 0; j < v.extent; ++j) f(from[at[j]], to[j]);
    else
      for (std::int64_t j = 0; j < v.extent; ++j) f(from[at[j * v.table] * g.step + j * v.indexed], to[j * v.dense]);
  }
}

template <class X, class Y, class Index, class Apply>
[[gnu::noinline]] void run_strip(const lookup_strip& g, const Index* table, X* x, Y* y, const Apply& apply) {
  if constexpr (by_kernel<Apply>) {
    apply(g, table, x, y);
  } else {
    const lookup_loop v = g.inner;
    if (v.table != 0) return run_elements(g, table, x, y, apply);
    for (std::int64_t first = 0; first < v.extent; first += g.piece) {
      const std::int64_t n = std::min(g.piece, v.extent - first);
      X* const from = x + first * v.indexed;
      Y* const to = y + first * v.dense;
      if (v.indexed != 1 || v.dense != 1) {
        run_strided_rows(g, n, table, from, to, apply);
        continue;
      }
      if constexpr (Apply::copies) {
        if (n == 2 || n == 3) {
          n == 2 ? run_rows<2>(g, n, table, from, to, apply) : run_rows<3>(g, n, table, from, to, apply);
          continue;
        }
      }
      run_rows<0>(g, n, table, from, to, apply);
    }
  }
}

/// Calls run_strip for all iterations of the loops around it.
template <class X, class Y, class Index, class Apply>
void run_loops(const lookup_loop* loops, const lookup_loop* end, const lookup_strip& g, const Index* table, X* x, Y* y, const Apply& apply) {
  if (loops == end) return run_strip(g, table, x, y, apply);
  for (std::int64_t i = 0; i < loops->extent; ++i)
    run_loops(loops + 1, end, g, table + i * loops->table, x + i * loops->indexed, y + i * loops->dense, apply);
}

template <class S> S scalar(const char* from) {
  S x;
  std::memcpy(&x, from, sizeof x);
  return x;
}

bool nests(const lookup_loop& out, const lookup_loop& in) {
  return out.table == in.table * in.extent && out.indexed == in.indexed * in.extent && out.dense == in.dense * in.extent;
}

void join_nested(std::vector<lookup_loop>& loops) {
  for (std::size_t o = 0; o < loops.size(); ++o)
    for (std::size_t i = 0; i < loops.size(); ++i) {
      if (o == i || !nests(loops[o], loops[i])) continue;
      loops[i].extent *= loops[o].extent;
      loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(o));
      return join_nested(loops);
    }
}

}  // namespace

lookup_walk::lookup_walk(const plan_step& s, const kernels::kernel_set& kernels)
    : step_(s.op.table_stride), gathers_(s.how == method::gather), wide_(size_of(s.op.a.type) == 8), conj_(s.op.b.conj) {
  for (const step_axis& x : s.axes) loops_.push_back({x.extent, x.a, gathers_ ? x.b : x.c, gathers_ ? x.c : x.b});
  join_nested(loops_);
  std::stable_sort(loops_.begin(), loops_.end(), [](const lookup_loop& x, const lookup_loop& y) { return std::abs(x.dense) > std::abs(y.dense); });
  while (loops_.size() < 2) loops_.insert(loops_.begin(), lookup_loop{});
  put_rows_inside(static_cast<std::int64_t>(size_of(s.op.c.type)));
  share_loop(s);
  constexpr std::int64_t least = 2;  // numbers; before threads cut it, so that each element has the same operations with any number of them
  const lookup_loop& rows = loops_.back();
  const dtype type = s.op.c.type, part = is_complex(type) ? part_type(type) : type;
  if (rows.table == 0 && rows.indexed == 1 && rows.dense == 1 && size_of(part) > 2 &&
      rows.extent * static_cast<std::int64_t>(size_of(type) / size_of(part)) >= least)
    in_rows_ = kernels.found[part == dtype::f64];
}

/// Where the looked-up tensor has its neighbours along another label than the dense one, a line of it is used at once: of as many lines of
/// the dense one each keeps its place in the first cache until it is full.
void lookup_walk::put_rows_inside(std::int64_t size) {
  if (std::abs(loops_.back().indexed) == 1 && loops_.back().table == 0) return;
  for (std::size_t l = 0; l + 1 < loops_.size(); ++l) {
    if (loops_[l].table != 0 || std::abs(loops_[l].indexed) != 1 || loops_[l].extent == 1) continue;
    std::rotate(loops_.begin() + static_cast<std::ptrdiff_t>(l), loops_.begin() + static_cast<std::ptrdiff_t>(l) + 1, loops_.end());
    piece_ = line / size;
    return;
  }
}

/// Of a scatter-add, a label that the table does not have: its values are other elements. The longest one, the outermost of equal ones.
void lookup_walk::share_loop(const plan_step& s) {
  constexpr std::int64_t enough = 64;
  for (std::size_t l = 0; l < loops_.size(); ++l) {
    const lookup_loop& x = loops_[l];
    if (!gathers_ && (x.table != 0 || x.indexed == 0)) continue;
    if (shared_ >= 0 && (loops_[static_cast<std::size_t>(shared_)].extent >= enough || x.extent <= loops_[static_cast<std::size_t>(shared_)].extent)) continue;
    shared_ = static_cast<int>(l);
  }
  if (shared_ < 0) return;
  const lookup_loop& x = loops_[static_cast<std::size_t>(shared_)];
  const bool near = std::abs(gathers_ ? x.dense : x.indexed) == 1;  // then whole lines
  each_ = near ? line / static_cast<std::int64_t>(size_of(s.op.c.type)) : 1;
  tasks_ = (x.extent + each_ - 1) / each_;
}

std::shared_ptr<const lookup_walk> lookup_walk::of(const plan_step& s, const kernels::kernel_set& kernels) {
  std::shared_ptr<const lookup_walk> made(new lookup_walk(s, kernels));
  return made->loops_.size() <= most_loops ? made : nullptr;
}

template <class T, class Apply> void lookup_walk::walk(const step_run& r, const lookup_loop* loops, const Apply& apply) const {
  const lookup_loop* const end = loops + loops_.size() - 2;
  const lookup_strip g{end[0], end[1], piece_ > 0 ? piece_ : std::max<std::int64_t>(1, end[1].extent), step_};
  const auto with = [&](const auto* table) {
    if constexpr (Apply::scatters) run_loops(loops, end, g, table, reinterpret_cast<T*>(r.c), reinterpret_cast<const T*>(r.b), apply);
    else run_loops(loops, end, g, table, reinterpret_cast<const T*>(r.b), reinterpret_cast<T*>(r.c), apply);
  };
  if (wide_) with(reinterpret_cast<const std::int64_t*>(r.a));
  else with(reinterpret_cast<const std::int32_t*>(r.a));
}

template <class T> void lookup_walk::run_as(const step_run& r, const lookup_loop* loops) const {
  using S = typename element_traits<T>::compute;
  const S alpha = scalar<S>(r.alpha), beta = scalar<S>(r.beta);
  const std::int64_t bytes = loops[loops_.size() - 1].extent * static_cast<std::int64_t>(sizeof(T));  // of a row
  const bool copies = gathers_ && !conj_ && alpha == S(1) && beta == S(0);
  if (copies && (!in_rows_ || bytes < short_copy || bytes > long_copy)) return walk<T>(r, loops, copied<T>{});
  if constexpr (size_of(dtype_of<T>) > 2) {
    const auto is_real = [](S x) { return std::imag(x) == 0; };
    if (in_rows_ && !conj_ && is_real(alpha) && is_real(beta)) {
      const S one = 1;
      const std::int64_t ahead = rows_ahead(bytes);
      if (gathers_) return walk<T>(r, loops, in_rows<T, false>{in_rows_, r.alpha, r.beta, ahead});
      return walk<T>(r, loops, in_rows<T, true>{in_rows_, r.alpha, &one, ahead});
    }
  }
  if constexpr (size_of(dtype_of<T>) == 2) {  // gathered without a coefficient alone
    if (gathers_) walk<T>(r, loops, copied<T>{});
    else walk<T>(r, loops, scattered<T, S>{{alpha, false}});
  } else {
    const scaled<S> scale{alpha, conj_};
    if (!gathers_) walk<T>(r, loops, scattered<T, S>{scale});
    else if (beta == S(0)) walk<T>(r, loops, assigned<T, S>{scale});
    else if (beta == S(1)) walk<T>(r, loops, added<T, S>{scale});
    else walk<T>(r, loops, updated<T, S>{scale, {beta, false}});
  }
}

void lookup_walk::run(const step_run& r, std::int64_t first, std::int64_t last) const {
  lookup_loop loops[most_loops];
  std::copy(loops_.begin(), loops_.end(), loops);
  step_run mine = r;
  if (shared_ >= 0) {
    lookup_loop& x = loops[shared_];
    const std::int64_t from = first * each_;
    x.extent = std::min(last * each_, x.extent) - from;
    const auto size = static_cast<std::int64_t>(size_of(r.step->type_c));
    mine.a += from * x.table * (wide_ ? 8 : 4);
    mine.b += from * (gathers_ ? x.indexed : x.dense) * size;
    mine.c += from * (gathers_ ? x.dense : x.indexed) * size;
  }
  switch (r.step->type_c) {
    case dtype::f32: return run_as<float>(mine, loops);
    case dtype::f64: return run_as<double>(mine, loops);
    case dtype::c64: return run_as<std::complex<float>>(mine, loops);
    case dtype::c128: return run_as<std::complex<double>>(mine, loops);
    case dtype::f16: return run_as<half>(mine, loops);
    case dtype::bf16: return run_as<bfloat16>(mine, loops);
  }
}

}  // namespace ricci
