#!/usr/bin/env python3
# Draws what ricci bench gemm measured: GFLOP/s over n with the upper bound, one SVG for each type and footprint.
# Usage: plot_bench.py FILE.json [FILE.json ...] [-o FOLDER] [--best]; with matplotlib, or gnuplot where that is missing.
# Only square sizes are drawn; --best draws the best windows instead of the medians.
import argparse
import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

colors = ["#d62728", "#1f77b4", "#2ca02c", "#ff7f0e", "#9467bd", "#8c564b", "#17becf", "#7f7f7f", "#bcbd22", "#e377c2"]


def read(files, best):
    """{(dtype, footprint): {(layout, beta, threads, transposed, ld): {series: [(n, gflops)]}}}, and the machines."""
    key = "gflops_best" if best else "gflops_median"
    figures, machines = {}, {}
    for file in files:
        try:
            data = json.loads(pathlib.Path(file).read_text())
        except (OSError, ValueError) as why:
            sys.exit(f"{file} cannot be read: {why}")
        if not isinstance(data, dict) or data.get("ricci_bench") != "gemm":
            sys.exit(f"{file} was not written by ricci bench gemm")
        for r in data["results"]:
            if not r["m"] == r["n"] == r["k"]:
                continue
            panels = figures.setdefault((r["dtype"], r["footprint"]), {})
            machines[r["dtype"], r["footprint"]] = f"{data['machine']['name']}, {data['machine']['isa']}"
            transposed = "".join("t" if r.get(f"trans_{x}") else "n" for x in "ab")
            ld = "wide rows" if r.get("ldc", r["n"]) != r["n"] else ""
            series = panels.setdefault((r["layout"], r["beta"], r["threads"], transposed, ld), collections.OrderedDict())
            series.setdefault("upper bound", []).append((r["n"], r["bound_gflops"]))
            for c in sorted(r["contenders"], key=lambda c: not c["ours"]):
                if c["agrees"] and c["windows"]:
                    series.setdefault(c["name"], []).append((r["n"], c[key]))
    return figures, machines


def title_of(panel):
    layout, beta, threads, transposed, ld = panel
    return ", ".join([layout, f"beta = {beta}"] + [f"{threads} threads"] * (threads > 1) + [transposed] * (transposed != "nn") + [ld] * bool(ld))


def style(name, at):
    if name == "upper bound":
        return "black", "--", 1.2
    return colors[at % len(colors)], "-", 2.4 if name.startswith("ricci") else 1.1


def draw_matplotlib(figure, panels, machine, target):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "ricci"
    import matplotlib.pyplot as plt
    fig, axes = plt.subplots(1, len(panels), figsize=(6.4 * len(panels), 4.6), squeeze=False, sharey=True)
    names = list(collections.OrderedDict.fromkeys(n for series in panels.values() for n in series if n != "upper bound"))
    for ax, (panel, series) in zip(axes[0], sorted(panels.items())):
        for name, points in series.items():
            color, line, width = style(name, names.index(name) if name in names else 0)
            points = sorted(points)
            ax.plot(*zip(*points), line, color=color, linewidth=width, label=name,
                    marker="" if name == "upper bound" else ".", markersize=4)
        ax.set_title(title_of(panel), fontsize=10)
        ax.set_xlabel("n")
        ax.set_ylim(bottom=0)
        ax.grid(alpha=0.3)
    axes[0][0].set_ylabel("GFLOP/s")
    axes[0][0].legend(fontsize=8)
    fig.suptitle(f"C = A B for n x n batches, {figure[0]}, {figure[1]}: {machine}", fontsize=11)
    fig.tight_layout()
    fig.savefig(target, metadata={"Date": None})
    plt.close(fig)


def draw_gnuplot(figure, panels, machine, target):
    with tempfile.TemporaryDirectory() as folder:
        lines = [f"set terminal svg size {640 * len(panels)},460 dynamic", f"set output '{target}'",
                 f"set multiplot layout 1,{len(panels)} title \"C = A B for n x n batches, {figure[0]}, {figure[1]}: {machine}\"",
                 "set xlabel 'n'", "set ylabel 'GFLOP/s'", "set yrange [0:*]", "set grid", "set key left top"]
        names = list(collections.OrderedDict.fromkeys(n for series in panels.values() for n in series if n != "upper bound"))
        for p, (panel, series) in enumerate(sorted(panels.items())):
            plots = []
            for s, (name, points) in enumerate(series.items()):
                file = pathlib.Path(folder) / f"{p}_{s}.dat"
                file.write_text("".join(f"{n} {y}\n" for n, y in sorted(points)))
                color, line, width = style(name, names.index(name) if name in names else 0)
                dash = "dt 2" if line == "--" else "dt 1"
                plots.append(f"'{file}' with lines lw {width} {dash} lc rgb '{color}' title '{name}'")
            lines += [f"set title '{title_of(panel)}'", "plot " + ", ".join(plots)]
        lines.append("unset multiplot")
        subprocess.run(["gnuplot"], input="\n".join(lines) + "\n", text=True, check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+")
    parser.add_argument("-o", "--output", default=".", help="folder for the SVG files")
    parser.add_argument("--best", action="store_true", help="the best windows instead of the medians")
    parser.add_argument("--gnuplot", action="store_true", help="gnuplot even where matplotlib is")
    given = parser.parse_args()
    draw = draw_matplotlib
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        given.gnuplot = True
    if given.gnuplot:
        if not shutil.which("gnuplot"):
            sys.exit("neither matplotlib nor gnuplot is installed")
        draw = draw_gnuplot
    folder = pathlib.Path(given.output)
    folder.mkdir(parents=True, exist_ok=True)
    figures, machines = read(given.files, given.best)
    for figure, panels in sorted(figures.items()):
        target = folder / f"gemm_{figure[0]}_{figure[1]}.svg"
        draw(figure, panels, machines[figure], target)
        print(target)


if __name__ == "__main__":
    main()
