// MKL: calls one by one, the strided and the pointer batch, and kernels made at run time (JIT).
#include <memory>
#include <vector>

#include "tools/bench/cblas.hpp"

namespace ricci::tools {
namespace {

template <class T, class S>
struct mkl_calls {
  using strided_fn = void(int, int, int, int, int, int, S, const T*, int, int, const T*, int, int, S, T*, int, int, int);
  // One group: pointers to the values, arrays of pointers to the matrices.
  using batch_fn = void(int, const int*, const int*, const int*, const int*, const int*, const void*, const void**,
                        const int*, const void**, const int*, const void*, void**, const int*, int, const int*);
  using create_fn = int(void**, int, int, int, int, int, int, S, int, int, S, int);
  using kernel_fn = void(void*, const void*, const void*, void*);
  using get_fn = kernel_fn*(const void*);
  strided_fn* strided;
  batch_fn* batch;
  create_fn* create;
  get_fn* get;
  int (*destroy)(void*);

  mkl_calls(const library& from, const std::string& letter)
      : strided(from.find<strided_fn>(("cblas_" + letter + "gemm_batch_strided").c_str())),
        batch(from.find<batch_fn>(("cblas_" + letter + "gemm_batch").c_str())),
        create(from.find<create_fn>(("mkl_cblas_jit_create_" + letter + "gemm").c_str())),
        get(from.find<get_fn>(("mkl_jit_get_" + letter + "gemm_ptr").c_str())),
        destroy(from.find<int(void*)>("mkl_jit_destroy")) {}

