// How threads share sums and what is no large product: which labels the bits of a thread's number count.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "gpu/long_text.hpp"
#include "gpu/step.hpp"

namespace ricci::cuda {
namespace {

constexpr int block_bits = 8;  // of the number of a thread in its block
constexpr std::int64_t sector = 32, line = 128;

/// Bits that count to x, and to no more than x.
int bits_for(std::int64_t x) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(1, x) - 1))); }
int bits_within(std::int64_t x) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(1, x)))) - 1; }

/// An operand as threads meet it.
struct met {
  char name = 'c';
  dtype type = dtype::f64;
  double bytes = 0;
  std::int64_t size() const { return static_cast<std::int64_t>(size_of(type)); }
};

/// An axis of one of the two lists: free ones, or summed ones.
struct which {
  bool sums = false;
  int axis = -1;
  explicit operator bool() const { return axis >= 0; }
  bool operator==(const which&) const = default;
};

class sharing {
 public:
  sharing(const step_shape& s, const gpu_machine& m) : s_(s), threads_(static_cast<double>(m.multiprocessors) * m.threads), axes_{free_axes(s), s.k} {
    for (int of_sums = 0; of_sums < 2; ++of_sums) named_[of_sums].resize(axes_[of_sums].size(), false);
  }

  general_config choose() {
    const std::vector<met> operands = by_bytes();
    const met& most = operands.front();
    c_.order = most.name;
    c_.lanes.clear();
    const which first_fast = nearest(most);
    if (is_batch(first_fast)) own_tile();
    else own_columns(most);
    if (most.name == 'c' && s_.has_a && s_.has_b && !is_batch(first_fast)) own_all_columns(operands[1], most, first_fast);
    take_run(most, first_fast);
    if (most.name == 'c') own_rows(first_fast);
    const which fast = nearest(most);
    if (!fast) {  // one element, or one that all threads read
      c_.lanes.push_back({count(true) > 1, -1, block_bits});
      return c_;
    }
    std::vector<lane_bits> boxes;
    for (std::size_t n = 1; n < operands.size(); ++n) box(operands[n], most, fast, boxes);
    share(most, fast, boxes);
    return c_;
  }

 private:
  const axis& at(which w) const { return axes_[w.sums][static_cast<std::size_t>(w.axis)]; }
  axis& at(which w) { return axes_[w.sums][static_cast<std::size_t>(w.axis)]; }
  void name(which w) { named_[w.sums][static_cast<std::size_t>(w.axis)] = true; }
  bool is_batch(which w) const { return w && !w.sums && w.axis < static_cast<int>(s_.batch.size()); }

  std::vector<met> by_bytes() const {
    std::vector<met> all;
    const auto bytes = [&](char name, dtype t) {
      double n = static_cast<double>(size_of(t));
      for (const auto& list : axes_)
        for (const axis& x : list)
          if (x.*stride_in(name) != 0) n *= static_cast<double>(x.extent);
      return n;
    };
    all.push_back({'c', s_.c, bytes('c', s_.c) * (s_.beta ? 2 : 1)});
    if (s_.has_b) all.push_back({'b', s_.b, bytes('b', s_.b)});
    if (s_.has_a) all.push_back({'a', s_.a, bytes('a', s_.a)});
    std::stable_sort(all.begin(), all.end(), [](const met& x, const met& y) { return x.bytes > y.bytes; });
    return all;
  }

  /// The axis of an operand with the smallest step, of those that are not named; and not `but`.
  which nearest(const met& x, which but = {}) const {
    const stride_of_axis stride = stride_in(x.name);
    which best;
    for (const bool sums : {false, true})
      for (std::size_t d = 0; d < axes_[sums].size(); ++d) {
        const which w{sums, static_cast<int>(d)};
        if (at(w).*stride == 0 || at(w).extent == 1 || named_[sums][d] || w == but) continue;
        if (!best || std::abs(at(w).*stride) < std::abs(at(best).*stride)) best = w;
      }
    return best;
  }

  /// Elements or turns of terms along the axes that are not named.
  std::int64_t count(bool sums) const {
    std::int64_t n = 1;
    for (std::size_t d = 0; d < axes_[sums].size(); ++d)
      if (!named_[sums][d]) n *= axes_[sums][d].extent;
    return n;
  }

  /// Sums that a thread has room for.
  std::int64_t most_own() const { return s_.c == dtype::c128 ? 6 : 12; }
  std::int64_t own_count() const {
    std::int64_t n = 1;
    for (const own_elements& o : c_.own) n *= o.count;
    return n;
  }
  /// Of both factors, what a thread reads for a term.
  std::int64_t own_lines() const {
    std::int64_t n = 1;
    for (const own_elements& o : c_.own) n += o.count - 1;
    return n + 1;
  }
  void take_own(int axis, std::int64_t each) {
    if (each > 1) c_.own.push_back({axis, each}), name({false, axis});
  }

