#!/usr/bin/env python3
"""MNN on the whole model, converted by its own converter. Needs the package MNN, which has both.

    collage bench PLAN --rival "mnn=python3 tools/rivals/mnn_rival.py winograd=1"

winograd=N is its WINOGRAD_MEMORY_LEVEL: 0 for none, 1 for two pixels at once, 3, its default, which errs by a thousandth of
the largest output and is then judged so.
"""
from rival import serve  # first: it keeps standard output

import pathlib
import subprocess
import sys
import tempfile

import MNN
import numpy

WINOGRAD_MEMORY_LEVEL = 3
SESSION_RELEASE = 1


class Mnn:
    name = "MNN"
    version = MNN.version()
    precision = "f32"

    def __init__(self, arguments):
        self.settings = dict(one.split("=", 1) for one in arguments)
        self.note = " ".join(arguments)

    def prepare(self, model, threads, inputs, outputs):
        with tempfile.TemporaryDirectory() as folder:
            net = pathlib.Path(folder, "model.mnn")
            converter = pathlib.Path(sys.executable).with_name("mnnconvert")
            done = subprocess.run([converter, "-f", "ONNX", "--modelFile", model, "--MNNModel", net, "--bizCode", "rival"],
                                  capture_output=True, text=True, cwd=folder)
            if not net.exists():
                raise RuntimeError(f"mnnconvert: {(done.stderr or done.stdout).strip()[-300:]}")
            self.net = MNN.Interpreter(str(net))
        self.net.setSessionMode(SESSION_RELEASE)
        self.net.setSessionHint(WINOGRAD_MEMORY_LEVEL, int(self.settings.get("winograd", "3")))
        self.session = self.net.createSession({"backend": "CPU", "numThread": threads, "precision": "high"})
        for name, array in inputs.items():
            port = self.net.getSessionInput(self.session, name)
            if tuple(port.getShape()) != array.shape:
                self.net.resizeTensor(port, array.shape)
        self.net.resizeSession(self.session)
        self.names = outputs
        self.inputs = [self._input(name, array) for name, array in inputs.items()]

    def _input(self, name, array):
        """The port, and a tensor to be copied there."""
        kind = MNN.Halide_Type_Int if array.dtype.kind == "i" else MNN.Halide_Type_Float
        values = array.astype(numpy.int32 if kind == MNN.Halide_Type_Int else numpy.float32)
        return (self.net.getSessionInput(self.session, name),
                MNN.Tensor(array.shape, kind, values, MNN.Tensor_DimensionType_Caffe))

    def run(self):
        for port, here in self.inputs:  # each time: the library uses the memory of inputs inside of a run
            port.copyFrom(here)
        self.net.runSession(self.session)

    def results(self):
        return [self._output(name) for name in self.names]

    def _output(self, name):
        port = self.net.getSessionOutput(self.session, name)
        shape = port.getShape()
        here = MNN.Tensor(shape, port.getDataType(), numpy.zeros(shape, numpy.float32), MNN.Tensor_DimensionType_Caffe)
        port.copyToHostTensor(here)
        return numpy.array(here.getNumpyData()).reshape(shape)


serve(Mnn(sys.argv[1:]))
