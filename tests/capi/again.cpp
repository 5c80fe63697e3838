// Calls that repeat the thread's last one take a short way: nothing of the last call may stick but what is the same.
#include <catch2/catch.hpp>
#include <ricci/engine/gemm.hpp>
#include <ricci/ricci.h>

#include <random>
#include <thread>
#include <vector>

namespace {

constexpr std::int64_t most = 2048;

struct operands {
  std::vector<double> a, b, c, old;
  explicit operands(unsigned seed) : a(most), b(most), c(most) {
    std::mt19937 g(seed);
    for (auto* x : {&a, &b, &c})
      for (double& v : *x) v = static_cast<double>(static_cast<int>(g() % 17) - 8);
    old = c;
  }
};

struct call {
  bool rows = true, transa = false, transb = false;
  std::int64_t m = 3, n = 4, k = 5, batch = 6;
  double alpha = 1, beta = 0;
  std::int64_t more = 0;  // of every leading dimension
  bool pointers = false;
};

/// Whole numbers: results are exact.
bool right(const call& x, operands& o) {
  const std::int64_t ra = x.transa ? x.k : x.m, ca = x.transa ? x.m : x.k, rb = x.transb ? x.n : x.k, cb = x.transb ? x.k : x.n;
  const std::int64_t lda = (x.rows ? ca : ra) + x.more, ldb = (x.rows ? cb : rb) + x.more, ldc = (x.rows ? x.n : x.m) + x.more;
  const std::int64_t sa = lda * (x.rows ? ra : ca), sb = ldb * (x.rows ? rb : cb), sc = ldc * (x.rows ? x.m : x.n);
  const auto layout = x.rows ? RICCI_ROW_MAJOR : RICCI_COL_MAJOR;
  const auto ta = x.transa ? RICCI_TRANS : RICCI_NO_TRANS, tb = x.transb ? RICCI_TRANS : RICCI_NO_TRANS;
  o.c = o.old;
  int info;
  if (x.pointers) {
    std::vector<const double*> a, b;
    std::vector<double*> c;
    for (std::int64_t e = 0; e < x.batch; ++e)
      a.push_back(o.a.data() + e * sa), b.push_back(o.b.data() + e * sb), c.push_back(o.c.data() + e * sc);
    info = ricci_dgemm_batch(layout, ta, tb, x.m, x.n, x.k, x.alpha, a.data(), lda, b.data(), ldb, x.beta, c.data(), ldc, x.batch);
  } else {
    info = ricci_dgemm_batch_strided(layout, ta, tb, x.m, x.n, x.k, x.alpha, o.a.data(), lda, sa, o.b.data(), ldb, sb, x.beta,
                                     o.c.data(), ldc, sc, x.batch);
  }
  if (info != 0) return false;
  for (std::int64_t e = 0; e < x.batch; ++e)
    for (std::int64_t i = 0; i < x.m; ++i)
      for (std::int64_t j = 0; j < x.n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < x.k; ++l)
          sum += o.a[static_cast<std::size_t>(e * sa + (x.rows != x.transa ? i * lda + l : l * lda + i))] *
                 o.b[static_cast<std::size_t>(e * sb + (x.rows != x.transb ? l * ldb + j : j * ldb + l))];
        const auto at = static_cast<std::size_t>(e * sc + (x.rows ? i * ldc + j : j * ldc + i));
        if (o.c[at] != x.alpha * sum + x.beta * o.old[at]) return false;
        o.c[at] = o.old[at];
      }
  return o.c == o.old;  // what lies between the rows
}

}  // namespace

