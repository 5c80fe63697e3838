// Contractions of tensors of moderate size, as in the TCCG collection, beside Eigen::Tensor (contract, then shuffle).
#include <array>
#include <string>

#include <Eigen/Core>
#include <unsupported/Eigen/CXX11/Tensor>

#include <ricci/ricci.hpp>

#include "common.hpp"

using namespace ricci::labels;

namespace {

template <int Rank>
using peer_tensor = Eigen::Tensor<double, Rank, Eigen::RowMajor>;
template <int Rank>
using peer_map = Eigen::TensorMap<peer_tensor<Rank>>;
using dimensions = std::array<Eigen::Index, 6>;

/// A tensor whose extents are those of the labels in `subscripts`.
template <int Rank>
struct operand {
  static constexpr auto shape = [](const std::string& subscripts, const dimensions& of) {
    std::array<Eigen::Index, Rank> extents;
    for (int d = 0; d < Rank; ++d) extents[d] = of[subscripts[d] - 'a'];
    return extents;
  };
  peer_tensor<Rank> memory;

  operand(const std::string& subscripts, const dimensions& of, std::uint64_t seed) : memory(shape(subscripts, of)) {
    bench::fill(memory.data(), memory.size(), seed);
  }
  auto view() {
    const std::int64_t rank4[4] = {at(0), at(1), at(2), at(3)};
    if constexpr (Rank == 2) {
      return ricci::view(memory.data(), ricci::extents<ricci::dynamic, ricci::dynamic>{rank4[0], rank4[1]});
    } else if constexpr (Rank == 3) {
      return ricci::view(memory.data(),
                         ricci::extents<ricci::dynamic, ricci::dynamic, ricci::dynamic>{rank4[0], rank4[1], rank4[2]});
    } else {
      return ricci::view(memory.data(), ricci::extents<ricci::dynamic, ricci::dynamic, ricci::dynamic, ricci::dynamic>{
                                            rank4[0], rank4[1], rank4[2], rank4[3]});
    }
  }

