// Networks of tensors, contracted by one einsum, beside the classical way along the same path: transpositions and a product of
// matrices by the fastest library found for every pair. One thread.
//   bench_networks [--dtype f64] [--seconds S] [--only NAME]
#include <omp.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <ricci/plan/path.hpp>
#include <ricci/ricci.hpp>

#include "classical.hpp"

namespace {

using namespace bench;
using labels = std::vector<int>;

struct setting {
  std::string dtype = "f64", only;
  double seconds = 0.5;
};

struct net {
  std::string name;
  ricci::network of;

  int add(std::int64_t extent) { return of.extents.push_back(extent), static_cast<int>(of.extents.size()) - 1; }
};

/// Every tensor has as many neighbours, drawn at random.
net regular(int tensors, int neighbours, std::int64_t extent, unsigned seed) {
  net x{"regular " + std::to_string(tensors) + ", " + std::to_string(neighbours) + " of " + std::to_string(extent), {}};
  std::mt19937 random(seed);
  for (;;) {
    labels ends;
    for (int t = 0; t < tensors * neighbours; ++t) ends.push_back(t / neighbours);
    for (std::size_t i = ends.size(); i > 1; --i) std::swap(ends[i - 1], ends[random() % i]);
    x.of = {std::vector<labels>(static_cast<std::size_t>(tensors)), {}, {}};
    bool simple = true;
    for (std::size_t i = 0; i < ends.size() && simple; i += 2) {
      labels &p = x.of.factors[static_cast<std::size_t>(ends[i])], &q = x.of.factors[static_cast<std::size_t>(ends[i + 1])];
      simple = &p != &q;
      for (const int l : p) simple = simple && std::find(q.begin(), q.end(), l) == q.end();
      const int l = x.add(extent);
      p.push_back(l), q.push_back(l);
    }
    if (simple) return x;
  }
}

/// side x side tensors, each bound to its neighbours; with `open` > 0 two such layers, bound at every site (the norm of a PEPS).
net lattice(int side, std::int64_t extent, std::int64_t open = 0) {
  net x{(open ? "norm of a lattice " : "lattice ") + std::to_string(side) + " x " + std::to_string(side) + " of " + std::to_string(extent), {}};
  for (int layer = 0; layer < (open ? 2 : 1); ++layer) {
    std::vector<labels> sites(static_cast<std::size_t>(side * side));
    const auto bind = [&](int p, int q) {
      const int l = x.add(extent);
      sites[static_cast<std::size_t>(p)].push_back(l), sites[static_cast<std::size_t>(q)].push_back(l);
    };
    for (int i = 0; i < side; ++i)
      for (int j = 0; j < side; ++j) {
        if (i + 1 < side) bind(i * side + j, (i + 1) * side + j);
        if (j + 1 < side) bind(i * side + j, i * side + j + 1);
      }
    x.of.factors.insert(x.of.factors.end(), sites.begin(), sites.end());
  }
  for (int s = 0; open && s < side * side; ++s) {
    const int l = x.add(open);
    x.of.factors[static_cast<std::size_t>(s)].push_back(l), x.of.factors[static_cast<std::size_t>(side * side + s)].push_back(l);
  }
  return x;
}

/// A chain of tensors with open labels, multiplied out.
net chain(int sites, std::int64_t bond, std::int64_t open) {
  net x{"chain " + std::to_string(sites) + " of " + std::to_string(bond) + ", open", {}};
  int left = -1;
  for (int s = 0; s < sites; ++s) {
    labels site;
    if (left >= 0) site.push_back(left);
    x.of.result.push_back(x.add(open)), site.push_back(x.of.result.back());
    if (s + 1 < sites) site.push_back(left = x.add(bond));
    x.of.factors.push_back(site);
  }
  return x;
}

/// Gates of two qubits on neighbours, layer by layer; the state at the end.
net circuit(int qubits, int layers) {
  net x{"circuit " + std::to_string(qubits) + ", " + std::to_string(layers) + " layers", {}};
  for (int q = 0; q < qubits; ++q) x.of.factors.push_back({x.add(2)}), x.of.result.push_back(q);
  for (int t = 0; t < layers; ++t)
    for (std::size_t q = static_cast<std::size_t>(t % 2); q + 1 < static_cast<std::size_t>(qubits); q += 2) {
      const int p = x.add(2), r = x.add(2);
      x.of.factors.push_back({x.of.result[q], x.of.result[q + 1], p, r});
      x.of.result[q] = p, x.of.result[q + 1] = r;
    }
  return x;
}

/// What the density matrix renormalisation group applies to two sites: environments of bond x 5 x bond, sites of 2.
net two_sites(std::int64_t bond) {
  net x{"two sites, bond " + std::to_string(bond), {}};
  labels bonds, thin, sites;
  for (int n = 0; n < 4; ++n) bonds.push_back(x.add(bond)), sites.push_back(x.add(2));
  for (int n = 0; n < 3; ++n) thin.push_back(x.add(5));
  x.of.factors = {{bonds[0], thin[0], bonds[2]}, {bonds[0], sites[0], sites[1], bonds[1]}, {thin[0], sites[0], sites[2], thin[1]}, {thin[1], sites[1], sites[3], thin[2]}, {bonds[1], thin[2], bonds[3]}};
  x.of.result = {bonds[2], sites[2], sites[3], bonds[3]};
  return x;
}

/// A text of letters: labels of one pair of tensors.
std::string letters(const labels& x, labels& known) {
  std::string out;
  for (const int l : x) {
    const auto at = std::find(known.begin(), known.end(), l);
    const auto n = at - known.begin();
    if (at == known.end()) known.push_back(l);
    out += static_cast<char>(n < 26 ? 'a' + n : 'A' + n - 26);
  }
  return out;
}

template <class T>
class classical {
 public:
  classical(const net& x, const ricci::path& p, const std::vector<ricci::ndarray<T>>& tensors) : x_(x) {
    std::vector<labels> all = x.of.factors;
    std::vector<const ricci::ndarray<T>*> data;
    for (const auto& t : tensors) data.push_back(&t);
    for (const auto& [a, b] : p.steps) {
      step s;
      const labels &la = all[static_cast<std::size_t>(a)], &lb = all[static_cast<std::size_t>(b)];
      labels m, n, k, k_of_b;
      for (const int l : la) (std::find(lb.begin(), lb.end(), l) == lb.end() ? m : k).push_back(l);
      for (const int l : lb) (std::find(la.begin(), la.end(), l) == la.end() ? n : k_of_b).push_back(l);
      // The sums in the order of the factor that need not move then, if there is one.
      if (la != joined(m, k) && la != joined(k, m)) k = k_of_b;
      s.m = size(m), s.n = size(n), s.k = size(k);
      s.a = place(la, m, k, data[static_cast<std::size_t>(a)], s.turned_a);
      s.b = place(lb, k, n, data[static_cast<std::size_t>(b)], s.turned_b);
      s.c = std::make_unique<ricci::ndarray<T>>(shape(joined(m, n)));
      all.push_back(joined(m, n)), data.push_back(s.c.get());
      steps_.push_back(std::move(s));
    }
    result_ = std::make_unique<ricci::ndarray<T>>(shape(x.of.result));
    bool ignored = false;
    last_ = place(all.back(), x.of.result, {}, data.back(), ignored);
    from_ = data.back();
  }

