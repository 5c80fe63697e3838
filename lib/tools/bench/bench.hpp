// ricci bench gemm: what is measured, with what, and what came of it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ricci/core/types.hpp>

#include "tools/options.hpp"

namespace ricci::tools {

/// What the command was asked for.
struct bench_request {
  std::vector<dtype> types;
  std::vector<gemm_size> sizes;
  std::vector<int> betas;
  std::vector<std::string> layouts;     // strided, pointers, interleaved
  std::vector<std::string> footprints;  // l1, l2, l3, dram
  std::vector<std::string> transposed{"nn"};  // nn, nt, tn, tt
  std::int64_t ld = 0;                        // elements of a row in memory; 0: as many as it has
  int threads = 1;
  bool deterministic = false;           // without tuning tables
  bool peers = true;
  std::vector<std::string> only;        // these peers alone; empty: all
  bool eigen_fixed = true;
  bool avx2 = false;  // nobody may use more
  int rounds = 15;          // windows of each contender that count
  double window = 250e-6;   // seconds of one window
  std::string json;         // file, or empty
  std::string command;      // as typed
};

/// One product C_e = A_e B_e (+ C_e), row-major, for a batch.
struct gemm_case {
  dtype type = dtype::f64;
  gemm_size size;
  int beta = 0;
  std::string layout, footprint;
  std::int64_t batch = 1;
  int threads = 1;
  bool deterministic = false;
  bool trans_a = false, trans_b = false;  // A is stored as k by m, B as n by k
  std::int64_t ld = 0;                    // elements of a row in memory; 0: as many as it has

  bool is_plain() const { return !trans_a && !trans_b && ld == 0; }
  std::int64_t rows_a() const { return trans_a ? size.k : size.m; }
  std::int64_t rows_b() const { return trans_b ? size.n : size.k; }
  std::int64_t ld_a() const { return ld ? ld : trans_a ? size.m : size.k; }
  std::int64_t ld_b() const { return ld ? ld : trans_b ? size.k : size.n; }
  std::int64_t ld_c() const { return ld ? ld : size.n; }
  /// Elements from problem to problem, all three together.
  std::int64_t elements() const { return rows_a() * ld_a() + rows_b() * ld_b() + size.m * ld_c(); }

  double flops() const {  // of one problem; a complex multiply-add counts 8
    return (is_complex(type) ? 8.0 : 2.0) * static_cast<double>(size.m) * static_cast<double>(size.n) * static_cast<double>(size.k);
  }
  /// Bytes that must move for one problem: A and B read, C written, with beta read as well.
  double bytes() const {
    return static_cast<double>(size_of(type)) *
           static_cast<double>(size.m * size.k + size.k * size.n + (1 + beta) * size.m * size.n);
  }
};

/// The operands of a case, shared by all contenders.
class gemm_data {
 public:
  explicit gemm_data(const gemm_case& c);
  ~gemm_data();
  gemm_data(const gemm_data&) = delete;
  gemm_data& operator=(const gemm_data&) = delete;

  const gemm_case& problem;
  std::int64_t step_a, step_b, step_c;  // elements from problem to problem
  char *a = nullptr, *b = nullptr, *c = nullptr;
  std::vector<void*> pointers_a, pointers_b, pointers_c;  // layout "pointers": in a shuffled order

  /// C as it was before anything ran.
  void reset();
  char* address(char* base, std::int64_t step, std::int64_t e) const { return base + e * step * static_cast<std::int64_t>(size_of(problem.type)); }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  std::vector<std::int64_t> order_;
};

/// One way to run a case. run() does problems [first, last).
struct contender {
  std::string name;
  bool ours = false;
  bool alone = true;  // runs on the calling thread; the harness spreads it over threads
  std::function<void(std::int64_t first, std::int64_t last)> run;
  /// Copies result C_e, dense and row-major, to `to`; empty if it is in the data's C.
  std::function<void(std::int64_t e, void* to)> result{};
  /// Makes C what it is in the data; empty if it is the data's C.
  std::function<void()> reset{};
};

/// Median and best of the windows that counted.
struct timing {
  std::string name;
  bool ours = false;
  double median = 0, best = 0;    // seconds of one problem
  int windows = 0, discarded = 0; // thrown away because the thread was descheduled
  bool agrees = true;             // with loops in long double
};

struct gemm_answer {
  gemm_case problem;
  std::vector<timing> contenders;
  double peak = 0;       // flop/s, measured between the contenders
  double bandwidth = 0;  // bytes/s, the same memory streamed, likewise

  /// Upper bound in flop/s: the peak, or the memory.
  double bound() const;
  const timing* ours() const;
  const timing* best_peer() const;
};

/// Runs all contenders of a case one after the other, again and again.
gemm_answer measure(const bench_request& r, const gemm_case& c, gemm_data& data, std::vector<contender> contenders);

/// ricci's own ways to run a case.
void add_ours(const gemm_case& c, gemm_data& data, std::vector<contender>& to);

/// The peers found on this machine; each adds itself where it can run the case.
struct peer {
  std::string name, version, path;
  std::function<void(const gemm_case&, gemm_data&, std::vector<contender>&)> add;
};
std::vector<peer> find_peers(const bench_request& r);
void find_blas(std::vector<peer>& to);
void find_mkl(std::vector<peer>& to);
void find_xsmm(std::vector<peer>& to);
void find_eigen(const bench_request& r, std::vector<peer>& to);

/// A library opened at run time: the first of the names that is there. Symbols stay its own.
class library {
 public:
  /// The first that can be opened; $ORIGIN stands for the folder of the running program.
  static library open(std::initializer_list<const char*> names);
  explicit operator bool() const { return handle_ != nullptr; }
  template <class F>
  F* find(const char* symbol) const { return reinterpret_cast<F*>(find_address(symbol)); }
  std::string path(const char* symbol) const;

 private:
  void* find_address(const char* symbol) const;
  void* handle_ = nullptr;
};

/// Calls f(a, b, c) for problems [first, last), strided or by pointers.
template <class F>
void for_each_problem(const gemm_data& d, std::int64_t first, std::int64_t last, F f) {
  if (!d.pointers_a.empty()) {
    for (std::int64_t e = first; e < last; ++e) f(d.pointers_a[e], d.pointers_b[e], d.pointers_c[e]);
    return;
  }
  const auto size = static_cast<std::int64_t>(size_of(d.problem.type));
  char *a = d.a + first * d.step_a * size, *b = d.b + first * d.step_b * size, *c = d.c + first * d.step_c * size;
  for (std::int64_t e = first; e < last; ++e) {
    f(a, b, c);
    a += d.step_a * size, b += d.step_b * size, c += d.step_c * size;
  }
}

/// Multiply-adds at the peak of this machine; returns the flops done. And the case's memory, streamed as the product
/// would: bytes done.
double run_peak(dtype type, std::int64_t rounds);
double run_stream(const gemm_case& c, const gemm_data& data, std::int64_t times, std::int64_t first, std::int64_t last,
                  bool past_cache);

/// A backend of the bench. A new one is a line in bench_command.cpp.
struct bench_backend {
  const char* name;
  void (*run)(const bench_request&);
};
void bench_gemm_cpu(const bench_request& r);
void bench_gemm_cuda(const bench_request& r);

/// Table on standard output, line by line; JSON at the end.
void print_head(const bench_request& r, const std::vector<peer>& peers);
void print_answer(const gemm_answer& a);
void print_summary(const std::vector<gemm_answer>& all);
void write_json(const bench_request& r, const std::vector<peer>& peers, const std::vector<gemm_answer>& all);

}  // namespace ricci::tools
