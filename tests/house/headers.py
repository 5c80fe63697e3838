#!/usr/bin/env python3
# Compiles every public header alone, and the examples of the documents for what templates say when they are used: syntax
# only, with warnings as errors, -Wconversion among them. Usage: headers.py ROOT CXX CC JOBS
import concurrent.futures
import pathlib
import subprocess
import sys

root, cxx, cc, jobs = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3], int(sys.argv[4])
include = root / "include"
strict = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Werror", "-fsyntax-only", f"-I{include}",
          "-isystem", "/usr/include/eigen3"]


def check(path):
    compiler = [cc, "-std=c11", "-x", "c"] if path.suffix == ".h" else [cxx, "-std=c++20", "-x", "c++"]
    name, text, more = path.name, path.read_text(), []
    if path.suffix != ".cpp":
        # Twice: the second time its guard has to hold. I is what C's <complex.h> makes of it in GNU modes.
        name, more = path.relative_to(include), ["-Wshadow"]
        text = f"#define I (__extension__ 1.0iF)\n#include <{name}>\n#include <{name}>\n"
    done = subprocess.run([*compiler, *strict, *more, "-"], input=text, text=True, capture_output=True)
    return None if done.returncode == 0 else f"{name}:\n" + "\n".join(done.stderr.splitlines()[:8])


headers = sorted([*include.rglob("*.hpp"), *include.rglob("*.h")])
examples = [root / "examples/readme.cpp", *sorted((root / "examples").glob("tour_*.cpp"))]
with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
    bad = [message for message in pool.map(check, [*headers, *examples]) if message]
print("\n".join(bad) or f"{len(headers)} headers, each complete by itself")
sys.exit(bool(bad) or not headers)
