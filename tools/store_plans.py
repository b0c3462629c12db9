"""Makes the stored plans of tests/api/c/stored: each a plan file, with inputs and the outputs that ONNX's own evaluator
expects of them. Later versions must load and run them, so a plan that is there is never made again: only missing ones
are, with the program of this tree.

usage: PYTHON_OF_PARTS tools/store_plans.py [COLLAGE]    (default build/dev/bin/collage)
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnx.reference

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests/api/c/stored"
HEADER = '<ir_version: 8, opset_import: ["": 17]> '


def weights(name, shape, seed):
    values = np.random.default_rng(seed).integers(-8, 9, shape).ravel() / 8
    listed = ", ".join(f"{value:.3f}" for value in values)
    return f"float[{','.join(map(str, shape))}] {name} = {{{listed}}}"


CONVOLUTION = f"""image (float[1,3,10,10] x) => (float[1,5] y)
<{weights("w", (8, 3, 3, 3), 1)}, {weights("b", (8,), 2)}, {weights("m", (8, 5), 3)}, int64[2] rows = {{1, 8}}> {{
  c = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, w, b)
  r = Relu (c)
  p = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (r)
  g = GlobalAveragePool (p)
  f = Reshape (g, rows)
  y = MatMul (f, m)
}}"""

# Name, the model, options of the tune, the shapes of x that are run.
PLANS = [
    ("host_only", "small (float[3,4] x) => (float[4,3] y) { a = Neg (x) b = Floor (a) c = Add (a, b) y = Transpose (c) }",
     ["--only", "host"], [(3, 4)]),
    ("native_avx2", CONVOLUTION, ["--only", "native"], [(1, 3, 10, 10)]),
    ("many_shapes", f"rows (float[n,6] x) => (float[n,4] y) <{weights('w', (6, 4), 4)}> "
     "{ a = MatMul (x, w) b = Relu (a) y = Add (b, b) }",
     ["--backends", "native", "--shape", "n=1..8", "--at", "n=4"], [(1, 6), (4, 6), (7, 6)]),
]


def as_json(array):
    return {"shape": list(array.shape), "values": [float(f"{value:.9g}") for value in array.ravel()]}


def runs_of(model, shapes):
    evaluator = onnx.reference.ReferenceEvaluator(model)
    runs = []
    for number, shape in enumerate(shapes):
        x = (np.random.default_rng(100 + number).integers(-16, 17, shape) / 8).astype(np.float32)
        (y,) = evaluator.run(None, {"x": x})
        runs.append({"inputs": {"x": as_json(x)}, "outputs": {"y": as_json(y)}})
    return runs


def store(collage, name, text, options, shapes):
    model = onnx.parser.parse_model(HEADER + text)
    onnx.checker.check_model(model)
    with tempfile.TemporaryDirectory() as work:
        file = Path(work, "model.onnx")
        file.write_bytes(model.SerializeToString())
        plan = Path(work, "plan.collage")
        # Kernels for processors with AVX2 alone, so that the tests run everywhere.
        environment = dict(os.environ, COLLAGE_INSTRUCTION_SETS="avx2")
        subprocess.run([collage, "tune", file.name, "-o", plan.name, "--store", "memory:", "--budget", "15s", "--quiet", *options],
                       check=True, cwd=work, env=environment, stdout=subprocess.DEVNULL)
        (FOLDER / f"{name}.collage").write_bytes(plan.read_bytes())
    lines = ",\n".join(json.dumps(run) for run in runs_of(model, shapes))
    (FOLDER / f"{name}.json").write_text(f'{{"runs": [\n{lines}\n]}}\n')
    print(f"{name}: {(FOLDER / f'{name}.collage').stat().st_size} bytes")


def main():
    collage = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/dev/bin/collage").resolve()
    for name, text, options, shapes in PLANS:
        if not (FOLDER / f"{name}.collage").exists():
            store(collage, name, text, options, shapes)


if __name__ == "__main__":
    main()
