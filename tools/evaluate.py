#!/usr/bin/env python3
"""The evaluation: the paper's networks and others against every engine and program that is given, and what the parts of
the search are worth.

In:  networks of `collage workload`, or models as PATH[:DIM=N,...]; a built or installed tree. Out: a JSON file, and Markdown
     tables of all that is in it (--table).
How: two kinds of rows. A "rivals" row is one network at one batch and number of threads: a tune with an empty store, then one
     `collage bench` of the plan, engines and programs in the same rounds. An "ablations" row tunes the network again and
     again from the store of its rivals row at batch 1, each time without a part of the search, and benches all these plans
     in the same rounds.
     A file is continued: what it has is not done again. Each row says its machine; a table is of one machine.
     Run it on a quiet machine: a rivals row takes about two minutes, an ablations row five.

    tools/evaluate.py --out e.json --rival "torch=python3 tools/rivals/torch_compile.py"
    tools/evaluate.py --out e.json --kinds rivals --batches 1,8 --threads 1 dcgan bert_base
    tools/evaluate.py --out e.json --table
"""

import argparse
import hashlib
import json
import math
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

from convergence import processor
from export_table import run, shapes_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
NETWORKS = ["bert_base", "dcgan", "nasneta", "resnet50_3d", "resnext50_32x4d"]
ENGINES = ["onnxruntime", "openvino"]
# In a note of `collage bench`, after the name of a program
REFUSES = " does not run this model"
# Name -> options of the tune, beside those of the row
WHOLE = "the whole search"
ABLATIONS = {
    "no evolution (level 1 alone)": ["--ablate", "evolution"],
    "no correction in plans": ["--ablate", "correction"],
    "no formats": ["--ablate", "formats"],
    "no boundary costs": ["--ablate", "borders"],
    "no boundary costs, correction, evolution": ["--ablate", "borders,correction,evolution"],
    "greedy, largest region first": ["--ablate", "largest-first"],
    "greedy, without whole engines": ["--ablate", "largest-first", "--backends", "onednn,native"],
    "by the order of backends": ["--ablate", "backend-order", "--backends", "native,onednn,openvino,onnxruntime"],
    "onednn alone": ["--only", "onednn", "--ablate", "evolution"],
    "native alone": ["--only", "native", "--ablate", "evolution"],
    "without native": ["--ban", "*=native"],
}


class Place:
    """Where the program and the files are."""

    def __init__(self, options, folder):
        self.collage, self.options, self.folder = options.tree.resolve() / "bin/collage", options, folder

    def json(self, *words):
        report = self.folder / "report.json"
        run([self.collage, *words, "--quiet", "--json", report], self.folder)
        return json.loads(report.read_text())

    def model(self, text, batch):
        """Its file, and options that bind its dimensions."""
        if is_file(text):
            return shapes_of(text)
        path = self.folder / f"{text}-{batch}.onnx"
        if not path.exists():
            run([self.collage, "workload", text, "--batch", batch, "-o", path], self.folder)
        return path, []

    def tune(self, plan, model, threads, store, budget, more=()):
        path, shapes = model
        return self.json("tune", path, "-o", plan, "--threads", threads, "--store", store, "--budget", budget, *shapes,
                         *more)

    def bench(self, plan, against, programs=()):
        rivals = [word for program in programs for word in ("--rival", program)]
        return self.json("bench", plan, "--against", ",".join(map(str, against)), "--seconds", self.options.seconds,
                         *rivals)


def is_file(text):
    """Of a model with its own batch, in place of the name of a network."""
    return ".onnx" in text


def store_of(place, text, batch, threads):
    return place.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:8]}-{batch}-{threads}.sqlite"


def copy_of(store, copy):
    """The store once more; its files are never changed, so they need not be copied."""
    shutil.copy(store, copy)
    files = pathlib.Path(f"{store}.files")
    if files.exists():
        shutil.copytree(files, f"{copy}.files", copy_function=os.link, dirs_exist_ok=True)
    return copy


