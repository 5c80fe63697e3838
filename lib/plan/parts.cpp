// Long sums with few results: cut into parts, which threads share. The parts depend on the problem and the caches alone,
// and their sums are added in order, so the bits do not depend on the number of threads.
#include <algorithm>
#include <limits>
#include <numeric>

#include "plan/distinct.hpp"
#include "plan/plan.hpp"

namespace ricci::planning {
namespace {

constexpr double least_bytes = 2 << 20;                               // of the factors: less is done before threads have begun
constexpr std::int64_t most_results = 4096, fewest = 8, most = 4096;  // parts: at least, at most
constexpr double few_results = 1024;                                  // whose parts may leave the second cache
constexpr double enough_rows = 64;                                    // for threads to share
constexpr std::int64_t long_run = 128 << 10, parts_of_rows = 16;      // bytes of a row that are read at no higher cost than more
// In pieces: bytes of one, or, for as many terms, at most; bytes of a row of a factor at most, of both at least; what a part reads beside its
// results, but for parts that may be fewer. Measured.
constexpr double piece_bytes = 16384, longest_piece = 65536, enough_terms = 32, longest_row = 4096, shortest_rows = 160, beside_results = 64, enough_parts = 64;

struct cut {
  int label = -1;
  std::int64_t part = 0, count = 0;
  std::int64_t piece = 0;  // terms
};

/// The label that is cut, and the bytes of the factors.
struct summed {
  int label = -1;
  double bytes = 0;
  std::int64_t step = 0;  // bytes from one value to the next in the factor that the label comes from
  bool along = false;     // no label of the result lies within a step
};

class cutter {
 public:
  cutter(const pair_op& op, const std::vector<label_info>& labels, const machine& m)
      : op_(op), labels_(labels), m_(m), second_(m.caches.size() > 1 ? static_cast<double>(m.caches[1].bytes) : 0) {
    for (const operand* x : {&op.a, &op.b})
      if (x->where != operand::kind::one) factors_.push_back(x);
  }

  /// How the sum is cut; label -1: not at all.
  cut best() const {
    if (op_.what != action::contract || op_.scale.where != operand::kind::one || second_ == 0) return {};
    double results = 1;
    for (int l : op_.c.labels) results *= static_cast<double>(extent(l));
    const summed s = longest();
    if (s.label < 0 || s.bytes < least_bytes) return {};
    const bool pieces = in_pieces(s, results);
    if (!pieces && (results > static_cast<double>(most_results) || !all_placed())) return {};
    const double rows = rows_of(s.label);
    if (rows >= enough_rows) return {};  // each is read from its beginning to its end
    const std::int64_t length = extent(s.label);
    // What is read for several results stays in the second cache, with room for what is read ahead, but runs of rows are long.
    // Results of the parts are few beside what the parts read.
    const double near = std::clamp(s.along && rows == 0 ? s.bytes / parts_of_rows : 0, second_ / 8, second_);
    const double beside = 16.0 * results * static_cast<double>(size_of(compute_type(op_.c.type)));
    if (!pieces && results > few_results && (beside > second_ || !is_product() || longer_side() > longest_side())) return {};
    const double wanted = std::max(near, beside);
    cut out{s.label, std::max({std::int64_t{1}, static_cast<std::int64_t>(wanted * static_cast<double>(length) / s.bytes), divide_up(length, most)}), 0, 0};
    if (s.along && rows >= 1) out.part = std::max(out.part, std::min(long_run / s.step, length / parts_of_rows));
    out.part = in_lines(out.part, out.label);
    if (s.along) out.part = std::max(out.part / lines_of(s.step) * lines_of(s.step), std::min(out.part, lines_of(s.step)));
    if (pieces) cut_to_pieces(out, s, beside / 16 * beside_results);
    out.count = divide_up(length, out.part);
    return out.count < fewest ? cut{} : out;
  }

 private:
  std::int64_t extent(int label) const { return labels_[static_cast<std::size_t>(label)].extent; }

  /// It is not a temporary, whose strides are chosen later.
  static bool is_placed(const operand& x) { return x.strides.size() == x.labels.size(); }
  bool all_placed() const {
    return std::all_of(factors_.begin(), factors_.end(), [](const operand* x) { return is_placed(*x); });
  }
  bool holds_all(const operand& x) const {
    return std::all_of(op_.c.labels.begin(), op_.c.labels.end(), [&](int l) { return has(x, l); });
  }

  double bytes_of(const operand& x) const {
    double bytes = static_cast<double>(size_of(x.type));
    for (int l : x.labels) bytes *= static_cast<double>(extent(l));
    return bytes;
  }

  /// Terms of the sum for one value of the label.
  double terms_of(int label) const {
    double terms = 1;
    std::vector<int> known{label};
    for (const operand* x : factors_)
      for (int l : x->labels)
        if (!has(op_.c, l) && !contains(known, l)) known.push_back(l), terms *= static_cast<double>(extent(l));
    return terms;
  }

  /// Elements of a factor have several indices each.
  bool has_windows() const {
    return std::any_of(factors_.begin(), factors_.end(), [this](const operand* x) {
      return is_placed(*x) && distinct_share(x->labels, [&](int l) { return strided_axis{extent(l), stride_of(*x, l)}; }) < 1;
    });
  }

