// Products of batches: which of the engine's two forms, strided or by pointers.
#include <ricci/batch/gemm.hpp>
#include <ricci/core/error.hpp>
#include <ricci/engine/gemm.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace ricci::detail {
namespace {

std::string size_text(const batch_operand& x) { return std::to_string(x.rows) + " x " + std::to_string(x.cols); }

void check_sizes(const batch_operand& a, const batch_operand& b, const batch_operand& c) {
  if (a.cols != b.rows || c.rows != a.rows || c.cols != b.cols)
    throw error(errc::bad_extent, "ricci[R021]: the matrices of these batches do not fit: " + size_text(a) + " times " +
                                      size_text(b) + " into " + size_text(c));
  if (a.count != b.count || a.count != c.count)
    throw error(errc::bad_extent, "ricci[R021]: the batches have " + std::to_string(a.count) + ", " + std::to_string(b.count) +
                                      " and " + std::to_string(c.count) + " matrices");
}

bool is_plain(const batch_operand& x) { return !x.pointers && x.width == 0; }

/// Where each matrix is, for operands of any kind.
std::vector<void*> addresses(const batch_operand& x, std::int64_t size) {
  std::vector<void*> out(static_cast<std::size_t>(x.count));
  for (std::int64_t e = 0; e < x.count; ++e) {
    const std::int64_t at = x.width > 0 ? e / x.width * x.block + e % x.width : e * x.step;
    out[static_cast<std::size_t>(e)] = static_cast<char*>(x.base) + at * size;
  }
  return out;
}

/// Strides of matrix e.
struct line {
  std::int64_t row, col;
  line(const batch_operand& x, std::int64_t e) : row(x.strides ? x.strides[2 * e] : x.row), col(x.strides ? x.strides[2 * e + 1] : x.col) {}
  bool operator==(const line&) const = default;
};

void set_lines(gemm_problem& p, const line& a, const line& b, const line& c) {
  p.a_row = a.row, p.a_col = a.col, p.b_row = b.row, p.b_col = b.col, p.c_row = c.row, p.c_col = c.col;
}

/// Runs of matrices with equal strides, each with one plan.
void multiply_pointers(gemm_problem p, const batch_operand& a, const batch_operand& b, const batch_operand& c) {
  const auto size = static_cast<std::int64_t>(size_of(p.type));
  std::vector<void*> own[3];
  const batch_operand* const operands[] = {&a, &b, &c};
  void* const* at[3];
  for (int o = 0; o < 3; ++o) {
    if (!operands[o]->pointers) own[o] = addresses(*operands[o], size);
    at[o] = operands[o]->pointers ? operands[o]->pointers : own[o].data();
  }
  for (std::int64_t first = 0, last; first < c.count; first = last) {
    const line la(a, first), lb(b, first), lc(c, first);
    for (last = first + 1; last < c.count && la == line(a, last) && lb == line(b, last) && lc == line(c, last);) ++last;
    set_lines(p, la, lb, lc);
    p.batch = last - first;
    run_gemm_each(p, at[0] + first, at[1] + first, at[2] + first);
  }
}

/// The common width of the interleaved operands, all in blocks of memory; 0 if there is none.
std::int64_t common_width(std::initializer_list<const batch_operand*> operands) {
  std::int64_t width = 0;
  for (const batch_operand* x : operands) {
    if (x->pointers || (x->width > 0 && width > 0 && x->width != width)) return 0;
    width = std::max(width, x->width);
  }
  return width;
}

/// Blocks of `width` problems, then the problems of the last block that are there.
void multiply_interleaved(gemm_problem p, std::int64_t width, const batch_operand& a, const batch_operand& b, const batch_operand& c) {
  const auto size = static_cast<std::int64_t>(size_of(p.type));
  const auto block = [&](const batch_operand& x) { return x.width > 0 ? x.block : x.step * width; };
  const auto lane = [&](const batch_operand& x) { return x.width > 0 ? 1 : x.step; };
  const auto at = [&](const batch_operand& x, std::int64_t e) { return static_cast<char*>(x.base) + e * block(x) * size; };
  set_lines(p, line(a, 0), line(b, 0), line(c, 0));
  p.a_step = block(a), p.b_step = block(b), p.c_step = block(c);
  p.a_lane = lane(a), p.b_lane = lane(b), p.c_lane = lane(c);
  const std::int64_t full = c.count / width, rest = c.count % width;
  p.batch = full, p.lanes = width;
  run_gemm(p, a.base, b.base, c.base);
  p.batch = 1, p.lanes = rest;
  if (rest > 0) run_gemm(p, at(a, full), at(b, full), at(c, full));
}

}  // namespace

void multiply_batches(dtype type, std::complex<double> alpha, const batch_operand& a, const batch_operand& b,
                      std::complex<double> beta, const batch_operand& c) {
  check_sizes(a, b, c);
  gemm_problem p;
  p.type = type;
  p.m = c.rows, p.n = c.cols, p.k = a.cols;
  p.alpha = alpha, p.beta = beta;
  if (const std::int64_t width = common_width({&a, &b, &c})) return multiply_interleaved(p, width, a, b, c);
  if (!is_plain(a) || !is_plain(b) || !is_plain(c)) return multiply_pointers(p, a, b, c);
  set_lines(p, line(a, 0), line(b, 0), line(c, 0));
  p.batch = c.count;
  p.a_step = a.step, p.b_step = b.step, p.c_step = c.step;
  run_gemm(p, a.base, b.base, c.base);
}

void throw_no_matrix(std::int64_t index, std::int64_t count) {
  throw error(errc::bad_range, "ricci: there is no matrix " + std::to_string(index) + " in a batch of " + std::to_string(count));
}

std::int64_t checked_count(std::int64_t count) {
  if (count < 0) throw error(errc::bad_extent, "ricci[R018]: a batch of " + std::to_string(count) + " matrices");
  return count;
}

void check_group_matrix(const void* data, std::int64_t rows, std::int64_t cols, std::int64_t group_rows, std::int64_t group_cols) {
  if (rows != group_rows || cols != group_cols)
    throw error(errc::bad_extent, "ricci[R021]: a matrix of " + std::to_string(rows) + " x " + std::to_string(cols) +
                                      " in a group of " + std::to_string(group_rows) + " x " + std::to_string(group_cols));
  if (!data && rows > 0 && cols > 0) throw error(errc::bad_argument, "ricci: a matrix of a group has elements but no memory (null)");
}

}  // namespace ricci::detail
