// The CEED bake-off kernels BK1..BK6 (element to element) and operators BP1, BP3, BP5 (global vector to global vector, one
// application), nominal GFLOP/s and GDOF/s as the bake-off counts them, beside Eigen and the roofline. One thread, thread
// CPU time, median of interleaved runs. BK1i: eight elements side by side in memory; BK1g, BP1g: their geometry alone;
// BP3c: geometry from the corners.
// deal.II's kernels and operators beside BK1, BK3, BK5 and BP1, BP3, BP5 if bench_fem_dealii was built.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include <omp.h>

#include <CLI/CLI.hpp>

#include <machine/machine.hpp>

#include "../../examples/fem/operators.hpp"
#include "compare.hpp"
#include "dealii_peer.hpp"
#include "degrees.hpp"
#include "eigen_peer.hpp"
#include "timing.hpp"

namespace {

using hex::basis, hex::geometry, hex::mesh;
using hex::e, hex::i, hex::j, hex::k, hex::l, hex::m, hex::n, hex::r, hex::s, hex::t;
using ricci::labels::c;

using bench::job, bench::medians, bench::worst;

double flops_of(const std::string& name, double P, double Q) {
  const double ends = 4 * (Q * P * P * P + Q * Q * P * P + Q * Q * Q * P);
  if (name == "BK1" || name == "BK2" || name == "BP1") return ends + Q * Q * Q;
  if (name == "BK5" || name == "BK6" || name == "BP5") return 12 * P * P * P * P + 15 * P * P * P;
  return ends + 12 * Q * Q * Q * Q + 15 * Q * Q * Q;
}

struct settings {
  std::string only, size, json;
  int first = 1, last = 8;
  double seconds = 0.15;
};

struct result {
  std::string name, size;
  int degree;
  double gflops, eigen, gdofs, bound, error;
  double peak = 0;                      // of multiply-adds, in between
  double dealii = 0, dealii_error = 0;  // GDOF/s
};

/// Everything one degree needs.
struct problem {
  mesh grid;
  basis b;
  geometry g;
  hex::field u, v;
  hex::vector x, y;

  problem(int degree, int n_side, bool collocated, bool trilinear)
      : grid(n_side, degree),
        b(degree, degree + (collocated ? 1 : 2), collocated),
        g(grid, b, trilinear),
        u(grid.elements, degree + 1, degree + 1, degree + 1),
        v(u),
        x(grid.unknowns),
        y(grid.unknowns) {
    double at = 0.3;
    for (double& z : x) z = at = std::fmod(at * 7.3 + 0.17, 1.0) - 0.5;
    u(e, k, j, i) = x(grid.dof(e, k, j, i));
  }
};

template <int P, int Q>
std::vector<job> eigen_jobs(const std::string& name, problem& p, hex::field& v) {
  auto made = std::make_shared<peer::kernels<P, Q>>(p.b.B.data(), p.b.D.data());
  if (name == "BK1") return {[made, &p, &v] { made->mass(p.grid.elements, p.g.W.data(), p.u.data(), v.data()); }};
  return {[made, &p, &v] {
    const double* const G[6] = {p.g.G[0].data(), p.g.G[1].data(), p.g.G[2].data(), p.g.G[3].data(), p.g.G[4].data(), p.g.G[5].data()};
    made->diffusion(p.grid.elements, G, p.u.data(), v.data());
  }};
}

template <int P = 2>
std::vector<job> eigen_for(const std::string& name, problem& p, hex::field& v) {
  if constexpr (P <= bench::last_compiled(9)) {
    if (p.b.P != P) return eigen_for<P + 1>(name, p, v);
    if (name == "BK5") return eigen_jobs<P, P>(name, p, v);
    return eigen_jobs<P, P + 1>(name, p, v);
  }
  return {};
}

double geometric_bytes(const std::string& name, const problem& p, bool stored) {
  const double Q3 = double(p.b.Q) * p.b.Q * p.b.Q;
  return double(p.grid.elements) * (stored ? 8 * Q3 * (name == "BK1" || name == "BK2" || name == "BP1" ? 1 : 6) : 8 * 24);
}

/// For one thread, which is what runs it here.
struct on_one_thread {
  template <class... S>
  auto operator()(const S&... statements) const { return ricci::fuse(ricci::options{.threads = 1}, statements...); }
};
constexpr on_one_thread one_thread;

using side_by_side = ricci::tensor<double, ricci::dynamic, ricci::dynamic, ricci::dynamic, ricci::dynamic, ricci::interleaved<8>>;

/// The geometry of the first elements, eight of them side by side.
struct geometry_beside {
  side_by_side W;
  std::array<side_by_side, 6> G;

