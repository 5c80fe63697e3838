// Memory runs out: nothing was stored then, since all that a run needs is reserved before it begins.
#include <catch2/catch.hpp>

#include <omp.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include <ricci/core/error.hpp>
#include <ricci/core/memory.hpp>
#include <ricci/engine/gemm.hpp>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

namespace {

std::atomic<int> left{0};  // workspaces until there is no memory for one; 0: there is always

}  // namespace

// Instead of the library's own.
namespace ricci::detail {

void* allocate(std::size_t bytes, std::size_t alignment, bool zeroed, const char* what) {
  const bool workspace = std::string(what) == "a workspace";
  if (workspace && (bytes > std::size_t{1} << 40 || (left > 0 && --left == 0))) throw error(errc::no_memory, "no memory for a workspace");
  const std::size_t rounded = (bytes / alignment + 1) * alignment;
  void* const memory = std::aligned_alloc(alignment, rounded);
  if (memory && zeroed) std::memset(memory, 0, rounded);
  return memory;
}

void release(void* memory) noexcept { std::free(memory); }

}  // namespace ricci::detail

namespace {

/// Runs the work with no memory for the first workspace it asks for, then the second and so on, until it needs no more.
/// Every time it fails, `untouched` must hold. How often it did.
template <class Work, class Test>
int fail_one_by_one(const Work& work, const Test& untouched) {
  for (int fails = 0;; ++fails) {
    left = fails + 1;
    bool failed = false;
    try {
      work();
    } catch (const ricci::error& e) {
      failed = true;
      CHECK(e.code() == ricci::errc::no_memory);
    }
    left = 0;
    if (!failed) return fails;
    REQUIRE(untouched());
    REQUIRE(fails < 20);
  }
}

template <class Tensor, class T>
bool is_all(const Tensor& x, T value) {
  return std::all_of(x.begin(), x.end(), [&](T e) { return e == value; });
}

}  // namespace

TEST_CASE("arrays of pointers, by several threads") {
  omp_set_num_threads(4);
  const std::int64_t n = 40, count = 2000;
  ricci::tensor<double, ricci::dynamic, 40, 40> A(count), B(count), C(count);
  A.fill(1), B.fill(1), C.fill(3);
  std::vector<const void*> a, b;
  std::vector<void*> c;
  for (std::int64_t e = 0; e < count; ++e)
    a.push_back(A.data() + e * n * n), b.push_back(B.data() + e * n * n), c.push_back(C.data() + e * n * n);
  ricci::gemm_problem p;
  p.m = p.n = p.k = n, p.batch = count;
  p.a_row = 1, p.a_col = n, p.b_row = 1, p.b_col = n, p.c_row = n, p.c_col = 1;
  const int fails = fail_one_by_one([&] { run_gemm_each(p, a.data(), b.data(), c.data()); }, [&] { return is_all(C, 3.0); });
  CHECK(fails > 1);
  CHECK(is_all(C, 40.0));
}

TEST_CASE("a program in stages, on another thread than the one that made its plan") {
  const int P = 3, Q = 4, count = 3001;
  ricci::tensor<double, ricci::dynamic, ricci::dynamic> M(Q, P);
  ricci::tensor<double, ricci::dynamic, ricci::dynamic, ricci::dynamic, ricci::dynamic> u(count, P, P, P), w(count, P, P, P);
  M.fill(1), u.fill(1), w.fill(3);
  ricci::tensor<double> product, other;
  product() = 3, other() = 3;
  ricci::local<double> g;
  const auto plan = ricci::fuse(product().assign(u(e, a, b, c) * u(e, a, b, c)), g(e, q, r, s).assign(M(q, i) * M(r, j) * M(s, k) * u(e, i, j, k)),
                                w(e, a, b, c).assign(M(q, a) * M(r, b) * M(s, c) * g(e, q, r, s)),
                                other().assign(w(e, a, b, c) * w(e, a, b, c)));
  std::ostringstream text;
  text << plan;
  UNSCOPED_INFO(text.str());
  const int fails = fail_one_by_one(
      [&] {
        std::exception_ptr failure;
        std::thread([&] {
          omp_set_num_threads(1);
          try {
            plan.run();
          } catch (...) {
            failure = std::current_exception();
          }
        }).join();
        if (failure) std::rethrow_exception(failure);
      },
      [&] { return product() == 3 && other() == 3 && is_all(w, 3.0); });
  CHECK(fails > 1);
  CHECK(product() == 27 * count);
}

TEST_CASE("a network whose temporaries nobody has room for, before lists as long as they are written") {
  constexpr int side = 16;  // a lattice with labels of extent 8 between neighbours: 8^16 elements
  std::vector<std::vector<int>> labels;
  std::vector<std::vector<std::int64_t>> extents;
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      std::vector<int> own;
      if (x > 0) own.push_back(2 * (y * side + x - 1));
      if (x + 1 < side) own.push_back(2 * (y * side + x));
      if (y > 0) own.push_back(2 * ((y - 1) * side + x) + 1);
      if (y + 1 < side) own.push_back(2 * (y * side + x) + 1);
      labels.push_back(own), extents.emplace_back(own.size(), 8);
    }
  const std::vector<double> memory(8 * 8 * 8 * 8, 0.5);
  std::vector<ricci::ndview<const double>> views;
  for (const auto& x : extents) views.emplace_back(memory.data(), x);
  try {
    static_cast<void>(ricci::einsum<double>(labels, std::vector<int>{}, views));
    FAIL("no error");
  } catch (const ricci::error& e) {
    CHECK(e.code() == ricci::errc::no_memory);
  }
}
