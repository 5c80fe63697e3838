// Writes pointwise statements between products with even or odd matrices, fibre by fibre.
#include "codegen/fibres.hpp"

#include <algorithm>
#include <functional>

#include "codegen/point_code.hpp"

namespace ricci::codegen {
namespace {

using namespace Xbyak::util;

constexpr int most_on_stack = 24 << 10;  // bytes of turned inputs: half of the first cache
constexpr std::int64_t most_fibre_step = 1 << 28;  // bytes: what is added to registers and addresses stays small

bool is_small(std::int64_t bytes) { return std::abs(bytes) < most_fibre_step; }

class fibres_code : public point_code {
 public:
  fibres_code(const fibres_request& r, target t)
      : point_code(r.points, t), before_(r.before), after_(r.after), rows_(static_cast<int>(g_.row_extent)), first_(32 - rows_) {
    count_ = registers();
    together_ = turned_together();
    open_frame(counter_of(g_.loop_count));
    if (const int rest = last_together() * rows_ % turned_at_once(); !turned_.empty() && rest) set_turn_mask(rest);
    take_pointers();
    keep_matrices();
    in_loops(g_.loop_count);
    close_frame();
  }

 private:
  /// On the stack: values of statements, turned inputs, pointers, counters of loops.
  int stack_of(std::size_t turned) const { return (g_.statement_count + 1 + static_cast<int>(turned) * rows_ * together_) * full(); }
  int pointer_of(bool output, int index) const { return stack_of(turned_.size()) + 8 * (output ? g_.input_count + index : index); }
  int counter_of(int loop) const { return pointer_of(true, g_.output_count) + 8 * loop; }

  /// Fibres whose turned inputs are turned as one run: as many as make whole groups of elements, if they lie one after the other.
  int turned_together() const {
    const int fibres = rows_ % 4 == 0 ? 1 : rows_ % 2 == 0 ? 2 : 4;
    const bool follow = g_.loop_count > 0 && std::all_of(turned_.begin(), turned_.end(), [&](int i) { return g_.inputs[i].loops[0] == rows_; });
    const bool small = static_cast<int>(turned_.size()) * fibres * rows_ * full() <= most_on_stack;
    return !turned_.empty() && follow && small ? static_cast<int>(std::min<std::int64_t>(fibres, g_.loops[0])) : 1;
  }
  /// The same of the last ones of the innermost loop.
  int last_together() const {
    const int rest = together_ > 1 ? static_cast<int>(g_.loops[0] % together_) : 0;
    return rest > 0 ? rest : together_;
  }

  /// Registers for what a fibre needs beside its rows: the others are left for the matrices.
  int registers() const {
    constexpr int at_once = 4;  // pairs of rows of the second product
    const int turning = turned_.empty() ? 0 : 12;
    const int first = before_.at < 0 ? 0 : before_.size + 2, second = after_.at < 0 ? 0 : rows_ / 2 + 1 + 2 * std::min(at_once, (after_.size + 1) / 2);
    return std::min(first_, std::max({first, second, turning, g_.input_count + g_.output_count + g_.statement_count}));
  }

  /// Elements of the matrices to registers that nothing else needs: all other reads of them cost a load each.
  void keep_matrices() {
    std::int64_t fibres = 1;
    for (int l = 0; l < g_.loop_count; ++l) fibres *= g_.loops[l];
    if (fibres == 1) return;
    int next = count_;
    const auto keep = [&](const fibre_end& end, int elements) {
      if (end.at < 0 || next == first_) return;
      const Xbyak::Reg64 halves = matrix_of(end);
      for (int i = 0; i < elements && next < first_; ++i) {
        broadcast(next, full(), ptr[halves + i * real()]);
        kept_[{end.matrix, i}] = next++;
      }
    };
    keep(before_, (rows_ + 1) / 2 * before_.size);
    keep(after_, (after_.size + 1) / 2 * rows_);
  }

