// Which small factors are multiplied with one another before they meet a large tensor.
#include "plan/multiplied.hpp"

#include <algorithm>
#include <numeric>

namespace ricci::planning {
namespace {

class finder {
 public:
  finder(const contraction_steps& steps, const contraction& of, const std::vector<std::int64_t>& extents, const multiplied_limits& limits)
      : steps_(steps), of_(of), extents_(extents), limits_(limits), labels_(of.factors), user_(of.factors.size() + steps.size(), -1) {
    std::vector<int> uses(extents.size(), 0);
    const auto count = [&](const std::vector<int>& labels, int n) {
      for (int l : labels) uses[static_cast<std::size_t>(l)] += n;
    };
    for (const auto& f : labels_) count(f, 1);
    count(of.result, 1);
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const auto [x, y] = steps[s];
      user_[index(x)] = user_[index(y)] = static_cast<int>(s);
      count(labels_[index(x)], -1), count(labels_[index(y)], -1);
      std::vector<int> kept = joined(labels_[index(x)], labels_[index(y)]);
      std::erase_if(kept, [&](int l) { return uses[static_cast<std::size_t>(l)] == 0; });
      count(kept, 1);
      labels_.push_back(std::move(kept));
    }
  }

  multiplied_order run() {
    for (std::size_t s = 0; s < steps_.size(); ++s)
      if (small_of(s) >= 0 && !is_inside(s)) take_run(s);
    return rewritten();
  }

 private:
  struct product {
    std::size_t first = 0, last = 0;  // the steps that it stands for
    int large = -1;
    std::vector<int> factors;
    int made = -1;
  };

  static std::size_t index(int x) { return static_cast<std::size_t>(x); }

  static std::vector<int> joined(std::vector<int> x, const std::vector<int>& y) {
    for (int l : y)
      if (!contains(x, l)) x.push_back(l);
    return x;
  }

  double size(const std::vector<int>& labels) const {
    double n = 1;
    for (int l : labels) n *= static_cast<double>(extents_[index(l)]);
    return n;
  }

  bool is_small(int x) const { return index(x) < of_.factors.size() && of_.small[index(x)] && size(labels_[index(x)]) <= limits_.most; }

  /// The small factor that a step multiplies something larger by, or -1.
  int small_of(std::size_t s) const {
    const auto [x, y] = steps_[s];
    if (is_small(x) == is_small(y)) {
      if (!is_small(x)) return -1;
      return size(labels_[index(x)]) < size(labels_[index(y)]) ? x : y;
    }
    return is_small(x) ? x : y;
  }
  int large_of(std::size_t s) const { return steps_[s].first == small_of(s) ? steps_[s].second : steps_[s].first; }
  int result_of(std::size_t s) const { return static_cast<int>(of_.factors.size() + s); }

  /// Whether the step goes on with what another one with a small factor gave.
  bool is_inside(std::size_t s) const {
    const int x = large_of(s) - static_cast<int>(of_.factors.size());
    return x >= 0 && small_of(index(x)) >= 0;
  }

  /// Labels of a product of factors: those that something else has.
  std::vector<int> kept(const std::vector<int>& group) const {
    std::vector<int> inside, outside = of_.result;
    for (std::size_t f = 0; f < of_.factors.size(); ++f) {
      auto& side = contains(group, static_cast<int>(f)) ? inside : outside;
      side = joined(side, of_.factors[f]);
    }
    std::erase_if(inside, [&](int l) { return !contains(outside, l); });
    return inside;
  }

  /// From step s on, all small factors that come one after the other: some of them would leave a chain as long as it was
  /// but for one product, which was never faster.
  void take_run(std::size_t s) {
    product p{s, s, large_of(s), {}, -1};
    double several = 0;
    for (int at = static_cast<int>(s); at >= 0 && small_of(index(at)) >= 0; at = user_[index(result_of(index(at)))]) {
      p.last = index(at);
      p.factors.push_back(small_of(p.last));
      several += size(joined(labels_[index(steps_[p.last].first)], labels_[index(steps_[p.last].second)]));
    }
    const std::vector<int> made = kept(p.factors);
    const std::vector<int>&large = labels_[index(p.large)], &result = labels_[index(result_of(p.last))];
    const double most = std::max(size(large), size(result));
    if (p.factors.size() < 2 || size(made) > limits_.most || limits_.least_uses * size(made) > most) return;
    if (size(joined(made, large)) <= limits_.most_madds * several) products_.push_back(std::move(p));
  }

