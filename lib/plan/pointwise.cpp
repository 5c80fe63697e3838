// Pointwise operations, gathers and scatters as steps.
#include <algorithm>
#include <cmath>
#include <map>

#include "plan/cost.hpp"
#include "plan/plan.hpp"

namespace ricci::planning {
namespace {

class straightener {
 public:
  straightener(work& w, int lane, const machine& m, const std::vector<int>& block)
      : w_(w), turned_(m.writes_kernels ? lane : -1), register_(m.vector_bytes / 8), block_(block) {}

  void run() {
    std::vector<pair_op> old;
    old.swap(w_.ops);
    for (const pair_op& op : old)
      for (const operand* x : {&op.a, &op.b})
        if (wants_lanes(op, *x)) ++readers_[place_of(*x, turned_)];
    for (std::size_t i = 0; i < old.size(); ++i) {
      pair_op& op = old[i];
      if (is_pointwise_product(op)) make_pointwise(op);
      if (op.what == action::pointwise) {
        pointwise(std::move(op));
      } else if (is_symmetric(op)) {
        const bool more = i + 1 < old.size() && is_symmetric(old[i + 1]) && old[i + 1].c == op.c;
        symmetric(std::move(op), more);
      } else {
        if (old.size() == 1) alone(std::move(op));
        else product(std::move(op));
      }
    }
  }

 private:
  std::int64_t extent(int label) const { return w_.source.labels[static_cast<std::size_t>(label)].extent; }

  double elements(const operand& x) const {
    double n = 1;
    for (int l : x.labels) n *= static_cast<double>(extent(l));
    return n;
  }

  /// lane -1: there is a single element.
  bool fits(const operand& x, const operand& c, int lane) const {
    const std::int64_t s = stride_of(x, lane);
    return compute_type(x.type) == x.type && (s == 1 || s == 0 || can_turn(x, c, lane));
  }

  /// Problems one after the other in x and side by side in c, their elements in the same order and without gaps. What c
  /// has beside them goes around.
  bool can_turn(const operand& x, const operand& c, int lane) const {
    if (lane != turned_ || lane < 0 || x.type != dtype::f64 || c.type != dtype::f64 || stride_of(c, lane) != 1) return false;
    if (extent(lane) % register_ != 0) return false;
    if (x.labels.size() < 2 || stride_of(x, lane) < 2) return false;
    return std::all_of(x.labels.begin(), x.labels.end(), [&](int l) {
      return l == lane || extent(l) == 1 || (contains(c.labels, l) && stride_of(c, l) == stride_of(x, l) * extent(lane));
    });
  }

  /// A product of two without a sum, one of which must be turned or comes from a pointwise operation.
  bool is_pointwise_product(const pair_op& op) const {
    if (op.what != action::contract || turned_ < 0 || is_complex(op.c.type)) return false;
    const auto fits_c = [&](const operand& x) {
      return x.where != operand::kind::one && std::is_permutation(x.labels.begin(), x.labels.end(), op.c.labels.begin(), op.c.labels.end()) &&
             fits(x, op.c, turned_);
    };
    const auto is_near = [&](const operand& x) {
      return can_turn(x, op.c, turned_) || (x.where == operand::kind::temporary && std::find(made_.begin(), made_.end(), x.id) != made_.end());
    };
    return fits_c(op.a) && fits_c(op.b) && (is_near(op.a) || is_near(op.b));
  }

  /// A product with an even or odd matrix, whose kernel wants the lanes side by side in both tensors.
  bool is_symmetric(const pair_op& op) const {
    const auto wide = [](const operand& x) { return compute_type(x.type) == x.type && !is_complex(x.type); };
    return turned_ >= 0 && w_.shares && op.what == action::contract && (op.a.parity != 0 || op.b.parity != 0) && wide(op.a) && wide(op.b) &&
           wide(op.c) && stride_of(op.c, turned_) != 0;
  }

