#!/usr/bin/env python3
"""TVM on the whole model, tuned by MetaSchedule for so many seconds, with the schedules of the backend tvm. Runs in the
interpreter of ./dev setup tvm, or one that has apache-tvm 0.27.0.post1, apache-tvm-ffi 0.1.14.post1 (later ones crash) and
onnx.

    collage bench PLAN --rival "tvm=$HOME/.cache/collage/parts/tvm-0.27.0.post1/bin/python tools/rivals/tvm_rival.py seconds=600"

Without tuning TVM has no schedules for processors: it is then some 50 times slower.
"""
from rival import serve  # first: it keeps standard output

import os
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "backends/tvm/worker"))
import devices

import numpy
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

import tuning

MOST_TRIALS = 2000  # of a kernel: more than there is time for


def passes(*more):
    return tvm.ir.transform.Sequential(
        [
            relax.transform.DecomposeOpsForInference(),
            relax.transform.CanonicalizeBindings(),
            relax.transform.ConvertLayout({"relax.nn.conv2d": ["NHWC", "HWIO"]}),
            relax.transform.FastMathTransform(),
            relax.transform.FoldConstant(),
            relax.transform.LegalizeOps(),
            relax.transform.AnnotateTIROpPattern(),
            relax.transform.FoldConstant(),
            relax.transform.FuseOps(),
            relax.transform.FuseTIR(),
            relax.transform.AttachAttrLayoutFreeBuffers(),
            *more,
        ]
    )


class Tvm:
    name = "TVM"
    version = tvm.__version__
    precision = "f32"

    def __init__(self, arguments):
        self.seconds = float(dict(one.split("=", 1) for one in arguments).get("seconds", "60"))

    def prepare(self, model, threads, inputs, outputs):
        os.environ["TVM_NUM_THREADS"] = str(threads)
        self.target = tvm.target.Target(
            {"kind": "llvm", "mcpu": tvm.target.codegen.llvm_get_system_cpu(), "num-cores": threads}
        )
        shapes = {name: list(array.shape) for name, array in inputs.items()}
        types_ = {name: str(array.dtype) for name, array in inputs.items()}
        module = from_onnx(onnx.load(model), shape_dict=shapes, dtype_dict=types_)
        with self.target:
            module = passes()(module)
        database = tuning.tune(module, self.target, MOST_TRIALS, self.seconds, folder="", seed=1)
        with self.target, database, tvm.transform.PassContext(opt_level=3):
            module = tvm.ir.transform.Sequential(
                [
                    relax.transform.MetaScheduleApplyDatabase(),
                    relax.transform.SplitLayoutRewritePreproc(),
                    relax.transform.FoldConstant(),
                ]
            )(module)
            built = relax.build(module, target=self.target,
                                relax_pipeline=relax.pipeline.get_default_pipeline(self.target))
        self.note = f"tuned for {self.seconds:.0f} s"
        self.machine = relax.VirtualMachine(built, tvm.cpu())
        self.inputs = [tvm.runtime.tensor(numpy.ascontiguousarray(array)) for array in inputs.values()]
        self.machine.set_input("main", *self.inputs)

    def run(self):
        self.machine.invoke_stateful("main")

    def results(self):
        outputs = self.machine.get_outputs("main")
        outputs = [outputs] if isinstance(outputs, tvm.runtime.Tensor) else list(outputs)
        return [one.numpy() for one in outputs]


serve(Tvm(sys.argv[1:]))
