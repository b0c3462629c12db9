"""What ONNX Runtime itself does with ONNX's official operator tests: writes tests/conformance/official.txt.

In:  the packages onnx, numpy and onnxruntime, of the releases in tools/parts.txt. Out: a line "TEST OPERATOR OUTCOME" for each test.
     An OPERATOR outside of the default domain is "DOMAIN::NAME"; that of an expanded test is the one it spells out.
     passes     the outputs are those of the test, within its own tolerances or those of accuracy class standard
     newer      the model's IR version or operator set is newer than those that it reads
     refused    no session could be made, or the run ended with an error
     different  the outputs are others
     died       the process died or did not end
How: a session with the library's own settings on the model as it is, each test in a process of its own. Inputs of element types
     that NumPy lacks are constants of the model, and outputs of such types leave it through a Cast to float32.
"""

import multiprocessing
import pathlib
import re
import sys
import warnings

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx_cases import to_proto

HERE = pathlib.Path(__file__).resolve().parent
FILE = HERE.parent / "tests/conformance/official.txt"
HEAD = """\
# ONNX's official operator tests, and what ONNX Runtime does with each model as written: "TEST OPERATOR OUTCOME".
# Written by tools/onnxruntime_cases.py, which says what the words mean; read by tools/coverage.py.
"""
PATIENCE_S = 60
NEWER = re.compile(r"Unsupported model IR version|ValidateOpsetForDomain")
PLAIN = {
    getattr(onnx.TensorProto, name)
    for name in "FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 STRING BOOL FLOAT16 DOUBLE UINT32 UINT64 COMPLEX64 COMPLEX128".split()
}


def element_of(type_proto):
    """The element type of a tensor, 0 of anything else."""
    return type_proto.tensor_type.elem_type if type_proto.HasField("tensor_type") else 0


def is_narrow(info):
    return element_of(info.type) not in PLAIN | {0}


def with_plain_border(model, inputs):
    """The model and its inputs without element types that NumPy lacks at its border."""
    changed = onnx.ModelProto.FromString(model.SerializeToString())
    graph = changed.graph
    kept = []
    for info, value in zip(list(graph.input), inputs, strict=True):
        if is_narrow(info):
            graph.initializer.append(to_proto(value, info.type, info.name))
            graph.input.remove(info)
        else:
            kept.append((info.name, value))
    for info in graph.output:
        if not is_narrow(info):
            continue
        wide = info.name + "_wide"
        graph.node.append(onnx.helper.make_node("Cast", [info.name], [wide], to=onnx.TensorProto.FLOAT))
        info.name = wide
        info.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    return changed, dict(kept)


def plain(value):
    """Arrays and lists of them, of element types that NumPy has."""
    if isinstance(value, onnx.TensorProto):
        value = numpy_helper.to_array(value)
    elif isinstance(value, onnx.SequenceProto):
        value = numpy_helper.to_list(value)
    elif isinstance(value, onnx.OptionalProto):
        value = numpy_helper.to_optional(value)
    if value is None:
        return None
    if isinstance(value, list):
        return [plain(one) for one in value]
    return np.asarray(value)


def is_alike(got, expected, case):
    if expected is None or got is None:
        return got is expected
    if isinstance(expected, list):
        return (
            isinstance(got, list)
            and len(got) == len(expected)
            and all(is_alike(one, other, case) for one, other in zip(got, expected, strict=True))
        )
    got, expected = np.asarray(got), np.asarray(expected)
    if got.shape != expected.shape:
        return False
    if expected.dtype.kind in "OUS":
        return got.astype(str).tolist() == expected.astype(str).tolist()
    if expected.dtype.kind == "V" or expected.dtype.kind not in "biufc":
        expected = expected.astype(np.float32)
    if got.dtype != expected.dtype:
        expected = expected.astype(got.dtype)
    if np.allclose(got, expected, rtol=case.rtol, atol=case.atol, equal_nan=True):
        return True
    return expected.dtype.kind in "fc" and is_near(got.astype(np.complex128), expected.astype(np.complex128), expected.dtype.itemsize)


def is_near(got, expected, bytes_each):
    """Within the bounds of accuracy class standard (docs/CLI.md)."""
    largest = np.max(np.abs(expected[np.isfinite(expected)]), initial=0)
    rtol, atol = (1e-2, 2e-3 * largest) if bytes_each <= 2 else (1e-3, 1e-4 * largest + 1e-6)
    return np.allclose(got, expected, rtol=rtol, atol=atol, equal_nan=True)


def outcome_of(case):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    for inputs, outputs in case.data_sets:
        model, feeds = with_plain_border(case.model, inputs)
        try:
            session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
            got = session.run(None, {name: plain(value) for name, value in feeds.items()})
        except Exception as failure:  # noqa: BLE001: every kind of failure is a refusal
            return "newer" if NEWER.search(str(failure)) else "refused", str(failure)
        for one, expected in zip(got, outputs, strict=True):
            if not is_alike(one, plain(expected), case):
                return "different", f"{one} for {expected}"
    return "passes", ""


def outcome_apart(case):
    """In a process of its own: a test may take the process with it."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=lambda: theirs.send(outcome_of(case)))
    process.start()
    theirs.close()
    outcome = "died", "no answer"
    try:
        if ours.poll(PATIENCE_S):
            outcome = ours.recv()
    except EOFError:
        pass
    process.kill()
    process.join()
    return outcome


def operator_of(model):
    (node,) = model.graph.node
    return f"{node.domain}::{node.op_type}" if node.domain else node.op_type


def main():
    warnings.simplefilter("ignore")
    cases = {case.name: case for case in collect_testcases(None)}
    lines = []
    for name in sorted(cases):
        operator = operator_of(cases[name.split("_expanded")[0]].model)
        outcome, why = outcome_apart(cases[name])
        lines.append(f"{name} {operator} {outcome}\n")
        if why:
            print(f"{name}: {outcome}: {why[:300]!r}", file=sys.stderr)
    FILE.write_text(HEAD + "".join(lines))
    print(f"{FILE.name}: {len(lines)} tests")


if __name__ == "__main__":
    main()
