// Bad arguments from C: the number of the first one comes back, and nothing is touched.
#include <catch2/catch.hpp>

#include <ricci/ricci.h>

#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

/// A good call of both forms; a test spoils one argument.
struct call {
  int layout = RICCI_ROW_MAJOR, transa = RICCI_NO_TRANS, transb = RICCI_NO_TRANS;
  std::int64_t m = 2, n = 3, k = 4;
  double alpha = 1, beta = 1;
  std::vector<double> memory = std::vector<double>(100, 1.0);
  const double *a = memory.data(), *b = memory.data() + 20;
  double* c = memory.data() + 50;
  std::int64_t lda = 4, stridea = 8, ldb = 3, strideb = 12, ldc = 3, stridec = 6, batch = 2;
  const double* pa[2] = {a, a + 8};
  const double* pb[2] = {b, b};
  double* pc[2] = {c, c + 6};
  const double* const* as = pa;
  const double* const* bs = pb;
  double* const* cs = pc;

  call() = default;
  call(const call&) = delete;

  int strided() {
    return ricci_dgemm_batch_strided(static_cast<ricci_layout>(layout), static_cast<ricci_transpose>(transa),
                                     static_cast<ricci_transpose>(transb), m, n, k, alpha, a, lda, stridea, b, ldb, strideb,
                                     beta, c, ldc, stridec, batch);
  }
  int pointers() {
    return ricci_dgemm_batch(static_cast<ricci_layout>(layout), static_cast<ricci_transpose>(transa),
                             static_cast<ricci_transpose>(transb), m, n, k, alpha, as, lda, bs, ldb, beta, cs, ldc, batch);
  }
};

template <class Spoil>
void refused(int strided, int pointers, const char* word, Spoil spoil) {
  call x;
  spoil(x);
  INFO(word);
  if (strided) {
    CHECK(x.strided() == -strided);
    CHECK(std::string(ricci_last_error()).find(word) != std::string::npos);
    CHECK(std::string(ricci_last_error()).find("argument " + std::to_string(strided) + " ") != std::string::npos);
    CHECK(std::string(ricci_last_error()).find("ricci_dgemm_batch_strided") == 0);
  }
  if (pointers) {
    CHECK(x.pointers() == -pointers);
    CHECK(std::string(ricci_last_error()).find(word) != std::string::npos);
  }
  CHECK(x.memory == std::vector<double>(100, 1.0));
}

}  // namespace

TEST_CASE("every bad argument has its number") {
  refused(1, 1, "layout", [](call& x) { x.layout = 0; });
  refused(1, 1, "layout", [](call& x) { x.layout = 103; });
  refused(2, 2, "transa", [](call& x) { x.transa = 110; });
  refused(3, 3, "transb", [](call& x) { x.transb = 127; });
  refused(4, 4, "m", [](call& x) { x.m = -1; });
  refused(5, 5, "n", [](call& x) { x.n = -1; });
  refused(6, 6, "k", [](call& x) { x.k = std::numeric_limits<std::int64_t>::min(); });
  refused(8, 8, "a", [](call& x) { x.a = nullptr, x.as = nullptr; });
  refused(0, 8, "a", [](call& x) { x.pa[1] = nullptr; });
  refused(9, 9, "lda", [](call& x) { x.lda = 3; });
  refused(9, 9, "lda", [](call& x) { x.lda = huge; });
  refused(10, 0, "stridea", [](call& x) { x.stridea = huge / 4; });
  refused(10, 0, "stridea", [](call& x) { x.stridea = std::numeric_limits<std::int64_t>::min(); });
  refused(11, 10, "b", [](call& x) { x.b = nullptr, x.bs = nullptr; });
  refused(0, 10, "b", [](call& x) { x.pb[0] = nullptr; });
  refused(12, 11, "ldb", [](call& x) { x.ldb = 2; });
  refused(13, 0, "strideb", [](call& x) { x.strideb = -huge / 4; });
  refused(15, 13, "c", [](call& x) { x.c = nullptr, x.cs = nullptr; });
  refused(0, 13, "c", [](call& x) { x.pc[1] = nullptr; });
  refused(16, 14, "ldc", [](call& x) { x.ldc = 2; });
  refused(17, 0, "stridec", [](call& x) { x.stridec = huge; });
  refused(18, 15, "batch", [](call& x) { x.batch = -1; });
}

