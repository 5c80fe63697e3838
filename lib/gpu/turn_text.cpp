// Texts for kernels/turn.cuh.
#include <algorithm>

#include "gpu/long_text.hpp"
#include "gpu/turn.hpp"

namespace ricci::cuda {
namespace {

std::string number_text(std::int64_t x) { return std::to_string(x); }

class turn_writer {
 public:
  turn_writer(const step_shape& s, const turn_config& c, int at_b, int at_c) : s_(s), c_(c) {
    constexpr int word = 4;
    if (c.each() == 1) return;
    shifts_b_ = at_b < word || begins_odd(c.run_b, &turned_axis::b);
    shifts_c_ = at_c < word || begins_odd(c.run_c, &turned_axis::c);
  }

  std::string text() const {
    const std::int64_t run_c = turn_count(c_, c_.run_c), before = run_c / at(c_.run_c.back()).piece * at(c_.run_c.back()).more;
    std::string t = "#include \"element.cuh\"\nstruct turn_type {\n  using E = " + element_text(s_.c) + ";\n  using offset = " + (is_long(c_) ? "i64" : "int") + ";\n";
    t += constant_text("conj_b", s_.conj_b) + constant_text("beta", s_.beta) + constant_text("stays", c_.stays) + constant_text("shifts_b", shifts_b_) + constant_text("shifts_c", shifts_c_) + constant_text("cut_c", before == 0 && (shifts_c_ || run_c % c_.each() != 0));
    const auto integer = [](const char* name, std::int64_t value) { return constant_text("int", name, value); };
    t += integer("block", c_.block) + integer("blocks", c_.blocks) + integer("before", before) + integer("line", c_.line) + integer("all_c", run_c);
    t += integer("words_b", words_of(turn_read(c_, c_.run_b), shifts_b_)) + integer("rows_b", turn_read(c_, c_.rows_b));
    t += integer("words_c", before > 0 ? run_c / 2 : turn_words_c(c_, shifts_c_)) + integer("rows_c", turn_count(c_, c_.rows_c));
    t += integer("next", c_.run_c.size() == 1 ? at(c_.run_c[0]).room : 0);
    const auto step = [&](const char* name, const std::vector<int>& rows, std::int64_t turned_axis::*stride) { return constant_text("i64", name, rows.size() > 1 ? -1 : rows.empty() ? 0 : at(rows[0]).*stride); };
    t += step("step_b", c_.rows_b, &turned_axis::b) + step("room_b", c_.rows_b, &turned_axis::room) + step("step_c", c_.rows_c, &turned_axis::c) + step("room_c", c_.rows_c, &turned_axis::room);
    t += std::string("  using number = ") + (is_many() ? "u64" : "u32") + ";\n";
    t += "  struct tile {\n    i64 b, c;\n    bool whole;\n    int low, there[" + number_text(static_cast<std::int64_t>(c_.axes.size())) + "];\n  };\n";
    t += tile_text() + ends_text("b", c_.run_b) + ends_text("c", c_.run_c);
    t += row_text("b", c_.rows_b, &turned_axis::b) + row_text("c", c_.rows_c, &turned_axis::c) + inner_text();
    return t + "};\n#include \"turn.cuh\"\n";
  }

 private:
  const turned_axis& at(int n) const { return c_.axes[static_cast<std::size_t>(n)]; }

  /// Words that such a row reaches into.
  std::int64_t words_of(std::int64_t elements, bool shifts) const { return divide_up(elements + (shifts ? 1 : 0), c_.each()); }

  /// Whether the last piece of an axis begins so early that it is whole: it writes again what the one before it wrote.
  bool overlaps(const turned_axis& x) const { return c_.each() == 1 && !s_.beta && x.extent % x.piece != 0 && is_moved_again(x.extent, x.piece); }

  bool is_ragged(const turned_axis& x) const { return x.more > 0 || (x.extent % x.piece != 0 && !overlaps(x)); }

  /// Whether rows may begin at odd elements of a tensor that begins at an even one.
  bool begins_odd(const std::vector<int>& run, std::int64_t turned_axis::*stride) const {
    for (std::size_t n = 0; n < c_.axes.size(); ++n) {
      const turned_axis& x = c_.axes[n];
      const bool within = std::find(run.begin(), run.end(), static_cast<int>(n)) != run.end();
      if (x.*stride % 2 != 0 && (!within || (x.piece < x.extent && (x.piece % 2 != 0 || x.more % 2 != 0)))) return true;
    }
    return false;
  }

  /// Whether tiles are so many that their numbers, with those of a launch added, need 64 bits.
  bool is_many() const { return turn_tiles(c_) >= (std::int64_t{1} << 31); }

  /// Of the axes that are cut: those that are nearest in c and in b, where rows are of one axis, so that tiles which share sectors of either
  /// run at a time, and the others.
  std::vector<std::size_t> order() const {
    std::vector<std::size_t> axes;
    for (std::size_t n = 0; n < c_.axes.size(); ++n)
      if (turn_pieces(c_, c_.axes[n]) > 1) axes.push_back(n);
    if (axes.size() < 3 || c_.run_c.size() > 1) return axes;
    const auto near = std::min_element(axes.begin() + 1, axes.end(), [&](std::size_t x, std::size_t y) { return c_.axes[x].b < c_.axes[y].b; });
    std::rotate(axes.begin() + 1, near, near + 1);
    return axes;
  }

