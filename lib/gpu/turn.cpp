// Copies through tiles, elements of 16 bits in words of two: which pieces of the axes make a tile, and how it lies in shared memory.
#include "gpu/turn.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

#include "gpu/step.hpp"

namespace ricci::cuda {
namespace {

using stride_of_turned = std::int64_t turned_axis::*;

std::int64_t whole(std::int64_t x, std::int64_t of) { return divide_up(x, of) * of; }

/// A piece of about so many values of an axis: all, if that is little more; few values such that the last piece is full, even ones
/// rather than odd ones; else pieces of one length where the last would be short.
std::int64_t turned_piece(std::int64_t extent, std::int64_t wanted) {
  if (2 * extent <= 3 * wanted) return extent;
  constexpr std::int64_t few = 16;
  if (wanted < few) {
    const auto waste = [&](std::int64_t piece) { return static_cast<double>(whole(extent, piece)) / static_cast<double>(extent) + 0.02 * static_cast<double>(piece % 2); };
    std::int64_t best = wanted;
    for (std::int64_t piece = wanted + 1; piece < std::min(extent, 2 * wanted); ++piece)
      if (waste(piece) < waste(best)) best = piece;
    return best;
  }
  const std::int64_t pieces = divide_up(extent, wanted), spare = pieces * wanted - extent;
  if (8 * spare <= extent) return wanted;
  return std::min(extent, whole(divide_up(extent, pieces), 2));
}

constexpr std::int64_t sector_bytes = 32;

/// Elements of a tile, at most and usually; neighbours of b and of c in it; words of a thread.
struct measures {
  std::int64_t most, usual, run_b, run_c;
  double words, words_of_several;  // where rows are of one axis, and where a thread keeps places of each word
};
measures measures_of(int size) {
  if (size <= 4) return {8192, 4096, 64, 64, 9, 5};
  return {4096, 2048, 32, 64, 5, 3};
}

/// The same for single elements: pieces of whole sectors where the axis is, of rows that fill warps, and either hardly a value in two pieces
/// (is_moved_again) or few pieces of which something is missing; all, if none is good and that is little more.
std::int64_t single_piece(std::int64_t extent, std::int64_t wanted, std::int64_t sector) {
  if (2 * extent <= 3 * wanted) return extent;
  constexpr std::int64_t of_warps = 16;
  constexpr double good = 0.1;
  const bool few = wanted < of_warps;
  std::int64_t best = wanted;
  double least = 1e9;
  for (std::int64_t piece = divide_up((few ? 6 : 7) * wanted, 8); 4 * piece <= 5 * wanted; ++piece) {
    const std::int64_t pieces = divide_up(extent, piece), all = pieces * piece;
    double cost = is_moved_again(extent, piece) ? static_cast<double>(all) / static_cast<double>(extent) - 1 : 0.3 / static_cast<double>(pieces);
    cost += (!few && piece % of_warps != 0 ? 0.08 : 0) + (extent % sector == 0 && piece % sector != 0 ? 0.3 : 0) + 0.05 * static_cast<double>(std::abs(piece - wanted)) / static_cast<double>(wanted);
    if (cost < least) least = cost, best = piece;
  }
  return !few && least > good && extent <= 2 * wanted ? extent : best;
}

class turner {
 public:
  turner(const step_shape& s, const gpu_machine& m) : multiprocessors_(m.multiprocessors) {
    c_.size = static_cast<int>(size_of(s.c));
    for (const axis& x : free_axes(s)) c_.axes.push_back({x.extent, x.b, x.c});
    std::stable_sort(c_.axes.begin(), c_.axes.end(), [](const turned_axis& x, const turned_axis& y) { return x.c < y.c; });
    near_c_.resize(c_.axes.size());
    std::iota(near_c_.begin(), near_c_.end(), 0);
    near_b_ = near_c_;
    std::stable_sort(near_b_.begin(), near_b_.end(), [&](int x, int y) { return at(x).b < at(y).b; });
  }

  turn_config run() {
    const std::vector<turned_axis> axes = c_.axes;
    for (std::int64_t most = measures_of(c_.size).most;; most /= 2) {
      c_.axes = axes;
      choose_pieces(most);
      c_.run_c = run_of(near_c_, &turned_axis::c, near_c_.size(), 40);
      take_whole_words();
      c_.rows_c = rows_of(near_c_, c_.run_c);
      if (begins_in_lines()) c_.line = 128 / c_.size;
      if (choose_room()) break;
    }
    choose_block();
    return std::move(c_);
  }

