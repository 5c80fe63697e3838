// Tensors as text, nested brackets in row-major index order.
#include <algorithm>
#include <ostream>

#include <ricci/lower/plan.hpp>
#include <ricci/tensor/print.hpp>

namespace ricci::detail {
namespace {

void print_element(std::ostream& out, const printable& t, std::int64_t at) {
  const void* const data = t.data;
  if (t.index_bytes == 4) out << static_cast<const std::int32_t*>(data)[at];
  if (t.index_bytes == 8) out << static_cast<const std::int64_t*>(data)[at];
  if (t.index_bytes > 0) return;
  switch (t.type) {
    case dtype::f32: out << static_cast<const float*>(data)[at]; break;
    case dtype::f64: out << static_cast<const double*>(data)[at]; break;
    case dtype::c64: out << static_cast<const std::complex<float>*>(data)[at]; break;
    case dtype::c128: out << static_cast<const std::complex<double>*>(data)[at]; break;
    case dtype::f16: out << static_cast<float>(static_cast<const half*>(data)[at]); break;
    case dtype::bf16: out << static_cast<float>(static_cast<const bfloat16*>(data)[at]); break;
  }
}

void print_axis(std::ostream& out, const printable& t, int d, std::int64_t at) {
  if (d == t.rank) return print_element(out, t, at);
  out << '[';
  for (std::int64_t x = 0; x < t.extents[d]; ++x) {
    if (x > 0 && d + 1 < t.rank) out << ",\n" << std::string(static_cast<std::size_t>(d) + 1, ' ');
    else if (x > 0) out << ", ";
    print_axis(out, t, d + 1, at + x * t.strides[d]);
  }
  out << ']';
}

}  // namespace

void print(std::ostream& out, const printable& t) {
  if (std::find(t.extents, t.extents + t.rank, 0) != t.extents + t.rank) out << "[]";
  else if (t.data) print_axis(out, t, 0, 0);
  else out << "(no host memory)";
}

void print_plan(std::ostream& out, const executable& code) { out << describe(code); }

void print_inlined(std::ostream& out, double flops) {
  out << "evaluated where it is called, by loops of fixed length: " << flops << " flops\n"
      << "handed to the library it would be:\n";
}

cost_value known_cost(const flat_program& p, const std::int64_t* numbers) { return cost_of(p, numbers); }

}  // namespace ricci::detail
