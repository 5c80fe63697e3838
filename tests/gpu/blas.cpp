// Steps as calls of a library for matrices: the calls, done by plain loops, must make what the step says. No GPU is needed.
#include <catch2/catch.hpp>

#include <complex>
#include <map>
#include <random>
#include <vector>

#include "gpu/blas.hpp"
#include "gpu/measure.hpp"
#include "gpu/step.hpp"
#include "gpu/transposed.hpp"

using namespace ricci;
using namespace ricci::cuda;

namespace {

using number = std::complex<double>;

/// A tensor over these labels: `order` outermost first; strides with a gap of `gap` elements around the innermost axis.
operand tensor_of(const std::vector<int>& order, const std::vector<std::int64_t>& extents, std::int64_t gap) {
  operand x;
  x.where = operand::kind::external, x.type = dtype::c128;
  std::int64_t stride = 1;
  for (std::size_t d = order.size(); d-- > 0;) {
    x.labels.insert(x.labels.begin(), order[d]);
    x.strides.insert(x.strides.begin(), stride);
    stride *= extents[static_cast<std::size_t>(order[d])];
    if (d + 1 == order.size()) stride += gap;
  }
  return x;
}

std::int64_t offset_of(const operand& x, const std::vector<std::int64_t>& index) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < x.labels.size(); ++d) at += index[static_cast<std::size_t>(x.labels[d])] * x.strides[d];
  return at;
}

bool next(std::vector<std::int64_t>& index, const std::vector<std::int64_t>& extents) {
  for (std::size_t d = index.size(); d-- > 0;) {
    if (++index[d] < extents[d]) return true;
    index[d] = 0;
  }
  return false;
}

/// What cuBLAS does with a strided batch, and what it asks of leading dimensions.
void library_call(const blas_call& c, const number* b, const number* a, number* x, number alpha, number beta) {
  REQUIRE(c.row_b >= (c.op_b == 'N' ? c.rows : c.sum));
  REQUIRE(c.row_a >= (c.op_a == 'N' ? c.sum : c.cols));
  REQUIRE(c.row_c >= c.rows);
  const auto element = [](const number* from, char op, std::int64_t leading, std::int64_t row, std::int64_t col) {
    const number value = op == 'N' ? from[row + col * leading] : from[col + row * leading];
    return op == 'C' ? std::conj(value) : value;
  };
  for (std::int64_t p = 0; p < c.batch.extent; ++p)
    for (std::int64_t i = 0; i < c.rows; ++i)
      for (std::int64_t j = 0; j < c.cols; ++j) {
        number sum = 0;
        for (std::int64_t k = 0; k < c.sum; ++k)
          sum += element(b + p * c.batch.b, c.op_b, c.row_b, i, k) * element(a + p * c.batch.a, c.op_a, c.row_a, k, j);
        number& to = x[p * c.batch.c + i + j * c.row_c];
        to = alpha * sum + beta * to;
      }
}

int said = 0, asked = 0;

void run_one(unsigned seed) {
  std::mt19937 random(seed);
  const auto dice = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  // Labels by group: batch, m, n, k.
  std::vector<std::int64_t> extents;
  std::vector<int> groups[4];
  const int counts[4] = {dice(0, 2), dice(1, 2), dice(1, 2), dice(1, 5) == 1 ? 2 : 1};
  for (int g = 0; g < 4; ++g)
    for (int l = 0; l < counts[g]; ++l) groups[g].push_back(static_cast<int>(extents.size())), extents.push_back(dice(2, 5));
  const auto order_of = [&](std::initializer_list<int> which) {
    std::vector<int> order;
    for (const int g : which) order.insert(order.end(), groups[g].begin(), groups[g].end());
    if (dice(0, 2) == 0) std::shuffle(order.begin(), order.end(), random);
    return order;
  };
  pair_op op;
  op.a = tensor_of(dice(0, 1) ? order_of({0, 1, 3}) : order_of({0, 3, 1}), extents, dice(0, 2));
  op.b = tensor_of(dice(0, 1) ? order_of({0, 3, 2}) : order_of({0, 2, 3}), extents, dice(0, 2));
  op.c = tensor_of(dice(0, 2) ? order_of({0, 1, 2}) : order_of({0, 2, 1}), extents, dice(0, 2));
  op.a.conj = dice(0, 3) == 0, op.b.conj = dice(0, 3) == 0;
  op.beta.base = dice(0, 1);
  const step_shape s = shape_of(op, extents);
  const blas_call call = blas_call_of(s);
  ++asked;
  if (!call.used) return;
  ++said;
  const auto fill = [&] {
    std::vector<number> x(20000);
    for (number& v : x) v = number(dice(-9, 9), dice(-9, 9));
    return x;
  };
  const std::vector<number> a = fill(), b = fill(), before = fill();
  const number alpha(2, -1), beta(op.beta.base);
  std::vector<number> got = before, expected = before;
  std::vector<std::int64_t> index(extents.size(), 0);
  std::map<std::int64_t, number> sums;
  do {
    number x = a[static_cast<std::size_t>(offset_of(op.a, index))], y = b[static_cast<std::size_t>(offset_of(op.b, index))];
    sums[offset_of(op.c, index)] += (op.a.conj ? std::conj(x) : x) * (op.b.conj ? std::conj(y) : y);
  } while (next(index, extents));
  for (const auto& [at, sum] : sums) expected[static_cast<std::size_t>(at)] = alpha * sum + beta * before[static_cast<std::size_t>(at)];
  const number *first = s.swapped ? b.data() : a.data(), *second = s.swapped ? a.data() : b.data();
  for (std::int64_t at = 0; at < count_of(call.calls); ++at) {
    const blas_offsets from = offsets_of(call, at);
    library_call(call, second + from.b, first + from.a, got.data() + from.c, alpha, beta);
  }
  INFO("seed " << seed << ": " << to_string(call));
  REQUIRE(got == expected);
}

}  // namespace

