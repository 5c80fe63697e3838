#!/usr/bin/env python3
# Runs every item of the case files beside it. Usage: run.py SERVER COMMAND [PREFIX of the items' names]
import collections
import json
import math
import os
import pathlib
import sys

import numpy as np

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "numpy"))

from client import Client, Command, Refused  # noqa: E402
from jobs import Skip  # noqa: E402
from special import jobs_of  # noqa: E402
from updates import functions  # noqa: E402

files = ["numpy_einsum", "opt_einsum", "einsum_paths", "cotengra", "torch_einsum", "jax_einsum", "cutensor", "matx_einsum",
         "fastor_einsum", "xtensor_tensordot", "known_bugs", "tccg", "cogent", "random_contractions", "hptt_transpose", "ceed_bp"]


def oracle(job):
    """NumPy's answer in integers (or what the operands are); labels of extent 1 are dropped, so that letters suffice."""
    if isinstance(job.words, str):
        words, operands = job.words, job.operands
    else:
        labels, result = job.words
        if any(-1 in term for term in labels):
            lists = [[Ellipsis if l == -1 else l for l in term] for term in labels]
            flat = [y for pair in zip(job.operands, lists) for y in pair]
            return np.einsum(*flat, *([] if result is None else [[Ellipsis if l == -1 else l for l in result]]))
        if result is None:
            every = [l for term in labels for l in term]
            result = sorted(l for l in set(every) if every.count(l) == 1)
        extents = {l: n for term, x in zip(labels, job.operands) for l, n in zip(term, x.shape)}
        kept = [l for l in extents if extents[l] != 1]
        if len(kept) > 52 or len(labels) > 20:
            return long_product(labels, result, job.operands, kept if len(kept) < 20 else None)
        name = {l: chr(65 + i if i < 26 else 71 + i) for i, l in enumerate(kept)}
        text = lambda term: "".join(name[l] for l in term if l in name)
        words = ",".join(map(text, labels)) + "->" + text(result)
        operands = [x.reshape([n for n in x.shape if n != 1]) for x in job.operands]
        return one(words, operands).reshape([extents[l] for l in result])
    return one(words, operands)


def long_product(labels, result, operands, kept):
    """More operands or labels than NumPy takes: over all kept labels at once, or, for chains, one after the other."""
    extents = {l: n for term, x in zip(labels, operands) for l, n in zip(term, x.shape)}
    if kept is not None:
        total = np.ones([extents[l] for l in kept], "i8")
        for term, x in zip(labels, operands):
            mine = [l for l in kept if l in term]
            term = [l for l in term if l in mine]
            x = x.reshape([extents[l] for l in term]).transpose([term.index(l) for l in mine])
            total = total * x.reshape([extents[l] if l in mine else 1 for l in kept])
        there = [l for l in result if l in kept]
        return np.einsum(total, list(range(len(kept))), [kept.index(l) for l in there]).reshape([extents[l] for l in result])
    left, value = labels[0], operands[0]
    for q in range(1, len(labels)):
        later = {l for term in labels[q + 1:] for l in term} | set(result)
        number = {l: i for i, l in enumerate(dict.fromkeys([*left, *labels[q]]))}
        out = [l for l in number if l in later]
        value = np.einsum(value, [number[l] for l in left], operands[q], [number[l] for l in labels[q]], [number[l] for l in out])
        left = out
    return value.transpose([left.index(l) for l in result])


def one(words, operands):
    wide = [x.astype("i8") if x.dtype.kind in "iu" else x for x in operands]
    many = len(operands) > 2 and math.prod({l: n for t, x in zip(words.split("->")[0].split(","), operands)
                                            for l, n in zip(t, x.shape)}.values()) > 2_000_000
    return np.asarray(np.einsum(words, *wide, optimize="greedy" if many and "." not in words else False))


def magnitude(job):
    """A bound of all partial sums."""
    bound = 1.0
    for x in job.operands:
        bound *= max(1.0, float(np.abs(x).max(initial=0)))
    terms = max(1, max((x.size for x in job.operands), default=1))
    return bound * terms


def close(got, wanted, job, kind):
    """Equal; or, for operands that are not small integers, within k eps |A||B|."""
    if got.shape != wanted.shape:
        return False
    if np.array_equal(got, wanted):
        return True
    if all(np.array_equal(np.asarray(x), np.round(x)) for x in job.operands) and magnitude(job) < 2.0 ** 53:
        return False
    size = np.abs(one(job.words, [np.abs(x) for x in job.operands])) if isinstance(job.words, str) else 0
    eps = np.finfo(kind).eps
    return bool((np.abs(got - wanted) <= 4 * (8 + sum(x.size for x in job.operands)) * eps * size).all())