 private:
  turned_axis& at(int n) { return c_.axes[static_cast<std::size_t>(n)]; }
  const turned_axis& at(int n) const { return c_.axes[static_cast<std::size_t>(n)]; }

  std::int64_t all() const {
    std::int64_t n = 1;
    for (const turned_axis& x : c_.axes) n *= x.extent;
    return n;
  }

  std::int64_t piece_of(std::int64_t extent, std::int64_t wanted) const {
    return c_.each() > 1 ? turned_piece(extent, wanted) : single_piece(extent, wanted, sector_bytes / c_.size);
  }

  /// So many neighbours of b, or more, are in a tile.
  void cover_b(std::int64_t wanted) {
    std::int64_t run = 1;
    for (const int n : near_b_) {
      if (run >= wanted) return;
      at(n).piece = std::max(at(n).piece, piece_of(at(n).extent, divide_up(wanted, run)));
      run *= at(n).piece;
    }
  }

  /// So many of c, or more, and an even number where its last axis is cut.
  void cover_c(std::int64_t wanted) {
    std::int64_t run = 1;
    for (const int n : near_c_) {
      if (5 * run >= 3 * wanted) return;
      turned_axis& x = at(n);
      const std::int64_t piece = std::max(x.piece, piece_of(x.extent, divide_up(wanted, run)));
      x.piece = std::min(x.extent, run % c_.each() != 0 ? whole(piece, c_.each()) : piece);
      run *= x.piece;
    }
  }

  /// Runs of 64 elements of b and of c, or of 128 of c where long rows begin anywhere in a sector; of fewer where that would leave
  /// multiprocessors without work, more than `most` elements in a tile, or runs of several axes in both.
  void choose_pieces(std::int64_t most) {
    const measures wanted = measures_of(c_.size);
    const std::int64_t usual = wanted.usual, sector = sector_bytes / c_.size;
    constexpr std::int64_t long_row = 1024;
    // Rows of b that begin anywhere have a word more.
    const bool odd_b = begin_odd(near_b_, &turned_axis::b), odd_c = at(near_c_[0]).extent >= long_row && begin_anywhere(near_c_, &turned_axis::c, sector);
    const bool many = all() >= usual * 8 * multiprocessors_;
    std::int64_t of_b = many ? wanted.run_b : 32, of_c = many ? (odd_c && c_.size <= 4 ? 2 : 1) * wanted.run_c : 32;
    for (;; (of_c >= of_b ? of_c : of_b) /= 2) {
      for (turned_axis& x : c_.axes) x.piece = 1;
      cover_b(of_b - (odd_b && of_b == 64 ? 2 : 0)), cover_c(of_c);
      const auto cut = std::count_if(c_.axes.begin(), c_.axes.end(), [](const turned_axis& x) { return x.piece > 1; });
      if ((turn_elements(c_) <= most && (cut < 4 || of_c <= 32)) || of_b == 2) break;
    }
    grow(std::min({usual, most / 2, all() / (std::int64_t{8} * multiprocessors_)}));
  }

  /// Whether rows begin at elements that are no multiples of a unit.
  bool begin_anywhere(const std::vector<int>& near, stride_of_turned stride, std::int64_t unit) const {
    return std::any_of(near.begin() + 1, near.end(), [&](int n) { return at(n).*stride % unit != 0; });
  }

  /// Whether long rows of c begin anywhere in a sector and lie apart from one another, so that threads beside one another take whole lines.
  /// Measured to pay for elements of 32 bits alone.
  bool begins_in_lines() const {
    constexpr std::int64_t long_row = 48;
    if (c_.size != 4 || turn_count(c_, c_.run_c) < long_row || c_.run_c.size() != 1 || c_.rows_c.empty() || !begin_anywhere(near_c_, &turned_axis::c, sector_bytes / c_.size)) return false;
    return at(c_.rows_c[0]).c != turn_count(c_, c_.run_c);
  }

  /// Whether rows begin in the middle of a word.
  bool begin_odd(const std::vector<int>& near, stride_of_turned stride) const { return c_.each() > 1 && begin_anywhere(near, stride, c_.each()); }

