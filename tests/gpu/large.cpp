// Shapes that leave the small kernels on the GPU: tiles, transpositions, long sums, batches beyond 65,535, diagonals.
#include <array>

#include <ricci/core/error.hpp>
#include <ricci/engine/gemm.hpp>

#include "on_gpu.hpp"
#include "part.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

constexpr dtype all_types[] = {dtype::f32, dtype::f64, dtype::c64, dtype::c128, dtype::f16, dtype::bf16};

void labels(case_builder& c, std::initializer_list<std::pair<char, std::int64_t>> list) {
  for (const auto& [name, extent] : list) c.label(name, extent);
}

void product_of(dtype t, std::initializer_list<std::pair<char, std::int64_t>> extents, const char* left, const char* a,
                const char* b, const char* left_order, const char* a_order, update op, int shift = 0, bool shares = true) {
  if (!has_gpu()) return;
  case_builder c(t, 7);
  labels(c, extents);
  statement s;
  s.left = c.tensor("C", left, left_order), s.op = op;
  reference x = c.tensor("A", a, a_order), y = c.tensor("B", b);
  x.conj = true;
  s.terms.push_back({c.scalar({1.5, -0.5}), false, {x, y}});
  c.p.statements.push_back(s);
  require_right_on_gpu(c, 2, shift, std::string(left) + "=" + a + "*" + b, op == update::assign, shares);
}

}  // namespace

TEST_CASE("many rows beside a small factor, a few more than a multiple of eight") {
  for (const update op : {update::assign, update::add}) {
    product_of(dtype::f64, {{'e', 90005}, {'i', 8}, {'q', 27}}, "eq", "ei", "iq", "", "", op);
    product_of(dtype::f64, {{'e', 60001}, {'i', 8}, {'q', 27}}, "eq", "iq", "ei", "", "", op, op == update::add ? 1 : 0);
    product_of(dtype::f64, {{'e', 50007}, {'i', 27}, {'q', 27}}, "qe", "qi", "ie", "eq", "", op);
  }
}

TEST_CASE("large products in tiles") {
  for (dtype t : all_types) {
    product_of(t, {{'i', 130}, {'j', 96}, {'k', 77}}, "ij", "ik", "kj", "", "", update::assign, 0, false);
    product_of(t, {{'i', 67}, {'j', 131}, {'k', 48}}, "ij", "ik", "kj", "ji", "ki", update::add, 1, false);
    product_of(t, {{'z', 3}, {'a', 5}, {'b', 13}, {'c', 9}, {'d', 8}, {'k', 11}, {'l', 6}}, "zabcd", "zabkl", "zklcd", "zabcd", "zbalk", update::subtract, 0, false);
  }
}

TEST_CASE("tiles of every layout and side") {
  unsigned at = 0;
  for (dtype t : all_types)
    for (const std::int64_t n : {65, 96, 128, 200})
      for (int way = 0; way < 8; ++way) {
        if ((n == 200 && way % 3 != 0) || !is_mine(at++)) continue;
        product_of(t, {{'z', 2}, {'i', n == 200 ? 72 : n}, {'j', n}, {'k', n == 128 ? 97 : n}}, "zij", "zik", way & 1 ? "zkj" : "zjk", way & 4 ? "zji" : "zij",
                   way & 2 ? "zki" : "zik", way % 3 == 0 ? update::assign : update::add, way == 5 ? 1 : 0, false);
      }
}

TEST_CASE("tiles as narrow as a side") {
  unsigned at = 0;
  for (dtype t : all_types)
    for (const auto& [i, j] : {std::pair<std::int64_t, std::int64_t>{13, 150}, {16, 256}, {29, 150}, {45, 150}, {150, 13}, {256, 16}, {150, 32}, {130, 47}, {7, 150}, {300, 5}, {2, 400}})
      for (int way = 0; way < 4; ++way)
        for (const std::int64_t k : {70, 208}) {
          if (!is_mine(at++)) continue;
          product_of(t, {{'z', 2}, {'i', i}, {'j', j}, {'k', k}}, "zij", "zik", way & 1 ? "zkj" : "zjk", "", way & 2 ? "zki" : "zik", (way + k) % 3 == 0 ? update::add : update::assign,
                     way == 3 ? 1 : 0, false);
        }
}