  /// The free axes that a factor does not have, and the number of the first of them.
  std::pair<const std::vector<axis>&, int> lacking(const met& factor) const {
    return {factor.name == 'a' ? s_.n : s_.m, static_cast<int>(s_.batch.size() + (factor.name == 'a' ? s_.m.size() : 0))};
  }

  /// A thread has elements of its own along what the largest factor does not have, which is then read once.
  void own_columns(const met& most) {
    if (!s_.has_a || !s_.has_b || most.name == 'c') return;
    const auto& [group, begin] = lacking(most);
    if (group.empty()) return;
    if (count_of(group) <= most_own()) {
      for (std::size_t d = 0; d < group.size(); ++d) take_own(begin + static_cast<int>(d), group[d].extent);
    } else {
      const std::int64_t extent = group.back().extent;
      take_own(begin + static_cast<int>(group.size()) - 1, divide_up(extent, divide_up(extent, most_own() * 2 / 3)));
    }
    // Many columns for one row are read for that row alone: two rows.
    constexpr std::int64_t many = 1024;
    if (!nearest(most).sums || count(true) < many || own_count() < 4 || own_count() > most_own()) return;
    for (int d = static_cast<int>(axes_[0].size()); d-- > 0;) {
      const axis& x = axes_[0][static_cast<std::size_t>(d)];
      if (named_[0][static_cast<std::size_t>(d)] || x.*stride_in(most.name) == 0 || (x.extent % 2 != 0 && x.extent < 16)) continue;
      return take_own(d, 2);
    }
  }

  /// The result is the largest, and a factor is not much smaller: it is read once where a thread has all that this factor lacks.
  void own_all_columns(const met& factor, const met& result, which fast) {
    constexpr double much = 4;
    const auto& [group, begin] = lacking(factor);
    if (factor.bytes < result.bytes / much || count_of(group) > most_own() || !fast || fast.sums || at(fast).extent * result.size() < sector) return;
    if (fast.axis >= begin && fast.axis < begin + static_cast<int>(group.size())) return;  // neighbours, which threads would write apart
    for (std::size_t d = 0; d < group.size(); ++d) take_own(begin + static_cast<int>(d), group[d].extent);
  }

  /// Short sums of two factors: what a thread reads for neighbours of the result serves other rows too. Not where rows are short and another
  /// problem's factor is another one, so that a block would read several of them.
  bool is_read_again(which fast) const {
    constexpr std::int64_t few = 3, short_row = 640, kept = 200000;  // terms; bytes
    if (!s_.has_a || !s_.has_b || s_.k.empty() || count_of(s_.k) > few || !fast || fast.sums || (at(fast).a != 0) == (at(fast).b != 0)) return false;
    const char name = at(fast).a != 0 ? 'a' : 'b';
    const std::vector<met> all = by_bytes();
    const auto factor = std::find_if(all.begin(), all.end(), [&](const met& x) { return x.name == name; });
    return at(fast).extent * c_.run.count * static_cast<std::int64_t>(size_of(s_.c)) >= short_row || factor->bytes * c_.run.count <= kept;
  }

  /// Many elements of few terms: a thread has several, so that it does not begin anew for each.
  void own_rows(which fast) {
    const bool again = is_read_again(fast);
    const std::int64_t run = c_.run.count, each = again ? std::min<std::int64_t>(4, 16 / run) / own_count() : 4 / (own_count() * run);
    if ((run > 1 && !again) || !fast || at(fast).extent * run < (again ? 32 : 64) || each < 2 || static_cast<double>(count(false)) < 8 * threads_) return;
    int best = -1;
    double least = 1e9;
    for (int d = 0; d < static_cast<int>(axes_[0].size()); ++d) {
      const axis& x = axes_[0][static_cast<std::size_t>(d)];
      if (count(false) / x.extent < 1024) continue;  // blocks have no neighbours left
      if (named_[0][static_cast<std::size_t>(d)] || which{false, d} == fast || x.extent < each) continue;
      if (again && ((x.a != 0) == (at(fast).a != 0) || (x.b != 0) == (at(fast).b != 0))) continue;
      const double waste = static_cast<double>(divide_up(x.extent, each) * each) / static_cast<double>(x.extent) + (x.a != 0 && x.b != 0 ? 0.2 : 0);
      if (waste < least) least = waste, best = d;
    }
    if (best >= 0) take_own(best, each);
  }

