"""Tunes a model, runs it, keeps the plan: quickstart.py MODEL.onnx [SECONDS]"""

import sys

import collage
import numpy as np


def zeros_for(ports):
    """An array for each input; open extents are 1."""
    return {port.name: np.zeros([e if isinstance(e, int) else 1 for e in port.shape], port.dtype) for port in ports}


def main(model, seconds="20"):
    shapes = {
        port.name: [extent if isinstance(extent, int) else 1 for extent in port.shape]
        for port in collage.InferenceSession(model).get_inputs()
        if port.shape
    }
    plan = collage.tune(model, shapes=shapes, budget=float(seconds))
    print(plan.report)
    plan.save("quickstart.collage")

    session = collage.load("quickstart.collage").session()
    for name, array in session.run(zeros_for(plan.inputs)).items():
        print(name, array.dtype, array.shape)


if __name__ == "__main__":
    main(*sys.argv[1:])
