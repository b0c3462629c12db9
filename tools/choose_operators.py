#!/usr/bin/env python3
"""Chooses the configurations of the operator benchmark by their part of the models' time and writes the file of cases.

usage: tools/choose_operators.py [--models FOLDER] [--times FILE] [--output FILE] [--workloads NAME,...|all|none]

FOLDER has a MANIFEST.json; default: $COLLAGE_MODELS. With the times of an earlier choice (--times) the result is the
same again; without, each kind of region is timed anew, for some minutes. Nothing else may run on the machine then.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
from collections import Counter

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path(os.environ.get("COLLAGE_CUT_OPERATORS", ROOT / "build/dev/bench/cut_operators"))
CASES = ROOT / "bench/operators/cases.txt"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=os.environ.get("COLLAGE_MODELS"), help="default: $COLLAGE_MODELS")
    parser.add_argument("--workloads", default="all")
    parser.add_argument("--times", help="file that keeps the measured times")
    parser.add_argument("--output", type=pathlib.Path, default=CASES)
    options = parser.parse_args()
    if not options.models:
        parser.error("no folder of models: give --models or set COLLAGE_MODELS")
    command = [PROGRAM, "--models", options.models, "--workloads", options.workloads, "-o", options.output]
    if options.times:
        command += ["--times", options.times]
    done = subprocess.run(command)
    if done.returncode:
        return done.returncode
    classes = Counter(re.findall(r"^case ([^/\s]+)/", options.output.read_text(), re.MULTILINE))
    for name, count in classes.items():
        print(f"{name:<16} {count:>3}")
    print(f"{'together':<16} {classes.total():>3}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
