"""Writes ONNX's official operator tests as files: FOLDER/<name>/{model.onnx,test_data_set_<k>/{input,output}_<i>.pb}."""

import pathlib
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases


def to_proto(value, type_proto, name):
    """The protobuf of one input or output: a tensor, a sequence of tensors or an optional of either."""
    if isinstance(value, onnx.TensorProto | onnx.SequenceProto | onnx.OptionalProto):
        return value
    if type_proto.HasField("sequence_type"):
        return numpy_helper.from_list(value, name)
    if type_proto.HasField("optional_type"):
        return numpy_helper.from_optional(value, name)
    return numpy_helper.from_array(np.asarray(value), name)


def write_case(case, folder):
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for k, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{k}"
        data.mkdir()
        for kind, infos, values in (("input", case.model.graph.input, inputs), ("output", case.model.graph.output, outputs)):
            for i, (info, value) in enumerate(zip(infos, values, strict=False)):
                proto = to_proto(value, info.type, info.name)
                (data / f"{kind}_{i}.pb").write_bytes(proto.SerializeToString())


def main():
    warnings.simplefilter("ignore")
    target = pathlib.Path(sys.argv[1])
    cases = collect_testcases(None)
    for done, case in enumerate(cases):
        write_case(case, target / case.name)
        if done % 500 == 0:
            print(f"-- onnx-cases: {done} of {len(cases)}", file=sys.stderr)
    print(f"-- onnx-cases: {len(cases)} written", file=sys.stderr)


if __name__ == "__main__":
    main()
