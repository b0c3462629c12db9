"""Tunes a model with a cost estimator of its own in place of measuring each candidate.

    python own_estimator.py MODEL.onnx PLAN.collage

The estimate is a roofline: the work of convolutions and products over the arithmetic that a backend does each
microsecond, and the bytes of all values over the bytes that memory gives.
"""

from __future__ import annotations

import math
import sys

import collage
from collage.extend import Candidate, Node, Region

#: Multiplications and additions each microsecond, as far as we know our machine.
OPERATIONS_PER_US = {"onednn": 60_000.0, "onnxruntime": 50_000.0, "native": 30_000.0}
BYTES_PER_US = 8_000.0
START_US = 1.0


def work_of(node: Node, region: Region) -> float:
    """Operations of a convolution or product: two for each output element and each term of its sum."""
    shapes = {value.name: value.shape for value in (*region.inputs, *region.constant_types, *region.outputs)}
    output, weights = shapes.get(node.outputs[0]), shapes.get(node.inputs[1]) if len(node.inputs) > 1 else None
    if node.op_type not in ("Conv", "MatMul", "Gemm") or not output or not weights:
        return 0.0
    terms = math.prod(weights[1:]) if node.op_type == "Conv" else weights[-2]
    return 2.0 * math.prod(output) * terms


def estimate(candidate: Candidate) -> float | None:
    """Microseconds, or None for backends of which we know nothing: those are measured."""
    rate = OPERATIONS_PER_US.get(candidate.backend)
    if rate is None:
        return None
    region = candidate.region
    values = (*region.inputs, *region.constant_types, *region.outputs)
    if not all(value.shape is not None and all(isinstance(one, int) for one in value.shape) for value in values):
        return None
    moved = sum(4 * math.prod(value.shape) for value in values)
    computed = sum(work_of(node, region) for node in region.nodes)
    return START_US + max(computed / (rate * candidate.threads), moved / BYTES_PER_US)


def main(model: str, plan: str) -> None:
    tuned = collage.tune(model, plan, estimate=estimate, estimates="only", budget="20s", store="memory:")
    print(tuned.report)


if __name__ == "__main__":
    main(*sys.argv[1:])
