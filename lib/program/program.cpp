// Text form and rules of a program.
#include <ricci/core/error.hpp>
#include <ricci/program/program.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace ricci {
namespace {

/// "e,i,j" of some axes.
std::string list(const program& p, const std::vector<reference_axis>& axes) {
  std::string text;
  for (const auto& axis : axes) text += (text.empty() ? "" : ",") + p.labels[axis.label].name;
  return text;
}

/// The looked-up axis stands where it stood, as far as constants before it are counted.
std::string subscripts(const program& p, const reference& r) {
  std::string text;
  std::size_t before = r.lookups.empty() ? r.axes.size() : std::min<std::size_t>(r.lookups[0].axis, r.axes.size());
  for (std::size_t d = 0; d <= r.axes.size(); ++d) {
    if (d == before && !r.lookups.empty())
      text += (text.empty() ? "" : ",") + r.lookups[0].name + "(" + list(p, r.lookups[0].axes) + ")";
    if (d < r.axes.size()) text += (text.empty() ? "" : ",") + p.labels[r.axes[d].label].name;
  }
  return text;
}

void write(std::string& out, const program& p, const reference& r) {
  static constexpr const char* functions[] = {"", "reciprocal(", "sqrt(", "rsqrt(", "abs(", "exp(", "?("};
  out += functions[static_cast<int>(r.apply)];
  if (r.conj) out += "conj(";
  if (r.parity != 0) out += r.parity > 0 ? "even(" : "odd(";
  out += r.name;
  if (!r.axes.empty() || !r.lookups.empty() || r.local >= 0) out += "(" + subscripts(p, r) + ")";
  if (r.parity != 0) out += ')';
  if (r.conj) out += ')';
  if (r.apply != function::identity) out += ')';
}

void write(std::string& out, const program& p, const statement& s) {
  write(out, p, s.left);
  out += s.op == update::assign ? " =" : s.op == update::add ? " +=" : " -=";
  for (std::size_t t = 0; t < s.terms.size(); ++t) {
    const product& term = s.terms[t];
    if (term.negate) out += " -";
    else if (t) out += " +";
    std::string sep = " ";
    if (term.scalar >= 0) out += sep + "s" + std::to_string(term.scalar), sep = " * ";
    const bool multiplies = term.how == combine::multiply;
    if (!multiplies) out += sep + (term.how == combine::minimum ? "min(" : "max("), sep = "";
    for (const reference& f : term.factors) out += sep, sep = multiplies ? " * " : ", ", write(out, p, f);
    if (!multiplies) out += ')';
    if (term.factors.empty() && term.scalar < 0) out += " 1";
  }
  if (s.terms.empty()) out += " 0";
}

[[noreturn]] void fail(errc code, const std::string& text) { throw error(code, text); }

/// Looks for two elements in one place: differences of indices, each times its stride, whose sum is 0. Where strides nest,
/// each beyond all that the smaller ones reach, there is nothing to try.
class shared_place {
 public:
  struct walked {
    std::string name;
    std::int64_t extent, stride;
  };

  /// Axes of extents above 1, by rising stride.
  explicit shared_place(const std::vector<walked>& axes) {
    for (const walked& axis : axes) {
      steps_.push_back({std::abs(axis.stride), axis.extent - 1, reach_});
      reach_ += (axis.extent - 1) * std::abs(axis.stride);
    }
  }

  /// One that is sure to be there; gave_up() says that there may be one.
  bool is_found() { return search(steps_.size(), 0, false); }
  bool gave_up() const { return tries_ == 0; }

 private:
  struct step {
    std::int64_t stride, most, below;  // below: what the steps before it reach
  };

  static std::int64_t floor_of(std::int64_t x, std::int64_t y) { return x / y - (x % y < 0); }

  /// Can the first `count` steps bring the sum to 0?
  bool search(std::size_t count, std::int64_t sum, bool differs) {
    if (count == 0) return differs && sum == 0;
    if (tries_ == 0 || --tries_ == 0) return false;
    const step& s = steps_[count - 1];
    if (s.stride == 0) return true;
    const std::int64_t last = std::min(s.most, floor_of(s.below - sum, s.stride));
    for (std::int64_t n = std::max(-s.most, -floor_of(s.below + sum, s.stride)); n <= last; ++n)
      if (search(count - 1, sum + n * s.stride, differs || n != 0)) return true;
    return false;
  }

