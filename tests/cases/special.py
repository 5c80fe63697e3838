# Items that are no plain einsum of given shapes: what they become, or why they do not apply.
import itertools
import re

import numpy as np

from jobs import Job, Skip, by_extents, literal, mod7, numbered, operands_of, plain, split, types_of, values_of

reasons = [
    ("numpy/errors/003", "a subscript that is no string does not compile in C++"),
    ("numpy/errors/004", "null arguments do not compile in C++"),
    ("numpy/specific_errors/001", "a result that is no array does not compile in C++"),
    ("numpy/specific_errors/003", "there is no casting rule to be wrong: element types must be equal"),
    ("numpy/specific_errors/004", "element types are C++ types"),
    ("numpy/specific_errors/005", "unknown options do not compile in C++"),
    ("opt_einsum/parser/003", "a numbering of symbols; labels beyond the letters are numbers here"),
    ("opt_einsum/errors/026", "a label that is a list does not compile in C++"),
    ("opt_einsum/expression_errors/001", "there is no switch that forbids planning"),
    ("opt_einsum/expression_errors/003", "a plan takes no array of another library"),
    ("opt_einsum/expression_errors/009", "unknown options do not compile in C++"),
    ("paths/flop_count", "the definition of a cost, tested with the order of contraction"),
    ("paths/errors", "options of another library's path search"),
    ("paths/recipe", "a recipe of random equations: numpy.fuzz draws such"),
    ("torch/recipe", "a recipe of random equations: numpy.fuzz draws such"),
    ("cutensor/cublas/003", "trsm: triangular solve, no contraction"),
    ("cutensor/cublas/005", "hemm: a triangle stands for the matrix, no contraction"),
    ("cutensor/cublas/006", "herk: writes a triangle, no contraction"),
    ("cutensor/cublas/007", "her2k: writes a triangle, no contraction"),
    ("cutensor/cublas/010", "syr2k: writes a triangle, no contraction"),
    ("bugs/trsm", "trsm: triangular solve, no contraction"),
    ("bugs/herk", "herk: writes a triangle, no contraction"),
    ("bugs/int32_overflow/005", "grouped gemm of a BLAS; the other four items test the same offsets"),
    ("ceed/libceed_unit", "quadrature and Lagrange bases, which the demo checks"),
    ("ceed/bp_list", "a list of degrees without a case"),
    ("random/recipe", "a recipe of random contractions: numpy.fuzz and tcl1000 stand for it"),
    ("transpose/recipe", "a recipe of random transpositions: hptt57 stands for it"),
]


def numpy_items(item, name):
    if name == "numpy/errors/002":
        return [Job("", [], error=True, command=False)]
    if name.startswith("numpy/sorting"):
        shape = [2 if l in (3, 25) else 1 for l in item["sublist"]]
        return [Job(([item["sublist"][::-1]], None), [mod7(shape, 0)], command=False)]
    if name == "numpy/sums/016":  # booleans: true where all three are
        operands = [np.array(x, bool) for x in item["operands"]]
        return [Job(item["subscripts"], operands, np.array(item["expect"]["values"]))]
    if name in ("numpy/sums/036", "numpy/sums/038"):
        return [*plain(dict(item, operands=None, fill=None)), Job(item["subscripts"], [np.eye(2, dtype=int), np.ones(2, int)], np.array(2))]
    if name in ("numpy/paths/002", "numpy/paths/003"):
        x = np.arange(7) + 0.5
        wide = x.repeat(2)[::2]
        oracle = x * x if name.endswith("2") else np.array((x * x).sum())
        return [*plain(dict(item, fill=None)), Job(item["subscripts"], [x, x], oracle, types=("f2", "f4")),
                Job(item["subscripts"], [wide, wide], oracle)]
    if name == "numpy/paths/009":
        x = np.array([0.5, 0.5, 0.25, 4.5, 3])
        return [*plain(dict(item, operands=None)), Job(item["subscripts"], [x] * 4, np.array(491.19140625), types=("f4",))]
    if name.startswith("numpy/output_order"):  # our results are always row-major; the values must be right
        return [Job(item["subscripts"], [np.asarray(x, order=o) for x, o in zip(operands_of(item["shapes"]), item["operand_order"])])]
    if name == "numpy/strides/008":
        return [*plain(dict(item, fill=None)), Job(item["subscripts"], [np.ones(s, bool) for s in item["shapes"]], literal(item["expect"]["values"]))]
    return None


