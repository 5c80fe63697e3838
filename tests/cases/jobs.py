# From an item of a case file to jobs: words, operands, and what must come out.
import ast
import dataclasses
import math
import re

import numpy as np

most_terms = 200_000  # multiply-adds of a scaled case


@dataclasses.dataclass
class Job:
    words: object                   # a string, or (labels, result or None)
    operands: list                  # arrays of NumPy; integers unless the item says otherwise
    wanted: object = None           # the result if the item states it
    sums: tuple = None              # (sum, wsum) if the item states them
    shape: tuple = None
    error: bool = False
    contains: str = ""              # in the sentence of the error
    types: tuple = ()               # beside f64
    command: bool = True


class Skip(Exception):
    """The item does not apply; the text says why."""


def mod7(shape, q):
    count = math.prod(shape)
    return ((np.arange(count) * (2 * q + 3) + q) % 7 - 3).reshape(shape)


def signs(shape, q):
    """1 and -1: products of many factors stay small."""
    return np.where(np.arange(math.prod(shape)) * (2 * q + 3) // 2 % 3 == 0, -1, 1).reshape(shape)


def operands_of(shapes):
    fill = mod7 if len(shapes) <= 8 else signs
    return [fill(tuple(s), q) for q, s in enumerate(shapes)]


def filled(text, shape, n=None):
    """One operand from the text of a fill."""
    count = math.prod(shape)
    text = text.strip()
    if text == "arange": x = np.arange(count)
    elif text == "arange+1": x = np.arange(count) + 1
    elif text == "arange(n)[1:]": x = np.arange(n)[1:]
    elif text == "arange(n)[:-1]": x = np.arange(n)[:-1]
    elif text in ("ones", "true"): x = np.ones(count, int)
    elif text == "identity": x = np.eye(shape[0], dtype=int)
    elif text.startswith("const "): x = np.full(count, float(text[6:]))
    elif text.startswith("["): x = np.array(ast.literal_eval(text))
    elif found := re.fullmatch(r"(?:(\d+)\*)?iota\(([\d.]+)\)", text): x = (np.arange(count) + float(found[2])) * int(found[1] or 1)
    else: return None
    return x.reshape(shape)


def pieces(text):
    """Splits at the commas and semicolons that are outside of brackets."""
    out, depth = [""], 0
    for c in text:
        depth += (c in "[(") - (c in "])")
        if c in ",;" and depth == 0:
            out.append("")
        else:
            out[-1] += c
    return [x.strip() for x in out]


def fills_of(item, shapes, n=None):
    """The operands as the source fills them, or None if it draws them at random."""
    fill = item.get("fill")
    if "operands" in item:
        if not isinstance(item["operands"], list):
            return None
        return [literal(x) for x in item["operands"]]
    if fill in (None, "rand"):
        return None
    texts = fill if isinstance(fill, list) else pieces(fill)
    if texts[-1] == "second operand is a map over constant memory":
        texts = texts[:1]
    texts = texts * len(shapes) if len(texts) == 1 else texts[:len(shapes)]
    operands = [filled(t, tuple(s), n) for t, s in zip(texts, shapes)]
    return None if len(operands) < len(shapes) or any(x is None for x in operands) else operands


def literal(value):
    """Nested lists with numbers, booleans, "inf" and {"complex": [re, im]}."""
    if isinstance(value, dict):
        return np.array(complex(*value["complex"]))
    if isinstance(value, list):
        inner = [literal(v) for v in value]
        return np.array(inner) if inner else np.zeros(0, int)
    return np.array(float(value) if isinstance(value, str) else value)


def values_of(expect, shape):
    values = expect.get("values")
    if isinstance(values, str):
        found = re.fullmatch(r"all (\w+)", values)
        return np.full(shape, {"zeros": 0}.get(found[1]) if found[1] == "zeros" else float(found[1])) if found else None
    return None if values is None else literal(values)


def split(words):
    """Labels of the operands, and of the result (None if implicit)."""
    left, arrow, right = words.replace(" ", "").partition("->")
    return left.split(","), right if arrow else None


def scaled(extents, limit=None):
    """Extents of labels, the largest cut down until the loops over all labels are short."""
    out = dict(extents)
    while math.prod(out.values()) > (limit or most_terms):
        label = max(out, key=out.get)
        if out[label] <= 2:
            label = next(l for l in reversed(out) if out[l] > 1)
            out[label] = 1
        else:
            out[label] = max(2, out[label] * 4 // 5)
    return out


def by_extents(words, extents, limit=None, **more):
    """A job for labels and extents alone, scaled."""
    labels, _ = split(words)
    small = scaled({l: extents[l] for l in dict.fromkeys("".join(labels))}, limit)
    return Job(words, operands_of([[small[l] for l in term] for term in labels]), **more)


def numbered(words, shapes, limit=None):
    """A job with lists of numbers as labels, which may be many; scaled."""
    labels, result = words
    extents = {}
    for term, shape in zip(labels, shapes):
        for label, n in zip(term, shape):
            extents[label] = max(n, extents.get(label, 1))
    small = scaled(extents, limit)
    return Job((labels, result), operands_of([[small[l] for l in term] for term in labels]), command=False)


types_by_name = {"f2": "f2", "f4": "f4", "f8": "f8", "c8": "c8", "c16": "c16", "float32": "f4", "float64": "f8",
                 "complex64": "c8", "complex128": "c16", "float16": "f2"}


def types_of(item):
    given = item.get("dtypes", item.get("dtype", []))
    given = given if isinstance(given, list) else [given]
    return tuple(types_by_name[t] for t in given if t in types_by_name and types_by_name[t] != "f8")


def list_words(item):
    """(labels, result) of an item in NumPy's other format."""
    number = lambda labels: [-1 if l == "..." else l for l in labels]
    lists = [number(l) for l in item["sublists"]]
    if len(lists) == len(item["shapes"]) + 1:
        return lists[:-1], lists[-1]
    out = item.get("output_sublist")
    return lists, None if out is None else number(out)


def sweep(item):
    first, last = item["sweep"]["n"].split("..")
    for n in range(int(first), int(last) + 1):
        size = {"n": n, "n-1": n - 1}
        shapes = [[size.get(e, e) for e in s] for s in item["shapes"]]
        sums = item.get("int64_sum_wsum_by_n", {}).get(str(n))
        # The command takes one n of the sweep; the interface all of them.
        yield Job(item["subscripts"], fills_of(item, shapes, n), sums=sums and tuple(sums), types=types_of(item), command=n == 7)


def plain(item):
    """Jobs of an item that is one einsum of given shapes."""
    if "sweep" in item:
        yield from sweep(item)
        return
    words, expect = item.get("subscripts"), item["expect"]
    shapes = item.get("shapes")
    operands = fills_of(item, shapes)
    if shapes is None:
        shapes = [x.shape for x in operands]
    shape = tuple(item["output_shape"]) if "output_shape" in item else None
    if expect["type"] == "error":
        yield Job(words, operands_of(shapes), error=True, contains=item.get("message_must_contain", ""))
        return
    every = [words] if words is not None else []
    if item.get("sublists"):
        every.append(list_words(item))
    check = item.get("check")
    wanted = values_of(expect, shape)
    for w in every:
        labels, _ = split(w) if isinstance(w, str) else (None, None)
        extents = {l: max([s[t.index(l)] for t, s in zip(labels, shapes) if l in t]) for l in set("".join(labels))} \
            if labels and "." not in words else {}
        if check is None and operands is None and math.prod(extents.values()) > 5_000_000:
            yield by_extents(w, extents, types=types_of(item))
            continue
        fill = [mod7(tuple(s), q) for q, s in enumerate(shapes)] if check else operands_of(shapes)
        yield Job(w, fill, sums=check and (check["sum"], check["wsum"]), shape=shape, types=types_of(item))
        if operands is not None and (wanted is not None or "sum" in expect):
            total = (expect["sum"], None) if "sum" in expect else None
            yield Job(w, [np.asarray(x).reshape(s) for x, s in zip(operands, shapes)], wanted, total, shape, types=types_of(item))
