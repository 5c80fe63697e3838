// Random fused programs: locals under any labels, tensors that are read and written, functions, gathers and scatters, even
// and odd matrices; and what the reference allows of their results.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "random_program.hpp"

namespace ricci::test {

constexpr char looked_up = 'z';  // the label of a vector's axis that a table finds, and of nothing else

/// One program and its memory. Labels are letters, 'a' the elements; several have the same extent.
class random_fused {
 public:
  explicit random_fused(unsigned seed) : d{std::mt19937(seed)}, c(any_type(d), seed) {
    const bool real = !is_complex(c.type);
    functions_ = real && d.chance(35), lookups_ = d.chance(30), aliases_ = d.chance(25);
    parities_ = (c.type == dtype::f64 || c.type == dtype::f32) && d.chance(35);
    repeats_ = !parities_ && d.chance(35);  // |x| x over all of an odd matrix is zero, and what rounding leaves of it has no bound
    const int extents[] = {d.chance(4) ? 0 : d(2, 8), d(2, 8), d.chance(8) ? 1 : d(9, 17)};
    c.label('a', d.chance(30) ? d(80, 300) : d(4, 40)), c.label(looked_up, d(3, 12));
    for (char l = 'b', last = static_cast<char>('b' + d(2, 5)); l < last; ++l) c.label(l, extents[d(0, 2)]), letters_ += l;
    for (int s = 0, count = d(2, 5); s < count; ++s) add(s + 1 < count);
    relate();
  }

  dice d;
  case_builder c;

 private:
  std::int64_t extent(char l) const { return c.p.labels[static_cast<std::size_t>(c.find(l))].extent; }

  /// Letters of this statement; few enough that all of them nested are quickly done.
  std::string some_letters() {
    std::string all = "a";
    double volume = static_cast<double>(extent('a'));
    for (char l : shuffled(letters_, d)) {
      volume *= static_cast<double>(std::max<std::int64_t>(extent(l), 1));
      if (volume > 15000) break;
      all += l;
    }
    return all;
  }

  /// Letters of these extents, each once; empty (and not `fits`) if there are none.
  std::string letters_for(const std::vector<std::int64_t>& extents, const std::string& all, bool& fits) {
    std::string out;
    for (std::int64_t n : extents) {
      std::string may;
      for (char l : all)
        if (extent(l) == n && out.find(l) == std::string::npos) may += l;
      fits = fits && !may.empty();
      if (!fits) return "";
      out += may[0] == 'a' ? 'a' : may[static_cast<std::size_t>(d(0, static_cast<int>(may.size()) - 1))];
    }
    return out;
  }

  struct past {
    product t;
    std::string left, all;  // letters of its statement
  };

  struct known {
    reference r;
    std::vector<std::int64_t> extents;
    bool positive = false;
  };

  known fresh(const std::string& labels, bool positive = false) {
    known x{c.tensor(std::string(1, static_cast<char>('A' + tensors_.size() % 26)), labels, d.chance(40) ? shuffled(labels, d) : "", d.chance(88) ? 1 : 2), {}, positive};
    x.r.memory = x.r.slot;
    for (char l : labels) x.extents.push_back(extent(l));
    if (positive)
      for (std::int64_t n = 0; n < c.sizes.back(); ++n) put(c.type, c.pointers.back(), n, 1 + 0.5 * get(c.type, c.pointers.back(), n).real());
    else if (parities_ && labels.size() == 2) make_symmetric(x.r, x.extents);
    return x;
  }

  void make_symmetric(reference& r, const std::vector<std::int64_t>& n) {
    r.parity = d.chance(50) ? 1 : -1;
    for (std::int64_t y = 0; y < n[0]; ++y)
      for (std::int64_t x = 0; x < n[1]; ++x) {
        const std::int64_t at = y * r.axes[0].stride + x * r.axes[1].stride;
        const std::int64_t mirror = (n[0] - 1 - y) * r.axes[0].stride + (n[1] - 1 - x) * r.axes[1].stride;
        put(c.type, c.pointers.back(), mirror, at == mirror && r.parity < 0 ? 0.0 : get(c.type, c.pointers.back(), at) * static_cast<double>(r.parity));
      }
  }

