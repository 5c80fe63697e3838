// Writes pointwise statements in a loop over rows.
#include <algorithm>
#include <numeric>

#include "codegen/point_code.hpp"

namespace ricci::codegen {
namespace {

using namespace Xbyak::util;

constexpr std::int64_t most_pitch = 1 << 21;  // elements: offsets stay small
constexpr std::int64_t most_row_step = 1 << 26;   // bytes between rows: those of sixteen rows at once are displacements
constexpr std::int64_t cache_page = 4096;     // bytes: so far apart lines share a set of the first cache
constexpr double most_ways = 6;               // of a set
constexpr std::int64_t first_cache = 32 << 10;

class pointwise_code : public point_code {
 public:
  pointwise_code(const pointwise_request& r, target t, const std::vector<std::int64_t>& steps)
      : point_code(r, t), steps_(steps), rest_(static_cast<int>(g_.lane_extent % (full() / real()))), asks_((g_.input_count + g_.output_count) * g_.lane_extent * g_.row_extent * real() > first_cache),
        straight_(!turned_.empty() && turns_in_registers() && g_.row_extent <= 2 * turned_at_once()) {
    count_ = registers();
    const int kept = (g_.statement_count + 1) * full();
    const bool bare = is_bare();
    if (!bare) open_frame(kept + (turns_in_registers() ? 0 : static_cast<int>(turned_.size()) * block() * full()));
    keep_pointers(bare);
    if (rest_ > 0) {
      const lane_vector last{0, 0, rest_, full()};
      use_masks({last});
      keep_mask(partial_mask);
      load_mask(last);
    }
    if (turned_.empty()) write_rows();
    else write_turned_rows();
    if (bare) vzeroupper(), ret();
    else close_frame();
    write_constants();
  }

 private:
  /// Nothing goes to the stack, neither values nor what the caller wants back.
  bool is_bare() const {
    constexpr int at_once = 8;  // registers that a statement takes beside its inputs, at most
    const int registers = straight_ ? first_turned() : count_;
    return (turned_.empty() || straight_) && g_.statement_count == 1 && g_.input_count + at_once <= registers && g_.input_count + g_.output_count <= std::ssize(free_registers(true));
  }

  std::vector<Xbyak::Reg64> free_registers(bool bare) const {
    std::vector<Xbyak::Reg64> free;
    if (!bare) free = {r14, r15};
    if (!bare && turned_.empty()) free.insert(free.end(), {rbx, r12, r13});
    for (std::size_t s = straight_ ? 0 : steps_.size(); s < 3; ++s) free.push_back(offset(s));
    if (!reads_alphas()) free.push_back(rdx);
    if (!reads_betas()) free.push_back(rcx);
    return free;
  }

  /// Pointers of streams that are read row by row stay in registers, as far as there are any: a load of a pointer for every
  /// load of a vector would take longer than all else.
  void keep_pointers(bool bare) {
    std::vector<Xbyak::Reg64> free = free_registers(bare);
    const auto keep = [&](bool output, int index) {
      if (free.empty()) return;
      mov(free.back(), ptr[(output ? rsi : rdi) + 8 * index]);
      pointers_[{output, index}] = free.back();
      free.pop_back();
    };
    for (int i = 0; i < g_.output_count; ++i) keep(true, i);
    for (int i = 0; i < g_.input_count; ++i)
      if (!is_turned_here(i)) keep(false, i);
  }
  Xbyak::Reg64 pointer(bool output, int index) {
    if (const auto kept = pointers_.find({output, index}); kept != pointers_.end()) return kept->second;
    mov(rax, ptr[(output ? rsi : rdi) + 8 * index]);
    return rax;
  }

  /// Rows one by one, all their lanes.
  void write_rows() {
    for (std::size_t s = 0; s < steps_.size(); ++s) xor_(offset(s), offset(s));
    const bool loops = g_.row_extent > 1;
    if (loops) mov(r8, g_.row_extent);
    Xbyak::Label next;
    L(next);
    for_vectors(0, g_.lane_extent * real(), [&] {
      if (asks_ && element() == 16) ask_ahead();
      write_statements();
    });
    if (!loops) return;
    advance(1);
    dec(r8);
    jnz(next, T_NEAR);
  }

  /// A few rows of the problems that lie one after the other are turned to lanes side by side, in registers if there are enough of them,
  /// else on the stack; then these rows are computed.
  void write_turned_rows() {
    const std::int64_t lanes = g_.lane_extent * real();
    if (!lines_collide()) return write_groups(0, lanes);
    for (std::int64_t first = 0; first < lanes; first += full()) write_groups(first, std::min(first + full(), lanes));
  }

