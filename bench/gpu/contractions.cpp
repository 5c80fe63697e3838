// General contractions on the GPU: ricci as it plans them, with its own kernels alone, and the classical way beside it
// (transpositions, then cuBLAS, then a transposition), which also checks the results.
//   bench_gpu_contractions [--dtype f64,f32] [--only TEXT] [--json FILE]
//   bench_gpu_contractions --compile 1 ...     fills the kernel cache; processes with other --only can share the work
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ricci/core/error.hpp>

#include "../cogent_cases.hpp"
#include "gpu/executable.hpp"
#include "gpu/measure.hpp"

namespace {

using namespace ricci;
using nlohmann::json;

struct problem {
  std::string name, a, b, c;
  std::int64_t extent[26] = {};
  std::int64_t size(const std::string& labels) const {
    std::int64_t n = 1;
    for (const char l : labels) n *= extent[l - 'a'];
    return n;
  }
};

problem parse(const bench::contraction_case& x) {
  problem p;
  const std::string e = x.einsum;
  const std::size_t comma = e.find(','), arrow = e.find("->");
  p.name = x.name, p.a = e.substr(0, comma), p.b = e.substr(comma + 1, arrow - comma - 1), p.c = e.substr(arrow + 2);
  for (const char* at = x.extents; *at;) {
    char label = 0;
    int extent = 0, used = 0;
    if (std::sscanf(at, " %c=%d%n", &label, &extent, &used) < 2) break;
    p.extent[label - 'a'] = extent, at += used;
  }
  return p;
}

std::string both(const std::string& x, const std::string& y) {
  std::string out;
  for (const char l : x)
    if (y.find(l) != std::string::npos) out += l;
  return out;
}

/// c = a (b), packed row-major tensors in GPU memory; b may be empty.
program program_of(const problem& p, dtype t, const std::string& c, const std::string& a, const std::string& b) {
  program out;
  std::string labels;
  for (const char l : c + a + b)
    if (labels.find(l) == std::string::npos) labels += l, out.labels.push_back({std::string(1, l), p.extent[l - 'a']});
  const auto tensor_of = [&](int slot, const char* name, const std::string& subscripts) {
    reference r;
    r.slot = slot, r.type = t, r.space = memory_space::gpu, r.name = name;
    std::int64_t stride = 1;
    for (std::size_t d = subscripts.size(); d-- > 0;) {
      r.axes.insert(r.axes.begin(), {static_cast<int>(labels.find(subscripts[d])), stride});
      stride *= p.extent[subscripts[d] - 'a'];
    }
    return r;
  };
  product x;
  x.factors.push_back(tensor_of(1, "A", a));
  if (!b.empty()) x.factors.push_back(tensor_of(2, "B", b));
  out.slot_count = b.empty() ? 2 : 3;
  out.statements = {{tensor_of(0, "C", c), update::assign, {x}}};
  return out;
}

cuda::executable made(const problem& p, dtype t, const std::string& c, const std::string& a, const std::string& b, cuda::blas_use how) {
  cuda::gpu_machine m = cuda::current_device().machine;
  m.blas = how;
  return cuda::executable(cuda::make_program_plan(program_of(p, t, c, a, b), m, {}));
}

/// The classical way. Operands that a product of matrices can take as they are stay where they are.
class by_transposition {
 public:
  by_transposition(const problem& p, dtype t, char* c, char* a, char* b, char* scratch) {
    const std::string m = both(p.c, p.a), n = both(p.c, p.b), k = both(p.a, p.b);
    const auto size = [&](const std::string& labels) { return (p.size(labels) * static_cast<std::int64_t>(size_of(t)) + 255) / 256 * 256; };
    // The order of the summed labels is that of the factor that need not move, if there is one.
    const auto whole = [](const std::string& x, const std::string& first, const std::string& second) { return x == first + second || x == second + first; };
    std::string sum = k;
    if (const std::string other = both(p.b, p.a); !whole(p.a, m, k) && whole(p.b, n, other)) sum = other;
    std::string in_a = p.a, in_b = p.b, in_c = p.c;
    char *from_a = a, *from_b = b, *to_c = c;
    if (!whole(p.a, m, sum)) in_a = m + sum, from_a = scratch, scratch += size(in_a), add(p, t, in_a, p.a, "", from_a, a, nullptr);
    if (!whole(p.b, n, sum)) in_b = sum + n, from_b = scratch, scratch += size(in_b), add(p, t, in_b, p.b, "", from_b, b, nullptr);
    if (!whole(p.c, m, n)) in_c = m + n, to_c = scratch;
    add(p, t, in_c, in_a, in_b, to_c, from_a, from_b);
    if (to_c != c) add(p, t, p.c, in_c, "", c, to_c, nullptr);
  }
  void run() const {
    for (const part& x : parts_) {
      void* const pointers[] = {x.to, x.first, x.second};
      x.work.run({pointers, nullptr}, nullptr);
    }
  }
  int transpositions() const { return static_cast<int>(parts_.size()) - 1; }