  /// Copies what the product reads to lie side by side; sums of several products that do not lie so are made aside.
  /// more: the next operation adds to the same result.
  void symmetric(pair_op op, bool more) {
    operand& x = op.a.parity != 0 ? op.b : op.a;
    if (x.where == operand::kind::external && stride_of(x, turned_) > 1) x = side_by_side(x, x, op.statement, turned_);
    const bool begins = is_zero(op.beta) && stride_of(op.c, turned_) != 1;
    if (begins && !sum_) sum_ = beside(op.c, op.c, turned_);
    const operand c = op.c;
    const int statement = op.statement;
    if (sum_) op.c = *sum_;
    w_.ops.push_back(std::move(op));
    if (!sum_ || more) return;
    copy(*sum_, c, {0, -1, {}}, statement);
    sum_.reset();
  }

  /// Where several products want a factor's lanes side by side, one copy serves them.
  void product(pair_op op) {
    for (operand* x : {&op.a, &op.b})
      if (wants_lanes(op, *x) && readers_[place_of(*x, turned_)] > 1) *x = side_by_side(*x, *x, op.statement, turned_);
    w_.ops.push_back(std::move(op));
  }

  /// The only product of a work: what does not lie side by side is copied.
  void alone(pair_op op) {
    const operand c = op.c;
    const coefficient beta = op.beta;
    const bool aside = turned_ >= 0 && w_.shares && op.what == action::contract && stride_of(c, turned_) > 1;
    if (aside) op.c = beside(c, c, turned_), op.beta = {0, -1, {}};
    const operand made = op.c;
    const int statement = op.statement;
    for (operand* x : {&op.a, &op.b})
      if (wants_lanes(op, *x)) *x = side_by_side(*x, *x, statement, turned_);
    w_.ops.push_back(std::move(op));
    if (aside) copy(made, c, beta, statement);
  }

  /// A factor whose lanes lie apart, of a product that would pack it.
  bool wants_lanes(const pair_op& op, const operand& x) const {
    return turned_ >= 0 && w_.shares && op.what == action::contract && x.where == operand::kind::external && x.memory >= 0 &&
           stride_of(x, turned_) > 1 && stride_of(op.c, turned_) == 1;
  }

  /// The lane label that needs the fewest elements copied.
  int lane_of(const pair_op& op) const {
    int best = -1;
    double least = 0;
    for (int l : op.c.labels) {
      if (extent(l) == 1) continue;
      double copied = stride_of(op.c, l) == 1 && compute_type(op.c.type) == op.c.type ? 0 : 2 * elements(op.c);
      for (const operand& x : op.inputs) copied += fits(x, op.c, l) ? 0 : elements(x);
      copied += 0.01 * elements(op.c) / static_cast<double>(extent(l));  // a longer row of lanes, if nothing else tells
      if (best < 0 || copied < least) best = l, least = copied;
    }
    return best;
  }

  /// A temporary with the labels of x, the lane innermost, the others in the order of `like`.
  operand beside(const operand& x, const operand& like, int lane) {
    std::vector<int> order;
    std::vector<std::size_t> by_stride(like.labels.size());
    for (std::size_t d = 0; d < by_stride.size(); ++d) by_stride[d] = d;
    std::stable_sort(by_stride.begin(), by_stride.end(), [&](std::size_t p, std::size_t q) { return like.strides[p] > like.strides[q]; });
    for (std::size_t d : by_stride)
      if (like.labels[d] != lane && contains(x.labels, like.labels[d])) order.push_back(like.labels[d]);
    for (int l : x.labels)
      if (l != lane && !contains(order, l)) order.push_back(l);
    if (contains(x.labels, lane)) order.push_back(lane);
    operand t;
    t.where = operand::kind::temporary;
    t.id = static_cast<int>(w_.temporaries.size());
    t.type = compute_type(x.type);
    t.name = "t" + std::to_string(t.id);
    t.labels = x.labels;
    t.strides.assign(x.labels.size(), 1);
    std::int64_t step = 1;
    for (std::size_t d = order.size(); d-- > 0;) {
      t.strides[static_cast<std::size_t>(std::find(x.labels.begin(), x.labels.end(), order[d]) - x.labels.begin())] = step;
      step *= extent(order[d]);
    }
    temporary made;
    made.type = t.type, made.labels = t.labels, made.size = step, made.from = temporary::origin::copy;
    w_.temporaries.push_back(made);
    return t;
  }