TEST_CASE("contractions whose tensors lie in different orders") {
  struct orders {
    const char *c, *a, *b;
  };
  constexpr orders all[] = {{"dcba", "aebd", "ce"}, {"edcba", "dabfe", "fc"}, {"dcba", "ceda", "dbe"}, {"dcba", "fbea", "cedf"},
                            {"dcba", "bfae", "cedf"}, {"ba", "dac", "bcd"}, {"cba", "cda", "bd"}, {"fedcba", "aged", "cbfg"},
                            {"fedcba", "cgfe", "badg"}, {"cabjik", "ibam", "mcjk"}};
  for (dtype t : all_types)
    for (const orders& o : all) {
      std::initializer_list<std::pair<char, std::int64_t>> extents = {{'a', 12}, {'b', 6}, {'c', 13}, {'d', 8}, {'e', 9}, {'f', 4}, {'g', 5}, {'i', 3}, {'j', 5}, {'k', 4}, {'m', 10}};
      for (const bool shares : {false, true})
        product_of(t, extents, o.c, o.a, o.b, "", "", t == dtype::c64 ? update::add : update::assign, t == dtype::f64 ? 1 : 0, shares);
    }
}

TEST_CASE("few tiles with sums in parts") {
  for (dtype t : all_types)
    for (const bool beta : {false, true}) {
      product_of(t, {{'i', 70}, {'j', 50}, {'k', 3001}}, "ij", "ik", "kj", "", "", beta ? update::add : update::assign, 0, false);
      product_of(t, {{'z', 2}, {'i', 33}, {'j', 20}, {'k', 37}, {'l', 41}}, "zij", "zlik", "zjkl", "zji", "", beta ? update::subtract : update::assign, 1, false);
    }
}

TEST_CASE("problems that lie side by side") {
  for (dtype t : all_types)
    for (const bool shares : {false, true}) {
      product_of(t, {{'e', 301}, {'i', 15}, {'j', 22}, {'k', 40}}, "ije", "eki", "jke", "", "", update::assign, 0, shares);
      product_of(t, {{'e', 24}, {'f', 9}, {'i', 87}, {'j', 117}, {'k', 24}}, "efij", "jfke", "fike", "", "", update::add, 1, shares);
      product_of(t, {{'e', 99}, {'i', 34}, {'j', 16}, {'k', 88}, {'l', 3}}, "iej", "jekl", "ilke", "", "", update::assign, 0, shares);
      product_of(t, {{'e', 38}, {'f', 17}, {'j', 183}, {'k', 8}}, "fej", "ekf", "fjke", "", "", update::add, 0, shares);
    }
}

TEST_CASE("long sums") {
  for (dtype t : all_types) {
    product_of(t, {{'i', 4}, {'j', 5}, {'k', 3000}}, "ji", "kij", "k", "", "", update::add);
    product_of(t, {{'i', 107}, {'k', 4000}, {'l', 3}}, "i", "kli", "lk", "", "", update::assign);
    product_of(t, {{'i', 53}, {'j', 7}, {'k', 911}, {'l', 8}}, "ij", "ikl", "lkj", "ji", "", update::add);
    product_of(t, {{'i', 3001}, {'j', 11}, {'k', 64}}, "ij", "ik", "kj", "", "", update::subtract);
    product_of(t, {{'i', 3001}, {'j', 44}}, "ij", "i", "j", "ji", "", update::add);
    product_of(t, {{'i', 70}, {'j', 44}}, "", "ij", "ji", "", "", update::assign);
    product_of(t, {{'b', 300}, {'i', 10}, {'j', 12}, {'n', 520}}, "bij", "bni", "bnj", "", "", update::add);
    product_of(t, {{'b', 40}, {'i', 16}, {'j', 24}, {'n', 3500}}, "bij", "bin", "bjn", "ijb", "", update::assign);
    if (size_of(t) == 2) continue;  // sums of 16 bits lose more than their bound says of long ones
    product_of(t, {{'k', 300007}}, "", "k", "k", "", "", update::add);
    product_of(t, {{'i', 16}, {'j', 9}, {'k', 150011}}, "ij", "ki", "kj", "", "", update::add);
    product_of(t, {{'i', 8}, {'j', 8}, {'k', 300}, {'l', 480}}, "ij", "kil", "kjl", "ji", "", update::assign);
    product_of(t, {{'i', 3}, {'k', 100000}}, "i", "ik", "k", "", "", update::assign);
    product_of(t, {{'i', 500}, {'k', 700}}, "i", "ik", "k", "", "ki", update::assign);
  }
}