TEST_CASE("calls of a library do what the step says") {
  for (unsigned seed = 1; seed <= 3000; ++seed) run_one(seed);
  CHECK(said > 500);
  CHECK(said < asked);
}

TEST_CASE("the library is used where it may be and where it wins") {
  gpu_machine m = described_h200();
  const auto used = [&](dtype t, int n, std::int64_t batch = 1000) { return cuda::plan_step(square_step(t, n, false, batch), m).blas.used; };
  CHECK(!used(dtype::f16, 160));  // a described machine has none
  m.blas = blas_use::where_it_wins;
  CHECK(used(dtype::f16, 160));
  CHECK(!used(dtype::f16, 128));
  // Rows that overlap, each 64 elements behind the other: what is left is a matrix whose rows are far apart.
  const auto rows_apart = [&](std::int64_t apart) {
    step_shape x;
    x.a = x.b = x.c = dtype::f32;
    x.m = {{2048, 1000 * apart, 0, 64000}, {1000, apart, 0, 64}}, x.n = {{64, 0, 1, 1}}, x.k = {{576, 1, 64, 0}};
    return cuda::plan_step(x, m).blas.used;
  };
  CHECK(rows_apart(576));
  CHECK(!rows_apart(64));
  CHECK(!used(dtype::f16, 32));
  CHECK(!used(dtype::f64, 64));
  CHECK(!used(dtype::f64, 72));  // tiles that fit
  CHECK(used(dtype::f64, 120));
  // Beside warpgroups: rows at multiples of 8 bytes, or of 4 where they are long, are faster in tiles; so is what a call takes longer for.
  CHECK(!used(dtype::f16, 132));
  CHECK(used(dtype::f16, 130));
  CHECK(!used(dtype::f16, 250));
  CHECK(!used(dtype::f16, 2048, 1));
  CHECK(used(dtype::f16, 2200, 1));
  m.warpgroups = false;
  for (const int n : {128, 132, 130, 250}) CHECK(used(dtype::f16, n));
  CHECK(used(dtype::f16, 512, 1));
  m.warpgroups = true;
  CHECK(!used(dtype::f64, 72, 100));  // a call takes longer
  CHECK(used(dtype::c128, 56));
  CHECK(!used(dtype::c128, 48));
  // Rows without end beside a factor, short sums: own kernels, but for double with longer ones. Small batches and products of float too.
  const auto rows_used = [&](dtype t, std::int64_t rows, std::int64_t cols, std::int64_t sum) {
    step_shape s = product_step(t, rows, cols, sum, false, 1);
    s.n[0].b = sum, s.k[0].b = 1, s.batch.clear();
    return cuda::plan_step(s, m).blas.used;
  };
  CHECK(!rows_used(dtype::f32, 400000, 48, 32));
  CHECK(!rows_used(dtype::f32, 400000, 48, 48));
  CHECK(rows_used(dtype::f32, 400000, 64, 64));
  CHECK(!rows_used(dtype::f32, 400000, 72, 72));
  CHECK(rows_used(dtype::f32, 400000, 100, 100));
  CHECK(!rows_used(dtype::f64, 400000, 32, 32));
  CHECK(rows_used(dtype::c64, 8192, 8192, 40));  // both sides are long
  CHECK(!used(dtype::f32, 96));
  CHECK(!used(dtype::f32, 160));
  CHECK(!used(dtype::f32, 192));
  CHECK(used(dtype::f32, 256));
  CHECK(!used(dtype::f32, 512, 1));
  CHECK(used(dtype::f32, 1024, 1));
  const auto long_sums = [&](dtype t) { return cuda::plan_step(product_step(t, 32, 32, 128, false, 4000), m).blas.used; };
  CHECK((long_sums(dtype::c64) && long_sums(dtype::f64)));
  // Far longer ones are cut in own small products, but for double.
  const auto longer_sums = [&](dtype t) { return cuda::plan_step(product_step(t, 32, 32, 65536, false, 64), m).blas.used; };
  CHECK((!longer_sums(dtype::c64) && longer_sums(dtype::f64)));
  CHECK((!long_sums(dtype::f32) && !long_sums(dtype::c128)));
  // One product of few rows and columns whose parts fill the machine: own tiles, from 100,000 terms on in float.
  const auto sum_used = [&](dtype t, std::int64_t side, std::int64_t terms) {
    step_shape s = product_step(t, side, side, terms, false, 1);
    s.n[0].b = terms, s.k[0].b = 1;
    const step_plan p = cuda::plan_step(s, m);
    CHECK((p.blas.used || p.last));
    return p.blas.used;
  };
  CHECK((!sum_used(dtype::f32, 50, 500000) && !sum_used(dtype::f32, 100, 100000) && sum_used(dtype::f32, 100, 60000)));
  CHECK((!sum_used(dtype::c64, 50, 20000) && !sum_used(dtype::f64, 50, 2000000) && sum_used(dtype::f64, 50, 500000) && sum_used(dtype::f64, 64, 2000000) && sum_used(dtype::f64, 32, 4000000) && sum_used(dtype::c128, 64, 500000)));
  // Rows that fill half of a tile of the library's.
  const auto panel_used = [&](dtype t, std::int64_t rows) {
    step_shape s;
    s.a = s.b = s.c = t;
    s.m = {{rows, 72, 0, 72 * 72}}, s.n = {{72, 0, 72 * 5184, rows * 72 * 72}, {5184, 0, 1, 1}}, s.k = {{72, 1, 5184, 0}};
    return cuda::plan_step(s, m).blas.used;
  };
  CHECK((!panel_used(dtype::f32, 72) && !panel_used(dtype::c64, 72) && panel_used(dtype::c64, 56)));
  m.blas = blas_use::always;
  CHECK(used(dtype::f64, 3));
  const step_plan p = cuda::plan_step(square_step(dtype::f64, 128, false, 100), m);
  CHECK(to_string(p) == "cuBLAS, 100 products of 128 x 128 x 128");
  CHECK(p.kind == kernel_kind::tile);  // what does it where the library is missing
  // dcba = be dcea with 72 a side: 5184 products of matrices for the library, one for tiles.
  m.blas = blas_use::where_it_wins;
  step_shape many;
  many.m = {{72, 72, 0, 72}};
  many.n = {{5184, 0, 5184, 5184}, {72, 0, 1, 1}};
  many.k = {{72, 1, 72, 0}};
  CHECK(blas_call_of(many).used);
  CHECK(!cuda::plan_step(many, m).blas.used);
  // Nothing without a unit stride, nothing of mixed types but float from 16-bit factors.
  step_shape s = square_step(dtype::f64, 100, false, 10);
  s.k[0].a = 3;
  CHECK(!blas_call_of(s).used);
  s = square_step(dtype::f16, 100, false, 10);
  s.c = dtype::f32;
  CHECK(blas_call_of(s).used);
  s.beta = true;
  CHECK(blas_call_of(s).used);
  s.c = dtype::f16;
  CHECK(!blas_call_of(s).used);  // the library would round twice
  s.beta = false, s.b = dtype::f32;
  CHECK(!blas_call_of(s).used);
}

