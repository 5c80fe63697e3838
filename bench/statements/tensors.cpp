// Contractions of large tensors, as they lie, beside the classical way: transpositions, one product of matrices by the fastest
// library found, a transposition. One thread.
//   bench_tensors [--dtype f64] [--file CASES] [--every N] [--most-gflop G] [--seconds S]
// A line of CASES: NAME EINSUM a=312 b=24 ..; without one, the contractions of the COGENT artifact (TCCG, CCSD(T)).
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <ricci/ricci.hpp>

#include "../cogent_cases.hpp"
#include "cases.hpp"
#include "classical.hpp"

namespace {

using namespace bench;

struct setting {
  std::string dtype = "f64", file;
  int every = 1;
  double most_gflop = 1e9, seconds = 0.3;
};

struct contraction : labelled {
  std::string name, a, b, c;
};

contraction parse(const std::string& name, const std::string& einsum, const std::string& extents) {
  contraction x;
  const auto [factors, result] = sides_of(einsum);
  const std::size_t comma = factors.find(',');
  if (comma == factors.npos) throw std::runtime_error("'" + einsum + "' has no two factors");
  x.name = name, x.a = factors.substr(0, comma), x.b = factors.substr(comma + 1), x.c = result;
  x.read(extents, factors + result);
  return x;
}

std::vector<contraction> read_cases(const setting& s) {
  std::vector<contraction> out;
  if (s.file.empty())
    for (const contraction_case& x : cogent_cases) out.push_back(parse(x.name, x.einsum, x.extents));
  else
    each_line(s.file, [&](std::istringstream& words) {
      std::string name, einsum;
      words >> name >> einsum;
      out.push_back(parse(name, einsum, rest_of(words)));
    });
  return out;
}

std::string both(const std::string& x, const std::string& y) {
  std::string out;
  for (const char l : x)
    if (y.find(l) != std::string::npos) out += l;
  return out;
}

/// Small integers, whose sums are exact.
template <class T>
ricci::ndarray<T> numbers(const contraction& x, const std::string& labels, int seed) {
  ricci::ndarray<T> out(x.shape(labels));
  for (std::int64_t i = 0; i < x.size(labels); ++i) out.data()[i] = T((i * (2 * seed + 3) + seed) % 7 - 3);
  return out;
}

template <class T>
class comparison {
 public:
  explicit comparison(const setting& s) : s_(s), peers_(find_peers<T>()) {
    std::printf("%-14s %-18s %9s %8s %7s | %7s | %8s %-9s %6s | %s\n", "", "", "rows", "columns", "sums", "ricci", "classical", "product", "alone", "ratio");
  }

  void run(const contraction& x) {
    const std::string m = both(x.c, x.a), n = both(x.c, x.b), k = both(x.a, x.b);
    const std::int64_t rows = x.size(m), cols = x.size(n), sums = x.size(k);
    const double flops = 2.0 * double(rows) * double(cols) * double(sums);
    if (flops > 1e9 * s_.most_gflop) return;
    const auto a = numbers<T>(x, x.a, 0), b = numbers<T>(x, x.b, 1);
    auto c = ricci::ndarray<T>(x.shape(x.c)), turned_a = ricci::ndarray<T>(x.shape(m + k)), turned_b = ricci::ndarray<T>(x.shape(k + n));
    auto turned_c = ricci::ndarray<T>(x.shape(m + n)), other = ricci::ndarray<T>(x.shape(x.c));
    // What lies as a product of matrices takes it, either way round, need not be moved.
    const bool moves_a = x.a != m + k && x.a != k + m, moves_b = x.b != k + n && x.b != n + k, moves_c = x.c != m + n && x.c != n + m;
    std::vector<std::function<void()>> all{[&] { ricci::einsum_into(c, x.a + "," + x.b + "->" + x.c, a, b); },
                                           [&] { ricci::einsum_into(turned_a, x.a + "->" + m + k, a); },
                                           [&] { ricci::einsum_into(turned_b, x.b + "->" + k + n, b); },
                                           [&] { ricci::einsum_into(other, m + n + "->" + x.c, turned_c); }};
    for (const peer<T>& p : peers_)
      all.push_back([&] { p.run(int(rows), int(cols), int(sums), turned_a.data(), false, turned_b.data(), false, turned_c.data()); });
    std::swap(all[3], all[4]);  // a product before it is turned
    std::vector<double> t = in_turn(all, s_.seconds);
    std::swap(t[3], t[4]);
    all[4]();
    const bool equal = std::memcmp(c.data(), other.data(), sizeof(T) * std::size_t(x.size(x.c))) == 0;
    const std::size_t best = std::size_t(std::min_element(t.begin() + 4, t.end()) - t.begin());
    const double classical = t[best] + (moves_a ? t[1] : 0) + (moves_b ? t[2] : 0) + (moves_c ? t[3] : 0);
    std::printf("%-14s %-18s %9lld %8lld %7lld | %7.1f | %8.1f %-9s %6.1f | %.2f%s\n", x.name.c_str(), (x.a + "," + x.b + "->" + x.c).c_str(), static_cast<long long>(rows), static_cast<long long>(cols),
                static_cast<long long>(sums), flops / t[0] * 1e-9, flops / classical * 1e-9, peers_[best - 4].name.c_str(), flops / t[best] * 1e-9, classical / t[0], equal ? "" : "  DIFFERENT");
    std::fflush(stdout);
    ratios_.push_back(classical / t[0]), alone_.push_back(t[best] / t[0]);
  }

  void finish() const {
    const auto mean = [](const std::vector<double>& x) {
      double sum = 0;
      for (const double r : x) sum += std::log(r);
      return std::exp(sum / double(x.size()));
    };
    if (ratios_.empty()) return;
    std::printf("%zu contractions, geometric means: %.2f times the classical way (least %.2f), %.2f times the product of matrices alone\n", ratios_.size(), mean(ratios_),
                *std::min_element(ratios_.begin(), ratios_.end()), mean(alone_));
  }

 private:
  setting s_;
  std::vector<peer<T>> peers_;
  std::vector<double> ratios_, alone_;
};

template <class T>
void compare(const setting& s) {
  comparison<T> all(s);
  int at = 0;
  for (const contraction& x : read_cases(s))
    if (at++ % s.every == 0) all.run(x);
  all.finish();
}

}  // namespace

int main(int count, char** words) {
  omp_set_num_threads(1);
  setting s;
  CLI::App app("contractions of large tensors beside transpositions and a product of matrices");
  app.add_option("--dtype", s.dtype)->check(CLI::IsMember({"f64", "f32"}));
  app.add_option("--file", s.file)->check(CLI::ExistingFile);
  app.add_option("--every", s.every)->check(CLI::Range(1, 1 << 20));
  app.add_option("--most-gflop", s.most_gflop)->check(CLI::Range(0.0, 1e9));
  app.add_option("--seconds", s.seconds)->check(CLI::Range(0.0, 1e4));
  CLI11_PARSE(app, count, words);
  return run_program("bench_tensors", [&] { s.dtype == "f64" ? compare<double>(s) : compare<float>(s); });
}
