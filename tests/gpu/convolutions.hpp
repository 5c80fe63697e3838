// Convolutions, stencils and moving sums as contractions of views whose windows overlap.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "build_program.hpp"

namespace ricci::test {

/// C(labels) = (0.75 - 0.5i) A(labels) conj(B(labels)), each with its steps; without A, the sum of B.
struct contraction {
  std::vector<std::pair<char, std::int64_t>> extents;
  struct tensor {
    std::string labels;
    std::vector<std::int64_t> steps;
  };
  tensor c, a, b;
};

inline reference view(case_builder& c, const std::string& name, const contraction::tensor& x) {
  // As many elements as lie between the first and the last; steps may be negative.
  std::int64_t below = 0, above = 0;
  for (std::size_t d = 0; d < x.labels.size(); ++d) {
    const std::int64_t reach = (c.p.labels[static_cast<std::size_t>(c.find(x.labels[d]))].extent - 1) * x.steps[d];
    (reach < 0 ? below : above) += reach;
  }
  c.label('#', above - below + 1);
  reference r = c.tensor(name, "#");
  c.p.labels.pop_back();
  c.pointers.back() = static_cast<char*>(c.pointers.back()) - below * static_cast<std::int64_t>(size_of(c.type));
  r.axes.clear();
  for (std::size_t d = 0; d < x.labels.size(); ++d) r.axes.push_back({c.find(x.labels[d]), x.steps[d]});
  return r;
}

inline std::unique_ptr<case_builder> case_of(dtype t, unsigned seed, const contraction& x, bool swapped, bool add) {
  auto c = std::make_unique<case_builder>(t, seed);
  for (const auto& [name, extent] : x.extents) c->label(name, extent);
  statement s;
  s.left = view(*c, "C", x.c), s.op = add ? update::add : update::assign;
  product term{c->scalar({0.75, is_complex(t) ? -0.5 : 0.0}), false, {}};
  if (!x.a.labels.empty()) term.factors.push_back(view(*c, "A", x.a));
  term.factors.push_back(view(*c, "B", x.b));
  term.factors.back().conj = is_complex(t);
  if (swapped) std::reverse(term.factors.begin(), term.factors.end());
  s.terms.push_back(term);
  c->p.statements.push_back(s);
  return c;
}

/// Images of h x w with windows of r x s, strides and gaps between taps; channels last or first.
inline contraction convolution(std::int64_t images, std::int64_t groups, std::int64_t channels, std::int64_t filters, std::int64_t h, std::int64_t w, std::int64_t r, std::int64_t s, std::int64_t stride, std::int64_t gap, bool last) {
  const std::int64_t rows = (h - (r - 1) * gap - 1) / stride + 1, cols = (w - (s - 1) * gap - 1) / stride + 1, all = groups * channels, out = groups * filters;
  const std::int64_t x = last ? all : 1, y = x * w, z = last ? 1 : h * w, ox = last ? out : 1, oy = ox * cols, oz = last ? 1 : rows * cols;
  return {{{'n', images}, {'g', groups}, {'c', channels}, {'k', filters}, {'p', rows}, {'q', cols}, {'r', r}, {'s', s}},
          {"ngkpq", {out * rows * cols, filters * oz, oz, oy, ox}},
          {"gkcrs", {filters * channels * r * s, last ? 1 : channels * r * s, last ? filters : r * s, last ? s * channels * filters : s, last ? channels * filters : 1}},
          {"ngcpqrs", {all * h * w, channels * z, z, stride * y, stride * x, gap * y, gap * x}}};
}

/// Extents such that boxes do not divide them, in every order of axes; the last ones are flipped, one-dimensional, of three dimensions,
/// without a second factor, rows without a gap, images beside one another, and filters that are flipped or repeated.
inline std::vector<contraction> windowed() {
  return {convolution(2, 1, 1, 1, 19, 23, 3, 3, 1, 1, false),
          convolution(1, 3, 2, 5, 13, 11, 3, 2, 2, 1, false),
          convolution(2, 1, 4, 7, 12, 14, 3, 3, 1, 2, true),
          convolution(2, 8, 1, 1, 11, 15, 3, 5, 1, 1, true),
          convolution(1, 4, 4, 4, 9, 10, 3, 3, 1, 1, true),
          convolution(2, 5, 1, 3, 17, 12, 5, 3, 1, 1, false),
          convolution(1, 2, 3, 6, 15, 13, 2, 4, 3, 2, false),
          {{{'p', 30}, {'q', 17}, {'r', 4}, {'s', 3}}, {"pq", {17, 1}}, {"rs", {3, 1}}, {"pqrs", {20, 1, -20, -1}}},
          {{{'e', 3}, {'q', 101}, {'s', 7}, {'k', 5}}, {"ekq", {505, 101, 1}}, {"ks", {7, 1}}, {"eqs", {107, 1, 1}}},
          {{{'x', 7}, {'y', 6}, {'z', 9}, {'r', 2}, {'s', 3}, {'t', 2}}, {"xyz", {54, 9, 1}}, {"rst", {6, 2, 1}}, {"xyzrst", {80, 10, 1, 80, 10, 1}}},
          {{{'p', 21}, {'q', 16}, {'r', 3}, {'s', 4}}, {"pq", {16, 1}}, {"", {}}, {"pqrs", {19, 1, 19, 1}}},
          {{{'p', 40}, {'q', 32}, {'r', 5}}, {"pq", {32, 1}}, {"r", {1}}, {"pqr", {32, 1, 32}}},
          {{{'p', 21}, {'n', 8}, {'s', 4}, {'k', 3}}, {"kpn", {168, 8, 1}}, {"ks", {4, 1}}, {"pns", {8, 1, 8}}},
          {{{'p', 30}, {'q', 17}, {'r', 4}, {'s', 3}, {'k', 3}}, {"kpq", {510, 17, 1}}, {"krs", {-12, -3, -1}}, {"pqrs", {20, 1, 20, 1}}},
          {{{'p', 9}, {'q', 41}, {'s', 3}, {'k', 4}}, {"kpq", {369, 41, 1}}, {"ks", {0, 1}}, {"pqs", {44, 1, 1}}},
          {{{'p', 19}, {'q', 18}, {'r', 3}, {'s', 2}}, {"pq", {18, 1}}, {"rs", {2, -1}}, {"pqrs", {20, 1, 20, 1}}}};
}

}  // namespace ricci::test