  /// Pointers go to registers, as far as there are any: those of streams that statements read or write row by row first.
  void take_pointers() {
    std::vector<Xbyak::Reg64> free{rdi, rsi, r8, r9, r10, r11, r12, r13, r14, r15};
    if (!reads_alphas()) free.push_back(rdx);
    if (!reads_betas()) free.push_back(rcx);
    if (together_ > 1) std::erase_if(free, [&](const Xbyak::Reg64& x) { return x.getIdx() == fibre_at_.getIdx(); });
    std::vector<std::pair<bool, int>> kept;
    for (int i = 0; i < g_.output_count; ++i)
      if (i != after_.tensor) kept.push_back({true, i});
    for (int i = 0; i < g_.input_count; ++i)
      if (!is_turned(g_.inputs[i]) && i != before_.at && i != before_.tensor && i != before_.matrix && i != after_.matrix) kept.push_back({false, i});
    if (before_.at >= 0) kept.push_back({false, before_.tensor});
    if (after_.at >= 0) kept.push_back({true, after_.tensor});
    if (before_.at >= 0) kept.push_back({false, before_.matrix});
    if (after_.at >= 0) kept.push_back({false, after_.matrix});
    for (const bool output : {false, true})
      for (int i = 0; i < (output ? g_.output_count : g_.input_count); ++i) {
        mov(rax, ptr[(output ? rsi : rdi) + 8 * i]);
        mov(ptr[rsp + pointer_of(output, i)], rax);
      }
    for (const auto& x : kept) {
      if (free.empty()) return;
      mov(free.back(), ptr[rsp + pointer_of(x.first, x.second)]);
      pointers_[x] = free.back();
      free.pop_back();
    }
    if (!free.empty()) inner_ = free.back();
  }

  void in_loops(int left) {
    if (left == 0) return fibre();
    const int l = left - 1;
    if (l == 0 && together_ > 1) {
      counted(l, g_.loops[l] / together_, [&] { fibres(together_); });
      if (g_.loops[l] % together_) fibres(last_together());
    } else {
      counted(l, g_.loops[l], [&] {
        in_loops(l);
        move(l, 1, streams::all);
      });
    }
    if (left < g_.loop_count) move(l, -g_.loops[l], streams::all);
  }

  void counted(int l, std::int64_t times, const std::function<void()>& body) {
    const bool in_register = l == 0 && inner_.getIdx() != rsp.getIdx();
    if (in_register) mov(inner_.cvt32(), static_cast<std::uint32_t>(times));
    else mov(dword[rsp + counter_of(l)], static_cast<std::uint32_t>(times));
    Xbyak::Label top;
    align(16);
    L(top);
    body();
    if (in_register) dec(inner_.cvt32());
    else dec(dword[rsp + counter_of(l)]);
    jnz(top, T_NEAR);
  }

  enum class streams : std::uint8_t { all, turned, others };
  void move(int loop, std::int64_t times, streams which) {
    for (const bool output : {false, true})
      for (int i = 0; i < (output ? g_.output_count : g_.input_count); ++i) {
        const bool turned = !output && is_turned(g_.inputs[i]);
        const std::int64_t step = times * (output ? g_.outputs[i] : g_.inputs[i]).loops[loop] * real();
        if (step == 0 || (which != streams::all && turned != (which == streams::turned))) continue;
        if (const auto kept = pointers_.find({output, i}); kept != pointers_.end()) Xbyak::CodeGenerator::add(kept->second, static_cast<int>(step));
        else Xbyak::CodeGenerator::add(qword[rsp + pointer_of(output, i)], static_cast<int>(step));
      }
  }

  /// Neighbours along the innermost loop, whose turned inputs are turned first.
  void fibres(int count) {
    turn_inputs(count);
    mov(fibre_at_, rsp);
    Xbyak::Label top;
    align(16);
    L(top);
    one_fibre();
    move(0, 1, streams::others);
    if (count > 1) {
      Xbyak::CodeGenerator::add(fibre_at_, rows_ * full());
      lea(rax, ptr[rsp + count * rows_ * full()]);
      cmp(fibre_at_, rax);
      jne(top, T_NEAR);
    }
    move(0, count, streams::turned);
  }

