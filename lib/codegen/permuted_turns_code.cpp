// Writes copies that transpose matrices of a few registers, which are read whole and permuted: no element is read for itself.
#include <algorithm>
#include <optional>

#include "codegen/turns.hpp"
#include "codegen/vector_code.hpp"

namespace ricci::codegen {
namespace {

using namespace Xbyak::util;

constexpr std::int64_t most_sources = 4, first_index = 12, most_indices = 20, most_masks = 7;

/// A register that is written, and what it takes from at most four that are read: lane l is lane indices[p][l] % lanes of source
/// 2 p or 2 p + 1 in the list, whose lanes follow each other.
struct permuted {
  std::int64_t place = 0;  // bytes
  std::vector<int> sources;
  std::vector<std::vector<int>> indices;  // of each pair of sources
  int behind = 0;   // lanes that come from the second pair
  int stored = 0;   // lanes that may be written; all: no mask is needed
};

/// Some neighbouring matrices, their registers all at once.
struct permutation {
  std::int64_t matrices = 1, lanes = 8, unit = 8;  // unit: bytes of a lane
  std::int64_t sources = 0, last = 0;              // registers that are read; lanes of the last
  std::vector<permuted> out;
  int cost = 0;  // permutations
};

/// From element to element, in lanes: what comes to each lane of what is written, -1: nothing.
std::vector<std::int64_t> origins(const turn_request& r, std::int64_t matrices, std::int64_t parts) {
  const std::int64_t span = (matrices - 1) * r.to_loops[0] + (r.y - 1) * r.to_y + r.x;
  std::vector<std::int64_t> from(static_cast<std::size_t>(span * parts), -1);
  for (std::int64_t g = 0; g < matrices; ++g)
    for (std::int64_t y = 0; y < r.y; ++y)
      for (std::int64_t x = 0; x < r.x; ++x)
        for (std::int64_t p = 0; p < parts; ++p)
          from[static_cast<std::size_t>((g * r.to_loops[0] + y * r.to_y + x) * parts + p)] = (g * r.x * r.y + x * r.y + y) * parts + p;
  return from;
}

/// The register whose lanes come from these, the first at `first`; none if they are from too many registers.
std::optional<permuted> gathered(const std::vector<std::int64_t>& from, std::int64_t first, std::int64_t lanes) {
  permuted p;
  const auto at = [&](std::int64_t l) { return first + l < std::ssize(from) ? from[static_cast<std::size_t>(first + l)] : -1; };
  for (std::int64_t l = 0; l < lanes; ++l)
    if (at(l) >= 0) p.sources.push_back(static_cast<int>(at(l) / lanes));
  std::sort(p.sources.begin(), p.sources.end());
  p.sources.erase(std::unique(p.sources.begin(), p.sources.end()), p.sources.end());
  if (std::ssize(p.sources) > most_sources) return {};
  p.indices.resize((p.sources.size() + 1) / 2, std::vector<int>(static_cast<std::size_t>(lanes), 0));
  for (std::int64_t l = 0; l < lanes; ++l) {
    if (at(l) < 0) continue;
    const auto s = std::lower_bound(p.sources.begin(), p.sources.end(), static_cast<int>(at(l) / lanes)) - p.sources.begin();
    p.indices[static_cast<std::size_t>(s / 2)][static_cast<std::size_t>(l)] = static_cast<int>(s % 2 * lanes + at(l) % lanes);
    p.stored |= 1 << l;
    if (s >= 2) p.behind |= 1 << l;
  }
  return p;
}

std::optional<permutation> permutation_of(const turn_request& r, std::int64_t matrices) {
  permutation p;
  const std::int64_t parts = r.size == 16 ? 2 : 1;
  p.matrices = matrices, p.unit = r.size / parts, p.lanes = 64 / p.unit;
  const std::int64_t count = matrices * r.x * r.y * parts, all = (std::int64_t{1} << p.lanes) - 1;
  p.sources = (count + p.lanes - 1) / p.lanes, p.last = count - (p.sources - 1) * p.lanes;
  if (p.sources > most_sources) return {};
  const std::vector<std::int64_t> from = origins(r, matrices, parts);
  const std::int64_t own = ((matrices - 1) * r.to_loops[0] + r.y * r.to_y) * parts;  // lanes, with the gaps
  std::int64_t indices = 0, masks = p.last < p.lanes;
  for (std::int64_t at = 0; at < std::ssize(from); at += p.lanes) {
    std::optional<permuted> x = gathered(from, at, p.lanes);
    if (!x) return {};
    if (x->sources.empty()) continue;
    x->place = at * p.unit;
    if (r.scratch && at + p.lanes <= own) x->stored = static_cast<int>(all);
    indices += std::ssize(x->indices), masks += (x->behind != 0) + (x->stored != all);
    p.cost += static_cast<int>(std::max<std::int64_t>(1, std::ssize(x->sources) - 1));
    p.out.push_back(std::move(*x));
  }
  return indices > most_indices || masks > most_masks ? std::nullopt : std::optional(p);
}

class permuted_turns_code : public vector_code {
 public:
  permuted_turns_code(const turn_request& r, const permutation& whole, const std::optional<permutation>& rest)
      : vector_code(4096, target::avx512, whole.unit == 4), r_(r) {
    write_loops(whole, r.loops[0] / whole.matrices);
    if (rest) write_loops(*rest, 1);
    vzeroupper();
    ret();
    align(64);
    for (auto& [label, lanes] : constants_) {
      L(label);
      for (const int x : lanes) single() ? dd(static_cast<std::uint32_t>(x)) : dq(static_cast<std::uint64_t>(x));
    }
  }

