#!/usr/bin/env bash
# Builds and runs a program that uses ricci from outside.
# Usage: package.sh installed|shared SOURCE BUILD CXX CC [ARCHIVE]
#   installed  installs the build tree and finds it with find_package
#   shared     takes the sources as a subdirectory, as a shared library; then installs that one and finds it;
#              with ARCHIVE, the static library of an ordinary build, few of the sources are compiled again
set -euo pipefail
kind=$1 source=$2 build=$3 archive=${6:-}
export CXX=$4 CC=$5
work=$build/package-test/$kind
rm -rf "$work"
mkdir -p "$work"
cp -r "$source"/examples/{readme.cpp,c_batch.c} "$source"/tests/package/consumer/* "$work"
cd "$work"

# consume FOLDER CMAKE_OPTIONS...: configures, builds, runs, and compares what the program prints.
consume() {
  local folder=$1
  shift
  cmake -S . -B "$folder" -G Ninja "$@"
  cmake --build "$folder" --parallel 2
  "$folder/readme" | tee /dev/stderr | diff - "$source/examples/readme.out"
  "$folder/c_batch" | diff - "$source/examples/c_batch.out"
}

# consume_in_c FOLDER CMAKE_OPTIONS...: the same for a project in C alone.
consume_in_c() {
  local folder=$1
  shift
  cmake -S only_c -B "$folder" -G Ninja "$@"
  cmake --build "$folder"
  "$folder/c_batch" | diff - "$source/examples/c_batch.out"
}

case $kind in
  installed)
    cmake --install "$build" --prefix "$work/prefix" >/dev/null
    consume find -DCMAKE_PREFIX_PATH="$work/prefix"
    consume_in_c find_c -DCMAKE_PREFIX_PATH="$work/prefix"
    # pkg-config's way, where there is one
    if command -v pkg-config >/dev/null; then
      export PKG_CONFIG_PATH=$(dirname "$(find prefix -name ricci.pc)")
      $CXX $(pkg-config --cflags ricci) readme.cpp -o by_hand $(pkg-config --static --libs ricci)
      ./by_hand | diff - "$source/examples/readme.out"
      $CC -std=c11 -Wall -Werror $(pkg-config --cflags ricci-c) c_batch.c -o c_by_hand $(pkg-config --static --libs ricci-c)
      ./c_by_hand | diff - "$source/examples/c_batch.out"
      # Folders that are absolute, as some distributions have them: the files for pkg-config alone.
      cmake -S "$source" -B absolute -G Ninja -DCMAKE_INSTALL_PREFIX="$work/there" -DCMAKE_INSTALL_LIBDIR="$work/there/lib64" \
        -DCMAKE_INSTALL_INCLUDEDIR="$work/there/headers" -DRICCI_BUILD_{COMMAND,TESTS,BENCH,EXAMPLES}=OFF
      mkdir -p there/lib64/pkgconfig
      cp absolute/package/*.pc there/lib64/pkgconfig
      export PKG_CONFIG_PATH=$work/there/lib64/pkgconfig
      for name in ricci ricci-c; do
        for variable in prefix: libdir:/lib64 includedir:/headers; do
          [ "$(realpath -m "$(pkg-config --variable="${variable%:*}" $name)")" = "$work/there${variable#*:}" ]
        done
      done
    fi
    ;;
  shared)
    # A file of each room and those that CMake writes, compiled as those of a subdirectory. The library is then made of the
    # build's objects, which are position independent too.
    common=(-DRICCI_SOURCE="$source" -DBUILD_SHARED_LIBS=ON -DRICCI_INSTALL=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DRICCI_ISAS=portable)
    if [ -n "$archive" ]; then
      cmake -S . -B rooms -G Ninja "${common[@]}"
      objects=$(ninja -C rooms -t targets all | sed -n 's/^\(.*ricci[a-z_]*\.dir\/.*\.cpp\.o\): .*/\1/p')
      cmake --build rooms --parallel 2 --target $(echo "$objects" | awk '{ room = $0; sub("[^/]*$", "", room) }
        !/contract_/ && (!seen[room]++ || /\/(shipped|kernel_texts|table)[.]cpp/)') | tee rooms.log
      [ "$(grep -c 'Building CXX object' rooms.log)" -ge 15 ]
    fi
    consume subdirectory "${common[@]}" -DRICCI_PRECOMPILE=ON -DRICCI_ARCHIVE="$archive"
    cmake --install subdirectory --prefix "$work/prefix" >/dev/null
    consume find -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release
    consume_in_c find_c -DCMAKE_PREFIX_PATH="$work/prefix"
    ;;
esac
