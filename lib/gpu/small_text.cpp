// The text that specialises kernels/small.cuh.
#include "gpu/small_image.hpp"

namespace ricci::cuda {
namespace {

/// Offsets of word u: digits over the axes, the smallest stride fastest; the innermost counts words.
std::string word_offset(const operand_image& i, std::int64_t image_axis::*stride) {
  std::vector<std::int64_t> extents, strides;
  for (std::size_t d = i.axes.size(); d-- > 0;) {
    extents.push_back(d == 0 ? i.axes[d].extent / i.unit : i.axes[d].extent);
    strides.push_back(d == 0 ? i.axes[d].*stride * i.unit : i.axes[d].*stride);
  }
  return stride == &image_axis::far ? long_offset_text(extents, strides, "u") : offset_text(extents, strides, "u");
}

std::string text_of(const operand_image& i, const char* name) {
  const auto number = [](const char* what, std::int64_t value) { return std::string("  static constexpr int ") + what + " = " + std::to_string(value) + ";\n"; };
  const auto flag = [](const char* what, bool value) { return std::string("  static constexpr bool ") + what + " = " + cuda::text_of(value) + ";\n"; };
  const auto offset = [](const char* type, const char* what, const char* index, const std::string& value) {
    return std::string("  static __device__ ") + type + " " + what + "(unsigned " + index + ") { return static_cast<" + type + ">(" + value + "); }\n";
  };
  std::string t = std::string("struct ") + name + " {\n  using E = " + element_text(i.type) + ";\n";
  t += number("bytes", i.bytes()) + flag("flat", i.flat) + flag("aligned", i.aligned) + flag("lined", i.lined) + flag("pointers", i.pointers);
  t += flag("conj", i.conj) + flag("problem_fastest", i.problem_fastest) + flag("shared", i.shared) + flag("kept", i.kept);
  t += number("problems", i.problems) + number("elements", i.elements) + number("stride", i.stride) + number("size", i.size);
  t += number("chunk", i.chunk) + number("row", i.row) + number("pad", i.pad) + number("units", i.units) + number("unit", i.unit);
  t += offset("i64", "from", "u", i.flat ? "0" : word_offset(i, &image_axis::far));
  t += offset("int", "to", "u", i.flat ? "0" : word_offset(i, &image_axis::near));
  const std::string block = std::to_string(i.beside), elements = std::to_string(i.elements * i.beside);
  t += offset("int", "at_problem", "p", i.beside > 0 ? "p / " + block + " * " + elements + " + p % " + block : "p * stride");
  t += offset("int", "row_at", "i", offset_text(i.row_extents, i.row_near, "i"));
  t += offset("int", "col_at", "i", offset_text(i.col_extents, i.col_near, "i"));
  return t;
}

}  // namespace

small_kernel small_text(const small_shape& s, const small_config& c, const alignments& at) {
  const images i = make_images(s, c, at);
  const auto number = [](const char* what, std::int64_t value) { return std::string("  static constexpr int ") + what + " = " + std::to_string(value) + ";\n"; };
  const auto flag = [](const char* what, bool value) { return std::string("  static constexpr bool ") + what + " = " + cuda::text_of(value) + ";\n"; };
  small_kernel k;
  k.threads = c.block;
  k.groups = c.block / c.group;
  k.shared_bytes = static_cast<int>(shared_bytes_of(i, c, s.step.beta));
  k.text = "#include \"element.cuh\"\nstruct small_type {\n";
  k.text += number("m", count_of(s.step.m)) + number("n", count_of(s.step.n)) + number("k", count_of(s.step.k));
  k.text += number("problems", c.problems) + number("group", c.group) + number("block", c.block) + number("stages", c.stages);
  k.text += number("rm", c.rm) + number("rn", c.rn) + number("outer", static_cast<std::int64_t>(s.outer.size())) + number("compute", static_cast<int>(c.compute)) + number("unroll", c.unroll);
  const bool packs = c.vectors && c.compute == arithmetic::threads;
  k.text += number("vec_a", packs ? pack_of(i.a, false, 16) : 1) + number("vec_b", packs ? pack_of(i.b, false, c.rn) : 1) + number("vec_k", packs ? pack_along_sum(s, i.b, c) : 1);
  k.text += number("blocks", c.blocks) + flag("beta", s.step.beta) + flag("bfloat", s.step.a == dtype::bf16) + flag("spread", c.spread);
  k.text += flag("over", c.over) + number("bulk", bulk_of(i, c)) + flag("rows_together", c.together & 1) + flag("columns_together", c.together & 2);
  k.text += flag("problem_fastest", i.c.problem_fastest || is_beside(s)) + "};\n";
  k.text += text_of(i.a, "image_a") + flag("paired", pack_of(i.a, false, 2) > 1) + "};\n";
  k.text += text_of(i.b, "image_b") + flag("paired", pack_of(i.b, true, 2) > 1) + "};\n";
  k.text += text_of(i.c, "image_c") + number("pack", result_pack_of(i.c, c)) + "};\n#include \"small.cuh\"\n";
  return k;
}

}  // namespace ricci::cuda