  std::vector<step> steps_;
  std::int64_t reach_ = 0;
  int tries_ = 1 << 14;  // some 100 microseconds
};

/// Each element of the left side must be one place in memory, whatever entries a table has.
void check_writable(const program& p, const reference& left) {
  std::vector<shared_place::walked> axes;
  for (const auto& axis : left.axes) axes.push_back({"label " + p.labels[axis.label].name, p.labels[axis.label].extent, axis.stride});
  for (const lookup& x : left.lookups) axes.push_back({"the axis looked up by " + x.name, x.extent, x.stride});
  if (std::any_of(axes.begin(), axes.end(), [](const auto& x) { return x.extent == 0; })) return;  // there is no element
  std::erase_if(axes, [](const auto& x) { return x.extent == 1; });
  std::sort(axes.begin(), axes.end(),
            [](const auto& x, const auto& y) { return std::abs(x.stride) < std::abs(y.stride); });
  shared_place place(axes);
  const bool found = place.is_found();
  if (!found && !place.gave_up()) return;
  std::string strides;
  for (const auto& axis : axes) strides += (strides.empty() ? "" : ", ") + axis.name + " has stride " + std::to_string(axis.stride);
  fail(errc::bad_argument, "the left side " + left.name + (found ? " keeps" : " may keep") + " two elements in one place: " + strides);
}

/// With strides of 0 the labels of a tensor may count more elements than memory holds; costs and loops count in 64 bits.
void check_countable(const program& p, const reference& r) {
  const std::vector<int> labels = labels_of(r);
  const auto extent = [&](int l) { return p.labels[static_cast<std::size_t>(l)].extent; };
  if (std::any_of(labels.begin(), labels.end(), [&](int l) { return extent(l) == 0; })) return;
  std::int64_t count = 1;
  for (const int l : labels)
    if (__builtin_mul_overflow(count, extent(l), &count) || count > (std::int64_t{1} << 58))
      fail(errc::bad_extent, r.name + " has more elements than can be counted: label " + p.labels[static_cast<std::size_t>(l)].name + " of extent " +
                                 std::to_string(extent(l)) + " and the labels before it");
}

void check_reference(const program& p, const reference& r) {
  std::set<int> seen;
  for (const auto& axis : r.axes) {
    if (axis.label < 0 || axis.label >= static_cast<int>(p.labels.size()))
      fail(errc::bad_label, r.name + " uses a label that the program does not have");
    if (!seen.insert(axis.label).second)
      fail(errc::bad_label, "label " + p.labels[axis.label].name + " occurs twice in " + r.name);
  }
  if (r.local < 0 && (r.slot < 0 || r.slot >= p.slot_count)) fail(errc::bad_argument, r.name + " has no slot");
  if (r.local >= p.local_count) fail(errc::bad_argument, r.name + " is not a local of this program");
  if (r.lookups.size() > 1 || (r.local >= 0 && !r.lookups.empty()))
    fail(errc::bad_argument, "one axis of " + r.name + " at most is looked up, and none of a local");
  for (const lookup& x : r.lookups) {
    if (x.slot < 0 || x.slot >= p.slot_count) fail(errc::bad_argument, x.name + " has no slot");
    for (const auto& axis : x.axes)
      if (axis.label < 0 || axis.label >= static_cast<int>(p.labels.size()))
        fail(errc::bad_label, x.name + " uses a label that the program does not have");
  }
  check_countable(p, r);
}

/// Functions, minima and maxima are of real numbers; the latter of two factors.
void check_functions(const product& t, dtype type) {
  bool any = t.how != combine::multiply;
  if (any && (t.factors.size() != 2 || t.scalar >= 0)) fail(errc::bad_argument, "min and max take two tensors");
  for (const reference& f : t.factors) {
    if (f.apply >= function::none) fail(errc::bad_argument, "an unknown function of " + f.name);
    any = any || f.apply != function::identity;
  }
  if (any && is_complex(type)) fail(errc::bad_argument, "a function of complex elements");
}

void check_statement(const program& p, const statement& s) {
  check_reference(p, s.left);
  if (s.left.apply != function::identity) fail(errc::bad_argument, "a function on the left side " + s.left.name);
  if (!s.left.lookups.empty() && s.op == update::assign)
    fail(errc::bad_argument, "the looked-up left side " + s.left.name + " takes += or -=");
  for (const product& t : s.terms) {
    check_functions(t, s.left.type);
    for (const reference& f : t.factors) {
      check_reference(p, f);
      if (f.space != s.left.space)
        fail(errc::wrong_space, s.left.name + " and " + f.name + " live in different memories (host and gpu)");
      if (f.type != s.left.type)
        fail(errc::bad_argument, s.left.name + " holds " + name_of(s.left.type) + " but " + f.name + " holds " +
                                     name_of(f.type) + "; convert one of them first");
    }
  }
  if (s.left.local < 0) check_writable(p, s.left);
}

void check_locals(const program& p) {
  std::vector<bool> assigned(p.local_count, false);
  for (const statement& s : p.statements) {
    for (const product& t : s.terms)
      for (const reference& f : t.factors)
        if (f.local >= 0 && !assigned[f.local])
          fail(errc::bad_argument, "local " + f.name + " is read before it is assigned");
    if (s.left.local < 0) continue;
    if (s.op == update::assign && assigned[s.left.local])
      fail(errc::bad_argument, "local " + s.left.name + " is assigned twice");
    if (s.op != update::assign && !assigned[s.left.local])
      fail(errc::bad_argument, "local " + s.left.name + " is updated before it is assigned");
    assigned[s.left.local] = true;
  }
}

}  // namespace

std::string to_string(const program& p) {
  std::string out;
  for (const statement& s : p.statements) write(out, p, s), out += '\n';
  for (const label_info& l : p.labels) out += (&l == p.labels.data() ? "" : " ") + l.name + "=" + std::to_string(l.extent);
  return out + "\n";
}

bool has_lookups(const program& p) {
  for (const statement& s : p.statements) {
    if (!s.left.lookups.empty()) return true;
    for (const product& t : s.terms)
      for (const reference& f : t.factors)
        if (!f.lookups.empty()) return true;
  }
  return false;
}

std::vector<int> labels_of(const reference& r) {
  std::vector<int> labels;
  const auto add = [&](const std::vector<reference_axis>& axes) {
    for (const auto& axis : axes)
      if (std::find(labels.begin(), labels.end(), axis.label) == labels.end()) labels.push_back(axis.label);
  };
  add(r.axes);
  for (const lookup& x : r.lookups) add(x.axes);
  return labels;
}

void check(const program& p) {
  for (const label_info& l : p.labels)
    if (l.extent < 0) fail(errc::bad_extent, "label " + l.name + " has extent " + std::to_string(l.extent));
  for (const statement& s : p.statements) check_statement(p, s);
  check_locals(p);
}

}  // namespace ricci