  reference again(const known& x, const std::string& labels) {
    reference r = x.r;
    r.slot = c.p.slot_count++;
    c.pointers.push_back(c.pointers[static_cast<std::size_t>(x.r.slot)]);
    for (std::size_t n = 0; n < labels.size(); ++n) r.axes[n].label = c.find(labels[n]);
    return r;
  }

  /// u(table(labels), rest): the table in a slot behind the reference's.
  reference with_table(const std::string& labels, const std::string& rest) {
    reference r = fresh(rest + looked_up).r;
    r.parity = 0;
    lookup x;
    x.stride = r.axes.back().stride, x.extent = extent(looked_up), x.name = "dof", x.wide = d.chance(40);
    r.axes.pop_back();
    std::int64_t step = 1;
    const std::string order = d.chance(30) ? shuffled(labels, d) : labels;
    for (std::size_t n = order.size(); n-- > 0; step *= std::max<std::int64_t>(extent(order[n]), 1)) x.axes.push_back({c.find(order[n]), step});
    x.slot = x.memory = c.p.slot_count++;
    tables_.push_back(std::make_unique<std::int64_t[]>(static_cast<std::size_t>(step)));
    for (std::int64_t n = 0; n < step; ++n) {
      const int entry = d(0, static_cast<int>(x.extent) - 1);
      if (x.wide) tables_.back()[static_cast<std::size_t>(n)] = entry;
      else reinterpret_cast<std::int32_t*>(tables_.back().get())[n] = entry;
    }
    c.pointers.push_back(tables_.back().get());
    r.lookups.push_back(x);
    return r;
  }

  /// Something over some of the letters; `labels` gets those that it has.
  known factor(const std::string& all, std::string& labels) {
    bool fits = d.chance(60) && !locals_.empty();
    if (fits) {
      const known& x = locals_[static_cast<std::size_t>(d(0, static_cast<int>(locals_.size()) - 1))];
      labels = letters_for(x.extents, all, fits);
      if (fits) return {c.local(x.r.name, x.r.local, labels), x.extents, x.positive};
    }
    fits = d.chance(40) && !tensors_.empty();
    if (fits) {
      const known& x = tensors_[static_cast<std::size_t>(d(0, static_cast<int>(tensors_.size()) - 1))];
      labels = letters_for(x.extents, all, fits);
      if (fits) return {again(x, labels), x.extents, x.positive};
    }
    labels = subset(all, 50, d);
    if (lookups_ && d.chance(35) && !labels.empty()) return {with_table(labels, d.chance(30) ? labels.substr(0, 1) : ""), {}, false};
    tensors_.push_back(fresh(labels, functions_ && d.chance(50)));
    return tensors_.back();
  }

  product term(const std::string& all, const std::string& left, bool& positive) {
    product t;
    std::string have;
    if (functions_ && d.chance(12)) t.how = d.chance(50) ? combine::minimum : combine::maximum;
    for (int f = 0, count = t.how != combine::multiply ? 2 : d.chance(30) ? 1 : d(2, 4); f < count; ++f) {
      std::string labels;
      known x = factor(all, labels);
      if (functions_ && d.chance(35)) x.r.apply = static_cast<function>(x.positive ? d(1, 4) : 4), x.r.parity = 0;  // of any: abs
      x.r.conj = is_complex(c.type) && d.chance(20);
      have += labels, positive = positive && x.positive;
      t.factors.push_back(x.r);
    }
    std::string missing;
    for (char l : left)
      if (have.find(l) == std::string::npos) missing += l;
    if (!missing.empty()) t.how = combine::multiply, t.factors.push_back(fresh(missing, positive).r);
    t.negate = d.chance(15), positive = positive && !t.negate;
    if (t.how == combine::multiply && d.chance(25)) t.scalar = c.scalar(d(1, 16) / 8.0);
    return t;
  }

  /// A product that a statement had, on memory of the same tensors.
  product repeated(const product& t) {
    product again = t;
    for (reference& f : again.factors) {
      if (f.local >= 0) continue;
      c.pointers.push_back(c.pointers[static_cast<std::size_t>(f.slot)]);
      f.slot = c.p.slot_count++;
    }
    again.scalar = t.scalar >= 0 && d.chance(50) ? c.scalar(d(1, 16) / 8.0) : -1, again.negate = d.chance(15);
    return again;
  }

