# Items that need more than einsum(words, operands): updates of a result, given results, reports of bugs.
import math
import re

import numpy as np

from client import Refused
from jobs import mod7, scaled, split

kinds = ("f4", "f8", "c8", "c16", "f2")


def need(condition, text):
    if not condition:
        raise AssertionError(text)


def equal(got, wanted, text):
    got, wanted = np.asarray(got), np.asarray(wanted)
    if not (got.shape == wanted.shape and np.array_equal(got, wanted)):  # printing a large array takes seconds: only when they differ
        raise AssertionError(f"{text}: {got!r} instead of {wanted!r}")


def operands_for(words, extents):
    labels, result = split(words)
    return [mod7([extents[l] for l in term], q) for q, term in enumerate(labels)], mod7([extents[l] for l in result], 5)


def update(api, item):
    """C += A B, C -= A B, C = alpha A B + beta C, in double and float; small integers, so exact in both."""
    words = item["einsum_row_major"]
    given = [item[k] for k in ("extents", "extents_float64", "extents_default", "extents_nonuniform_suggested") if isinstance(item.get(k), dict)]
    alpha, beta = (2.0, 3.0) if "alpha" in item else (float(item.get("sign", 1)), 1.0)
    for extents in given:
        for k in item.get("sweep", {}).get("k", [None]):
            small = scaled(dict(extents, k=k) if k else extents)
            operands, c = operands_for(words, small)
            wanted = beta * c + alpha * np.einsum(words, *operands)
            for kind in ("f8", "f4"):
                out = c.astype(kind)
                api.einsum(words, *[x.astype(kind) for x in operands], out=out, alpha=alpha, beta=beta)
                equal(out, wanted, f"{words} {small} {kind}")
            got = api.einsum(words, *[x.astype("f8") for x in operands])
            equal(got, np.einsum(words, *operands), f"{words} {small}")


def out(api, item):
    """A given result: strided, full of NaN, and untouched between its elements."""
    if item["id"].startswith("opt_einsum/expression_errors"):
        try:
            api.einsum("ab,bc->ac", np.ones((2, 3)), np.ones((3, 4)), out=np.zeros((2, 4, 6)))
        except Refused:
            return
        need(False, "a result of the wrong shape was accepted")
    words, shapes = item["subscripts"], item["shapes"]
    operands = [mod7(s, q) for q, s in enumerate(shapes)]
    wanted = np.einsum(words, *operands)
    for step in (1, 2, 3):
        base = np.full([*wanted.shape, step], np.nan)
        base[..., 1:] = 7
        flat = api.einsum(words, *[x.astype("f8") for x in operands], out=base[..., 0])
        equal(base[..., 0], wanted, f"{words} into steps of {step}")
        whole = np.full(flat.size, 7.0)
        whole[::step] = wanted.ravel()
        equal(flat, whole, f"{words} wrote between the elements")


def padding(api, item):
    """The middle of a larger result; the rim stays zero."""
    x = mod7((8, 9, 10, 3), 0).astype("f8")
    big = np.zeros((10, 10, 12, 3))
    flat = api.einsum("whcn->cwhn", x, out=big[:, 1:9, 2:11, :])
    wanted = np.zeros_like(big)
    wanted[:, 1:9, 2:11, :] = x.transpose(2, 0, 1, 3)
    lo = 1 * big.strides[1] // 8 + 2 * big.strides[2] // 8
    equal(flat, wanted.ravel()[lo:lo + flat.size], "padding")


def gemm(api, a, b, **more):
    return api.einsum("ik,kj->ij" if a.ndim == 2 else "bik,bkj->bij", a, b, **more)


def conjugation(api):
    for kind in ("c8", "c16"):
        a = (mod7((4, 5), 0) + 1j * mod7((4, 5), 1)).astype(kind)
        b = (mod7((5, 6), 2) + 1j * mod7((5, 6), 3)).astype(kind)
        for ca in (False, True):
            for cb in (False, True):
                old = (mod7((4, 6), 4) + 2j).astype(kind)
                c = old.copy()
                api.einsum("ik,kj->ij", a, b, out=c, alpha=2.0, beta=3.0, conj=[ca, cb])
                equal(c, 3 * old + 2 * (a.conj() if ca else a) @ (b.conj() if cb else b), f"conj {ca} {cb} {kind}")


def beta_zero_nan(api):
    for m, n, k in [(1, 1, 1), (3, 5, 7), (8, 16, 4), (33, 17, 9), (64, 64, 1), (31, 65, 3), (13, 1, 6), (1, 29, 2)]:
        for kind in kinds:
            a, b = mod7((m, k), 0).astype(kind), mod7((k, n), 1).astype(kind)
            c = np.full((m, n), np.nan, kind)
            gemm(api, a, b, out=c)
            equal(c, a.astype("c16") @ b.astype("c16"), f"C full of NaN, {m} {n} {k} {kind}")


def offsets(api, item):
    """64-bit offsets: elements far apart in memory of which few pages are touched are tested in einsum.offsets; here
    the shapes, scaled, with the strides that they have."""
    a = np.lib.stride_tricks.as_strided(np.arange(64 * 300.0), (64, 5), (300 * 8, 8))
    equal(api.einsum("ij->i", a), a.sum(1), "row stride")
    equal(api.einsum("i,j->ij", np.arange(256.0), np.arange(128.0)), np.outer(np.arange(256.0), np.arange(128.0)), "outer")


