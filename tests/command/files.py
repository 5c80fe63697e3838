#!/usr/bin/env python3
# .npy files: every type, order and version that NumPy writes, and files that are not what they should be.
import os
import resource
import signal
import struct
import subprocess

import numpy as np
from numpy.lib import format as npy

from support import check, command, finish, refuses, run

few = 4 if os.environ.get("RICCI_TEST_REDUCED") == "1" else 1  # fewer pairs of types under sanitizers
types = ["f2", "f4", "f8", "c8", "c16", "?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]


def answer(*arguments):
    done = run("einsum", *arguments, "-o", "out.npy")
    check(done.returncode == 0 and not done.stderr and not done.stdout, f"{arguments}: {done.stderr!r}")
    return np.load("out.npy") if done.returncode == 0 else None


def header(text, version=1, length=None, magic=b"\x93NUMPY", minor=0):
    body = text.encode()
    length = len(body) if length is None else length
    return magic + bytes([version, minor]) + (struct.pack("<H", length) if version == 1 else struct.pack("<I", length)) + body


def good_files():
    for t in types:
        for order in "<>":
            for fortran in (False, True):
                for version in ((1, 0), (2, 0), (3, 0)):
                    x = (np.arange(6).reshape(2, 3) % 3).astype(np.dtype(t).newbyteorder(order))
                    x = np.asfortranarray(x) if fortran else x
                    with open("a.npy", "wb") as f:
                        npy.write_array(f, x, version=version)
                    got = answer("ij->ji", "a.npy")
                    check(got is not None and got.dtype == np.dtype(t) and np.array_equal(got, x.T), f"{t} {order} {fortran} {version}")
    for n, t in enumerate(types):
        for u in types[n % few::few]:
            x, y = np.ones((2, 3), t), np.ones((3, 2), u)
            np.save("a.npy", x), np.save("b.npy", y)
            got, wanted = answer("ij,jk->ik", "a.npy", "b.npy"), np.einsum("ij,jk->ik", x, y)
            check(got is not None and got.dtype == wanted.dtype and np.array_equal(got, wanted), f"{t} with {u}")
    for shape in [(), (0,), (3, 0, 2), (1,) * 20]:
        np.save("a.npy", np.ones(shape))
        got = answer("...->...", "a.npy")
        check(got is not None and got.shape == shape and got.sum() == np.ones(shape).sum(), f"shape {shape}")


def no_elements():
    """As NumPy prints them, in no time."""
    for shape in ["(0,)", "(2, 0)", f"({2 ** 60}, 3, 0)"]:
        with open("a.npy", "wb") as f:
            f.write(header(f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}"))
        done = run("einsum", "...->...", "a.npy")
        check(done.returncode == 0 and done.stdout == b"[]\n", f"shape {shape}: {done.stdout[:80]!r} {done.stderr!r}")


def integers():
    """Exact in doubles or refused; results wrap as NumPy's do."""
    x = np.full(300, 100, "i1")
    np.save("a.npy", x)
    check(answer("i,i", "a.npy", "a.npy") == np.einsum("i,i", x, x), "wrapping int8")
    x = np.full(3, 2 ** 40, "i8")
    np.save("a.npy", x)
    check(np.array_equal(answer("i->i", "a.npy"), x), "2^40 itself")
    refuses("int64 beyond 2^53", "einsum", "i,i", "a.npy", "a.npy", "-o", "new.npy", says="2^53")
    np.save("a.npy", np.array([2 ** 63, 1], "u8"))
    refuses("uint64 beyond 2^53", "einsum", "i->", "a.npy", "-o", "new.npy", says="2^53")
    np.save("a.npy", np.array([-2 ** 63, 1], "i8"))
    refuses("the smallest int64", "einsum", "i->", "a.npy", "-o", "new.npy", says="2^53")
    for x in [np.array([[2 ** 63 + 1, 1], [3, 2 ** 64 - 1]], "u8"), np.array([[-2 ** 63 + 1, 5], [2 ** 62 + 1, -7]], ">i8")]:
        np.save("a.npy", np.asfortranarray(x))
        for words in ["ij->ji", "ii->i", "ij", "ji", "...->..."]:
            check(np.array_equal(answer(words, "a.npy"), np.einsum(words, x)), f"{words} moves {x.dtype}")
        refuses("a trace beyond 2^53", "einsum", "ii", "a.npy", "-o", "new.npy", says="2^53")
    np.save("a.npy", np.array([2 ** 60])), np.save("b.npy", np.zeros(0, "i8"))
    check(answer("i,j->ij", "a.npy", "b.npy").shape == (1, 0), "no elements pass no bound")
    x = np.array([2 ** 52, 1], "i8")
    np.save("a.npy", x)
    check(answer("i->", "a.npy") == 2 ** 52 + 1, "2^52 + 1")


def bad_files():
    data = np.arange(6.0).tobytes()
    text = "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }"
    whole = header(text) + data
    good = {"as NumPy writes": whole, "more bytes behind": whole + b"more", "no spaces": header("{'descr':'<f8','fortran_order':False,'shape':(6,)}") + data,
            "double quotes": header(text.replace("'", '"')) + data, "Python 2 integers": header(text.replace("(6,)", "(6L,)")) + data,
            "Python 2 Unicode": header(text.replace("'descr'", "u'descr'").replace("'shape'", 'U"shape"').replace("'<f8'", "u'<f8'")) + data,
            "another order of keys": header("{'shape': (6,), 'fortran_order': False, 'descr': '<f8'}\n") + data}
    for what, content in good.items():
        open("a.npy", "wb").write(content)
        got = answer("i->i", "a.npy")
        check(got is not None and np.array_equal(got, np.arange(6.0)), what)

    bad = {"empty": b"", "one byte": b"\x93", "another mark": b"X" + whole[1:], "a zip": b"PK\x03\x04" + whole, "text": b"1 2 3\n",
           "version 0": whole[:6] + b"\0" + whole[7:], "version 4": whole[:6] + b"\4" + whole[7:], "minor version": whole[:7] + b"\1" + whole[8:],
           "no header": whole[:10], "half a header": whole[:30], "header of 65535": header(text, length=65535) + data,
           "version 2 of 4 GiB": header(text, 2, 0xffffffff) + data, "no data": whole[:-48], "one byte short": whole[:-1],
           "huge shape": header(text.replace("6", "1099511627776")) + data,
           "overflow": header(text.replace("(6,)", "(4294967296, 4294967296, 4294967296)")) + data,
           "digits": header(text.replace("6", "9" * 40)) + data, "negative": header(text.replace("6", "-6")) + data}
    headers = {"records": "[('x', '<f8')]", "objects": "'|O'", "strings": "'<U4'", "bytes": "'|S8'", "dates": "'<M8[s]'", "void": "'|V8'",
               "long double": "'<f16'", "nothing": "''", "f3": "'<f3'", "f": "'<f'", "f-8": "'<f-8'", "i16": "'<i16'", "c4": "'<c4'", "number": "8", "tuple": "('<f8', (2,))"}
    for what, descr in headers.items():
        bad["type " + what] = header(text.replace("'<f8'", descr)) + data * 4
    for what, shape in {"list": "[6]", "integer": "6", "bare": "(6)", "float": "(6.0,)", "text": "('6',)", "True": "(True,)", "None": "None", "open": "(6,", "commas": "(6,,)"}.items():
        bad["shape " + what] = header(text.replace("(6,)", shape)) + data
    for what, order in {"None": "None", "0": "0", "text": "'False'"}.items():
        bad["order " + what] = header(text.replace("False", order)) + data
    for what, other in {"list": "[1, 2]", "empty": "", "empty dict": "{}", "two keys": "{'descr': '<f8', 'shape': (6,)}", "another key": text[:-1] + "'x': 1}",
                        "code": "__import__('os').system('touch made-by-code')", "open": text[:-1], "behind": text + "x", "NUL": text[:20] + "\0" + text[21:],
                        "deep": "(" * 5000, "letters": "\u00e9" * 20}.items():
        bad["header " + what] = header(other) + data
    np.save("keep.npy", np.arange(3.0))
    for what, content in bad.items():
        open("a.npy", "wb").write(content)
        refuses(what, "einsum", "i->i", "a.npy", "-o", "new.npy", says="a.npy")
        refuses(what + ", existing result", "einsum", "i->i", "a.npy", "-o", "keep.npy")
    check(np.array_equal(np.load("keep.npy"), np.arange(3.0)), "keep.npy was kept")
    for cut in range(0, len(whole), 7):
        open("a.npy", "wb").write(whole[:cut])
        refuses(f"cut at {cut}", "einsum", "i->i", "a.npy", "-o", "new.npy", says="a.npy")


def places():
    np.save("a.npy", np.arange(6.0))
    os.makedirs("dir", exist_ok=True)
    refuses("no such file", "einsum", "i->i", "none.npy", "-o", "new.npy", says="none.npy")
    refuses("a folder", "einsum", "i->i", "dir", "-o", "new.npy", says="dir")
    refuses("a folder as result", "einsum", "i->i", "a.npy", "-o", "dir", says="dir")
    refuses("no such folder", "einsum", "i->i", "a.npy", "-o", "nowhere/new.npy", says="nowhere")
    refuses("a full disk", "einsum", "i->i", "a.npy", "-o", "/dev/full", says="/dev/full")
    done = run("einsum", "i->i", "a.npy", "-o", "/dev/null")
    check(done.returncode == 0 and os.path.exists("/dev/null") and not os.path.isfile("/dev/null"), "/dev/null stays a device")
    done = run("einsum", "i,i->i", "a.npy", "a.npy", "-o", "a.npy")
    check(done.returncode == 0 and np.array_equal(np.load("a.npy"), np.arange(6.0) ** 2), "the result replaces an operand")
    os.symlink("a.npy", "link.npy")
    done = run("einsum", "i->i", "link.npy", "-o", "link.npy")
    check(done.returncode == 0 and os.path.islink("link.npy"), "a link stays a link")
    os.symlink("later.npy", "early.npy")
    done = run("einsum", "i->i", "link.npy", "-o", "early.npy")
    check(done.returncode == 0 and os.path.islink("early.npy") and os.path.exists("later.npy"), "a link to a file that is not there yet makes that file")
    os.symlink("round.npy", "round.npy")
    refuses("a link to itself", "einsum", "i->i", "a.npy", "-o", "round.npy", says="round.npy")
    for mode in (0o600, 0o664):
        os.chmod("later.npy", mode)
        done = run("einsum", "i->i", "a.npy", "-o", "later.npy")
        check(done.returncode == 0 and os.stat("later.npy").st_mode & 0o777 == mode, f"permissions {mode:o} stay")
    done = run("einsum", "i->i", "a.npy", "-o", "new.npy", preexec_fn=lambda: os.umask(0o027))
    check(done.returncode == 0 and os.stat("new.npy").st_mode & 0o777 == 0o640, "a new file has what umask leaves")
    long = "n" * 251 + ".npy"
    done = run("einsum", "i->i", "a.npy", "-o", long)
    check(done.returncode == 0 and np.array_equal(np.load(long), np.load("a.npy")), f"the longest name there is: {done.stderr!r}")
    if os.geteuid() != 0:
        os.chmod("later.npy", 0o444)
        refuses("a file that may not be written", "einsum", "i->i", "a.npy", "-o", "later.npy", says="later.npy")
    check([f for f in os.listdir(".") if f.endswith(".tmp")] == [], "no temporary file stays")


def open_files():
    """What is open already is written to as it stands, not replaced."""
    np.save("a.npy", np.arange(6.0))
    for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        with open("log", "wb") as log:
            log.write(b"before")
            log.flush()
            done = subprocess.run([command, "einsum", "i->i", "a.npy", "-o", name], stdout=log, timeout=60)
            log.seek(0, 2)
            log.write(b"behind")
        text = open("log", "rb").read()
        check(done.returncode == 0 and text.startswith(b"before\x93NUMPY") and text.endswith(np.arange(6.0).tobytes() + b"behind"), f"{name} is a file: {text[:20]!r}")


def many_extents():
    shape = lambda n: header("{'descr': '<f8', 'fortran_order': False, 'shape': (" + "1," * n + "), }", 2) + np.ones(1).tobytes()
    open("a.npy", "wb").write(shape(64))
    done = run("einsum", "...->...", "a.npy", "-o", "wide.npy")  # NumPy has 32 or, from version 2 on, 64
    check(done.returncode == 0 and open("wide.npy", "rb").read().count(b"1, ") == 63, f"64 extents: {done.stderr!r}")
    for n in (65, 22000, 60000, 400000):
        open("a.npy", "wb").write(shape(n))
        refuses(f"{n} extents", "einsum", "...", "a.npy", "-o", "new.npy", says="64 extents" if n < 400000 else "a.npy")


def interrupted():
    """Nothing half written stays behind."""
    np.save("a.npy", np.ones((3000, 3000)))
    for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2):
        found = False
        for _ in range(20):
            started = subprocess.Popen([command, "einsum", "ij->ji", "a.npy", "-o", "large.npy"])
            while started.poll() is None and not found:
                found = any(f.endswith(".tmp") for f in os.listdir("."))
            started.send_signal(sent)
            started.wait(60)
            check([f for f in os.listdir(".") if f.endswith(".tmp")] == [], f"signal {sent} leaves {os.listdir('.')}")
            if found:
                break
        check(found, f"signal {sent} came while the file was written")
    limited = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    refuses("a file that is too large", "einsum", "ij->ji", "a.npy", "-o", "larger.npy", says="larger.npy", preexec_fn=limited)


def threads():
    """As many as there are, whatever is allowed: the memory for 65536 was asked for."""
    x = np.arange(600.0 * 600).reshape(600, 600) % 7
    np.save("a.npy", x)
    got = answer("ij,jk->ik", "a.npy", "a.npy", "--threads", "65536")
    check(got is not None and np.array_equal(got, x @ x), "65536 threads")


def rounding():
    """Doubles and integers become half in one rounding."""
    values = [1 + 2.0 ** -11 + 2.0 ** -40, 2049 + 2.0 ** -20, 2.0 ** -25 * (1 + 2.0 ** -30), 65519.999999, 65520.0, -1 - 2.0 ** -11 - 2.0 ** -50, 1e300, 1e-300, 0.1, -0.0]
    x = np.array(values)
    np.save("a.npy", x)
    got = answer("i->i", "a.npy", "--dtype", "f16")
    with np.errstate(over="ignore"):
        check(got is not None and np.array_equal(got, x.astype("f2")), f"doubles to half: {got} {x.astype('f2')}")


good_files()
no_elements()
integers()
bad_files()
places()
open_files()
many_extents()
interrupted()
threads()
rounding()
finish("files read, written and refused as they should be")
