// Packs one side of a cache block into panels: copies where lines are neighbours, transpositions where sums are, in whatever
// order the lists have them.
#include "engine/panels.hpp"

#include <algorithm>
#include <cstring>

namespace ricci {
namespace {

using offsets = std::vector<std::int64_t>;

constexpr std::int64_t sums_at_once = 8;     // at least, for all panels, so that memory is read in long runs
constexpr std::int64_t most_at_once = 64;    // of short rows
constexpr std::int64_t most_in_box = 2048;   // lines that are turned through the stack
constexpr std::int64_t least_run = 4;
constexpr std::int64_t runs_ahead = 2, most_asked = 256;  // of sums, that are asked for; bytes of one
constexpr std::int64_t asked_ahead = 512, most_short = 16384;  // bytes; of rows that the first cache keeps

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// How many offsets from `first` on lie at even steps.
std::int64_t even_run(const offsets& x, std::int64_t first, std::int64_t last) {
  const auto at = x.begin() + first;
  std::int64_t n = std::min<std::int64_t>(2, last - first);
  while (first + n < last && at[n] - at[n - 1] == at[1] - at[0]) ++n;
  return n;
}

/// How many offsets from `first` on are neighbours.
std::int64_t unit_run(const offsets& x, std::int64_t first, std::int64_t last) {
  const auto at = x.begin() + first;
  std::int64_t n = 1;
  while (first + n < last && at[n] - at[n - 1] == 1) ++n;
  return n;
}

/// Steps between the neighbours of an even run.
std::int64_t step_at(const offsets& x, std::int64_t first, std::int64_t n) { return n > 1 ? x[static_cast<std::size_t>(first) + 1] - x[static_cast<std::size_t>(first)] : 0; }

/// The box that begins at `first`; 1 by 1 if its first neighbours do not come again.
box box_at(const offsets& x, std::int64_t first, std::int64_t last) {
  const auto at = x.begin() + first;
  const std::int64_t n = last - first;
  std::int64_t width = 1;
  while (width < n && at[width] - at[0] != 1) ++width;
  if (width == n) return {};
  std::int64_t height = 1;
  for (bool whole = true; whole && (height + 1) * width <= n;) {
    for (std::int64_t i = 0; i < width && whole; ++i) whole = at[height * width + i] - at[i] == height;
    height += whole;
  }
  return {width, height};
}

}  // namespace

std::int64_t even_step(const offsets& x, std::int64_t first, std::int64_t last) {
  if (last - first < 2) return 1;
  const auto at = x.begin();
  const std::int64_t step = at[first + 1] - at[first];
  for (std::int64_t i = first + 2; i < last; ++i)
    if (at[i] - at[i - 1] != step) return -1;
  return step >= 0 ? step : -1;
}

void panel_packer::pack(const char* source, char* target, const panel_range& x) const {
  const bool near_lines = unit_run(line_, x.l0, std::min(x.l0 + least_run, x.l1)) > 1 || x.l1 - x.l0 == 1;
  const bool whole = use_.whole && use_.whole[x.last];
  if (whole || size_ != from_ || !use_.turn || !use_.pieces) return pack_by_moves(source, target, x);
  if (near_lines) return pack_line_runs(source, target, x);
  if (box_at(sum_, x.k0, x.k1).height >= least_run) return pack_sum_runs(source, target, x);
  if (!pack_line_boxes(source, target, x)) pack_one_by_one(source, target, x, x.l0, x.l1);
}

/// Any types, panel after panel: runs of even steps along both sides go through one call.
void panel_packer::pack_by_moves(const char* source, char* target, const panel_range& x) const {
  const codegen::kernel* const whole = use_.whole ? use_.whole[x.last] : nullptr;
  for (std::int64_t l = x.l0; l < x.l1; l += x.width, target += x.width * (x.k1 - x.k0) * size_) {
    const std::int64_t end = std::min(l + x.width, x.l1);
    if (whole && end - l == x.width) {
      (*whole)(nullptr, element(source, l, x.k0), target, nullptr, nullptr);
      continue;
    }
    for (std::int64_t i = l; i < end;) {
      const std::int64_t lines = even_run(line_, i, end);
      for (std::int64_t k = x.k0; k < x.k1;) {
        const std::int64_t sums = even_run(sum_, k, x.k1);
        kernels::move_args m;
        m.axis_count = 2;
        m.axes[0] = {lines, 0, step_at(line_, i, lines), 1};
        m.axes[1] = {sums, 0, step_at(sum_, k, sums), x.width};
        use_.move(m, element(source, i, k), target + ((k - x.k0) * x.width + i - l) * size_, nullptr);
        k += sums;
      }
      i += lines;
    }
  }
}

/// Sums are neighbours, one after the other or with others between them.
void panel_packer::pack_sum_runs(const char* source, char* target, const panel_range& x) const {
  for (std::int64_t k = x.k0; k < x.k1;) {
    const box b = box_at(sum_, k, x.k1);
    char* to = target + (k - x.k0) * x.width * size_;
    for (std::int64_t l = x.l0; l < x.l1; l += x.width, to += x.width * (x.k1 - x.k0) * size_)
      for (std::int64_t i = 0; i < b.width; ++i) {
        // Short runs are no streams for the hardware: those after the next are asked for, at the end the next panel's.
        const bool here = i + runs_ahead < b.width, is_short = b.height * size_ <= most_asked;
        const std::int64_t after = here ? l : std::min(l + x.width, x.l1 - 1), then = here ? i + runs_ahead : (i + runs_ahead) % b.width;
        const std::int64_t ask = is_short ? line_[at(after)] - line_[at(l)] + sum_[at(k + then)] - sum_[at(k + i)] : 0;
        const kernels::turn_args t{line_.data() + l, std::min(x.width, x.l1 - l), b.height, x.width * b.width, ask};
        use_.turn(t, source + sum_[at(k + i)] * size_, to + i * x.width * size_);
      }
    k += b.width * b.height;
  }
}

/// Lines are neighbours, or come in runs of them: a few sums at a time for all panels.
void panel_packer::pack_line_runs(const char* source, char* target, const panel_range& x) const {
  const std::int64_t row = (x.l1 - x.l0) * size_;  // bytes
  const std::int64_t most = std::clamp(most_short / row / sums_at_once * sums_at_once, sums_at_once, most_at_once);
  std::int64_t rows[most_at_once];
  for (std::int64_t i = 0; i < most; ++i) rows[i] = i * x.width;
  kernels::piece pieces[cache_blocks::most_tile];  // a panel is as wide as a tile
  for (std::int64_t k = x.k0; k < x.k1; k += most) {
    // What the next sums read for the same panel, or else what these read a few panels later.
    const bool asks_next = sums_at_once * row <= most_short && k + 2 * most <= x.k1;
    const std::int64_t* const ask = sum_.data() + k + (asks_next ? most : 0);
    const std::int64_t ahead = asks_next ? 0 : asked_ahead / size_;
    char* to = target + (k - x.k0) * x.width * size_;
    for (std::int64_t l = x.l0; l < x.l1; l += x.width, to += x.width * (x.k1 - x.k0) * size_) {
      const std::int64_t end = std::min(l + x.width, x.l1);
      std::int64_t count = 0;
      for (std::int64_t i = l; i < end;) {
        const std::int64_t run = unit_run(line_, i, end);
        pieces[count++] = {line_[static_cast<std::size_t>(i)], i - l, run};
        i += run;
      }
      use_.pieces({sum_.data() + k, rows, std::min(most, x.k1 - k), pieces, count, false, false, ask, ahead}, source, to);
    }
  }
}

/// What is asked for while the lines from `l` on of sum `k` are turned: the same of a sum to come, at the end those from `next` on.
std::int64_t panel_packer::ask_for(const panel_range& x, std::int64_t k, std::int64_t l, std::int64_t next) const {
  const std::int64_t sums = x.k1 - x.k0, then = k + runs_ahead;
  const std::int64_t line = then < x.k1 ? l : std::min(next, x.l1 - 1);
  return line_[at(line)] - line_[at(l)] + sum_[at(then < x.k1 ? then : x.k0 + (then - x.k1) % sums)] - sum_[at(k)];
}

/// A box whose rows are whole panels: a panel's lines of all sums at a time, since a line goes on where its last sum ended.
void panel_packer::turn_into_panels(const char* source, char* target, const panel_range& x, std::int64_t l, const box& b) const {
  const std::int64_t panel = x.width * (x.k1 - x.k0), next = b.width / x.width * panel, some = std::min(x.width, 64 / size_);
  for (std::int64_t i = 0; i < b.width; i += x.width)
    for (std::int64_t j = 0; j < x.width; j += some) {
      char* const to = target + ((l - x.l0 + i) / x.width * panel + j) * size_;
      for (std::int64_t k = x.k0; k < x.k1; ++k)
        use_.turn({line_.data() + l + i + j, std::min(some, x.width - j), b.height, next, ask_for(x, k, l + i + j, l + i + j + some)}, source + sum_[at(k)] * size_, to + (k - x.k0) * x.width * size_);
    }
}

/// Lines are neighbours, but others come between them: boxes of both are turned, then dealt out to panels.
bool panel_packer::pack_line_boxes(const char* source, char* target, const panel_range& x) const {
  const box first = box_at(line_, x.l0, x.l1);
  if (first.height < least_run || first.width * first.height > most_in_box || x.width < least_run) return false;
  alignas(64) char turned[most_in_box * 8];
  kernels::piece pieces[most_in_box / least_run + 2];  // the first and the last may be parts of a panel
  const std::int64_t panel = x.width * (x.k1 - x.k0), none = 0;
  for (std::int64_t l = x.l0; l < x.l1;) {
    const box b = box_at(line_, l, x.l1);
    const std::int64_t lines = b.width * b.height;
    if (b.height < 2 || lines > most_in_box) {  // the end of a box that a block before began
      const std::int64_t some = std::min(first.width, x.l1 - l);
      pack_one_by_one(source, target, x, l, l + some);
      l += some;
      continue;
    }
    if (b.width % x.width == 0 && (l - x.l0) % x.width == 0) {
      turn_into_panels(source, target, x, l, b);
      l += lines;
      continue;
    }
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < lines;) {
      const std::int64_t in = (l - x.l0 + i) % x.width, run = std::min(x.width - in, lines - i);
      pieces[count++] = {i, (l - x.l0 + i) / x.width * panel + in, run};
      i += run;
    }
    for (std::int64_t k = x.k0; k < x.k1; ++k) {
      use_.turn({line_.data() + l, b.width, b.height, b.width, ask_for(x, k, l, l + lines)}, source + sum_[at(k)] * size_, turned);
      use_.pieces({&none, &none, 1, pieces, count, false}, turned, target + (k - x.k0) * x.width * size_);
    }
    l += lines;
  }
  return true;
}

