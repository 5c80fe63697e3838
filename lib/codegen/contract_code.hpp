// Writes the code of a contraction: loops, tiles, sums, the update of c.
#pragma once

#include <functional>

#include "codegen/touched.hpp"
#include "codegen/vector_code.hpp"

namespace ricci::codegen {

/// Registers for loop counters, those that the caller does not care about first.
inline const Xbyak::Reg64 counters[] = {Xbyak::util::r9,  Xbyak::util::rbx, Xbyak::util::rbp, Xbyak::util::r12,
                                        Xbyak::util::r13, Xbyak::util::r14, Xbyak::util::r15};
inline constexpr std::size_t free_counters = 1, most_counters = 7;

class contract_code : public vector_code {
 public:
  contract_code(const request& r, target t, const std::vector<nest>& nests, std::size_t bytes);

 private:
  using loops = std::vector<code_loop>;

  /// A tile: rows [row, row + rows) by vectors [first, first + count) of the nest, relative to the pointers.
  struct tile {
    std::int64_t row, rows, first, count;
  };

  void write_for_beta();
  void write_tables();
  void write_bodies(factor beta);
  void write_nest(const nest& n);
  /// body() inside the last `left` of the loops, from the outermost on; the pointers stand where they stood when it is over.
  void in_loops(const loops& around, std::size_t left, const std::function<void()>& body);
  void fetch_ahead(const code_loop& l);
  bool spreads(const nest& n) const;
  void plan_fetches(const nest& n);
  void fetch_share();
  struct far_operand;
  struct tile_counter;
  void add_lines(const far_operand& x, const nest_part& part, std::int64_t from, const tile_counter& counter);
  void fetch_whole(std::int64_t shares);
  void fetch_slice(const tile_run& r, std::int64_t before, std::int64_t tiles, std::int64_t shares);
  /// In how many places of a tile lines are asked for.
  static std::int64_t shares_of(const nest& n) { return n.whole_sums ? n.k * static_cast<std::int64_t>(n.outer.size()) : 1; }
  void write_tiles(const nest& n);
  void write_tile(const tile& t);

  int strands_of_tile(const tile& t) const;
  void start_sums(const tile& t);
  void join_strands(const tile& t);
  void add_strands(int strands, int sums, const std::function<Xbyak::Xmm(int, int)>& register_of);
  void write_sums(const tile& t);
  void sum_loop(const tile& t, bool fresh);
  bool asks_rows(const tile& t) const;
  void ask_rows(const tile& t, const reg64& a);
  void one_step(const tile& t, const reg64& a, const reg64& b, std::int64_t a_at, std::int64_t b_at, bool fresh);
  void odd_step(const tile& t, const reg64& a, const reg64& b, std::int64_t a_at, std::int64_t b_at);
  void sum_step(const tile& t, std::int64_t row, const reg64& b, std::int64_t b_at, bool fresh);
  void row_step(const tile& t, std::int64_t row, const address& from, const reg64& b, std::int64_t b_at, bool fresh);
  void use_pairs();
  void write_places();
  void load_pair(int i, const lane_vector& v, const address& from, int spare);
  void accumulate(int sum, const lane_vector& v, int x, const Xbyak::Operand& y, bool fresh);
  void finish(const tile& t);
  void join_complex(const tile& t);
  void scale(const tile& t);
  void scale_complex(const tile& t);
  void scale_by_tensor(const tile& t);
  void add_old(const tile& t, std::int64_t row, std::int64_t v);

  void open_frame(std::size_t spilled);
  void close_frame();
  void use_stage_masks(const nest& n);
  void write_chunks(const nest& n);
  void stage(const staged_block& one, std::int64_t times, dtype type, int slot);
  void stage_operands(const nest& n, std::int64_t times);
  void move_pointer(const reg64& p, std::int64_t bytes);
  /// Where the stack keeps the pointer to an operand that is staged; 0: it stays in its register.
  int slot_of(const reg64& p) const {
    if (!outside_ || !now_) return 0;
    return p == a_ && now_->stage_a ? slots_ : p == b_ && now_->stage_b ? slots_ + 8 : 0;
  }