  /// Elements for all threads, while there are blocks for all multiprocessors. Rows of more axes than two take more of a thread's registers,
  /// so that a tile of single elements has fewer then.
  void grow(std::int64_t wanted) {
    std::vector<int> order;
    for (const std::vector<int>* const near : {&near_c_, &near_b_}) {
      const auto cut = std::find_if(near->begin(), near->end(), [&](int n) { return at(n).piece < at(n).extent; });
      if (cut != near->end() && (c_.each() > 1 || at(*cut).piece > 1)) order.push_back(*cut);
    }
    const std::size_t nearest = order.size();
    order.insert(order.end(), near_c_.begin(), near_c_.end());
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::int64_t most = c_.each() > 1 || i < nearest ? wanted : wanted / 2;
      turned_axis& x = at(order[i]);
      while (3 * turn_elements(c_) <= 2 * most && x.piece < x.extent && (c_.each() > 1 ? 8 : 24) * (whole(x.extent, 2 * x.piece) - x.extent) <= x.extent) x.piece = std::min(x.extent, 2 * x.piece);
    }
  }

  /// The first axes, while all of each is in the tile and they nest without a gap.
  std::vector<int> run_of(const std::vector<int>& near, stride_of_turned stride, std::size_t most, std::int64_t enough) const {
    std::vector<int> run{near[0]};
    while (run.size() < std::min(most, near.size()) && turn_count(c_, run) < enough) {
      const turned_axis &last = at(run.back()), &next = at(near[run.size()]);
      if (last.piece < last.extent || next.*stride != last.*stride * last.extent || next.piece == 1) break;
      run.push_back(near[run.size()]);
    }
    return run;
  }

  std::vector<int> rows_of(const std::vector<int>& near, const std::vector<int>& run) const {
    std::vector<int> rows;
    for (const int n : near)
      if (at(n).piece > 1 && std::find(run.begin(), run.end(), n) == run.end()) rows.push_back(n);
    return rows;
  }

  /// Rows of c that begin in the middle of a word begin an element earlier in all tiles, and what that takes is read too: words are whole.
  void take_whole_words() {
    turned_axis& first = at(near_c_[0]);
    if (c_.run_c.size() == 1 && first.piece % 2 == 0 && first.piece < first.extent && begin_odd(near_c_, &turned_axis::c)) first.more = 1;
  }

  /// Rows of b lie in shared memory an even number of elements apart where they do in b, with a gap such that few threads meet in a bank.
  /// How many axes a row has is what takes the fewest cycles of shared memory. False if short rows with their gaps take more than there is.
  bool choose_room() {
    const std::int64_t most_room = 65536 / c_.size;  // elements: the kernel keeps places of 16 bits in as many, in bytes
    turn_config best;
    double least = 0;
    std::size_t before = 0;
    for (std::size_t most = 1; most <= near_b_.size(); ++most) {
      c_.run_b = run_of(near_b_, &turned_axis::b, most, std::int64_t{1} << 40);
      if (c_.run_b.size() == before) break;
      before = c_.run_b.size();
      c_.rows_b = rows_of(near_b_, c_.run_b);
      constexpr std::array<std::int64_t, 18> gaps = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32, 36, 40, 48, 56};
      for (const std::int64_t near_gap : gaps)
        for (const std::int64_t far_gap : gaps) {
          if ((c_.rows_b.empty() && near_gap > 0) || (c_.rows_b.size() < 2 && far_gap > 0) || far_gap > 16) continue;
          place_rows(near_gap * c_.each() / 2, far_gap * c_.each() / 2);
          if (c_.room > most_room) continue;
          const double words = static_cast<double>(divide_up(turn_read(c_, c_.run_b) + 1, c_.each()) * turn_read(c_, c_.rows_b)) / 32;
          const double cost = (c_.rows_b.size() > 1 ? 4 : 2) * words + turns_of_banks() + 0.001 * static_cast<double>(c_.room);
          if (best.axes.empty() || cost < least) least = cost, best = c_;
        }
    }
    if (best.axes.empty()) return false;
    c_ = std::move(best);
    return true;
  }