  geometry_beside(const problem& p, std::int64_t elements) : W(elements, p.b.Q, p.b.Q, p.b.Q), G{W, W, W, W, W, W} {
    const auto some = e.in(0, elements);
    W(e, t, s, r) = p.g.W(some, t, s, r);
    for (int x = 0; x < 6; ++x) G[x](e, t, s, r) = p.g.G[x](some, t, s, r);
  }
};

class fem_bench {
 public:
  explicit fem_bench(const settings& set) : set_(set), machine_(ricci::this_machine()) {}

  void run() {
    std::printf("%s; one thread; nominal GFLOP/s, GDOF/s\n", machine_.name.c_str());
    std::printf("%-5s %-6s %6s %9s %8s %9s %9s %8s %8s %8s\n", "case", "size", "degree", "GFLOP/s", "of peak", "Eigen", "roofline", "GDOF/s",
                "error", "deal.II");
    for (int p = set_.first; p <= set_.last; ++p) {
      for (const char* name : {"BK1", "BK3", "BK5"})
        for (const bool cached : {true, false})
          if (wanted(name) && is_wanted(cached)) {
            kernel(name, p, cached);
            interleaved<side_by_side>(name, "i", p, cached);
            interleaved<hex::field>(name, "g", p, cached);
          }
      for (const char* name : {"BK2", "BK4", "BK6"})
        if (wanted(name) && is_wanted(true)) vector_kernel(name, p);
      for (const char* name : {"BP1", "BP3", "BP5", "BP3c"})
        if (wanted(name) && is_wanted(false)) {
          whole(name, "", p);
          if (std::string(name) != "BP3c") whole(name, "g", p);
        }
    }
    if (!set_.json.empty()) write();
  }

 private:
  bool wanted(const std::string& name) const { return set_.only.empty() || set_.only == name; }
  bool is_wanted(bool cached) const { return set_.size.empty() || set_.size == (cached ? "cache" : "1M"); }

  /// Elements in each direction: what the case reads and writes fills half of the second cache, eight elements at least, or about a
  /// million unknowns.
  int side_of(const std::string& name, int p, bool cached) const {
    if (!cached) return std::max(2, int(std::lround(99.0 / p)));
    const double P = p + 1, Q = name == "BK5" || name == "BK6" ? P : P + 1;
    const double fields = name == "BK2" || name == "BK4" || name == "BK6" ? 6 : 2, geometry = name == "BK1" || name == "BK2" ? 1 : 6;
    const double bytes = 8 * (fields * P * P * P + geometry * Q * Q * Q);
    const double half = machine_.caches.size() > 1 ? 0.5 * double(machine_.caches[1].bytes) : 5e5;
    return std::max(2, int(std::cbrt(half / bytes)));
  }

  void show(result found) {
    std::printf("%-5s %-6s %6d %9.1f %6.0f %% ", found.name.c_str(), found.size.c_str(), found.degree, found.gflops, 100 * found.gflops / found.peak);
    if (found.eigen > 0) std::printf("%9.1f ", found.eigen);
    else std::printf("%9s ", "-");
    std::printf("%9.1f %8.4f %8.1e", found.bound, found.gdofs, found.error);
    if (found.dealii > 0) std::printf(" %8.4f (%.1e)", found.dealii, found.dealii_error);
    std::printf("\n");
    std::fflush(stdout);
    results_.push_back(std::move(found));
  }

  double roofline(double flops, double bytes, bool cached) const {
    double rate = machine_.memory_bandwidth;
    if (cached && machine_.caches.size() > 1) rate = machine_.caches[1].bandwidth;
    return std::min(machine_.peak_f64, flops / bytes * rate);
  }

  /// deal.II's kernel or operator for the same mesh, if it is there.
  std::shared_ptr<peer::dealii_operator> dealii_for(const std::string& name, int degree, const problem& p, const double* x) const {
    std::shared_ptr<peer::dealii_operator> made(dealii_ ? dealii_(name.c_str(), degree, p.grid.n, &hex::mesh::place) : nullptr);
    if (made) made->set(x);
    return made;
  }

