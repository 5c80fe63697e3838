// Copies between tensors that lie in different orders: the kernels of their tiles run on this CPU. What is only moved must arrive bit by
// bit, and nothing else may change.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "on_host.hpp"
#include "random_program.hpp"
#include "reduced.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

using extents = std::vector<std::pair<char, std::int64_t>>;

/// C(left) = A(labels), every stride multiplied by gap, axes of A behind so many elements.
struct copy {
  extents sizes;
  std::string from, left;
  std::int64_t longer = 0;  // the rows of both tensors are so many elements further apart than they have
  int begin_a = 0, begin_c = 0;
  bool dense = false;  // those of C are not
};

const std::vector<copy>& copies() {
  static const std::vector<copy> all = {
      {{{'a', 130}, {'b', 70}}, "ab", "ba"},
      {{{'a', 131}, {'b', 257}}, "ab", "ba"},
      {{{'a', 257}, {'b', 131}}, "ab", "ba", 1},
      {{{'a', 200}, {'b', 131}}, "ab", "ba", 3, 1, 0},
      {{{'a', 201}, {'b', 64}}, "ab", "ba", 2, 0, 1},
      {{{'a', 1500}, {'b', 3}}, "ab", "ba", 0, 1, 1},
      {{{'a', 501}, {'b', 9}}, "ab", "ba"},
      {{{'a', 7}, {'b', 101}, {'c', 7}}, "abc", "cba"},
      {{{'a', 9}, {'b', 95}, {'c', 5}}, "abc", "cba", 0, 1, 0},
      {{{'a', 2}, {'b', 520}, {'c', 4}}, "abc", "cba"},
      {{{'a', 33}, {'b', 12}, {'c', 35}}, "abc", "cba", 1, 0, 1},
      {{{'a', 3}, {'b', 141}, {'c', 143}}, "abc", "acb"},
      {{{'a', 11}, {'b', 13}, {'c', 71}}, "abc", "cab"},
      {{{'a', 9}, {'b', 11}, {'c', 8}, {'d', 13}}, "abcd", "dcba"},
      {{{'a', 3}, {'b', 33}, {'c', 5}, {'d', 31}}, "abcd", "adcb", 0, 1, 1},
      {{{'a', 5}, {'b', 6}, {'c', 93}, {'d', 21}}, "abcd", "badc"},
      {{{'a', 4}, {'b', 15}, {'c', 6}, {'d', 17}, {'e', 5}}, "abcde", "edcba"},
      {{{'a', 5}, {'b', 5}, {'c', 5}, {'d', 5}, {'e', 5}, {'f', 5}}, "abcdef", "fedcba"},
      {{{'a', 31}, {'b', 7}, {'c', 45}, {'d', 3}}, "abcd", "dbca", 2, 0, 0, true},  // short rows with gaps take much shared memory
      {{{'a', 24}, {'b', 2}, {'c', 46}, {'d', 5}, {'e', 2}}, "abcde", "aecdb", 1, 1, 1, true},
      {{{'a', 104}, {'b', 497}}, "ab", "ba", 0, 1, 1},  // an element more than whole tiles have
      {{{'a', 97}, {'b', 67}}, "ab", "ab", 32},         // rows that stay rows
      {{{'a', 9}, {'b', 5}, {'c', 131}}, "abc", "abc", 3, 1, 0},
  };
  return all;
}

/// A tensor of the case whose rows are `longer` than they have to be and that begins behind some elements of its memory.
reference tensor_of(case_builder& c, const char* name, const std::string& labels, std::int64_t longer, int begin) {
  reference r = c.tensor(name, labels);
  std::int64_t step = 1;
  for (std::size_t d = labels.size(); d-- > 0;) {
    r.axes[d].stride = step;
    step *= c.p.labels[static_cast<std::size_t>(c.find(labels[d]))].extent;
    if (d + 1 == labels.size()) step += longer;
  }
  const std::int64_t size = step + begin + 32;
  c.memory.back() = std::make_unique<char[]>(static_cast<std::size_t>(size) * size_of(c.type) + 64);
  c.sizes.back() = size;
  char* const data = c.memory.back().get();
  for (std::int64_t i = 0; i < size; ++i) put(c.type, data, i, {static_cast<double>((i * 7919 + begin) % 2003) / 1000 - 1, static_cast<double>((i * 7907 + begin) % 2011) / 1000 - 1});
  c.pointers.back() = data + (16 + begin) * static_cast<int>(size_of(c.type));
  return r;
}

