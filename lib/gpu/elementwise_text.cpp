// The text of a kernel for sums in tiles: every extent and stride is a number in it.
#include <algorithm>
#include <cstdlib>
#include <map>

#include "gpu/chain.hpp"
#include "gpu/elementwise.hpp"
#include "gpu/shape.hpp"
#include "plan/candidate.hpp"

namespace ricci::cuda {
namespace {

std::string num(std::int64_t x) { return std::to_string(x); }


constexpr std::int64_t most_between = 128;  // tiles

bool is_unit(const coefficient& c) { return c == coefficient{1, -1, {}} || c == coefficient{-1, -1, {}}; }

class writer {
 public:
  explicit writer(const elementwise_plan& p) : p_(p), pointers_(pointers_of(p)), scalars_(scalars_of(p)), elements_(elements_of(p)) {}

  std::string text() const {
    const std::string threads = num(p_.threads);
    std::string t = "#include \"functions.cuh\"\nstruct elementwise_args {\n  void* p[" + num(static_cast<std::int64_t>(pointers_.size())) + "];\n  i64 count;\n  double s[" +
                    num(std::max<std::int64_t>(1, static_cast<std::int64_t>(scalars_.size()))) + "][2];\n};\n";
    t += "extern \"C\" __global__ void __launch_bounds__(" + threads + ") elementwise(const __grid_constant__ elementwise_args args) {\n";
    t += "  using E = " + element_text(p_.op.c.type) + ";\n  using W = typename E::wide;\n  constexpr int each = " + num(divide_up(elements_, p_.threads)) + ";\n";
    t += "  const int thread = static_cast<int>(threadIdx.x);\n";
    if (p_.rooms > 0) t += "  extern __shared__ uint4 pool[];\n  W* const shared = reinterpret_cast<W*>(pool);\n";
    for (std::size_t n = 0; n < scalars_.size(); ++n) t += "  const W s" + num(static_cast<std::int64_t>(n)) + " = coefficient(static_cast<W*>(nullptr), args.s[" + num(static_cast<std::int64_t>(n)) + "]);\n";
    t += "#pragma unroll 1\n  for (i64 at = blockIdx.x; at < args.count; at += gridDim.x) {\n" + tile_text();
    if (reads_result()) t += read_text(p_.op.inputs.size(), "old");
    for (std::size_t n = 0; n < p_.op.inputs.size(); ++n)
      if (is_held(n)) t += read_text(n, value(n));
    t += sums_text() + each_element("if (" + there_text(as_result()) + ") " + element(p_.op.inputs.size()) + " = E::put(sum[r]);");
    return t + (p_.rooms > 0 ? "    __syncthreads();\n" : "") + "  }\n}\n";
  }

 private:
  static std::string value(std::size_t n) { return "v" + num(static_cast<std::int64_t>(n)); }
  static std::string base(std::size_t n) { return "b" + num(static_cast<std::int64_t>(n)); }
  static std::string index(std::size_t axis) { return "i" + num(static_cast<std::int64_t>(axis)); }

  bool reads_result() const { return chains::reads_result(p_.op.beta); }

  std::vector<std::size_t> as_result() const {
    std::vector<std::size_t> order;
    for (std::size_t n = 0; n < p_.axes.size(); ++n) order.push_back(n);
    return order;
  }

  /// Where the tile begins along every axis.
  std::string begin_text() const {
    const std::string integer = tiles_of(p_) < (std::int64_t{1} << 31) ? "u32" : "u64";
    std::string t = tiles_of(p_) > 1 ? "    " + integer + " rest = static_cast<" + integer + ">(at);\n" : "";
    const auto [x, y] = std::minmax(p_.swapped[0], p_.swapped[1]);
    std::int64_t before = 1;  // tiles between a tile and the one across
    bool begun = x < 0;
    for (int n = 0; n < static_cast<int>(p_.axes.size()); ++n) {
      const tile_axis& a = p_.axes[static_cast<std::size_t>(n)];
      const std::int64_t pieces = pieces_of(a);
      if (!begun && (n == x || before * pieces > most_between)) t += swapped_text(integer), begun = true;
      if (n == x || n == y) continue;
      t += "    const i64 first" + num(n) + " = " + (pieces > 1 ? "static_cast<i64>(rest % " + num(pieces) + ") * " + num(a.piece) : "0") + ";\n";
      if (pieces > 1) t += "    rest /= " + num(pieces) + ";\n";
      before *= pieces;
    }
    return t;
  }