  void add(bool may_be_local) {
    std::string all = some_letters(), left = subset(all, 55, d);
    const past* const model = repeats_ && !products_.empty() && d.chance(70) ? &products_[static_cast<std::size_t>(d(0, static_cast<int>(products_.size()) - 1))] : nullptr;
    if (model) all = model->all, left = shuffled(model->left, d);
    const bool local = may_be_local && d.chance(55), scatters = !local && lookups_ && !left.empty() && d.chance(40);
    statement s;
    bool positive = true;
    const int count = d.chance(60) ? 1 : d(2, 3), at = model ? d(0, count - 1) : -1;
    for (int t = 0; t < count; ++t) {
      s.terms.push_back(t == at ? repeated(model->t) : term(all, left, positive));
      positive = positive && t != at;
    }
    for (const product& t : s.terms)
      if (std::all_of(t.factors.begin(), t.factors.end(), [](const reference& f) { return f.lookups.empty(); })) products_.push_back({t, left, all});
    if (local) {
      known x{c.local("t" + std::to_string(locals_.size()), static_cast<int>(locals_.size()), left), {}, positive};
      for (char l : left) x.extents.push_back(extent(l));
      s.left = x.r;
      locals_.push_back(x);
    } else {
      bool fits = aliases_ && !tensors_.empty() && !scatters;
      if (fits) {
        known& x = tensors_[static_cast<std::size_t>(d(0, static_cast<int>(tensors_.size()) - 1))];
        fits = x.r.parity == 0 && !x.positive && x.extents.size() == left.size() && letters_for(x.extents, left, fits).size() == left.size();
        if (fits) s.left = again(x, letters_for(x.extents, left, fits));
      }
      if (!fits) s.left = scatters ? with_table(left, "") : fresh(left).r;
      s.left.parity = 0;
      s.op = scatters ? update::add : static_cast<update>(std::max(0, d(-2, 2)));
    }
    c.p.statements.push_back(std::move(s));
  }

  /// What the front end says of memory that several references share.
  void relate() {
    std::vector<const reference*> all;
    for (const statement& s : c.p.statements) {
      all.push_back(&s.left);
      for (const product& t : s.terms)
        for (const reference& f : t.factors) all.push_back(&f);
    }
    const auto at = [&](const reference& r) { return c.pointers[static_cast<std::size_t>(r.slot)]; };
    for (const statement& s : c.p.statements)
      for (const reference* y : all) {
        if (s.left.local >= 0 || y->local >= 0 || y == &s.left || at(s.left) != at(*y)) continue;
        const bool same = s.left.lookups.empty() && s.left.axes == y->axes;
        c.p.overlaps.push_back({s.left.slot, y->slot, same ? overlap::kind::same : overlap::kind::may});
      }
  }