std::unique_ptr<case_builder> case_of(const copy& x, dtype t, update op, bool scaled) {
  auto c = std::make_unique<case_builder>(t);
  for (const auto& [name, extent] : x.sizes) c->label(name, extent);
  statement s;
  s.left = tensor_of(*c, "C", x.left, x.dense ? 0 : x.longer, x.begin_c), s.op = op;
  s.terms.push_back({scaled ? c->scalar({0.75, is_complex(t) ? -0.5 : 0}) : -1, false, {tensor_of(*c, "A", x.from, x.longer, x.begin_a)}});
  s.terms[0].factors[0].conj = is_complex(t) && op != update::assign;
  c->p.statements.push_back(s);
  return c;
}

/// A GPU so small that there is work for all of it.
cuda::gpu_machine gpu_of(int multiprocessors) {
  cuda::gpu_machine m = cuda::described_h200();
  m.multiprocessors = multiprocessors;
  return m;
}

/// What C's memory must be after the move of bits: every element but those that are written as it was.
std::vector<char> moved(const case_builder& c) {
  const statement& s = c.p.statements[0];
  const reference& a = s.terms[0].factors[0];
  const auto size = static_cast<std::int64_t>(size_of(c.type));
  const char* const begin = c.memory[0].get();
  std::vector<char> out(begin, begin + c.sizes[0] * size);
  const std::int64_t skip = static_cast<const char*>(c.pointers[0]) - begin;
  const auto* const from = static_cast<const char*>(c.pointers[1]);
  std::vector<std::int64_t> at(s.left.axes.size(), 0);
  for (bool more = true; more;) {
    std::int64_t to = 0, place = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
      to += at[d] * s.left.axes[d].stride;
      for (const reference_axis& x : a.axes)
        if (x.label == s.left.axes[d].label) place += at[d] * x.stride;
    }
    std::memcpy(&out[static_cast<std::size_t>(skip + to * size)], from + place * size, static_cast<std::size_t>(size));
    more = false;
    for (std::size_t d = at.size(); d-- > 0 && !more;) {
      more = ++at[d] < c.p.labels[static_cast<std::size_t>(s.left.axes[d].label)].extent;
      if (!more) at[d] = 0;
    }
  }
  return out;
}

/// From the first to the last element.
std::int64_t span_of(const case_builder& c, const reference& r) {
  std::int64_t size = 1;
  for (const reference_axis& x : r.axes) size += (c.p.labels[static_cast<std::size_t>(x.label)].extent - 1) * x.stride;
  return size;
}

bool is_turned(const cuda::program_plan& p) {
  return p.launches.size() == 1 && !p.launches[0].tiles && !p.launches[0].chain && p.launches[0].step.kind == cuda::kernel_kind::permute && p.launches[0].step.turn.used();
}

/// Elements of 16 bits and others in turn.
dtype type_of(std::size_t n) {
  constexpr std::array<dtype, 8> all = {dtype::bf16, dtype::f32, dtype::f16, dtype::c64, dtype::bf16, dtype::f64, dtype::f16, dtype::f32};
  return all[n % all.size()];
}

/// Rows that stay rows are copied as such in more than 16 bits, and a few neighbours by other kernels.
bool is_turned_in_all(const copy& x) { return x.from != x.left && x.sizes.back().second > 4; }

