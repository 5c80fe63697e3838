#!/usr/bin/env python3
# Random einsums compared with numpy.einsum, bit for bit on integer data; malformed words must be refused by both.
# Usage: fuzz.py SERVER COMMAND [SEED] [CASES]
import os
import random
import sys
import tempfile

import numpy as np

from client import Client, Command, Refused

letters = "abcdeXYZ"
types = ["f2", "f4", "f8", "c8", "c16", "?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]


def draw(rng):
    """Words and shapes: labels with one extent each, dots, repeated labels, broadcast extents, implicit or explicit."""
    extents = {label: rng.choice([0, 1, 1, 2, 2, 3, 3, 4, 5]) if rng.random() < 0.3 else rng.randint(1, 4) for label in letters}
    dots = [rng.choice([1, 2, 3]) for _ in range(rng.choice([0, 0, 0, 1, 2]))]
    terms, shapes = [], []
    for _ in range(rng.choice([1, 1, 2, 2, 2, 3, 3, 4, 5, 6])):
        labels = rng.choices(letters, k=rng.choice([0, 1, 1, 2, 2, 3, 4]))
        one = {label: rng.random() < 0.08 for label in set(labels)}  # extent 1 in this operand: broadcast
        shape = [1 if one[label] else extents[label] for label in labels]
        if dots and rng.random() < 0.6 or rng.random() < 0.05:
            at = rng.randint(0, len(labels))
            mine = [1 if rng.random() < 0.15 else n for n in dots[len(dots) - rng.randint(0, len(dots)):]]
            labels.insert(at, "...")
            shape[at:at] = mine
        terms.append("".join(labels))
        shapes.append(tuple(shape))
    words = ",".join(terms)
    if rng.random() < 0.65:
        there = sorted(set(words) - set(".,"))
        out = rng.sample(there, k=rng.randint(0, min(4, len(there))))
        if "..." in words and rng.random() < 0.95 or rng.random() < 0.03:
            out.insert(rng.randint(0, len(out)), "...")
        words += "->" + "".join(out)
    return words, shapes


def spoil(rng, words, shapes):
    """One random change of the words or of the shapes; it may be harmless."""
    if shapes and rng.random() < 0.3:
        q = rng.randrange(len(shapes))
        shape = list(shapes[q])
        kind = rng.randrange(3)
        if kind == 0 or not shape:
            shape.insert(rng.randint(0, len(shape)), rng.randint(0, 3))
        elif kind == 1:
            shape.pop(rng.randrange(len(shape)))
        else:
            shape[rng.randrange(len(shape))] += rng.choice([1, 2, 5])
        return words, shapes[:q] + [tuple(shape)] + shapes[q + 1:]
    at = rng.randint(0, len(words))
    if rng.random() < 0.6 or not words:
        return words[:at] + rng.choice(list(".,->  ijaX1%$\t\n_")) + words[at:], shapes
    at = min(at, len(words) - 1)
    return words[:at] + words[at + 1:], shapes


def fill(rng, shape, dtype, most):
    bits = np.random.default_rng(rng.getrandbits(32))
    low = 0 if dtype[0] in "?u" else -most
    x = bits.integers(low, most + 1, shape)
    if dtype[0] == "c":
        x = x + 1j * bits.integers(low, most + 1, shape)
    x = np.asarray(x).astype(dtype)
    if rng.random() < 0.3 and x.ndim:
        x = np.asfortranarray(x)
    return x.astype(x.dtype.newbyteorder(">")) if rng.random() < 0.1 else x


def by_numpy(words, operands):
    """The type of the result depends on types alone, as since NumPy 2: older ones look at the values of scalars too."""
    try:
        common = np.result_type(*[x.dtype.newbyteorder("=") for x in operands])
        return np.einsum(words, *[x.astype(common) for x in operands])
    except (ValueError, TypeError):
        return None


def main():
    server, command = sys.argv[1:3]
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 20240521
    cases = int(sys.argv[4]) if len(sys.argv) > 4 else 4000
    rng = random.Random(seed)
    api, cli = Client(server), Command(command)
    folder = tempfile.mkdtemp(prefix="ricci-fuzz-")
    counts = {"equal": 0, "refused": 0, "by the command": 0}
    for case in range(cases):
        words, shapes = draw(rng)
        if rng.random() < 0.25:
            words, shapes = spoil(rng, words, shapes)
        if np.prod([float(max(1, n)) for s in shapes for n in s]) > 3e6:
            continue
        mixed = rng.random() < 0.3
        kind = rng.choice(types)
        kinds = [rng.choice(types) if mixed else kind for _ in shapes]
        small = any(k == "f2" for k in kinds)  # halves hold integers up to 2048
        operands = [fill(rng, s, k, 1 if small or len(shapes) > 4 else 3) for s, k in zip(shapes, kinds)]
        wanted = by_numpy(words, operands)
        where = f"seed {seed} case {case}: {words!r} {[(x.shape, x.dtype.str) for x in operands]}"
        got, why = None, ""
        try:
            if rng.random() < 0.02 and "\t" not in words and "\n" not in words:
                got = cli.einsum(words, *operands)
                counts["by the command"] += 1
            elif mixed or kind[0] in "?iu" or any(x.dtype.byteorder == ">" for x in operands):
                files = [os.path.join(folder, f"{q}.npy") for q in range(len(operands))]
                for name, x in zip(files, operands):
                    np.save(name, x)
                output = os.path.join(folder, "out.npy")
                api.ask({"subscripts": words, "files": files, "output": output})
                got = np.load(output)
            else:
                got = api.einsum(words, *operands)
        except Refused as e:
            why = str(e)
        if (wanted is None) != (got is None):
            sys.exit(f"{where}: NumPy {'refuses' if wanted is None else 'answers'}, ricci says {why or got!r}")
        if wanted is None:
            counts["refused"] += 1
            continue
        wanted = np.asarray(wanted)
        if got.shape != wanted.shape or got.dtype != wanted.dtype.newbyteorder("=") or not np.array_equal(got, wanted):
            sys.exit(f"{where}: NumPy says {wanted!r}, ricci {got!r}")
        counts["equal"] += 1
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))
    os.rmdir(folder)
    cli.close()
    if api.close() != 0:
        sys.exit("the server failed at its end")
    print(", ".join(f"{n} {what}" for what, n in counts.items()))
    if counts["equal"] < cases / 3 or counts["refused"] < cases / 20:
        sys.exit("too few cases were worth their time")


main()