def drop(store):
    store.unlink(missing_ok=True)
    shutil.rmtree(f"{store}.files", ignore_errors=True)


def contender(one, ratios):
    wrong = one["numbers"]["verdict"] == "wrong"
    row = {"name": one["name"], "version": one["version"], "us": one["median_us"], "wrong": wrong}
    return row | {key: ratios[one["name"]][key] for key in ("ratio", "low", "high") if one["name"] in ratios}


def contenders(report):
    ratios = {ratio["against"]: ratio for ratio in report["ratios"]}
    return [contender(one, ratios) for one in report["contenders"]]


def of_tune(report):
    shipped = report["shipped"]
    return {"ships": "mixed" if shipped == "cover" else shipped, "tune_s": round(report["tune_s"], 1),
            "measured": report["measured"], "steps": report["backends"] if shipped == "cover" else {}}


def rivals_row(place, text, batch, threads):
    store = store_of(place, text, batch, threads)
    plan = place.folder / "plan.collage"
    tuned = place.tune(plan, place.model(text, batch), threads, store, place.options.budget)
    report = place.bench(plan, ENGINES, place.options.rival)
    return of_tune(tuned) | {"contenders": contenders(report), "notes": report["notes"]}


def ablations_row(place, text, batch, threads):
    """Plans of the same store, the whole search first; the whole search is timed against all others."""
    store = store_of(place, text, batch, threads)
    model = place.model(text, batch)
    place.tune(place.folder / "plan.collage", model, threads, store, place.options.budget)
    tuned, plans, failed = {}, {}, {}
    for index, (name, more) in enumerate({WHOLE: [], **ABLATIONS}.items()):
        plan, own = place.folder / f"ablation{index}.collage", copy_of(store, place.folder / "ablation.sqlite")
        try:
            tuned[name] = place.tune(plan, model, threads, own, place.options.ablation_budget, more)
            plans[name] = plan
        except RuntimeError as error:
            failed[name] = str(error)
        drop(own)
    whole = plans.pop(WHOLE)
    times = contenders(place.bench(whole, plans.values()))
    named = dict(zip([WHOLE, *plans], times, strict=True))
    return {"plans": [{"ablation": name} | of_tune(tuned[name]) | time | {"name": ""} for name, time in named.items()],
            "failed": failed}


def rows_asked(options):
    """(kind, network, batch, threads) in the order in which they are made."""
    for text in options.networks:
        for batch in options.batches if not is_file(text) else [1]:
            for threads in options.threads:
                if threads > 1 and batch > 1:
                    continue  # all processors at batch 1 alone, as a service of one request would use them
                if "rivals" in options.kinds:
                    yield "rivals", text, batch, threads
        if "ablations" in options.kinds:
            yield "ablations", text, 1, 1


def geometric_mean(numbers):
    return math.exp(statistics.fmean(map(math.log, numbers)))


def us_text(us):
    return f"{us:,.0f}"


def rivals_table(rows):
    names = list(dict.fromkeys(one["name"] for row in rows for one in row["contenders"][1:]))
    lines = [["network", "batch", "threads", "Collage us", *names, "of the best", "ships", "tune s", "measured"]]
    lines.append(["---", *["---:"] * (len(names) + 4), "---", "---:", "---:"])
    best_of = {}
    for row in rows:
        own, *others = row["contenders"]
        by_name = {one["name"]: one for one in others}
        cells = [row["network"].split("/")[-1], str(row["batch"]), str(row["threads"]), us_text(own["us"])]
        for name in names:
            one = by_name.get(name)
            cells.append("refuses" if one is None else f"{us_text(one['us'])} (wrong numbers)" if one["wrong"] else
                         f"{us_text(one['us'])} ({one['ratio']:.2f}x)")
        right = [one for one in others if not one["wrong"]]
        best = min(right, key=lambda one: one["ratio"]) if right else None
        if best:
            best_of.setdefault((row["batch"], row["threads"]), []).append(best["ratio"])
        cells.append(f"{best['ratio']:.2f}x [{best['low']:.2f}, {best['high']:.2f}]" if best else "")
        lines.append([*cells, row["ships"], f"{row['tune_s']:.0f}", str(row["measured"])])
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    for (batch, threads), ratios in best_of.items():
        text += (f"\n\nbatch {batch}, {threads} thread{'s' if threads > 1 else ''}, {len(ratios)} networks: "
                 f"{geometric_mean(ratios):.2f}x the best rival of each in the geometric mean")
    for network, note in dict.fromkeys((row["network"], note) for row in rows for note in row["notes"] if REFUSES in note):
        text += f"\n\n{network}: {note}"
    return text