  bool functions_, lookups_, aliases_, parities_, repeats_;
  std::string letters_;
  std::vector<known> tensors_, locals_;
  std::vector<past> products_;
  std::vector<std::unique_ptr<std::int64_t[]>> tables_;
};

/// All tensors of a case, as bytes.
inline std::vector<std::string> snapshot(const case_builder& c) {
  std::vector<std::string> all;
  for (std::size_t m = 0; m < c.memory.size(); ++m) all.emplace_back(c.memory[m].get(), static_cast<std::size_t>(c.sizes[m]) * size_of(c.type));
  return all;
}

inline void put_back(case_builder& c, const std::vector<std::string>& all) {
  for (std::size_t m = 0; m < all.size(); ++m) std::copy(all[m].begin(), all[m].end(), c.memory[m].get());
}

/// The bound of every element that the program writes, in units of epsilon.
inline std::map<const char*, double> bounds_of(const case_builder& c, const std::vector<reference_result>& results) {
  std::map<const char*, double> bounds;
  for (std::size_t s = 0; s < results.size(); ++s) {
    const reference& left = c.p.statements[s].left;
    if (left.local >= 0) continue;
    const std::vector<int> labels = labels_of(left);
    std::vector<std::int64_t> index(c.p.labels.size(), 0);
    const auto offset = [&](const std::vector<reference_axis>& axes) {
      std::int64_t at = 0;
      for (const auto& axis : axes) at += index[static_cast<std::size_t>(axis.label)] * axis.stride;
      return at;
    };
    for (const long double magnitude : results[s].magnitude) {
      std::int64_t at = offset(left.axes);
      for (const lookup& x : left.lookups) {
        const std::int64_t n = offset(x.axes);
        const void* const table = c.pointers[static_cast<std::size_t>(x.slot)];
        at += x.stride * (x.wide ? static_cast<const std::int64_t*>(table)[n] : static_cast<const std::int32_t*>(table)[n]);
      }
      double& bound = bounds[static_cast<const char*>(c.pointers[static_cast<std::size_t>(left.slot)]) + at * static_cast<std::int64_t>(size_of(c.type))];
      bound = left.lookups.empty() ? std::max(bound, static_cast<double>(magnitude)) : bound + static_cast<double>(magnitude);
      for (std::size_t n = labels.size(); n-- > 0; index[static_cast<std::size_t>(labels[n])] = 0)
        if (++index[static_cast<std::size_t>(labels[n])] < c.p.labels[static_cast<std::size_t>(labels[n])].extent) break;
    }
  }
  return bounds;
}

/// What rounding may take away however small the numbers are: halves are stored in steps of 2^-24, five times at most as in
/// error_of(); what is below the least normal number of other types may count as zero.
inline double least_of(dtype t) {
  if (t == dtype::f16) return 5 * 0x1p-25;
  return epsilon_of(compute_type(t)) < 1e-10 ? std::numeric_limits<double>::min() : static_cast<double>(std::numeric_limits<float>::min());
}

/// The largest error in units of its bound; infinite if something else was written.
inline double error_of(const case_builder& c, const std::vector<std::string>& wanted, const std::map<const char*, double>& bounds) {
  const std::size_t size = size_of(c.type);
  const double eps = epsilon_of(compute_type(c.type)) * (is_complex(c.type) ? 3 : 1), stored = size == 2 ? epsilon_of(c.type) : 0;
  const double factors = longest(c.p) + static_cast<double>(c.p.statements.size());
  double worst = 0;
  for (std::size_t m = 0; m < wanted.size(); ++m)
    for (std::int64_t n = 0; n < c.sizes[m]; ++n) {
      const char* const at = c.memory[m].get() + n * static_cast<std::int64_t>(size);
      const auto bound = bounds.find(at);
      if (bound == bounds.end()) {
        if (std::memcmp(at, wanted[m].data() + n * static_cast<std::int64_t>(size), size) != 0) return 1e300;
        continue;
      }
      const double error = std::abs(get(c.type, at, 0) - get(c.type, wanted[m].data(), n));
      const double allowed = ((1.5 + factors) * eps + 5 * stored) * bound->second + least_of(c.type);
      worst = std::max(worst, std::isnan(error) ? 1e301 : error / allowed);
    }
  return worst;
}

/// What the reference says of a case, whose memory is left as it was. It asks for no numbers so large that sums of them lose
/// everything, or that halves cannot hold.
class fused_answer {
 public:
  explicit fused_answer(case_builder& c) : case_(c), before_(snapshot(c)) {
    const std::vector<reference_result> results = evaluate_all(c.p, c.bind());
    wanted_ = snapshot(c), bounds_ = bounds_of(c, results);
    const double largest = c.type == dtype::f16 ? 1000 : 1e9;
    tame_ = std::all_of(results.begin(), results.end(), [&](const reference_result& r) {
      return std::all_of(r.magnitude.begin(), r.magnitude.end(), [&](long double x) { return x < largest; });
    });
    restore();
  }
  bool is_tame() const { return tame_; }
  void restore() { put_back(case_, before_); }
  /// Of what stands in the case's memory, in units of its bound.
  double error() const { return error_of(case_, wanted_, bounds_); }

 private:
  case_builder& case_;
  std::vector<std::string> before_, wanted_;
  std::map<const char*, double> bounds_;
  bool tame_ = false;
};

}  // namespace ricci::test
