"""The cost of a call from Python: python_run_bench.py [RUNS]

Times session.run of a small model with one input, paired in interleaved rounds with ONNX Runtime's Python call (if its
package is installed) and with the bare call of C through ctypes on the same memory. Prints medians in microseconds.
Nothing else may compute meanwhile.
"""

import ctypes
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "python"))

import collage  # noqa: E402
import numpy as np  # noqa: E402
from support import models  # noqa: E402
from support.plans import Plans  # noqa: E402

ROUNDS = 40




def c_call(plan_path):
    """A function that runs the plan through libcollage.so, with no array made or copied."""
    library = ctypes.CDLL(str(pathlib.Path(collage.__file__).parent / "lib" / "libcollage.so.0"))
    library.collage_get_api.restype = ctypes.POINTER(ctypes.c_void_p)
    table = library.collage_get_api(1)
    # The members of collage_api in order, after `size` and `version`, which take two words.
    names = """version_string status_code status_message status_where status_saw status_allowed status_kind status_free
        plan_load_file plan_load_memory plan_free plan_input_count plan_output_count plan_input_info plan_output_info
        plan_input_index plan_output_index plan_threads plan_verdict plan_metadata session_create session_free session_set_shapes
        session_input_info session_output_info session_input_index session_output_index session_input session_copy_input
        session_output session_copy_output session_bind_input session_bind_output session_run""".split()
    call = {name: ctypes.CFUNCTYPE(ctypes.c_void_p, *[ctypes.c_void_p] * 3)(table[2 + i]) for i, name in enumerate(names)}
    plan, session = ctypes.c_void_p(), ctypes.c_void_p()
    path = ctypes.create_string_buffer(str(plan_path).encode())
    assert not call["plan_load_file"](ctypes.addressof(path), None, ctypes.addressof(plan))
    assert not call["session_create"](plan, None, ctypes.addressof(session))
    run = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(table[2 + names.index("session_run")])
    return lambda: run(session)


def time_of(function, runs):
    begun = time.perf_counter_ns()
    for _ in range(runs):
        function()
    return (time.perf_counter_ns() - begun) / runs / 1000


def main(runs="2000"):
    plans = Plans()
    plan_path = plans.tuned("increment", models.increment())
    session = collage.load(plan_path).session()
    x, out = np.zeros((2, 3), np.float32), {"y": np.zeros((2, 3), np.float32)}
    calls = {
        "collage_session_run through ctypes": c_call(plan_path),
        "Session.run": lambda: session.run({"x": x}),
        "Session.run with out=": lambda: session.run({"x": x}, out),
    }
    options = collage.SessionOptions()
    options.intra_op_num_threads = 1
    ours = collage.InferenceSession(models.increment(), options)
    calls["collage.InferenceSession.run"] = lambda: ours.run(None, {"x": x})
    try:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        theirs = onnxruntime.InferenceSession(models.increment(), options, providers=["CPUExecutionProvider"])
        calls["onnxruntime.InferenceSession.run"] = lambda: theirs.run(None, {"x": x})
    except ImportError:
        print("onnxruntime is not installed")
    times = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            times[name].append(time_of(call, int(runs) // ROUNDS))
    for name, found in times.items():
        print(f"{name:40} {statistics.median(found):8.2f} us")
    plans.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
