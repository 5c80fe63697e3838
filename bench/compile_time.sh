#!/usr/bin/env bash
# What a statement costs the compiler: seconds for the README's example, for one statement, and for each further one.
# Usage: bench/compile_time.sh [COMPILER]     The best of three compilations each, with -O2.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
compiler=${1:-${CXX:-g++}}
further=64
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# file N: a source file with N statements, no two of the same type.
file() {
  echo '#include <ricci/ricci.hpp>'
  echo 'using namespace ricci::labels;'
  echo 'void run(double* p) {'
  local n
  for ((n = 0; n < $1; ++n)); do
    local rows=$((3 + n % 8)) columns=$((3 + n / 8))
    echo "  {"
    echo "    auto A = ricci::view(p, ricci::extents<$rows, 7>{}), B = ricci::view(p + 999, ricci::extents<$rows, 7>{});"
    echo "    auto X = ricci::view(p + 1999, ricci::extents<7, $columns>{});"
    echo "    auto C = ricci::view(p + 2999, ricci::extents<$rows, $columns>{});"
    echo "    C(i, j) = A(i, k) * X(k, j) + 2 * B(i, k) * X(k, j);"
    echo "  }"
  done
  echo '}'
}

# seconds FILE: the best of three.
seconds() {
  local best=999999999 start end run
  for run in 1 2 3; do
    start=$(date +%s%N)
    "$compiler" -std=c++20 -O2 -Iinclude -c "$1" -o "$dir/out.o"
    end=$(date +%s%N)
    ((end - start < best)) && best=$((end - start))
  done
  echo $((best / 1000000))
}

file 1 >"$dir/one.cpp"
file $((1 + further)) >"$dir/many.cpp"
readme=$(seconds examples/readme.cpp)
one=$(seconds "$dir/one.cpp")
many=$(seconds "$dir/many.cpp")
"$compiler" --version | head -n 1
printf 'README example       %6d ms\n' "$readme"
printf 'one statement        %6d ms\n' "$one"
printf 'each further one     %6d ms   (%d statements in %d ms)\n' $(((many - one) / further)) $((1 + further)) "$many"
