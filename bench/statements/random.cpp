// Random contractions of one and two tensors in many sizes, each beside what peak and memory allow: where plans are slow.
// One thread.
//   bench_random [--dtype f64] [--count N] [--seed S] [--worst W] [--out FILE] [--against FILE]
// Prints how much of its bound a contraction reaches on geometric mean, how many stay below three tenths, and the W slowest.
// --out writes every time; --against compares with the times of such a file, of another build with the same seed.
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <ricci/ricci.hpp>

#include "cases.hpp"
#include "machine/machine.hpp"

namespace {

struct setting {
  std::string dtype = "f64", out, against;
  int count = 300, worst = 20;
  unsigned seed = 1;
};

/// A contraction: subscripts and extents.
struct contraction : bench::labelled {
  std::string a, b, c;  // b empty: one tensor

  std::string einsum() const { return a + (b.empty() ? "" : "," + b) + "->" + c; }
  std::string name() const { return einsum() + extents(); }
};

class generator {
 public:
  explicit generator(unsigned seed) : rng_(seed) {}

  contraction next() {
    for (;;) {
      contraction x = labels();
      if (x.a.empty() || x.extent.empty()) continue;
      extents(x);
      constexpr std::int64_t most = 1 << 24;
      if (x.size(x.a) <= most && x.size(x.b) <= most && x.size(x.c) <= most) return x;
    }
  }

 private:
  int pick(int first, int last) { return std::uniform_int_distribution<int>(first, last)(rng_); }

  void add(contraction& x, int count, bool a, bool b, bool c) {
    for (int i = 0; i < count; ++i) {
      const char l = static_cast<char>('a' + x.extent.size());
      x.extent[l] = 1;
      if (a) x.a += l;
      if (b) x.b += l;
      if (c) x.c += l;
    }
  }

  contraction labels() {
    contraction x;
    if (pick(1, 10) <= 3) {
      add(x, pick(1, 4), true, false, true), add(x, pick(0, 2), true, false, false);
    } else {
      add(x, pick(0, 1) * pick(0, 2), true, true, true), add(x, pick(0, 2), true, false, true);
      add(x, pick(0, 2), false, true, true), add(x, pick(0, 2), true, true, false);
      if (x.b.empty()) return {};
    }
    for (std::string* s : {&x.a, &x.b, &x.c}) std::shuffle(s->begin(), s->end(), rng_);
    if (pick(0, 1))
      for (std::string* s : {&x.a, &x.b, &x.c}) std::sort(s->begin(), s->end());
    return x;
  }

  /// Shares of a random exponent of two, a third of them in whole registers.
  void extents(contraction& x) {
    std::uniform_real_distribution<double> exponent(10, 24), share(0.05, 1);
    std::vector<double> shares;
    double sum = 0;
    for (std::size_t i = 0; i < x.extent.size(); ++i) shares.push_back(share(rng_)), sum += shares.back();
    const double all = exponent(rng_) * std::log(2.0);
    std::size_t i = 0;
    for (auto& [label, n] : x.extent) {
      n = std::max<std::int64_t>(1, std::llround(std::exp(shares[i++] / sum * all)));
      if (pick(0, 2) == 0 && n > 8) n = (n + 7) / 8 * 8;
    }
  }