TEST_CASE("a call again: every argument that changes is seen") {
  std::vector<call> calls{{}};
  const auto with = [&](auto change) {
    call x;
    change(x);
    calls.push_back(x);
  };
  with([](call& x) { x.rows = false; });
  with([](call& x) { x.transa = true; });
  with([](call& x) { x.transb = true; });
  with([](call& x) { x.m = 4; });
  with([](call& x) { x.n = 3; });
  with([](call& x) { x.k = 6; });
  with([](call& x) { x.batch = 5; });
  with([](call& x) { x.batch = 1; });
  with([](call& x) { x.alpha = 2; });
  with([](call& x) { x.alpha = 3; });
  with([](call& x) { x.alpha = -1; });
  with([](call& x) { x.alpha = 0, x.beta = 2; });
  with([](call& x) { x.beta = 1; });
  with([](call& x) { x.beta = 2; });
  with([](call& x) { x.beta = 3, x.batch = 1; });
  with([](call& x) { x.beta = 5, x.batch = 1, x.pointers = true; });
  with([](call& x) { x.beta = 2, x.pointers = true; });
  with([](call& x) { x.more = 2; });
  operands first(1), second(2);
  for (const call& x : calls)
    for (const call& y : calls) {
      INFO("call " << (&x - calls.data()) << ", then " << (&y - calls.data()));
      CHECK(right(x, first));
      CHECK(right(x, second));
      CHECK(right(y, first));
      CHECK(right(x, second));
    }
  std::thread([&] {
    CHECK(right(calls[0], first));
    CHECK(right(calls[0], second));
  }).join();
  ricci_set_num_threads(1);
  CHECK(right(calls[0], first));
  ricci_set_num_threads(0);
  CHECK(right(calls[0], second));
}

TEST_CASE("a call again: bad pointers are still bad") {
  operands o(3);
  const auto run = [&](const double* a, const double* b, double* c) {
    return ricci_dgemm_batch_strided(RICCI_ROW_MAJOR, RICCI_NO_TRANS, RICCI_NO_TRANS, 3, 3, 3, 1, a, 3, 9, b, 3, 9, 0, c, 3, 9, 4);
  };
  for (int i = 0; i < 2; ++i) {
    CHECK(run(o.a.data(), o.b.data(), o.c.data()) == 0);
    CHECK(run(nullptr, o.b.data(), o.c.data()) == -8);
    CHECK(run(o.a.data(), nullptr, o.c.data()) == -11);
    CHECK(run(o.a.data(), o.b.data(), nullptr) == -15);
  }
}

TEST_CASE("a problem again by its number") {
  operands o(4);
  ricci::gemm_problem p;
  p.m = p.n = p.k = 2, p.a_row = p.b_row = p.c_row = 2;
  ricci::run_gemm(p, o.a.data(), o.b.data(), o.c.data());
  const std::uint64_t number = ricci::last_gemm();
  if (number == 0) return;  // no kernels are written here
  std::vector<double> c(4);
  CHECK(ricci::run_gemm_again(number, o.a.data() + 4, o.b.data(), c.data()));
  CHECK(c[0] == o.a[4] * o.b[0] + o.a[5] * o.b[2]);
  CHECK_FALSE(ricci::run_gemm_again(number + 1, o.a.data(), o.b.data(), c.data()));
  p.m = 1;
  ricci::run_gemm(p, o.a.data(), o.b.data(), o.c.data());
  CHECK_FALSE(ricci::run_gemm_again(number, o.a.data(), o.b.data(), c.data()));
  std::uint64_t there = 1;
  std::thread([&] { there = ricci::last_gemm(); }).join();
  CHECK(there == 0);
}

TEST_CASE("a call again whose matrices C share memory or lie between one another's rows") {
  std::vector<double> a(8 * 8 * 3, 1), b(8 * 8 * 3, 1);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i % 5) - 2, b[i] = static_cast<double>(i % 7) - 3;
  for (const std::int64_t stride : {0, 5, 72}) {
    std::vector<double> c(1024, 1), want = c;
    for (int time = 0; time < 4; ++time) {
      for (std::int64_t e = 0; e < 3; ++e)
        for (std::int64_t i = 0; i < 8; ++i)
          for (std::int64_t j = 0; j < 8; ++j)
            for (std::int64_t k = 0; k < 8; ++k)
              want[static_cast<std::size_t>(e * stride + 24 * i + j)] += a[static_cast<std::size_t>(e * 64 + 8 * i + k)] * b[static_cast<std::size_t>(e * 64 + 8 * k + j)];
      REQUIRE(ricci_dgemm_batch_strided(RICCI_ROW_MAJOR, RICCI_NO_TRANS, RICCI_NO_TRANS, 8, 8, 8, 1, a.data(), 8, 64, b.data(), 8, 64, 1, c.data(), 24, stride, 3) == 0);
      INFO("stride " << stride << ", call " << time);
      REQUIRE(c == want);
    }
  }
}
