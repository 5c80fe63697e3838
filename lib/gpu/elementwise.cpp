// Tiles for statements without a sum: which pieces of the axes, and which tensors are turned.
#include "gpu/elementwise.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "gpu/chain.hpp"
#include "gpu/step.hpp"
#include "plan/candidate.hpp"

namespace ricci::cuda {
namespace {


std::int64_t words_of(dtype t) { return static_cast<std::int64_t>(size_of(compute_type(t))) / 4; }

/// A piece of about so many values of an axis: all, if that is little more, or pieces of one length where the last would be short.
std::int64_t piece_of(std::int64_t extent, std::int64_t wanted) {
  if (2 * extent <= 3 * wanted) return extent;
  const std::int64_t pieces = divide_up(extent, wanted), spare = pieces * wanted - extent;
  return 8 * spare <= extent ? wanted : divide_up(extent, pieces);
}

class tiler {
 public:
  tiler(const pair_op& op, const std::vector<std::int64_t>& extents, const gpu_machine& m) : m_(m) {
    p_.op = op;
    std::vector<step_axis> axes;
    for (const int l : op.c.labels)
      if (const std::int64_t n = extents[static_cast<std::size_t>(l)]; n > 1) axes.push_back({l, n, n, 0, 0, stride_of(op.c, l), group::batch});
    planning::join_axes(axes, [&](const step_axis& out, const step_axis& in) {
      const auto nests = [&](const operand& x) { return stride_of(x, out.label) == stride_of(x, in.label) * in.extent; };
      return nests(op.c) && std::all_of(op.inputs.begin(), op.inputs.end(), nests);
    });
    for (const step_axis& a : axes) p_.axes.push_back({a.label, a.extent, 1});
    std::stable_sort(p_.axes.begin(), p_.axes.end(), [&](const tile_axis& x, const tile_axis& y) {
      return std::abs(stride_of(op.c, x.label)) < std::abs(stride_of(op.c, y.label));
    });
  }

  elementwise_plan run() {
    choose_pieces();
    choose_swapped();
    if (!grow() && words_of(p_.op.c.type) < 2) p_.swapped[0] = p_.swapped[1] = -1, grow();  // small tiles of small elements are worse
    std::int64_t turned = 0;
    for (const operand& x : p_.op.inputs) {
      p_.turned.push_back(is_better_turned(x) ? room_strides(x) : std::vector<std::int64_t>{});
      turned += !p_.turned.back().empty();
    }
    const std::int64_t each = holds_all(p_) ? 4 : 1;  // elements of a thread; more of them are too many addresses
    while (p_.threads < 1024 && p_.threads * each < elements_of(p_)) p_.threads *= 2;
    constexpr std::int64_t most_shared = 48 << 10;
    if (turned > 0) p_.rooms = static_cast<int>(std::clamp<std::int64_t>(most_shared / (4 * words_of(p_.op.c.type) * p_.room), 1, turned));
    count_costs();
    return std::move(p_);
  }

 private:
  /// So many neighbours of the tensor, or more, are in a tile.
  void cover(const operand& x, std::int64_t wanted) {
    std::int64_t run = 1;
    for (const std::size_t n : nearest_axes(p_, x)) {
      if (run >= wanted) break;
      tile_axis& a = p_.axes[n];
      a.piece = std::max(a.piece, piece_of(a.extent, divide_up(wanted, run)));
      run *= a.piece;
    }
  }

  /// Elements of a tile: four of each of 1024 threads, of many tensors four of 256.
  std::int64_t most_elements() const {
    const std::int64_t most = holds_all(p_) ? 4096 : 1024;
    return 2 * most / std::max<std::int64_t>(2, words_of(p_.op.c.type));
  }

  /// Runs of 32 elements of every tensor, or of fewer where they have many orders.
  void choose_pieces() {
    for (std::int64_t result = 32, inputs = 32;; (inputs >= result ? inputs : result) /= 2) {
      for (tile_axis& a : p_.axes) a.piece = 1;
      cover(p_.op.c, result);
      for (const operand& x : p_.op.inputs) cover(x, inputs);
      if (elements_of(p_) <= most_elements() || inputs == 1) return;
    }
  }

  /// Four elements for each of 256 threads, while there are blocks for all multiprocessors: pieces twice as long, the nearest of the
  /// result first. Axes that are swapped keep theirs. Whether there are so many then.
  bool grow() {
    std::int64_t all = 1;
    for (const tile_axis& a : p_.axes) all *= a.extent;
    const std::int64_t wanted = std::min<std::int64_t>(1024, all / (std::int64_t{8} * m_.multiprocessors));
    for (std::size_t n = 0; n < p_.axes.size(); ++n) {
      tile_axis& a = p_.axes[n];
      if (static_cast<int>(n) == p_.swapped[0] || static_cast<int>(n) == p_.swapped[1]) continue;
      while (2 * elements_of(p_) <= wanted && 8 * (divide_up(a.extent, 2 * a.piece) * 2 * a.piece - a.extent) <= a.extent) a.piece *= 2;
    }
    return 2 * elements_of(p_) > wanted;
  }