  void fibre() {
    turn_inputs(1);
    one_fibre();
  }

  void turn_inputs(int fibres) {
    for (std::size_t n = 0; n < turned_.size(); ++n) {
      const pointwise_args::stream& s = g_.inputs[turned_[n]];
      const Xbyak::Reg64 base = base_of(false, turned_[n]);
      const std::int64_t ahead = together_ > 1 && !r_.ahead.empty() ? r_.ahead[static_cast<std::size_t>(turned_[n])] : 0;
      const int count = fibres * rows_, step = turned_at_once();
      for (int j = 0, line = 0; j < count; j += step) {
        turn_block(base + j * real(), s.lane * 8, std::min(step, count - j), rsp + (stack_of(n) + j * full()));
        if (ahead == 0 || j * real() < line) continue;
        for (int lane = 0; lane < 8; ++lane) prefetcht1(ptr[base + static_cast<int>(lane * s.lane * real() + line + ahead)]);
        line += 64;
      }
    }
  }

  void one_fibre() {
    if (before_.at >= 0) first_product();
    for (row_ = 0; row_ < rows_; ++row_) {
      ask_ahead();
      write_statements();
    }
    if (after_.at >= 0) second_product();
  }

  /// What the next block reads in this row, to the second cache: the first one has its hands full with this block.
  void ask_ahead() {
    for (int input = 0; input < static_cast<int>(r_.ahead.size()); ++input) {
      const pointwise_args::stream& s = g_.inputs[input];
      const std::int64_t ahead = r_.ahead[static_cast<std::size_t>(input)];
      const auto ask = [&](std::int64_t elements) { prefetcht1(ptr[base_of(false, input) + static_cast<int>(elements * real() + ahead)]); };
      if (ahead == 0) continue;
      if (is_turned(s)) {
        if (together_ > 1) continue;  // asked for where they are turned
        for (int lane = row_; lane < 8; lane += rows_) ask(lane * s.lane);
        continue;
      }
      const int size = input == before_.tensor ? before_.size : rows_;
      for (int n = row_; n < size; n += row_ + 1 < rows_ ? size : 1) ask(n * s.row);
    }
  }

  /// Where a stream stands now; its pointer may be loaded to rax for that.
  Xbyak::Reg64 base_of(bool output, int index) {
    if (const auto kept = pointers_.find({output, index}); kept != pointers_.end()) return kept->second;
    mov(rax, ptr[rsp + pointer_of(output, index)]);
    return rax;
  }

  /// The halves of an end's matrix; the pointer may be loaded to rbx for that.
  Xbyak::Reg64 matrix_of(const fibre_end& end) {
    if (const auto kept = pointers_.find({false, end.matrix}); kept != pointers_.end()) return kept->second;
    mov(rbx, ptr[rsp + pointer_of(false, end.matrix)]);
    return rbx;
  }

  Xbyak::Address place(bool output, int index) override {
    const pointwise_args::stream& s = output ? g_.outputs[index] : g_.inputs[index];
    if (!output && is_turned(s)) {
      const auto n = std::find(turned_.begin(), turned_.end(), index) - turned_.begin();
      return ptr[(together_ > 1 ? fibre_at_ : rsp) + (stack_of(static_cast<std::size_t>(n)) + row_ * full())];
    }
    return ptr[base_of(output, index) + static_cast<int>(row_ * s.row * real())];
  }
  int resident(int input) const override { return input == before_.at ? row(row_) : -1; }
  int left_in(int statement) const override { return statement == after_.at ? row(row_) : -1; }

  /// The register of a row between the products.
  int row(int i) const { return first_ + i; }