  template <class E, class Scalar>
  void add(const gemm_case& p, gemm_data& d, std::vector<contender>& to, Scalar scalar) const {
    const int m = static_cast<int>(p.size.m), n = static_cast<int>(p.size.n), k = static_cast<int>(p.size.k);
    const auto one = std::make_shared<const E>(E(1)), beta = std::make_shared<const E>(E(static_cast<float>(p.beta)));
    const int lda = static_cast<int>(p.ld_a()), ldb = static_cast<int>(p.ld_b()), ldc = static_cast<int>(p.ld_c());
    const int ta = p.trans_a ? trans_value : no_trans_value, tb = p.trans_b ? trans_value : no_trans_value;
    const int step_a = static_cast<int>(d.step_a), step_b = static_cast<int>(d.step_b), step_c = static_cast<int>(d.step_c);
    constexpr int rows = row_major_value;
    void* jitter = nullptr;
    if (create && get && create(&jitter, rows, ta, tb, m, n, k, scalar(one), lda, ldb, scalar(beta), ldc) == 0 && jitter) {
      const std::shared_ptr<void> owner(jitter, [f = destroy](void* x) { if (f) f(x); });
      kernel_fn* const kernel = get(jitter);
      to.push_back({"MKL jit", false, true, [&d, owner, kernel](std::int64_t first, std::int64_t last) {
                      for_each_problem(d, first, last, [&](const void* a, const void* b, void* c) { kernel(owner.get(), a, b, c); });
                    }});
    }
    if (strided && p.layout != "pointers") {
      to.push_back({"MKL batch", false, true, [=, &d, f = strided](std::int64_t first, std::int64_t last) {
                      f(rows, ta, tb, m, n, k, scalar(one), reinterpret_cast<const T*>(d.address(d.a, d.step_a, first)), lda, step_a,
                        reinterpret_cast<const T*>(d.address(d.b, d.step_b, first)), ldb, step_b, scalar(beta),
                        reinterpret_cast<T*>(d.address(d.c, d.step_c, first)), ldc, step_c, static_cast<int>(last - first));
                    }});
    } else if (batch && p.layout == "pointers") {
      to.push_back({"MKL batch", false, true, [=, &d, f = batch](std::int64_t first, std::int64_t last) {
                      const int count = static_cast<int>(last - first);
                      f(rows, &ta, &tb, &m, &n, &k, one.get(), const_cast<const void**>(d.pointers_a.data() + first), &lda,
                        const_cast<const void**>(d.pointers_b.data() + first), &ldb, beta.get(), d.pointers_c.data() + first, &ldc, 1,
                        &count);
                    }});
    }
  }
};

/// MKL's own interleaved layout, packed by MKL.
template <class T>
void add_compact(const library& from, const std::string& letter, const gemm_case& p, gemm_data& d, std::vector<contender>& to) {
  using pack_fn = void(int, int, int, const T* const*, int, T*, int, int, int);
  using unpack_fn = void(int, int, int, T* const*, int, const T*, int, int, int);
  using gemm_fn = void(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int, int, int);
  const auto format_of = from.find<int()>("mkl_get_format_compact");
  const auto pack = from.find<pack_fn>(("mkl_" + letter + "gepack_compact").c_str());
  const auto unpack = from.find<unpack_fn>(("mkl_" + letter + "geunpack_compact").c_str());
  const auto gemm = from.find<gemm_fn>(("mkl_" + letter + "gemm_compact").c_str());
  if (!format_of || !pack || !unpack || !gemm) return;
  const int format = format_of();  // 181, 182, 183: SSE, AVX, AVX-512
  const std::int64_t width = (std::int64_t{16} << (format - 181)) / static_cast<std::int64_t>(sizeof(T));
  if (format < 181 || format > 183 || p.batch % width != 0) return;
  const int m = static_cast<int>(p.size.m), n = static_cast<int>(p.size.n), k = static_cast<int>(p.size.k);
  constexpr int rows = row_major_value, plain = no_trans_value;
  struct operands { std::vector<T> a, b, c; };
  const auto own = std::make_shared<operands>();
  const int count = static_cast<int>(p.batch);
  const auto fill = [&d, count, pack, format](std::vector<T>& out, char* base, std::int64_t step, int r, int c) {
    std::vector<const T*> from_each;
    for (int e = 0; e < count; ++e) from_each.push_back(reinterpret_cast<const T*>(d.address(base, step, e)));
    out.resize(static_cast<std::size_t>(count * step));
    pack(rows, r, c, from_each.data(), c, out.data(), c, format, count);
  };
  fill(own->a, d.a, d.step_a, m, k), fill(own->b, d.b, d.step_b, k, n), fill(own->c, d.c, d.step_c, m, n);
  to.push_back({"MKL compact", false, true,
                [=, &d, beta = static_cast<T>(p.beta)](std::int64_t first, std::int64_t last) {
                  first = first / width * width, last = last / width * width;
                  gemm(rows, plain, plain, m, n, k, T(1), own->a.data() + first * d.step_a, k, own->b.data() + first * d.step_b, n,
                       beta, own->c.data() + first * d.step_c, n, format, static_cast<int>(last - first));
                },
                [=, &d](std::int64_t e, void* result) {
                  T* const one = static_cast<T*>(result);
                  std::vector<T> block(static_cast<std::size_t>(width * d.step_c));
                  std::vector<T*> each;
                  for (std::int64_t l = 0; l < width; ++l) each.push_back(l == e % width ? one : block.data() + l * d.step_c);
                  unpack(rows, m, n, each.data(), n, own->c.data() + e / width * width * d.step_c, n, format, static_cast<int>(width));
                },
                [=, &d] { fill(own->c, d.c, d.step_c, m, n); }});
}

}  // namespace

void find_mkl(std::vector<peer>& to) {
  const library mkl = library::open({"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so"});
  const auto version = mkl ? mkl.find<void(char*, int)>("mkl_get_version_string") : nullptr;
  if (!version) return;
  char text[200] = "";
  version(text, sizeof text - 1);
  std::string name = text;
  name.erase(name.find_last_not_of(' ') + 1);
  const cblas calls(mkl);
  to.push_back({"MKL", name, mkl.path("cblas_dgemm"), [mkl, calls](const gemm_case& c, gemm_data& d, std::vector<contender>& out) {
                  const auto value = [](const auto& x) { return *x; };
                  const auto pointer = [](const auto& x) { return static_cast<const void*>(x.get()); };
                  switch (c.type) {
                    case dtype::f32: mkl_calls<float, float>(mkl, "s").add<float>(c, d, out, value); break;
                    case dtype::f64: mkl_calls<double, double>(mkl, "d").add<double>(c, d, out, value); break;
                    case dtype::c64: mkl_calls<void, const void*>(mkl, "c").add<std::complex<float>>(c, d, out, pointer); break;
                    case dtype::c128: mkl_calls<void, const void*>(mkl, "z").add<std::complex<double>>(c, d, out, pointer); break;
                    default: return;
                  }
                  if (c.layout == "interleaved" && c.type == dtype::f32) add_compact<float>(mkl, "s", c, d, out);
                  if (c.layout == "interleaved" && c.type == dtype::f64) add_compact<double>(mkl, "d", c, d, out);
                  calls.add("MKL", c, d, out);
                }});
}

}  // namespace ricci::tools
