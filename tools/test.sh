#!/usr/bin/env bash
# Everything that tests ricci without a GPU. Ends with "N passed, N failed": ctest cases, and builds that failed.
# Usage: test.sh [--quick | PRESET ...]
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/steps.sh
quick=
wanted="release clang dev tsan"
if [ "$*" = --quick ]; then
  quick=yes wanted=release
elif [ $# -gt 0 ]; then
  wanted=$*
  for preset in "$@"; do
    case $preset in
      release | clang | dev | tsan) ;;
      *) echo "ricci: ./run test [--quick | release | clang | dev | tsan ...], not '$preset'" >&2 && exit 2 ;;
    esac
  done
fi
rm -rf "$logs"
passed=0
failed=0

# build_areas PRESET AREA...: the library and the tests of some folders of tests/; no area: everything.
build_areas() {
  local preset=$1 area targets=()
  shift
  cmake --preset "$preset" || return
  for area in "$@"; do
    # An area may have nothing to build, such as files that must not compile. The benches have no tests: they are built once.
    if grep -q "^build tests\.$area: phony" "build/$preset/build.ninja"; then targets+=("tests.$area"); fi
    [ "$area" != bench ] || targets+=(benches)
  done
  [ $# -gt 0 ] || targets=(all)
  # Memory in large pages, where the kernel has them: clang compiles kernels in 0.9 of the time.
  GLIBC_TUNABLES=glibc.malloc.hugetlb=1 cmake --build "build/$preset" --parallel "$jobs" --target ricci "${targets[@]}"
}

# run_areas PRESET AREA...: their tests; no area: all.
run_areas() {
  local preset=$1 areas
  shift
  areas=$(IFS='|' && echo "$*")
  ctest --preset "$preset" --parallel "$jobs" --timeout 1200 --no-tests=error ${areas:+-L "^($areas)\$"} \
    ${quick:+-LE '^(cross|package)$'} \
    --output-junit "$PWD/build/$preset/junit.xml" || what_failed
}

# what_failed: says again, last in the log of a step, what the failed tests printed last. Fails.
what_failed() {
  awk '/^ *[0-9]+\/[0-9]+ Test +#/ { failed = /\*\*\*/ && !/Skipped/ && ++many <= 4; if (failed) count[many] = 0 }
    /^ *Start +[0-9]+:/ || /tests passed, [0-9]+ tests failed/ { failed = 0 }
    failed { line[many, count[many]++] = $0 }
    END {
      for (t = 1; t <= many && t <= 4; ++t) {
        print line[t, 0]
        for (i = count[t] > 16 ? count[t] - 16 : 1; i < count[t]; ++i) print line[t, i]
      }
    }' "$log"
  false
}

no_warnings() {
  ! grep -E 'warning:|warning #' "$1"
}

# tree PRESET AREA...: builds and tests one preset, and counts.
tree() {
  local preset=$1 tests=0 failures=1 disabled=0 skipped=0
  rm -f "build/$preset/junit.xml"
  if ! step "$preset: build" build_areas "$@"; then
    failed=$((failed + 1))
    return
  fi
  step "$preset: no warnings" no_warnings "$(log_of "$preset: build")" || failed=$((failed + 1))
  step "$preset: test" run_areas "$@"
  # <testsuite tests="12" failures="1" disabled="0" skipped="2" ...>, one attribute a line
  eval "$(sed -nE '1,12s/^[[:space:]]*(tests|failures|disabled|skipped)="([0-9]+)".*/\1=\2/p' \
    "build/$preset/junit.xml" 2>/dev/null)"
  [ "$tests" -eq 0 ] || passed=$((passed + tests - failures - disabled - skipped))
  failed=$((failed + failures))
  [ $((skipped + disabled)) -eq 0 ] || echo "  $((skipped + disabled)) not run, see $(log_of "$preset: test")" >&2
}

for preset in $wanted; do
  case $preset in
    release) tree release ;;
    clang) tree clang kernels bench ;;  # the preset compiles nothing else; clang does for dev
    dev) tree dev front plan path engine einsum kernels codegen machine capi batch cases command ;;
    tsan) tree tsan engine threads ;;
  esac
done
echo "logs in $logs; $((SECONDS / 60)) min $((SECONDS % 60)) s" >&2
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
