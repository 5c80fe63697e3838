// Contraction kernels written at run time for one set of arguments: every extent, stride and offset is an immediate.
// A second producer of kernels under kernels/CONTRACT.md, for x86-64 with AVX2 or AVX-512; elsewhere it makes none.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/kernels.hpp"

namespace ricci::codegen {

enum class target : std::uint8_t { none, avx2, avx512 };

/// What is known of alpha or beta when the kernel is made. beta == any still does not read c where beta is zero.
/// alpha alone may be a tensor of the extents and strides of c, by whose elements the sums are multiplied.
enum class factor : std::uint8_t { zero, one, minus_one, any, tensor };

/// How the last columns, which do not fill a vector, are done.
enum class tail_kind : std::uint8_t {
  open,   // the cost function chooses
  lanes,  // in a vector with idle lanes
  sums,   // the summed index runs along the lanes, and the lanes are added up at the end
  packed  // a few values of the summed index for each column lie side by side in the lanes; AVX-512
};

/// A register tile. Zeros: the generator's own cost function chooses.
struct tile_choice {
  int widest = 0;             // bytes of the widest register, 32 or 64
  int rows = 0, vectors = 0;  // at most; they are split evenly
  tail_kind tail = tail_kind::open;
  bool operator==(const tile_choice&) const = default;
};

/// Whether a register of 64 bytes goes through multipliers of 32 bytes twice, as on Zen 4 and on mobile kinds of Zen 5.
bool double_pumped();

/// Whether `c_first` and `alternate` below are on: Intel's cores were seen to gain by both, AMD's Zen 4 and 5 to lose
/// (Zen 5: 13 to 15 columns in f64 up to a fifth).
bool c_first_and_alternate();

/// Whether bfloat16 is multiplied in the processor's tile registers.
enum class tile_use : std::uint8_t {
  never,
  worthwhile,  // where there are any and the product is large enough
  always       // if they can do it at all, whatever this processor has
};

/// One contraction kernel to be made. The tables that args points to are read during make() only.
struct request {
  dtype type = dtype::f64;  // what is computed in: f32, f64, c64 or c128
  dtype type_a = dtype::f64, type_b = dtype::f64, type_c = dtype::f64;  // the same, or f16 or bf16 for f32 (AVX-512, lanes::n)
  kernels::lanes lanes = kernels::lanes::n;
  kernels::contract_args args;
  factor alpha = factor::any, beta = factor::any;
  bool only_sums = false;  // lanes::n of real numbers: a is a one, with strides of 0; it is not read
  tile_choice tile;
  bool in_pairs = true;     // bfloat16 may be multiplied two at a time, where the processor is fast at that
  tile_use tiles = tile_use::worthwhile;
  bool c_first = c_first_and_alternate();  // sums begin with c where its rows end within a vector, however long the sums are
  bool alternate = c_first_and_alternate();  // tiles of two whole vectors: every other row's broadcasts are part of its multiply-adds
  bool staggered = !double_pumped();  // a tile of rows begins its sums at the row of b beside its first row of c
  bool b_in_order = false;  // b comes from memory: tiles as wide as its rows, so that lines are read as they lie
  int fetch_ahead = 0;  // bytes; 0: nothing is fetched early
  std::int64_t fetch_a = 0, fetch_b = 0, fetch_c = 0;  // bytes of an iteration up to which an operand is fetched
  bool ask_rows = false;  // of a, which comes from beyond the second cache: those of the next tile, where its sums are neighbours
  std::int64_t next_a = 0, next_b = 0;                     // bytes to what the next call reads, where a call is one iteration
  bool next_to_second = false;  // to the second cache: the first one has no room for both
  bool past_caches = false;  // beta is zero, c stands at a multiple of 64 bytes and goes past the caches; null where its lines would not be written whole
  int fetch_scale = 0;  // alpha is a tensor, of which calls read one piece after the other: bytes ahead of what is read; 0: not fetched early
};

/// A function that calls written code says so: clang's sanitizer looks for the function's type before its first byte.
#if defined(__clang__)
#define RICCI_CALLS_WRITTEN_CODE __attribute__((no_sanitize("function")))
#else
#define RICCI_CALLS_WRITTEN_CODE
#endif

/// Code in memory of its own.
class kernel {
 public:
  using function = void (*)(const void* a, const void* b, void* c, const void* alpha, const void* beta);

  kernel(function f, std::shared_ptr<const void> memory, std::size_t size)
      : entry_(f), memory_(std::move(memory)), bytes_(size) {}

  /// c = beta c + alpha sum a b, as the request said; alpha and beta are read only where it said any, or tensor.
  RICCI_CALLS_WRITTEN_CODE void operator()(const void* a, const void* b, void* c, const void* alpha, const void* beta) const {
    entry_(a, b, c, alpha, beta);
  }
  function entry() const { return entry_; }
  std::size_t bytes() const { return bytes_; }

 private:
  function entry_;
  std::shared_ptr<const void> memory_;
  std::size_t bytes_;
};

/// What make() writes for on this CPU; none if there is no generator here, the environment says RICCI_JIT=0, or
/// RICCI_ISA names a set that is not AVX2 or AVX-512.
target best_target();

/// Tiles worth measuring for a request, the cost function's own first: the `most` cheapest of each width of register and way of the
/// last columns.
std::vector<tile_choice> tile_candidates(const request& r, target t, int most);

/// The largest block of 16-bit numbers of a, rows by summed index, that a kernel takes; its elements are neighbours along k.
inline constexpr std::int64_t most_staged = 6144;

/// Registers that a dot product of a written kernel has at most, for lanes::k.
inline constexpr std::int64_t most_dot_pieces = 6;
/// The same of dot products one by one; a single one may be longer.
inline constexpr std::int64_t most_lone_pieces = 128;

/// Null if this request cannot be had: for lanes::k other than short dot products and those one by one (see dots_code.hpp, lone_dots_code.hpp), offsets beyond 1 GiB, no executable memory.
/// Costs some microseconds for each thousand instructions. Source of the idea: the JIT libraries for small products.
std::shared_ptr<const kernel> make(const request& r, target t);

/// Bytes of memory that this thread took for code so far: what was given back is not subtracted.
std::size_t written_bytes();

}  // namespace ricci::codegen