void fill_bits(case_builder& c) {
  char* const bits = c.memory[1].get();
  for (std::int64_t i = 0; i < c.sizes[1] * static_cast<std::int64_t>(size_of(c.type)); i += 2) {
    const auto x = static_cast<std::uint16_t>(i / 2 * 40503 >> 3);  // NaNs among them
    std::memcpy(bits + i, &x, 2);
  }
}

}  // namespace

TEST_CASE("copies move bits as they are, whatever they mean, and touch nothing else") {
  std::vector<std::unique_ptr<case_builder>> cases;
  std::vector<cuda::program_plan> plans;
  host_gpu gpu;
  int stay = 0, earlier = 0, words = 0, lines = 0, again = 0;
  std::vector<copy> all = copies();  // each in 16 bits, and in more
  const std::size_t of_16_bits = all.size();
  std::copy_if(copies().begin(), copies().end(), std::back_inserter(all), is_turned_in_all);
  for (std::size_t n = 0; n < all.size(); ++n) {
    cases.push_back(case_of(all[n], type_of(2 * n + (n >= of_16_bits)), update::assign, false));
    fill_bits(*cases.back());
    plans.push_back(cuda::make_program_plan(cuda::placed_on_gpu(cases.back()->p), gpu_of(1), {}));
    INFO(cuda::to_string(plans.back(), cuda::described_h200()));
    REQUIRE(is_turned(plans.back()));
    const cuda::turn_config& c = plans.back().launches[0].step.turn;
    stay += c.stays, words += c.run_b.size() + c.run_c.size() > 2;
    lines += c.line > 0;
    for (const cuda::turned_axis& x : c.axes) earlier += x.more > 0, again += c.size > 2 && x.extent % x.piece != 0 && cuda::is_moved_again(x.extent, x.piece);
    gpu.add(plans.back());
  }
  const std::string failure = gpu.compile();
  INFO(failure);
  REQUIRE(failure.empty());
  for (std::size_t n = 0; n < cases.size(); ++n)
    for (const bool reverse : {false, true}) {
      case_builder& c = *cases[n];
      const std::vector<char> wanted = moved(c);
      char* const result = c.memory[0].get();
      const auto* const first = static_cast<const char*>(c.pointers[1]);
      gpu.watch(first, first + span_of(c, c.p.statements[0].terms[0].factors[0]) * static_cast<std::int64_t>(size_of(c.type)));
      gpu.run(plans[n], c.bind(), reverse);
      INFO("copy " << n << ", " << name_of(c.type) << ", " << all[n].from << " -> " << all[n].left << "\n" << cuda::to_string(plans[n], cuda::described_h200()));
      CHECK(std::memcmp(result, wanted.data(), wanted.size()) == 0);
      if (size_of(c.type) == 2) CHECK(gpu.words().all > 0);
      CHECK(gpu.words().beyond == 0);
      for (std::size_t i = 0; i < wanted.size(); ++i) result[i] = static_cast<char>(i * 31 >> 2);
    }
  CHECK(stay > 2);
  CHECK(earlier > 2);
  CHECK(words > 4);
  CHECK(lines > 2);
  CHECK(again > 2);
}

TEST_CASE("copies that are scaled or added") {
  std::vector<std::unique_ptr<case_builder>> cases;
  std::vector<cuda::program_plan> plans;
  for (std::size_t n = 0; n < copies().size(); ++n)
    for (const bool scaled : {false, true}) {
      cases.push_back(case_of(copies()[n], type_of(5 * n + scaled), scaled ? update::assign : n % 3 == 0 ? update::subtract : update::add, scaled || n % 4 == 1));
      plans.push_back(cuda::make_program_plan(cuda::placed_on_gpu(cases.back()->p), gpu_of(1), {}));
    }
  check_on_host(cases, plans, cuda::described_h200(), [](const program& p) { return longest(p); });
}