  /// Its speed and its difference from `want`, in units of the largest element. Elements that it left out do not count.
  void note_dealii(result& out, peer::dealii_operator* dealii, const hex::field& want, double seconds) const {
    if (!dealii) return;
    hex::field got(want);
    const std::vector<double> values = dealii->result();
    for (std::int64_t x = 0; x < got.size(); ++x)
      if (!std::isnan(values[std::size_t(x)])) got.data()[x] = values[std::size_t(x)];
    out.dealii = double(dealii->elements()) * std::pow(out.degree, 3) / seconds * 1e-9, out.dealii_error = worst(got, want);
  }

  void kernel(const std::string& name, int degree, bool cached) {
    problem p(degree, side_of(name, degree, cached), name == "BK5", true);
    const auto B = ricci::even_odd(p.b.B);
    const auto D = ricci::even_odd(p.b.D);
    hex::field want(p.v);
    std::vector<job> jobs = eigen_for<>(name, p, want);
    const bool peer = !jobs.empty();
    const auto add = [&](auto plan) {
      plan.run();
      auto kept = std::make_shared<decltype(plan)>(std::move(plan));
      jobs.insert(jobs.begin(), [kept] { kept->run(); });
    };
    const auto put = [&](const auto& right) { return p.v(e, n, m, l).assign(right); };
    const auto put_here = [&](const auto& right) { return p.v(e, t, s, r).assign(right); };
    if (name == "BK1") add(hex::mass(B, p.g.W, p.u(e, k, j, i), put, one_thread));
    if (name == "BK3") add(hex::diffusion(B, D, p.g.G, p.u(e, k, j, i), put, one_thread));
    if (name == "BK5") add(hex::collocated_diffusion(D, p.g.G, p.u(e, t, s, r), put_here, one_thread));
    const auto dealii = peer ? dealii_for(name, degree, p, p.u.data()) : nullptr;
    if (dealii) jobs.push_back([dealii] { dealii->run(); });
    const auto found = medians(jobs, set_.seconds);
    const double flops = double(p.grid.elements) * flops_of(name, p.b.P, p.b.Q);
    const double bytes = 16.0 * double(p.u.size()) + geometric_bytes(name, p, true);
    result out{name, cached ? "cache" : "1M", degree, flops / found[0] * 1e-9, peer ? flops / found[1] * 1e-9 : 0,
             double(p.grid.elements) * std::pow(degree, 3) / found[0] * 1e-9, roofline(flops, bytes, cached), peer ? worst(p.v, want) : 0, found.peak};
    note_dealii(out, dealii.get(), want, found.seconds.back());
    show(out);
  }

  /// The same with the geometry of eight elements side by side in memory, and u and v as `vectors` have them; in cache, whole
  /// blocks of eight.
  template <class vectors>
  void interleaved(const std::string& name, const char* mark, int degree, bool cached) {
    problem p(degree, side_of(name, degree, cached), name == "BK5", true);
    const auto B = ricci::even_odd(p.b.B);
    const auto D = ricci::even_odd(p.b.D);
    const std::int64_t elements = cached ? p.grid.elements / 8 * 8 : p.grid.elements;
    const auto some = e.in(0, elements);
    vectors u(elements, p.b.P, p.b.P, p.b.P), v(u);
    u(e, k, j, i) = p.u(some, k, j, i);
    const geometry_beside g(p, elements);
    std::vector<job> jobs;
    const auto add = [&](auto plan) {
      auto kept = std::make_shared<decltype(plan)>(std::move(plan));
      jobs.push_back([kept] { kept->run(); });
    };
    const auto put = [&](const auto& right) { return v(e, n, m, l).assign(right); };
    const auto put_here = [&](const auto& right) { return v(e, t, s, r).assign(right); };
    if (name == "BK1") add(hex::mass(B, g.W, u(e, k, j, i), put, one_thread));
    if (name == "BK3") add(hex::diffusion(B, D, g.G, u(e, k, j, i), put, one_thread));
    if (name == "BK5") add(hex::collocated_diffusion(D, g.G, u(e, t, s, r), put_here, one_thread));
    hex::field want(p.v);
    const auto dealii = dealii_for(name, degree, p, p.u.data());
    if (dealii) jobs.push_back([dealii] { dealii->run(); });
    const auto found = medians(jobs, set_.seconds);
    double error = 0;
    if (const auto eigen = eigen_for<>(name, p, want); !eigen.empty()) {
      eigen[0]();
      hex::field mine(want);
      mine(some, k, j, i) = v(e, k, j, i);
      error = worst(mine, want);
    }
    const auto share = double(elements) / double(p.grid.elements);
    const double flops = double(elements) * flops_of(name, p.b.P, p.b.Q);
    const double bytes = share * (16.0 * double(p.u.size()) + geometric_bytes(name, p, true));
    result out{name + mark, cached ? "cache" : "1M", degree, flops / found[0] * 1e-9, 0,
             double(elements) * std::pow(degree, 3) / found[0] * 1e-9, roofline(flops, bytes, cached), error, found.peak};
    note_dealii(out, dealii.get(), want, found.seconds.back());
    show(out);
  }

