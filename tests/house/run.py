#!/usr/bin/env python3
# ./run from outside: from any folder and through a link, with file names meant from where it is called. Nothing is built:
# the tree is a copy of the scripts, its build and its programs only say what they were asked for.
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

source = pathlib.Path(sys.argv[1]).resolve()
failures = []


def check(condition, text):
    if not condition:
        failures.append(text)
        print("FAILED", text)


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text + "\n")
    path.chmod(0o755)


with tempfile.TemporaryDirectory(prefix="ricci run ") as name:
    top = pathlib.Path(name).resolve()
    tree, elsewhere = top / "the tree", top / "some where"
    shutil.copytree(source / "tools", tree / "tools")
    shutil.copy(source / "run", tree / "run")
    script(top / "bin/dpkg-query", "echo installed")
    script(top / "bin/cmake", 'echo "$@" >>"%s"' % (top / "built"))
    for program in ["ricci", "bench_tensors", "bench_fem", "bench_fem_cuda", "bench_random", "bench_gpu_random"]:
        script(tree / "build/release/bin" / program, f'echo "{program} in $PWD:" "$@"')
    elsewhere.mkdir()
    (elsewhere / "link").symlink_to(tree / "run")

    def run(*arguments, by=tree / "run"):
        return subprocess.run([by, *arguments], cwd=elsewhere, capture_output=True, text=True, timeout=60,
                              env={**os.environ, "PATH": f"{top / 'bin'}:{os.environ['PATH']}"})

    # A file that is named relative to the tree may lie in build/bench/ of a tree that is new.
    run("bench", "gemm")
    check((tree / "build/bench").is_dir(), "bench gemm leaves build/bench/ to others")
    for by in [tree / "run", elsewhere / "link"]:
        for asked, wanted in [(("info",), "ricci in {}: info"), (("einsum", "ij", "a.npy", "-o", "b c.npy"), "ricci in {}: einsum ij a.npy -o b c.npy"),
                              (("bench", "gemm", "--json", "x"), "ricci in {}: bench gemm --json x"), (("bench", "tensors", "--file", "x"), "bench_tensors in {}: --file x"),
                              (("bench", "random", "--seed", "3"), "bench_random in {}: --seed 3"),
                              (("bench", "random", "--seed", "3", "--backend", "cuda"), "bench_gpu_random in {}: --seed 3"),
                              (("bench", "fem", "--case", "BK1"), f"bench_fem in {{}}: --json {tree}/build/bench/fem.json --case BK1"),
                              (("bench", "fem", "--case", "BK1", "--json", "x"), "bench_fem in {}: --case BK1 --json x"),
                              (("bench", "fem", "--json=b c", "--case", "BK1"), "bench_fem in {}: --json b c --case BK1"),
                              (("bench", "fem", "--backend", "cuda"), f"bench_fem_cuda in {{}}: --json {tree}/build/bench/fem_cuda.json"),
                              (("bench", "fem", "--backend=cuda", "--json", "x"), "bench_fem_cuda in {}: --json x")]:
            done = run(*asked, by=by)
            check(done.returncode == 0 and done.stdout == wanted.format(elsewhere) + "\n", f"{by.name} {asked}: {done.stdout!r} {done.stderr!r}")
    (top / "built").unlink()
    for asked, says in [(("nonsense",), "nonsense"), (("bench", "nonsense"), "nonsense"), (("bench", "--help"), "--help"), (("test", "nonsense"), "nonsense"),
                        (("bench", "fem", "--backend", "tpu"), "tpu"), (("bench", "random", "--backend=tpu"), "tpu")]:
        done = run(*asked)
        check(done.returncode == 2 and done.stderr.startswith("ricci: ") and says in done.stderr, f"{asked}: {done.returncode} {done.stderr!r}")
        check(not (top / "built").exists(), f"{asked}: builds before it refuses")
    check("einsum" in run().stdout and run("help").stdout == run("--help").stdout, "help")
print("./run is called from anywhere" if not failures else "")
sys.exit(bool(failures))