TEST_CASE("copies on the GPU") {
  if (!has_gpu()) return;
  const cuda::use_device use(cuda::current_device());
  std::vector<copy> all = copies();
  const std::size_t small = all.size();
  for (const copy& x : {copy{{{'a', 1001}, {'b', 1003}}, "ab", "ba"}, copy{{{'a', 1003}, {'b', 1024}}, "ab", "ba", 1, 1, 0}, copy{{{'a', 7}, {'b', 30001}, {'c', 7}}, "abc", "cba"}, copy{{{'a', 36}, {'b', 33}, {'c', 34}, {'d', 35}}, "abcd", "dcba", 0, 0, 1}}) all.push_back(x);
  for (std::size_t n = 0; n < all.size(); ++n)
    for (int way = 0; way < 6; ++way) {
      const bool plain = way < 3;
      const auto c = case_of(all[n], type_of(n + static_cast<std::size_t>(way)), plain || way == 3 ? update::assign : update::add, way == 3 || way == 5);
      cuda::gpu_machine machine = cuda::current_device().machine;
      if (n < small) machine.multiprocessors = 1;  // so that there is work for all of it
      cuda::program_plan plan = cuda::make_program_plan(cuda::placed_on_gpu(c->p), machine, {});
      INFO("copy " << n << ", way " << way << ", " << all[n].from << " -> " << all[n].left << "\n" << cuda::to_string(plan, machine));
      if (size_of(c->type) == 2 || (size_of(c->type) <= 8 && is_turned_in_all(all[n]))) REQUIRE(is_turned(plan));
      const cuda::executable run(std::move(plan));
      const auto expected = plain ? reference_result{} : evaluate(c->p, 0, c->bind());
      const std::vector<char> wanted = moved(*c);
      gpu_memory memory(*c, way);
      run.run(memory.bind(), nullptr);
      REQUIRE(memory.fetch());
      if (plain) REQUIRE(std::memcmp(c->memory[0].get(), wanted.data(), wanted.size()) == 0);
      else REQUIRE(error_in_bounds(c->p, 0, c->bind(), expected, 1) <= 1.0);
    }
}

TEST_CASE("what is no such copy is left to other kernels") {
  const auto turned = [](dtype t, const extents& sizes, const char* from, const char* left, std::int64_t negative = 1) {
    auto c = case_of({sizes, from, left}, t, update::assign, false);
    for (reference_axis& x : c->p.statements[0].terms[0].factors[0].axes)
      if (x.stride == 1) x.stride = negative;
    return is_turned(cuda::make_program_plan(cuda::placed_on_gpu(c->p), gpu_of(1), {}));
  };
  const extents plane = {{'a', 200}, {'b', 300}};
  CHECK(turned(dtype::f16, plane, "ab", "ba"));
  CHECK(turned(dtype::bf16, plane, "ab", "ba"));
  for (const dtype t : {dtype::f32, dtype::f64, dtype::c64}) CHECK(turned(t, plane, "ab", "ba"));
  CHECK(!turned(dtype::c128, plane, "ab", "ba"));
  CHECK(!turned(dtype::f32, {{'a', 20000}, {'b', 4}}, "ab", "ba"));             // a few neighbours
  CHECK(turned(dtype::f32, {{'e', 100}, {'a', 33}, {'b', 35}}, "eab", "eba"));  // rows that begin anywhere in a sector
  CHECK(!turned(dtype::f32, {{'e', 100}, {'a', 32}, {'b', 32}}, "eab", "eba"));
  CHECK(!turned(dtype::f16, plane, "ab", "ab"));
  CHECK(!turned(dtype::f16, plane, "ab", "ba", -1));
  CHECK(!turned(dtype::f16, plane, "ab", "ba", 2));
  CHECK(!turned(dtype::f16, {{'a', 0}, {'b', 300}}, "ab", "ba"));
  CHECK(!turned(dtype::f16, {{'a', 60}, {'b', 68}}, "ab", "ba"));  // too few
  CHECK(!turned(dtype::f16, {{'e', 100}, {'a', 9}, {'b', 9}}, "eab", "eba"));
}