  /// Three components that share the geometry.
  void vector_kernel(const std::string& name, int degree) {
    problem p(degree, side_of(name, degree, true), name == "BK6", false);
    ricci::tensor<double, ricci::dynamic, 3, ricci::dynamic, ricci::dynamic, ricci::dynamic> u(p.grid.elements, p.b.P, p.b.P, p.b.P),
        v(p.grid.elements, p.b.P, p.b.P, p.b.P);
    for (const int d : {0, 1, 2}) u(e, d, k, j, i) = (d + 1.0) * p.u(e, k, j, i);
    const auto B = ricci::even_odd(p.b.B);
    const auto D = ricci::even_odd(p.b.D);
    std::vector<job> jobs;
    const auto add = [&](auto plan) {
      auto kept = std::make_shared<decltype(plan)>(std::move(plan));
      jobs.push_back([kept] { kept->run(); });
    };
    if (name == "BK2") add(hex::vector_mass(B, p.g.W, u, v, one_thread));
    if (name == "BK4") add(hex::vector_diffusion(B, D, p.g.G, u, v, one_thread));
    if (name == "BK6") add(hex::collocated_vector_diffusion(D, p.g.G, u, v, one_thread));
    const auto found = medians(jobs, set_.seconds);
    // The third component is three times the first.
    double error = 0, size = 0;
    const std::int64_t P3 = std::int64_t(p.b.P) * p.b.P * p.b.P;
    for (std::int64_t x = 0; x < p.grid.elements * P3; ++x) {
      const double* at = v.data() + x / P3 * 3 * P3 + x % P3;
      error = std::max(error, std::abs(3 * at[0] - at[2 * P3])), size = std::max(size, std::abs(at[2 * P3]));
    }
    const double flops = 3 * double(p.grid.elements) * flops_of(name, p.b.P, p.b.Q);
    show({name, "cache", degree, flops / found[0] * 1e-9, 0, 3 * double(p.grid.elements) * std::pow(degree, 3) / found[0] * 1e-9,
          roofline(flops, 48.0 * double(p.u.size()) + geometric_bytes(name, p, true), true), error / size, found.peak});
  }

