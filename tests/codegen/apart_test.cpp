// Sums of numbers that lie apart, written at run time: against plain loops, between pages that may not be touched.
#include <catch2/catch.hpp>

#include <complex>
#include <random>
#include <vector>

#include "../kernels/guarded.hpp"
#include "codegen/apart.hpp"

using namespace ricci;

namespace {

template <class T> constexpr dtype type_of = dtype::f32;
template <> constexpr dtype type_of<double> = dtype::f64;
template <> constexpr dtype type_of<std::complex<float>> = dtype::c64;
template <> constexpr dtype type_of<std::complex<double>> = dtype::c128;

/// Small integers: every sum is exact.
template <class T> void fill(guarded<T>& x, std::mt19937& rng) {
  const auto number = [&] { return static_cast<double>(static_cast<int>(rng() % 41) - 20); };
  for (T& v : x) {
    if constexpr (is_complex(type_of<T>)) v = T(static_cast<typename T::value_type>(number()), static_cast<typename T::value_type>(number()));
    else v = static_cast<T>(number());
  }
}

template <class T> bool is_right(const codegen::apart_request& r, const codegen::kernel& made, bool at_end, std::mt19937& rng) {
  const std::int64_t reach_lane = (r.extent - 1) * r.lane_b, reach_k = (r.k - 1) * r.k_b;
  const std::int64_t least = std::min<std::int64_t>(0, reach_lane) + std::min<std::int64_t>(0, reach_k), most = std::max<std::int64_t>(0, reach_lane) + std::max<std::int64_t>(0, reach_k);
  guarded<T> b(static_cast<std::size_t>(most - least + 1), at_end), c(static_cast<std::size_t>(r.extent), at_end);
  fill(b, rng), fill(c, rng);
  const T alpha = r.alpha == codegen::factor::any ? T(3) : r.alpha == codegen::factor::minus_one ? T(-1) : T(1);
  std::vector<T> want(c.begin(), c.end());
  for (std::int64_t n = 0; n < r.extent; ++n) {
    T sum(0);
    for (std::int64_t k = 0; k < r.k; ++k) sum += b[static_cast<std::size_t>(n * r.lane_b + k * r.k_b - least)];
    T& x = want[static_cast<std::size_t>(n)];
    x = (r.beta == codegen::factor::one ? x : T(0)) + alpha * sum;
  }
  made(nullptr, b.data() - least, c.data(), &alpha, nullptr);
  return std::equal(want.begin(), want.end(), c.begin());
}

}  // namespace

TEMPLATE_TEST_CASE("sums of numbers that lie apart", "", float, double, std::complex<float>, std::complex<double>) {
  std::mt19937 rng(7);
  const codegen::target t = codegen::best_target();
  const auto some = [&](std::int64_t first, std::int64_t last) { return std::uniform_int_distribution<std::int64_t>(first, last)(rng); };
  int written = 0;
  for (int turn = 0; turn < 600; ++turn) {
    codegen::apart_request r{type_of<TestType>, some(1, 37), some(2, 32), some(0, 70), some(0, 40)};
    if (turn % 5 == 0) r.lane_b = -r.lane_b;
    if (turn % 7 == 0) r.k_b = -r.k_b;
    r.alpha = static_cast<codegen::factor>(some(1, is_complex(r.type) ? 2 : 3)), r.beta = static_cast<codegen::factor>(some(0, 1));
    CAPTURE(r.extent, r.k, r.lane_b, r.k_b, static_cast<int>(r.alpha), static_cast<int>(r.beta));
    const auto made = codegen::make(r, t);
    if (!made) continue;
    ++written;
    CHECK(is_right<TestType>(r, *made, turn % 2 == 0, rng));
  }
  CHECK((written == 600 || t == codegen::target::none));
}

TEST_CASE("other sums are left to other kernels") {
  const codegen::target t = codegen::best_target();
  const codegen::apart_request usual{dtype::f64, 10, 4, 16, 5};
  CHECK((codegen::make(usual, t) != nullptr) == (t != codegen::target::none));
  const auto made_with = [&](auto&& change) {
    codegen::apart_request r = usual;
    change(r);
    return codegen::make(r, t) != nullptr;
  };
  CHECK(!made_with([](auto& r) { r.k = 1; }));
  CHECK(!made_with([](auto& r) { r.k = 33; }));
  CHECK(!made_with([](auto& r) { r.alpha = codegen::factor::tensor; }));
  CHECK(!made_with([](auto& r) { r.beta = codegen::factor::any; }));
  CHECK(!made_with([](auto& r) { r.type = dtype::c128, r.alpha = codegen::factor::any; }));
  CHECK(!made_with([](auto& r) { r.type = dtype::f16; }));
  CHECK(!made_with([](auto& r) { r.lane_b = (codegen::most_apart_step >> 3) + 1; }));
  CHECK(!made_with([](auto& r) { r.k_b = -(codegen::most_apart_step >> 3) - 1; }));
  CHECK((made_with([](auto& r) { r.lane_b = codegen::most_apart_step >> 3, r.k_b = -r.lane_b, r.k = 32; }) || t == codegen::target::none));
}