  /// Results stay in a near cache while a part is read, piece by piece: what several register tiles read again stays in the first
  /// one, and a piece asks for the next. Rows of a line or two come in order by themselves.
  bool in_pieces(const summed& s, double results) const {
    if (!m_.writes_kernels || m_.vector_bytes != 32 || m_.asks.memory == 0 || s.along || !is_product() || has_windows()) return false;
    const auto size = static_cast<double>(size_of(compute_type(op_.c.type)));
    const double longer = longer_side(), shorter = results / longer;
    return shorter > 1 && longer * size <= longest_row && (longer + shorter) * size >= shortest_rows && results * size <= second_ / 2;
  }
  void cut_to_pieces(cut& x, const summed& s, double beside) const {
    const auto length = static_cast<double>(extent(s.label));
    const double value = s.bytes / length, terms = terms_of(s.label);
    x.piece = static_cast<std::int64_t>(std::max(std::min(enough_terms, longest_piece * terms / value), piece_bytes * terms / value));
    const auto values = in_lines(std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(x.piece) / terms)), s.label);
    x.part = std::max(x.part, static_cast<std::int64_t>(std::min(beside / value, length / enough_parts)));
    x.part = divide_up(x.part, values) * values;
    if (terms == 1) x.piece = values;
  }

  /// Rows of one factor by columns of the other.
  bool is_product() const {
    return factors_.size() == 2 && std::all_of(op_.c.labels.begin(), op_.c.labels.end(), [&](int l) { return has(op_.a, l) != has(op_.b, l); });
  }
  double longer_side() const {
    double rows = 1, columns = 1;
    for (int l : op_.c.labels) (has(op_.a, l) ? rows : columns) *= static_cast<double>(extent(l));
    return std::max(rows, columns);
  }
  /// Small register tiles come by the lines of a long row again and again.
  double longest_side() const {
    const dtype t = compute_type(op_.c.type);
    const bool large_tiles = m_.vector_bytes >= 64 ? !is_complex(t) : t == dtype::f32;
    return large_tiles ? 256 : t == dtype::c128 ? 64 : 128;
  }

  /// The summed label of the largest steps through the larger factor (of factors of about the same size, the longer of the two).
  summed longest() const {
    summed out;
    double larger = 0;
    for (const operand* x : factors_) {
      const double bytes = bytes_of(*x);
      out.bytes += bytes;
      if (!is_placed(*x)) continue;
      std::int64_t widest = 0, nearest = std::numeric_limits<std::int64_t>::max();  // of summed labels, of the result's
      int label = -1;
      for (std::size_t d = 0; d < x->labels.size(); ++d) {
        const int l = x->labels[d];
        const std::int64_t stride = std::abs(x->strides[d]);
        if (has(op_.c, l)) nearest = std::min(nearest, stride);
        else if (extent(l) > 1 && stride > widest) widest = stride, label = l;
      }
      if (label < 0) continue;
      const bool alike = bytes < 1.5 * larger && larger < 1.5 * bytes;
      if (out.label < 0 || (alike ? extent(label) > extent(out.label) : bytes > larger))
        out.label = label, out.step = widest * static_cast<std::int64_t>(size_of(x->type)), out.along = widest < nearest;
      larger = std::max(larger, bytes);
    }
    return out;
  }

  /// How many results the factors hold one after the other, each with all that is summed for it. 0: a factor that does not stay
  /// in a cache is read for several results.
  double rows_of(int label) const {
    double rows = std::numeric_limits<double>::infinity();
    for (const operand* x : factors_) {
      double outer = 1;
      for (std::size_t d = 0; d < x->labels.size(); ++d)
        if (is_placed(*x) && has(op_.c, x->labels[d]) && std::abs(x->strides[d]) > std::abs(stride_of(*x, label))) outer *= static_cast<double>(extent(x->labels[d]));
      const bool whole = holds_all(*x);
      if (whole || bytes_of(*x) > second_ / 4) rows = std::min(rows, whole ? outer : 0);
    }
    return rows;
  }

  /// Whole lines of a factor in which the values are neighbours, and whole vectors.
  std::int64_t in_lines(std::int64_t part, int label) const {
    for (const operand* f : factors_)
      if (is_placed(*f) && f->labels.size() > 1 && stride_of(*f, label) == 1) part = std::max(part, 64 / static_cast<std::int64_t>(size_of(f->type)));
    return part > 64 ? part / 64 * 64 : part;
  }

  /// So many steps are whole lines.
  static std::int64_t lines_of(std::int64_t step) { return 64 / std::gcd(step, std::int64_t{64}); }

  const pair_op& op_;
  const std::vector<label_info>& labels_;
  const machine& m_;
  const double second_;  // bytes of the second cache; 0: none is known
  std::vector<const operand*> factors_;
};

}  // namespace

void cut_sums(work& w, const machine& m) {
  std::vector<pair_op> ops;
  for (pair_op& op : w.ops) {
    const cut c = cutter(op, w.source.labels, m).best();
    if (c.label < 0) {
      ops.push_back(std::move(op));
      continue;
    }
    const int parts = static_cast<int>(w.source.labels.size());
    w.source.labels.push_back({w.source.labels[static_cast<std::size_t>(c.label)].name + "'", c.count});
    temporary t;
    t.type = compute_type(op.c.type), t.labels = {parts};
    t.labels.insert(t.labels.end(), op.c.labels.begin(), op.c.labels.end());
    operand sums;
    sums.where = operand::kind::temporary, sums.id = static_cast<int>(w.temporaries.size()), sums.type = t.type;
    sums.name = "t" + std::to_string(sums.id), sums.labels = t.labels;
    w.temporaries.push_back(std::move(t));
    operand one;
    one.type = sums.type;
    pair_op last{one, sums, op.c, op.alpha, op.beta, op.statement};
    op.c = sums, op.alpha = {}, op.beta = {0, -1, {}};
    op.cut_label = c.label, op.parts_label = parts, op.part = c.part, op.piece = c.piece;
    ops.push_back(std::move(op));
    ops.push_back(std::move(last));
  }
  w.ops = std::move(ops);
}

}  // namespace ricci::planning
