// What the benches of random contractions share: their problems, and how a run is printed and compared with an older one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <ricci/plan/path.hpp>

#include "statements/cases.hpp"
#include "window_notation.hpp"

namespace bench {

struct random_setting {
  std::string dtype = "f64", out, against, file;
  int count = 300, worst = 20;
  unsigned seed = 1;

  void add_to(CLI::App& app) {
    app.add_option("--dtype", dtype)->check(CLI::IsMember(type_names));
    app.add_option("--count", count)->check(CLI::Range(1, 1 << 20));
    app.add_option("--seed", seed);
    app.add_option("--worst", worst)->check(CLI::Range(0, 1 << 20));
    app.add_option("--file", file, "a file of contractions, a line each as they are printed, instead of random ones")->check(CLI::ExistingFile);
    app.add_option("--out", out), app.add_option("--against", against)->check(CLI::ExistingFile);
  }
};

/// A contraction: subscripts and extents.
struct contraction : labelled {
  std::string a, b, c;            // b empty: one tensor
  std::vector<std::string> more;  // factors after b
  std::vector<std::string> written;  // factors whose windows overlap, as they are written; empty: none does

  std::vector<std::string> factors() const {
    std::vector<std::string> all{a};
    if (!b.empty()) all.push_back(b);
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::string einsum() const { return joined(factors()); }
  std::string name() const { return joined(written.empty() ? factors() : written) + extents(); }
  laid_out layout(std::size_t factor) const { return factor_text(written.empty() ? factors()[factor] : written[factor]).with(extent); }
  /// Elements of the largest tensor.
  std::int64_t largest() const {
    std::int64_t most = size(c);
    for (std::size_t f = 0; f < factors().size(); ++f) most = std::max(most, layout(f).elements);
    return most;
  }

  /// Elements of all tensors, and real products of the best order, one for a product and one for a sum; none of one tensor.
  double elements() const {
    double sum = static_cast<double>(size(c));
    for (std::size_t f = 0; f < factors().size(); ++f) sum += static_cast<double>(layout(f).elements);
    return sum;
  }
  double flops() const {
    if (b.empty()) return 0;
    ricci::network net;
    const auto numbers_of = [&](const std::string& labels) {
      std::vector<int> numbers;
      for (const char l : labels) numbers.push_back(static_cast<int>(std::distance(extent.begin(), extent.find(l))));
      return numbers;
    };
    for (const auto& [label, n] : extent) net.extents.push_back(n);
    for (const std::string& f : factors()) net.factors.push_back(numbers_of(f));
    net.result = numbers_of(c);
    return ricci::find_path(net).flops;
  }

 private:
  std::string joined(const std::vector<std::string>& all) const {
    std::string s;
    for (const std::string& f : all) s += (s.empty() ? "" : ",") + f;
    return s + "->" + c;
  }
};

class generator {
 public:
  /// Problems of 2^least to 2^most multiply-adds whose tensors have at most `elements`.
  generator(unsigned seed, double least, double most, std::int64_t elements) : least_(least), most_(most), elements_(elements), rng_(seed) {}

  contraction next() {
    for (;;) {
      contraction x = labels();
      if (x.a.empty() || x.extent.empty()) continue;
      extents(x);
      if (has_room_for(x)) return x;
    }
  }

  bool has_room_for(const contraction& x) const { return x.largest() <= elements_; }

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
    std::uniform_real_distribution<double> exponent(least_, most_), share(0.05, 1);
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

  double least_, most_;
  std::int64_t elements_;
  std::mt19937 rng_;
};

/// "ab,bc->ac a=312 b=24 c=5", as name() gives it; of any number of factors, which may be as window_notation.hpp has them.
inline contraction contraction_of(const std::string& line) {
  const std::size_t end = std::min(line.size(), line.find(' '));
  const sides x = sides_of(line.substr(0, end));
  contraction c;
  std::istringstream words(x.left);
  std::string labels;
  for (std::string factor; std::getline(words, factor, ',');) c.written.push_back(factor), c.more.push_back(factor_text(factor).labels()), labels += c.more.back();
  if (c.more == c.written) c.written.clear();
  if (!c.more.empty()) c.a = c.more.front(), c.more.erase(c.more.begin());
  if (!c.more.empty()) c.b = c.more.front(), c.more.erase(c.more.begin());
  c.c = x.right;
  c.read(line.substr(end), labels);
  return c;
}

/// What a run measures: random contractions, or those of a file.
inline std::vector<contraction> problems_of(const random_setting& s, generator random) {
  std::vector<contraction> all;
  if (s.file.empty())
    for (int i = 0; i < s.count; ++i) all.push_back(random.next());
  std::ifstream lines(s.file);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    all.push_back(contraction_of(line));
    if (!random.has_room_for(all.back())) throw std::runtime_error("'" + line + "' has a tensor that is too large for this bench");
  }
  if (all.empty()) throw std::runtime_error(s.file + " has no contractions");
  return all;
}

struct result {
  std::string name;
  double seconds, bound;
};

inline double geometric_mean(const std::vector<double>& x) {
  double sum = 0;
  for (const double r : x) sum += std::log(r);
  return x.empty() ? 0 : std::exp(sum / static_cast<double>(x.size()));
}

inline void compare(const std::vector<result>& all, const std::string& file, int worst) {
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

/// Sorts the results, the slowest beside its bound first, prints and writes what the setting asks for.
inline void report(std::vector<result> all, const std::string& machine, const random_setting& s) {
  std::sort(all.begin(), all.end(), [](const result& x, const result& y) { return x.bound / x.seconds < y.bound / y.seconds; });
  std::vector<double> shares;
  for (const result& r : all) shares.push_back(r.bound / r.seconds);
  std::printf("%s, %s: %.2f of the bound on geometric mean, %lld of %zu below 0.3\n", machine.c_str(), s.dtype.c_str(), geometric_mean(shares),
              static_cast<long long>(std::count_if(shares.begin(), shares.end(), [](double x) { return x < 0.3; })), all.size());
  for (std::size_t i = 0; i < all.size() && i < static_cast<std::size_t>(s.worst); ++i)
    std::printf("  %.2f  %s  %.2f us, bound %.2f\n", shares[i], all[i].name.c_str(), 1e6 * all[i].seconds, 1e6 * all[i].bound);
  if (!s.out.empty()) {
    std::ofstream out(s.out);
    for (const result& r : all) out << r.seconds << ' ' << r.name << '\n';
  }
  if (!s.against.empty()) compare(all, s.against, s.worst);
}

}  // namespace bench
