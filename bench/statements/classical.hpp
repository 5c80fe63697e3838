// What the classical way needs: products of matrices by the libraries found, run in turn with what they are compared with.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

namespace bench {

inline double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// c = a b with row-major matrices m x k and k x n, or a or b transposed: stored k x m or n x k.
template <class T>
using product = std::function<void(int m, int n, int k, const T* a, bool turned_a, const T* b, bool turned_b, T* c)>;

template <class T>
struct peer {
  std::string name;
  product<T> run;
};

/// Eigen, and every CBLAS that is found, with so many threads.
template <class T>
std::vector<peer<T>> find_peers(int threads_of_each = 1) {
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  std::vector<peer<T>> out{{"Eigen", [](int m, int n, int k, const T* a, bool turned_a, const T* b, bool turned_b, T* c) {
                              const Eigen::Map<const matrix> x(a, turned_a ? k : m, turned_a ? m : k), y(b, turned_b ? n : k, turned_b ? k : n);
                              Eigen::Map<matrix> z(c, m, n);
                              if (turned_a && turned_b) z.noalias() = x.transpose() * y.transpose();
                              else if (turned_a) z.noalias() = x.transpose() * y;
                              else if (turned_b) z.noalias() = x * y.transpose();
                              else z.noalias() = x * y;
                            }}};
  using gemm = void(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);
  const std::pair<const char*, const char*> libraries[] = {{"MKL", "libmkl_rt.so.3"}, {"MKL", "libmkl_rt.so.2"}, {"MKL", "libmkl_rt.so"}, {"OpenBLAS", "libopenblas.so.0"}, {"BLIS", "libblis.so.4"}};
  for (const auto& [name, file] : libraries) {
    void* const library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    const auto call = library ? reinterpret_cast<gemm*>(dlsym(library, sizeof(T) == 8 ? "cblas_dgemm" : "cblas_sgemm")) : nullptr;
    const std::string known = name;
    if (!call || std::any_of(out.begin(), out.end(), [&](const peer<T>& p) { return p.name == known; })) continue;
    if (const auto threads = reinterpret_cast<void (*)(int)>(dlsym(library, known == "MKL" ? "MKL_Set_Num_Threads" : known == "BLIS" ? "bli_thread_set_num_threads" : "openblas_set_num_threads"))) threads(threads_of_each);
    constexpr int row_major = 101, as_it_is = 111, turned = 112;
    out.push_back({known, [call](int m, int n, int k, const T* a, bool turned_a, const T* b, bool turned_b, T* c) {
                     call(row_major, turned_a ? turned : as_it_is, turned_b ? turned : as_it_is, m, n, k, T(1), a, turned_a ? m : k, b, turned_b ? k : n, T(0), c, n);
                   }});
  }
  return out;
}

struct sample {
  std::vector<double> seconds;
  double median() {
    std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
    return seconds[seconds.size() / 2];
  }
};

/// Runs the contenders in turn until the time is over; medians.
inline std::vector<double> in_turn(const std::vector<std::function<void()>>& all, double seconds) {
  std::vector<sample> samples(all.size());
  for (const auto& f : all) f();
  for (const double end = now() + seconds; samples[0].seconds.size() < 3 || now() < end;)
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double begin = now();
      all[i]();
      samples[i].seconds.push_back(now() - begin);
    }
  std::vector<double> out;
  for (sample& s : samples) out.push_back(s.median());
  return out;
}

}  // namespace bench