  /// The two axes in which most tensors are read both ways, tile by tile the same elements: the second cache has them the second time.
  /// Where there are few tiles along them it has them anyway, and many would be left out.
  void choose_swapped() {
    constexpr std::int64_t least_pieces = 8;
    int most = 0;
    for (std::size_t x = 0; x < p_.axes.size(); ++x)
      for (std::size_t y = x + 1; y < p_.axes.size(); ++y) {
        if (p_.axes[x].extent != p_.axes[y].extent || p_.axes[x].piece != p_.axes[y].piece || pieces_of(p_.axes[x]) < least_pieces) continue;
        int pairs = 0;
        for (const operand& a : p_.op.inputs)
          for (const operand& b : p_.op.inputs) pairs += chains::is_same_memory(a, b) && is_swapped(a, b, x, y);
        if (pairs > most) most = pairs, p_.swapped[0] = static_cast<int>(x), p_.swapped[1] = static_cast<int>(y);
      }
  }

  /// Whether tile (x, y) of one tensor is tile (y, x) of the other.
  bool is_swapped(const operand& a, const operand& b, std::size_t x, std::size_t y) const {
    for (std::size_t n = 0; n < p_.axes.size(); ++n) {
      const std::size_t other = n == x ? y : n == y ? x : n;
      if (pieces_of(p_.axes[n]) > 1 && stride_of(a, p_.axes[n].label) != stride_of(b, p_.axes[other].label)) return false;
    }
    return stride_of(a, p_.axes[x].label) != stride_of(a, p_.axes[y].label);
  }

  /// Sectors of 32 bytes that the first warps of a block touch, which count these axes; for each element of a tile.
  double sectors(const operand& x, const std::vector<std::size_t>& order) const {
    constexpr std::int64_t sector = 32, warp = 32;
    std::int64_t count = 1, touched = 0;
    for (const std::size_t n : order) count *= p_.axes[n].piece;
    for (std::int64_t first = 0; first < std::min(count, 4 * warp); first += warp) {
      std::vector<std::int64_t> places;
      for (std::int64_t e = first; e < std::min(count, first + warp); ++e) {
        std::int64_t at = 0, rest = e;
        for (const std::size_t n : order) {
          const tile_axis& a = p_.axes[n];
          at += rest % a.piece * std::abs(stride_of(x, a.label)), rest /= a.piece;
        }
        places.push_back(at * static_cast<std::int64_t>(size_of(x.type)) / sector);
      }
      std::sort(places.begin(), places.end());
      touched += std::unique(places.begin(), places.end()) - places.begin();
    }
    return static_cast<double>(touched) / static_cast<double>(std::min(count, 4 * warp)) * static_cast<double>(count) / static_cast<double>(elements_of(p_));
  }

  bool is_better_turned(const operand& x) const {
    std::vector<std::size_t> as_result(p_.axes.size());
    std::iota(as_result.begin(), as_result.end(), std::size_t{0});
    return sectors(x, as_result) >= 2 * sectors(x, nearest_axes(p_, x));
  }

  /// In the order of the result; what lies nearest in the tensor is an odd number of elements apart, so that no two threads meet in a bank.
  std::vector<std::int64_t> room_strides(const operand& x) {
    std::vector<std::int64_t> strides(p_.axes.size(), 0);
    const std::vector<std::size_t> near = nearest_axes(p_, x);
    const auto first = std::find_if(near.begin(), near.end(), [&](std::size_t n) { return p_.axes[n].piece > 1; });
    std::int64_t next = 1;
    for (std::size_t n = 0; n < p_.axes.size(); ++n) {
      if (stride_of(x, p_.axes[n].label) == 0) continue;
      if (first != near.end() && n == *first) next |= 1;
      strides[n] = next;
      next *= p_.axes[n].piece;
    }
    p_.room = std::max(p_.room, next);
    return strides;
  }

  void count_costs() {
    const auto count = [&](const operand& x) {
      double n = 1;
      for (const tile_axis& a : p_.axes)
        if (stride_of(x, a.label) != 0) n *= static_cast<double>(a.extent);
      return n;
    };
    std::vector<const operand*> seen;
    const auto add = [&](const operand& x) {
      if (std::none_of(seen.begin(), seen.end(), [&](const operand* y) { return chains::is_same_memory(*y, x); }))
        seen.push_back(&x), p_.bytes += count(x) * static_cast<double>(size_of(x.type));
    };
    for (const operand& x : p_.op.inputs) add(x);
    if (chains::reads_result(p_.op.beta)) add(p_.op.c);
    p_.bytes += count(p_.op.c) * static_cast<double>(size_of(p_.op.c.type));
    double each = is_transposition(p_) ? -2 : -1;
    for (const pointwise_term& t : p_.op.terms) each += 1 + static_cast<double>(t.factors.size());
    p_.flops = std::max(0.0, each) * (is_complex(p_.op.c.type) ? 4 : 1) * count(p_.op.c);
    p_.bound_seconds = p_.bytes / (m_.bandwidth * 1e9);
  }

