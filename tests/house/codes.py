#!/usr/bin/env python3
# Checks that every code R... of the compiler's messages has a heading in docs/errors.md and a compile_fail file.
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]).resolve()
headers = [p.read_text() for p in (root / "include").rglob("*.hpp")]
codes = sorted(set(re.findall(r"ricci\[(R\d{3})\]", "\n".join(headers))))
headings = set(re.findall(r"^##+ (R\d{3})\b", (root / "docs/errors.md").read_text(), re.MULTILINE))
files = {p.name[:4] for p in (root / "tests/compile_fail").glob("R*.cpp")}
bad = []
if not codes:
    bad.append("no code found in include/: has the form of the messages changed?")
bad += [f"{code}: no heading in docs/errors.md" for code in codes if code not in headings]
bad += [f"{code}: no file in tests/compile_fail" for code in codes if code not in files]
bad += [f"{code}: explained in docs/errors.md, but no header says it" for code in sorted(headings - set(codes))]
print("\n".join(bad) or f"{len(codes)} codes, all explained and tested")
sys.exit(bool(bad))
