"""Runs a model with ONNX Runtime's calls while it is tuned in the background: inference_session.py MODEL.onnx [RUNS]"""

import sys
import time

import collage as ort
import numpy as np

TYPES = {"tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16", "tensor(bool)": "bool"}


def zeros_for(port):
    shape = [extent if isinstance(extent, int) else 1 for extent in port.shape]
    return np.zeros(shape, TYPES.get(port.type, port.type.removeprefix("tensor(").removesuffix(")")))


def main(model, runs="30"):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"], tune="background", budget="30s")
    feed = {port.name: zeros_for(port) for port in session.get_inputs()}
    before = None
    for run in range(int(runs)):
        outputs = session.run(None, feed)
        if session.plan is not before:
            before = session.plan
            print(f"run {run}: another plan, outputs {[array.shape for array in outputs]}")
        time.sleep(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