  std::string tile_text() const {
    std::string t = "  static __device__ tile tile_of(number rest) {\n    tile t{};\n    bool begins = true, ends = true, whole = true;\n";
    for (const std::size_t n : order()) {
      const turned_axis& x = c_.axes[n];
      const std::int64_t pieces = turn_pieces(c_, x);
      const std::string piece = "p" + number_text(static_cast<std::int64_t>(n));
      t += "    const number " + piece + " = rest % " + number_text(pieces) + ";\n    rest /= " + number_text(pieces) + ";\n";
      if (overlaps(x)) {
        const std::string begin = piece + " < " + number_text(pieces - 1) + " ? static_cast<i64>(" + piece + ") * " + number_text(x.piece) + " : " + number_text(x.extent - x.piece);
        t += "    const i64 begin" + piece + " = " + begin + ";\n    t.b += begin" + piece + " * " + number_text(x.b) + ", t.c += begin" + piece + " * " + number_text(x.c) + ";\n";
        continue;
      }
      t += "    t.b += static_cast<i64>(" + piece + ") * " + number_text(x.piece * x.b) + (x.more > 0 ? " - " + number_text(x.more * x.b) : "") + ", t.c += static_cast<i64>(" + piece + ") * " + number_text(x.piece * x.c) + ";\n";
      const std::int64_t behind = x.b == 1 ? c_.each() : 1, last = (x.extent - behind) / x.piece;  // the first with fewer than two elements of b behind it
      t += "    begins = begins && " + piece + " == 0, ends = ends && " + piece + " >= " + number_text(last) + ";\n";
      if (is_ragged(x)) {
        t += "    if (" + piece + " >= " + number_text(x.extent / x.piece) + ") whole = false, t.there[" + number_text(static_cast<std::int64_t>(n)) + "] = static_cast<int>(" + number_text(x.extent + x.more) + " - static_cast<i64>(" + piece + ") * " + number_text(x.piece) + ");\n";
        t += "    else t.there[" + number_text(static_cast<std::int64_t>(n)) + "] = " + number_text(x.read()) + ";\n";
      }
      if (x.more > 0) t += "    if (" + piece + " == 0) whole = false, t.low = " + number_text(x.more) + ";\n";
    }
    return t + "    t.whole = whole && " + (shifts_b_ || turn_read(c_, c_.run_b) % c_.each() != 0 ? "!begins && !ends" : "true") + ";\n    return t;\n  }\n";
  }

  /// Which elements of a row there are: from `low` to before `high`.
  std::string ends_text(const std::string& name, const std::vector<int>& run) const {
    const turned_axis& last = at(run.back());
    const std::string inner = number_text(turn_count(c_, run) / last.piece);
    const std::string high = is_ragged(last) ? inner + " * t.there[" + number_text(run.back()) + "]" : number_text(turn_count(c_, run)), low = last.more > 0 ? inner + " * t.low" : "0";
    return "  static __device__ int low_" + name + "(const tile& t) { return " + low + "; }\n  static __device__ int high_" + name + "(const tile& t) { return " + high + "; }\n";
  }

  /// Where rows begin, and which of them there are.
  std::string row_text(const std::string& name, const std::vector<int>& rows, std::int64_t turned_axis::*stride) const {
    std::string indices, used, sums, places, checks;
    std::int64_t inside = 1;
    for (std::size_t d = 0; d < rows.size(); ++d) {
      const turned_axis& x = at(rows[d]);
      const std::string index = "i" + number_text(static_cast<std::int64_t>(d)), text = "    const int " + index + " = static_cast<int>(u" + (inside > 1 ? " / " + number_text(inside) : "") + (d + 1 < rows.size() ? " % " + number_text(x.read()) : "") + ");\n";
      inside *= x.read(), indices += text;
      sums += (sums.empty() ? "" : " + ") + ("static_cast<offset>(" + index + ") * " + number_text(x.*stride));
      places += (places.empty() ? "" : " + ") + (index + " * " + number_text(x.room));
      if (is_ragged(x)) used += text, checks += (checks.empty() ? "" : " && ") + (index + " < t.there[" + number_text(rows[d]) + "]") + (x.more > 0 ? " && " + index + " >= t.low" : "");
    }
    const std::string u = "    const u32 u = static_cast<u32>(row);\n";
    return "  static __device__ void row_" + name + "(int row, offset& to, int& place) {\n" + (rows.empty() ? "" : u + indices) + "    to = " + (sums.empty() ? "0" : sums) + ", place = " + (places.empty() ? "0" : places) + ";\n  }\n" +
           "  static __device__ bool has_" + name + "(const tile& t, int row) {\n" + (checks.empty() ? "" : u + used) + "    return " + (checks.empty() ? "true" : checks) + ";\n  }\n";
  }

  std::string inner_text() const {
    std::string sum;
    std::int64_t inside = 1;
    for (std::size_t d = 0; d < c_.run_c.size(); ++d) {
      const turned_axis& x = at(c_.run_c[d]);
      sum += (d > 0 ? " + " : "") + ("static_cast<int>(n" + (inside > 1 ? " / " + number_text(inside) : "") + (d + 1 < c_.run_c.size() ? " % " + number_text(x.piece) : "") + ") * " + number_text(x.room));
      inside *= x.piece;
    }
    return "  static __device__ int inner(int at) {\n    const " + std::string(c_.run_c.size() > 1 ? "u32 n = static_cast<u32>(at)" : "int n = at") + ";\n    return " + sum + ";\n  }\n";
  }

  const step_shape& s_;
  const turn_config& c_;
  bool shifts_b_ = false, shifts_c_ = false;
};

}  // namespace

std::string turn_text(const step_shape& s, const turn_config& c, int at_b, int at_c) { return turn_writer(s, c, at_b, at_c).text(); }

}  // namespace ricci::cuda
