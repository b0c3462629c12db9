#!/usr/bin/env python3
"""Measures what tunes of other models save: how much a tune asks for that knows nothing, and one that knows others.

In:  models (path, or workload:NAME), an installed tree. Out: a JSON file, and the table of all that is in it.
How: every model is tuned with one thread and
       nothing   an empty priors.json, an empty store
       sibling   an empty priors.json, the store of a tune of another model of its family (MODEL~SIBLING)
       shipped   a priors.json trained on tunes of all the *other* models here, an empty store
     and the plans are timed against each other in one process (`collage bench --against`). "Asked" are the candidates
     that were timed; those that the store answered are not asked.
     A file is continued: what it has is not done again.
     Run it on a quiet machine; budgets should be large enough for a tune to end before them.

    tools/leave_one_out.py --tree /tree --out l.json a.onnx b.onnx:x=1x3x64x64~a workload:resnet50
"""

import argparse
import json
import pathlib
import shutil
import sys
import tempfile

import train_priors
from convergence import geometric_mean, model_of
from export_table import run

NO_PRIORS = {"schema": train_priors.SCHEMA, "sections": []}


def tree_with(tree, priors, folder):
    """A copy of an installed tree that begins with these priors; its command."""
    copy = pathlib.Path(folder, "tree")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(tree, copy, symlinks=True)
    (copy / "lib/collage/priors.json").write_text(json.dumps(priors))
    return copy / "bin/collage"


def tune(collage, model, store, budget, folder):
    _, path, shapes = model
    plan = pathlib.Path(folder, f"{len(list(pathlib.Path(folder).glob('*.collage')))}.collage")
    report = pathlib.Path(folder, "tune.json")
    run([collage, "tune", path, "-o", plan, "--budget", f"{budget}s", "--threads", 1, "--store", store, "--quiet",
         "--json", report, *shapes], folder)
    told = json.loads(report.read_text())
    return {"plan": str(plan), "measured": told["measured"], "reused": told["reused"], "seconds": told["tune_s"],
            "ended": told["ended"]["why"], "shipped": told["shipped"]}


def copy_store(source, target):
    if pathlib.Path(f"{source}.files").exists():
        shutil.copytree(f"{source}.files", f"{target}.files", dirs_exist_ok=True)
    shutil.copy(source, target)  # last: its presence says that the copy is whole


def race(collage, plans, folder, seconds):
    """Microseconds of each plan."""
    first, *others = plans
    report = pathlib.Path(folder, "bench.json")
    run([collage, "bench", first, "--against", ",".join(others), "--seconds", seconds, "--json", report, "--quiet"], folder)
    return [one.get("median_us") for one in json.loads(report.read_text())["contenders"]]


def row_of(name, models, stores, options):
    """Of the model of this name; `stores` are those of tunes from nothing, by model."""
    nothing = json.loads(stores[name].with_suffix(".json").read_text())
    text, sibling = models[name]
    with tempfile.TemporaryDirectory(prefix="collage-leave-") as folder:
        model = model_of(text, options.tree / "bin/collage", folder)
        tunes = {"nothing": nothing}
        if sibling:
            copy_store(stores[sibling], f"{folder}/siblings")
            empty = tree_with(options.tree, NO_PRIORS, folder)
            tunes["sibling"] = tune(empty, model, f"{folder}/siblings", options.budget, folder)
        priors = train_priors.priors_of([stores[other] for other in models if other != name])
        trained = tree_with(options.tree, priors, folder)
        tunes["shipped"] = tune(trained, model, f"{folder}/shipped", options.budget, folder)
        plans = [one.pop("plan") for one in tunes.values()]
        for one, us in zip(tunes.values(), race(trained, plans, folder, options.seconds), strict=True):
            one["us"] = us
        return {"model": name, "sibling": sibling, "tunes": tunes}


def stores_of(models, options):
    """Of a tune of each model from nothing; kept, because they are what priors are trained on."""
    options.stores.mkdir(parents=True, exist_ok=True)
    stores = {name: options.stores.resolve() / f"{name}.sqlite" for name in models}
    for name, store in stores.items():
        if store.exists():
            continue
        with tempfile.TemporaryDirectory(prefix="collage-leave-") as folder:
            made = pathlib.Path(folder, "store")
            model = model_of(models[name][0], options.tree / "bin/collage", folder)
            told = tune(tree_with(options.tree, NO_PRIORS, folder), model, made, options.budget, folder)
            told["plan"] = str(shutil.copy(told["plan"], store.with_suffix(".collage")))
            store.with_suffix(".json").write_text(json.dumps(told))
            copy_store(made, store)
        print(f"{name}: tuned from nothing", file=sys.stderr)
    return stores


def cells_of(row, how):
    """Asked, of what a tune from nothing asked; seconds likewise; speed of the plan likewise."""
    if how not in row["tunes"]:
        return ["", "", ""]
    nothing, one = row["tunes"]["nothing"], row["tunes"][how]
    return [f"{one['measured'] / nothing['measured']:.2f}", f"{one['seconds'] / nothing['seconds']:.2f}",
            f"{nothing['us'] / one['us']:.2f}"]


def table(rows):
    lines = [["model", "asked", "seconds", "sibling", *["asked", "seconds", "speed"], *["asked", "seconds", "speed"]],
             ["---"] * 10]
    for row in rows:
        nothing = row["tunes"]["nothing"]
        lines.append([row["model"], str(nothing["measured"]), f"{nothing['seconds']:.0f}", row["sibling"] or "",
                      *cells_of(row, "sibling"), *cells_of(row, "shipped")])
    for how, at in (("sibling", 4), ("shipped", 7)):
        known = [[float(cell) for cell in cells_of(row, how)] for row in rows if how in row["tunes"]]
        if known:
            mean = [""] * 10
            mean[0] = f"geometric mean, {how}"
            mean[at:at + 3] = [f"{geometric_mean(column):.2f}" for column in zip(*known)]
            lines.append(mean)
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL[:DIM=N,...][~SIBLING]")
    parser.add_argument("--tree", type=pathlib.Path, help="installed")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--stores", type=pathlib.Path, default=pathlib.Path("stores"),
                        help="folder for what tunes from nothing leave")
    parser.add_argument("--budget", type=int, default=120, help="seconds of a tune")
    parser.add_argument("--seconds", type=int, default=10, help="of a race")
    options = parser.parse_args()
    rows = json.loads(options.out.read_text()) if options.out.exists() else []
    models = {}
    for word in options.models:
        text, _, sibling = word.partition("~")
        name = text.split(":")[1] if text.startswith("workload:") else pathlib.Path(text.partition(":")[0]).stem
        if name in models:
            parser.error(f"two models are called {name}")
        models[name] = (text, sibling or None)
    for name, (_, sibling) in models.items():
        if sibling and sibling not in models:
            parser.error(f"{name}: its sibling {sibling} is none of the models")
    stores = stores_of(models, options) if models else {}
    for name in models:
        if any(row["model"] == name for row in rows):
            continue
        rows.append(row_of(name, models, stores, options))
        options.out.write_text(json.dumps(rows, indent=1) + "\n")
        print(f"{name}: done", file=sys.stderr)
    print(table(rows) if rows else "nothing measured")


if __name__ == "__main__":
    main()
