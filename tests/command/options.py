#!/usr/bin/env python3
# Options and what is printed.
import os
import re

import numpy as np

from support import check, finish, refuses, run


def prints(what, wanted, *arguments):
    done = run(*arguments)
    text = done.stdout.decode()
    check(done.returncode == 0 and not done.stderr, f"{what}: {done.returncode} {done.stderr!r}")
    check(text == wanted if isinstance(wanted, str) else wanted.search(text), f"{what}: prints {text!r}")


np.save("a.npy", np.arange(6.0).reshape(2, 3))
np.save("b.npy", np.arange(3))
np.save("c.npy", np.array([1 + 2j, complex(0, -1.5)], "c8"))
np.save("t.npy", np.array([True, False]))
np.save("s.npy", np.array(2.5))
np.save("e", np.zeros((2, 0)))
os.rename("e.npy", "info")

prints("help", re.compile("einsum.*explain", re.S), "--help")
prints("version", re.compile(r"^ricci \d+\.\d+\.\d+\n$"), "--version")
prints("info", re.compile("CPU.*cores.*kernels.*L1.*memory.*peak.*GPU  .*NVRTC.*GPU kernels", re.S), "info")
prints("floats", "[[0, 1, 2],\n [3, 4, 5]]\n", "einsum", "ij", "a.npy")
prints("integers", "5\n", "einsum", "i,i", "b.npy", "b.npy")
prints("complex", "[1+2j, 0-1.5j]\n", "einsum", "i", "c.npy")
prints("booleans", "[True, False]\n", "einsum", "i", "t.npy")
prints("scalars", "2.5\n", "einsum", "", "s.npy")
prints("an arrow first", "2.5\n", "einsum", "->", "s.npy")
prints("a file named as a command", "[]\n", "einsum", "ij", "info")
os.rename("b.npy", "[b.npy]")
np.save("b.npy", np.arange(3) + 1)
prints("a file named as a list", "[0, 1, 2]\n", "einsum", "i", "[b.npy]")
os.remove("[b.npy]")
np.save("b.npy", np.arange(3))
prints("dtype", "[[0, 1, 2],\n [3, 4, 5]]\n", "einsum", "ij", "a.npy", "--dtype", "f32")
prints("explain", re.compile(r"k.*flop.*\[5, 14\]\n$", re.S), "einsum", "ik,k->i", "a.npy", "b.npy", "--explain", "--threads", "1")
prints("without tables", "[5, 14]\n", "einsum", "ik,k->i", "a.npy", "b.npy", "--deterministic")
prints("explain without tables", re.compile("flop"), "explain", "eik,ekj->eij", "e=100", "i=8", "k=8", "j=8", "--deterministic")
prints("no flops without sums", re.compile("flops +0 flop as run, 0 flop as written.*turned on the way; 0 flop|copy", re.S), "explain", "ij->ji", "i=10", "j=10")
prints("no flops in empty sums", re.compile("flops +0 flop as run, 0 flop as written\n *bytes +800 B"), "explain", "ij,jk->ik", "i=10", "j=0", "k=10")
prints("nothing to do", re.compile("bytes +0 B at least\n *nothing to do"), "explain", "ij,jk->ik", "i=0", "j=10", "k=10")
with open("/dev/full", "wb") as full:
    for option in (["--help"], ["--version"], ["einsum", "--help"]):
        done = run(*option, stdout=full)
        check(done.returncode == 2 and b"cannot be written" in done.stderr, f"{option} on a full disk: {done.returncode} {done.stderr!r}")
prints("explain of shapes", re.compile("e=100000.*flop", re.S), "explain", "eik,ekj->eij", "e=100000", "i=8", "k=8", "j=8")
prints("explain for another machine", re.compile("flop"), "explain", "ik,kj", "i=3", "k=3", "j=3", "--machine", "avx512", "--dtype", "f32")
done = run("einsum", "ij->ji", "a.npy", "-o", "t2.npy", "--dtype", "f2")
check(done.returncode == 0 and np.load("t2.npy").dtype == np.float16, "--dtype f2")

refuses("nothing", says="subcommand")
refuses("unknown command", "multiply", says="'multiply' is no command")
refuses("unknown command with arguments", "multiply", "a.npy", says="known: info, einsum")
refuses("unknown option", "einsum", "ij", "a.npy", "--fast")
refuses("no file", "einsum", "ij")
refuses("no words", "einsum")
refuses("no name for the result", "einsum", "ij", "a.npy", "-o", "", says="--output")
refuses("no name of a machine", "explain", "ij", "i=2", "j=3", "--machine", "", says="--machine")
refuses("extents as a list", "explain", "ij", "[i=2,j=3]", says="'[i=2,j=3]' is not an extent")
refuses("no name of a type", "einsum", "ij", "a.npy", "--dtype", "", says="--dtype")
refuses("cuda", "einsum", "ij", "a.npy", "--backend", "cuda", says="GPU")
refuses("another backend", "einsum", "ij", "a.npy", "--backend", "tpu")
refuses("threads", "einsum", "ij", "a.npy", "--threads", "-1")
refuses("threads in words", "einsum", "ij", "a.npy", "--threads", "many")
refuses("unknown type", "einsum", "ij", "a.npy", "--dtype", "f128", says="f128")
refuses("type without files", "einsum", "ij", "a.npy", "--dtype", "bf16", says="bf16")
refuses("complex to real", "einsum", "i", "c.npy", "--dtype", "f64", says="complex64")
refuses("one file too few", "einsum", "ij,j", "a.npy", says="2 operands")
refuses("extents", "einsum", "ij,ji", "a.npy", "a.npy", says="'j'")
refuses("a command as words", "einsum", "info", "a.npy", says="rank 2")
refuses("half on the processor", "tune", "--dtype", "f16", "--sizes", "3", "--dry-run", says="f16")
refuses("no type of the GPU's", "tune", "--backend", "cuda", "--dtype", "f128", "--sizes", "3", says="bf16")
refuses("too large to tune", "tune", "--backend", "cuda", "--sizes", "65", says="65")
os.environ["RICCI_LIBCUDA"] = "nowhere.so"
refuses("tuning without a GPU", "tune", "--backend", "cuda", "--dtype", "f16", "--sizes", "3", says="GPU")
del os.environ["RICCI_LIBCUDA"]
refuses("a line break", "einsum", "i\nj", "a.npy", says="code 10")
refuses("a line break in a name", "einsum", "ij", "no\nsuch", says="no such")
refuses("not even text", "einsum", b"\xff\xfe", "a.npy", says="code 255")
refuses("no extent", "explain", "ik,kj", "i=3", "k=3", says="label j")
refuses("extent of nothing", "explain", "ik,kj", "i=3", "k=3", "j=3", "z=1", says="label z")
refuses("two extents", "explain", "ik", "i=3", "i=4", "k=1", says="label i")
refuses("extent in words", "explain", "ik", "i=three", "k=1", says="i=three")
refuses("negative extent", "explain", "ik", "i=-3", "k=1", says="i=-3")
refuses("huge extent", "explain", "ik", "i=99999999999999999999", "k=1")
refuses("too many elements", "explain", "ik", "i=9000000000000", "k=9000000000000")
refuses("dots", "explain", "...k", "k=1", says="...")
refuses("unknown machine", "explain", "ik", "i=1", "k=1", "--machine", "abacus", says="abacus")
finish("options taken and refused as they should be")