  const gpu_machine& m_;
  elementwise_plan p_;
};

/// The order of the labels in memory is the result's: what threads of a flat chain read.
bool all_lie_alike(const pair_op& op) {
  const auto order = [](const operand& x) {
    std::vector<std::pair<std::int64_t, int>> axes;
    for (std::size_t d = 0; d < x.labels.size(); ++d) axes.emplace_back(-std::abs(x.strides[d]), x.labels[d]);
    std::sort(axes.begin(), axes.end());
    std::vector<int> labels;
    for (const auto& [stride, label] : axes) labels.push_back(label);
    return labels;
  };
  return std::all_of(op.inputs.begin(), op.inputs.end(), [&](const operand& x) { return order(x) == order(op.c); });
}

/// The operation as one in tiles, if that is all of the work and a transposition that tiles are best for.
std::optional<pair_op> turned_by_tiles(const planning::work& w, const std::vector<std::int64_t>& extents, const gpu_machine& m) {
  if (w.ops.size() != 1 || w.ops[0].what != action::contract) return {};
  pair_op op = w.ops[0];  // a single factor is b
  const auto is_external = [](const operand& x) { return x.where == operand::kind::external; };
  if (op.a.where != operand::kind::one || !is_external(op.b) || !is_external(op.c) || op.b.type != op.c.type || op.b.labels.size() != op.c.labels.size()) return {};
  const step_shape s = shape_of(op, extents);
  if (can_turn(s, m) || turning_of(s) != turning::tiles) return {};
  planning::make_pointwise(op);
  return op;
}

}  // namespace

std::optional<elementwise_plan> plan_elementwise(const planning::work& w, const gpu_machine& m) {
  std::vector<std::int64_t> extents;
  for (const label_info& l : w.source.labels) extents.push_back(l.extent);
  if (const auto turned = turned_by_tiles(w, extents, m)) return tiler(*turned, extents, m).run();
  if (!planning::is_elementwise(w)) return std::nullopt;
  const pair_op& op = w.ops[0];
  if (std::any_of(op.inputs.begin(), op.inputs.end(), [&](const operand& x) { return x.type != op.c.type; })) return std::nullopt;
  if (!is_complex(op.c.type) && all_lie_alike(op)) return std::nullopt;
  return tiler(op, extents, m).run();
}

bool is_transposition(const elementwise_plan& p) {
  return p.op.terms.size() == 1 && p.op.terms[0].factors.size() == 1 && p.op.terms[0].factors[0].second == function::identity;
}

std::int64_t pieces_of(const tile_axis& a) { return divide_up(a.extent, a.piece); }

std::int64_t tiles_of(const elementwise_plan& p) {
  std::int64_t n = 1;
  for (const tile_axis& a : p.axes) n *= pieces_of(a);
  if (p.swapped[0] < 0) return n;
  const std::int64_t side = pieces_of(p.axes[static_cast<std::size_t>(p.swapped[0])]), even = side + side % 2;
  return n / (side * side) * even * (even + 1);
}

std::int64_t elements_of(const elementwise_plan& p) {
  std::int64_t n = 1;
  for (const tile_axis& a : p.axes) n *= a.piece;
  return n;
}

unsigned grid_of(const elementwise_plan& p) { return static_cast<unsigned>(std::min<std::int64_t>(tiles_of(p), 0x7fffffff)); }

bool holds_all(const elementwise_plan& p) {
  constexpr std::size_t most_held = 6;
  return p.op.inputs.size() <= most_held;
}

std::vector<std::size_t> nearest_axes(const elementwise_plan& p, const operand& x) {
  const auto stride = [&](std::size_t n) { return std::abs(stride_of(x, p.axes[n].label)); };
  std::vector<std::size_t> axes;
  for (std::size_t n = 0; n < p.axes.size(); ++n)
    if (stride(n) != 0) axes.push_back(n);
  std::stable_sort(axes.begin(), axes.end(), [&](std::size_t n, std::size_t other) { return stride(n) < stride(other); });
  return axes;
}

std::string to_string(const elementwise_plan& p) {
  const auto turned = std::count_if(p.turned.begin(), p.turned.end(), [](const auto& strides) { return !strides.empty(); });
  return (is_transposition(p) ? "transposition in tiles of " : "sums in tiles of ") + std::to_string(elements_of(p)) + " elements" +
         (turned > 0 ? ", " + std::to_string(turned) + " of " + std::to_string(p.turned.size()) + " tensors turned in shared memory" : "") +
         (p.swapped[0] >= 0 ? ", tiles that lie across each other in turn" : "");
}

}  // namespace ricci::cuda