def opt_einsum_items(item, name):
    call = {"002": ("ab,bc->ac", [(2, 3), (3, 4), (42, 42)]), "004": ("ab,bc->ac", [(2, 3)]),
            "005": ("ab,bc->ac", [(2, 3), (3, 4), (4, 5)]), "006": ("ab,bc->ac", [(2, 3, 4), (3, 4)]),
            "007": ("ab,bc->ac", [(2, 4), (3, 4, 5)])}
    if name.startswith("opt_einsum/expression_errors"):
        if name.endswith("008"):
            return "out"
        words, shapes = call[name[-3:]]
        return [Job(words, operands_of(shapes), error=True)]
    if name == "opt_einsum/parser/001":  # not a letter: refused as a string, fine as a number
        x = mod7(tuple(item["shapes"][0]), 0)
        return [Job(item["subscripts"], [x], error=True),
                Job(([[ord(c) for c in item["subscripts"]]], None), [x], np.einsum("cxa->acx", x))]
    if name == "opt_einsum/sublist/006":
        x = mod7((2, 3), 0)
        return [Job(([[i + 1, i]], None), [x], x.T) for i in range(10)]
    if name in ("opt_einsum/sublist/007", "opt_einsum/sublist/008"):  # names are numbers in sorted order
        order = sorted({l for s in item["sublists"] for l in s})
        lists = [[order.index(l) for l in s] for s in item["sublists"]]
        operands = operands_of(item["shapes"])
        wanted = operands[0].T if len(lists) == 1 else np.einsum("ab,bc,cd->da" if order.index("right") < order.index("left") else "ab,bc,cd->ad", *operands)
        return [Job((lists, None), operands, wanted)]
    if name.startswith("opt_einsum/mixed_types"):
        operands = [literal(x) for x in item["operands"]]
        return [Job(item["subscripts"], [np.asarray(x, complex) for x in operands], literal(item["expect"]["values"])),
                Job(item["subscripts"], operands, literal(item["expect"]["values"]))]
    return None


def path_items(item, name):
    if name.startswith("paths/large_path"):
        count = item["num_symbols"]
        labels = [[t, t + 1] for t in range(count - 1)]
        shapes = [[2 + t % 3, 2 + (t + 1) % 3] for t in range(count - 1)]
        # One 1 or -1 a row: the product of any number of them has such rows too.
        chain = [np.eye(m, dtype=int)[np.arange(n) % m] * np.where(np.arange(n) % 3 == 1, -1, 1)[:, None] for n, m in shapes]
        return [Job((labels, None), chain, command=False)]
    if "subscripts" not in item:
        raise Skip("no contraction in it")
    if "shapes" not in item:
        labels = dict.fromkeys(re.sub("[^a-zA-Z]", "", item["subscripts"]))
        sizes = item.get("sizes", {l: 2 + i % 4 for i, l in enumerate(labels)})
        return [by_extents(item["subscripts"], sizes)]
    return [scaled_shapes(item)]


def scaled_shapes(item, **more):
    """Like plain, but the shapes may be cut."""
    labels, _ = split(item["subscripts"])
    if "." in item["subscripts"]:
        return Job(item["subscripts"], operands_of(item["shapes"]), **more)
    extents = {l: n for term, shape in zip(labels, item["shapes"]) for l, n in zip(term, shape)}
    return by_extents(item["subscripts"], extents, **more)


def cotengra_items(item, name):
    if name == "cotengra/size_one/006":
        pairs = list(itertools.combinations(range(20), 2))
        labels = [[i for i, p in enumerate(pairs) if v in p] for v in range(20)]
        return [Job((labels, []), [np.full([1] * 19, 1 + v % 2) for v in range(20)], np.array(2 ** 10), command=False)]
    if name.startswith("cotengra/tree"):
        labels, _ = split(item["subscripts"])
        sizes = item.get("sizes", 2)
        return [*plain(item)] if "shapes" in item else \
            [by_extents(item["subscripts"], {l: sizes if isinstance(sizes, int) else sizes[l] for l in "".join(labels)})]
    if isinstance(item.get("operands"), list):
        extents = item.get("extents", {"all": 2})
        lists = item["operands"]
        size = lambda l: extents["all"] if isinstance(extents, dict) and "all" in extents else extents[str(l)] if isinstance(extents, dict) else extents[l]
        shapes = item.get("shapes") or [[size(l) for l in term] for term in lists]
        return [numbered((lists, item.get("output", [])), shapes, 1 << 14)]
    if "check" not in item and len(item.get("shapes", [])) > 8:
        return [scaled_shapes(item)]
    return None


