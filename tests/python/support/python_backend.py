"""Modules of region functions for tests, in a folder that processes find."""

import os
import pathlib
import subprocess
import sys

import collage

NAME = "region_functions_of_tests"

#: Adds a constant and cuts off; `refuses` and a failure at a run are asked for by the environment.
RIGHT = '''
import os
import numpy as np
from collage.extend import op, region_function

def small(region):
    return f"{region.inputs[0].shape[0]} rows" if region.inputs[0].shape[0] > 100 else None

def addend(region):
    node = region.node("Add")
    return next(region.constants[name] for name in node.inputs if name in region.constants)

@region_function(op("Add").then("Relu"), prepare=addend, refuses=small)
def add_relu(inputs, region):
    if "FAIL_AT_RUN" in os.environ:
        raise RuntimeError("asked to fail")
    return np.maximum(inputs[0] + region.state, 0)

@region_function("Neg")
def negate(inputs, region, out):
    np.negative(inputs[0], out=out[0])
'''


class Module:
    """One module in a folder of its own, which is on the path of this process until close()."""

    def __init__(self, folder: pathlib.Path, source: str, name: str = NAME):
        self.folder = folder
        self.name = name
        folder.mkdir(exist_ok=True)
        self.write(source)
        sys.path.insert(0, str(folder))
        self.backend = collage.extend.backend(name)

    def write(self, source: str) -> None:
        (self.folder / f"{self.name}.py").write_text(source)

    def close(self) -> None:
        sys.path.remove(str(self.folder))
        sys.modules.pop(self.name, None)

    def python(self, program: str, **variables: str) -> subprocess.CompletedProcess:
        """Runs a program in another process that finds the module."""
        path = os.pathsep.join([str(self.folder), *filter(None, [os.environ.get("PYTHONPATH")])])
        return subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **variables},
            capture_output=True,
            text=True,
            timeout=120,
        )
