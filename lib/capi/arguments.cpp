// The check of arguments, in the order in which they stand in the call.
#include "capi/arguments.hpp"

#include <algorithm>

#include "capi/last_error.hpp"

namespace ricci::capi {
namespace {

/// Position of every argument: with strides, and with arrays of pointers.
struct positions {
  int alpha, a, lda, b, ldb, beta, c, ldc, batch;
};
constexpr positions strided{7, 8, 9, 11, 12, 14, 15, 16, 18};
constexpr positions by_pointer{7, 8, 9, 10, 11, 12, 13, 14, 15};

int refuse(const arguments& x, int position, const char* name, const char* reason) noexcept {
  set_last_error("%s: argument %d (%s) %s", x.function, position, name, reason);
  return -position;
}

int refuse_small(const arguments& x, int position, const char* name, std::int64_t value, std::int64_t least) noexcept {
  set_last_error("%s: argument %d (%s) is %lld; it is at least %lld here", x.function, position, name,
                 static_cast<long long>(value), static_cast<long long>(least));
  return -position;
}

bool is_transpose(int t) { return t == RICCI_NO_TRANS || t == RICCI_TRANS || t == RICCI_CONJ_TRANS; }

/// Do all byte offsets of a batch of matrices fit in 64 bits?
bool is_addressable(const arguments& x, std::int64_t lines, std::int64_t ld, std::int64_t stride) noexcept {
  std::int64_t within = 0, between = 0, sum = 0;
  const auto size = static_cast<std::int64_t>(size_of(x.type));
  if (__builtin_mul_overflow(lines, ld, &within)) return false;
  if (x.pointers) stride = 0;
  if (stride < 0 && __builtin_sub_overflow(std::int64_t{0}, stride, &stride)) return false;
  if (__builtin_mul_overflow(x.batch, stride, &between) || __builtin_add_overflow(within, between, &sum)) return false;
  return !__builtin_mul_overflow(sum, size, &sum);
}

bool has_null(const void* array, std::int64_t count) noexcept {
  const auto pointers = static_cast<const void* const*>(array);
  bool found = false;
  for (std::int64_t i = 0; i < count; ++i) found |= pointers[i] == nullptr;
  return found;
}

struct operand_check {
  const char* name;
  const char* ld_name;
  const char* stride_name;
  int position, ld_position;
  const void* data;
  std::int64_t ld, stride;
  std::int64_t rows, cols;  // as stored
  bool used;                // some element of it is read or written
};

int check_operand(const arguments& x, const operand_check& o) noexcept {
  const bool by_rows = x.layout == RICCI_ROW_MAJOR;
  if (o.used && !o.data) return refuse(x, o.position, o.name, "is a null pointer");
  if (o.used && x.pointers && has_null(o.data, x.batch)) return refuse(x, o.position, o.name, "holds a null pointer");
  const std::int64_t least = std::max<std::int64_t>(1, by_rows ? o.cols : o.rows);
  if (o.ld < least) return refuse_small(x, o.ld_position, o.ld_name, o.ld, least);
  if (!o.used) return 0;
  if (!is_addressable(x, by_rows ? o.rows : o.cols, o.ld, 0))
    return refuse(x, o.ld_position, o.ld_name, "makes a matrix larger than memory can be");
  if (!is_addressable(x, by_rows ? o.rows : o.cols, o.ld, o.stride))
    return refuse(x, o.ld_position + 1, o.stride_name, "makes a batch larger than memory can be");
  return 0;
}

/// Good beyond doubt: for calls with many small problems, where a careful look would take longer than a product. False
/// means only that the careful look has to be taken.
bool is_plainly_good(const arguments& x) noexcept {
  constexpr std::uint64_t small = std::uint64_t{1} << 20, far = std::uint64_t{1} << 30;
  const bool rows = x.layout == RICCI_ROW_MAJOR, plain_a = x.transa == RICCI_NO_TRANS, plain_b = x.transb == RICCI_NO_TRANS;
  const auto within = [](std::int64_t value, std::uint64_t limit) { return static_cast<std::uint64_t>(value) - 1 < limit; };
  if ((!rows && x.layout != RICCI_COL_MAJOR) || x.pointers || !x.has_alpha || !x.has_beta) return false;
  if (!is_transpose(x.transa) || !is_transpose(x.transb)) return false;
  if (!within(x.m, small) || !within(x.n, small) || !within(x.k, small) || !within(x.batch, small)) return false;
  if (!within(x.lda, small) || !within(x.ldb, small) || !within(x.ldc, small)) return false;
  if (static_cast<std::uint64_t>(x.stridea) > far || static_cast<std::uint64_t>(x.strideb) > far || static_cast<std::uint64_t>(x.stridec) > far) return false;
  return x.a && x.b && x.c && x.lda >= (rows == plain_a ? x.k : x.m) && x.ldb >= (rows == plain_b ? x.n : x.k) &&
         x.ldc >= (rows ? x.n : x.m);
}

}  // namespace

int check(const arguments& x) noexcept {
  if (is_plainly_good(x)) return 0;
  const positions& at = x.pointers ? by_pointer : strided;
  if (x.layout != RICCI_ROW_MAJOR && x.layout != RICCI_COL_MAJOR)
    return refuse(x, 1, "layout", "is neither RICCI_ROW_MAJOR nor RICCI_COL_MAJOR");
  if (!is_transpose(x.transa)) return refuse(x, 2, "transa", "is no ricci_transpose");
  if (!is_transpose(x.transb)) return refuse(x, 3, "transb", "is no ricci_transpose");
  if (x.m < 0) return refuse_small(x, 4, "m", x.m, 0);
  if (x.n < 0) return refuse_small(x, 5, "n", x.n, 0);
  if (x.k < 0) return refuse_small(x, 6, "k", x.k, 0);
  // A bad batch comes last in the list, but what it counts is looked at before.
  const bool any = x.m > 0 && x.n > 0 && x.batch > 0;
  const bool factors = any && x.k > 0 && (!x.has_alpha || x.alpha != 0.0);
  if (!x.has_alpha) return refuse(x, at.alpha, "alpha", "is a null pointer");
  const bool plain_a = x.transa == RICCI_NO_TRANS, plain_b = x.transb == RICCI_NO_TRANS;
  if (const int bad = check_operand(x, {"a", "lda", "stridea", at.a, at.lda, x.a, x.lda, x.stridea,
                                        plain_a ? x.m : x.k, plain_a ? x.k : x.m, factors}))
    return bad;
  if (const int bad = check_operand(x, {"b", "ldb", "strideb", at.b, at.ldb, x.b, x.ldb, x.strideb,
                                        plain_b ? x.k : x.n, plain_b ? x.n : x.k, factors}))
    return bad;
  if (!x.has_beta) return refuse(x, at.beta, "beta", "is a null pointer");
  if (const int bad = check_operand(x, {"c", "ldc", "stridec", at.c, at.ldc, x.c, x.ldc, x.stridec, x.m, x.n, any}))
    return bad;
  if (x.batch < 0) return refuse_small(x, at.batch, "batch", x.batch, 0);
  return 0;
}

}  // namespace ricci::capi
