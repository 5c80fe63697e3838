// Packs one side of a cache block into panels.
#pragma once

#include "engine/bound.hpp"

namespace ricci {

/// The common difference of offsets[first, last), or -1 if there is none.
std::int64_t even_step(const std::vector<std::int64_t>& offsets, std::int64_t first, std::int64_t last);

/// Which lines (rows of a, or columns of b) and sums of a block are packed.
struct panel_range {
  std::int64_t l0, l1, k0, k1;
  std::int64_t width;  // lines of a panel
  bool last;           // the sums are those of the last block
};

/// What brings elements to their places. The last three may be missing.
struct panel_kernels {
  kernels::move_fn move;
  kernels::turn_fn turn;
  kernels::pieces_fn pieces;
  const codegen::kernel* const* whole;  // a whole panel, of whole and last sums
};

/// offsets[first + i + width * j] = offsets[first + i] + j: rows of `width` offsets, which are columns of neighbours.
struct box {
  std::int64_t width = 1, height = 1;
};

/// One side of a blocked product: lines of a source, packed into panels [panel][sum][width].
class panel_packer {
 public:
  panel_packer(const std::vector<std::int64_t>& line, const std::vector<std::int64_t>& sum, dtype type, dtype from, const panel_kernels& use)
      : line_(line), sum_(sum), size_(static_cast<std::int64_t>(size_of(type))), from_(static_cast<std::int64_t>(size_of(from))), use_(use) {}

  void pack(const char* source, char* target, const panel_range& x) const;

 private:
  void pack_by_moves(const char* source, char* target, const panel_range& x) const;
  void pack_sum_runs(const char* source, char* target, const panel_range& x) const;
  void pack_line_runs(const char* source, char* target, const panel_range& x) const;
  void turn_into_panels(const char* source, char* target, const panel_range& x, std::int64_t l, const box& b) const;
  std::int64_t ask_for(const panel_range& x, std::int64_t k, std::int64_t l, std::int64_t next) const;
  bool pack_line_boxes(const char* source, char* target, const panel_range& x) const;
  void pack_one_by_one(const char* source, char* target, const panel_range& x, std::int64_t first, std::int64_t last) const;
  const char* element(const char* source, std::int64_t l, std::int64_t k) const {
    return source + (line_[static_cast<std::size_t>(l)] + sum_[static_cast<std::size_t>(k)]) * from_;
  }

  const std::vector<std::int64_t>&line_, &sum_;
  std::int64_t size_, from_;
  panel_kernels use_;
};

}  // namespace ricci
