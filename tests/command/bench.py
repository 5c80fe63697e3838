#!/usr/bin/env python3
# ricci bench gemm: that it runs, that its results are right and its JSON complete. Speed is not looked at.
import json
import os
import resource
import subprocess

from support import check, finish, refuses, run

quick = ("bench", "gemm", "--rounds", "1", "--window", "10", "--no-eigen-fixed")

done = run(*quick, "--sizes", "2,3x4x5,7", "--dtype", "f64,f32,c64,c128,f16,bf16", "--layout", "strided,pointers,interleaved",
           "--footprint", "l1,l2", "--json", "out.json")
check(done.returncode == 0, f"runs: {done.returncode} {done.stderr!r}")
check(b"geometric mean" in done.stdout or b"no peers" in done.stdout or b"ratio" in done.stdout, "prints a table")
data = json.load(open("out.json"))
check(data["ricci_bench"] == "gemm" and data["machine"]["isa"], "JSON says what it is")
check(len(data["results"]) == 3 * 6 * 3 * 2 * 2, f"JSON has {len(data['results'])} results")
for r in data["results"]:
    where = f"{r['dtype']} {r['m']}x{r['n']}x{r['k']} beta {r['beta']} {r['layout']} {r['footprint']}"
    ours = [c for c in r["contenders"] if c["ours"]]
    check(ours and all(c["agrees"] for c in ours), f"{where}: ricci is right: {r['contenders']}")
    check(all(c["gflops_best"] >= c["gflops_median"] > 0 for c in ours if c["windows"]), f"{where}: speeds")
    check(r["bound_gflops"] > 0 and r["batch"] % 4 == 0, f"{where}: bound and batch")

spread = run(*quick, "--sizes", "6", "--threads", "2", "--no-peers", "--json", "two.json")
check(spread.returncode == 0 and json.load(open("two.json"))["results"][0]["threads"] == 2, f"two threads: {spread.stderr!r}")

named = run(*quick, "--sizes", "6", "--no-peers", "--json", "tune", "--beta", "0", "--cpu", str(min(os.sched_getaffinity(0))))
check(named.returncode == 0 and os.path.exists("tune"), f"a file with a command's name: {os.listdir('.')}")
typed = json.load(open("tune"))["command"]
for word in ["--window 10", "--no-eigen-fixed", "--no-peers", "--cpu", "--beta 0"]:
    check(word in typed, f"the command is told with {word}: {typed}")

alone = run(*quick, "--sizes", "2:4:2", "--no-peers", "--beta", "1")
check(alone.returncode == 0 and b"no peers" in alone.stdout, f"without peers: {alone.stderr!r}")

with open("sizes.csv", "w") as file:
    file.write("m,n,k,more\n5,6,7,x\n100,2,2,too large for the bench\n2,123456,3,as well\n")
from_file = run(*quick, "--sizes", "@sizes.csv", "--no-peers", "--json", "file.json")
check(from_file.returncode == 0 and len(json.load(open("file.json"))["results"]) == 2, f"sizes of a file: {from_file.stderr!r}")

with open("sizes.csv", "w", newline="") as file:
    file.write("m,n,k\r\n5,6,7\r\n")
from_file = run(*quick, "--sizes", "@sizes.csv", "--no-peers", "--beta", "0")
check(from_file.returncode == 0 and b"5x6x7" in from_file.stdout, f"sizes of a file from elsewhere: {from_file.stderr!r}")
with open("sizes.csv", "w") as file:
    file.write("m,n,k\n65,6,7\n")
refuses("a file without a size", *quick, "--sizes", "@sizes.csv", says="sizes.csv")
refuses("no sizes", *quick, "--sizes", "", says="no size")
refuses("a size that is none", *quick, "--sizes", "2:x", says="2:x")
refuses("a size of zero", *quick, "--sizes", "0", says="'0'")
refuses("a type that is none", *quick, "--dtype", "f65", says="f65")
refuses("a layout that is none", *quick, "--layout", "loose", says="loose")
refuses("a footprint that is none", *quick, "--footprint", "l9", says="l9")
refuses("a beta that is none", *quick, "--beta", "2", says="2")
refuses("sizes that end before they begin", *quick, "--sizes", "5:2", says="5:2")
refuses("a size with too much", *quick, "--sizes", "2:5:1:1", says="2:5:1:1")
refuses("no file", *quick, "--sizes", "@", says="'@' names no file")
refuses("a folder", *quick, "--sizes", "@.", says=". is a folder")
refuses("no peer", *quick, "--sizes", "3", "--peer", "")
refuses("a file that is none", *quick, "--sizes", "@none.csv", says="none.csv cannot be opened")
os.symlink("target.json", "link.json")
linked = run(*quick, "--sizes", "3", "--no-peers", "--json", "link.json")
check(linked.returncode == 0 and os.path.islink("link.json") and len(json.load(open("target.json"))["results"]) > 0, f"a link to a file that is not there yet: {linked.stderr!r}")
refuses("a folder that is none", *quick, "--sizes", "3", "--no-peers", "--json", "none/out.json", says="none/out.json")

# A report replaces a file when it is whole, and is written to a pipe once.
old = open("file.json", "rb").read()
limited = run(*quick, "--sizes", "2:9", "--no-peers", "--json", "file.json", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
check(limited.returncode == 2 and b"cannot write file.json" in limited.stderr, f"a report that does not fit: {limited.returncode} {limited.stderr!r}")
check(open("file.json", "rb").read() == old, "a report that does not fit: the old one is gone")
os.mkfifo("pipe")
with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE) as reader:
    piped = run(*quick, "--sizes", "3", "--no-peers", "--json", "pipe")
    text = reader.communicate(timeout=60)[0]
check(piped.returncode == 0 and len(json.loads(text)["results"]) > 0, f"a report to a pipe: {piped.stderr!r}")
for window in ("nan", "inf", "1", "x"):
    refuses(f"a window of {window}", *quick, "--sizes", "3", "--no-peers", "--window", window, says="--window")
refuses("bench of nothing", "bench", says="subcommand")
refuses("bench of something else", "bench", "axpy", says="'axpy' is no command of bench; known: gemm")
refuses("no threads", *quick, "--threads", "0")
done = run(*quick, "--sizes", "9", "--no-peers", "--deterministic")
check(done.returncode == 0 and b"f64" in done.stdout, f"without tables: {done.stderr!r}")

finish("ricci bench gemm")
