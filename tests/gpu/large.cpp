// Shapes that leave the small kernels on the GPU: tiles, transpositions, long sums, batches beyond 65,535, diagonals.
#include "on_gpu.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

constexpr dtype all_types[] = {dtype::f32, dtype::f64, dtype::c64, dtype::c128, dtype::f16, dtype::bf16};

void labels(case_builder& c, std::initializer_list<std::pair<char, std::int64_t>> list) {
  for (const auto& [name, extent] : list) c.label(name, extent);
}

void product_of(dtype t, std::initializer_list<std::pair<char, std::int64_t>> extents, const char* left, const char* a,
                const char* b, const char* left_order, const char* a_order, update op, int shift = 0) {
  if (!has_gpu()) return;
  case_builder c(t, 7);
  labels(c, extents);
  statement s;
  s.left = c.tensor("C", left, left_order), s.op = op;
  reference x = c.tensor("A", a, a_order), y = c.tensor("B", b);
  x.conj = true;
  s.terms.push_back({c.scalar({1.5, -0.5}), false, {x, y}});
  c.p.statements.push_back(s);
  require_right_on_gpu(c, 2, shift, std::string(left) + "=" + a + "*" + b, op == update::assign);
}

}  // namespace

TEST_CASE("large products in tiles") {
  for (dtype t : all_types) {
    product_of(t, {{'i', 130}, {'j', 96}, {'k', 77}}, "ij", "ik", "kj", "", "", update::assign);
    product_of(t, {{'i', 67}, {'j', 131}, {'k', 48}}, "ij", "ik", "kj", "ji", "ki", update::add, 1);
    product_of(t, {{'z', 3}, {'a', 5}, {'b', 13}, {'c', 9}, {'d', 8}, {'k', 11}, {'l', 6}}, "zabcd", "zabkl", "zklcd", "zabcd", "zbalk", update::subtract);
  }
}

TEST_CASE("long sums") {
  for (dtype t : {dtype::f32, dtype::f64, dtype::c64, dtype::c128}) {
    product_of(t, {{'k', 300007}}, "", "k", "k", "", "", update::add);
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

TEST_CASE("batches beyond 65,535 and loops in any number") {
  for (dtype t : {dtype::f32, dtype::f64, dtype::f16}) {
    product_of(t, {{'e', 70001}, {'i', 2}, {'j', 3}, {'k', 2}}, "eij", "eik", "ekj", "", "", update::add);
    product_of(t, {{'a', 7}, {'b', 5}, {'c', 6}, {'d', 4}, {'i', 4}, {'j', 5}, {'k', 3}}, "acbidj", "abcdik", "dkcbaj", "", "", update::assign, 1);
  }
}
