#!/bin/sh
# No unit of an instruction set may define a function the linker could merge with another unit's: every symbol it
# defines lies in its own namespace. Usage: odr.sh <nm> <namespace> <object files>
nm=$1 own=$2
shift 2
"$nm" -C "$@" > /dev/null || exit 1
foreign=$("$nm" -C --defined-only "$@" | grep -E ' [TWVu] ' | grep -v -F "$own" | grep -v -E ' (__asan|__ubsan|__tsan)')
[ -z "$foreign" ] && exit 0
echo "defined outside $own:"
echo "$foreign"
exit 1