  /// The vectors of lanes in bytes [first, end), of which the last one may be partial.
  template <class F> void for_vectors(std::int64_t first, std::int64_t end, const F& f) {
    for (shift_ = first; shift_ < end; shift_ += full()) {
      now_.count = static_cast<int>(std::min<std::int64_t>(end - shift_, full())) / real();
      f();
    }
  }

  /// Whether the lines of all lanes would not stay in the first cache together, until the next rows in them are turned.
  bool lines_collide() const {
    double ways = 0;
    for (int i : turned_) ways += static_cast<double>(g_.lane_extent * real() / element() * std::gcd(g_.inputs[i].lane * element(), std::int64_t{cache_page})) / cache_page;
    return ways > most_ways;
  }

  /// The lanes in bytes [first, end).
  void write_groups(std::int64_t first, std::int64_t end) {
    const int at_once = turns_in_registers() ? turned_at_once() : block();
    if (straight_) {
      for (first_row_ = 0; first_row_ < g_.row_extent; first_row_ += at_once)
        for_vectors(first, end, [&] { write_group(static_cast<int>(std::min<std::int64_t>(at_once, g_.row_extent - first_row_))); });
      return;
    }
    const auto group = [&](int rows) {
      for_vectors(first, end, [&] { write_group(rows); });
      advance(rows);
    };
    for (std::size_t s = 0; s < steps_.size(); ++s) xor_(offset(s), offset(s));
    xor_(r12, r12);
    if (const std::int64_t groups = g_.row_extent / at_once; groups > 0) {
      mov(r8, groups);
      Xbyak::Label next;
      L(next);
      group(at_once);
      Xbyak::CodeGenerator::add(r12, element() * at_once);
      dec(r8);
      jnz(next, T_NEAR);
    }
    if (const int rest = static_cast<int>(g_.row_extent % at_once); rest > 0) group(rest);
  }

  void write_group(int rows) {
    if (rows % 4) set_turn_mask(rows % 4);
    for (std::size_t n = 0; n < turned_.size(); ++n) {
      const std::int64_t lane = g_.inputs[turned_[n]].lane, pitch = lane * element();
      mov(rax, ptr[rdi + 8 * turned_[n]]);
      if (shift_) Xbyak::CodeGenerator::add(rax, static_cast<int>(lane * shift_));
      const int lanes = now_.count * real() / element();
      if (straight_) turn(rax + static_cast<std::size_t>(first_row_ * element()), pitch, rows, register_of(n), lanes);
      else if (turns_in_registers()) turn(rax + r12, pitch, rows, register_of(n), lanes);
      else turn_block(rax + r12, pitch, rows, rsp + stack_of(n), lanes);
    }
    if (!turns_in_registers()) return write_stacked(rows);
    count_ = first_turned();
    for (row_ = first_row_; row_ < first_row_ + rows; ++row_) {
      if (asks_) ask_ahead();
      write_statements();
    }
    row_ = 0;
    count_ = registers();
  }

  /// The next vectors of this row: a store across two lines that are not in the first cache would wait for one after the other.
  void ask_ahead() {
    for (int i = 0; i < g_.output_count && !r_.streams; ++i) prefetchw(ptr[place(true, i).getRegExp() + own_ahead]);
    for (int i = 0; i < g_.input_count; ++i)
      if (g_.inputs[i].lane == 1) prefetcht0(ptr[place(false, i).getRegExp() + own_ahead]);
  }

  void write_stacked(int rows) {
    mov(ebx, rows);
    xor_(r13, r13);
    Xbyak::Label row;
    L(row);
    write_statements();
    advance(1);
    Xbyak::CodeGenerator::add(r13, full());
    dec(ebx);
    jnz(row, T_NEAR);
    advance(-rows);
  }

  /// Enough registers beside the turned inputs for statements.
  bool turns_in_registers() const { return first_turned() >= 8; }
  int registers() const { return wide() ? 32 : rest_ > 0 ? spare_register : 16; }
  int first_turned() const { return registers() - static_cast<int>(turned_.size()) * turned_at_once(); }
  int register_of(std::size_t turned) const { return first_turned() + static_cast<int>(turned) * turned_at_once(); }

  void advance(int rows) {
    for (std::size_t s = 0; s < steps_.size(); ++s) add(offset(s), static_cast<int>(rows * steps_[s]));
  }

  std::size_t stack_of(std::size_t turned) const {
    return (static_cast<std::size_t>(g_.statement_count) + 1 + turned * static_cast<std::size_t>(block())) * static_cast<std::size_t>(full());
  }