  /// Problems lie side by side: a thread has rows and columns of one.
  void own_tile() {
    if (!s_.has_a || !s_.has_b || s_.k.empty()) return;
    struct side {
      int axis = -1;
      std::int64_t each = 1;
      double waste = 1;
    };
    const auto sides = [&](const std::vector<axis>& group, std::size_t begin) {
      std::vector<side> all{{}};
      for (std::size_t d = 0; d < group.size(); ++d)
        for (std::int64_t each = 2; each <= std::min<std::int64_t>(8, group[d].extent); ++each)
          all.push_back({static_cast<int>(begin + d), each, static_cast<double>(divide_up(group[d].extent, each) * each) / static_cast<double>(group[d].extent)});
      return all;
    };
    const std::int64_t most = s_.c == dtype::c128 ? 6 : s_.c == dtype::f32 ? 24 : 16;
    side rows, cols;
    double least = 1e9;
    for (const side& m : sides(s_.m, s_.batch.size()))
      for (const side& n : sides(s_.n, s_.batch.size() + s_.m.size())) {
        if (m.each * n.each > most) continue;
        const double cost = m.waste * n.waste * (1 + 2.0 / static_cast<double>(m.each) + 2.0 / static_cast<double>(n.each));
        if (cost < least) least = cost, rows = m, cols = n;
      }
    take_own(rows.axis, rows.each), take_own(cols.axis, cols.each);
  }

  /// Neighbours in whole words of the largest operand.
  void take_run(const met& most, which fast) {
    if (!fast || named_[fast.sums][static_cast<std::size_t>(fast.axis)]) return;
    const stride_of_axis stride = stride_in(most.name);
    if (at(fast).*stride != 1) return;
    const auto fits = [&](std::int64_t run) {
      if (at(fast).extent % run != 0 || (fast.sums ? own_lines() : own_count()) * run > (fast.sums ? 24 : is_complex(s_.c) ? 12 : 16)) return false;
      for (const auto& list : axes_)
        for (const axis& x : list)
          if (&x != &at(fast) && x.*stride % run != 0) return false;
      return true;
    };
    int run = static_cast<int>(16 / most.size());
    while (run > 1 && !fits(run)) run /= 2;
    if (run == 1) return;
    c_.run = {fast.sums, fast.axis, run};
    axis& x = at(fast);
    x = {x.extent / run, x.a * run, x.b * run, x.c * run};
  }

  /// An operand whose neighbours are not those of the largest one: a few of them are a block's, so that it reads whole sectors.
  void box(const met& x, const met& most, which fast, std::vector<lane_bits>& boxes) {
    constexpr double negligible = 1.0 / 16;  // of the largest one's accesses, each of a run
    constexpr int most_boxed = block_bits - 4;
    if (x.bytes < negligible * most.bytes / c_.run.count) return;
    const std::int64_t run = c_.run.sums == fast.sums && c_.run.axis == fast.axis ? c_.run.count : 1;
    if (std::abs(at(fast).*stride_in(x.name)) / run * x.size() < sector) return;  // neighbours here too, or the same for all
    int wanted = bits_within(2 * sector / x.size());
    while (wanted > 0 && boxed_ < most_boxed) {
      const which near = nearest(x);
      if (!near || near == fast || std::abs(at(near).*stride_in(x.name)) * x.size() >= 2 * sector) return;
      int bits = std::min({wanted, bits_for(at(near).extent), most_boxed - boxed_});
      const auto divides = [&](int b) { return at(near).extent % (std::int64_t{1} << b) == 0; };
      if (const int whole = bits_within(sector / x.size()); std::int64_t{1} << bits < at(near).extent && !divides(bits) && whole < bits && divides(whole)) bits = whole;
      boxes.push_back({near.sums, near.axis, bits});
      name(near);
      wanted -= bits, boxed_ += bits;
      if (std::int64_t{1} << bits < at(near).extent) return;
    }
  }

  bool few(std::int64_t elements, int bits) const { return static_cast<double>(elements) * static_cast<double>(1 << bits) < threads_; }

