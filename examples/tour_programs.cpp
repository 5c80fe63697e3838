// The tour: functions, index tensors and symmetric matrices in statements and programs.
#include <iostream>

#include <ricci/ricci.hpp>

using namespace ricci::labels;

int main() {
  const int count = 100;
  ricci::tensor<double, 4, 3> B;
  B.fill(0.25);
  ricci::tensor<double, ricci::dynamic, 4> x(count), y(count), w(count);
  x.fill(3), y.fill(4);

  // [functions]
  ricci::local<double> n("n");  // the name is for errors and plans
  ricci::fuse(n(e, q).assign(x(e, q) * x(e, q) + y(e, q) * y(e, q)),
              w(e, q).assign(x(e, q) / sqrt(n(e, q)) + max(x(e, q), y(e, q)))).run();
  // [/functions]
  std::cout << "functions " << w(99, 3) << '\n';

  // [lookup]
  ricci::tensor<std::int32_t, ricci::dynamic, 3> dof(count);  // which unknowns an element has
  for (int el = 0; el < count; ++el)
    for (int node = 0; node < 3; ++node) dof(el, node) = 2 * el + node;
  ricci::tensor<double, ricci::dynamic> u(2 * count + 1), v(2 * count + 1);
  u.fill(1);

  ricci::local<double> g, h;
  auto apply = ricci::fuse(g(e, q).assign(B(q, a) * u(dof(e, a))),  // gathers
                           h(e, q).assign(w(e, q) * g(e, q)),
                           v(dof(e, b)).add(B(q, b) * h(e, q)));    // scatters and adds
  apply.run();
  // [/lookup]
  std::cout << "lookup " << v(0) << ' ' << v(2) << '\n';

  // [even_odd]
  auto E = ricci::even_odd(B);  // B(q,a) = B(3-q, 2-a), or minus it; looked at when the plan is made
  ricci::tensor<double, ricci::dynamic, 3, 8> s(count);
  ricci::tensor<double, ricci::dynamic, 4, 8> t(count);
  s.fill(1);
  t(e, q, c) = E(q, a) * s(e, a, c);
  // [/even_odd]
  std::cout << "even_odd " << t(99, 3, 7) << '\n';
}
