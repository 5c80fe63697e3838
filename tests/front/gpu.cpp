// Statements over gpu tensors, as a user writes them. They run where there is a GPU; everywhere they must compile.
#include <catch2/catch.hpp>

#include <type_traits>
#include <utility>

#include <ricci/ricci.hpp>

using namespace ricci::labels;
using ricci::dynamic;
using ricci::gpu;
using ricci::tensor;

namespace {

/// Runs the work; without a GPU the first tensor says so, and that is all there is to see.
template <class F>
void on_gpu(F&& work) {
  try {
    tensor<double, 1, gpu> probe;
  } catch (const ricci::error& e) {
    CHECK(e.code() == ricci::errc::no_gpu);
    return;
  }
  work();
}

template <class T>
void number(T& x, double step) {
  double value = -3;
  for (auto& e : x) e = static_cast<std::remove_cvref_t<decltype(e)>>(value += step);
}

}  // namespace

TEST_CASE("a batch of products there and back") {
  on_gpu([] {
    tensor<double, dynamic, 8, 8> A(100), B(100), C(100), want(100);
    number(A, 0.25), number(B, 0.5);
    want(e, i, j) = A(e, i, k) * B(e, k, j);
    tensor<double, dynamic, 8, 8, gpu> a(100), b(100), c(100);
    ricci::copy(A, a);
    ricci::copy(B, b);
    c(e, i, j) = a(e, i, k) * b(e, k, j);
    ricci::copy(c, C);
    CHECK(C == want);
    c(e, i, j).on(ricci::stream()) -= a(e, i, k) * b(e, k, j);
    ricci::copy(c, C);
    want.fill(0);
    CHECK(C == want);
  });
}

TEST_CASE("ranges, constants, views and a plan on the GPU") {
  on_gpu([] {
    tensor<double, 12, 12, 9, 8> host;
    number(host, 0.125);
    tensor<double, 12, 12, 9, 8, gpu> A;
    ricci::copy(host, A);
    A(i, j, m.in(1, 9), n.in(1, 8)) -= A(i, k, m, 0) * A(k, j, 0, n);
    tensor<double, 12, 12, 9, 8> got;
    ricci::copy(A, got);
    host(i, j, m.in(1, 9), n.in(1, 8)) -= host(i, k, m, 0) * host(k, j, 0, n);
    CHECK(got == host);  // numbers of few bits: every sum is exact, in any order

    tensor<float, 6, gpu> f;
    f.fill(2.5f);
    const auto v = ricci::view(gpu, f.data(), {3}, {2});
    auto plan = ricci::plan(v(i).assign(v(i) * 2.0));
    plan.run(ricci::stream());
    tensor<float, 6> back;
    ricci::copy(f, back);
    CHECK(back(0) == 5.0f);
    CHECK(back(1) == 2.5f);
    v(i).on(ricci::stream()) /= 2.0;
    v(i) *= 3;
    ricci::copy(f, back);
    CHECK(back(0) == 7.5f);
    CHECK(back(1) == 2.5f);
  });
}

TEST_CASE("fused programs and copies of gpu tensors") {
  on_gpu([] {
    tensor<double, 20, 5> U, V, want;
    tensor<double, 4, 5> Bh;
    number(U, 0.5), number(Bh, 1.0);
    tensor<double, 20, 5, gpu> u, v;
    tensor<double, 4, 5, gpu> b;
    ricci::copy(U, u), ricci::copy(Bh, b);
    ricci::local<double> g;
    ricci::fuse(g(e, q).assign(b(q, i) * u(e, i)), v(e, a).assign(b(q, a) * g(e, q))).run();
    const tensor<double, 20, 5, gpu> copied = v;
    ricci::copy(copied, V);
    want(e, a) = Bh(q, a) * Bh(q, i) * U(e, i);
    CHECK(V == want);
  });
}

TEST_CASE("functions, index tensors and declared symmetries on the GPU") {
  on_gpu([] {
    constexpr int elements = 40, P = 3, Q = 4;
    tensor<std::int32_t, dynamic, P> Dof(elements);
    for (int n = 0; n < elements; ++n)
      for (int m = 0; m < P; ++m) Dof(n, m) = n * (P - 1) + m;
    tensor<double, dynamic> U(elements * (P - 1) + 1), V(U), got(U);
    tensor<double, Q, P> Bh;
    tensor<double, dynamic, Q> W(elements);
    number(U, 0.5), number(V, 0.25), number(W, 0.125);
    for (int y = 0; y < Q; ++y)
      for (int x = 0; x < P; ++x) Bh(y, x) = (y + 1) * (x + 2) + (Q - y) * (P - x + 1);  // even about its middle
    tensor<std::int32_t, dynamic, P, gpu> dof(elements);
    tensor<double, dynamic, gpu> u(U.extent(0)), v(U.extent(0));
    tensor<double, Q, P, gpu> b;
    tensor<double, dynamic, Q, gpu> w(elements);
    ricci::copy(Dof, dof), ricci::copy(U, u), ricci::copy(V, v), ricci::copy(Bh, b), ricci::copy(W, w);
    const auto run = [](auto& to, const auto& B, const auto& weights, const auto& from, const auto& index) {
      ricci::local<double> g("g"), h("h");
      const auto E = ricci::even_odd(B);
      ricci::fuse(g(e, q).assign(E(q, i) * from(index(e, i))), h(e, q).assign(abs(weights(e, q)) * g(e, q) - weights(e, q)),
                  to(index(e, j)).add(E(q, j) * h(e, q))).run();
    };
    run(V, Bh, W, U, Dof);
    run(v, b, w, u, dof);
    ricci::copy(v, got);
    CHECK(got == V);  // exact, as above: the halves of the matrix are multiples of 1/2
    Dof(7, 1) = 1000;
    ricci::copy(Dof, dof);
    tensor<double, dynamic, P, gpu> x(elements);
    CHECK_THROWS_AS(ricci::plan(x(e, i).assign(u(dof(e, i)))), ricci::error);
  });
}