  std::mt19937 rng_;
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Seconds: the best of at least three runs in 30 ms, after one that makes the plan.
double seconds_of(const std::function<void()>& run) {
  run();
  double best = 1e30;
  const double end = now() + 0.03;
  for (int runs = 0; runs < 3 || now() < end; ++runs) {
    const double start = now();
    run();
    best = std::min(best, now() - start);
  }
  return best;
}

/// Seconds that peak or memory need, whichever is slower, and a quarter of a microsecond for the call.
template <class T>
double bound(const contraction& x, const ricci::machine& m) {
  const bool complex = ricci::is_complex(ricci::dtype_of<T>), twice = ricci::dtype_of<T> == ricci::dtype::f64 || ricci::dtype_of<T> == ricci::dtype::c128;
  double all = complex ? 4 : 1;
  for (const auto& [label, n] : x.extent) all *= static_cast<double>(n);
  const double flops = x.b.empty() ? 0 : 2 * all, bytes = sizeof(T) * static_cast<double>(x.size(x.a) + (x.b.empty() ? 0 : x.size(x.b)) + x.size(x.c));
  double rate = m.memory_bandwidth;
  for (auto level = m.caches.rbegin(); level != m.caches.rend(); ++level)
    if (bytes <= 0.75 * static_cast<double>(level->bytes) && level->bandwidth > 0) rate = level->bandwidth;
  return std::max(1e-9 * flops / (twice ? m.peak_f64 : m.peak_f32), 1e-9 * bytes / rate) + 0.25e-6;
}

struct result {
  std::string name;
  double seconds, bound;
};

template <class T>
result measure(const contraction& x, const ricci::machine& m) {
  ricci::ndarray<T> a(x.shape(x.a)), b(x.shape(x.b)), c(x.shape(x.c));
  for (std::int64_t i = 0; i < a.size(); ++i) a.data()[i] = T(static_cast<float>(i % 7 - 3));
  for (std::int64_t i = 0; i < b.size(); ++i) b.data()[i] = T(static_cast<float>(i % 5 - 2));
  const std::string einsum = x.einsum();
  const double t = seconds_of([&] {
    if (x.b.empty()) ricci::einsum_into(c, einsum, a);
    else ricci::einsum_into(c, einsum, a, b);
  });
  return {x.name(), t, bound<T>(x, m)};
}

double geometric_mean(const std::vector<double>& x) {
  double sum = 0;
  for (const double r : x) sum += std::log(r);
  return x.empty() ? 0 : std::exp(sum / static_cast<double>(x.size()));
}

void compare(const std::vector<result>& all, const std::string& file, int worst) {
  std::map<std::string, double> before;
  std::ifstream in(file);
  double t = 0;
  for (std::string name; in >> t && std::getline(in >> std::ws, name);) before[name] = t;
  std::vector<std::pair<double, const result*>> ratios;
  std::vector<double> values;
  for (const result& r : all)
    if (const auto at = before.find(r.name); at != before.end()) ratios.push_back({at->second / r.seconds, &r}), values.push_back(ratios.back().first);
  std::sort(ratios.begin(), ratios.end());
  std::printf("%zu of them in %s: %.3f times as fast on geometric mean; what lost most:\n", ratios.size(), file.c_str(), geometric_mean(values));
  for (int i = 0; i < worst && i < static_cast<int>(ratios.size()); ++i)
    std::printf("  %.2f  %s  %.2f us\n", ratios[static_cast<std::size_t>(i)].first, ratios[static_cast<std::size_t>(i)].second->name.c_str(), 1e6 * ratios[static_cast<std::size_t>(i)].second->seconds);
}

template <class T>
void run(const setting& s) {
  const ricci::machine m = ricci::measure_machine();
  generator random(s.seed);
  std::vector<result> all;
  std::vector<double> shares;
  for (int i = 0; i < s.count; ++i) {
    all.push_back(measure<T>(random.next(), m));
    shares.push_back(all.back().bound / all.back().seconds);
  }
  std::sort(all.begin(), all.end(), [](const result& x, const result& y) { return x.bound / x.seconds < y.bound / y.seconds; });
  std::printf("%s, %s: %.2f of the bound on geometric mean, %lld of %d below 0.3\n", m.name.c_str(), s.dtype.c_str(), geometric_mean(shares),
              static_cast<long long>(std::count_if(shares.begin(), shares.end(), [](double x) { return x < 0.3; })), s.count);
  for (int i = 0; i < s.worst && i < s.count; ++i) {
    const result& r = all[static_cast<std::size_t>(i)];
    std::printf("  %.2f  %s  %.2f us, bound %.2f\n", r.bound / r.seconds, r.name.c_str(), 1e6 * r.seconds, 1e6 * r.bound);
  }
  if (!s.out.empty()) {
    std::ofstream out(s.out);
    for (const result& r : all) out << r.seconds << ' ' << r.name << '\n';
  }
  if (!s.against.empty()) compare(all, s.against, s.worst);
}

}  // namespace

int main(int count, char** words) {
  omp_set_num_threads(1);
  setting s;
  CLI::App app("random contractions beside peak and memory");
  app.add_option("--dtype", s.dtype)->check(CLI::IsMember(bench::type_names));
  app.add_option("--count", s.count)->check(CLI::Range(1, 1 << 20));
  app.add_option("--seed", s.seed);
  app.add_option("--worst", s.worst)->check(CLI::Range(0, 1 << 20));
  app.add_option("--out", s.out), app.add_option("--against", s.against)->check(CLI::ExistingFile);
  CLI11_PARSE(app, count, words);
  return bench::run_program("bench_random", [&] { bench::with_type(s.dtype, [&](auto x) { run<decltype(x)>(s); }); });
}