  /// How much of the tile there is, and every tensor there.
  std::string tile_text() const {
    std::string t = begin_text();
    for (std::size_t n = 0; n < p_.axes.size(); ++n) {
      const tile_axis& a = p_.axes[n];
      const std::string name = num(static_cast<std::int64_t>(n));
      if (a.extent % a.piece != 0)
        t += "    const int there" + name + " = first" + name + " + " + num(a.piece) + " <= " + num(a.extent) + " ? " + num(a.piece) + " : static_cast<int>(" + num(a.extent) + " - first" + name + ");\n";
    }
    for (std::size_t n = 0; n <= p_.op.inputs.size(); ++n) {
      const bool result = n == p_.op.inputs.size();
      const operand& x = result ? p_.op.c : p_.op.inputs[n];
      const std::string type = result ? "typename E::type*" : "const typename E::type*";
      t += "    " + type + " const " + base(n) + " = static_cast<" + type + ">(args.p[" + num(pointer_of(x)) + "])";
      for (std::size_t d = 0; d < p_.axes.size(); ++d)
        if (const std::int64_t step = stride_of(x, p_.axes[d].label); step != 0 && p_.axes[d].extent > p_.axes[d].piece) t += " + first" + num(static_cast<std::int64_t>(d)) + " * " + num(step);
      t += ";\n";
    }
    return t;
  }

  /// Tiles (low, high) and (high, low), one after the other. Rows low and side - 1 - low together have side + 1 tiles on and beyond the
  /// diagonal; on it there is but one.
  std::string swapped_text(const std::string& integer) const {
    const auto [x, y] = std::minmax(p_.swapped[0], p_.swapped[1]);
    const tile_axis& a = p_.axes[static_cast<std::size_t>(x)];
    const std::int64_t pieces = pieces_of(a), side = pieces + pieces % 2;
    std::string t = "    const " + integer + " both = rest % " + num(side * (side + 1)) + ", row = both / 2 / " + num(side + 1) + ", col = both / 2 % " + num(side + 1) + ";\n";
    t += "    rest /= " + num(side * (side + 1)) + ";\n";
    t += "    const " + integer + " low = col > row ? row : " + num(side - 1) + " - row, high = col > row ? col - 1 : " + num(side - 1) + " - col;\n";
    t += "    if (" + std::string(side > pieces ? "high >= " + num(pieces) + " || " : "") + "(low == high && both % 2 == 1)) continue;\n";
    t += "    const i64 first" + num(x) + " = static_cast<i64>(both % 2 == 0 ? low : high) * " + num(a.piece) + ", first" + num(y) + " = static_cast<i64>(both % 2 == 0 ? high : low) * " + num(a.piece) + ";\n";
    return t;
  }

  /// Whether an input is read at the beginning.
  bool is_held(std::size_t input) const { return p_.turned[input].empty() && holds_all(p_); }

  int pointer_of(const operand& x) const {
    return static_cast<int>(std::find_if(pointers_.begin(), pointers_.end(), [&](const operand& y) { return chains::is_same_memory(x, y); }) - pointers_.begin());
  }

  /// Axes that the tile has several values of, as an index of elements in an order counts them.
  std::string digits_text(const std::vector<std::size_t>& order) const {
    std::string t;
    std::int64_t inside = 1, all = 1;
    for (const std::size_t n : order) all *= p_.axes[n].piece;
    for (const std::size_t n : order) {
      const std::int64_t piece = p_.axes[n].piece;
      if (piece == 1) continue;
      t += " const int " + index(n) + " = e" + (inside > 1 ? " / " + num(inside) : "") + (inside * piece < all ? " % " + num(piece) : "") + ";";
      inside *= piece;
    }
    return t;
  }

  std::int64_t count_of(const std::vector<std::size_t>& order) const {
    std::int64_t all = 1;
    for (const std::size_t n : order) all *= p_.axes[n].piece;
    return all;
  }