/// Lines [first, last) of the range.
void panel_packer::pack_one_by_one(const char* source, char* target, const panel_range& x, std::int64_t first, std::int64_t last) const {
  const auto copy = [&](auto bytes) {
    constexpr auto size = static_cast<std::int64_t>(bytes());
    for (std::int64_t k0 = x.k0; k0 < x.k1; k0 += sums_at_once) {
      const std::int64_t k1 = std::min(k0 + sums_at_once, x.k1);
      for (std::int64_t l = first, next; l < last; l = next) {
        const std::int64_t in = (l - x.l0) % x.width;
        next = std::min(l + x.width - in, last);
        const std::int64_t* const line = line_.data() + l;
        char* const panel = target + ((l - x.l0 - in) * (x.k1 - x.k0) + in) * size;
        for (std::int64_t k = k0; k < k1; ++k) {
          const char* const from = source + sum_[static_cast<std::size_t>(k)] * size;
          char* const to = panel + (k - x.k0) * x.width * size;
          for (std::int64_t i = 0; i < next - l; ++i) std::memcpy(to + i * size, from + line[i] * size, bytes());
        }
      }
    }
  };
  if (size_ == 4) copy(std::integral_constant<std::size_t, 4>{});
  else copy(std::integral_constant<std::size_t, 8>{});
}

}  // namespace ricci
