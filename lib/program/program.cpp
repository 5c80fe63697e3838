// Text form and rules of a program.
#include <ricci/core/error.hpp>
#include <ricci/program/program.hpp>

#include <algorithm>
#include <set>

namespace ricci {
namespace {

void write(std::string& out, const program& p, const reference& r) {
  if (r.conj) out += "conj(";
  out += r.name;
  if (!r.axes.empty() || r.local >= 0) {
    out += '(';
    for (std::size_t d = 0; d < r.axes.size(); ++d) {
      if (d) out += ',';
      out += p.labels[r.axes[d].label].name;
    }
    out += ')';
  }
  if (r.conj) out += ')';
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
    for (const reference& f : term.factors) out += sep, sep = " * ", write(out, p, f);
    if (term.factors.empty() && term.scalar < 0) out += " 1";
  }
  if (s.terms.empty()) out += " 0";
}

[[noreturn]] void fail(errc code, const std::string& text) { throw error(code, text); }

/// Each element of the left side must be one place in memory.
void check_writable(const program& p, const reference& left) {
  std::vector<reference_axis> axes;
  for (const auto& axis : left.axes) {
    if (p.labels[axis.label].extent == 0) return;  // there is no element
    if (p.labels[axis.label].extent > 1) axes.push_back(axis);
  }
  std::sort(axes.begin(), axes.end(),
            [](const auto& x, const auto& y) { return std::abs(x.stride) < std::abs(y.stride); });
  std::int64_t reach = 0;
  for (const auto& axis : axes) {
    if (std::abs(axis.stride) <= reach)
      fail(errc::bad_argument, "the left side " + left.name + " keeps two elements in one place: label " +
                                   p.labels[axis.label].name + " has stride " + std::to_string(axis.stride));
    reach += (p.labels[axis.label].extent - 1) * std::abs(axis.stride);
  }
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
}

void check_statement(const program& p, const statement& s) {
  check_reference(p, s.left);
  std::set<int> right;
  for (const product& t : s.terms) {
    std::set<int> here;
    for (const reference& f : t.factors) {
      check_reference(p, f);
      if (f.space != s.left.space)
        fail(errc::wrong_space, s.left.name + " and " + f.name + " live in different memories (host and gpu)");
      if (f.type != s.left.type)
        fail(errc::bad_argument, s.left.name + " holds " + name_of(s.left.type) + " but " + f.name + " holds " +
                                     name_of(f.type) + "; convert one of them first");
      for (const auto& axis : f.axes) here.insert(axis.label);
    }
    right.insert(here.begin(), here.end());
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

void check(const program& p) {
  for (const label_info& l : p.labels)
    if (l.extent < 0) fail(errc::bad_extent, "label " + l.name + " has extent " + std::to_string(l.extent));
  for (const statement& s : p.statements) check_statement(p, s);
  check_locals(p);
}

}  // namespace ricci
