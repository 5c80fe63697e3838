#!/usr/bin/env python3
# ricci tune: what it refuses before it measures, and what of the remembered table stays. Speed is not looked at.
import glob
import json
import os
import signal
import subprocess

from support import check, command, finish, refuses, run

os.environ["RICCI_CACHE"] = os.path.abspath("cache")
quick = ("tune", "--dtype", "f64", "--rounds", "1")

refuses("no sizes", *quick, "--sizes", "", says="no size")
refuses("a range without end", *quick, "--sizes", "2:", says="'2:'")
refuses("a size with too much", *quick, "--sizes", "2x3x4x", says="2x3x4x")
refuses("sizes that end before they begin", *quick, "--sizes", "5:2", says="5:2")
refuses("too large", *quick, "--sizes", "65", says="64")
refuses("no types", "tune", "--dtype", "", "--sizes", "3", says="''")
refuses("no name", *quick, "--sizes", "3", "--output", "", says="--output")
refuses("a place that is none", *quick, "--sizes", "3", "--output", "/dev/null/table", says="/dev/null/table")
refuses("no kernels to choose from", *quick, "--sizes", "3", env={**os.environ, "RICCI_JIT": "0"}, says="RICCI_JIT")
refuses("no place", *quick, "--sizes", "3", env={**os.environ, "RICCI_CACHE": ""}, says="RICCI_CACHE")
check(not os.path.exists("cache"), "what is refused makes no folder")

if b"kernels are written for each plan" in run("info").stdout:
    done = run(*quick, "--sizes", "2")
    check(done.returncode == 0, f"measures: {done.stderr!r}")
    (file,) = glob.glob("cache/tuned-*.json")

    def line(kind, size, reads):
        return {"type": kind, "reads_c": reads, "rows": size, "lanes": size, "cols": 1, "k": size, "widest": 32, "tile_rows": 1, "tile_vectors": 1, "tail": "open", "gain": 1.5}

    table = json.load(open(file))
    table["kernels"] = [line("f32", 9, False), line("f64", 3, True), line("f64", 9, True)]
    json.dump(table, open(file, "w"))
    done = run(*quick, "--sizes", "3,2:4:2")
    kernels = json.load(open(file))["kernels"]
    check(done.returncode == 0 and done.stderr.count(b"\n") == 6, f"measures six problems: {done.stderr!r}")
    for kept in (line("f32", 9, False), line("f64", 9, True)):
        check(kept in kernels, f"what was not measured anew stays: {kept}")
    check(line("f64", 3, True) not in kernels, "what was measured anew is replaced")

    done = run(*quick, "--sizes", "3", "--output", "einsum")
    check(done.returncode == 0 and all(k["k"] == 3 for k in json.load(open("einsum"))["kernels"]), "another file holds what was measured")
    # Interrupted: what was measured until then is remembered, and the program ends by the signal.
    started = subprocess.Popen([command, "tune", "--dtype", "f64", "--sizes", "2:64", "--output", "part"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for _ in range(3):
        started.stderr.readline()
    started.send_signal(signal.SIGINT)
    said, told = started.communicate(timeout=60)
    count = 3 + told.count(b"\n")
    check(started.returncode == -signal.SIGINT, f"ends by the signal: {started.returncode}")
    check(count < 126 and f": {count} problems".encode() in said, f"says how many of 126 it measured: {said!r}")
    check("kernels" in json.load(open("part")), "and remembers them")

    os.mkfifo("pipe")
    pipe = os.open("pipe", os.O_RDWR)
    done = run(*quick, "--sizes", "3", "--output", "pipe")
    check(done.returncode == 0 and not os.path.isfile("pipe"), "a pipe stays a pipe")
    check(not os.path.isfile("pipe") and "kernels" in json.loads(os.read(pipe, 1 << 16)), "and takes the table")
finish("ricci tune")