  void place_rows(std::int64_t near_gap, std::int64_t far_gap) {
    for (turned_axis& x : c_.axes) x.room = 0;
    for (const int n : c_.run_b) at(n).room = at(n).b;
    const int each = c_.each(), beyond = each > 1 ? 2 : 0;  // what words reach beyond a row
    std::int64_t next = turn_read(c_, c_.run_b) + beyond;
    for (const int n : c_.rows_b) {
      next += n == c_.rows_b[0] ? near_gap : n == c_.rows_b[1] ? far_gap : 0;
      at(n).room = next + (next + at(n).b) % each;
      next = at(n).room * at(n).read() + beyond;
    }
    c_.room = next + 1;
  }

  /// What it takes to read the elements of words of c, in turns of shared memory, by the look of four warps.
  double turns_of_banks() const {
    const std::int64_t each = c_.each(), bytes = each * c_.size, warp = 32 * 4 / bytes, all_banks = warp;
    constexpr std::int64_t looked_at = 4;
    const std::int64_t words = divide_up(turn_count(c_, c_.run_c), each), count = words * turn_count(c_, c_.rows_c);
    double turns = 0, warps = 0;
    for (std::int64_t first = 0; first < std::min(count, looked_at * warp); first += warp, ++warps) {
      std::array<std::array<std::int64_t, 32>, 32> banks;
      std::array<int, 32> used{};
      int most = 1;
      for (std::int64_t e = first; e < std::min(count, first + warp); ++e) {
        std::int64_t rest = e % words * each, place = 0;
        for (const int n : c_.run_c) place += rest % at(n).piece * at(n).room, rest /= at(n).piece;
        rest = e / words;
        for (const int n : c_.rows_c) place += rest % at(n).piece * at(n).room, rest /= at(n).piece;
        const auto bank = static_cast<std::size_t>(place / each % all_banks);
        auto* const begin = banks[bank].data();
        if (std::find(begin, begin + used[bank], place / each) == begin + used[bank]) banks[bank][static_cast<std::size_t>(used[bank]++)] = place / each;
        most = std::max(most, used[bank]);
      }
      turns += most;
    }
    return static_cast<double>(each) * turns / warps * static_cast<double>(divide_up(count, warp));
  }

  /// Threads that have about nine words each, five where what is the same in all tiles is kept in registers; words that are as far
  /// apart as rows are, where that is possible.
  void choose_block() {
    const std::int64_t elements = turn_elements(c_);
    const bool odd_b = begin_odd(near_b_, &turned_axis::b), odd_c = at(near_c_[0]).more == 0 && begin_odd(near_c_, &turned_axis::c);
    double least = 0;
    for (int block = 64; block <= 512; block += 32) {
      const double each = static_cast<double>(elements) / c_.each() / block;
      if (block > 64 && each < 4) break;
      const sharing b = share(divide_up(turn_read(c_, c_.run_b) + odd_b, c_.each()), c_.rows_b, &turned_axis::room, block), c = share(turn_words_c(c_, odd_c), c_.rows_c, &turned_axis::c, block);
      const bool stays = !b.steady || !c.steady || c_.run_c.size() > 1;
      const double turns = static_cast<double>(b.rounds * (b.steady ? 2 : 4) + c.rounds * (stays ? 6 : 3)) * block;
      const double wanted = stays ? measures_of(c_.size).words_of_several : measures_of(c_.size).words, cost = turns * std::max({1.0, each / wanted, 0.8 * wanted / each});
      if (block > 64 && cost >= least) continue;
      least = cost, c_.block = block, c_.stays = stays, c_.blocks = std::max(1, (stays ? 1024 : 1536) / block);
      if (c_.each() > 1) continue;
      // What a thread keeps: elements on their way, and where they come from and go to.
      const std::int64_t offset = is_long(c_) ? 2 : 1, registers = 28 + b.rounds * (divide_up(c_.size, 4) + (b.steady ? 0 : offset + 1)) + (c.steady && c_.run_c.size() == 1 ? 0 : c.rounds * (offset + 1));
      c_.blocks = static_cast<int>(std::clamp<std::int64_t>(65536 / whole(registers, 8) / block, 1, c_.blocks));
    }
  }