TEST_CASE("transpositions, reductions, diagonals") {
  if (!has_gpu()) return;
  for (dtype t : all_types)
    for (int which = 0; which < 5; ++which) {
      case_builder c(t, 9);
      labels(c, {{'i', 45}, {'j', 70}, {'k', 9}});
      statement s;
      s.op = which % 2 ? update::add : update::assign;
      if (which == 0) s.left = c.tensor("C", "ijk"), s.terms.push_back({-1, false, {c.tensor("A", "kji")}});
      if (which == 1) s.left = c.tensor("C", "ij", "ji"), s.terms.push_back({c.scalar({2, 1}), true, {c.tensor("A", "ij")}});
      if (which == 2) s.left = c.tensor("C", "i"), s.terms.push_back({-1, false, {c.tensor("A", "ijk", "kij")}});
      if (which == 3) s.left = c.tensor("C", "ik"), s.terms.push_back({-1, false, {c.tensor("A", "ijk"), c.tensor("B", "j")}});
      if (which == 4) {
        s.left = c.tensor("C", "jk");
        reference d = c.tensor("A", "jk", "", 3);
        d.conj = true;
        s.terms.push_back({-1, false, {d}});
        s.terms.push_back({-1, true, {c.tensor("B", "kj")}});
      }
      c.p.statements.push_back(s);
      require_right_on_gpu(c, 1, which % 3, "case " + std::to_string(which), s.op == update::assign);
    }
}

TEST_CASE("many short rows: words of the result across them, and transpositions in tiles") {
  if (!has_gpu()) return;
  for (const dtype t : {dtype::f32, dtype::f64, dtype::c128, dtype::f16})
    for (const char* const order : {"eij", "eji", "jie", "jei"})
      for (const int shift : {0, 1}) {
        case_builder c(t, 5);
        labels(c, {{'e', 62003}, {'i', 5}, {'j', 7}});
        statement s;
        s.op = shift ? update::add : update::assign;
        s.left = c.tensor("C", order), s.terms.push_back({c.scalar({2, 1}), false, {c.tensor("A", "eij")}});
        if (std::string(order) == "eij") s.terms[0].factors.push_back(c.tensor("B", "ej"));
        c.p.statements.push_back(s);
        require_right_on_gpu(c, 2, shift, order, !shift);
      }
}

TEST_CASE("batches beyond 65,535 and loops in any number") {
  for (dtype t : {dtype::f32, dtype::f64, dtype::f16}) {
    product_of(t, {{'e', 70001}, {'i', 2}, {'j', 3}, {'k', 2}}, "eij", "eik", "ekj", "", "", update::add);
    product_of(t, {{'a', 7}, {'b', 5}, {'c', 6}, {'d', 4}, {'i', 4}, {'j', 5}, {'k', 3}}, "acbidj", "abcdik", "dkcbaj", "", "", update::assign, 1);
  }
}

TEST_CASE("batches by pointers, by strides and side by side") {
  if (!has_gpu()) return;
  unsigned at = 0;
  for (dtype t : all_types)
    for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{5, 5, 5}, {16, 8, 12}, {31, 33, 7}, {64, 48, 64}})
      for (const bool by_pointers : {true, false}) {
        if (!is_mine(at++)) continue;
        case_builder c(t, 11);
        const std::int64_t batch = 203;
        labels(c, {{'e', batch}, {'i', m}, {'j', n}, {'k', k}});
        statement s;
        const bool side = !by_pointers && m == 5;
        s.left = c.tensor("C", "eij", side ? "ije" : ""), s.op = update::add;
        s.terms.push_back({-1, false, {c.tensor("A", "eik", side ? "ike" : "eki"), c.tensor("B", "ekj", side ? "kje" : "")}});
        c.p.statements.push_back(s);
        const auto expected = evaluate(c.p, 0, c.bind());
        gpu_memory memory(c, by_pointers ? 1 : 0);
        const bindings b = memory.bind();
        const auto& left = s.left.axes;
        const auto &a = s.terms[0].factors[0].axes, &y = s.terms[0].factors[1].axes;
        gemm_problem p;
        p.type = t, p.m = m, p.n = n, p.k = k, p.batch = batch, p.beta = 1;
        p.a_row = a[1].stride, p.a_col = a[2].stride, p.b_row = y[1].stride, p.b_col = y[2].stride;
        p.c_row = left[1].stride, p.c_col = left[2].stride;
        p.a_step = a[0].stride, p.b_step = y[0].stride, p.c_step = left[0].stride;
        if (by_pointers) {
          std::vector<void*> lists[3];
          void* there[3];
          const std::int64_t steps[] = {p.c_step, p.a_step, p.b_step};
          for (int x = 0; x < 3; ++x) {
            for (std::int64_t e = 0; e < batch; ++e)
              lists[x].push_back(static_cast<char*>(b.pointers[x]) + e * steps[x] * static_cast<std::int64_t>(size_of(t)));
            there[x] = cuda::allocate(batch * 8);
            cuda::copy_to_device(there[x], lists[x].data(), batch * 8);
          }
          run_gemm_each_gpu(p, static_cast<void**>(there[1]), static_cast<void**>(there[2]), static_cast<void**>(there[0]));
          REQUIRE(memory.fetch());
          for (void* x : there) cuda::release(x);
        } else {
          run_gemm_gpu(p, b.pointers[1], b.pointers[2], b.pointers[0]);
          REQUIRE(memory.fetch());
        }
        INFO(name_of(t) << " " << m << " " << n << " " << k << (by_pointers ? " by pointers" : ""));
        REQUIRE(error_in_bounds(c.p, 0, c.bind(), expected, 2) <= 1.0);
      }
}