def torch_items(item, name):
    if item["expect"].get("type") == "values" and "dropped" in item["expect"].get("note", "") + item.get("note", ""):
        # PyTorch sums over an ellipsis that the result lacks; NumPy, and we, refuse.
        operands = [literal(x) for x in item["operands"]]
        return [Job(item["subscripts"], operands, error=any(len(x.shape) > len(re.sub(r"[^a-z]", "", split(item["subscripts"])[0][q]))
                                                           for q, x in enumerate(operands)), wanted=None)]
    if name == "torch/errors/020":  # 52 is a label like any other here
        return [Job((item["sublists"], None), operands_of(item["shapes"]))]
    if name.startswith("torch/bmm"):
        a, b = item["shapes"]
        small = (a[0], a[1], a[2]), (b[0], b[1], min(b[2], 432))
        return [Job("bij,bjk->bik", operands_of(small))]
    return None


def jax_items(item, name):
    if name == "jax/special/001":
        return [Job(item["subscripts"], [np.array([[[np.inf, np.inf], [1.0, 1.0]]])], np.array([[np.inf, 1.0]]))]
    if name.startswith("jax/special") or name == "jax/errors/001":
        return [Job(item["subscripts"], operands_of(item["shapes"]), types=("f2", "f4", "c8", "c16"))]
    return None


def cutensor_items(item, name):
    if name == "cutensor/elementwise/001":
        return [by_extents("cba->abc", {"a": 400, "b": 200, "c": 300})]
    if name == "cutensor/elementwise/004":
        return "padding"
    if name == "cutensor/cublas/001":
        return [Job("bij,bjk->bik", [np.array(item["A"]), np.array(item["B"])], np.array(item["expect"]["C"]))]
    if name == "cutensor/cublas/002":
        return [Job("ij,jk->ik", [np.array(a), np.array(b)], np.array(c), types=("f4",))
                for a, b, c in zip(item["A"], item["B"], item["expect"]["C"])]
    if name == "cutensor/cublas/004":
        to_complex = lambda m: np.array(m)[..., 0] + 1j * np.array(m)[..., 1]
        # alpha is 1 + i: a third factor of rank 0
        return [Job("ij,jk,->ik", [to_complex(item["A"]), to_complex(item["B"]), np.array(1 + 1j)], to_complex(item["expect"]["C"]))]
    if "extents" in item:
        return [by_extents(item["einsum_row_major"], item["extents"], types=types_of(item))]
    return None


def fastor_items(item, name):
    if not name.startswith("fastor/permute"):
        return None
    if "perms" in item:
        shape = item["shape"]
        letters = "abcd"[:len(shape)]
        return [Job(letters + "->" + "".join(p), [mod7(shape, 0)]) for p in itertools.permutations(letters)]
    # result.flat[j + 4 * (k + 5 * i)...]: the inverse permutation of kij
    raise Skip("a scattering that no einsum means; its source says that it is not the transpose")


def tensordot(item, name):
    axes = item.get("axes")
    if "dot" in name:
        return dot(item)
    operands = fills(item)
    for x in item.get("slices", []):
        q = "ab".index(x[0])
        operands[q] = eval(x, {}, {"a": operands[0], "b": operands[1], x[0]: operands[q]})
    a, b = operands
    pairs = [list(range(a.ndim - axes, a.ndim)), list(range(axes))] if isinstance(axes, int) else axes
    labels = [[*range(a.ndim)], [*range(100, 100 + b.ndim)]]
    for i, j in zip(*pairs):
        labels[1][j] = labels[0][i]
    result = [l for l in labels[0] if l not in labels[1]] + [l for l in labels[1] if l not in labels[0]]
    shape = item["expect"].get("output_shape")
    if item["expect"]["type"] == "error":
        return [Job((labels, result), [a, b], error=True, command=False)]
    return [Job((labels, result), [a, b], values_of(item["expect"], shape), command=False)]


def fills(item):
    fill = item.get("fill")
    out = []
    for q, shape in enumerate(item["shapes"]):
        text = fill[q] if isinstance(fill, list) else fill
        x = mod7(shape, q) if text is None else np.arange(np.prod(shape)).reshape(shape) if text == "arange" else \
            np.full(shape, 1 if text == "ones" else float(text[6:]))
        layout = item.get("layouts", ["row"] * 2)[q]
        out.append(np.asarray(x, order="F" if layout == "col" else "C"))
    return out