TEST_CASE("warpgroups multiply where the machine has them, both sides are long and neighbours come together") {
  gpu_machine m = described_h200();
  const auto by_warpgroups = [&](const step_shape& s) {
    const step_plan p = cuda::plan_step(s, m);
    return p.kind == kernel_kind::tile && p.tile.compute == arithmetic::wgmma_16;
  };
  const auto square = [](dtype t, int n) { return square_step(t, n, false, 100); };
  for (const dtype t : {dtype::f16, dtype::bf16}) {
    CHECK(by_warpgroups(square(t, 1024)));
    CHECK(by_warpgroups(square(t, 1022)));
    CHECK(!by_warpgroups(square(t, 1021)));
    CHECK(!by_warpgroups(product_step(t, 1024, 32, 1024, false, 100)));
    CHECK(!by_warpgroups(product_step(t, 32, 1024, 1024, false, 100)));
  }
  for (const dtype t : {dtype::f32, dtype::f64, dtype::c64, dtype::c128}) CHECK(!by_warpgroups(square(t, 1024)));
  step_shape mixed = square(dtype::f16, 1024);
  mixed.c = dtype::f32;
  CHECK(by_warpgroups(mixed));
  mixed.b = dtype::bf16;
  CHECK(!by_warpgroups(mixed));
  m.warpgroups = false;
  CHECK(!by_warpgroups(square(dtype::f16, 1024)));
}