  /// The bits that boxes leave: first those of what lies together in the largest operand.
  void share(const met& most, which fast, const std::vector<lane_bits>& boxes) {
    const std::int64_t run = c_.run.count, width = run * most.size();
    // A few free neighbours and then terms: both together.
    const which next = nearest(most, fast);
    int front = 0;
    if (!fast.sums && next.sums && at(fast).extent * width < line && count(true) >= 8) {
      front = std::min(bits_for(at(fast).extent), block_bits - boxed_);
      c_.lanes.push_back({false, fast.axis, front});
      name(fast);
    }
    const bool sums_first = fast.sums || front > 0;
    const std::int64_t terms = count(true), elements = count(false);
    const int left = block_bits - boxed_ - front, taken = boxed_ + front;
    int of_sums = 0, of_elements = 0;
    if (sums_first) {
      const int least = std::min({left, bits_for(terms), bits_within(2 * sector / width)});
      if (terms * width > 2 * sector) of_sums = std::clamp(bits_within(terms / 4), least, std::max(least, std::min(5 - front, left)));
      while (of_sums < left && terms >> of_sums >= 8 && few(elements, of_sums + taken)) ++of_sums;
      of_elements = left - of_sums;
    } else {
      of_elements = std::min({bits_for(elements), boxed_ > 0 ? bits_within(line / width) : 5, left});
      while (of_elements + of_sums < left && terms >> of_sums >= 8 && few(elements, of_sums + taken)) ++of_sums;
      of_elements = left - of_sums;
    }
    const lane_bits own_sums{true, -1, of_sums}, own_elements{false, -1, of_elements};
    c_.lanes.push_back(sums_first ? own_sums : own_elements);
    c_.lanes.insert(c_.lanes.end(), boxes.begin(), boxes.end());
    c_.lanes.push_back(sums_first ? own_elements : own_sums);
  }

  const step_shape& s_;
  double threads_;
  std::vector<axis> axes_[2];  // free, summed
  std::vector<bool> named_[2];
  int boxed_ = 0;
  general_config c_;
};

}  // namespace

namespace {

/// Whether the elements of the result follow one another without a gap.
bool is_dense(std::vector<axis> free) {
  std::sort(free.begin(), free.end(), [](const axis& x, const axis& y) { return x.c < y.c; });
  std::int64_t next = 1;
  for (const axis& x : free) {
    if (x.extent == 1) continue;
    if (x.c != next) return false;
    next *= x.extent;
  }
  return true;
}

/// Sectors of all operands that a warp touches, for one element of each of its threads.
double sectors_of(const step_shape& s, const general_config& c) {
  return (s.has_a ? sectors_of_warp(s, c, 'a', s.a) : 0) + (s.has_b ? sectors_of_warp(s, c, 'b', s.b) : 0) + sectors_of_warp(s, c, 'c', s.c) / c.run.count;
}

/// Whether neighbours of an operand that no first cache has room for are so far apart in the result, and a warp reads it all over.
bool is_far(const step_shape& s, const general_config& flat, char operand, dtype t, std::int64_t distance) {
  constexpr std::int64_t room = 64 << 10;
  constexpr double few_sectors = 8;
  const stride_of_axis stride = stride_in(operand);
  const std::vector<axis> free = free_axes(s);
  const std::size_t near = nearest_axis(free, stride);
  if (near == free.size() || free[near].c < distance) return false;
  std::int64_t bytes = static_cast<std::int64_t>(size_of(t));
  for (const axis& x : free)
    if (x.*stride != 0) bytes *= x.extent;
  return bytes > room && sectors_of_warp(s, flat, operand, t) > few_sectors;
}

/// Threads have whole words of the result, across its axes, where along one there are none, or where neighbours of an operand are
/// then closer.
bool runs_flat(const step_shape& s, const general_config& usual, const general_config& flat, const gpu_machine& m) {
  const std::vector<axis> free = free_axes(s);
  const double runs = static_cast<double>(count_of(free)) / flat.run.count, threads = static_cast<double>(m.multiprocessors) * m.threads;
  if (flat.run.count == 1 || !s.k.empty() || usual.order != 'c' || !is_dense(free) || runs < threads) return false;
  constexpr std::int64_t with_another = 128;  // elements, between neighbours of one of two factors
  if (s.has_a && (is_far(s, flat, 'a', s.a, with_another) || is_far(s, flat, 'b', s.b, with_another))) return false;
  if (!s.has_a && s.has_b && is_far(s, flat, 'b', s.b, far_apart)) return false;
  return usual.run.count < flat.run.count || (usual.own.empty() && sectors_of(s, flat) < 0.75 * sectors_of(s, usual));
}

}  // namespace

general_config choose_general(const step_shape& s, const gpu_machine& m) {
  const general_config usual = sharing(s, m).choose();
  general_config flat;
  flat.run = {false, neighbours::flat, static_cast<int>(16 / size_of(s.c))};
  return runs_flat(s, usual, flat, m) ? flat : usual;
}

/// A turn of a thread takes about 0.15 us of waiting.
std::int64_t parts_of(const step_shape& s, const general_config& c, const gpu_machine& m) {
  const std::int64_t blocks = std::max<std::int64_t>(1, general_blocks(s, c)), turns = general_turns(s, c);
  const std::int64_t room = static_cast<std::int64_t>(m.multiprocessors) * m.threads / threads_of(c);
  if (2 * blocks > room) return 1;
  const std::int64_t parts = std::min(2 * room / blocks, turns / 8);
  return parts > 1 && turns - turns / parts > 48 ? parts : 1;
}

}  // namespace ricci::cuda