  void copy(const operand& from, const operand& to, const coefficient& beta, int statement) {
    operand one;
    one.type = compute_type(to.type);
    w_.ops.push_back({one, from, to, {1, -1, {}}, beta, statement});
  }

  /// What a copy of x for lanes holds, under whatever labels but those of blocks: each of these has its own place at a time.
  std::string place_of(const operand& x, int lane) const {
    std::string key = (x.conj ? "conj " : "") + std::to_string(x.memory);
    for (std::size_t d = 0; d < x.labels.size(); ++d) {
      const int l = x.labels[d];
      key += (l == lane ? ",lane " : ",") + std::to_string(extent(l)) + ":" + std::to_string(x.strides[d]);
      if (contains(block_, l)) key += "=" + std::to_string(l);
    }
    return key;
  }

  /// A copy of x with the lane innermost; one serves all that read the same.
  operand side_by_side(const operand& x, const operand& like, int statement, int lane) {
    const std::string key = place_of(x, lane);
    const bool shared = w_.shares && x.where == operand::kind::external && x.memory >= 0;
    if (const auto known = copies_.find(key); known != copies_.end() && shared) {
      operand t = known->second;
      t.labels = x.labels;
      return t;
    }
    const operand t = beside(x, like, lane);
    copy(x, t, {0, -1, {}}, statement);
    if (shared) copies_[key] = t;
    return t;
  }

  void pointwise(pair_op op) {
    const int lane = lane_of(op);  // -1: a single element
    const operand c = op.c;
    const coefficient beta = op.beta;
    const bool aside = (lane >= 0 && stride_of(c, lane) != 1) || compute_type(c.type) != c.type;
    if (aside) op.c = beside(c, c, lane), op.beta = {0, -1, {}};
    for (operand& x : op.inputs) {
      if (fits(x, op.c, lane)) continue;
      x = side_by_side(x, op.c, op.statement, lane);
    }
    if (op.c.where == operand::kind::temporary) made_.push_back(op.c.id);
    const operand target = op.c;
    const int statement = op.statement;
    w_.ops.push_back(std::move(op));
    if (aside) copy(target, c, beta, statement);
  }