 private:
  /// `times` groups of matrices, for every matrix of the outer loop.
  void write_loops(const permutation& p, std::int64_t times) {
    prepare(p);
    Xbyak::Label outer, inner;
    mov(r8, rsi);
    mov(r9, rdx);
    move(done_ * r_.from_loops[0], done_ * r_.to_loops[0]);
    done_ += times * p.matrices;
    mov(r11d, static_cast<std::uint32_t>(r_.loops[1]));
    L(outer);
    mov(r10d, static_cast<std::uint32_t>(times));
    align(16);
    L(inner);
    move_group(p);
    move(p.matrices * r_.from_loops[0], p.matrices * r_.to_loops[0]);
    dec(r10d);
    jnz(inner, T_NEAR);
    const std::int64_t back = times * p.matrices;
    move(r_.from_loops[1] - back * r_.from_loops[0], r_.to_loops[1] - back * r_.to_loops[0]);
    dec(r11d);
    jnz(outer, T_NEAR);
    mov(rsi, r8);
    mov(rdx, r9);
  }

  void move(std::int64_t from_elements, std::int64_t to_elements) {
    if (from_elements) Xbyak::CodeGenerator::add(rsi, static_cast<int>(from_elements * r_.size));
    if (to_elements) Xbyak::CodeGenerator::add(rdx, static_cast<int>(to_elements * r_.size));
  }

  /// Indices and masks to their registers.
  void prepare(const permutation& p) {
    int next = first_index, masks = 0;
    const std::int64_t all = (std::int64_t{1} << p.lanes) - 1;
    const auto mask = [&](std::int64_t lanes) {
      mov(eax, static_cast<std::uint32_t>(lanes));
      kmovw(Xbyak::Opmask(++masks), eax);
      return masks;
    };
    places_.clear();
    last_ = p.last < p.lanes ? mask((std::int64_t{1} << p.last) - 1) : 0;
    for (const permuted& x : p.out) {
      place at;
      at.index = next;
      for (const std::vector<int>& lanes : x.indices) {
        constants_.emplace_back(Xbyak::Label(), lanes);
        vmovups(Xbyak::Zmm(next++), ptr[rip + constants_.back().first]);
      }
      if (x.behind != 0) at.behind = mask(x.behind);
      if (x.stored != all) at.stored = mask(x.stored);
      places_.push_back(at);
    }
  }

  void move_group(const permutation& p) {
    using Xbyak::Zmm;
    for (int s = 0; s < p.sources; ++s) {
      const Zmm to(s);
      load(s + 1 == p.sources && last_ ? to | Xbyak::Opmask(last_) | Xbyak::util::T_z : to, ptr[rsi + 64 * s]);
    }
    for (std::size_t i = 0; i < p.out.size(); ++i) {
      const permuted& x = p.out[i];
      const Zmm y(4 + 2 * static_cast<int>(i % 4)), z(y.getIdx() + 1), index(places_[i].index), second(places_[i].index + 1);
      const auto source = [&](std::size_t s) { return Zmm(x.sources[s]); };
      if (x.sources.size() == 1) permute(y, index, source(0));
      else vmovaps(y, index), permute_two(y, source(0), source(1));
      if (x.sources.size() == 3) permute(y | Xbyak::Opmask(places_[i].behind), second, source(2));
      if (x.sources.size() == 4) {
        vmovaps(z, second), permute_two(z, source(2), source(3));
        const auto joined = y | Xbyak::Opmask(places_[i].behind);
        single() ? vmovaps(joined, z) : vmovapd(joined, z);
      }
      const Xbyak::Address to = ptr[rdx + static_cast<int>(x.place)];
      const Xbyak::Address where = places_[i].stored ? to | Xbyak::Opmask(places_[i].stored) : to;
      single() ? vmovups(where, y) : vmovupd(where, y);
    }
  }

  void load(const Xbyak::Zmm& to, const Xbyak::Address& from) { single() ? vmovups(to, from) : vmovupd(to, from); }
  void permute(const Xbyak::Zmm& to, const Xbyak::Zmm& index, const Xbyak::Zmm& from) { single() ? vpermps(to, index, from) : vpermpd(to, index, from); }
  void permute_two(const Xbyak::Zmm& to, const Xbyak::Zmm& from, const Xbyak::Zmm& more) { single() ? vpermi2ps(to, from, more) : vpermi2pd(to, from, more); }

  struct place {
    int index = 0, behind = 0, stored = 0;  // registers: the first index; masks, 0: none
  };

  const turn_request r_;
  std::vector<place> places_;
  std::vector<std::pair<Xbyak::Label, std::vector<int>>> constants_;
  std::int64_t done_ = 0;  // matrices
  int last_ = 0;           // the mask of the last register that is read; 0: it is whole
};

}  // namespace

std::shared_ptr<const kernel> make_permuted(const turn_request& r, double most) {
  const std::int64_t elements = r.x * r.y, parts = r.size == 16 ? 2 : 1, lanes = 64 * parts / r.size;
  if (r.from_x != r.y || r.to_y < r.x) return nullptr;
  const bool follow = r.from_loops[0] == elements && (r.scratch ? r.to_loops[0] == r.y * r.to_y : r.to_loops[0] >= r.y * r.to_y);  // what lies between matrices is others'
  const std::int64_t together = follow ? std::clamp<std::int64_t>(lanes / (elements * parts), 1, r.loops[0]) : 1;
  const std::optional<permutation> whole = permutation_of(r, together);
  if (!whole || whole->cost > most * static_cast<double>(together)) return nullptr;
  const std::int64_t rest = r.loops[0] % together;
  const std::optional<permutation> last = rest ? permutation_of(r, rest) : std::nullopt;
  if (rest && !last) return nullptr;
  return written<kernel, permuted_turns_code>(r, *whole, last);
}

}  // namespace ricci::codegen