  void run(const product<T>& multiply) {
    for (const step& s : steps_) {
      for (const operand* x : {&s.a, &s.b})
        if (x->moved) ricci::einsum_into(*x->moved, x->text, *x->from);
      multiply(s.m, s.n, s.k, s.a.data(), s.turned_a, s.b.data(), s.turned_b, s.c->data());
    }
    if (last_.moved) ricci::einsum_into(*result_, last_.text, *from_);
  }

  const T* result() const { return last_.moved ? result_->data() : from_->data(); }
  std::int64_t count() const { return result_->size(); }

 private:
  struct operand {
    const ricci::ndarray<T>* from = nullptr;
    std::unique_ptr<ricci::ndarray<T>> moved;
    std::string text;
    const T* data() const { return moved ? moved->data() : from->data(); }
  };
  struct step {
    int m = 1, n = 1, k = 1;
    operand a, b;
    bool turned_a = false, turned_b = false;
    std::unique_ptr<ricci::ndarray<T>> c;
  };

  static labels joined(labels x, const labels& y) { return x.insert(x.end(), y.begin(), y.end()), x; }
  int size(const labels& x) const {
    std::int64_t n = 1;
    for (const int l : x) n *= x_.of.extents[static_cast<std::size_t>(l)];
    return static_cast<int>(n);
  }
  std::vector<std::int64_t> shape(const labels& x) const {
    std::vector<std::int64_t> out;
    for (const int l : x) out.push_back(x_.of.extents[static_cast<std::size_t>(l)]);
    return out;
  }
  /// As a matrix of `rows` by `columns`, or transposed if it lies so; else it is to be moved.
  operand place(const labels& lies, const labels& rows, const labels& columns, const ricci::ndarray<T>* from, bool& turned) const {
    operand out;
    out.from = from;
    turned = lies == joined(columns, rows) && lies != joined(rows, columns);
    if (turned || lies == joined(rows, columns)) return out;
    labels known;
    out.text = letters(lies, known) + "->";
    out.text += letters(joined(rows, columns), known);
    out.moved = std::make_unique<ricci::ndarray<T>>(shape(joined(rows, columns)));
    return out;
  }