  work& w_;
  const int turned_;  // the label that lies side by side in temporaries, where kernels turn what does not; -1: none
  const std::int64_t register_;  // doubles
  const std::vector<int>& block_;
  std::vector<int> made_;  // temporaries that pointwise operations make
  std::map<std::string, operand> copies_;
  std::map<std::string, int> readers_;  // products that want a tensor's lanes side by side, by place
  std::optional<operand> sum_;  // what several products add to before it is stored
};

void add_axes(plan_step& s, const std::vector<int>& labels, const std::vector<std::int64_t>& extents) {
  for (int l : labels) {
    const std::int64_t n = extents[static_cast<std::size_t>(l)];
    if (n == 1) continue;
    s.axes.push_back({l, n, n, stride_of(s.op.a, l), stride_of(s.op.b, l), stride_of(s.op.c, l), group::batch});
  }
}

}  // namespace

void make_pointwise(pair_op& op) {
  op.what = action::pointwise;
  pointwise_term& term = op.terms.emplace_back(pointwise_term{op.alpha, combine::multiply, {}});
  for (operand* x : {&op.a, &op.b}) {
    if (x->where == operand::kind::one) continue;
    term.factors.push_back({static_cast<int>(op.inputs.size()), function::identity});
    op.inputs.push_back(std::exchange(*x, {}));
    x->type = compute_type(op.c.type);
  }
  op.alpha = {1, -1, {}};
}

void straighten(work& w, int lane, const machine& m, const std::vector<int>& block) { straightener(w, lane, m, block).run(); }

bool divides(const pair_op& op) {
  const auto is_quotient = [](const auto& factor) { return factor.second == function::reciprocal || factor.second == function::rsqrt; };
  return std::any_of(op.terms.begin(), op.terms.end(), [&](const pointwise_term& t) { return std::any_of(t.factors.begin(), t.factors.end(), is_quotient); });
}

double pointwise_flops(const pair_op& op) {
  double flops = 0;
  for (const pointwise_term& t : op.terms) {
    flops += 1 + static_cast<double>(t.factors.size());
    for (const auto& [input, f] : t.factors) flops += f == function::identity ? 0 : 1;
  }
  return (flops - 1) * (is_complex(op.c.type) ? 4 : 1);
}

double pointwise_cycles(const pair_op& op) {
  double work = 1;
  for (const pointwise_term& t : op.terms)
    for (const auto& [input, f] : t.factors) work += f == function::identity ? 0.8 : f == function::exp ? 60 : f == function::abs ? 1.2 : 12;
  return work;
}

plan_step lower_other(const pair_op& op, const std::vector<std::int64_t>& extents, const machine& m) {
  plan_step s;
  s.op = op;
  const bool pointwise = op.what == action::pointwise;
  s.how = pointwise ? method::pointwise : op.what == action::gather ? method::gather : method::scatter;
  add_axes(s, pointwise || op.what == action::gather ? op.c.labels : op.b.labels, extents);
  double count = 1;
  for (const step_axis& x : s.axes) count *= static_cast<double>(x.extent);
  double cycles = 0;
  if (pointwise) {
    // The lane is the axis along which everything has stride 1 or 0.
    for (const step_axis& x : s.axes)
      if (x.c == 1) s.lane_label = x.label;
    double work = pointwise_cycles(op);
    s.flops = count * pointwise_flops(op);
    double products_cycles = 0;
    for (const fibre_product* x : {&op.before, &op.after}) {
      if (x->at < 0) continue;
      const double Q = static_cast<double>(extents[static_cast<std::size_t>(x->row)]), N = static_cast<double>(extents[static_cast<std::size_t>(x->own)]);
      const double products = x == &op.before ? std::ceil(Q / 2) * N : std::ceil(N / 2) * Q, fibres = count / Q;
      s.flops += fibres * (2 * products + N + Q);
      products_cycles += fibres / (m.vector_bytes / static_cast<double>(size_of(op.c.type))) * (products + N + Q) / 2;
    }
    for (const operand& x : op.inputs) {
      if (s.lane_label >= 0 && stride_of(x, s.lane_label) > 1) work += 0.8;  // problems one after the other are turned
      if (x.where == operand::kind::one) work -= 0.8;                         // in a register
    }
    cycles = count / (m.vector_bytes / static_cast<double>(size_of(op.c.type))) * work + products_cycles + other_call_cycles;
  } else {
    cycles = count * (op.what == action::gather ? 1.5 : 2.5) + other_call_cycles;
    s.flops = op.what == action::gather ? 0 : count;
    std::stable_sort(s.axes.begin(), s.axes.end(), [&](const step_axis& x, const step_axis& y) {
      return op.what == action::gather ? std::abs(x.c) > std::abs(y.c) : std::abs(x.b) > std::abs(y.b);
    });
  }
  s.seconds = cycles / cycles_per_second(m);
  return s;
}

namespace {

constexpr std::int64_t least_run = 16;  // elements: shorter ones take as long as whole groups row by row; measured

/// What turning groups of neighbours takes in units of whole groups: the last one may not be full.
double turned_share(const plan_step& s, double width) {
  const bool reads = stride_of(s.op.c, s.op.turned) == 1;  // b is turned
  std::int64_t near = 1, far = 0;
  for (bool grown = true; grown;) {
    grown = false;
    for (const step_axis& x : s.axes) {
      const std::int64_t here = reads ? x.b : x.c, there = reads ? x.c : x.b;
      if (x.role != group::batch || x.label == s.lane_label || x.extent == 1 || here != near || (far != 0 && there != far * near)) continue;
      if (far == 0) far = there;
      near *= x.extent, grown = true;
    }
  }
  if (near == 1) return 1;  // fibres one after the other
  if (static_cast<double>(near) <= width)  // their rows may be one run of memory, whole groups but for its end
    for (const step_axis& x : s.axes)
      if (x.role == (reads ? group::k : group::m) && (reads ? x.b : x.c) == near && near * x.extent > least_run) {
        near *= x.extent;
        break;
      }
  const auto n = static_cast<double>(near), rest = std::fmod(n, width);
  const double groups = rest == 0 ? 1 : (n - rest + (rest == 1 ? 0.4 : 1) * width) / n;
  return reads ? groups : 1.25 * groups;  // many rows are written at once; measured
}

}  // namespace

bool try_halves(const pair_op& given, const std::vector<std::int64_t>& extents, const machine& m, plan_step& best) {
  pair_op op = given;
  if (op.a.parity == 0) std::swap(op.a, op.b);
  const auto wide = [](const operand& x) { return compute_type(x.type) == x.type && !is_complex(x.type); };
  if (op.a.parity == 0 || op.cut_label >= 0 || op.a.labels.size() != 2 || op.b.where == operand::kind::one) return false;
  if (!wide(op.a) || !wide(op.b) || !wide(op.c)) return false;
  int q = -1, n = -1;
  for (int l : op.a.labels) {
    const bool in_b = contains(op.b.labels, l), in_c = contains(op.c.labels, l);
    if (in_c && !in_b) q = l;
    if (in_b && !in_c) n = l;
  }
  if (q < 0 || n < 0 || extents[static_cast<std::size_t>(n)] > kernels::max_halves || extents[static_cast<std::size_t>(q)] > kernels::max_halves) return false;
  plan_step s;
  s.op = op;
  s.how = method::halves;
  s.lane_label = -1;
  double fibres = 1;
  for (int l : op.c.labels) {
    if (l == q || extents[static_cast<std::size_t>(l)] == 1) continue;
    if (!contains(op.b.labels, l)) return false;
    fibres *= static_cast<double>(extents[static_cast<std::size_t>(l)]);
    if (op.turned < 0 ? stride_of(op.b, l) == 1 && stride_of(op.c, l) == 1 : l == op.turned) s.lane_label = l;
  }
  for (int l : op.b.labels)
    if (l != n && !contains(op.c.labels, l)) return false;
  add_axes(s, op.c.labels, extents);
  add_axes(s, {n}, extents);
  if (s.lane_label < 0 || s.axes.size() > kernels::max_loops) return false;
  for (step_axis& x : s.axes) x.role = x.label == q ? group::m : x.label == n ? group::k : group::batch;
  std::stable_sort(s.axes.begin(), s.axes.end(), [](const step_axis& x, const step_axis& y) { return std::abs(x.c) > std::abs(y.c); });
  const double width = m.vector_bytes / static_cast<double>(size_of(op.c.type));
  const double Q = static_cast<double>(extents[static_cast<std::size_t>(q)]), N = static_cast<double>(extents[static_cast<std::size_t>(n)]);
  const double lane = static_cast<double>(extents[static_cast<std::size_t>(s.lane_label)]);
  const double vectors = fibres / lane * std::ceil(lane / width);
  const double products = std::ceil(Q / 2) * N, additions = N + Q;
  const bool written = m.writes_kernels && std::fmod(lane, width) == 0 && Q > 1 && N > 1;
  const double of_vector = written ? std::max({(products + additions) / 2, (products + N) / 2, Q}) + 2
                                   : std::max(products + additions, products + N + 2 * Q) / 2 + 5;
  double cycles = vectors * of_vector + (written ? halves_call_cycles : Q * N * 2 + 40);
  if (op.turned >= 0) cycles += 2 * vectors * turned_share(s, width) * (stride_of(op.b, op.turned) == 1 ? Q : N);
  s.flops = fibres * (2 * products + additions);
  s.seconds = cycles / cycles_per_second(m);
  if (s.seconds >= best.seconds) return false;
  s.rejected = best.rejected;
  best = std::move(s);
  return true;
}

}  // namespace ricci::planning