def bug(api, item):
    """By the name of the item."""
    name = item["id"].split("/")[1]
    if name == "conjugation":
        conjugation(api)
    elif name == "beta_zero_nan":
        beta_zero_nan(api)
    elif name == "alpha_zero_batch":
        a, b, c = mod7((3, 4, 5), 0).astype("f8"), mod7((3, 5, 6), 1).astype("f8"), mod7((3, 4, 6), 2).astype("f8")
        wanted = 0.5 * c
        gemm(api, a, b, out=c, alpha=0.0, beta=0.5)
        equal(c, wanted, "alpha 0")
    elif name == "gemm_nan":
        a = np.ones((9, 7))
        a[4, 3] = np.nan
        got = gemm(api, a, np.zeros((7, 11)))
        need(np.isnan(got[4]).all() and (np.delete(got, 4, 0) == 0).all(), "NaN times zero is NaN")
    elif name == "int32_overflow":
        offsets(api, item)
    elif name == "half_accumulate":
        for k in item["k"]:
            x = np.ones(k, "f2")
            equal(api.einsum("i->", x), np.float16(k), f"sum of {k} ones in half")
            equal(api.einsum("i,i", x, x), np.float16(k), f"dot of {k} ones in half")
    elif name == "half_scalars":
        c = np.zeros((3, 3), "f2")
        gemm(api, np.full((3, 1), 100, "f2"), np.full((1, 3), 100, "f2"), out=c, alpha=1.0008, beta=0.0)
        equal(c, np.full((3, 3), 10008, "f2"), "alpha in float")
    elif name == "half_reference":
        half_reference(api)
    elif name == "layout":
        x = mod7((4, 16413, 3, 8), 0).astype("f4")
        y = mod7((4, 3, 8, 2), 1).astype("f4")
        equal(api.einsum("abij,abjk->abik", x.transpose(0, 2, 1, 3), y), x.transpose(0, 2, 1, 3) @ y, "permuted layout")
    elif name == "batch_65536":
        for batch in item.get("batch", [1_030_000]):
            m, n, k = (4, 4, 2) if "batch" in item else (3, 3, 3)
            a, b = mod7((batch, m, k), 0).astype("f4"), mod7((batch, k, n), 1).astype("f4")
            equal(gemm(api, a, b), np.matmul(a, b), f"batch of {batch}")
    elif name == "large_n":
        a, b = mod7((2, 2), 0).astype("f8"), mod7((2, 65536 * 8 + 5), 1).astype("f8")
        c = mod7((2, b.shape[1]), 2).astype("f8")
        wanted = 3 * c + 2 * a @ b
        gemm(api, a, b, out=c, alpha=2.0, beta=3.0)
        equal(c, wanted, "large n")
    elif name == "interleaved_C":
        batch, k = item["batch"], item["mnk"][2]
        a, b = mod7((batch, 1, k), 0).astype("f8"), mod7((batch, k, 1), 1).astype("f8")
        base = np.full((batch,), np.nan)
        c = np.lib.stride_tricks.as_strided(base, (batch, 1, 1), (8, 8 * item["ldc"], 8))
        gemm(api, a, b, out=c)
        equal(base, (a @ b)[:, 0, 0], "interleaved C")
    elif name == "zero_batch_dim":
        equal(gemm(api, np.zeros((2, 0, 3)), np.zeros((2, 3, 1))), np.zeros((2, 0, 1)), "empty")
    elif name == "k_zero":
        c = np.full((4, 5), np.nan)
        gemm(api, np.zeros((4, 0)), np.zeros((0, 5)), out=c)
        equal(c, np.zeros((4, 5)), "k = 0")
        c = mod7((4, 5), 0).astype("f8")
        wanted = 0.5 * c
        gemm(api, np.ones((4, 3)), np.ones((3, 5)), out=c, alpha=0.0, beta=0.5)
        equal(c, wanted, "alpha = 0")
    elif name == "zero_stride":
        wide = np.broadcast_to(np.array([[2.0], [3.0]]), (2, 2))
        equal(gemm(api, np.array([[5.0, 7.0]]), wide), [[31.0, 31.0]], "stride 0")
    else:
        raise AssertionError(f"nobody tests {item['id']}")


def half_reference(api):
    """Long sums of halves, against double: |error| <= k eps_f32 sum |a||b| / 2 + eps_f16 |c|."""
    random = np.random.default_rng(5)
    k = 8192
    a, b = random.standard_normal((8, k)).astype("f2"), random.standard_normal((k, 12)).astype("f2")
    exact = a.astype("f8") @ b.astype("f8")
    size = np.abs(a.astype("f8")) @ np.abs(b.astype("f8"))
    error = np.abs(gemm(api, a, b).astype("f8") - exact)
    need((error <= k * 2.0 ** -24 * size + 2.0 ** -11 * (np.abs(exact) + k * 2.0 ** -24 * size)).all(), "long sums in half")


functions = {"update": update, "out": out, "padding": lambda api, item: padding(api, item), "bug": bug}