  void prepare_packed(const packed_tail& p);
  void write_packed(const nest& n);
  void write_packed_rows(const nest& n, std::int64_t first, std::int64_t rows, bool last);
  void load_packed_b(const packed_tail& p, int to, std::int64_t from, std::int64_t k_b, std::int64_t steps);
  void permute_packed(int i, int places);
  void spread_packed(const packed_tail& p, const Xbyak::Zmm& to, const address& from);
  void multiply_packed(int sums, std::int64_t rows, std::int64_t row, const Xbyak::Zmm& element, bool fresh);
  void add_packed_rest(const packed_tail& p, std::int64_t rows, const reg64& a, std::int64_t from);
  void write_packed_alone(const nest& n);
  void write_rows_alone(const nest& n, std::int64_t first, std::int64_t rows, bool last);
  void load_packed_alone(const packed_tail& p, int to, int places, const address& from, std::int64_t steps, bool whole);
  std::int64_t packed_shares(const nest& n) const;
  void join_parts(std::int64_t rows, int spare);
  void finish_packed_rows(const nest& n, std::int64_t first, std::int64_t rows, bool last);
  void join_packed(const packed_tail& p, int first, int rows, int spare);
  void finish_packed(const packed_tail& p, std::int64_t rows, std::int64_t c, std::int64_t row_c, bool last);
  void write_packed_places();
  void prepare_tail(const nest& n);
  void write_tail(const nest& n);
  void load_tail_b(const nest& n);
  void gather_tail(int to, const summed_tail& s, std::int64_t from, std::int64_t step);
  void load_few(int i, int count, const reg64& base, std::int64_t offset);
  void insert_few(int i, std::int64_t l, int group, const reg64& base, std::int64_t offset);
  void write_tail_rows(const nest& n, std::int64_t first, std::int64_t rows);
  void start_tail_with_c(const nest& n, std::int64_t first, std::int64_t rows);
  void multiply_few(const Xbyak::Xmm& sum, const Xbyak::Xmm& b, int group, std::int64_t a, const Xbyak::Xmm& x, bool fresh);
  void spread(const Xbyak::Xmm& x, std::int64_t from, int group, std::int64_t p, bool more);
  int add_places(int x, int y, const std::function<void(const Xbyak::Xmm&, int, int, bool)>& take, int width);
  int join_tail(const summed_tail& s, int rows);
  void store_tail(const summed_tail& s, int from, std::int64_t first, std::int64_t rows, std::int64_t row_c);
  void store_few(const address& to, const Xbyak::Xmm& x, std::int64_t l, int columns);

