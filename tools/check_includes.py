#!/usr/bin/env python3
# Checks that every file of lib reaches, by its own includes and by those of ricci's headers that it includes, the headers of what it
# names: a compiler that has parsed common headers beforehand (RICCI_PRECOMPILE) does not tell. Usage: check_includes.py [ROOT]
# A name is looked for in each file alone, so that no file leans on what another one happens to include before it.
import functools
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
# The precompiled headers of cmake/ricci_targets.cmake, and the names that they are included for.
names = {
    "algorithm": """adjacent_find all_of any_of binary_search clamp copy_if copy_n count count_if equal_range fill fill_n find find_end
        find_first_of find_if find_if_not for_each generate includes inplace_merge is_permutation is_sorted is_sorted_until
        lexicographical_compare lower_bound make_heap max_element merge min_element minmax minmax_element mismatch next_permutation
        none_of nth_element partial_sort partition pop_heap prev_permutation push_heap remove remove_if replace replace_if reverse
        rotate search set_difference set_intersection set_union sort sort_heap stable_partition stable_sort transform unique
        upper_bound""",
    "bit": "bit_cast bit_ceil bit_floor bit_width countl_one countl_zero countr_one countr_zero has_single_bit popcount rotl rotr",
    "cmath": "acos asin atan atan2 cbrt ceil copysign cos cosh exp exp2 fabs floor fma fmod frexp hypot isfinite isinf isnan lgamma "
             "ldexp log log10 log2 lround llround nextafter pow round sin sinh sqrt tan tanh tgamma trunc",
    "complex": "complex conj norm polar proj",
    "cstdint": "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t",
    "cstring": "memchr memcmp memcpy memmove memset strchr strcmp strlen strncmp strrchr strstr",
    "functional": "function hash bind_front not_fn reference_wrapper greater_equal multiplies ref cref",
    "map": "map multimap",
    "memory": "addressof align allocator enable_shared_from_this make_shared make_unique shared_ptr unique_ptr weak_ptr",
    "mutex": "call_once lock_guard mutex once_flag recursive_mutex scoped_lock unique_lock",
    "numeric": "accumulate exclusive_scan gcd inclusive_scan inner_product iota lcm partial_sum reduce transform_reduce",
    "optional": "nullopt optional",
    "set": "multiset set",
    "string": "getline stod stoi stol stoll string to_string",
    "unordered_map": "unordered_map unordered_multimap",
    "vector": "vector",
}
# Other headers that a name may come from.
brings = {"string": {"sstream", "iostream", "filesystem", "stdexcept"}, "mutex": {"shared_mutex", "condition_variable"}}
ours = {
    "ricci/core/error.hpp": "errc",
    "ricci/program/program.hpp": "bindings label_info lookup program reference_axis",
}
needs = {name: header for header, text in names.items() for name in text.split()}
include = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
comments = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.S)


@functools.cache
def text_of(path):
    """Without comments, and without strings but the names of headers."""
    return comments.sub(lambda m: "" if m[0][0] == "/" else m[0] if m[0].endswith('pp"') else '""', path.read_text())


def found(name, path):
    places = (root / "include" / name, root / "lib" / name, path.parent / name)
    return next((p.resolve() for p in places if p.is_file()), None)


def reached(path, seen=None):
    """What a file includes: names of the system's headers, and our own files."""
    seen = {path} if seen is None else seen
    out = set()
    for name in include.findall(text_of(path)):
        file = found(name, path)
        out.add(file or name)
        if file and file not in seen:
            seen.add(file)
            out |= reached(file, seen)
    return out


bad = []
listed = re.search(r"ricci_precompiled\(ricci HEADERS ([^)]*)\)", (root / "cmake/ricci_targets.cmake").read_text())
for header in re.findall(r"<([^>]+)>", listed[1] if listed else "<none>"):
    if header not in names and header not in ours:
        bad.append(f"tools/check_includes.py knows no names of <{header}>, which is precompiled")
files = sorted((root / "lib").rglob("*.[ch]pp"))
declared = {name: root / "include" / header for header, text in ours.items() for name in text.split()}
for path in files:
    if path.name.endswith("-inl.hpp"):  # parts of one file
        continue
    text, have = text_of(path), reached(path)
    for name in sorted(set(re.findall(r"\bstd::(\w+)", text)) & needs.keys()):
        header = needs[name]
        if header not in have and not brings.get(header, set()) & have:
            bad.append(f"{path.relative_to(root)}: names std::{name}, includes no <{header}>")
    for name, header in sorted(declared.items()):
        if header not in have and re.search(rf"(?<![\w.>:])(?:ricci::)?{name}\b", text):
            bad.append(f"{path.relative_to(root)}: names {name}, does not include <{header.relative_to(root / 'include')}>")
print("\n".join(bad) or f"{len(files)} files include what they name")
sys.exit(bool(bad) or not files)