  /// As the kernel shares words; steady: the words of a thread are as far apart as its rows are, and begin alike.
  struct sharing {
    std::int64_t rounds = 1;
    bool steady = false;
  };
  sharing share(std::int64_t words, const std::vector<int>& rows, stride_of_turned stride, std::int64_t block) const {
    const std::int64_t together = block / words, count = stride == &turned_axis::c ? turn_count(c_, rows) : turn_read(c_, rows);
    if (together * words * 8 < block * 7) return {divide_up(words * count, block), count == 1};
    return {divide_up(count, together), rows.size() < 2 && (rows.empty() || at(rows[0]).*stride * together % c_.each() == 0)};
  }

  int multiprocessors_;
  turn_config c_;
  std::vector<int> near_b_, near_c_;
};

}  // namespace

bool is_moved_again(std::int64_t extent, std::int64_t piece) {
  constexpr std::int64_t few = 16;  // values, beside which checks take longer
  return (piece < few ? 8 : 32) * (divide_up(extent, piece) * piece - extent) <= extent;
}

bool can_turn(const step_shape& s, const gpu_machine& m) {
  if (s.has_a || !s.has_b || !s.k.empty() || s.b != s.c || size_of(s.c) > 8) return false;
  const std::vector<axis> axes = free_axes(s);
  if (axes.empty() || std::any_of(axes.begin(), axes.end(), [](const axis& x) { return x.b <= 0 || x.c <= 0; })) return false;
  constexpr std::int64_t least = 4096;  // elements of a multiprocessor
  const axis &b = axes[nearest_axis(axes, &axis::b)], &c = axes[nearest_axis(axes, &axis::c)];
  if (b.b != 1 || c.c != 1 || count_of(axes) < least * m.multiprocessors) return false;
  const auto size = static_cast<std::int64_t>(size_of(s.c));
  if (size > 2) return b.c >= 64 ? b.extent > 4 : b.c >= 32 && b.c * size % sector_bytes != 0;
  constexpr std::int64_t near = 63;
  // Rows stay rows, but begin anywhere in two words.
  const bool odd = b.c == 1 && b.extent > near && std::any_of(axes.begin(), axes.end(), [&](const axis& x) { return x.b % 4 != 0 && x.b != 1; });
  return b.c > near || odd;
}

turn_config choose_turn(const step_shape& s, const gpu_machine& m) { return can_turn(s, m) ? turner(s, m).run() : turn_config{}; }

std::int64_t turn_pieces(const turn_config& c, const turned_axis& x) {
  if (x.more == 0) return divide_up(x.extent, x.piece);
  const std::int64_t run = turn_count(c, c.run_c), inner = run / x.piece;
  return divide_up(x.extent * inner + 1, run);
}

std::int64_t turn_tiles(const turn_config& c) {
  std::int64_t n = 1;
  for (std::size_t d = 0; d < c.axes.size(); ++d) n *= turn_pieces(c, c.axes[d]);
  return n;
}

std::int64_t turn_elements(const turn_config& c) {
  std::int64_t n = 1;
  for (const turned_axis& x : c.axes) n *= x.piece;
  return n;
}

std::int64_t turn_count(const turn_config& c, const std::vector<int>& axes) {
  std::int64_t n = 1;
  for (const int x : axes) n *= c.axes[static_cast<std::size_t>(x)].piece;
  return n;
}

std::int64_t turn_read(const turn_config& c, const std::vector<int>& axes) {
  std::int64_t n = 1;
  for (const int x : axes) n *= c.axes[static_cast<std::size_t>(x)].read();
  return n;
}

bool is_long(const turn_config& c) {
  std::int64_t b = 0, to = 0;
  for (const turned_axis& x : c.axes) b += x.read() * x.b, to += x.read() * x.c;
  return std::max(b, to) >= (std::int64_t{1} << 30) - 64;
}

std::int64_t turn_words_c(const turn_config& c, bool shifts) {
  const std::int64_t run = turn_count(c, c.run_c);
  return c.line > 0 ? whole(run + c.line - 1, c.line) : divide_up(run + (shifts ? 1 : 0), c.each());
}

int turn_shared_bytes(const turn_config& c) { return static_cast<int>(whole(c.size * c.room, 16)); }

std::string to_string(const turn_config& c) {
  return "transposition in tiles of " + std::to_string(turn_elements(c)) + " elements" + (c.each() > 1 ? ", in words" : "") + ", from rows of " + std::to_string(turn_count(c, c.run_b)) + " to rows of " +
         std::to_string(turn_count(c, c.run_c));
}

}  // namespace ricci::cuda
