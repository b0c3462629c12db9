#!/usr/bin/env python3
"""TVM on the whole model, tuned by MetaSchedule for so many seconds. Needs apache-tvm 0.27.0.post1 with apache-tvm-ffi
0.1.14.post1 (later ones crash), onnx, psutil, cloudpickle, and a C++ compiler.

    collage bench PLAN --rival "tvm=python3 tools/rivals/tvm_rival.py seconds=600"

Without tuning TVM has no schedules for processors: it is then some 50 times slower.
"""
from rival import serve  # first: it keeps standard output

import sys
import tempfile
import time
import types


def without_other_devices():
    """TVM reads the instructions of all devices when it tunes, which takes 25 s in every process."""
    for device in ("cuda", "hexagon", "rocm", "metal", "arm_cpu", "riscv_cpu"):
        name = f"tvm.s_tir.tensor_intrin.{device}"
        sys.modules.setdefault(name, types.ModuleType(name))


without_other_devices()

import numpy
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx
from tvm.s_tir import meta_schedule as ms

FEWEST_TRIALS = 64
AT_ONCE = 16


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
        self.target = tvm.target.Target(
            {"kind": "llvm", "mcpu": tvm.target.codegen.llvm_get_system_cpu(), "num-cores": threads}
        )
        shapes = {name: list(array.shape) for name, array in inputs.items()}
        types_ = {name: str(array.dtype) for name, array in inputs.items()}
        module = from_onnx(onnx.load(model), shape_dict=shapes, dtype_dict=types_)
        with self.target:
            module = passes()(module)
        with tempfile.TemporaryDirectory() as folder:
            database = self.tuned(module, folder)
            with self.target, database, tvm.transform.PassContext(opt_level=3):
                module = tvm.ir.transform.Sequential(
                    [
                        relax.transform.MetaScheduleApplyDatabase(folder),
                        relax.transform.SplitLayoutRewritePreproc(),
                        relax.transform.FoldConstant(),
                    ]
                )(module)
                built = relax.build(module, target=self.target,
                                    relax_pipeline=relax.pipeline.get_default_pipeline(self.target))
        self.machine = relax.VirtualMachine(built, tvm.cpu())
        self.inputs = [tvm.runtime.tensor(numpy.ascontiguousarray(array)) for array in inputs.values()]
        self.machine.set_input("main", *self.inputs)

    def tuned(self, module, folder):
        """The records of as many trials as fit into the time."""
        tasks = ms.relax_integration.extract_tasks(module, self.target)
        contexts, weights = ms.relax_integration.extracted_tasks_to_tune_contexts(tasks, folder, num_threads=1)
        end = time.monotonic() + self.seconds
        trials, done, database = FEWEST_TRIALS, 0, "json"
        while True:
            begin = time.monotonic()
            database = ms.tune.tune_tasks(
                tasks=contexts, task_weights=weights, work_dir=folder, max_trials_global=trials,
                num_trials_per_iter=AT_ONCE, database=database, cost_model="random",
                builder=ms.builder.LocalBuilder(max_workers=1, initializer=without_other_devices),
                runner=ms.runner.LocalRunner(initializer=without_other_devices))
            done += trials
            rate = (time.monotonic() - begin) / trials
            trials = int((end - time.monotonic()) / rate)
            if trials < AT_ONCE:
                break
            contexts, weights = ms.relax_integration.extracted_tasks_to_tune_contexts(tasks, folder, num_threads=1)
        self.note = f"{len(tasks)} tasks, {done} trials in {self.seconds:.0f} s"
        return database

    def run(self):
        self.machine.invoke_stateful("main")

    def results(self):
        outputs = self.machine.get_outputs("main")
        outputs = [outputs] if isinstance(outputs, tvm.runtime.Tensor) else list(outputs)
        return [one.numpy() for one in outputs]


serve(Tvm(sys.argv[1:]))