def ablations_table(rows):
    lines = [["plan", *[row["network"] for row in rows], "geometric mean"], ["---", *["---:"] * (len(rows) + 1)]]
    for name in [WHOLE, *ABLATIONS]:
        cells, speeds = [name], []
        for row in rows:
            one = next((plan for plan in row["plans"] if plan["ablation"] == name), None)
            if one is None:
                cells.append("no plan")
            elif name == WHOLE:
                cells.append(f"{us_text(one['us'])} us, {one['measured']} measured")
            elif one["wrong"]:
                cells.append("wrong numbers")
            else:
                speeds.append(1 / one["ratio"])
                cells.append(f"{1 / one['ratio']:.2f} ({one['tune_s']:.0f} s)")
        lines.append([*cells, f"{geometric_mean(speeds):.2f} of {len(speeds)}" if speeds else ""])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def print_tables(rows):
    for machine in dict.fromkeys(row["machine"] for row in rows):
        own = [row for row in rows if row["machine"] == machine]
        for kind, table in (("rivals", rivals_table), ("ablations", ablations_table)):
            if chosen := [row for row in own if row["kind"] == kind]:
                print(f"\n{machine}\n\n{table(chosen)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--tree", type=pathlib.Path, default=ROOT / "build/dev", help="built or installed")
    parser.add_argument("--kinds", type=listed(str), default=["rivals", "ablations"], help="rivals,ablations")
    parser.add_argument("--batches", type=listed(int), default=[1, 8, 16], help="1,8,16")
    parser.add_argument("--threads", type=listed(int), default=[1, os.cpu_count()], help="1 and all")
    parser.add_argument("--rival", action="append", default=[], help="as of collage bench; paths from the checkout")
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--ablation-budget", default="20s", help="on top of what the store knows")
    parser.add_argument("--seconds", type=int, default=5, help="of each bench")
    parser.add_argument("--table", action="store_true", help="only print what is there")
    options = parser.parse_args()
    options.rival = [name + "=" + " ".join(absolute(words)) for name, words in map(divided, options.rival)]
    rows = json.loads(options.out.read_text()) if options.out.exists() else []
    if options.table:
        print_tables(rows)
        return 0
    machine, failed = processor(), False
    with tempfile.TemporaryDirectory(prefix="collage-evaluate-") as folder:
        place = Place(options, pathlib.Path(folder))
        for kind, text, batch, threads in rows_asked(options):
            key = {"kind": kind, "network": text, "batch": batch, "threads": threads,
                   "machine": machine}
            if any(key.items() <= row.items() for row in rows):
                continue
            try:
                rows.append(key | (rivals_row if kind == "rivals" else ablations_row)(place, text, batch, threads))
            except RuntimeError as error:
                print(f"{kind} {text} batch {batch}: {error}", file=sys.stderr)
                failed = True
                continue
            options.out.write_text(json.dumps(rows, indent=1))
            print(f"{kind} {text} batch {batch}, {threads} threads: done", flush=True)
    print_tables(rows)
    return 1 if failed else 0


def listed(kind):
    return lambda text: [kind(one) for one in text.split(",")]


def divided(rival):
    name, _, words = rival.partition("=")
    return name, words.split()


def absolute(words):
    """Files of the checkout by their whole path: the program runs in another folder."""
    return [str(ROOT / word) if "/" in word and (ROOT / word).is_file() else word for word in words]


if __name__ == "__main__":
    sys.exit(main())
