// Gathers and scatter-adds alone beside plain loops: the least of many runs, planned and at once, in turn with the loop, in microseconds.
#include <CLI/CLI.hpp>
#include <ricci/ricci.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>

using namespace ricci::labels;
using ricci::dynamic;

namespace {

template <class F> double microseconds(int times, const F& f) {
  const auto start = std::chrono::steady_clock::now();
  for (int t = 0; t < times; ++t) {
    f();
    asm volatile("" ::: "memory");
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() * 1e6 / times;
}

/// One line: the plan, the statement, the loop, and what making the plan takes.
template <class Make, class Statement, class Loop> void compare(const char* name, const Make& make, const Statement& statement, const Loop& loop, double seconds) {
  const auto plan = make();
  const double once = std::max(microseconds(1, loop), 0.1);
  const int times = std::max(1, static_cast<int>(100 / once)), rounds = std::clamp(static_cast<int>(seconds * 1e6 / (3 * once * times)), 5, 400);
  double least[4] = {1e30, 1e30, 1e30, 1e30};
  for (int r = 0; r < rounds; ++r) {
    least[0] = std::min(least[0], microseconds(times, [&] { plan.run(); }));
    least[1] = std::min(least[1], microseconds(times, statement));
    least[2] = std::min(least[2], microseconds(times, loop));
    if (r < 20) least[3] = std::min(least[3], microseconds(1, [&] { make(); }));
  }
  std::printf("%-24s %10.2f %10.2f %10.2f %10.2f\n", name, least[0], least[1], least[2], least[3]);
}

void matrices(int n, double seconds) {
  ricci::tensor<double, dynamic, dynamic> A(n, n), B(n, n);
  ricci::tensor<int, dynamic> at(n);
  B.fill(1);
  for (int q = 0; q < n; ++q) at(q) = q * 7 % n;
  double *const a = A.data(), *const b = B.data();
  const int* const t = at.data();
  std::printf("%d x %d\n", n, n);
  const auto each = [n](const auto& f) {
    for (std::int64_t r = 0; r < n; ++r)
      for (std::int64_t c = 0; c < n; ++c) f(r, c);
  };
  compare("A(i,j) = B(at(i),j)", [&] { return ricci::plan(A(i, j).assign(B(at(i), j))); }, [&] { A(i, j) = B(at(i), j); }, [&] { each([=](auto r, auto c) { a[r * n + c] = b[t[r] * n + c]; }); }, seconds);
  compare("A(i,j) = B(i,at(j))", [&] { return ricci::plan(A(i, j).assign(B(i, at(j)))); }, [&] { A(i, j) = B(i, at(j)); }, [&] { each([=](auto r, auto c) { a[r * n + c] = b[r * n + t[c]]; }); }, seconds);
  compare("A(j,i) = B(at(i),j)", [&] { return ricci::plan(A(j, i).assign(B(at(i), j))); }, [&] { A(j, i) = B(at(i), j); }, [&] { each([=](auto r, auto c) { a[r * n + c] = b[t[c] * n + r]; }); }, seconds);
  compare("A(i,j) += 3*B(at(i),j)", [&] { return ricci::plan(A(i, j).add(3 * B(at(i), j))); }, [&] { A(i, j) += 3 * B(at(i), j); }, [&] { each([=](auto r, auto c) { a[r * n + c] += 3 * b[t[r] * n + c]; }); }, seconds);
  compare("A(at(i),j) += B(i,j)", [&] { return ricci::plan(A(at(i), j).add(B(i, j))); }, [&] { A(at(i), j) += B(i, j); }, [&] { each([=](auto r, auto c) { a[t[r] * n + c] += b[r * n + c]; }); }, seconds);
  compare("A(i,at(j)) += B(i,j)", [&] { return ricci::plan(A(i, at(j)).add(B(i, j))); }, [&] { A(i, at(j)) += B(i, j); }, [&] { each([=](auto r, auto c) { a[r * n + t[c]] += b[r * n + c]; }); }, seconds);
}

template <int Row> void rows(int n, double seconds) {
  ricci::tensor<double, dynamic, Row> U(n), V(n);
  ricci::tensor<int, dynamic> at(n);
  U.fill(1);
  std::mt19937 bits(1);
  for (int q = 0; q < n; ++q) at(q) = static_cast<int>(bits() % static_cast<unsigned>(n));
  double *const u = U.data(), *const v = V.data();
  const int* const t = at.data();
  std::printf("%d rows of %d, anywhere\n", n, Row);
  const auto each = [n](const auto& f) {
    for (std::int64_t r = 0; r < n; ++r)
      for (int c = 0; c < Row; ++c) f(r, c);
  };
  compare("V(i,j) = U(at(i),j)", [&] { return ricci::plan(V(i, j).assign(U(at(i), j))); }, [&] { V(i, j) = U(at(i), j); }, [&] { each([=](auto r, auto c) { v[r * Row + c] = u[std::int64_t{t[r]} * Row + c]; }); }, seconds);
  compare("V(i,j) += 3*U(at(i),j)", [&] { return ricci::plan(V(i, j).add(3 * U(at(i), j))); }, [&] { V(i, j) += 3 * U(at(i), j); }, [&] { each([=](auto r, auto c) { v[r * Row + c] += 3 * u[std::int64_t{t[r]} * Row + c]; }); }, seconds);
  compare("V(at(i),j) += U(i,j)", [&] { return ricci::plan(V(at(i), j).add(U(i, j))); }, [&] { V(at(i), j) += U(i, j); }, [&] { each([=](auto r, auto c) { v[std::int64_t{t[r]} * Row + c] += u[r * Row + c]; }); }, seconds);
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Gathers and scatter-adds alone beside plain loops");
  double seconds = 0.3;
  app.add_option("--seconds", seconds, "how long each line is measured, about");
  CLI11_PARSE(app, count, words);
  std::printf("%-24s %10s %10s %10s %10s  us\n", "", "plan.run()", "at once", "loop", "plan made");
  matrices(100, seconds);
  matrices(2000, seconds);
  rows<1>(2000, seconds);
  rows<3>(2000, seconds);
  rows<4>(2000, seconds);
  rows<7>(2000, seconds);
  rows<16>(2000, seconds);
  rows<1>(1000000, seconds);
  rows<3>(1000000, seconds);
  rows<16>(1000000, seconds);
}
