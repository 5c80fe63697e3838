// Permutations of the labels of a tensor, beside a copy of it by memcpy. One thread.
//   bench_permutations [--dtype f32] [--file CASES] [--elements N] [--seconds S]
// A line of CASES: EINSUM a=7264 b=7264; without one, tensors of two to six labels of about the same length, with extents that are
// multiples of eight and odd ones, turned round, rotated, and with two labels changed.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <ricci/ricci.hpp>

#include "cases.hpp"
#include "classical.hpp"

namespace {

struct setting {
  std::string dtype = "f32", file;
  double elements = 5e7, seconds = 0.1;
};

struct permutation : bench::labelled {
  std::string from, to;
  std::string einsum() const { return from + "->" + to; }
};

/// The labels turned round, rotated by one, the last two changed, and all but the last turned round.
std::vector<std::string> orders_of(const std::string& labels) {
  std::string reversed(labels.rbegin(), labels.rend()), rotated = labels, changed = labels, kept = labels;
  std::rotate(rotated.begin(), rotated.begin() + 1, rotated.end());
  std::swap(changed[changed.size() - 1], changed[changed.size() - 2]);
  std::reverse(kept.begin(), kept.end() - 1);
  std::vector<std::string> all{reversed, rotated, changed, kept}, out;
  for (const std::string& x : all)
    if (x != labels && std::find(out.begin(), out.end(), x) == out.end()) out.push_back(x);
  return out;
}

std::vector<permutation> cases_of(const setting& s) {
  std::vector<permutation> out;
  if (!s.file.empty()) {
    bench::each_line(s.file, [&](std::istringstream& words) {
      std::string einsum;
      words >> einsum;
      permutation& x = out.emplace_back();
      const bench::sides all = bench::sides_of(einsum);
      x.from = all.left, x.to = all.right;
      x.read(bench::rest_of(words), x.from + x.to);
    });
    return out;
  }
  for (std::size_t rank = 2; rank <= 6; ++rank)
    for (const bool odd : {false, true}) {
      const auto side = static_cast<std::int64_t>(std::pow(s.elements, 1.0 / static_cast<double>(rank))) / 8 * 8;
      const std::string labels = std::string("abcdef").substr(0, rank);
      for (const std::string& to : orders_of(labels)) {
        permutation& x = out.emplace_back();
        x.from = labels, x.to = to;
        for (const char l : labels) x.extent[l] = side + (odd ? 1 : 0);
      }
    }
  return out;
}

template <class T>
void run(const setting& s) {
  std::vector<double> shares;
  std::printf("%9s %9s %6s\n", "GB/s", "memcpy", "share");
  for (const permutation& x : cases_of(s)) {
    ricci::ndarray<T> a(x.shape(x.from)), c(x.shape(x.to));
    for (std::int64_t i = 0; i < a.size(); ++i) a.data()[i] = T(static_cast<float>(i % 7 - 3));
    const std::string einsum = x.einsum();
    const auto bytes = static_cast<std::size_t>(a.size()) * sizeof(T);
    const std::vector<double> t = bench::in_turn({[&] { ricci::einsum_into(c, einsum, a); }, [&] { std::memcpy(static_cast<void*>(c.data()), a.data(), bytes); }}, s.seconds);
    const double moved = 2e-9 * static_cast<double>(bytes);
    std::printf("%9.1f %9.1f %6.2f  %s\n", moved / t[0], moved / t[1], t[1] / t[0], (einsum + x.extents()).c_str());
    std::fflush(stdout);
    shares.push_back(std::log(t[1] / t[0]));
  }
  double sum = 0;
  for (const double x : shares) sum += x;
  if (!shares.empty()) std::printf("%zu permutations: %.2f of the speed of memcpy on geometric mean\n", shares.size(), std::exp(sum / static_cast<double>(shares.size())));
}

}  // namespace

int main(int count, char** words) {
  omp_set_num_threads(1);
  setting s;
  CLI::App app("permutations of the labels of a tensor beside a copy");
  app.add_option("--dtype", s.dtype)->check(CLI::IsMember(bench::type_names));
  app.add_option("--file", s.file)->check(CLI::ExistingFile);
  app.add_option("--elements", s.elements)->check(CLI::Range(64.0, 1e10));
  app.add_option("--seconds", s.seconds)->check(CLI::Range(0.0, 1e4));
  CLI11_PARSE(app, count, words);
  return bench::run_program("bench_permutations", [&] { bench::with_type(s.dtype, [&](auto x) { run<decltype(x)>(s); }); });
}
