// Products of two matrices of random sides, short and long, each factor as it is or transposed, beside Eigen and every CBLAS
// that is found: where the fastest of them beats a plan.
//   bench_products [--dtype f64] [--count N] [--seed S] [--worst W] [--threads N] [--least SIDE] [--most SIDE] [--multiple N] [--seconds X]
// All run in turn, medians of windows of some microseconds; Eigen has one thread. Prints the geometric mean of the fastest peer's
// time over ricci's, how many products are below 1, and the W slowest. MKL is found by LD_LIBRARY_PATH and shares threads with
// MKL_THREADING_LAYER=GNU.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <ricci/ricci.hpp>

#include "cases.hpp"
#include "classical.hpp"

namespace {

using namespace bench;

struct setting {
  std::string dtype = "f64";
  int count = 200, worst = 20, threads = 1;
  unsigned seed = 1;
  std::int64_t least = 1, most = 4000, multiple = 1;
  double seconds = 0.02;
};

struct shape {
  std::int64_t m, n, k;
  bool turned_a, turned_b;

  double flops() const { return 2.0 * static_cast<double>(m * n * k); }
  std::string einsum() const { return std::string(turned_a ? "ki" : "ik") + "," + (turned_b ? "jk" : "kj") + "->ij"; }
};

/// Sides whose logarithms are drawn evenly, of 20 thousand to 100 million operations and factors of at most 32 MiB in double.
class generator {
 public:
  explicit generator(const setting& s) : multiple_(s.multiple), rng_(s.seed), side_(std::log(static_cast<double>(s.least)), std::log(static_cast<double>(s.most) + 0.5)) {}

  shape next() {
    constexpr std::int64_t elements = 4 << 20;
    for (;;) {
      const shape x{side(), side(), side(), coin(), coin()};
      if (x.flops() >= 2e4 && x.flops() <= 1e8 && std::max({x.m * x.k, x.k * x.n, x.m * x.n}) <= elements) return x;
    }
  }

 private:
  std::int64_t side() {
    const auto drawn = std::max<std::int64_t>(1, std::llround(std::floor(std::exp(side_(rng_)))));
    return (drawn + multiple_ - 1) / multiple_ * multiple_;
  }
  bool coin() { return rng_() % 2 == 0; }

  std::int64_t multiple_;
  std::mt19937 rng_;
  std::uniform_real_distribution<double> side_;
};

struct measured {
  double ratio = 0;  // the fastest peer's time over ricci's
  std::string line;
};

/// Medians in turn, of windows in which each runs so often that one takes some microseconds.
std::vector<double> times_of(const std::vector<std::function<void()>>& all, double seconds) {
  constexpr double window = 2e-5;
  all[0]();
  const double begin = now();
  all[0]();
  const int often = std::max(1, static_cast<int>(window / std::max(1e-7, now() - begin)));
  std::vector<std::function<void()>> windows;
  for (const auto& f : all)
    windows.push_back([&f, often] {
      for (int i = 0; i < often; ++i) f();
    });
  std::vector<double> out = in_turn(windows, seconds);
  for (double& t : out) t /= often;
  return out;
}

template <class T>
measured measure(const shape& x, const std::vector<peer<T>>& peers, double seconds) {
  ricci::ndarray<T> a(x.turned_a ? std::vector{x.k, x.m} : std::vector{x.m, x.k}), b(x.turned_b ? std::vector{x.n, x.k} : std::vector{x.k, x.n});
  ricci::ndarray<T> mine({x.m, x.n}), other({x.m, x.n});
  for (std::int64_t i = 0; i < a.size(); ++i) a.data()[i] = static_cast<T>(i % 7 - 3);
  for (std::int64_t i = 0; i < b.size(); ++i) b.data()[i] = static_cast<T>(i % 5 - 2);
  const std::string einsum = x.einsum();
  std::vector<std::function<void()>> all{[&] { ricci::einsum_into(mine, einsum, a, b); }};
  for (const peer<T>& p : peers)
    all.push_back([&] { p.run(static_cast<int>(x.m), static_cast<int>(x.n), static_cast<int>(x.k), a.data(), x.turned_a, b.data(), x.turned_b, other.data()); });
  const std::vector<double> times = times_of(all, seconds);
  if (!std::equal(mine.data(), mine.data() + mine.size(), other.data())) throw std::runtime_error(einsum + ": results differ");  // small integers
  const auto fastest = std::min_element(times.begin() + 1, times.end());
  char line[200];
  std::snprintf(line, sizeof line, "%s %lld x %lld x %lld: %.2f us, %.1f GFLOP/s, %s %.2f us", einsum.c_str(), static_cast<long long>(x.m), static_cast<long long>(x.n),
                static_cast<long long>(x.k), 1e6 * times[0], 1e-9 * x.flops() / times[0], peers[static_cast<std::size_t>(fastest - times.begin() - 1)].name.c_str(), 1e6 * *fastest);
  return {*fastest / times[0], line};
}

template <class T>
void run(const setting& s) {
  const auto peers = find_peers<T>(s.threads);
  generator random(s);
  std::vector<measured> all;
  for (int i = 0; i < s.count; ++i) all.push_back(measure<T>(random.next(), peers, s.seconds));
  std::sort(all.begin(), all.end(), [](const measured& x, const measured& y) { return x.ratio < y.ratio; });
  double sum = 0;
  for (const measured& x : all) sum += std::log(x.ratio);
  std::string names;
  for (const peer<T>& p : peers) names += (names.empty() ? "" : ", ") + p.name;
  std::printf("%s, %d thread%s, beside the fastest of %s: %.2f times on geometric mean, %lld of %zu below 1, %lld below 0.8\n", s.dtype.c_str(), s.threads, s.threads == 1 ? "" : "s",
              names.c_str(), all.empty() ? 1 : std::exp(sum / static_cast<double>(all.size())),
              static_cast<long long>(std::count_if(all.begin(), all.end(), [](const measured& x) { return x.ratio < 1; })), all.size(),
              static_cast<long long>(std::count_if(all.begin(), all.end(), [](const measured& x) { return x.ratio < 0.8; })));
  for (std::size_t i = 0; i < all.size() && i < static_cast<std::size_t>(s.worst); ++i) std::printf("  %.2f  %s\n", all[i].ratio, all[i].line.c_str());
}

}  // namespace

int main(int count, char** words) {
  setting s;
  CLI::App app("products of matrices of random sides beside Eigen and CBLAS");
  app.add_option("--dtype", s.dtype)->check(CLI::IsMember({"f64", "f32"}));
  app.add_option("--count", s.count)->check(CLI::Range(1, 1 << 20));
  app.add_option("--worst", s.worst)->check(CLI::Range(0, 1 << 20));
  app.add_option("--threads", s.threads)->check(CLI::Range(1, 1024));
  app.add_option("--seed", s.seed);
  app.add_option("--least", s.least)->check(CLI::Range(1, 4000));
  app.add_option("--most", s.most)->check(CLI::Range(1, 100000));
  app.add_option("--multiple", s.multiple, "sides are rounded up to multiples of it")->check(CLI::Range(1, 4000));
  app.add_option("--seconds", s.seconds, "for a product, all contenders together")->check(CLI::Range(0.0, 1e4));
  CLI11_PARSE(app, count, words);
  omp_set_num_threads(s.threads);
  return run_program("bench_products", [&] { s.dtype == "f64" ? run<double>(s) : run<float>(s); });
}
