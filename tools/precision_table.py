#!/usr/bin/env python3
"""Compares plans of accuracy class fast with those of class standard and with engines, OpenVINO at its default among them.

usage: tools/precision_table.py [--budget 60s] [--seconds 5] [--threads 1] [--backends LIST] [--out FILE] NAME...

NAME is a model of the folder $COLLAGE_MODELS, as listed in its MANIFEST.json, or a workload of `collage workload`. Each is tuned
in both classes with one cost store; the two plans and the engines then run in one process, in rounds. FILE keeps
what was measured and is continued. Nothing else may run on the machine meanwhile.
"""
import argparse
import json
import math
import pathlib
import sys
import tempfile

from results import collage, models, ranges, source, us

DEFAULT = "openvino:precision=default"
ENGINES = ["onnxruntime", "openvino", DEFAULT]


def measured(name, known, options, folder):
    """Times and ratios of one model."""
    path, inputs = source(name, known, folder)
    common = ["--threads", options.threads, "--store", folder / f"{name}.sqlite", *inputs]
    if options.backends:
        common += ["--backends", options.backends]
    plans = {}
    for accuracy in ("standard", "fast"):
        plans[accuracy] = folder / f"{name}.{accuracy}.collage"
        report = collage("tune", path, "-o", plans[accuracy], "--budget", options.budget, "--accuracy", accuracy, *common)
    against = ",".join([str(plans["standard"]), *ENGINES])
    bench = collage("bench", plans["fast"], "--model", path, "--seconds", options.seconds, "--against", against,
                    *ranges(inputs))
    verified = collage("verify", plans["fast"], "--model", path, "--seeds", 3, *ranges(inputs))
    row = {"us": bench["contenders"][0]["median_us"], "ok": verified["ok"], "shipped": report["shipped"],
           "backends": report["backends"], "notes": [n for n in report.get("notes", []) if "bound" in n or "err" in n]}
    for ratio in bench["ratios"]:
        row[ratio["against"] if ratio["against"] in ENGINES else "standard"] = ratio["ratio"]
    row["wrong"] = [one["name"] for one in bench["contenders"] if one["numbers"]["verdict"] == "wrong"]
    return row


def table(rows):
    print("| model | fast us | of its f32 plan | of OpenVINO's default | of OpenVINO f32 | of ONNX Runtime | what ships |")
    print("|---|---:|---:|---:|---:|---:|---|")
    for name, row in rows.items():
        cells = [f"{row[key]:.2f}x" + (" (wrong)" if key in row["wrong"] else "") if key in row else "-"
                 for key in ("standard", DEFAULT, "openvino", "onnxruntime")]
        print(f"| {name} | {us(row['us'])} | " + " | ".join(cells) + f" | {row['shipped']}{'' if row['ok'] else ', WRONG'} |")
    for key in ("standard", DEFAULT):
        ratios = [row[key] for row in rows.values() if key in row and key not in row["wrong"]]
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print(f"\nagainst {key}: {mean:.2f}x in the geometric mean of {len(ratios)}, least {min(ratios):.2f}x")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--seconds", default="5")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--backends", help="who may take nodes; default: that of `collage tune`")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    rows = json.loads(options.out.read_text()) if options.out and options.out.exists() else {}
    known = models()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names:
            if name in rows:
                continue
            try:
                rows[name] = measured(name, known, options, pathlib.Path(folder))
            except RuntimeError as error:
                print(f"{name}: {error}", file=sys.stderr)
                continue
            if options.out:
                options.out.write_text(json.dumps(rows, indent=1))
    table(rows)


if __name__ == "__main__":
    main()
