// Rows so far apart that several of them are not within reach of one displacement. The memory between them is never touched.
#include <catch2/catch.hpp>

#include <sys/mman.h>

#include <ricci/ricci.hpp>

using namespace ricci::labels;
using ricci::dynamic;
using ricci::tensor;

namespace {

/// Addresses without memory behind them until something is written there.
class reserved {
 public:
  explicit reserved(std::size_t bytes) : bytes_(bytes), at_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~reserved() {
    if (*this) ::munmap(at_, bytes_);
  }
  reserved(const reserved&) = delete;
  reserved& operator=(const reserved&) = delete;
  explicit operator bool() const { return at_ != MAP_FAILED; }
  void* get() const { return at_; }

 private:
  std::size_t bytes_;
  void* at_;
};

constexpr int rows = 5, columns = 7;

}  // namespace

TEMPLATE_TEST_CASE("rows of a tensor are gigabytes apart", "", double, float, ricci::half, ricci::bfloat16) {
  for (const std::int64_t bytes : {(std::int64_t{1} << 29) + 64, std::int64_t{1} << 30, (std::int64_t{1} << 31) + 64}) {
    const std::int64_t step = bytes / static_cast<std::int64_t>(sizeof(TestType));
    const reserved memory(static_cast<std::size_t>(rows * bytes));
    REQUIRE(memory);
    const auto D = ricci::view(static_cast<TestType*>(memory.get()), {rows, columns}, {step, 1});
    tensor<TestType, dynamic, dynamic> A(columns, rows), B(rows, columns), W(columns, columns), E(rows, rows), O(rows, columns);
    for (int r = 0; r < rows; ++r)
      for (int x = 0; x < columns; ++x) A(x, r) = B(r, x) = TestType(static_cast<float>(1 + (3 * r + x) % 5));
    for (int x = 0; x < columns; ++x) W(x, x) = TestType(1.f);
    for (int r = 0; r < rows; ++r) E(r, r) = TestType(1.f);
    const auto agrees = [](const auto& x, const auto& y, float factor) {
      bool same = true;
      for (int r = 0; r < rows; ++r)
        for (int q = 0; q < columns; ++q) same = same && static_cast<float>(x(r, q)) == factor * static_cast<float>(y(r, q));
      return same;
    };
    INFO(bytes << " bytes apart");
    D(c, n) = A(n, c);
    CHECK(agrees(D, B, 1));
    D(c, n) += 2 * A(n, c);
    CHECK(agrees(D, B, 3));
    D(c, n) = A(n, c) + B(c, n);
    CHECK(agrees(D, B, 2));
    O(c, n) = D(c, k) * W(k, n);
    CHECK(agrees(O, B, 2));
    O(c, n) = E(k, c) * D(k, n);
    CHECK(agrees(O, B, 2));
    A.fill(TestType(3.f));
    O(c, n) = A(n, c) * D(c, n);
    CHECK(agrees(O, B, 6));
  }
}

TEMPLATE_TEST_CASE("dot products and sums over slabs that are gigabytes apart", "", double, float) {
  constexpr int slabs = 9, few = 3, count = 1000;
  for (const std::int64_t bytes : {(std::int64_t{1} << 28) + 64, (std::int64_t{1} << 29) + 64, std::int64_t{1} << 31}) {
    const std::int64_t step = bytes / static_cast<std::int64_t>(sizeof(TestType));
    const reserved memory(static_cast<std::size_t>(slabs * bytes));
    REQUIRE(memory);
    const auto T = ricci::view(static_cast<TestType*>(memory.get()), {slabs, count, few}, {step, few, 1});
    for (int s = 0; s < slabs; ++s)
      for (int n = 0; n < count; ++n)
        for (int f = 0; f < few; ++f) T(s, n, f) = TestType(s + 1);
    tensor<TestType, dynamic> dots(count), sums(count);
    dots(n) = T(k, n, i) * T(k, n, i);
    sums(n) = sum(k, sum(i, T(k, n, i)));
    INFO(bytes << " bytes apart");
    bool same = true;
    for (int n = 0; n < count; ++n) same = same && dots(n) == 855 && sums(n) == 135;
    CHECK(same);
  }
}
