"""Writes ONNX's official operator tests as files: FOLDER/<name>/{model.onnx,test_data_set_<k>/{input,output}_<i>.pb}.

A test with sequences, optionals or strings at its border is written a second time, as FOLDER/<name>/inside/...: there the model
makes them of tensors and constants, and takes apart what comes out, so that its inputs and outputs are tensors of numbers.
"""

import pathlib
import sys
import warnings

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
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


def write_case(model, data_sets, folder):
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for k, (inputs, outputs) in enumerate(data_sets):
        data = folder / f"test_data_set_{k}"
        data.mkdir()
        for kind, infos, values in (("input", model.graph.input, inputs), ("output", model.graph.output, outputs)):
            for i, (info, value) in enumerate(zip(infos, values, strict=False)):
                proto = to_proto(value, info.type, info.name)
                (data / f"{kind}_{i}.pb").write_bytes(proto.SerializeToString())


def is_string(type_proto):
    return type_proto.tensor_type.elem_type == TensorProto.STRING


def is_number(type_proto):
    return type_proto.HasField("tensor_type") and not is_string(type_proto)


class Inside:
    """A model whose border has tensors of numbers only, made of one data set of a test."""

    # Since then strings can be compared.
    OPSET = 19

    def __init__(self, model, inputs, outputs):
        self.model = onnx.ModelProto.FromString(model.SerializeToString())
        graph = self.graph = self.model.graph
        self.before, self.after = [], []
        self.inputs, self.outputs = [], []  # (information, value) each
        for info, value in zip(graph.input, inputs, strict=False):
            self.take_in(info.name, info.type, value)
        for info, value in zip(graph.output, outputs, strict=False):
            self.give_out(info.name, info.type, value)
        nodes = [*self.before, *graph.node, *self.after]
        for field, messages in (("node", nodes), ("input", self.infos(self.inputs)), ("output", self.infos(self.outputs))):
            graph.ClearField(field)
            getattr(graph, field).extend(messages)
        self.raise_opset()

    @staticmethod
    def infos(pairs):
        return [info for info, _ in pairs]

    @property
    def data_set(self):
        return [value for _, value in self.inputs], [value for _, value in self.outputs]

    def raise_opset(self):
        versions = {opset.domain: opset for opset in self.model.opset_import}
        if "" not in versions:
            self.model.opset_import.append(helper.make_opsetid("", self.OPSET))
        elif any(node.op_type == "Equal" for node in self.after):
            versions[""].version = max(versions[""].version, self.OPSET)

    def take_in(self, name, kind, value):
        """The value `name`, made of inputs and constants."""
        if kind.HasField("optional_type"):
            if value is None:
                self.before.append(helper.make_node("Optional", [], [name], type=kind.optional_type.elem_type))
                return
            self.take_in(name + "_inner", kind.optional_type.elem_type, value)
            self.before.append(helper.make_node("Optional", [name + "_inner"], [name]))
        elif kind.HasField("sequence_type"):
            element = kind.sequence_type.elem_type
            names = [f"{name}_{i}" for i in range(len(value))]
            for one, tensor in zip(names, value, strict=True):
                self.take_in(one, element, tensor)
            if names:
                self.before.append(helper.make_node("SequenceConstruct", names, [name]))
            else:
                dtype = element.tensor_type.elem_type
                self.before.append(helper.make_node("SequenceEmpty", [], [name], dtype=dtype))
        elif is_string(kind):
            self.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
        else:
            array = np.asarray(value)
            info = helper.make_tensor_value_info(name, kind.tensor_type.elem_type, array.shape)
            self.inputs.append((info, value))

    def output(self, name, element, value):
        self.outputs.append((helper.make_tensor_value_info(name, element, np.asarray(value).shape), np.asarray(value)))

    def give_out(self, name, kind, value):
        """Outputs that say what the value `name` is."""
        if kind.HasField("optional_type"):
            self.after.append(helper.make_node("OptionalGetElement", [name], [name + "_inner"]))
            self.give_out(name + "_inner", kind.optional_type.elem_type, value)
        elif kind.HasField("sequence_type"):
            self.after.append(helper.make_node("SequenceLength", [name], [name + "_length"]))
            self.output(name + "_length", TensorProto.INT64, np.array(len(value), np.int64))
            for i, tensor in enumerate(value):
                self.graph.initializer.append(numpy_helper.from_array(np.array(i, np.int64), f"{name}_at_{i}"))
                self.after.append(helper.make_node("SequenceAt", [name, f"{name}_at_{i}"], [f"{name}_{i}"]))
                self.give_out(f"{name}_{i}", kind.sequence_type.elem_type, tensor)
        elif is_string(kind):
            expected = np.asarray(value)
            self.graph.initializer.append(numpy_helper.from_array(expected, name + "_expected"))
            self.after.append(helper.make_node("Equal", [name, name + "_expected"], [name + "_equal"]))
            self.after.append(helper.make_node("Shape", [name], [name + "_shape"]))
            self.output(name + "_equal", TensorProto.BOOL, np.ones(expected.shape, bool))
            self.output(name + "_shape", TensorProto.INT64, np.array(expected.shape, np.int64))
        else:
            self.output(name, kind.tensor_type.elem_type, value)


def write_inside(case, folder):
    if all(is_number(info.type) for info in (*case.model.graph.input, *case.model.graph.output)):
        return
    inside = Inside(case.model, *case.data_sets[0])
    write_case(inside.model, [inside.data_set], folder)


def main():
    warnings.simplefilter("ignore")
    target = pathlib.Path(sys.argv[1])
    cases = collect_testcases(None)
    for done, case in enumerate(cases):
        write_case(case.model, case.data_sets, target / case.name)
        write_inside(case, target / case.name / "inside")
        if done % 500 == 0:
            print(f"-- onnx-cases: {done} of {len(cases)}", file=sys.stderr)
    print(f"-- onnx-cases: {len(cases)} written", file=sys.stderr)


if __name__ == "__main__":
    main()