  /// Whether element e is in the tile, and the tile's is in the tensor.
  std::string there_text(const std::vector<std::size_t>& order) const {
    std::string t;
    if (const std::int64_t all = count_of(order); all % p_.threads != 0) t = "e < " + num(all);
    for (const std::size_t n : order)
      if (const tile_axis& a = p_.axes[n]; a.piece > 1 && a.extent % a.piece != 0) t += (t.empty() ? "" : " && ") + index(n) + " < there" + num(static_cast<std::int64_t>(n));
    return t.empty() ? "true" : t;
  }

  /// Where in a tile its element is, by strides along the axes.
  std::string offset_text(const std::vector<std::int64_t>& strides) const {
    std::int64_t most = 0;
    for (std::size_t n = 0; n < p_.axes.size(); ++n) most += (p_.axes[n].piece - 1) * std::abs(strides[n]);
    const bool is_long = most >= (std::int64_t{1} << 31);
    std::string sum;
    for (std::size_t n = 0; n < p_.axes.size(); ++n)
      if (strides[n] != 0 && p_.axes[n].piece > 1) sum += (sum.empty() ? "" : " + ") + (is_long ? "static_cast<i64>(" + index(n) + ")" : index(n)) + " * " + num(strides[n]);
    return sum.empty() ? "0" : sum;
  }

  /// An element of an input, or, after these, of the result.
  std::string element(std::size_t n) const {
    const operand& x = n == p_.op.inputs.size() ? p_.op.c : p_.op.inputs[n];
    std::vector<std::int64_t> strides;
    for (const tile_axis& a : p_.axes) strides.push_back(stride_of(x, a.label));
    return base(n) + "[" + offset_text(strides) + "]";
  }

  std::string get(std::size_t n) const {
    const bool conj = n < p_.op.inputs.size() && p_.op.inputs[n].conj;
    return (conj ? "conj_if<true>(E::get(" : "E::get(") + element(n) + (conj ? "))" : ")");
  }

  static std::string each_text(const std::string& rounds) { return "#pragma unroll\n    for (int r = 0; r < " + rounds + "; ++r) {"; }

  std::string number_text() const { return " const int e = thread + r * " + num(p_.threads) + ";"; }

  std::string read_text(std::size_t n, const std::string& name) const { return "    W " + name + "[each];\n" + each_element(name + "[r] = " + if_there(get(n)) + ";"); }

  std::string place_in_room(std::size_t input, std::int64_t room) const {
    return "shared[" + num(room * p_.room) + " + " + offset_text(p_.turned[input]) + "]";
  }

  /// The sums; tensors that are turned come as many at a time as have room, and every term as soon as it has all that it needs.
  std::string sums_text() const {
    std::vector<std::size_t> turned;
    for (std::size_t n = 0; n < p_.turned.size(); ++n)
      if (!p_.turned[n].empty()) turned.push_back(n);
    std::string t;
    std::vector<bool> there(p_.turned.size()), added(p_.op.terms.size());
    for (std::size_t n = 0; n < there.size(); ++n) there[n] = p_.turned[n].empty();
    bool begun = reads_result();
    t += "    W sum[each];\n";
    if (begun) t += each_element("sum[r] = " + negative_if(p_.op.beta, scaled(p_.op.beta, "old[r]")) + ";");
    for (std::size_t first = 0; first == 0 || first < turned.size(); first += static_cast<std::size_t>(std::max(1, p_.rooms))) {
      const std::size_t last = std::min(turned.size(), first + static_cast<std::size_t>(p_.rooms));
      if (first > 0) t += "    __syncthreads();\n";
      std::map<std::size_t, std::int64_t> rooms;
      for (std::size_t n = first; n < last; ++n) rooms[turned[n]] = static_cast<std::int64_t>(n - first), there[turned[n]] = true;
      for (const auto& [input, room] : rooms) t += stage_text(input, room);
      if (!rooms.empty()) t += "    __syncthreads();\n";
      for (std::size_t n = 0; n < added.size(); ++n) {
        const pointwise_term& x = p_.op.terms[n];
        if (added[n] || !std::all_of(x.factors.begin(), x.factors.end(), [&](const auto& f) { return there[static_cast<std::size_t>(f.first)]; })) continue;
        t += term_text(x, rooms, begun);
        added[n] = begun = true;
      }
      for (const auto& [input, room] : rooms)
        if (is_needed(input, added)) t += "    W " + value(input) + "[each];\n" + each_element(value(input) + "[r] = " + if_there(place_in_room(input, room)) + ";");
    }
    return begun ? t : t + each_element("sum[r] = zero_of(static_cast<W*>(nullptr));");
  }

