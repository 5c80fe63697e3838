#!/usr/bin/python3
# Plots what `example_fem_poisson --csv` prints: the L2 error against the size of the elements, a line for each degree,
# beside the slope that theory gives. Usage: example_fem_poisson --csv | tools/plot_poisson.py poisson.svg
import csv
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

rows = list(csv.DictReader(sys.stdin))
figure, axes = plt.subplots(figsize=(6, 4.5))
for degree in sorted({int(r["degree"]) for r in rows}):
    points = [(1 / int(r["elements"]), float(r["error"])) for r in rows if int(r["degree"]) == degree]
    sizes, errors = zip(*points)
    (line,) = axes.loglog(sizes, errors, "o-", markersize=4, label=f"degree {degree}")
    last = [errors[-1] * (s / sizes[-1]) ** (degree + 1) for s in sizes]
    axes.loglog(sizes, last, ":", color=line.get_color(), linewidth=1)
axes.set_xlabel("size of an element (dotted: order degree + 1)")
axes.set_ylabel("L2 error")
axes.legend(fontsize=8)
axes.grid(True, which="major", linewidth=0.3)
figure.tight_layout()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "poisson.svg", metadata={"Date": None})
