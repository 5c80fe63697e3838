// The programs of the tests of fused kernels.
#include "fused_programs.hpp"

namespace ricci::test {
namespace {

/// P and Q points along each direction: e, c; k j i and n m l of the nodes; t s r and o of the points.
/// Declared even or odd, and so made.
void symmetric(program_writer& w, const char* name, int parity) {
  reference& r = w.find(name);
  r.parity = parity;
  case_builder& c = *w.made;
  const auto size = c.sizes[static_cast<std::size_t>(r.slot)];
  void* const at = c.pointers[static_cast<std::size_t>(r.slot)];
  for (std::int64_t n = 0; n < (size + 1) / 2; ++n) {
    if (n == size - 1 - n && parity < 0) put(c.type, at, n, 0);
    put(c.type, at, size - 1 - n, get(c.type, at, n) * static_cast<double>(parity));
  }
}

void hexahedra(program_writer& w, int P, int Q, int elements, int components) {
  w.labels("e", elements);
  if (components > 1) w.labels("c", components);
  w.labels("kjinml", P);
  w.labels("tsro", Q);
}

std::string name_of_case(const char* what, dtype t, int P, int Q) {
  return std::string(what) + " " + name_of(t) + " " + std::to_string(P) + "x" + std::to_string(Q);
}

/// x, y, z = grad p; a, b, c = G (x, y, z); the divergence's three terms.
std::vector<product> diffuse(program_writer& w, const std::string& e) {
  const auto at = [&](const char* name, const char* points) { return std::string(name) + "(" + e + points + ")"; };
  w.assign(at("x", "tsr"), "D(ro) " + at("p", "tso"));
  w.assign(at("y", "tsr"), "D(so) " + at("p", "tor"));
  w.assign(at("z", "tsr"), "D(to) " + at("p", "osr"));
  static constexpr const char* rows[3][4] = {{"a", "G0(etsr)", "G3(etsr)", "G4(etsr)"}, {"b", "G3(etsr)", "G1(etsr)", "G5(etsr)"}, {"f", "G4(etsr)", "G5(etsr)", "G2(etsr)"}};
  for (const auto& row : rows)
    w.assign(at(row[0], "tsr"), {w.times(row[1] + (" " + at("x", "tsr"))), w.times(row[2] + (" " + at("y", "tsr"))), w.times(row[3] + (" " + at("z", "tsr")))});
  return {w.times("D(or) " + at("a", "tso")), w.times("D(os) " + at("b", "tor")), w.times("D(ot) " + at("f", "osr"))};
}

void geometry(program_writer& w) {
  for (int g = 0; g < 6; ++g) w.tensor("G" + std::to_string(g), "etsr");
}

fused_case pointwise(dtype t, int elements) {
  program_writer w(t, 5);
  w.labels("e", elements), w.labels("q", 5), w.labels("r", 4);
  for (const char* name : {"x", "y", "v"}) w.tensor(name, "eqr");
  w.tensor("d", "eqr", "qer"), w.tensor("g", "qr");
  w.positive("x"), w.positive("y"), w.positive("d"), w.positive("g");
  const int s = w.made->scalar(1.25);
  w.assign("n(eqr)", {w.times("x(eqr) x(eqr)"), w.times("y(eqr) d(eqr)", s)});
  w.assign("h(eqr)", {w.times({w("x(eqr)"), w.apply(function::rsqrt, "n(eqr)")}), w.times({w.apply(function::sqrt, "d(eqr)"), w.apply(function::reciprocal, "g(qr)")}, s, true)});
  product smaller = w.times({w.apply(function::abs, "h(eqr)"), w("y(eqr)")}), larger = w.times({w("g(qr)"), w.apply(function::exp, "x(eqr)")});
  smaller.how = combine::minimum, larger.how = combine::maximum;
  w.assign("v(eqr)", {smaller, larger}, update::add);
  return {std::string("pointwise ") + name_of(t), std::move(w.made), 3};
}

/// A line of elements that share their ends; u and v are global vectors.
fused_case line_operator(dtype t, int P, int Q, int elements, bool wide) {
  program_writer w(t, 6);
  w.labels("e", elements), w.labels("ab", P), w.labels("q", Q), w.labels("z", elements * (P - 1) + 1);
  w.tensor("v", "z"), w.tensor("u", "z"), w.tensor("B", "qa"), w.tensor("D", "eq");
  w.table("dof", "ea", wide, [P](std::int64_t n) { return n / P * (P - 1) + n % P; });
  w.assign("g(eq)", {w.times({w("B(qa)"), w.looked_up("u", "dof", "ea")})});
  w.assign("h(eq)", "D(eq) g(eq)");
  w.assign(w.looked_up("v", "dof", "eb"), {w.times("B(qb) h(eq)")}, update::add);
  return {name_of_case("gather and scatter", t, P, Q), std::move(w.made), 4};
}

fused_case gather_alone(dtype t, bool scatter) {
  program_writer w(t, 7);
  w.labels("e", 50), w.labels("a", 3), w.labels("z", 80);
  w.tensor("w", "ea"), w.tensor("v", "z");
  w.table("dof", "ea", false, [](std::int64_t n) { return n * 7 % 80; });
  const int s = w.made->scalar(-0.5);
  if (scatter) w.assign(w.looked_up("v", "dof", "ea"), {w.times("w(ea)", s)}, update::subtract);
  else w.assign("w(ea)", {w.times({w.looked_up("v", "dof", "ea"), w("w(ea)")}, s)}, update::add);
  return {std::string(scatter ? "scatter alone " : "gather alone ") + name_of(t), std::move(w.made), 3};
}

/// What is read is what is written, elsewhere.
fused_case scatter_into_itself(dtype t) {
  program_writer w(t, 7);
  w.labels("z", 80);
  w.tensor("v", "z");
  w.table("dof", "z", false, [](std::int64_t n) { return (n * 7 + 1) % 80; });
  const reference left = w.looked_up("v", "dof", "z"), right = w("v(z)");
  w.assign(left, {w.times({right})}, update::add);
  w.made->p.overlaps.push_back({left.slot, right.slot, overlap::kind::may});
  return {std::string("scatter into itself ") + name_of(t), std::move(w.made), 3};
}

/// C += 2 A B E with the batch outermost, innermost, or in between.
fused_case products(dtype t, int n, int elements, const std::string& order) {
  program_writer w(t, 8);
  w.labels("e", elements), w.labels("ikj", n), w.labels("l", n + 1);
  const auto in_order = [&](const std::string& labels) {
    std::string out;
    for (const char o : order)
      out += o == 'e' ? std::string("e") : o == '1' ? labels.substr(1, 1) : labels.substr(2, 1);
    return out;
  };
  w.tensor("C", "eij", in_order("eij")), w.tensor("A", "eik", in_order("eik")), w.tensor("B", "ekl", in_order("ekl")), w.tensor("E", "elj", in_order("elj"));
  reference a = w("A(eik)");
  a.conj = is_complex(t);
  w.assign(w("C(eij)"), {w.times({a, w("B(ekl)"), w("E(elj)")}, w.made->scalar({2, 0.5}))}, update::add);
  return {name_of_case(("products " + order).c_str(), t, n, n), std::move(w.made), 4};
}

/// Two derivatives that share a product, a function of them, then a sum over everything in an element.
fused_case shared_products(dtype t, int elements) {
  program_writer w(t, 9);
  w.labels("e", elements), w.labels("ij", 4), w.labels("qr", 5);
  w.tensor("x", "eqr"), w.tensor("y", "eqr"), w.tensor("norm", "e"), w.tensor("B", "qi"), w.tensor("D", "qi"), w.tensor("u", "eij"), w.tensor("W", "eqr");
  w.assign("x(eqr)", "D(qi) B(rj) u(eij)");
  w.assign("y(eqr)", "B(qi) D(rj) u(eij)");
  w.assign("f(eqr)", {w.times({w("W(eqr)"), w.apply(function::abs, "W(eqr)")}), w.times("W(eqr)")});
  w.assign("norm(e)", {w.times("f(eqr) W(eqr)")}, update::add);
  return {std::string("shared products ") + name_of(t), std::move(w.made), 5};
}

}  // namespace

fused_case bk1(dtype t, int P, int Q, int elements, bool one_statement, bool declared) {
  program_writer w(t, 1);
  hexahedra(w, P, Q, elements, 1);
  w.tensor("v", "enml"), w.tensor("u", "ekji"), w.tensor("B", "tk"), w.tensor("W", "etsr");
  if (declared) symmetric(w, "B", 1);
  if (one_statement) {
    w.assign("v(enml)", "B(tn) B(sm) B(rl) W(etsr) B(tk) B(sj) B(ri) u(ekji)");
  } else {
    w.assign("p(etsr)", "B(tk) B(sj) B(ri) u(ekji)");
    w.assign("q(etsr)", "W(etsr) p(etsr)");
    w.assign("v(enml)", "B(tn) B(sm) B(rl) q(etsr)");
  }
  return {name_of_case(one_statement ? "BK1 in one statement" : "BK1", t, P, Q), std::move(w.made), 8};
}

fused_case bk3(dtype t, int P, int Q, int elements, int components, bool declared) {
  program_writer w(t, 2);
  hexahedra(w, P, Q, elements, components);
  const std::string e = components > 1 ? "ec" : "e";
  w.tensor("v", e + "nml"), w.tensor("u", e + "kji"), w.tensor("B", "tk"), w.tensor("D", "to");
  if (declared) symmetric(w, "B", 1), symmetric(w, "D", -1);
  geometry(w);
  w.assign("p(" + e + "tsr)", "B(tk) B(sj) B(ri) u(" + e + "kji)");
  w.assign("q(" + e + "tsr)", diffuse(w, e));
  w.assign("v(" + e + "nml)", "B(tn) B(sm) B(rl) q(" + e + "tsr)");
  return {name_of_case(components > 1 ? "BK4" : "BK3", t, P, Q), std::move(w.made), 8};
}

fused_case bk5(dtype t, int P, int elements, bool declared) {
  program_writer w(t, 3);
  hexahedra(w, P, P, elements, 1);
  w.tensor("v", "etsr"), w.tensor("u", "etsr"), w.tensor("D", "to");
  if (declared) symmetric(w, "D", -1);
  geometry(w);
  w.assign("p(etsr)", "u(etsr)");
  w.assign("v(etsr)", diffuse(w, "e"));
  return {name_of_case("BK5", t, P, P), std::move(w.made), 6};
}

fused_case gradient_of_corners(dtype t, int Q, int elements) {
  program_writer w(t, 4);
  w.labels("e", elements), w.labels("abc", 2), w.labels("tsr", Q), w.labels("g", 1);
  w.tensor("v", "etsr"), w.tensor("N", "ta"), w.tensor("d", "ta"), w.tensor("w", "tsr");
  for (const char* name : {"C0", "C1", "C2"}) w.tensor(name, "eabc");
  for (int c = 0; c < 3; ++c) {
    const std::string C = "C" + std::to_string(c) + "(eabc)", J = "J" + std::to_string(c);
    w.assign(J + "0(etsr)", "d(ta) N(sb) N(rc) " + C);
    w.assign(J + "1(etsr)", "N(ta) d(sb) N(rc) " + C);
    w.assign(J + "2(etsr)", "N(ta) N(sb) d(rc) " + C);
  }
  const auto minor = [&](const char* to, const char* p1, const char* p2, const char* m1, const char* m2) {
    const auto at = [](const char* name) { return std::string(name) + "(etsr)"; };
    w.assign(at(to), {w.times(at(p1) + " " + at(p2)), w.times(at(m1) + " " + at(m2), -1, true)});
  };
  minor("A0", "J11", "J22", "J12", "J21"), minor("A1", "J12", "J20", "J10", "J22"), minor("A2", "J10", "J21", "J11", "J20");
  w.assign("det(etsr)", {w.times("J00(etsr) A0(etsr)"), w.times("J01(etsr) A1(etsr)"), w.times("J02(etsr) A2(etsr)")});
  w.assign("v(etsr)", {w.times("w(tsr) det(etsr)")}, update::subtract);
  return {name_of_case("determinants", t, 2, Q), std::move(w.made), 8};
}

std::vector<fused_case> fused_cases(bool large) {
  std::vector<fused_case> all;
  for (const int degree : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
    const int P = degree + 1, Q = degree + 2, elements = degree < 4 ? 29 : degree < 7 ? 5 : 2;
    if (degree > 4 && degree != 7 && !large) continue;
    all.push_back(bk1(dtype::f64, P, Q, elements));
    all.push_back(bk3(dtype::f64, P, Q, elements));
    all.push_back(bk5(dtype::f64, P, elements));
  }
  for (const int P : {2, 3, 4, 5}) {
    all.push_back(bk1(dtype::f64, P, P + 1, 7, false, true)), all.push_back(bk3(P == 4 ? dtype::f32 : dtype::f64, P, P + (P == 5 ? 2 : 1), 5, 1, true));
    all.push_back(bk5(dtype::f64, P, 9, true));
  }
  all.push_back(bk5(dtype::f64, 16, 2));
  if (large) all.push_back(bk1(dtype::f64, 16, 17, 2)), all.push_back(bk3(dtype::f64, 16, 17, 2));
  // As they were measured: with matrices of declared parity, and blocks that take several elements one after the other.
  for (int P = 6; P <= 11 && large; ++P) all.push_back(bk1(dtype::f64, P, P + 1, 9, false, true)), all.push_back(bk3(dtype::f64, P, P + 1, 9, 1, true));
  for (const dtype t : {dtype::f32, dtype::f16, dtype::bf16, dtype::c64, dtype::c128}) {
    all.push_back(bk1(t, 3, 4, 11));
    if (!is_complex(t)) all.push_back(bk3(t, 3, 4, 7));
    all.push_back(products(t, 5, 23, "e12"));
  }
  all.push_back(bk1(dtype::f64, 4, 5, 9, true));
  all.push_back(bk3(dtype::f64, 4, 5, 6, 3));
  all.push_back(gradient_of_corners(dtype::f64, 4, 13));
  for (const dtype t : {dtype::f32, dtype::f64, dtype::f16}) {
    all.push_back(pointwise(t, 37)), all.push_back(gather_alone(t, false)), all.push_back(gather_alone(t, true));
    all.push_back(shared_products(t, 19));
  }
  for (const dtype t : {dtype::f32, dtype::f64, dtype::c128, dtype::bf16}) all.push_back(line_operator(t, 4, 5, 30, is_complex(t)));
  for (const char* order : {"e12", "12e", "1e2", "e21"}) all.push_back(products(dtype::f64, 6, 40, order));
  all.push_back(products(dtype::f64, 3, 1, "e12"));
  all.push_back(scatter_into_itself(dtype::f64));
  return all;
}

}  // namespace ricci::test