  /// Sums and differences of the fibre in registers 0, 1, ..., then all rows at once.
  void first_product() {
    const int n = before_.size, half = n / 2, rest = (n + 1) / 2, spare = n, second = n + 1;
    matrix_now_ = matrix_of(before_);
    const Xbyak::Reg64 base = base_of(false, before_.tensor);
    const auto x = [&](int i) { return ptr[base + static_cast<int>(i * g_.inputs[before_.tensor].row * real())]; };
    for (int i = 0; i < half; ++i) {
      vmovups(v(rest + i), x(i));
      vmovups(v(spare), x(n - 1 - i));
      add(v(i), v(rest + i), v(spare));
      subtract(v(rest + i), v(rest + i), v(spare));
    }
    if (half < rest) vmovups(v(half), x(half));
    const int pairs = rows_ / 2;
    for (int i = 0; i < rest; ++i)
      for (int p = 0; p < pairs; ++p) {
        multiply_add(row(p), i, before_, p * n + i, i == 0);
        if (i < half) multiply_add(row(rows_ - 1 - p), rest + i, before_, p * n + rest + i, i == 0);
      }
    if (rows_ % 2) {
      const int terms = before_.parity > 0 ? rest : half, from = before_.parity > 0 ? 0 : rest;
      for (int i = 0; i < terms; ++i) multiply_add(i % 2 ? second : row(pairs), from + i, before_, pairs * n + from + i, i < 2);
      if (terms > 1) add(v(row(pairs)), v(row(pairs)), v(second));
    }
    for (int p = 0; p < pairs; ++p) join(row(p), row(rows_ - 1 - p), spare, before_.parity);
  }

  /// (even, odd) -> (even + odd, even - odd), or odd - even in the second place.
  void join(int even, int odd, int spare, int parity) {
    add(v(spare), v(even), v(odd));
    if (parity > 0) subtract(v(odd), v(even), v(odd));
    else subtract(v(odd), v(odd), v(even));
    vmovaps(v(even), v(spare));
  }

  /// Sums take the places of the first rows, differences are in registers 0, 1, ..., totals behind them.
  void second_product() {
    const int half = rows_ / 2, rest = (rows_ + 1) / 2, spare = half, total = half + 1, q = after_.size;
    for (int i = 0; i < half; ++i) {
      subtract(v(i), v(row(i)), v(row(rows_ - 1 - i)));
      add(v(row(i)), v(row(i)), v(row(rows_ - 1 - i)));
    }
    matrix_now_ = matrix_of(after_);
    const Xbyak::Reg64 base = base_of(true, after_.tensor);
    const auto y = [&](int i) { return ptr[base + static_cast<int>(i * g_.outputs[after_.tensor].row * real())]; };
    for (const tile_run& run : runs_of(q / 2, (count_ - total) / 2))
      for (std::int64_t c = 0; c < run.count; ++c) {
        const int first = static_cast<int>(run.first + c * run.size), count = static_cast<int>(run.size);
        for (int i = 0; i < rest; ++i)
          for (int p = 0; p < count; ++p) {
            multiply_add(total + 2 * p, row(i), after_, (first + p) * rows_ + i, i == 0);
            if (i < half) multiply_add(total + 2 * p + 1, i, after_, (first + p) * rows_ + rest + i, i == 0);
          }
        for (int p = 0; p < count; ++p) {
          join(total + 2 * p, total + 2 * p + 1, spare, after_.parity);
          if (after_.beta == factor::zero) continue;
          add(v(total + 2 * p), v(total + 2 * p), y(first + p));
          add(v(total + 2 * p + 1), v(total + 2 * p + 1), y(q - 1 - first - p));
        }
        for (int p = 0; p < count; ++p) {
          vmovups(y(first + p), v(total + 2 * p));
          vmovups(y(q - 1 - first - p), v(total + 2 * p + 1));
        }
      }
    if (q % 2 == 0) return;
    const int terms = after_.parity > 0 ? rest : half;
    for (int i = 0; i < terms; ++i)
      multiply_add(total + i % 2, after_.parity > 0 ? row(i) : i, after_, q / 2 * rows_ + (after_.parity > 0 ? i : rest + i), i < 2);
    if (terms > 1) add(v(total), v(total), v(total + 1));
    if (after_.beta == factor::one) add(v(total), v(total), y(q / 2));
    vmovups(y(q / 2), v(total));
  }