  const net& x_;
  std::vector<step> steps_;
  operand last_;
  const ricci::ndarray<T>* from_ = nullptr;
  std::unique_ptr<ricci::ndarray<T>> result_;
};

/// All numbers are positive, so every sum is right to its own rounding.
template <class T>
bool are_close(const T* x, const T* y, std::int64_t count, double roundings) {
  for (std::int64_t i = 0; i < count; ++i)
    if (!(std::abs(double(x[i]) - double(y[i])) <= roundings * double(std::numeric_limits<T>::epsilon()) * std::abs(double(y[i])))) return false;
  return true;
}

template <class T>
double compare(const net& x, const std::vector<peer<T>>& peers, const setting& s) {
  std::mt19937 random(1);
  std::vector<ricci::ndarray<T>> tensors;
  std::vector<ricci::ndview<const T>> views;
  for (const labels& f : x.of.factors) {
    std::vector<std::int64_t> shape;
    for (const int l : f) shape.push_back(x.of.extents[static_cast<std::size_t>(l)]);
    tensors.emplace_back(shape);
    // One over the root of its elements on average: networks of hundreds come out near one.
    const double scale = 1 / std::sqrt(double(tensors.back().size()));
    for (T& e : tensors.back()) e = T(scale * (0.5 + double(random() % 1024) / 1024));
  }
  for (const auto& t : tensors) views.push_back(t.view());
  std::vector<std::int64_t> shape;
  for (const int l : x.of.result) shape.push_back(x.of.extents[static_cast<std::size_t>(l)]);
  ricci::ndarray<T> result(shape);
  const ricci::path p = ricci::find_path(x.of);
  classical<T> other(x, p, tensors);
  ricci::options o;
  o.threads = 1;
  std::vector<std::function<void()>> all{[&] { ricci::einsum_into(result, x.of.factors, x.of.result, views, o); }};
  for (const peer<T>& q : peers) all.push_back([&] { other.run(q.run); });
  const std::vector<double> t = in_turn(all, s.seconds);
  const std::size_t best = std::size_t(std::min_element(t.begin() + 1, t.end()) - t.begin());
  const bool close = are_close(result.data(), other.result(), other.count(), 1e3 * double(x.of.factors.size()));
  std::printf("%-32s %8zu %9.3f %9.1f | %9.3f %7.1f | %9.3f %-9s | %.2f%s\n", x.name.c_str(), x.of.factors.size(), p.flops * 1e-9, p.largest * double(sizeof(T)) / 1048576, t[0] * 1e3,
              p.flops / t[0] * 1e-9, t[best] * 1e3, peers[best - 1].name.c_str(), t[best] / t[0], close ? "" : "  DIFFERENT");
  std::fflush(stdout);
  return t[best] / t[0];
}

template <class T>
void compare_all(const setting& s) {
  const auto peers = find_peers<T>();
  std::vector<net> nets;
  for (const int extent : {2, 4}) nets.push_back(regular(40, 3, extent, 1));
  nets.push_back(regular(90, 3, 2, 3)), nets.push_back(regular(24, 3, 8, 2)), nets.push_back(regular(24, 4, 3, 4)), nets.push_back(regular(18, 4, 4, 5)), nets.push_back(regular(16, 5, 3, 7));
  nets.push_back(lattice(16, 2)), nets.push_back(lattice(10, 3)), nets.push_back(lattice(8, 4)), nets.push_back(lattice(6, 8)), nets.push_back(lattice(5, 16)), nets.push_back(lattice(4, 32));
  nets.push_back(lattice(4, 4, 2)), nets.push_back(lattice(5, 3, 2));
  nets.push_back(chain(20, 16, 2)), nets.push_back(chain(12, 32, 4));
  nets.push_back(two_sites(64)), nets.push_back(two_sites(256));
  nets.push_back(circuit(16, 8)), nets.push_back(circuit(20, 6)), nets.push_back(circuit(24, 6));
  std::printf("%-32s %8s %9s %9s | %9s %7s | %9s %-9s | %s\n", "", "tensors", "Gflop", "largest", "ricci, ms", "Gflop/s", "classical", "product", "ratio");
  double sum = 0, least = 1e300;
  int count = 0;
  for (const net& x : nets) {
    if (!s.only.empty() && x.name.find(s.only) == std::string::npos) continue;
    const double ratio = compare<T>(x, peers, s);
    sum += std::log(ratio), least = std::min(least, ratio), ++count;
  }
  if (count) std::printf("%d networks, geometric mean %.2f times the classical way, least %.2f; largest: MiB of the largest tensor between\n", count, std::exp(sum / count), least);
}

}  // namespace

int main(int count, char** words) {
  omp_set_num_threads(1);
  setting s;
  CLI::App app("networks of tensors beside the classical way along the same path");
  app.add_option("--dtype", s.dtype)->check(CLI::IsMember({"f64", "f32"}));
  app.add_option("--seconds", s.seconds)->check(CLI::Range(0.0, 1e4));
  app.add_option("--only", s.only);
  CLI11_PARSE(app, count, words);
  if (s.dtype == "f64") compare_all<double>(s);
  else compare_all<float>(s);
  return 0;
}