  /// By a term that is not added yet.
  bool is_needed(std::size_t input, const std::vector<bool>& added) const {
    for (std::size_t n = 0; n < added.size(); ++n)
      for (const auto& f : p_.op.terms[n].factors)
        if (!added[n] && static_cast<std::size_t>(f.first) == input) return true;
    return false;
  }

  std::string stage_text(std::size_t input, std::int64_t room) const {
    const std::vector<std::size_t> order = nearest_axes(p_, p_.op.inputs[input]);
    const std::string rounds = num(divide_up(count_of(order), p_.threads)), head = each_text(rounds) + number_text() + digits_text(order) + "\n      if (" + there_text(order) + ") ";
    return "    {\n    W asked[" + rounds + "];\n" + head + "asked[r] = " + get(input) + ";\n    }\n" + head + place_in_room(input, room) + " = asked[r];\n    }\n    }\n";
  }

  std::string scaled(const coefficient& c, const std::string& x) const {
    if (is_unit(c)) return x;
    return "product_of(s" + num(std::find(scalars_.begin(), scalars_.end(), c) - scalars_.begin()) + ", " + x + ")";
  }

  static std::string negative_if(const coefficient& c, const std::string& x) {
    return c == coefficient{-1, -1, {}} ? "difference_of(zero_of(static_cast<W*>(nullptr)), " + x + ")" : x;
  }

  /// Adds a term to the sums, or begins them with it.
  std::string term_text(const pointwise_term& t, const std::map<std::size_t, std::int64_t>& rooms, bool begun) const {
    std::string text;
    for (const auto& [input, f] : t.factors) {
      const auto n = static_cast<std::size_t>(input);
      const auto room = rooms.find(n);
      const std::string own = room != rooms.end() ? if_there(place_in_room(n, room->second)) : p_.turned[n].empty() && !is_held(n) ? if_there(get(n)) : value(n) + "[r]";
      const std::string x = function_text(f, own);
      if (text.empty()) text = x;
      else text = (t.how == combine::multiply ? "product_of(" : t.how == combine::minimum ? "smaller_of(" : "larger_of(") + text + ", " + x + ")";
    }
    text = scaled(t.alpha, text.empty() ? "one_of(static_cast<W*>(nullptr))" : text);
    if (!begun) return each_element("sum[r] = " + negative_if(t.alpha, text) + ";");
    return each_element(std::string("sum[r] = ") + (t.alpha == coefficient{-1, -1, {}} ? "difference_of" : "sum_of") + "(sum[r], " + text + ");");
  }

  /// A statement for each element r of a thread.
  std::string each_element(const std::string& statement) const { return each_text("each") + number_text() + digits_text(as_result()) + "\n      " + statement + "\n    }\n"; }

  std::string if_there(const std::string& x) const { return "(" + there_text(as_result()) + " ? " + x + " : zero_of(static_cast<W*>(nullptr)))"; }

  const elementwise_plan& p_;
  const std::vector<operand> pointers_;
  const std::vector<coefficient> scalars_;
  const std::int64_t elements_;
};

}  // namespace

std::vector<operand> pointers_of(const elementwise_plan& p) {
  std::vector<operand> all;
  for (const operand& x : p.op.inputs)
    if (!chains::is_same_memory(x, p.op.c) && std::none_of(all.begin(), all.end(), [&](const operand& y) { return chains::is_same_memory(x, y); })) all.push_back(x);
  all.push_back(p.op.c);
  return all;
}

std::vector<coefficient> scalars_of(const elementwise_plan& p) {
  std::vector<coefficient> all;
  const auto add = [&](const coefficient& c) {
    if (!is_unit(c) && std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
  };
  if (chains::reads_result(p.op.beta)) add(p.op.beta);
  for (const pointwise_term& t : p.op.terms) add(t.alpha);
  return all;
}

kernel_request request_of(const elementwise_plan& p) {
  const std::int64_t shared = p.rooms * p.room * static_cast<std::int64_t>(size_of(compute_type(p.op.c.type)));
  return {writer(p).text(), "elementwise", p.threads, static_cast<int>(shared)};
}

}  // namespace ricci::cuda