  static Xbyak::Reg64 offset(std::size_t s) { return Xbyak::Reg64(9 + static_cast<int>(s)); }  // r9, r10, r11

  Xbyak::Address place(bool output, int index) override {
    const pointwise_args::stream& s = output ? g_.outputs[index] : g_.inputs[index];
    if (!output && is_turned_here(index)) return ptr[rsp + r13 + static_cast<int>(stack_of(turned_at(index)))];
    const Xbyak::Reg64 base = pointer(output, index);
    const std::int64_t step = s.row * real();
    const int shift = static_cast<int>(s.lane * shift_);
    for (std::size_t n = 0; n < steps_.size(); ++n)
      if (steps_[n] == step && straight_) return ptr[base + static_cast<int>(shift + row_ * step)];
      else if (steps_[n] == step) return ptr[base + offset(n) + static_cast<int>(shift + row_ * step)];
    return ptr[base + shift];
  }

  std::size_t turned_at(int input) const {
    return static_cast<std::size_t>(std::find(turned_.begin(), turned_.end(), input) - turned_.begin());
  }

  int resident(int input) const override {
    return is_turned_here(input) && turns_in_registers() ? register_of(turned_at(input)) + row_ - first_row_ : -1;
  }

  const std::vector<std::int64_t> steps_;
  const int rest_;               // reals in the last vector, if it is partial
  const bool asks_;              // for what comes next in the rows of what is not turned
  const bool straight_;          // what is turned has so few rows that there is no loop
  int row_ = 0, first_row_ = 0;  // of those that are turned at once, and where these begin if there is no loop
  std::map<std::pair<bool, int>, Xbyak::Reg64> pointers_;  // of outputs (true) and inputs, that are in registers
  std::int64_t shift_ = 0;       // bytes along the lanes
};

bool has(const pointwise_args& g, function wanted) {
  for (int n = 0; n < g.statement_count; ++n)
    for (int i = g.statements[n].first; i < g.statements[n].first + g.statements[n].count; ++i)
      for (int f = g.terms[i].first; f < g.terms[i].first + g.terms[i].count; ++f)
        if (g.factors[f].apply == wanted) return true;
  return false;
}

/// Without masks for results, lanes behind the last element would divide 0 by 0.
bool divides(const pointwise_args& g) { return has(g, function::reciprocal) || has(g, function::rsqrt); }

}  // namespace

std::shared_ptr<const pointwise_kernel> make(const pointwise_request& r, target t) {
  const pointwise_args& g = r.args;
  const std::int64_t width = (t == target::avx512 ? 64 : 32) / static_cast<std::int64_t>(size_of(r.type));
  const bool one_row = g.row_extent == 1 && !r.streams;  // of twice as many vectors
  if (t == target::none || g.lane_extent == 0 || g.lane_extent > (one_row ? 16 : 8) * width || (g.lane_extent % width != 0 && (r.streams || (t != target::avx512 && divides(g)))) || g.loop_count > 0) return nullptr;
  if (has(g, function::exp)) return nullptr;
  const bool pieces = element_of(r) == 16, any_turned = std::any_of(g.inputs, g.inputs + g.input_count, [](const auto& s) { return is_turned(s); });
  if (t == target::avx512 && 2 * g.lane_extent == width && !any_turned) t = target::avx2;  // no mask
  for (int i = 0; i < g.input_count; ++i) {
    const pointwise_args::stream& s = g.inputs[i];
    if (is_turned(s) && (std::abs(s.lane) > most_pitch || (!pieces && g.row_extent > 1 && s.row != (r.pairs ? 2 : 1)))) return nullptr;
  }
  std::vector<std::int64_t> steps;
  const auto step_of = [&](const pointwise_args::stream& s) {
    if (g.row_extent == 1 || (is_turned(s) && !pieces)) return;
    const std::int64_t step = s.row * static_cast<std::int64_t>(size_of(r.type));
    if (step != 0 && std::find(steps.begin(), steps.end(), step) == steps.end()) steps.push_back(step);
  };
  for (int i = 0; i < g.input_count; ++i) step_of(g.inputs[i]);
  for (int i = 0; i < g.output_count; ++i) step_of(g.outputs[i]);
  if (steps.size() > 3 || std::any_of(steps.begin(), steps.end(), [](std::int64_t s) { return std::abs(s) >= most_row_step; }))
    return nullptr;
  return written<pointwise_kernel, pointwise_code>(r, t, steps);
}

}  // namespace ricci::codegen
