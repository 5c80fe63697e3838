#!/usr/bin/env bash
# Shell functions shared by run and tools/test.sh: installing packages, building a preset, steps with logs.
# Meant to be sourced from the root of the repository.

export DEBIAN_FRONTEND=noninteractive
jobs=${RICCI_JOBS:-$(nproc 2>/dev/null || echo 2)}
logs=build/logs

# Packages that exist for this processor only.
of_amd64() { [ "$(dpkg --print-architecture 2>/dev/null)" != amd64 ] || echo "$@"; }

# The Debian packages of one purpose.
packages() {
  case $1 in
    build) echo g++ cmake ninja-build libhwy-dev libboost-dev libeigen3-dev catch2 libbenchmark-dev libcli11-dev \
      nlohmann-json3-dev libfmt-dev python3 python3-numpy $(of_amd64 libxbyak-dev) ;;
    test) echo clang-19 lld-19 libomp-19-dev libclang-rt-19-dev qemu-user g++-aarch64-linux-gnu \
      g++-powerpc64le-linux-gnu ;;
    format) echo git clang-format clang-tidy ;;
  esac
}

is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# need PURPOSE...: installs the packages of these purposes that are missing.
need() {
  local purpose package missing=() as_root=()
  for purpose in "$@"; do
    for package in $(packages "$purpose"); do
      is_installed "$package" || missing+=("$package")
    done
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null; then
    echo "ricci: these Debian packages (or their like here) are missing: ${missing[*]}" >&2
    exit 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "ricci: please install as root: apt-get install ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo DEBIAN_FRONTEND=noninteractive)
  fi
  steps "install ${#missing[@]} packages" install_packages
}

# Uses need's lists. A stale package index is the usual reason to fail, so it is renewed first.
install_packages() {
  "${as_root[@]}" apt-get update -q || true
  "${as_root[@]}" apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# build_tree PRESET TARGET...: configures build/PRESET and builds the targets.
build_tree() {
  local preset=$1
  shift
  cmake --preset "$preset" && cmake --build "build/$preset" --parallel "$jobs" --target "$@"
}

log_of() { echo "$logs/${1//[^a-zA-Z0-9_.]/-}.log"; }

# step NAME COMMAND...: runs the command with its output in a log; one line says how it went and how long it took.
# When it fails, the end of the log is shown.
step() {
  local name=$1 log start=$SECONDS status=0
  shift
  log=$(log_of "$name")
  mkdir -p "$logs"
  printf '%-34s' "$name" >&2
  "$@" >"$log" 2>&1 || status=$?
  if [ $status -eq 0 ]; then
    printf 'ok      %4d s\n' $((SECONDS - start)) >&2
  else
    printf 'FAILED  %4d s   %s ends:\n' $((SECONDS - start)) "$log" >&2
    tail -n "${RICCI_LOG_LINES:-40}" "$log" | sed 's/^/  | /' >&2
  fi
  return $status
}

# A step that has to succeed.
steps() { step "$@" || exit 1; }
