// Statements in destructors that run when a thread or the program has almost ended: what was remembered is gone by then.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <thread>

#include <ricci/ricci.hpp>

using namespace ricci::labels;

namespace {

using matrix = ricci::tensor<double, ricci::dynamic, ricci::dynamic>;
using field = ricci::tensor<double, ricci::dynamic, ricci::dynamic, ricci::dynamic, ricci::dynamic>;

/// With a temporary in the workspace.
bool in_one_piece() {
  const int n = 300;
  matrix A(n, n), B(n, n), C(n, n), D(n, n);
  A.fill(1), B.fill(1), C.fill(1);
  D(i, l) = A(i, j) * B(j, k) * C(k, l);
  return D(0, 0) == n * n && D(n - 1, n - 1) == n * n;
}

/// With a tensor between stages.
bool in_stages() {
  const int P = 3, Q = 4, count = 3001;
  matrix B(Q, P);
  field u(count, P, P, P), v(count, P, P, P);
  B.fill(1), u.fill(1);
  ricci::local<double> g;
  ricci::tensor<double> product;
  const auto plan = ricci::fuse(g(e, q, r, s).assign(B(q, i) * B(r, j) * B(s, k) * u(e, i, j, k)),
                                v(e, a, b, c).assign(B(q, a) * B(r, b) * B(s, c) * g(e, q, r, s)),
                                product().assign(v(e, a, b, c) * u(e, a, b, c)));
  plan.run();
  return product() == double(P * P * P) * (Q * Q * Q) * (P * P * P) * count;
}

bool in_words() {
  ricci::ndarray<double> x({40, 50}), y({50, 60});
  for (double& value : x) value = 1;
  for (double& value : y) value = 2;
  return ricci::einsum("ij,jk->", x, y)() == 2.0 * 40 * 50 * 60;
}

bool in_a_batch() {
  const int count = 100;
  auto x = ricci::make_batch<double>(ricci::of_size(5, 5), count), y = ricci::make_batch<double>(ricci::of_size(5, 5), count);
  x.fill(1), y.fill(2);
  const auto z = x * y;
  return z(count - 1)(4, 4) == 10;
}

bool all_right() { return in_one_piece() && in_stages() && in_words() && in_a_batch(); }

/// Made before anything of ricci in its thread, so that it goes after.
struct late {
  bool* right = nullptr;
  ~late() {
    if (right) *right = all_right();
  }
};

/// The same for the program. Nothing is left that could report, but the exit status.
struct last {
  ~last() {
    if (!all_right()) std::_Exit(3);
  }
} const at_the_end;

}  // namespace

TEST_CASE("destructors of objects of a thread") {
  bool right = false, before = false;
  std::thread([&] {
    thread_local late here;
    here.right = &right;
    before = all_right();
  }).join();
  CHECK(before);
  CHECK(right);
}

TEST_CASE("and of the program, after this") { CHECK(all_right()); }