 private:
  struct part {
    cuda::executable work;
    void *to, *first, *second;
  };
  void add(const problem& p, dtype t, const std::string& c, const std::string& a, const std::string& b, char* to, char* first, char* second) {
    parts_.push_back({made(p, t, c, a, b, cuda::blas_use::always), to, first, second});
  }
  std::vector<part> parts_;
};

double value(dtype t, const char* data, std::int64_t at) {
  return t == dtype::f64 ? reinterpret_cast<const double*>(data)[at] : static_cast<double>(reinterpret_cast<const float*>(data)[at]);
}

std::vector<char> fetch(const char* from, std::int64_t bytes) {
  std::vector<char> host(static_cast<std::size_t>(bytes));
  cuda::copy_to_host(host.data(), from, bytes);
  return host;
}

std::string kind_of(const cuda::executable& e) {
  const std::string text = e.describe();
  return text.find("cuBLAS") != std::string::npos ? "cuBLAS" : text.find("tiles of") != std::string::npos ? "tile" : text.find("panels of") != std::string::npos ? "panel" : text.find("small products") != std::string::npos ? "small" : "general";
}

json measure(const problem& p, dtype t, const cuda::buffer& x, const cuda::buffer& a, const cuda::buffer& b, const cuda::buffer& scratch) {
  const cuda::executable plan = made(p, t, p.c, p.a, p.b, cuda::blas_use::where_it_wins), own = made(p, t, p.c, p.a, p.b, cuda::blas_use::never);
  void* const pointers[] = {x.data(), a.data(), b.data()};
  const auto time = [&](const auto& work) { return cuda::median_seconds(5, [&](int) { work(); }); };
  const double ours = time([&] { plan.run({pointers, nullptr}, nullptr); }), alone = time([&] { own.run({pointers, nullptr}, nullptr); });
  // Results agree, on a piece of the tensor.
  const std::int64_t some = std::min<std::int64_t>(p.size(p.c), 1 << 20), bytes = some * static_cast<std::int64_t>(size_of(t));
  const std::vector<char> got = fetch(x.data(), bytes);
  double classical = 0, worst = 0;
  int moves = 0;
  if (cuda::find_blas().missing.empty()) {
    const by_transposition peer(p, t, x.data(), a.data(), b.data(), scratch.data());
    classical = time([&] { peer.run(); });
    moves = peer.transpositions();
    const std::vector<char> expected = fetch(x.data(), bytes);
    const double k = static_cast<double>(p.size(both(p.a, p.b)));
    for (std::int64_t e = 0; e < some; ++e) worst = std::max(worst, std::abs(value(t, got.data(), e) - value(t, expected.data(), e)) / std::sqrt(k));
  }
  const double flops = own.plan().flops, bound = own.plan().bound_seconds;
  const auto rate = [&](double seconds) { return seconds > 0 ? flops / seconds * 1e-9 : 0; };
  std::printf("%-16s %-22s %4s %9.0f %5.1f %% %-7s %9.0f %9.0f (%d) %7.2f %9.1e\n", p.name.c_str(), (p.a + "," + p.b + "->" + p.c).c_str(), name_of(t), rate(ours),
              100 * bound / ours, kind_of(plan).c_str(), rate(alone), rate(classical), moves, classical / ours, worst);
  std::fflush(stdout);
  return {{"name", p.name}, {"einsum", p.a + "," + p.b + "->" + p.c}, {"dtype", name_of(t)}, {"gflops", rate(ours)}, {"fraction_of_bound", bound / ours}, {"kernel", kind_of(plan)},
          {"own_gflops", rate(alone)}, {"transposed_gflops", rate(classical)}, {"transpositions", moves}, {"difference", worst}};
}

}  // namespace

int main(int count, char** words) {
  std::string types = "f64", only, file;
  bool dry = false;
  CLI::App app("general contractions on the GPU beside transpositions and cuBLAS");
  app.add_option("--dtype", types);
  app.add_option("--only", only), app.add_option("--json", file);
  app.add_option("--compile", dry);
  CLI11_PARSE(app, count, words);
  try {
    const cuda::use_device use(cuda::current_device());
    const std::int64_t bytes = dry ? 4096 : std::int64_t{1} << 29;
    const cuda::buffer x(bytes), a(bytes), b(bytes), scratch(3 * bytes);
    std::printf("%s; cuBLAS: %s\nGFLOP/s: ricci (share of its bound, kernel), its own kernels alone, transpositions (how many) and cuBLAS, ratio, difference\n",
                cuda::current_device().machine.name.c_str(), cuda::find_blas().missing.empty() ? cuda::find_blas().file.c_str() : "none");
    json rows = json::array();
    for (const dtype t : {dtype::f64, dtype::f32}) {
      if (types.find(name_of(t)) == std::string::npos) continue;
      a.randomise(t, 1), b.randomise(t, 2);
      double logs = 0;
      int ratios = 0;
      for (const bench::contraction_case& c : bench::cogent_cases) {
        if (std::string(c.name).find(only) == std::string::npos) continue;
        if (dry) {
          const problem p = parse(c);
          made(p, t, p.c, p.a, p.b, cuda::blas_use::never);
          by_transposition(p, t, nullptr, nullptr, nullptr, nullptr);
          continue;
        }
        rows.push_back(measure(parse(c), t, x, a, b, scratch));
        const double peer = rows.back()["transposed_gflops"];
        if (peer > 0) logs += std::log(rows.back()["gflops"].get<double>() / peer), ++ratios;
      }
      if (ratios > 0) std::printf("%s: geometric mean of the ratio to transpositions and cuBLAS %.2f\n", name_of(t), std::exp(logs / ratios));
    }
    if (!file.empty()) std::ofstream(file) << json{{"gpu", cuda::current_device().machine.name}, {"rows", rows}}.dump(1) << '\n';
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
