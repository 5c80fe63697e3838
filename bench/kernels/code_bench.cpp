// Writes the code of generated kernels to files, one for each n: c (+)= a b, n x n, row-major, contiguous.
// Usage: bench.kernels.code FOLDER f64|f32|c64|c128 [avx2|avx512]. tools/count_code.py counts what is in them.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "codegen/codegen.hpp"

using namespace ricci;

int main(int count, char** words) {
  if (count < 3) return 2;
  codegen::target target = codegen::best_target();
  if (count > 3) target = std::strcmp(words[3], "avx2") == 0 ? codegen::target::avx2 : codegen::target::avx512;
  dtype type = dtype::f64;
  for (dtype t : {dtype::f32, dtype::f64, dtype::c64, dtype::c128})
    if (name_of(t) == std::string(words[2])) type = t;
  for (std::int64_t n = 2; n <= 32; ++n)
    for (bool adds : {false, true}) {
      codegen::request r;
      r.type = r.type_a = r.type_b = r.type_c = type;
      r.args.lane_extent = n;
      r.args.row = {n, n, 0, n};
      r.args.k = n, r.args.k_a = 1, r.args.k_b = n;  // one problem: code inside the loop over problems
      r.alpha = codegen::factor::one;
      r.beta = adds ? codegen::factor::one : codegen::factor::zero;
      const auto kernel = codegen::make(r, target);
      if (!kernel) return 1;
      std::ofstream out(std::string(words[1]) + "/" + words[2] + "." + std::to_string(n) + (adds ? ".add" : ".set"), std::ios::binary);
      out.write(reinterpret_cast<const char*>(kernel->entry()), static_cast<std::streamsize>(kernel->bytes()));
    }
}
