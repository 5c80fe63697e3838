#!/usr/bin/env python3
# Checks every include of include/ricci and lib against tools/layers.txt, and the order of the compiled rooms in the
# picture of docs/architecture.md. Usage: check_layers.py [ROOT]
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
rules = {}
for line in (root / "tools/layers.txt").read_text().splitlines():
    if ":" in line and not line.startswith("#"):
        room, allowed = line.split(":")
        rules[room.strip()] = set(allowed.split())


def room_of(path):
    """include/ricci/core/x.hpp -> core, include/ricci/x.hpp -> top, lib/plan/x.cpp -> lib/plan"""
    parts = path.relative_to(root).parts
    if parts[0] == "lib":
        return "lib/" + parts[1]
    return parts[2] if len(parts) > 3 else "top"


bad = []
for path in sorted([*(root / "include").rglob("*.h*"), *(root / "lib").rglob("*.[ch]pp")]):
    room = room_of(path)
    if room not in rules:
        bad.append(f"{path.relative_to(root)}: room {room} is not in tools/layers.txt")
        continue
    for number, line in enumerate(path.read_text().splitlines(), 1):
        name = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if not name:
            continue
        found = next((p for p in (root / "include" / name[1], root / "lib" / name[1], path.parent / name[1]) if p.exists()), None)
        if found and room_of(found.resolve()) not in rules[room] | {room}:
            bad.append(f"{path.relative_to(root)}:{number}: {room} may not include {room_of(found.resolve())} ({name[1]})")
# In the picture a room stands above all those it may include; what follows the first empty line is beside the order.
picture = (root / "docs/architecture.md").read_text().partition(" compiled ")[2].partition("\n\n")[0]
drawn = re.findall(r"(?:^| )(lib/\w+)  ", picture, re.M)
for number, room in enumerate(drawn):
    for above in rules.get(room, set()) & set(drawn[:number]):
        bad.append(f"docs/architecture.md: {above} stands above {room}, which may include it")
if not drawn:
    bad.append("docs/architecture.md: the picture of the rooms is not found")
print("\n".join(bad) or f"{len(rules)} rooms, every include goes one way")
sys.exit(bool(bad))
