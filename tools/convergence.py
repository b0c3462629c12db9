#!/usr/bin/env python3
"""Measures how good the plans of short tunes are: the speed of what ships against the budget.

In:  models (path, or workload:NAME), budgets, a built or installed tree. Out: a JSON file, and the table of all that is in it.
How: each tune has an empty store and one thread. Plans of different tunes, and the engines, are then timed against each other
     in one process, in rounds (`collage bench --against`), because times of different minutes do not compare. A figure is the
     speed of a plan in parts of that of the fastest plan with the largest budget. Versions are compared when their trees
     are given together.
     A file is continued: what it has is not done again. A row is of one model on one machine.
     Run it on a quiet machine: ten models with the usual budgets take some 95 minutes for each tree.

    tools/convergence.py --trees before=/tree now=build/dev --out c.json ppocrv3_det.onnx:x=1x3x640x640 workload:resnet50
    tools/convergence.py --out convergence.json          only prints the table
"""

import argparse
import json
import math
import os
import pathlib
import platform
import statistics
import sys
import tempfile
import time

from export_table import run, shapes_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENGINES = ["onnxruntime", "openvino"]


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            flags = set(line.split())
            best = next((one for one in ("avx512_bf16", "avx512f", "avx2") if one in flags), "other")
            return f"{platform.machine()} {best}, {os.cpu_count()} processors"
    return platform.machine()


def model_of(text, collage, folder):
    """PATH[:DIM=N,...] or workload:NAME -> name, path, options."""
    if text.startswith("workload:"):
        name = text.split(":")[1]
        path = pathlib.Path(folder, f"{name}.onnx")
        run([collage, "workload", name, "-o", path], folder)
        return name, path, []
    path, shapes = shapes_of(text)
    return path.stem, path, shapes


def tune(version, collage, path, shapes, budget, folder):
    name = f"{version}-{budget}-{len(list(pathlib.Path(folder).glob('*.collage')))}"
    plan = pathlib.Path(folder, f"{name}.collage")
    begin = time.monotonic()
    run([collage, "tune", path, "-o", plan, "--budget", f"{budget}s", "--threads", 1, "--store",
                pathlib.Path(folder, f"{name}.sqlite"), "--quiet", "--json", pathlib.Path(folder, "tune.json"), *shapes],
               folder)
    wall = time.monotonic() - begin
    report = json.loads(pathlib.Path(folder, "tune.json").read_text())
    return {"version": version, "budget": budget, "plan": str(plan), "wall": round(wall, 2),
            "measured": report["measured"], "shipped": report["shipped"]}


def race(collage, plans, folder, seconds):
    """Microseconds of each plan, the first one included, and of each engine."""
    first, *others = plans
    words = [collage, "bench", first, "--against", ",".join([*ENGINES, *others]), "--seconds", seconds, "--json",
             pathlib.Path(folder, "bench.json"), "--quiet"]
    run(words, folder)
    contenders = json.loads(pathlib.Path(folder, "bench.json").read_text())["contenders"]
    return [(one["name"], one.get("median_us")) for one in contenders]


def row_of(text, trees, options):
    latest = list(trees.values())[-1]
    with tempfile.TemporaryDirectory(prefix="collage-convergence-") as folder:
        name, path, shapes = model_of(text, latest, folder)
        largest = max(options.budgets)
        tunes = [tune(version, collage, path, shapes, budget, folder) for budget in sorted(options.budgets)
                 for version, collage in trees.items() for _ in range(1 if budget == largest else options.runs)]
        times = race(latest, [one["plan"] for one in tunes], folder, options.seconds)
        engines = {who: us for who, us in times if who.split(" ")[0] in ENGINES and us}
        of_plans = [us for who, us in times if who not in engines]
        for one, us in zip(tunes, of_plans, strict=True):
            one["us"] = us
            del one["plan"]
        return {"model": name, "machine": processor(), "tunes": tunes, "engines": engines}


def geometric_mean(numbers):
    return math.exp(statistics.fmean(map(math.log, numbers)))


def speeds(row, version):
    """By budget, the speeds of a version's plans in parts of that of the fastest plan with the largest budget."""
    largest = max(one["budget"] for one in row["tunes"])
    best = min(one["us"] for one in row["tunes"] if one["budget"] == largest)
    by_budget = {}
    for one in row["tunes"]:
        if one["version"] == version:
            by_budget.setdefault(one["budget"], []).append(best / one["us"])
    return {budget: statistics.median(of_budget) for budget, of_budget in by_budget.items()}


def cells_of(row, version, budgets):
    by_budget = speeds(row, version)
    largest = max(by_budget)
    own = [one for one in row["tunes"] if one["version"] == version]
    of_engine = min(row["engines"].values()) / min(one["us"] for one in own if one["budget"] == largest)
    overrun = max(one["wall"] - one["budget"] for one in own)
    return [*[f"{by_budget[b]:.2f}" if b in by_budget else "" for b in budgets], f"{of_engine:.2f}x", f"{overrun:+.1f} s"]


def table(rows):
    budgets = sorted({one["budget"] for row in rows for one in row["tunes"]})
    versions = list(dict.fromkeys(one["version"] for row in rows for one in row["tunes"]))
    lines = [["version", "model", *[f"{budget} s" for budget in budgets], "of the best engine", "worst overrun"],
             ["---"] * (len(budgets) + 4)]
    for version in versions:
        tuned = [row for row in rows if speeds(row, version)]
        lines += [[version, row["model"], *cells_of(row, version, budgets)] for row in tuned]
        means = [geometric_mean([speeds(row, version)[b] for row in tuned if b in speeds(row, version)]) for b in budgets]
        lines.append([version, "geometric mean", *[f"{mean:.3f}" for mean in means], "", ""])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--trees", nargs="+", default=[f"now={ROOT / 'build/dev'}"], metavar="NAME=PATH",
                        help="built or installed; the last one times the plans of all")
    parser.add_argument("--budgets", type=int, nargs="+", default=[10, 20, 60, 300])
    parser.add_argument("--runs", type=int, default=3, help="of each budget but the largest")
    parser.add_argument("--seconds", type=int, default=20, help="of the race at the end")
    options = parser.parse_args()
    trees = {name: pathlib.Path(path).resolve() / "bin/collage" for name, path in
             (tree.split("=", 1) for tree in options.trees)}
    rows = json.loads(options.out.read_text()) if options.out.exists() else []
    for text in options.models:
        name = text.split(":")[1] if text.startswith("workload:") else pathlib.Path(text.partition(":")[0]).stem
        if any((row["model"], row["machine"]) == (name, processor()) for row in rows):
            continue
        try:
            rows.append(row_of(text, trees, options))
        except RuntimeError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        options.out.write_text(json.dumps(rows, indent=1) + "\n")
        print(f"{name}: done", file=sys.stderr)
    print(table(rows) if rows else "nothing measured")


if __name__ == "__main__":
    main()
