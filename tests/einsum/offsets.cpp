// Offsets beyond 2^31 elements, by views of address space of which few pages are touched.
#include <catch2/catch.hpp>

#include <ricci/einsum/einsum.hpp>

#include <sys/mman.h>

#include <utility>

using ricci::ndarray;
using ricci::ndview;

namespace {

/// Address space without memory until it is written.
class wide_memory {
 public:
  explicit wide_memory(std::size_t bytes)
      : bytes_(bytes), data_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    REQUIRE(data_ != MAP_FAILED);
  }
  ~wide_memory() { ::munmap(data_, bytes_); }
  wide_memory(const wide_memory&) = delete;
  wide_memory& operator=(const wide_memory&) = delete;
  float* floats() const { return static_cast<float*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

}  // namespace

TEST_CASE("strides whose product with an index passes 2^31") {
  // Rows of a 65536 x 49152 matrix, every 1024th; of a 12347 x 174000 matrix, every 96th; the same as batches.
  const std::pair<std::int64_t, std::int64_t> cases[] = {{64, 49152LL * 1024}, {130, 174000LL * 96}, {40, 2508718080LL / 32}};
  const wide_memory memory(14ull << 30);
  for (const auto& [rows, stride] : cases) {
    INFO(rows << " rows of stride " << stride);
    REQUIRE((rows - 1) * stride > (std::int64_t{1} << 31));
    const ndview<float> a(memory.floats(), {rows, 3}, {stride, 1});
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < 3; ++j) a(i, j) = static_cast<float>(i % 7 + j);
    ndarray<float> x({3, 2});
    for (int e = 0; e < 6; ++e) x.data()[e] = static_cast<float>(e - 2);
    const auto y = ricci::einsum("ij,jk->ik", a, x);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t k = 0; k < 2; ++k) {
        float sum = 0;
        for (std::int64_t j = 0; j < 3; ++j) sum += a(i, j) * x(j, k);
        REQUIRE(y(i, k) == sum);
      }
    const auto total = ricci::einsum("ij->j", a);
    for (std::int64_t j = 0; j < 3; ++j) {
      float sum = 0;
      for (std::int64_t i = 0; i < rows; ++i) sum += a(i, j);
      CHECK(total(j) == sum);
    }
  }
}

TEST_CASE("a result whose elements are spread over more than 2^31 places") {
  const wide_memory memory((std::size_t{65536} * 32768 + 1) * sizeof(float));
  ndarray<float> x({64}), y({32});
  for (int i = 0; i < 64; ++i) x(i) = static_cast<float>(i);
  for (int j = 0; j < 32; ++j) y(j) = static_cast<float>(j + 1);
  const ndview<float> c(memory.floats(), {64, 32}, {32768LL * 1040, 1024});
  REQUIRE(63 * c.stride(0) + 31 * c.stride(1) > (std::int64_t{1} << 31) - (std::int64_t{1} << 26));
  ricci::einsum_into(c, "i,j->ij", x, y);
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 32; ++j) REQUIRE(c(i, j) == x(i) * y(j));
}