 private:
  std::int64_t at(int d) const { return d < Rank ? memory.dimension(d) : 1; }
};

using pairs1 = std::array<Eigen::IndexPair<int>, 1>;
using pairs2 = std::array<Eigen::IndexPair<int>, 2>;

/// Times a plan and checks it against `expected`; or times the peer.
template <int Rank, class MakePlan, class Peer>
void measure(benchmark::State& state, operand<Rank>& c, std::int64_t terms, double bytes, MakePlan make_plan,
             Peer peer) {
  if (state.range(0) == 0) {
    const auto plan = make_plan();
    for (auto _ : state) plan.run();
    const peer_tensor<Rank> mine = c.memory;
    peer();
    bench::expect_equal(state, mine.data(), c.memory.data(), mine.size(), terms);
  } else {
    for (auto _ : state) {
      peer();
      benchmark::ClobberMemory();
    }
  }
  state.SetLabel(state.range(0) == 0 ? "ricci" : "Eigen::Tensor");
  bench::report(state, 2.0 * double(c.memory.size()) * double(terms), bytes);
}

const ricci::options alone{.threads = 1};

double bytes_of(std::int64_t x, std::int64_t y, std::int64_t z) { return 8.0 * double(x + y + z); }

/// ab-acd-dbc
void ab_acd_dbc(benchmark::State& state) {
  const dimensions n{312, 296, 24, 48};
  operand<2> C("ab", n, 1);
  operand<3> A("acd", n, 2), B("dbc", n, 3);
  auto cv = C.view();
  auto av = A.view(), bv = B.view();
  measure(
      state, C, n[2] * n[3], bytes_of(C.memory.size(), A.memory.size(), B.memory.size()),
      [&] { return ricci::plan(cv(a, b).assign(av(a, c, d) * bv(d, b, c)), alone); },
      [&] {
        C.memory = A.memory.contract(B.memory, pairs2{Eigen::IndexPair<int>{1, 2}, Eigen::IndexPair<int>{2, 0}});
      });
}

/// abc-bda-dc
void abc_bda_dc(benchmark::State& state) {
  const dimensions n{96, 84, 72, 80};
  operand<3> C("abc", n, 1), A("bda", n, 2);
  operand<2> B("dc", n, 3);
  auto cv = C.view();
  auto av = A.view();
  auto bv = B.view();
  measure(
      state, C, n[3], bytes_of(C.memory.size(), A.memory.size(), B.memory.size()),
      [&] { return ricci::plan(cv(a, b, c).assign(av(b, d, a) * bv(d, c)), alone); },
      [&] {
        C.memory =
            A.memory.contract(B.memory, pairs1{Eigen::IndexPair<int>{1, 0}}).shuffle(std::array<int, 3>{1, 0, 2});
      });
}

/// abcd-dbea-ec
void abcd_dbea_ec(benchmark::State& state) {
  const dimensions n{32, 24, 40, 28, 36};
  operand<4> C("abcd", n, 1), A("dbea", n, 2);
  operand<2> B("ec", n, 3);
  auto cv = C.view();
  auto av = A.view();
  auto bv = B.view();
  measure(
      state, C, n[4], bytes_of(C.memory.size(), A.memory.size(), B.memory.size()),
      [&] { return ricci::plan(cv(a, b, c, d).assign(av(d, b, e, a) * bv(e, c)), alone); },
      [&] {
        C.memory =
            A.memory.contract(B.memory, pairs1{Eigen::IndexPair<int>{2, 0}}).shuffle(std::array<int, 4>{2, 1, 3, 0});
      });
}

/// abcd-aebf-dfce
void abcd_aebf_dfce(benchmark::State& state) {
  const dimensions n{24, 20, 28, 24, 20, 24};
  operand<4> C("abcd", n, 1), A("aebf", n, 2), B("dfce", n, 3);
  auto cv = C.view();
  auto av = A.view(), bv = B.view();
  measure(
      state, C, n[4] * n[5], bytes_of(C.memory.size(), A.memory.size(), B.memory.size()),
      [&] { return ricci::plan(cv(a, b, c, d).assign(av(a, e, b, f) * bv(d, f, c, e)), alone); },
      [&] {
        C.memory = A.memory.contract(B.memory, pairs2{Eigen::IndexPair<int>{1, 3}, Eigen::IndexPair<int>{3, 1}})
                       .shuffle(std::array<int, 4>{0, 1, 3, 2});
      });
}

/// abcd-efab-cdef: all labels in order, a plain matrix product of the transposes.
void abcd_efab_cdef(benchmark::State& state) {
  const dimensions n{24, 20, 28, 24, 20, 24};
  operand<4> C("abcd", n, 1), A("efab", n, 2), B("cdef", n, 3);
  auto cv = C.view();
  auto av = A.view(), bv = B.view();
  measure(
      state, C, n[4] * n[5], bytes_of(C.memory.size(), A.memory.size(), B.memory.size()),
      [&] { return ricci::plan(cv(a, b, c, d).assign(av(e, f, a, b) * bv(c, d, e, f)), alone); },
      [&] {
        C.memory = A.memory.contract(B.memory, pairs2{Eigen::IndexPair<int>{0, 2}, Eigen::IndexPair<int>{1, 3}});
      });
}

// Argument 0 is ricci, 1 is Eigen.
BENCHMARK(ab_acd_dbc)->Arg(0)->Arg(1);
BENCHMARK(abc_bda_dc)->Arg(0)->Arg(1);
BENCHMARK(abcd_dbea_ec)->Arg(0)->Arg(1);
BENCHMARK(abcd_aebf_dfce)->Arg(0)->Arg(1);
BENCHMARK(abcd_efab_cdef)->Arg(0)->Arg(1);

}  // namespace

BENCHMARK_MAIN();
