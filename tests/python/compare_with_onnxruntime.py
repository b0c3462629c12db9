"""Runs models in onnxruntime.InferenceSession and in ours: compare_with_onnxruntime.py [--folder FOLDER] [NAME...]

FOLDER has a MANIFEST.json (default $COLLAGE_MODELS). Compares names, types and shapes of inputs and outputs, metadata, and for
the manifest's inputs the number, types, shapes and values of outputs. Prints a line for each model; exit 1 if any differs.
Where ONNX Runtime has inferred an extent of an output that the model only names, "names" is noted and no difference.
"""

import argparse
import json
import os
import pathlib
import sys

import collage
import numpy as np
import onnxruntime

RELATIVE, ABSOLUTE = 1e-3, 1e-4  # of the largest magnitude


def filled(shape, dtype, formula):
    """The manifest's deterministic inputs: u is from 0 to 1 by position."""
    if formula.startswith("constant "):
        return np.full(shape, json.loads(formula.removeprefix("constant ")), dtype)
    if formula.startswith("0,1,2"):
        return np.broadcast_to(np.arange(shape[-1]), shape).astype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    u = ((np.arange(count, dtype=np.uint64) * 2654435761 + 12345) % 2**32).astype(np.float64) / 2**32
    values = eval(formula, {"__builtins__": {}}, {"u": u, "floor": np.floor})  # noqa: S307: of our own manifest
    return values.reshape(shape).astype(dtype)


def ports(session):
    return [[(p.name, p.type, list(p.shape)) for p in side] for side in (session.get_inputs(), session.get_outputs())]


def compare_facts(ours, theirs):
    notes, wrong = [], []
    for side, mine, reference in zip(("inputs", "outputs"), ports(ours), ports(theirs)):
        if [p[:2] for p in mine] != [p[:2] for p in reference]:
            wrong.append(f"{side}: {mine} against {reference}")
        elif mine != reference:
            notes.append("names") if side == "outputs" else wrong.append(f"{side}: {mine} against {reference}")
    a, b = ours.get_modelmeta(), theirs.get_modelmeta()
    for field in a._fields:
        if getattr(a, field) != getattr(b, field):
            wrong.append(f"metadata {field}: {getattr(a, field)!r} against {getattr(b, field)!r}")
    return notes, wrong


def compare_values(ours, theirs, feed):
    for port, a, b in zip(theirs.get_outputs(), ours.run(None, feed), theirs.run(None, feed)):
        if not isinstance(b, np.ndarray) or (a.dtype, a.shape) != (b.dtype, b.shape):
            yield f"output {port.name}: {a.dtype}{a.shape} against {getattr(b, 'dtype', type(b))}{getattr(b, 'shape', '')}"
        elif a.dtype.kind == "f":
            largest = np.nanmax(np.abs(b.astype(np.float64)), initial=0)
            scale = 20 if a.dtype == np.float16 else 1
            if not np.allclose(a, b, RELATIVE * scale, ABSOLUTE * scale * largest + 1e-6, equal_nan=True):
                yield f"output {port.name}: differs by {np.nanmax(np.abs(a.astype(np.float64) - b))} of {largest}"
        elif not np.array_equal(a, b):
            yield f"output {port.name}: {int((a != b).sum())} of {a.size} elements differ"


def compare(path, smoke):
    theirs_options = onnxruntime.SessionOptions()
    theirs_options.intra_op_num_threads = 1
    theirs_options.log_severity_level = 4
    ours_options = collage.SessionOptions()
    ours_options.intra_op_num_threads = 1
    try:
        theirs = onnxruntime.InferenceSession(str(path), theirs_options, providers=["CPUExecutionProvider"])
    except Exception:
        return ["not taken by ONNX Runtime"], []
    ours = collage.InferenceSession(str(path), ours_options, providers=["CPUExecutionProvider"])
    notes, wrong = compare_facts(ours, theirs)
    feed = {i["name"]: filled(i["shape"], i["dtype"], i["fill"]) for i in smoke["inputs"]}
    return notes, wrong + list(compare_values(ours, theirs, feed))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", default=os.environ.get("COLLAGE_MODELS"))
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    folder = pathlib.Path(options.folder)
    failed = 0
    for model in json.loads((folder / "MANIFEST.json").read_text())["models"]:
        if options.names and model["name"] not in options.names:
            continue
        try:
            notes, wrong = compare(folder / model["file"], model["smoke"])
        except Exception as problem:
            notes, wrong = [], [f"{type(problem).__name__}: {problem}"]
        failed += bool(wrong)
        print(f"{'differs' if wrong else 'same':8} {model['name']} {' '.join(notes)}", flush=True)
        for line in wrong:
            print(f"         {line[:400]}", flush=True)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