  /// total += x * an element of the halves of an end's matrix.
  void multiply_add(int total, int x, const fibre_end& end, int element, bool fresh) {
    if (const auto kept = kept_.find({end.matrix, element}); kept != kept_.end()) {
      if (fresh) mul(v(total), v(x), v(kept->second));
      else fma(v(total), v(x), v(kept->second));
      return;
    }
    const Xbyak::Address m = ptr_b[matrix_now_ + element * real()];
    if (fresh) mul(v(total), v(x), m);
    else fma(v(total), v(x), m);
  }

  void subtract(const Xbyak::Xmm& d, const Xbyak::Xmm& x, const Xbyak::Operand& y) {
    if (single()) vsubps(d, x, y);
    else vsubpd(d, x, y);
  }

  const fibre_end before_, after_;
  const int rows_, first_;  // rows of a fibre, and the register of the first
  int row_ = 0;
  int together_ = 1;  // fibres whose turned inputs are turned at once
  const Xbyak::Reg64 fibre_at_ = r15;  // where the stack has the turned inputs of a fibre, less their places: if several are turned at once
  std::map<std::pair<bool, int>, Xbyak::Reg64> pointers_;  // of outputs (true) and inputs, that are in registers
  std::map<std::pair<int, int>, int> kept_;  // elements of matrices (streams) that are in registers
  Xbyak::Reg64 matrix_now_ = rsp;            // where the others of a product are
  Xbyak::Reg64 inner_ = rsp;  // the innermost loop's counter, if it is in a register
};

/// Inputs of statements with what keeps them out of registers, and steps that are too large.
bool is_written(const fibres_request& r) {
  const pointwise_args& g = r.points.args;
  const std::int64_t real = static_cast<std::int64_t>(size_of(r.points.type));
  const auto fits = [&](const pointwise_args::stream& s, bool output) {
    if (is_turned(s) && (output || r.points.type != dtype::f64 || s.row != 1 || !is_small(8 * 8 * s.lane))) return false;
    if (!is_small(kernels::max_halves * s.row * real)) return false;
    for (int l = 0; l < g.loop_count; ++l)
      if (!is_small(g.loops[l] * s.loops[l] * real)) return false;
    return true;
  };
  for (int i = 0; i < g.input_count; ++i)
    if (!fits(g.inputs[i], false)) return false;
  for (int i = 0; i < g.output_count; ++i)
    if (!fits(g.outputs[i], true)) return false;
  for (int n = 0; n < g.statement_count; ++n)
    for (int i = g.statements[n].first; i < g.statements[n].first + g.statements[n].count; ++i)
      for (int f = g.terms[i].first; f < g.terms[i].first + g.terms[i].count; ++f)
        if (g.factors[f].apply == function::exp || (r.after.at >= 0 && g.factors[f].input == -1 - r.after.at)) return false;
  return true;
}

}  // namespace

std::shared_ptr<const pointwise_kernel> make(const fibres_request& r, target t) {
  const pointwise_args& g = r.points.args;
  if (t != target::avx512 || g.lane_extent * static_cast<std::int64_t>(size_of(r.points.type)) != 64) return nullptr;
  const int before = r.before.at < 0 ? 0 : r.before.size, after = r.after.at < 0 ? 0 : r.after.size;
  if (!fibres_fit(g.row_extent, before, after) || (before == 0 && after == 0) || !is_written(r)) return nullptr;
  if (after > 0 && r.after.beta != factor::zero && r.after.beta != factor::one) return nullptr;
  return written<pointwise_kernel, fibres_code>(r, t);
}

}  // namespace ricci::codegen
