"""What ./dev wheel test runs with the wheel in an environment of its own: check_wheel.py core|tune FOLDER

core: plans in FOLDER run without any engine, and what needs one says so. tune: a model in FOLDER is tuned, run by one
engine, and both give the same values.
"""

import pathlib
import sys

import collage
import numpy as np


def check_core(folder):
    for name, shape in (("increment", (2, 3)), ("detector", (1, 3, 32, 32))):
        x = np.random.default_rng(1).random(shape).astype(np.float32)
        for plan in (collage.load(folder / f"{name}.collage"), collage.load((folder / f"{name}.collage").read_bytes())):
            (y,) = plan.session().run([x])
            print(name, plan.verdict[0], y.shape)
            assert name != "increment" or np.array_equal(y, x + 1)
    try:
        collage.InferenceSession(folder / "increment.onnx")
        raise SystemExit("an engine ran, although none is installed")
    except collage.UnsupportedError as error:
        print("as it should:", error)
        assert "collage[tune]" in str(error)


def check_tune(folder):
    print(collage.backends())
    plan = collage.tune(folder / "detector.onnx", shapes={"x": (1, 3, 32, 32)}, budget="5s", store="memory:", progress=False)
    print(plan.report)
    x = np.random.default_rng(1).random((1, 3, 32, 32)).astype(np.float32)
    reference = collage.InferenceSession(folder / "detector.onnx").run(None, {"x": x})[0]
    np.testing.assert_allclose(plan.session().run({"x": x})["map"], reference, rtol=1e-3, atol=1e-4)
    usable = {backend["name"] for backend in collage.backends().data["backends"] if backend["usable"]}
    assert {"host", "native", "onednn", "onnxruntime", "openvino"} <= usable, usable


if __name__ == "__main__":
    assert "site-packages" in collage.__file__, collage.__file__
    {"core": check_core, "tune": check_tune}[sys.argv[1]](pathlib.Path(sys.argv[2]))
    print(sys.argv[1], "passed")
