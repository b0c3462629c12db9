#!/usr/bin/env python3
"""torch.compile (inductor) on the model as onnx2torch reads it. Needs torch, onnx2torch and a C++ compiler.

    collage bench PLAN --rival "torch=python3 tools/rivals/torch_compile.py"

Arguments: "mode=max-autotune" and other values of torch.compile's mode; "freezing=0" leaves weights unpacked.
"""
from rival import serve  # first: it keeps standard output

import sys

import torch
from torch._inductor import config as inductor


class TorchCompile:
    name = "torch.compile"
    version = torch.__version__
    precision = "f32"

    def __init__(self, arguments):
        self.settings = dict(one.split("=", 1) for one in arguments)

    def prepare(self, model, threads, inputs, outputs):
        import onnx2torch

        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        inductor.freezing = self.settings.get("freezing", "1") == "1"
        module = onnx2torch.convert(model).eval()
        self.module = torch.compile(module, mode=self.settings.get("mode", "default"), dynamic=False)
        self.inputs = [torch.from_numpy(array) for array in inputs.values()]
        self.note = "converted by onnx2torch"
        self.run()

    def run(self):
        self.outputs = self.module(*self.inputs)

    def results(self):
        outputs = self.outputs if isinstance(self.outputs, (list, tuple)) else [self.outputs]
        return [one.numpy() for one in outputs]


serve(TorchCompile(sys.argv[1:]))
