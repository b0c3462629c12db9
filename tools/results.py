#!/usr/bin/env python3
"""Tunes, verifies and benches models and prints one row of a Markdown table for each.

usage: tools/results.py [--budget 170s] [--seconds 5] [--threads 1] [--keep FOLDER] [--without BACKEND] NAME...

NAME is a model of the folder $COLLAGE_MODELS, as listed in its MANIFEST.json, or a workload of `collage workload`.
With --without each is tuned a second time, without that backend, and a column and the last lines say what the backend
gains. Nothing else may run on the machine meanwhile. Exit code 1 when a model fails or a check finds a difference.
"""
import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLLAGE = pathlib.Path(os.environ.get("COLLAGE", ROOT / "build/dev/bin/collage"))
RIVALS = ("onnxruntime", "openvino")


def collage(*arguments):
    """Runs the program; its JSON result. Raises with its error message."""
    done = subprocess.run([COLLAGE, *map(str, arguments), "--json", "-", "--quiet"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    return json.loads(done.stdout)


def input_range(fill, shape):
    """LO..HI of the numbers that the manifest fills an input with: numbers, and u, which is uniform between 0 and 1."""
    if scaled := re.fullmatch(r"floor\((\d+)\*u\)", fill):
        return f"0..{int(scaled[1]) - 1}"
    if indices := re.fullmatch(r"(\d+) \+ floor\((\d+)\*u\)", fill):
        return f"{indices[1]}..{int(indices[1]) + int(indices[2]) - 1}"
    if moved := re.fullmatch(r"(-?[\d.]+) \+ ([\d.]+)\*u", fill):
        return f"{moved[1]}..{float(moved[1]) + float(moved[2]):g}"
    if fill.startswith("constant "):
        numbers = re.findall(r"-?[\d.]+", fill)
        return f"{min(numbers, key=float)}..{max(numbers, key=float)}"
    if fill.startswith("0,1,2"):
        return f"0..{shape[-1] - 1}"
    if fill == "u":
        return "0..1"
    raise ValueError(f"no range is known for inputs filled with '{fill}'")


def models():
    """Name -> (path, options that bind its dimensions and state the ranges of its inputs) of the folder $COLLAGE_MODELS."""
    folder = os.environ.get("COLLAGE_MODELS")
    if not folder:
        return {}
    manifest = json.loads((pathlib.Path(folder) / "MANIFEST.json").read_text())
    known = {}
    for model in manifest["models"]:
        options = []
        for tensor in model["smoke"]["inputs"]:
            options += ["--shape", tensor["name"] + "=" + "x".join(map(str, tensor["shape"]))] if tensor["shape"] else []
            options += ["--input-range", tensor["name"] + "=" + input_range(tensor["fill"], tensor["shape"])]
        known[model["name"]] = (pathlib.Path(folder) / model["file"], options)
    return known


def ranges(options):
    """The options among these that `bench` and `verify` of a plan take as well: ranges of made-up inputs."""
    return [word for option, value in zip(options[::2], options[1::2]) if option == "--input-range" for word in (option, value)]


def source(name, known, folder):
    """The path of a model and options of its tune."""
    if name in known:
        return known[name]
    path = folder / f"{name}.onnx"
    if not path.exists():
        subprocess.run([COLLAGE, "workload", name, "-o", path], check=True, stdout=subprocess.DEVNULL)
    return path, []


def us(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def text_of(ratio):
    return f"{ratio['ratio']:.2f}x [{ratio['low']:.2f}, {ratio['high']:.2f}]"


def is_wrong(contender):
    """Whether its numbers are not those of the reference: then it is no rival, however fast."""
    return contender.get("numbers", {}).get("verdict") == "wrong"


def row(name, tune, bench, ok, without):
    times = {contender["name"]: contender["median_us"] for contender in bench["contenders"]}
    ratios = {ratio["against"]: ratio for ratio in bench["ratios"]}
    cells = [name, us(times["collage"])]
    wrong = [contender["name"] for contender in bench["contenders"] if is_wrong(contender)]
    for rival in RIVALS:
        ratio = ratios.get(rival)
        if rival in wrong:
            cells.append(f"{us(times[rival])} (wrong numbers)")
        else:
            cells.append(f"{us(times[rival])} ({ratio['ratio']:.2f}x)" if ratio else "refuses")
    engines = [ratios[rival] for rival in RIVALS if rival in ratios and rival not in wrong]
    cells.append(text_of(min(engines, key=lambda ratio: ratio["ratio"])) if engines else "no rival")
    if without:
        cells.append(text_of(ratios[without]))
    if tune["shipped"] == "cover":
        cells.append(", ".join(f"{count} {backend}" for backend, count in tune["backends"].items()))
    else:
        cells.append("whole model: " + tune["shipped"])
    cells.append(f"{tune['tune_s']:.0f} s" + ("" if ok else ", WRONG NUMBERS"))
    return "| " + " | ".join(cells) + " |"


def print_gain(backend, gains):
    """`gains`: for each model the ratio against the plan without the backend, and the steps that the backend has."""
    if not gains:
        return
    mean = math.exp(sum(math.log(ratio["ratio"]) for ratio, _ in gains) / len(gains))
    slower = sum(ratio["high"] < 1 for ratio, _ in gains)
    faster = sum(ratio["low"] > 1 for ratio, _ in gains)
    print(f"\n{len(gains)} models: {mean:.3f}x the plans without {backend} in the geometric mean; clearly faster "
          f"{faster}, clearly slower {slower}; steps of {backend} in {sum(steps > 0 for _, steps in gains)} plans")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--budget", default="170s")
    parser.add_argument("--seconds", default="5")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--seeds", default="3")
    parser.add_argument("--store", help="the cost store; default: the user's")
    parser.add_argument("--without", metavar="BACKEND", help="say what this backend gains")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for plans and reports; default: a temporary one")
    parser.add_argument("names", nargs="+")
    options = parser.parse_args()
    known = models()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        extra = f" without {options.without} |" if options.without else ""
        print(f"| model | Collage us | ONNX Runtime us | OpenVINO us | against the best |{extra} steps | tune |")
        print("|---|---:|---:|---:|---:|" + ("---:|" if extra else "") + "---|---:|", flush=True)
        gains = []
        precisions = set()
        failed = False
        for name in options.names:
            try:
                path, inputs = source(name, known, folder)
                plan = folder / f"{name}.collage"
                store = ["--store", options.store] if options.store else []
                tuning = ["--budget", options.budget, "--threads", options.threads, *inputs, *store]
                tune = collage("tune", path, "-o", plan, *tuning)
                against, without = list(RIVALS), None
                if options.without:
                    without = str(folder / f"{name}.without.collage")
                    collage("tune", path, "-o", without, "--ban", f"*={options.without}", *tuning)
                    against.append(without)
                verify = collage("verify", plan, "--seeds", options.seeds, *ranges(inputs))
                bench = collage("bench", plan, "--seconds", options.seconds, "--against", ",".join(against), *ranges(inputs))
                for kind, report in (("tune", tune), ("verify", verify), ("bench", bench)):
                    (folder / f"{name}.{kind}.json").write_text(json.dumps(report, indent=1))
                failed |= not verify["ok"] or is_wrong(bench["contenders"][0])
                precisions.update(contender["precision"] for contender in bench["contenders"])
                print(row(name, tune, bench, verify["ok"], without), flush=True)
                if without and not any(is_wrong(one) for one in bench["contenders"] if one["name"] == without):
                    ratio = next(ratio for ratio in bench["ratios"] if ratio["against"] == without)
                    steps = tune["backends"].get(options.without, 0) if tune["shipped"] == "cover" else 0
                    gains.append((ratio, steps))
            except (RuntimeError, subprocess.CalledProcessError) as error:
                failed = True
                print(f"| {name} | {error} |", flush=True)
        if precisions:
            print(f"\nall contenders compute in: {'; '.join(sorted(precisions))}")
        print_gain(options.without, gains)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
