"""Plans of small models, made by the command of the same build."""

import pathlib
import subprocess
import tempfile

import collage
from collage import _native
from collage.plan import prepare_libraries


def command():
    return pathlib.Path(collage.__file__).parent / "bin" / "collage"


def unmeasured(model):
    """A plan in which one engine takes the whole model, made at once."""
    prepare_libraries()
    return collage.Plan(_native.plan_of_model({"model_bytes": model, "threads": 1}))


class Plans:
    """A folder with models and plans, until close()."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="collage-test-")
        self.folder = pathlib.Path(self._folder.name)

    def close(self):
        self._folder.cleanup()

    def write(self, name, model):
        path = self.folder / f"{name}.onnx"
        path.write_bytes(model)
        return path

    def tuned(self, name, model, *options):
        """The path of a plan of the model, tuned for as short as possible."""
        plan = self.folder / f"{name}.collage"
        model_path = self.write(name, model)
        subprocess.run(
            [command(), "tune", model_path, "-o", plan, "--store", "memory:", "--budget", "1s", "--quiet",
             "--backends", "onnxruntime", *options],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return plan