TEST_CASE("the first of several bad arguments is named") {
  refused(4, 4, "m", [](call& x) { x.m = -1, x.lda = 0, x.batch = -1; });
  refused(9, 9, "lda", [](call& x) { x.lda = 0, x.ldc = 0; });
  refused(16, 14, "ldc", [](call& x) { x.ldc = 0, x.batch = -5; });
}

TEST_CASE("the least leading dimension goes by layout and transposition") {
  refused(9, 9, "lda", [](call& x) { x.layout = RICCI_COL_MAJOR, x.lda = 1, x.ldb = 4; });
  refused(9, 9, "lda", [](call& x) { x.layout = RICCI_COL_MAJOR, x.transa = RICCI_TRANS, x.lda = 3, x.ldb = 4; });
  refused(12, 11, "ldb", [](call& x) { x.layout = RICCI_COL_MAJOR, x.ldb = 3; });
  refused(12, 11, "ldb", [](call& x) { x.transb = RICCI_CONJ_TRANS, x.ldb = 3; });
  refused(16, 14, "ldc", [](call& x) { x.layout = RICCI_COL_MAJOR, x.ldb = 4, x.ldc = 1; });
  call x;
  x.transa = RICCI_TRANS, x.lda = 2, x.transb = RICCI_TRANS, x.ldb = 4;
  CHECK(x.strided() == 0);
}

TEST_CASE("leading dimensions are at least 1, whatever the extents") {
  for (const int extent : {0, 1, 2}) {
    call x;
    (extent == 0 ? x.m : extent == 1 ? x.n : x.k) = 0;
    x.ldc = 0;
    CHECK(x.strided() == -16);
    x.ldc = 3, x.lda = 0;
    CHECK(x.strided() == -9);
  }
}

TEST_CASE("nothing to do needs no memory") {
  for (const int which : {0, 1, 2}) {
    call x;
    (which == 0 ? x.m : which == 1 ? x.n : x.batch) = 0;
    x.a = x.b = x.c = nullptr, x.as = x.bs = nullptr, x.cs = nullptr;
    CHECK(x.strided() == 0);
    CHECK(x.pointers() == 0);
  }
}

TEST_CASE("without k or alpha there are no factors, and C is scaled") {
  for (const bool no_k : {true, false})
    for (const double beta : {0.0, 1.0, -3.0}) {
      call x;
      if (no_k) x.k = 0, x.lda = 1;
      else x.alpha = 0;
      x.beta = beta;
      x.a = x.b = nullptr, x.as = x.bs = nullptr;
      CHECK(x.strided() == 0);
      for (int i = 0; i < 12; ++i) CHECK(x.memory[50 + i] == beta);
      CHECK(x.pointers() == 0);
      for (int i = 0; i < 12; ++i) CHECK(x.memory[50 + i] == beta * beta);
      CHECK(x.memory[49] == 1);
      CHECK(x.memory[62] == 1);
    }
}

TEST_CASE("complex scalars are pointers") {
  const float one[2] = {1, 0};
  float c[2] = {3, 4};
  const float a[2] = {1, 2};
  const auto run = [&](const void* alpha, const void* beta) {
    return ricci_cgemm_batch_strided(RICCI_ROW_MAJOR, RICCI_NO_TRANS, RICCI_CONJ_TRANS, 1, 1, 1, alpha, a, 1, 1, a, 1, 1, beta,
                                     c, 1, 1, 1);
  };
  CHECK(run(nullptr, one) == -7);
  CHECK(run(one, nullptr) == -14);
  CHECK(c[0] == 3);
  CHECK(run(one, one) == 0);
  CHECK(c[0] == 8);
  CHECK(c[1] == 4);
}

TEST_CASE("the last error is the thread's own") {
  call x;
  x.m = -1;
  CHECK(x.strided() == -4);
  const std::string mine = ricci_last_error();
  std::string other = "something";
  std::thread([&] { other = ricci_last_error(); }).join();
  CHECK(other == "");
  CHECK(mine == ricci_last_error());
}

TEST_CASE("version and threads") {
  const std::string numbers = std::to_string(RICCI_VERSION_MAJOR) + "." + std::to_string(RICCI_VERSION_MINOR) + "." +
                              std::to_string(RICCI_VERSION_PATCH);
  CHECK(ricci_version() == numbers);
  CHECK(std::string(RICCI_PROJECT_VERSION) == numbers);
  ricci_set_num_threads(1);
  CHECK(ricci_get_num_threads() == 1);
  call x;
  CHECK(x.strided() == 0);
  ricci_set_num_threads(-1);
  CHECK(ricci_get_num_threads() == 0);
}
