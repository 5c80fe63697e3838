// Fused programs as values: the bake-off operators, pointwise chains, gathers and scatters, batches of products.
#pragma once

#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "build_program.hpp"

namespace ricci::test {

struct fused_case {
  std::string name;
  std::unique_ptr<case_builder> c;
  int factors = 4;  // of the longest product, for the bound
};

/// Statements as they are written: "v(e,n,m,l) = B(t,n) B(s,m) B(r,l) q(e,t,s,r)", one reference after the other.
class program_writer {
 public:
  program_writer(dtype t, unsigned seed) : made(std::make_unique<case_builder>(t, seed)) {}

  void labels(const std::string& names, std::int64_t extent) {
    for (const char n : names) made->label(n, extent);
  }
  /// A tensor; every time it is read is a reference of its own.
  void tensor(const std::string& name, const std::string& labels, const std::string& order = "", std::int64_t gap = 1) {
    known_.push_back({name, made->tensor(name, labels, order, gap)});
  }
  reference& find(const std::string& name) {
    for (auto& [known, r] : known_)
      if (known == name) return r;
    throw std::runtime_error("no tensor " + name);
  }
  void positive(const std::string& name) {
    const reference& r = find(name);
    for (std::int64_t i = 0; i < made->sizes[static_cast<std::size_t>(r.slot)]; ++i) {
      const double x = get(made->type, made->pointers[static_cast<std::size_t>(r.slot)], i).real();
      put(made->type, made->pointers[static_cast<std::size_t>(r.slot)], i, 0.6 + 0.4 * x);
    }
  }
  /// Integers that tell which element of a vector: entry(n) for the n-th value of the labels.
  void table(const std::string& name, const std::string& labels, bool wide, const std::function<std::int64_t(std::int64_t)>& entry) {
    std::int64_t size = 1;
    for (const char l : labels) size *= made->p.labels[static_cast<std::size_t>(made->find(l))].extent;
    const auto bytes = static_cast<std::size_t>(size) * (wide ? 8 : 4);
    made->memory.push_back(std::make_unique<char[]>(bytes + 64));
    char* const at = made->memory.back().get();
    for (std::int64_t n = 0; n < size; ++n) {
      const std::int64_t x = entry(n);
      const auto narrow = static_cast<std::int32_t>(x);
      std::memcpy(at + n * (wide ? 8 : 4), wide ? static_cast<const void*>(&x) : &narrow, wide ? 8 : 4);
    }
    made->sizes.push_back(static_cast<std::int64_t>((bytes + size_of(made->type) - 1) / size_of(made->type)));
    made->pointers.push_back(at);
    tables_.push_back({name, {made->p.slot_count++, wide}});
  }

  /// "name(labels)": a tensor, or a local where there is no such tensor.
  reference operator()(const std::string& text) {
    const auto open = text.find('(');
    const std::string name = text.substr(0, open), labels = open == std::string::npos ? "" : text.substr(open + 1, text.size() - open - 2);
    for (auto& [known, r] : known_)
      if (known == name) return again(r, labels);
    std::size_t id = 0;
    while (id < locals_.size() && locals_[id] != name) ++id;
    if (id == locals_.size()) locals_.push_back(name);
    return made->local(name, static_cast<int>(id), labels);
  }
  /// name(table(labels)): a vector looked up.
  reference looked_up(const std::string& name, const std::string& table, const std::string& labels) {
    reference r = again(find(name), "");
    lookup x;
    for (const auto& [known, t] : tables_)
      if (known == table) x.slot = t.first, x.wide = t.second;
    x.stride = find(name).axes[0].stride, x.extent = extent_of(find(name).axes[0].label), x.name = table;
    std::int64_t step = 1;
    for (std::size_t d = labels.size(); d-- > 0;) {
      x.axes.insert(x.axes.begin(), {made->find(labels[d]), step});
      step *= extent_of(made->find(labels[d]));
    }
    r.lookups.push_back(x);
    return r;
  }

  reference apply(function f, const std::string& text) {
    reference r = (*this)(text);
    r.apply = f;
    return r;
  }
  static product times(std::vector<reference> factors, int scalar = -1, bool negate = false) { return {scalar, negate, std::move(factors)}; }
  /// Factors with spaces between them.
  product times(const std::string& factors, int scalar = -1, bool negate = false) {
    std::istringstream words(factors);
    std::vector<reference> all;
    for (std::string word; words >> word;) all.push_back((*this)(word));
    return {scalar, negate, std::move(all)};
  }
  void assign(const reference& left, std::vector<product> terms, update op = update::assign) { made->p.statements.push_back({left, op, std::move(terms)}); }
  void assign(const std::string& left, std::vector<product> terms, update op = update::assign) { assign((*this)(left), std::move(terms), op); }
  void assign(const std::string& left, const std::string& factors) { assign(left, std::vector<product>{times(factors)}); }

  std::unique_ptr<case_builder> made;

 private:
  std::int64_t extent_of(int label) const { return made->p.labels[static_cast<std::size_t>(label)].extent; }
  /// The same tensor under other labels, in a slot of its own.
  reference again(const reference& first, const std::string& labels) {
    reference r = first;
    r.memory = first.slot;
    r.slot = made->p.slot_count++;
    made->pointers.push_back(made->pointers[static_cast<std::size_t>(first.slot)]);
    r.axes.clear();
    for (std::size_t d = 0; d < labels.size(); ++d) r.axes.push_back({made->find(labels[d]), first.axes[d].stride});
    return r;
  }

  std::vector<std::pair<std::string, reference>> known_;
  std::vector<std::pair<std::string, std::pair<int, bool>>> tables_;
  std::vector<std::string> locals_;
};

/// declared: B is even, D is odd, and the program says so.
fused_case bk1(dtype t, int P, int Q, int elements, bool one_statement = false, bool declared = false);
fused_case bk3(dtype t, int P, int Q, int elements, int components = 1, bool declared = false);
fused_case bk5(dtype t, int P, int elements, bool declared = false);
fused_case gradient_of_corners(dtype t, int Q, int elements);

/// Every case that tests run; `large`: high degrees too.
std::vector<fused_case> fused_cases(bool large);

}  // namespace ricci::test