  multiplied_order rewritten() {
    multiplied_order out;
    const auto add = [&](int x, int y) {
      out.steps.push_back({x, y});
      return static_cast<int>(of_.factors.size() + out.steps.size()) - 1;
    };
    for (product& p : products_) {
      p.made = p.factors[0];
      for (std::size_t f = 1; f < p.factors.size(); ++f) p.made = add(p.made, p.factors[f]), ++out.made;
    }
    std::vector<int> now(labels_.size(), -1);  // by what they were
    for (std::size_t f = 0; f < of_.factors.size(); ++f) now[f] = static_cast<int>(f);
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      const product* in = nullptr;
      for (const product& p : products_)
        if (contains(p.factors, small_of(s))) in = &p;
      if (!in) now[index(result_of(s))] = add(now[index(steps_[s].first)], now[index(steps_[s].second)]);
      else if (in->last == s) now[index(result_of(s))] = add(now[index(in->large)], in->made);
    }
    return out;
  }

  const contraction_steps& steps_;
  const contraction& of_;
  const std::vector<std::int64_t>& extents_;
  const multiplied_limits& limits_;
  std::vector<std::vector<int>> labels_;  // of factors and of what steps give
  std::vector<int> user_;                 // the step that takes it
  std::vector<product> products_;
};

/// Labels as the largest tensors have them, outermost first, then as locals do.
std::vector<int> order_of_labels(const work& w) {
  std::vector<const operand*> large;
  const auto size = [&](const operand* x) {
    double n = 1;
    for (int l : x->labels) n *= static_cast<double>(w.source.labels[static_cast<std::size_t>(l)].extent);
    return n;
  };
  for (const pair_op& op : w.ops)
    for_each_operand(op, [&](const operand& x) {
      if (x.where == operand::kind::external) large.push_back(&x);
    });
  std::stable_sort(large.begin(), large.end(), [&](const operand* x, const operand* y) { return size(x) > size(y); });
  std::vector<int> order;
  const auto add = [&](const std::vector<int>& labels) {
    for (int l : labels)
      if (!contains(order, l)) order.push_back(l);
  };
  for (const operand* x : large) {
    if (size(x) <= multiplied_limits{}.most) break;
    std::vector<std::size_t> axes(x->labels.size());
    std::iota(axes.begin(), axes.end(), 0);
    std::stable_sort(axes.begin(), axes.end(), [&](std::size_t p, std::size_t q) { return std::abs(x->strides[p]) > std::abs(x->strides[q]); });
    for (std::size_t d : axes) add({x->labels[d]});
  }
  for (const temporary& t : w.temporaries)
    if (t.from == temporary::origin::local) add(t.labels);
  std::vector<int> all(w.source.labels.size());
  std::iota(all.begin(), all.end(), 0);
  add(all);
  return order;
}

}  // namespace

void make_once(work& w, const std::vector<std::size_t>& which) {
  const std::vector<int> order = order_of_labels(w);
  std::vector<pair_op> first, rest;
  for (std::size_t i = 0; i < w.ops.size(); ++i)
    (std::find(which.begin(), which.end(), i) != which.end() ? first : rest).push_back(std::move(w.ops[i]));
  for (pair_op& maker : first)
    for (pair_op& taker : rest) {
      operand& c = maker.c;
      const auto is_c = [&](const operand& x) { return x.where == c.where && x.id == c.id; };
      if (!is_c(taker.a) && !is_c(taker.b)) continue;
      const auto rank = [&](int l) { return std::pair{contains(taker.c.labels, l), std::find(order.begin(), order.end(), l)}; };
      std::sort(c.labels.begin(), c.labels.end(), [&](int x, int y) { return rank(x) < rank(y); });
      (is_c(taker.a) ? taker.a : taker.b).labels = w.temporaries[static_cast<std::size_t>(c.id)].labels = c.labels;
    }
  w.once = first.size();
  w.ops = std::move(first);
  std::move(rest.begin(), rest.end(), std::back_inserter(w.ops));
  w.notes.push_back("small factors are multiplied with one another first");
}

multiplied_order multiplied_out(const contraction_steps& steps, const contraction& of, const std::vector<std::int64_t>& extents, const multiplied_limits& limits) {
  return finder(steps, of, extents, limits).run();
}

}  // namespace ricci::planning