TEST_CASE("interleaved tensors on the GPU") {
  on_gpu([] {
    for (const int count : {8, 37, 100}) {
      tensor<double, dynamic, 3, 4> A(count), got(count), want(count);
      tensor<double, dynamic, 4, 4> B(count);
      number(A, 0.25), number(B, 0.5);
      // There and back as they lie, into plain memory, and into lanes from plain memory of the GPU.
      const auto side_A = ricci::interleave<8>(A);
      auto side_got = ricci::interleave<8>(got);
      tensor<double, dynamic, 3, 4, gpu, ricci::interleaved<8>> a(count), c(count);
      ricci::copy(side_A, a);
      const auto a_copy = a;
      ricci::copy(a_copy, side_got);
      CHECK(side_got == A);
      const auto flat = ricci::deinterleave(a);
      STATIC_REQUIRE(std::is_same_v<decltype(flat), const tensor<double, dynamic, 3, 4, gpu>>);
      ricci::copy(flat, got);
      CHECK(got == A);
      tensor<double, dynamic, 4, 4, gpu> b_flat(count);
      ricci::copy(B, b_flat);
      const auto b = ricci::interleave<8>(b_flat);
      // Products, wholly and in part side by side.
      want(e, i, j) = A(e, i, k) * B(e, k, j);
      c(e, i, j) = a(e, i, k) * b(e, k, j);
      ricci::copy(c, side_got);
      CHECK(side_got == want);
      want(e, i, j) += 2 * A(e, i, k) * B(e, k, j) - A(e, i, j);
      auto plan = ricci::plan(c(e, i, j).add(2 * a(e, i, k) * b_flat(e, k, j) - flat(e, i, j)));
      plan.run(ricci::stream());
      ricci::copy(c, side_got);
      CHECK(side_got == want);
      // What is read lies in other problems than what is written: through copies in the GPU's memory.
      tensor<double, dynamic, dynamic> M(count, count);
      tensor<double, dynamic, dynamic, gpu> m(count, count);
      number(M, 0.125), ricci::copy(M, m);
      for (double& x : M) x = static_cast<int>(x) % 5;
      ricci::copy(M, m);
      want(e, i, j) = M(e, f) * want(f, i, j);
      c(e, i, j) = m(e, f) * c(f, i, j);
      ricci::copy(c, side_got);
      CHECK(side_got == want);
      c.fill(1.5);
      ricci::copy(c, side_got);
      CHECK(side_got(count - 1, 2, 3) == 1.5);
    }
  });
}

TEST_CASE("gathers and scatters beside interleaved factors on the GPU") {
  on_gpu([] {
    constexpr int elements = 45;
    tensor<std::int32_t, dynamic, 3> Dof(elements);
    for (int at = 0; at < elements; ++at)
      for (int x = 0; x < 3; ++x) Dof(at, x) = 2 * at + x;
    tensor<double, dynamic, 3> W(elements);
    tensor<double, dynamic> U(2 * elements + 1), V(U), got(U);
    number(W, 0.25), number(U, 0.5), number(V, 1);
    tensor<std::int32_t, dynamic, 3, gpu> dof(elements);
    tensor<double, dynamic, 3, gpu, ricci::interleaved<8>> w(elements);
    tensor<double, dynamic, gpu> u(U.extent(0)), v(U.extent(0));
    ricci::copy(Dof, dof), ricci::copy(ricci::interleave<8>(W), w), ricci::copy(U, u), ricci::copy(V, v);
    V(Dof(e, i)) += W(e, i) * U(Dof(e, i));
    v(dof(e, i)) += w(e, i) * u(dof(e, i));
    ricci::copy(v, got);
    CHECK(got == V);
  });
}

TEST_CASE("copies that cannot be") {
  tensor<double, 3, 4> A;
  tensor<double, dynamic, 4> B(2), C(3);
  number(A, 1);
  ricci::copy(A, C);
  CHECK(C(2, 3) == A(2, 3));
  CHECK_THROWS_AS(ricci::copy(A, B), ricci::error);
  tensor<double, 3, 4, ricci::column_major> D;
  ricci::copy(A, D);
  CHECK(D(1, 2) == A(1, 2));
  const auto lanes = ricci::interleave<2>(A);
  tensor<double, 3, 4> back;
  ricci::copy(lanes, back);
  CHECK(back == A);
  tensor<double, 3, 4, ricci::interleaved<2>> same;
  ricci::copy(lanes, same);
  CHECK(same == A);
  tensor<double, 3, 4, ricci::interleaved<4>> other;
  ricci::copy(lanes, other);
  CHECK(other == A);
  on_gpu([&] {
    tensor<double, 3, 4, gpu> flat;
    CHECK_THROWS_AS(ricci::copy(lanes, flat), ricci::error);
  });
}

TEST_CASE("an element in the GPU's memory is none of the host's") {
  using sum = decltype(std::declval<tensor<double, gpu>&>()());
  using host_sum = decltype(std::declval<tensor<double>&>()());
  static_assert(std::is_convertible_v<host_sum, double>);
  static_assert(!std::is_convertible_v<sum, double> && !std::is_convertible_v<decltype(2 * std::declval<sum>()), double>);
}
