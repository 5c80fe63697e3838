#!/usr/bin/env bash
# Everything that tests ricci without a GPU. Ends with "N passed, N failed": ctest cases, and builds that failed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/steps.sh
quick=${1:-}
rm -rf "$logs"
passed=0
failed=0

# cases PRESET [CTEST ARGUMENTS]: runs the tests of a tree that is built.
cases() {
  local preset=$1
  shift
  ctest --preset "$preset" --parallel "$jobs" --no-tests=error --timeout 900 \
    --output-junit "$PWD/build/$preset/junit.xml" "$@"
}

# tree PRESET TARGETS [CTEST ARGUMENTS]: builds and tests one preset, and counts.
tree() {
  local preset=$1 targets=$2 counts
  shift 2
  if ! step "$preset: build" build_tree "$preset" $targets; then
    failed=$((failed + 1))
    return
  fi
  rm -f "build/$preset/junit.xml"
  step "$preset: test" cases "$preset" "$@"
  # <testsuite tests="12" failures="1" disabled="0" skipped="2" ...>
  counts=$(sed -nE '1,12s/^[[:space:]]*(tests|failures|disabled|skipped)="([0-9]+)".*/\1=\2/p' \
    "build/$preset/junit.xml" 2>/dev/null)
  local tests=0 failures=1 disabled=0 skipped=0
  [ -z "$counts" ] || eval "$counts"
  passed=$((passed + tests - failures - disabled - skipped))
  failed=$((failed + failures))
  [ -n "$counts" ] || passed=0
  [ "$skipped" -eq 0 ] || echo "  ($skipped skipped, see $logs/$preset--test.log)" >&2
}

start=$SECONDS
tree release all
if [ "$quick" != --quick ]; then
  tree clang ricci_tests -L '^(unit|front|compile_fail|kernels)$'
  tree dev ricci_tests -L '^(unit|front|plan|engine|einsum|kernels)$'
  tree tsan ricci_tests -L '^(engine|threads|house)$'
fi
echo "logs in $logs, $(((SECONDS - start) / 60)) min $(((SECONDS - start) % 60)) s" >&2
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
