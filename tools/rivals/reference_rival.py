#!/usr/bin/env python3
"""ONNX's own evaluator in Python: slow, and the smallest example of a rival. Needs the package onnx.

    collage bench PLAN --rival "onnx=python3 tools/rivals/reference_rival.py"
"""
from rival import serve  # first: it keeps standard output

import onnx
from onnx.reference import ReferenceEvaluator


class Reference:
    name = "onnx.reference"
    version = onnx.__version__
    precision = "f32"

    def prepare(self, model, threads, inputs, outputs):
        self.evaluator = ReferenceEvaluator(model)
        self.inputs, self.names = inputs, outputs

    def run(self):
        self.outputs = self.evaluator.run(self.names, self.inputs)

    def results(self):
        return self.outputs


serve(Reference())
