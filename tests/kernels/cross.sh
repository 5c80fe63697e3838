#!/bin/sh
# Builds the kernels and their tests for another CPU and runs them in its emulator; the portable ones are tested on this one.
# Usage: cross.sh aarch64|ppc64le <build folder>. Its last line begins with PASS or FAIL.
set -u
arch=$1
out=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
emulator=
case $arch in
  aarch64) triple=aarch64-linux-gnu; qemu=qemu-aarch64; isas="neon sve"; emulator="-cpu max,sve256=on,sve512=off" ;;
  ppc64le) triple=powerpc64le-linux-gnu; qemu=qemu-ppc64le; isas=vsx ;;
  *) echo "FAIL $arch: the CPUs are aarch64 and ppc64le"; exit 2 ;;
esac
flags_of() {
  case $1 in
    neon) echo "-march=armv8-a+crypto" ;;
    sve) echo "-march=armv8.2-a+sve -msve-vector-bits=256 -DRICCI_GENERIC_VECTOR_BYTES=32" ;;
    vsx) echo "-mcpu=power8 -mvsx -DRICCI_GENERIC_VECTOR_BYTES=16" ;;
  esac
}
for tool in $triple-g++ $qemu; do
  command -v $tool > /dev/null || { echo "FAIL $arch: $tool is not installed"; exit 2; }
done
# failed <what> <log>: the last word on a step; the log's end goes before it.
failed() {
  tail -n 25 "$2"
  echo "FAIL $arch: $1, see $2"
  exit 1
}
mkdir -p "$out/include" || exit 2
# Headers that do not depend on the CPU; nothing else of this system may be seen by the cross compiler.
for name in hwy catch2; do ln -sfn /usr/include/$name "$out/include/$name"; done

compile() {  # compile <object> <source> <flags...>
  object=$out/$1 source=$2
  shift 2
  if [ -e "$object" ] && [ -e "$object.d" ] && [ "$(cat "$object.flags")" = "$*" ] &&
    [ -z "$(find $(sed 's/^[^:]*://; s/\\$//' "$object.d") -newer "$object")" ]; then return 0; fi
  rm -f "$object"
  echo "$*" > "$object.flags"
  $triple-g++ -MMD -MF "$object.d" -std=gnu++20 -I"$root/include" -I"$root/lib" -I"$root/tests/support" -I"$out/include" "$@" -c "$source" -o "$object"
}

group() {  # group full|small <units of the kernels>: compiled together; small: few sizes of tiles and few turns
  limits=
  [ $1 = full ] || limits="-DRICCI_SMALL_TILES -DRICCI_FEW_TURNS"
  name=${isa}_$1
  shift
  for unit; do echo "#include \"kernels/$unit.cpp\""; done > "$out/$name.new"
  cmp -s "$out/$name.new" "$out/$name.cpp" || cp "$out/$name.new" "$out/$name.cpp"
  compile "$name.o" "$out/$name.cpp" -O1 -ffp-contract=fast $(flags_of $isa) -DRICCI_ISA=$isa -DRICCI_REGISTERS=32 $limits
  compiled=$?
  objects="$objects $out/$name.o"
  return $compiled
}

objects=
(
  for isa in $isas; do
    # In groups, for Highway is long. One real type of neon and of vsx has tiles of every size; they are the same templates.
    others="move nests pointwise rows panels unit"
    case $isa in
      neon) group full contract_f32 dots $others && group small contract_f64 contract_c64 contract_c128 ;;
      vsx) group full contract_f64 $others && group small contract_f32 dots contract_c64 contract_c128 ;;
      sve) group small contract_f32 contract_f64 contract_c64 contract_c128 dots $others ;;
    esac || exit 1
  done
  compile table.o "$root/lib/kernels/table.cpp" -O2 $(for isa in $isas; do echo "-DRICCI_HAVE_$(echo $isa | tr a-z A-Z)"; done) || exit 1
  compile main.o "$root/tests/support/main.cpp" -O0 || exit 1
  for test in contract move rows panels pointwise; do
    compile $test.o "$root/tests/kernels/${test}_test.cpp" -O1 || exit 1
    $triple-g++ -static "$out/$test.o" "$out"/main.o "$out"/table.o $objects -o "$out/$test" || exit 1
  done
) > "$out/build.log" 2>&1 || failed "does not build" "$out/build.log"
for test in contract move rows panels pointwise; do
  RICCI_TEST_REDUCED=1 $qemu $emulator -L /usr/$triple "$out/$test" > "$out/$test.log" 2>&1 ||
    failed "the $test tests" "$out/$test.log"
done
echo "PASS $arch: $(tail -2 "$out/contract.log" | head -1), moves: $(tail -2 "$out/move.log" | head -1)"