  /// y += A x on the global vector. BP3c: geometry from the corners. mark "g": stored geometry of eight elements side by side.
  void whole(const std::string& name, const std::string& mark, int degree) {
    // The geometry between the corners, as deal.II has it here.
    problem p(degree, side_of(name, degree, false), name == "BP5", true);
    const auto B = ricci::even_odd(p.b.B);
    const auto D = ricci::even_odd(p.b.D);
    const auto& dof = p.grid.dof;
    const auto corners = p.grid.corners();
    ricci::tensor<double, ricci::dynamic, ricci::dynamic, ricci::dynamic> weights(p.b.Q, p.b.Q, p.b.Q);
    weights(t, s, r) = p.b.w(t) * p.b.w(s) * p.b.w(r);
    std::vector<job> jobs;
    const auto add = [&](auto plan) {
      auto kept = std::make_shared<decltype(plan)>(std::move(plan));
      jobs.push_back([kept] { kept->run(); });
    };
    const auto put = [&](const auto& right) { return p.y(dof(e, n, m, l)).add(right); };
    const auto put_here = [&](const auto& right) { return p.y(dof(e, t, s, r)).add(right); };
    const auto u = p.x(dof(e, k, j, i));
    const auto add_stored = [&](const auto& g) {
      if (name == "BP1") add(hex::mass(B, g.W, u, put, one_thread));
      if (name == "BP3") add(hex::diffusion(B, D, g.G, u, put, one_thread));
      if (name == "BP5") add(hex::collocated_diffusion(D, g.G, p.x(dof(e, t, s, r)), put_here, one_thread));
    };
    const geometry_beside beside(p, mark.empty() ? 0 : p.grid.elements);
    if (mark.empty()) add_stored(p.g);
    else add_stored(beside);
    if (name == "BP3c") add(hex::diffusion_from_corners(B, D, p.b.N, p.b.dN, weights, corners, u, put, one_thread));
    p.y.fill(0);
    jobs[0]();
    // The same by stored geometry, element after element.
    hex::field want(p.v), mine(p.v);
    const std::string twin = name == "BP1" ? "BK1" : name == "BP5" ? "BK5" : "BK3";
    double error = 0;
    if (const auto eigen = eigen_for<>(twin, p, want); !eigen.empty()) {
      eigen[0]();
      hex::vector sums(p.grid.unknowns);
      double size = 0;
      for (std::int64_t x = 0; x < want.size(); ++x) sums.data()[dof.data()[x]] += want.data()[x];
      for (std::int64_t x = 0; x < sums.size(); ++x)
        error = std::max(error, std::abs(sums.data()[x] - p.y.data()[x])), size = std::max(size, std::abs(sums.data()[x]));
      error /= size;
    }
    double dealii_error = 0;
    const auto dealii = dealii_for(name, degree, p, p.x.data());
    if (dealii) {
      dealii->run();
      const std::vector<double> got = dealii->result();
      double size = 0;
      for (std::size_t x = 0; x < got.size(); ++x)
        dealii_error = std::max(dealii_error, std::abs(got[x] - p.y.data()[x])), size = std::max(size, std::abs(got[x]));
      dealii_error /= size;
      jobs.push_back([dealii] { dealii->run(); });
    }
    const auto found = medians(jobs, set_.seconds);
    const double flops = double(p.grid.elements) * flops_of(name, p.b.P, p.b.Q);
    const double bytes = 24.0 * double(p.grid.unknowns) + 4.0 * double(dof.size()) + geometric_bytes(name, p, name != "BP3c");
    show({name + mark, "1M", degree, flops / found[0] * 1e-9, 0, double(p.grid.unknowns) / found[0] * 1e-9, roofline(flops, bytes, false), error, found.peak,
          dealii ? double(p.grid.unknowns) / found[1] * 1e-9 : 0, dealii_error});
  }

  void write() const {
    std::ofstream out(set_.json);
    out << "{\"machine\": \"" << machine_.name << "\", \"results\": [";
    for (const char* between = "\n"; const result& x : results_) {
      out << between << "{\"case\": \"" << x.name << "\", \"size\": \"" << x.size << "\", \"degree\": " << x.degree
          << ", \"gflops\": " << x.gflops << ", \"eigen\": " << x.eigen << ", \"gdofs\": " << x.gdofs << ", \"roofline\": " << x.bound
          << ", \"error\": " << x.error << ", \"peak\": " << x.peak << ", \"deal.II\": " << x.dealii << "}";
      between = ",\n";
    }
    out << "\n]}\n";
  }

  settings set_;
  ricci::machine machine_;
  const peer::dealii_maker dealii_ = peer::find_dealii();
  std::vector<result> results_;
};

}  // namespace

int main(int count, char** arguments) {
  settings set;
  std::string degrees = "1:8";
  CLI::App app("The CEED bake-off kernels and operators beside Eigen, deal.II and the roofline");
  app.add_option("--case", set.only, "All if none is named")->check(CLI::IsMember({"BK1", "BK2", "BK3", "BK4", "BK5", "BK6", "BP1", "BP3", "BP5", "BP3c"}));
  app.add_option("--size", set.size, "cache or 1M; both if none is named")->check(CLI::IsMember({"cache", "1M"}));
  app.add_option("--degrees", degrees, "As 3 or 1:8")->check(bench::check_degrees);
  app.add_option("--seconds", set.seconds, "Of each measurement")->check(CLI::PositiveNumber);
  app.add_option("--json", set.json, "File for the results");
  CLI11_PARSE(app, count, arguments);
  const bench::degree_range range = bench::degrees_of(degrees);
  set.first = range.first, set.last = range.last;
  omp_set_num_threads(1);
  fem_bench(set).run();
}