  /// Registers: the sums first, then the vectors of b, one for a's element; the last keeps AVX2's mask.
  /// Strands of sums behind the first have registers behind all these.
  int sum_register(const tile& t, int set, std::int64_t row, std::int64_t v) const {
    const auto place = static_cast<int>((set * t.rows + row) * t.count + v);
    return strand_ == 0 ? place : first_strand(t) + (strand_ - 1) * static_cast<int>(sets_ * t.rows * t.count) + place;
  }
  int first_strand(const tile& t) const { return element_register(t) + (batch_ && sets_ == 2 ? 2 : 1); }
  int vector_register(const tile& t, std::int64_t v) const { return static_cast<int>(sets_ * t.rows * t.count + v); }
  int element_register(const tile& t) const {
    return static_cast<int>(sets_ * t.rows * t.count + (keeps_vectors(t) ? t.count : 1));
  }
  /// One row: its elements stay in registers and the vectors come from memory.
  bool keeps_vectors(const tile& t) const { return !(t.rows == 1 && sets_ == 1 && batch_ == false); }
  /// AVX-512: the broadcast of a's element is part of the multiply-adds. With two vectors that is fewer instructions but
  /// more loads: where one of the two binds (the first when hyperthreads share a core), every other row is the middle.
  bool embeds(const tile& t, std::int64_t row) const {
    if (!wide() || sets_ != 1 || batch_ || t.rows == 1) return false;
    return t.count == 1 || (t.count == 2 && request_.alternate && row % 2 == 1 && vector(t, 0).width == 64 && vector(t, 1).width == 64);
  }
  const lane_vector& vector(const tile& t, std::int64_t v) const {
    return now_->vectors[static_cast<std::size_t>(t.first + v)];
  }
  std::int64_t b_of(const tile& t, std::int64_t v) const { return vector(t, v).b; }
  std::int64_t c_of(const tile& t, std::int64_t row, std::int64_t v) const {
    return vector(t, v).c + (t.row + row) * now_->row_c;
  }
  /// The sums begin with c. Long sums do not: their first multiply-adds would wait for c, which is not near as often as not.
  /// On Intel's processors they do, if rows of c end within a vector: the mask costs less at a load than at an addition.
  /// Nor do problems in lanes, where c is as large as a and b: measured 0.8 times as fast.
  bool preloads() const {
    const auto sums = now_->k * static_cast<std::int64_t>(now_->outer.size());
    const bool plain = alpha_ == factor::one || (alpha_ == factor::minus_one && !now_->pairs);
    return (sums < begins_below || (now_->ragged && request_.c_first)) && sets_ == 1 && !batch_ && beta_ == factor::one && plain;
  }
  bool narrow_b() const { return request_.type_b != request_.type && !now_->stage_b; }
  bool narrow_c() const { return request_.type_c != request_.type; }
  /// spare: a register for the second row of a pair.
  void load_b(int i, const lane_vector& v, const address& from, int spare) {
    if (now_->pairs) return load_pair(i, v, from, spare);
    if (narrow_b()) return load_narrow(i, v, from, request_.type_b);
    // What is beyond the lanes of v is b as well, unless this is near its end: a mask would be one more instruction to Intel's.
    const std::int64_t from_row = now_->unrolled ? v.b : now_->vectors.back().b;  // in a loop over vectors v is any of them
    const bool inside = now_->dense_b && from_row + v.width <= rows_left_ * now_->k_b;
    inside && wide() && needs_mask(v) ? vmovups(reg(i, v.width), from) : load(i, v, from);
  }
  void load_c(int i, const lane_vector& v, const address& from) {
    narrow_c() ? load_narrow(i, v, from, request_.type_c) : load(i, v, from);
  }
  bool subtracts() const { return preloads() && alpha_ == factor::minus_one; }
  bool reads_c() const { return beta_ != factor::zero; }
  geometry of_nests() const { return geometry_of(request_, wide() ? target::avx512 : target::avx2); }
  /// Bytes of a number, real or complex.
  int number() const { return real() * sets_; }

  const request& request_;
  const std::vector<nest>& nests_;
  int sets_;
  bool batch_;
  factor alpha_, beta_;
  const nest* now_ = nullptr;
  std::int64_t rows_left_ = 0;                // of b, from the one that is read to the last; 0: not known
  int strands_ = 1, strand_ = 0;              // sums of the tile that begin anew, each with every so many-th product; the one at work
  std::size_t depth_ = 0, saved_ = 0;
  /// Lines that the next iteration needs, asked for a few at a time while this one computes.
  struct far_operand {
    reg64 base;
    nest_operand which = nest_operand::a;
    std::int64_t ahead = 0, bytes = 0, row = 0;  // row: bytes that the base moves on with a row of c
    bool sparse = false;                         // few of the bytes are touched
  };
  /// A loop over tiles, and the bytes that an offset is short of for each iteration that its counter says is left.
  struct tile_counter {
    std::int64_t moved = 0;
    std::size_t number = 0;
  };
  struct far_line {
    reg64 base;
    std::int64_t offset = 0;
    tile_counter counter;
  };
  std::vector<far_operand> far_;
  std::vector<far_line> far_lines_;
  std::int64_t shares_ = 0, shares_done_ = 0;  // 0: nothing is left to ask for
  int slots_ = 0, scratch_ = 0;  // offsets from rsp: pointers of staged operands and the caller's rsp; the scratch
  std::int64_t frame_ = 0;       // bytes below the saved registers
  bool outside_ = false;         // in the nest's own loops, around the tiles
  int tail_rest_ = 0, tail_sums_ = 0, tail_spare_ = 0;  // registers: b's gathered columns first, its single rows, sums, one more
  int pair_width_ = 0;       // bytes of the registers in which two rows of b become pairs; 0: there are none
  bool odd_step_ = false;    // the last number of the sums is without a partner
  Xbyak::Label tables_, places_, packed_places_, joined_places_;
  std::optional<packed_tail> packed_;  // whose places are behind the code
  std::vector<const nest*> table_of_;
  const reg64 a_ = rdi, b_ = rsi, c_ = rdx, alpha_at_ = rcx, beta_at_ = r8;
};

}  // namespace ricci::codegen
