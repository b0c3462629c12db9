#!/usr/bin/env python3
"""Makes a table of exported models: size, time until the first result, and that of a run beside the plan and engines.

In:  models, the folder of a build or an installed tree. Out: a table on stdout, and with --json its numbers.
How: each model is tuned with --deploy library and exported; examples/export/time_model.c times the library, `collage
     bench` the plan, ONNX Runtime and OpenVINO. The library and the plan run in turns, each for --seconds, --rounds times,
     and the median counts. Run it on a quiet machine.

    tools/export_table.py --tree build/dev /path/mobilenet.onnx yunet.onnx:height=320,width=320
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENGINES = "onnxruntime,openvino"


def run(words, folder, **more):
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{words[0]} {words[1]}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def shapes_of(model):
    """MODEL[:DIM=N,...] -> path, options."""
    path, _, shapes = model.partition(":")
    return pathlib.Path(path).resolve(), [word for one in shapes.split(",") if one for word in ("--shape", one)]


def times_of(folder, seconds):
    """Microseconds of the exported library: until it is ready, until the first result, of a run."""
    words = dict(line.split() for line in run(["./time_model", "./libmodel.so", seconds], folder).splitlines())
    return float(words["ready"]), float(words["first"]), float(words["run"])


def bench(collage, folder, plan, seconds):
    """Microseconds by contender, and the plan's name among them, which is the first."""
    text = run([collage, "bench", plan, "--against", ENGINES, "--seconds", seconds, "--json", "-", "--quiet"], folder)
    report = json.loads(text)
    times = {one["name"]: one["median_us"] for one in report["contenders"] if one.get("median_us")}
    return times, report["contenders"][0]["name"]


def row_of(collage, model, options):
    path, shapes = shapes_of(model)
    with tempfile.TemporaryDirectory(prefix="collage-export-") as folder:
        tune = [collage, "tune", path, "-o", "model.collage", "--deploy", "library", "--budget", options.budget]
        tune += ["--threads", options.threads, "--quiet", "--json", "tune.json", *shapes]
        run(tune, folder)
        run([collage, "export", "model.collage", "-o", "libmodel.so", "--header", "model.h", "--name", "model", "--json",
             "export.json"], folder)
        run(["cc", "-std=c99", "-O2", "-I.", "-o", "time_model", ROOT / "examples/export/time_model.c", "-ldl"], folder)
        exported = json.loads(pathlib.Path(folder, "export.json").read_text())
        readies, firsts, runs, plans, engines = [], [], [], [], {}
        for _ in range(options.rounds):
            ready, first, one_run = times_of(folder, options.seconds)
            readies.append(ready)
            firsts.append(first)
            runs.append(one_run)
            times, plan_name = bench(collage, folder, "model.collage", options.seconds)
            plans.append(times.pop(plan_name))
            for name, time in times.items():
                engines.setdefault(name, []).append(time)
        return {
            "model": path.name,
            "library_bytes": exported["library_bytes"],
            "weights_bytes": exported["weights_bytes"],
            "ready_ms": statistics.median(readies) / 1000,
            "first_ms": statistics.median(firsts) / 1000,
            "run_us": statistics.median(runs),
            "plan_us": statistics.median(plans),
            "engines_us": {name: statistics.median(times) for name, times in sorted(engines.items())},
            "deploy": json.loads(pathlib.Path(folder, "tune.json").read_text())["deploy"],
        }


def table_of(rows):
    names = sorted({name for row in rows for name in row.get("engines_us", {})})
    lines = ["| model | library | beyond weights | ready | first result | run | plan | " + " | ".join(names) + " |",
             "|---|---|---|---|---|---|---|" + "---|" * len(names)]
    for row in rows:
        if "refused" in row:
            lines.append(f"| {row['model']} | {row['refused']} |" + " |" * (5 + len(names)))
            continue
        beyond = (row["library_bytes"] - row["weights_bytes"]) / 1e6
        cells = [row["model"], f"{row['library_bytes'] / 1e6:.2f} MB", f"{beyond:.2f} MB", f"{row['ready_ms']:.2f} ms",
                 f"{row['first_ms']:.2f} ms", f"{row['run_us']:.1f} us",
                 f"{row['plan_us']:.1f} us ({row['run_us'] / row['plan_us']:.3f})"]
        for name in names:
            time = row["engines_us"].get(name)
            cells.append(f"{time:.1f} us ({time / row['run_us']:.2f}x)" if time else "")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL[:DIM=N,...]")
    parser.add_argument("--tree", default="build/dev", help="of a build, or installed")
    parser.add_argument("--budget", default="3m")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--seconds", default="3", help="of the library, and of a bench, in each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    collage = os.path.abspath(os.path.join(options.tree, "bin", "collage"))
    rows = []
    for model in options.models:
        try:
            rows.append(row_of(collage, model, options))
        except RuntimeError as error:
            rows.append({"model": shapes_of(model)[0].name, "refused": str(error).splitlines()[-1]})
        print(table_of(rows[-1:]), file=sys.stderr)
    print(table_of(rows))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
