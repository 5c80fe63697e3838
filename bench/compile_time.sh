#!/usr/bin/env bash
# What a statement costs the compiler: time for the README's example, for one statement, and for each further one.
# Usage: bench/compile_time.sh [COMPILER]     With -O2; processor time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
compiler=${1:-${CXX:-g++}}
further=64
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# file N SIZE RIGHT_SIDE: a source file with N statements, no two of them with the same extents, the least SIZE.
file() {
  local n r c
  echo '#include <ricci/ricci.hpp>'
  echo 'using namespace ricci::labels;'
  echo 'void run(double* p) {'
  for ((n = 0; n < $1; ++n)); do
    r=$(($2 + n % 8)) c=$(($2 + n / 8))
    echo "  {"
    echo "    auto A = ricci::view(p, ricci::extents<$r, $2>{});"
    echo "    auto X = ricci::view(p + 19999, ricci::extents<$2, $c>{});"
    echo "    auto C = ricci::view(p + 29999, ricci::extents<$r, $c>{});"
    echo "    C(i, j) = $3;"
    echo "  }"
  done
  echo '}'
}

# milliseconds FILE: processor time, which other work on the machine disturbs little; the least of three.
milliseconds() {
  local TIMEFORMAT='%U %S' best=0 run used
  for run in 1 2 3; do
    used=$({ time "$compiler" -std=c++20 -O2 -Iinclude -c "$1" -o "$dir/out.o"; } 2>&1 |
      awk '{printf "%d", 1000 * ($1 + $2)}')
    ((best == 0 || used < best)) && best=$used
  done
  echo "$best"
}

# family NAME SIZE RIGHT_SIDE
family() {
  local one many
  file 1 "$2" "$3" >"$dir/one.cpp"
  file $((1 + further)) "$2" "$3" >"$dir/many.cpp"
  one=$(milliseconds "$dir/one.cpp")
  many=$(milliseconds "$dir/many.cpp")
  printf '%-58s %6d %10d %14d\n' "$1" "$one" "$many" $(((many - one) / further))
}

"$compiler" --version | head -n 1
printf '%-58s %6s %10s %14s\n' "milliseconds" "one" "$((1 + further))" "each further"
printf '%-58s %6d\n' "the example of the README" "$(milliseconds examples/readme.cpp)"
family "C(i, j) = A(i, k) * X(k, j), about 40 x 40" 36 "A(i, k) * X(k, j)"
family "the same, from 3 x 3 on, some inlined" 3 "A(i, k) * X(k, j)"
family "C(i, j) = A(i, k) * X(k, j) + 2 * A(i, k) * X(k, j)" 36 "A(i, k) * X(k, j) + 2 * A(i, k) * X(k, j)"
