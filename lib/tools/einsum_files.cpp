// einsum over arrays of files.
#include "tools/einsum_files.hpp"

#include <ricci/core/error.hpp>
#include <ricci/einsum/einsum.hpp>
#include <ricci/tensor/tensor.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>

#include "einsum/lower.hpp"
#include "gpu/executable.hpp"
#include "tools/convert.hpp"

namespace ricci::tools {
namespace {

/// As NumPy does it: the real and complex types first, then each integer beside what they gave.
npy_type promote_all(const std::vector<npy_array>& operands) {
  std::optional<npy_type> type;
  for (const bool integers : {false, true})
    for (const npy_array& x : operands)
      if (is_integer(x.type) == integers) type = type ? promote(*type, x.type) : x.type;
  return *type;
}

/// Nothing is summed or multiplied: every element of the result is one of the only operand's.
bool only_moves(const program& p) {
  const statement& s = p.statements[0];
  if (s.terms[0].factors.size() != 1) return false;
  const std::vector<int> left = labels_of(s.left), all = labels_of(s.terms[0].factors[0]);
  return std::all_of(all.begin(), all.end(), [&](int l) {
    return p.labels[static_cast<std::size_t>(l)].extent == 1 || std::find(left.begin(), left.end(), l) != left.end();
  });
}

/// What such a program leaves in its result, element by element as they are.
std::vector<std::byte> moved(const program& p, const npy_array& from, std::size_t count) {
  const auto size = static_cast<std::size_t>(from.type.bytes);
  std::vector<std::byte> to(count * size);
  if (to.empty()) return to;
  const std::vector<reference_axis>&left = p.statements[0].left.axes, &right = p.statements[0].terms[0].factors[0].axes;
  const auto walk = [&](const auto& self, std::size_t d, std::int64_t out, std::int64_t in) -> void {
    if (d == left.size()) {
      std::memcpy(to.data() + static_cast<std::size_t>(out) * size, from.data.data() + static_cast<std::size_t>(in) * size, size);
      return;
    }
    std::int64_t step = 0;
    for (const reference_axis& axis : right)
      if (axis.label == left[d].label) step += axis.stride;
    const std::int64_t extent = p.labels[static_cast<std::size_t>(left[d].label)].extent;
    for (std::int64_t n = 0; n < extent; ++n) self(self, d + 1, out + n * left[d].stride, in + n * step);
  };
  walk(walk, 0, 0, 0);
  return to;
}

/// Exact in doubles if no partial sum, in any order of contraction, can pass 2^53: a product of the largest absolute
/// values (at least 1 each) times the number of terms bounds them all.
void check_exact(const program& p, const std::vector<npy_array>& operands) {
  long double bound = 1;
  for (const npy_array& x : operands) bound *= largest(x);
  if (std::any_of(p.labels.begin(), p.labels.end(), [](const label_info& l) { return l.extent == 0; })) return;  // sums of nothing
  std::vector<bool> kept(p.labels.size(), false);
  for (const reference_axis& axis : p.statements[0].left.axes) kept[static_cast<std::size_t>(axis.label)] = true;
  for (std::size_t l = 0; l < p.labels.size(); ++l)
    if (!kept[l] && p.labels[l].extent > 1) bound *= static_cast<long double>(p.labels[l].extent);
  if (bound > 0x1p53L)
    throw error(errc::bad_argument,
                "the integers are too large to be summed exactly: the result may pass 2^53; say --dtype f64 to compute "
                "with rounding");
}

std::shared_ptr<const detail::prepared_einsum> prepare_on_gpu(const einsum_request& request,
                                                              std::span<const detail::array_info> infos) {
  auto lowered = detail::lower_einsum(detail::parse({request.subscripts}, infos.size()), infos, nullptr);
  auto made = std::make_shared<detail::prepared_einsum>();
  lowered.statement = cuda::placed_on_gpu(std::move(lowered.statement));
  if (std::find(lowered.extents.begin(), lowered.extents.end(), 0) == lowered.extents.end())
    made->plan = compile(lowered.statement, request.how);
  made->extents = std::move(lowered.extents);
  made->statement = std::move(lowered.statement);
  return made;
}

/// Copies the operands to the GPU, runs, and copies the result back.
void run_on_gpu(const detail::prepared_einsum& prepared, std::vector<std::byte>& result, std::span<const detail::array_info> infos) {
  if (!prepared.plan) return;
  std::vector<tensor<double, dynamic, gpu>> memory;
  const auto room = [&](std::size_t bytes) { return memory.emplace_back(static_cast<std::int64_t>(bytes / sizeof(double) + 1)).data(); };
  std::vector<detail::array_info> there;
  void* const out = room(result.size());
  for (const detail::array_info& x : infos) {
    const auto bytes = static_cast<std::size_t>(detail::element_count({x.extents.begin(), x.extents.end()}, size_of(x.type))) * size_of(x.type);
    there.push_back(x);
    there.back().data = room(bytes);
    detail::copy_memory(there.back().data, true, x.data, false, static_cast<std::int64_t>(bytes), 1);
  }
  detail::run_einsum(prepared, out, there);
  detail::copy_memory(result.data(), false, out, true, static_cast<std::int64_t>(result.size()), 1);
}

/// The answer where integers only move: none is converted. Nothing if there is more to do, or a plan to show.
std::optional<einsum_answer> move_integers(const einsum_request& request, const std::vector<npy_array>& operands, npy_type type) {
  if (!is_integer(type) || operands.size() != 1 || request.explain || request.on_gpu) return {};
  std::byte some{};
  const std::vector<std::int64_t> strides = operands[0].strides();
  const detail::array_info info{&some, compute_dtype(type), operands[0].extents, strides};
  const auto lowered = detail::lower_einsum(detail::parse({request.subscripts}, 1), {&info, 1}, nullptr);
  if (!only_moves(lowered.statement)) return {};
  einsum_answer answer;
  answer.result.extents = lowered.extents;
  answer.result.data = moved(lowered.statement, operands[0], static_cast<std::size_t>(detail::element_count(lowered.extents, size_of(info.type))));
  answer.result.type = type;
  return answer;
}

}  // namespace

einsum_answer einsum_arrays(const einsum_request& request, const std::vector<npy_array>& operands) {
  if (operands.empty()) throw error(errc::bad_argument, "einsum needs at least one array");
  const npy_type type = request.type ? file_type(*request.type) : promote_all(operands);
  const dtype computed = compute_dtype(type);
  if (std::optional<einsum_answer> answer = move_integers(request, operands, type)) return *std::move(answer);

  std::vector<std::vector<std::byte>> memory;
  std::vector<std::vector<std::int64_t>> strides;
  std::vector<detail::array_info> infos;
  std::byte none{};
  memory.reserve(operands.size()), strides.reserve(operands.size());
  for (const npy_array& x : operands) {
    const bool as_is = x.type == npy_type{file_type(computed)};
    memory.push_back(as_is ? std::vector<std::byte>() : convert(x, computed));
    strides.push_back(x.strides());
    const std::byte* const data = as_is ? x.data.data() : memory.back().data();
    infos.push_back({const_cast<std::byte*>(data ? data : &none), computed, x.extents, strides.back()});
  }
  const auto prepared = request.on_gpu ? prepare_on_gpu(request, infos)
                                       : detail::prepare_einsum({request.subscripts}, infos, nullptr, request.how);
  const bool moves = is_integer(type) && only_moves(prepared->statement);
  if (is_integer(type) && !moves) check_exact(prepared->statement, operands);

  einsum_answer answer;
  answer.result.extents = prepared->extents;
  const std::int64_t count = detail::element_count(prepared->extents, size_of(computed));
  answer.result.data.resize(static_cast<std::size_t>(count) * size_of(computed));
  if (moves) answer.result.data = moved(prepared->statement, operands[0], static_cast<std::size_t>(count));
  else if (request.on_gpu) run_on_gpu(*prepared, answer.result.data, infos);
  else detail::run_einsum(*prepared, answer.result.data.data(), infos);
  if (is_integer(type) && !moves) answer.result.data = to_integers(answer.result.data, type);
  answer.result.type = type;
  if (request.explain)
    answer.plan = prepared->plan ? describe(*prepared->plan) : "The result has no elements: nothing to do.\n";
  return answer;
}

program einsum_program(const std::string& subscripts, const std::vector<std::vector<std::int64_t>>& shapes, dtype type) {
  std::byte some{};
  std::vector<std::vector<std::int64_t>> strides;
  std::vector<detail::array_info> infos;
  strides.reserve(shapes.size());
  for (const auto& extents : shapes) {
    detail::element_count(extents, size_of(type));
    strides.push_back(detail::dense_strides(extents));
    infos.push_back({&some, type, extents, strides.back()});
  }
  const auto lowered = detail::lower_einsum(detail::parse({subscripts}, infos.size()), infos, nullptr);
  detail::element_count(lowered.extents, size_of(type));
  return lowered.statement;
}

dtype parse_dtype(const std::string& text) {
  static const std::pair<const char*, dtype> numpy_names[] = {
      {"f2", dtype::f16}, {"float16", dtype::f16}, {"f4", dtype::f32}, {"float32", dtype::f32}, {"f8", dtype::f64},
      {"float64", dtype::f64}, {"c8", dtype::c64}, {"complex64", dtype::c64}, {"c16", dtype::c128},
      {"complex128", dtype::c128}, {"bfloat16", dtype::bf16}};
  for (int t = 0; t < dtype_count; ++t)
    if (text == ricci::name_of(static_cast<dtype>(t))) return static_cast<dtype>(t);
  for (const auto& [name, type] : numpy_names)
    if (text == name) return type;
  throw error(errc::bad_argument, "'" + text + "' is not an element type; known are f32, f64, c64, c128, f16 and, without .npy files, bf16");
}

}  // namespace ricci::tools