TEST_CASE("a batch with a long sum and a small result") {
  if (!has_gpu()) return;
  case_builder c(dtype::f64, 17);
  labels(c, {{'i', 3}, {'j', 5}, {'k', 90001}});
  statement s;
  s.left = c.tensor("C", "ij"), s.op = update::add;
  s.terms.push_back({-1, false, {c.tensor("A", "ik"), c.tensor("B", "kj")}});
  c.p.statements.push_back(s);
  const auto expected = evaluate(c.p, 0, c.bind());
  gpu_memory memory(c, 0);
  const bindings b = memory.bind();
  gemm_problem p;
  p.m = 3, p.n = 5, p.k = 90001, p.beta = 1, p.a_row = p.k, p.b_row = 5, p.c_row = 5;
  run_gemm_gpu(p, b.pointers[1], b.pointers[2], b.pointers[0]);
  REQUIRE(memory.fetch());
  REQUIRE(error_in_bounds(c.p, 0, c.bind(), expected, 2) <= 1.0);
}

TEST_CASE("what is wrong is said") {
  if (!has_gpu()) return;
  case_builder c(dtype::f64, 3);
  labels(c, {{'e', 10}, {'i', 4}, {'j', 4}, {'k', 4}});
  statement s;
  s.left = c.tensor("C", "eij");
  s.terms.push_back({-1, false, {c.tensor("A", "eik"), c.tensor("B", "ekj")}});
  c.p.statements.push_back(s);
  const auto plan = compile(cuda::placed_on_gpu(c.p));
  const auto code_of = [](auto&& work) {
    try {
      work();
    } catch (const error& e) {
      return e.code();
    }
    return errc{};
  };
  const std::vector<char> before(c.memory[0].get(), c.memory[0].get() + 160 * 8);
  CHECK(code_of([&] { run(*plan, c.bind()); }) == errc::wrong_space);  // host pointers
  CHECK(std::memcmp(before.data(), c.memory[0].get(), before.size()) == 0);
  CHECK(code_of([&] { run(*compile(c.p), c.bind(), nullptr); }) == errc::wrong_space);  // a stream for host tensors
  CHECK(code_of([&] { cuda::release(cuda::allocate(std::int64_t{1} << 50)); }) == errc::no_memory);
}

TEST_CASE("strides that run backwards") {
  if (!has_gpu()) return;
  for (dtype t : {dtype::f32, dtype::c128, dtype::f16})
    for (const int which : {0, 1, 2, 3}) {
      case_builder c(t, 13);
      labels(c, {{'e', 50}, {'i', 6}, {'j', 7}, {'k', 5}});
      statement s;
      s.left = c.tensor("C", "eij"), s.op = update::add;
      reference a = c.tensor("A", "eik"), b = c.tensor("B", "ekj");
      const auto turn = [&](reference& r, int axis) {
        reference_axis& x = r.axes[static_cast<std::size_t>(axis)];
        c.pointers[static_cast<std::size_t>(r.slot)] = static_cast<char*>(c.pointers[static_cast<std::size_t>(r.slot)]) +
            (c.p.labels[static_cast<std::size_t>(x.label)].extent - 1) * x.stride * static_cast<std::int64_t>(size_of(t));
        x.stride = -x.stride;
      };
      s.terms.push_back({-1, false, {a, b}});
      const std::vector<void*> bases = c.pointers;
      if (which < 3) turn(s.terms[0].factors[0], which);
      else turn(s.left, 1);
      c.p.statements.push_back(s);
      const auto expected = evaluate(c.p, 0, c.bind());
      const std::vector<void*> turned = c.pointers;
      c.pointers = bases;
      gpu_memory memory(c, 0);
      std::vector<void*> there;
      for (std::size_t p = 0; p < turned.size(); ++p)
        there.push_back(static_cast<char*>(memory.bind().pointers[p]) + (static_cast<char*>(turned[p]) - static_cast<char*>(bases[p])));
      const auto plan = compile(cuda::placed_on_gpu(c.p));
      run(*plan, {there.data(), c.scalars.data()});
      REQUIRE(memory.fetch());
      c.pointers = turned;
      INFO(name_of(t) << " " << which << "\n" << describe(*plan));
      REQUIRE(error_in_bounds(c.p, 0, c.bind(), expected, 2) <= 1.0);
    }
}
