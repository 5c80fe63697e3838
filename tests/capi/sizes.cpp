// Sizes that programs really use: small GEMMs of libxsmm's, DBCSR's and DeepBench's samples, rocBLAS's client tests.
#include <catch2/catch.hpp>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "problem.hpp"

using namespace capi;

namespace {

const std::string folder = RICCI_CAPI_CASES;

std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, ',');) out.push_back(field);
  return out;
}

ricci_transpose transpose_of(char c) { return c == 't' ? RICCI_TRANS : c == 'c' ? RICCI_CONJ_TRANS : RICCI_NO_TRANS; }

}  // namespace

TEST_CASE("sizes of small products in programs") {
  std::ifstream in(folder + "/gemm_sizes.csv");
  std::string line;
  std::getline(in, line);
  REQUIRE(line.starts_with("m,n,k,trans_ab,precision"));
  std::mt19937 random(1);
  int count = 0;
  while (std::getline(in, line)) {
    const auto f = fields(line);
    problem p;
    p.layout = RICCI_COL_MAJOR;
    p.m = std::stol(f[0]), p.n = std::stol(f[1]), p.k = std::stol(f[2]);
    if (p.m * p.n * p.k > 48 * 48 * 48) continue;
    p.ta = transpose_of(f[3].at(0)), p.tb = transpose_of(f[3].at(1));
    p.beta = count % 2;
    p.batch = 2;
    p.dense();
    const std::string bad = f[4] == "s" ? run_and_check<float>(p, random) : run_and_check<double>(p, random);
    INFO(line);
    REQUIRE(bad == "");
    ++count;
  }
  CHECK(count > 600);
}

TEST_CASE("sizes of rocBLAS's tests, under all transpositions") {
  std::ifstream in(folder + "/rocblas_gemm.json");
  std::mt19937 random(2);
  int errors = 0, products = 0;
  const nlohmann::json cases = nlohmann::json::parse(in);
  for (const auto& item : cases.at("items")) {
    problem p;
    p.layout = RICCI_COL_MAJOR;
    p.m = item.at("M"), p.n = item.at("N"), p.k = item.at("K");
    for (int flags = 0; flags < 4; ++flags) {
      p.ta = flags & 1 ? RICCI_TRANS : RICCI_NO_TRANS, p.tb = flags & 2 ? RICCI_CONJ_TRANS : RICCI_NO_TRANS;
      p.lda = item.at("lda"), p.ldb = item.at("ldb"), p.ldc = item.at("ldc");
      p.batch = 2, p.alpha = 2, p.beta = flags == 1 ? 0 : 3;
      const int want = p.m < 0   ? 4
                       : p.n < 0 ? 5
                       : p.k < 0 ? 6
                       : p.lda < std::max<std::int64_t>(1, flags & 1 ? p.k : p.m) ? 9
                       : p.ldb < std::max<std::int64_t>(1, flags & 2 ? p.n : p.k) ? 12
                       : p.ldc < std::max<std::int64_t>(1, p.m) ? 16 : 0;
      INFO(item.dump() << " flags " << flags);
      if (want != 0) {
        double one = 1;
        REQUIRE(call_strided<double>(p, &one, &one, &one) == -want);
        REQUIRE(one == 1);
        ++errors;
        continue;
      }
      p.sa = p.span_a(), p.sb = p.span_b(), p.sc = p.span_c();
      REQUIRE(run_and_check<double>(p, random) == "");
      ++products;
    }
  }
  CHECK(products > 400);
  CHECK(errors > 10);
}