TEST_CASE("floats beside 16 bits are multiplied by tensor cores, floats alone are not") {
  gpu_machine m = described_h200();
  const auto planes_of = [&](dtype a, dtype b, dtype c, std::int64_t n, std::int64_t batch = 1) {
    step_shape s = product_step(dtype::f32, n, n, n, false, batch);
    s.a = a, s.b = b, s.c = c;
    const step_plan p = cuda::plan_step(s, m);
    return p.kind == kernel_kind::tile ? std::pair{p.tile.planes_a, p.tile.planes_b} : std::pair{0, 0};
  };
  for (const std::int64_t n : {100, 1000, 4096}) {
    CAPTURE(n);
    CHECK(planes_of(dtype::f32, dtype::f16, dtype::f32, n, n < 1000 ? 500 : 1) == std::pair{3, 2});
    CHECK(planes_of(dtype::bf16, dtype::f32, dtype::bf16, n, n < 1000 ? 500 : 1) == std::pair{1, 3});
    CHECK(planes_of(dtype::f32, dtype::f32, dtype::f16, n, n < 1000 ? 500 : 1) == std::pair{3, 3});
  }
  CHECK(planes_of(dtype::f32, dtype::f16, dtype::f16, 64, 4000) == std::pair{3, 2});
  CHECK(planes_of(dtype::f32, dtype::f16, dtype::f16, 16, 4000) == std::pair{0, 0});
  CHECK(planes_of(dtype::f32, dtype::f32, dtype::f32, 1000) == std::pair{1, 1});
  CHECK(planes_of(dtype::f16, dtype::f16, dtype::f32, 1000) == std::pair{1, 1});
  m.warpgroups = false;
  CHECK(planes_of(dtype::f32, dtype::bf16, dtype::f32, 1000) == std::pair{3, 1});
}

TEST_CASE("transpositions around the library: where it may and where it wins") {
  gpu_machine m = described_h200();
  // C(a,b,c,d) = A(a,e,b,f) B(f,d,e,c), labels by number; b is no axis beside a, nor d beside c.
  const auto ways = [&](dtype t, std::vector<std::int64_t> extents, int beta = 0) {
    pair_op op;
    op.c = tensor_of({0, 1, 2, 3}, extents, 0), op.a = tensor_of({0, 4, 1, 5}, extents, 0), op.b = tensor_of({5, 3, 4, 2}, extents, 0);
    op.a.type = op.b.type = op.c.type = t, op.beta.base = beta;
    return by_transposition(op, extents, m, 0);
  };
  const std::vector<std::int64_t> eights{48, 40, 44, 40, 36, 40}, odd_sum{48, 40, 44, 40, 37, 39}, odd_rows{47, 39, 44, 40, 36, 40}, few{8, 8, 8, 8, 8, 8};
  CHECK(ways(dtype::f32, eights).ops.empty());  // a described machine has none
  m.blas = blas_use::where_it_wins;
  for (const dtype t : {dtype::f16, dtype::bf16, dtype::f32, dtype::f64, dtype::c64, dtype::c128}) {
    CAPTURE(name_of(t));
    const transposed_product found = ways(t, eights);
    REQUIRE(found.ops.size() == 3);
    CHECK(found.temporaries.size() == 2);
    CHECK(blas_call_of(shape_of(found.ops.back(), eights)).used);
    CHECK(ways(t, few).ops.empty());
  }
  // Rows and sums of 16 bits that are no multiples of eight are slow there; with a beta the library would round twice: own kernels.
  const auto has_call = [&](const transposed_product& t, const std::vector<std::int64_t>& extents) {
    return std::any_of(t.ops.begin(), t.ops.end(), [&](const pair_op& op) { return cuda::plan_step(shape_of(op, extents), m).blas.used; });
  };
  CHECK(!has_call(ways(dtype::f16, odd_sum), odd_sum));
  CHECK(!has_call(ways(dtype::bf16, odd_rows), odd_rows));
  CHECK(!has_call(ways(dtype::f16, eights, 1), eights));
  CHECK(ways(dtype::f64, odd_sum).ops.size() == 3);
  CHECK(ways(dtype::f64, eights, 1).ops.size() == 3);
  m.blas = blas_use::always;
  CHECK(ways(dtype::f16, odd_sum).ops.size() == 3);
  CHECK(ways(dtype::f16, odd_sum, 1).ops.empty());
}
