// What the cases of the demo share: timing, rounding bounds, the roofline, and tables for terminals and Markdown.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <machine/machine.hpp>

namespace demo {

struct settings {
  bool quick = false;  // small sizes, few repetitions: a test, not a measurement
  bool markdown = false;
  ricci::machine machine;
};

/// Seconds of one operation.
struct times {
  double ricci = 0, even = 0, eigen = 0;  // one core; even: with matrices declared even
  double all = 0;                          // ricci, the faster of the two, all cores
};

using job = std::function<void()>;

/// Runs the jobs in turn, over and over, and gives the median seconds of each.
std::vector<double> interleaved(const std::vector<job>& jobs, const settings& s);

/// The job that is the fastest of a few runs.
const job& fastest(const std::vector<job>& jobs);

/// While it lives, OpenMP uses one thread.
class one_core {
 public:
  one_core();
  ~one_core();
  one_core(const one_core&) = delete;
  one_core& operator=(const one_core&) = delete;

 private:
  int before_;
};

/// GFLOP/s that one core can reach at most: its multiply-add peak, or `bytes` from the first cache level that holds
/// them.
double roofline(const ricci::machine& m, double peak, double flops, double bytes);

/// Largest |got - want| in units of roundings eps magnitude. Infinite for a NaN.
template <class T>
double worst_error(const T* got, const T* want, const T* magnitude, std::int64_t count, int roundings) {
  double worst = 0;
  bool ordered = true;
  const double unit = roundings * double(std::numeric_limits<T>::epsilon());
#pragma omp parallel for reduction(max : worst) reduction(&& : ordered)
  for (std::int64_t x = 0; x < count; ++x) {
    const double error = std::abs(double(got[x]) - double(want[x])), bound = unit * double(magnitude[x]);
    if (error > 0) worst = std::max(worst, error / bound);
    ordered = ordered && error <= std::numeric_limits<double>::max();
  }
  return ordered ? worst : std::numeric_limits<double>::infinity();
}

/// Numbers in [-1, 1) that are the same everywhere.
template <class T>
void fill(T* to, std::int64_t count, std::uint64_t seed) {
  for (std::int64_t x = 0; x < count; ++x) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    to[x] = T(double(std::int64_t(seed) >> 11) * 0x1p-52);
  }
}

template <class T>
void absolute(const T* from, T* to, std::int64_t count) {
#pragma omp parallel for
  for (std::int64_t x = 0; x < count; ++x) to[x] = std::abs(from[x]);
}

struct table {
  std::vector<std::string> head;
  std::vector<std::string> groups;  // empty, or one for each column: the title that starts there
  std::vector<std::vector<std::string>> rows;
};

/// A title line in code font with an explanation, then the table.
void print(const settings& s, const std::string& title, const std::string& explanation, const table& t);

/// Plain or Markdown: a block of text shown as it is.
void print_block(const settings& s, const std::string& title, const std::string& text);

std::string fixed(double x, int digits);
std::string error_text(double x);
std::string percent(double part);

/// The six columns that every case ends with: ricci, of bound, Eigen, ratio, all cores.
std::vector<std::string> speed_columns(const times& t, double flops, double bound);
extern const std::vector<std::string> speed_head;

/// True once an error was above its bound.
bool something_is_wrong();
/// Notes it if error > 1, and returns the error as text.
std::string checked(double error);

}  // namespace demo
