#!/usr/bin/env python3
"""torch.compile (inductor) on the model as onnx2torch reads it. Needs torch, onnx2torch and a C++ compiler.

    collage bench PLAN --rival "torch=python3 tools/rivals/torch_compile.py"

Arguments: "mode=max-autotune" and other values of torch.compile's mode; "freezing=0" leaves weights unpacked.
"""
from rival import serve  # first: it keeps standard output

import operator
import sys

import torch
from torch._inductor import config as inductor
from torch.fx.experimental.proxy_tensor import make_fx


KNOWN_OPSET = 17


def as_known(path):
    """The model at an operator set that onnx2torch knows."""
    import onnx
    from onnx import version_converter

    model = onnx.load(path)
    newest = max(one.version for one in model.opset_import if one.domain in ("", "ai.onnx"))
    return model if newest <= KNOWN_OPSET else version_converter.convert_version(model, KNOWN_OPSET)


class FixedReshape(torch.nn.Module):
    """A Reshape to a constant shape, which the converter reads from a tensor in every run."""

    def __init__(self, shape):
        super().__init__()
        self.shape = shape

    def forward(self, tensor, _):
        return tensor.reshape([tensor.shape[i] if size == 0 else size for i, size in enumerate(self.shape)])


def fix_reshapes(module):
    for node in module.graph.nodes:
        if node.op != "call_module" or type(module.get_submodule(node.target)).__name__ != "OnnxReshape":
            continue
        shape = node.args[1]
        if shape.op == "get_attr":
            constant = operator.attrgetter(shape.target)(module)
            module.set_submodule(node.target, FixedReshape(constant.tolist()))


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
        module = onnx2torch.convert(as_known(model)).eval()
        self.inputs = [torch.from_numpy(array) for array in inputs.values()]
        # What the converter computes with the shapes in tensors is done once: the compiler cannot look into it.
        fix_reshapes(module)
        module = make_fx(module, tracing_mode="real")(*self.inputs)
        self.module = torch.compile(module, mode=self.settings.get("mode", "default"), dynamic=False)
        self.note = "converted by onnx2torch"
        self.run()

    def run(self):
        self.outputs = self.module(*self.inputs)

    def results(self):
        outputs = self.outputs if isinstance(self.outputs, (list, tuple)) else [self.outputs]
        return [one.numpy() for one in outputs]


serve(TorchCompile(sys.argv[1:]))