def sums_agree(result, job, kind):
    flat = np.asarray(result).ravel(order="C")
    total, weighted = job.sums
    if weighted is None:  # of operands that are no integers: within k eps |A||B|, k products in all
        products = math.prod({l: n for t, x in zip(job.words.split("->")[0].split(","), job.operands) for l, n in zip(t, x.shape)}.values())
        size = one(job.words, [np.abs(x) for x in job.operands]).sum()
        return abs(flat.sum() - total) <= (products + len(job.operands)) * np.finfo(kind).eps * size
    return flat.sum() == total and (flat * (np.arange(flat.size) % 11 + 1)).sum() == weighted


def check(job, got, kind, wanted):
    boolean = all(x.dtype == bool for x in job.operands) and job.operands
    if boolean:
        got, wanted = np.asarray(got) != 0, None if wanted is None else np.asarray(wanted) != 0
    if wanted is not None and not close(np.asarray(got), np.asarray(wanted), job, kind):
        return f"{kind}: {got!r} instead of {wanted!r}"
    if job.shape is not None and tuple(np.shape(got)) != job.shape:
        return f"{kind}: extents {np.shape(got)} instead of {job.shape}"
    if job.sums and not boolean and not sums_agree(got, job, kind):
        return f"{kind}: sums are not {job.sums}"
    return None


def numbers_kind(job):
    return "c16" if any(np.iscomplexobj(x) for x in job.operands) else "f8"


def refused(call, job):
    try:
        got = call()
    except Refused as e:
        return None if not job.contains or job.contains in str(e) else f"the error does not say {job.contains}: {e}"
    return f"accepted, with the result {got!r}"


def run(job, api, cli, spawn):
    """None, or what is wrong."""
    kind = numbers_kind(job)
    cast = lambda k: [np.asarray(x).astype(k, order="K") for x in job.operands]
    if job.error:
        return refused(lambda: api.einsum(job.words, *cast(kind)), job) or \
            (refused(lambda: cli.einsum(job.words, *cast(kind)), job) if job.command else None)
    wanted = job.wanted if job.wanted is not None else oracle(job)
    for k in (kind, *job.types):
        limit = {"f2": 2.0 ** 11, "f4": 2.0 ** 24, "c8": 2.0 ** 24}.get(k, 2.0 ** 53)
        if k == kind or magnitude(job) <= limit:
            if bad := check(job, api.einsum(job.words, *cast(k)), k, wanted):
                return bad
    if job.command and isinstance(job.words, str):
        whole = all(x.dtype.kind in "iub" for x in job.operands) and magnitude(job) < 2.0 ** 53
        operands = job.operands if whole else cast(kind)
        got = cli.einsum(job.words, *operands) if spawn else by_files(api, cli.folder, job.words, operands)
        return (bad := check(job, got, kind, wanted)) and "the command, " + bad
    return None


def by_files(api, folder, words, operands):
    """What the command does, within the server: for the long lists, and under sanitizers."""
    names = [os.path.join(folder, f"operand{q}.npy") for q in range(len(operands))]
    for name, x in zip(names, operands):
        np.save(name, x)
    output = os.path.join(folder, "result.npy")
    api.ask({"subscripts": words, "files": names, "output": output})
    return np.load(output)


def run_item(item, api, cli):
    jobs = jobs_of(item)
    if isinstance(jobs, str):
        functions[jobs](api, item)
        return 1
    # Under sanitizers a process takes 40 ms to begin: only what must be refused has one there.
    spawn = not item["id"].startswith("random/tcl") and len(jobs) < 40 and not os.environ.get("RICCI_TEST_REDUCED")
    for number, job in enumerate(jobs):
        if bad := run(job, api, cli, spawn):
            raise AssertionError(f"job {number}, {job.words} of {[x.shape for x in job.operands]}: {bad}"[:600])
    return len(jobs)


def main():
    api, cli = Client(sys.argv[1]), Command(sys.argv[2])
    prefix = sys.argv[3] if len(sys.argv) > 3 else ""
    failed, skipped, ran, jobs = [], collections.defaultdict(list), 0, 0
    for name in files:
        for item in json.loads((here / f"{name}.json").read_text())["items"]:
            if not item["id"].startswith(prefix):
                continue
            try:
                jobs += run_item(item, api, cli)
                ran += 1
            except Skip as e:
                skipped[str(e)].append(item["id"])
            except (AssertionError, Refused) as e:
                failed.append(f"{item['id']}: {e}")
            except Exception as e:  # the runner itself
                failed.append(f"{item['id']}: {type(e).__name__} {e}")
    cli.close()
    if api.close() != 0:
        failed.append("the server failed at its end")
    for reason, names in skipped.items():
        print(f"does not apply ({len(names)}): {reason}: {', '.join(names)}")
    for text in failed:
        print("FAILED", text)
    print(f"{ran} items right in {jobs} jobs, {len(failed)} failed, {sum(map(len, skipped.values()))} do not apply")
    sys.exit(bool(failed) or ran == 0)


main()
