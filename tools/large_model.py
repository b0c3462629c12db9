#!/usr/bin/env python3
"""Writes a model with gibibytes of random weights, to see that a tune and a run need little more memory than these.

    tools/large_model.py FOLDER [GIBIBYTES]

A chain of products [rows, 4096] x [4096, 8192] and back with a Relu after each; the weights lie in several files beside
model.onnx. Needs the packages numpy and onnx.
"""

import pathlib
import sys

import numpy
from onnx import ModelProto, TensorProto, helper, save_model

ROWS, WIDTH, HIDDEN = 4, 4096, 8192
LAYER_BYTES = 4 * WIDTH * HIDDEN
LAYERS_OF_A_FILE = 16


def weight(folder, index, extents, random):
    """A tensor whose elements were appended to its file."""
    name = f"weights{index // LAYERS_OF_A_FILE}.bin"
    elements = random.standard_normal(extents, dtype=numpy.float32)
    elements *= numpy.float32(1 / extents[0] ** 0.5)
    with open(folder / name, "ab") as file:
        offset = file.tell()
        elements.tofile(file)
    tensor = TensorProto(name=f"w{index}", data_type=TensorProto.FLOAT, dims=extents,
                         data_location=TensorProto.EXTERNAL)
    for key, value in (("location", name), ("offset", offset), ("length", LAYER_BYTES)):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def main():
    folder = pathlib.Path(sys.argv[1])
    layers = int(float(sys.argv[2] if len(sys.argv) > 2 else 8) * 2**30 / LAYER_BYTES)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("weights*.bin"):
        old.unlink()
    random = numpy.random.default_rng(1)
    nodes, weights, value = [], [], "x"
    for i in range(layers):
        extents = (WIDTH, HIDDEN) if i % 2 == 0 else (HIDDEN, WIDTH)
        weights.append(weight(folder, i, extents, random))
        nodes.append(helper.make_node("MatMul", [value, f"w{i}"], [f"m{i}"]))
        nodes.append(helper.make_node("Relu", [f"m{i}"], [f"r{i}"]))
        value = f"r{i}"
    last = WIDTH if layers % 2 == 0 else HIDDEN
    graph = helper.make_graph(nodes, "large", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [ROWS, WIDTH])],
                              [helper.make_tensor_value_info(value, TensorProto.FLOAT, [ROWS, last])], weights)
    model: ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    save_model(model, folder / "model.onnx")


if __name__ == "__main__":
    main()