def dot(item):
    def one(x, others):
        if isinstance(x, list): return np.array(x)
        if x == "same": return others[-1]
        x = x.removeprefix("A=")
        if x == "transpose(A)": return others[-1].T
        if found := re.fullmatch(r"transpose\((.*)\)", x): return one(found[1], others).T
        if found := re.fullmatch(r"ones\((.*)\)", x): return np.ones([int(n) for n in found[1].split(",")], int)
        base = np.arange(1000).reshape(10, 10, 10)
        return eval(x.replace("arange(1000).reshape(10,10,10)", "base"), {"base": base, "a": base, "b": base})

    order = "F" if item.get("layouts") == "col" else "C"
    if "shapes" in item:
        operands = operands_of(item["shapes"])
    else:
        operands = []
        for x in item["operands"]:
            operands.append(one(x, operands))
    operands = [np.asarray(x, order=order) if order == "F" else x for x in operands]
    words = {(2, 2): "ij,jk->ik", (2, 1): "ij,j->i", (1, 2): "j,jk->k", (1, 1): "i,i->"}[tuple(x.ndim for x in operands)]
    if item["expect"]["type"] == "error":  # einsum lets an extent of 1 give way, as NumPy does: then it is no error
        one = operands[0].shape[-1] == 1 or operands[1].shape[0] == 1
        return [Job(words, operands, error=not one)]
    values = item["expect"].get("values")
    if isinstance(values, str):
        number = re.search(r"all (\d+)", values)
        return [Job(words, operands, np.full(np.einsum(words, *operands).shape, int(number[1]) if number else 1))]
    return [Job(words, operands, None if values is None else np.array(values))]


def random_items(item, name):
    if name.startswith("random/kron"):
        count, p = item["N"], item["P"]
        q = item.get("Q", p)
        words = item.get("subscripts")
        if words is None:
            left, right = "abcdefgh"[:count], "nopqrstu"[:count]
            words = "m" + left + "," + ",".join(map("".join, zip(left, right))) + "->m" + right
        first = split(words)[0]
        extents = {"m": item.get("M", 1)} | {l: p for l in first[0][1:]} | {t[1]: q for t in first[1:]}
        return [by_extents(words, extents)]
    if item.get("name") == "blocked_fc":
        return [by_extents(item["subscripts"], {"m": 2, "n": 2, "k": 2, "b": m // 8, "c": n // 8, "a": k // 8}, command=(m, n, k) == (16, 16, 16))
                for m in item["sweep"]["m1"] for n in item["sweep"]["n1"] for k in item["sweep"]["k1"]]
    if name.startswith("random/einsum_ir_networks") and "operands" in item:
        sizes = item["sizes_by_index"]
        size = lambda l: sizes[str(l)] if isinstance(sizes, dict) else sizes[l]
        return [numbered((item["operands"], item["output"]), [[size(l) for l in t] for t in item["operands"]], 1 << 14)]
    words = item.get("einsum_row_major", item.get("subscripts"))
    extents = next((item[k] for k in ("extents", "extents_test", "extents_suggested", "sizes_by_label") if k in item), None)
    if extents is None:
        extents = {l: 5 + i for i, l in enumerate(dict.fromkeys(re.sub("[^a-zA-Z]", "", words)))}
    tcl = name.startswith("random/tcl")
    return [by_extents(words, extents, 40_000 if tcl else None, types=("f4",) if tcl else types_of(item))]


def ceed_items(item, name):
    if not name.startswith("ceed/bp/"):
        return None
    p, q = item["P"], item["Q"]
    extents = {"e": 2, "c": item.get("components", 1)} | dict.fromkeys("kji", p) | dict.fromkeys("srq", q)
    return [by_extents("eckji,qi,rj,sk->ecsrq", extents), by_extents("ecsrq,qi,rj,sk->eckji", extents), by_extents("eq,ecq->ecq", extents)]


def transposes(item, name):
    if "axes" in item:
        x = np.asarray(mod7(item["shape"], 0), order=item["order"])
        axes = item["axes"] or range(x.ndim)[::-1]
        return [Job("abcd->" + "".join("abcd"[a] for a in axes), [x], x.transpose(item["axes"]), types=types_of(item))]
    extents = dict(zip(split(item["einsum_first_index_fastest"])[0][0], item["size_first_index_fastest"]))
    return [by_extents(item["einsum_row_major"], extents)]


handlers = {"numpy": numpy_items, "opt_einsum": opt_einsum_items, "paths": path_items, "cotengra": cotengra_items,
            "torch": torch_items, "jax": jax_items, "cutensor": cutensor_items, "fastor": fastor_items, "xtensor": tensordot,
            "random": random_items, "ceed": ceed_items, "transpose": transposes}


def jobs_of(item):
    """Jobs, or the name of a function of updates.py. Raises Skip with the reason."""
    name = item["id"]
    for prefix, reason in reasons:
        if name.startswith(prefix):
            raise Skip(reason)
    suite = name.split("/")[0]
    if suite in ("tccg", "cogent"):
        return "update"
    if suite == "bugs" and "subscripts" not in item:
        return "bug"
    if name in ("numpy/strides/003", "numpy/strides/006", "numpy/strides/007", "opt_einsum/out/001", "opt_einsum/out/002", "numpy/misc/007"):
        return "out"
    handled = handlers[suite](item, name) if suite in handlers else None
    return list(plain(item)) if handled is None else handled
