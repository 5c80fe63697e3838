// Steps of blocks that are one call of a written kernel: from one block to the next only the pointers move.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <type_traits>

#include "codegen/pointwise.hpp"
#include "engine/bound.hpp"

namespace ricci {

/// Stores pieces of a result that follow each other in memory past the caches, whole lines alone: the bytes of a line
/// that the next piece completes wait for it, so that no line is fetched to be written. In chains a small piece leaves in shares
/// while the next is computed: all its lines at once would fill the core's store buffer, and the next stores would wait for memory.
class line_writer {
 public:
  line_writer() = default;
  /// buffer: 64-byte aligned, of needs(piece) bytes. shares: in how many a piece leaves while the next is computed.
  line_writer(kernels::stream_fn stream, char* buffer, std::int64_t piece, std::int64_t shares)
      : stream_(stream), buffer_(buffer), other_(shares > 1 && is_late(piece) ? buffer + one(piece) : buffer), shares_(shares) {}
  static std::int64_t needs(std::int64_t piece) { return is_late(piece) ? 2 * one(piece) : one(piece); }

  /// Where the piece that goes to c is to be put.
  char* place(const char* c) const { return buffer_ + offset(c); }
  void store(char* c, std::int64_t bytes);
  /// The next share of the last piece leaves.
  void leave() {
    if (left_ > 0) leave(std::min(left_, share_));
  }
  /// c: behind the last piece.
  void finish(char* c);

 private:
  static constexpr std::int64_t line = 64, most_late = 8192;  // two larger pieces would push what is computed out of the first cache
  static bool is_late(std::int64_t piece) { return piece <= most_late; }
  static std::int64_t one(std::int64_t piece) { return (piece + line - 1) / line * line + 2 * line; }
  void leave(std::int64_t lines) {
    stream_(from_, to_, lines * line);
    from_ += lines * line, to_ += lines * line, left_ -= lines;
  }
  static std::int64_t offset(const char* c) { return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(c) % line); }

  kernels::stream_fn stream_ = nullptr;
  char *buffer_ = nullptr, *other_ = nullptr;
  std::int64_t waiting_ = 0;  // bytes at the start of the buffer
  const char* from_ = nullptr;
  char* to_ = nullptr;
  std::int64_t left_ = 0, share_ = 0, shares_ = 1;  // lines of the last piece that are still here, and of a share
};

/// One step of a chain, ready for the next block; code is null if the step is not one call.
struct link {
  codegen::kernel::function code = nullptr;
  const char *a = nullptr, *b = nullptr;
  char* c = nullptr;
  std::int64_t a_step = 0, b_step = 0, c_step = 0, alpha_step = 0;
  std::int64_t b_slice = 0, c_slice = 0, alpha_slice = 0;
  bool far_a = false, far_b = false, far_alpha = false;  // from memory, block after block
  const char *alpha = nullptr, *beta = nullptr;           // alpha: or what the sums are multiplied by; of halves, the memory to ask for
  line_writer writer;
  std::int64_t streamed = 0;  // bytes of a block of c that go through the writer; 0: the kernel writes to c itself

  RICCI_CALLS_WRITTEN_CODE void run() {
    code(a, b, streamed > 0 ? writer.place(c) : c, alpha, beta);
    if (streamed > 0) writer.store(c, streamed);
    next_block();
  }
  /// Of steps that run slice by slice, which stream nothing.
  RICCI_CALLS_WRITTEN_CODE void run_slice(std::int64_t i) const { code(a, b + i * b_slice, c + i * c_slice, alpha + i * alpha_slice, beta); }
  void next_block() { a += a_step, b += b_step, c += c_step, alpha += alpha_step; }
  void finish() {
    if (streamed > 0) writer.finish(c);
  }
};

/// A pointwise step that is one call of a written kernel.
class point_link {
 public:
  /// As link_of(); r's pointers move with every run.
  void set(step_run& r, char* packs);
  bool is_ready() const { return code_ != nullptr; }
  void run(step_run& r) {
    call(r);
    move(r, block_, blocks_);
  }
  void run_slice(step_run& r) {
    call(r);
    move(r, slice_, slices_);
  }
  /// Behind the last slice.
  void next_block(step_run& r) { move(r, block_, blocks_); }

 private:
  struct mover {
    bool output;
    int index;
    std::int64_t step;
  };
  static constexpr int most_moving = 24;

  void call(step_run& r);
  static void move(step_run& r, const mover* movers, int count);

  const codegen::pointwise_kernel* code_ = nullptr;
  mover block_[most_moving], slice_[most_moving];  // block: from behind the last slice
  int blocks_ = 0, slices_ = 0;
};

/// What a thread keeps of every step from block to block, in its workspace. Objects are made as they are needed: to make
/// all of them takes as long as a small block.
class kept_runs {
 public:
  static constexpr std::int64_t bytes(std::size_t steps) { return static_cast<std::int64_t>((steps * each + 63) / 64 * 64); }
  /// at: 64-byte aligned, of this many bytes.
  kept_runs(char* at, std::size_t steps) : runs_(at), links_(runs_ + steps * sizeof(step_run)), points_(links_ + steps * sizeof(link)) {}

  step_run& make_run(std::size_t i) const { return make<step_run>(runs_, i); }
  link& make_link(std::size_t i) const { return make<link>(links_, i); }
  point_link& make_point(std::size_t i) const { return make<point_link>(points_, i); }
  step_run& run(std::size_t i) const { return at<step_run>(runs_, i); }
  link& link_at(std::size_t i) const { return at<link>(links_, i); }
  point_link& point(std::size_t i) const { return at<point_link>(points_, i); }

 private:
  static constexpr std::size_t each = sizeof(step_run) + sizeof(link) + sizeof(point_link);
  static_assert(sizeof(step_run) % alignof(std::max_align_t) == 0 && alignof(step_run) <= 16 && alignof(link) <= 8 && alignof(point_link) <= 8);
  static_assert(std::is_trivially_destructible_v<step_run> && std::is_trivially_destructible_v<link> && std::is_trivially_destructible_v<point_link>);

  template <class T> static T& make(char* first, std::size_t i) { return *::new (static_cast<void*>(first + i * sizeof(T))) T; }
  template <class T> static T& at(char* first, std::size_t i) { return *std::launder(reinterpret_cast<T*>(first + i * sizeof(T))); }

  char *runs_, *links_, *points_;
};

/// r has the pointers of the block; what is packed once is packed. The plan has one block label. steps: of the chain.
link link_of(const step_run& r, char* packs, std::size_t steps);

/// What the links will read from memory in the next block, asked for in equal shares before each of them: not more than a core
/// has buffers for at once, and without a division, which for small blocks took as long as the memory.
class next_fetch {
 public:
  next_fetch() = default;
  /// links: at the block that asks first.
  next_fetch(const link* links, std::int64_t count);
  /// Before link `step` of every block but the last: what it asks for must be there.
  void ask(std::int64_t step);

 private:
  struct tensor {
    const char* at;  // where the next block reads
    std::int64_t bytes, share;
  };
  static constexpr std::int64_t most = 8;  // tensors; others are left to the hardware
  tensor tensors_[most];
  std::int64_t size_ = 0, asked_ = -1;
};

}  // namespace ricci
