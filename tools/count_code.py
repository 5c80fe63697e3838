#!/usr/bin/env python3
"""Counts the instructions of generated kernels. Usage: count_code.py PROGRAM TYPE [avx2|avx512]
PROGRAM is bench.kernels.code. Prints a table in Markdown: instructions a problem and a flop, beside the fewest possible."""
import collections, pathlib, re, subprocess, sys, tempfile

program, kind, isa = sys.argv[1], sys.argv[2], (sys.argv[3:] or ["avx512"])[0]
vector = 64 if isa == "avx512" else 32
size = {"f32": 4, "f64": 8, "c64": 4, "c128": 8}[kind]
real = 2 if kind.startswith("c") else 1


def instructions(file):
    """Until ret, loops over the sum weighted by nothing: a kernel with a loop says so."""
    text = subprocess.run(["objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", "--no-show-raw-insn", str(file)],
                          capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        found = re.match(r"\s*[0-9a-f]+:\s+(\S+)\s*(.*)", line)
        if found:
            yield found.group(1), found.group(2)
            if found.group(1) == "ret":
                return


with tempfile.TemporaryDirectory() as folder:
    subprocess.run([program, folder, kind, isa], check=True)
    print(f"| n | | multiply-adds | loads | stores | all | all per flop | fewest |\n|---|---|---|---|---|---|---|---|")
    for n in range(2, 33):
        for how in ("set", "add"):
            count, loop = collections.Counter(), False
            for name, operands in instructions(pathlib.Path(folder) / f"{kind}.{n}.{how}"):
                count["all"] += 1
                memory = "[" in operands
                if re.match(r"v(fn?m|mul)[a-z0-9]*p[sd]", name):
                    count["fma"] += 1
                if memory and operands.split(",")[0].find("[") >= 0:
                    count["store"] += 1
                elif memory and name != "lea":
                    count["load"] += 1
                loop = loop or name == "jne"
            flops = 2 * n**3 * (4 if real == 2 else 1)
            per_row = -(-n * real * size // vector)
            fewest = n * n * per_row * real + 2 * n * per_row  # multiply-adds by whole rows, b loaded and c stored once
            note = " (loops)" if loop else ""
            print(f"| {n} | {'C = A B' if how == 'set' else 'C += A B'}{note} | {count['fma']} | {count['load']} | {count['store']}"
                  f" | {count['all']} | {count['all'] / flops:.3f} | {fewest} |")
