#!/usr/bin/env python3
"""ONNX Runtime from Python, with options: how a program in Python sees it.

    collage bench PLAN --rival "ort=python3 tools/rivals/onnxruntime_rival.py session.intra_op.allow_spinning=0"

Each argument is KEY=VALUE of a session's configuration; "optimisation=basic" sets the level (off, basic, extended, all).
"""
from rival import serve  # first: it keeps standard output

import sys

import onnxruntime

LEVELS = {
    "off": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "basic": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "extended": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "all": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
}


class OnnxRuntime:
    name = "ONNX Runtime, Python"
    version = onnxruntime.__version__
    precision = "f32"

    def __init__(self, arguments):
        self.settings = dict(one.split("=", 1) for one in arguments)

    def prepare(self, model, threads, inputs, outputs):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        settings = dict(self.settings)
        options.graph_optimization_level = LEVELS[settings.pop("optimisation", "all")]
        for key, value in settings.items():
            options.add_session_config_entry(key, value)
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.inputs, self.names = inputs, outputs

    def run(self):
        self.outputs = self.session.run(self.names, self.inputs)

    def results(self):
        return self.outputs


serve(OnnxRuntime(sys.argv[1:]))
