#!/usr/bin/env python3
# Copies code from examples/ into the documents, so that every block shown has been compiled.
# In Markdown:  <!-- from examples/tour_1.cpp: name -->  and then a fenced block, which is replaced.
# In the file:  // [name]  and  // [/name]  around the lines to show; without a name the whole file is shown.
# Usage: docs.py [--check]; --check only compares. It also checks that links between the documents lead somewhere.
import pathlib
import re
import sys
import textwrap

root = pathlib.Path(__file__).resolve().parent.parent
check = "--check" in sys.argv[1:]
block = re.compile(r"(?P<head><!-- from (?P<file>\S+?)(?:: (?P<name>\w+))? -->\n```\w*\n)(?P<code>.*?)```\n", re.DOTALL)
bad = []


def snippet(found):
    path = root / found["file"]
    if not path.exists():
        bad.append(f"{found['file']} does not exist")
        return found["code"]
    text = path.read_text()
    if not found["name"]:
        return text if text.endswith("\n") else text + "\n"
    part = re.search(rf"^ *// \[{found['name']}\]\n(.*?)^ *// \[/{found['name']}\]$", text, re.DOTALL | re.MULTILINE)
    if not part:
        bad.append(f"{found['file']}: no part [{found['name']}]")
        return found["code"]
    return textwrap.dedent(part[1])


def renewed(found):
    return found["head"] + snippet(found) + "```\n"


documents = [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "lib").rglob("*.md")]
for path in documents:
    old = path.read_text()
    name = path.relative_to(root)
    new = block.sub(renewed, old)
    if new != old and check:
        bad.append(f"{name}: a code block differs from its file; ./run docs copies it again")
    elif new != old:
        path.write_text(new)
    shown = len(block.findall(old))
    if old.count("```cpp") != shown and (name.name == "README.md" or name.name == "tour.md"):
        bad.append(f"{name}: {old.count('```cpp')} blocks of C++, of which {shown} come from a compiled file")
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", old):
        if not (path.parent / target).exists():
            bad.append(f"{name}: link to {target}, which does not exist")
print("\n".join(bad) or f"{len(documents)} documents in order")
sys.exit(bool(bad))
