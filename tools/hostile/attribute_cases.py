"""Attributes and constant operands outside of what the operators allow."""

import numpy as np
from models import INVALID, REFUSED, F, model_of, node, relu_model, text, value
from operators import OPERANDS, OPERATORS
from wire import delimited, key, varint

import onnx
from onnx import AttributeProto, helper


def make_inputs(spec):
    """Graph inputs, constants and names of the operands that a list of (type, shape), arrays and None stands for."""
    inputs, constants, names = [], [], []
    for i, one in enumerate(spec):
        if one is None:
            names.append("")
            continue
        names.append(f"x{i}")
        if isinstance(one, tuple):
            inputs.append(value(f"x{i}", one[0], one[1]))
            continue
        is_float = isinstance(np.asarray(one).flat[0].item() if np.asarray(one).size else 0, float)
        array = np.asarray(one, np.float32 if is_float else np.int64)
        constants.append(onnx.numpy_helper.from_array(array, f"x{i}"))
    return inputs, constants, names


def operator_model(spec, attributes):
    inputs, constants, names = make_inputs(spec.inputs)
    outputs = [f"y{i}" for i in range(spec.outputs)]
    made = helper.make_node(spec.name, names, outputs, name="n", domain=spec.domain)
    for name, one in attributes.items():
        made.attribute.append(attribute(name, one))
    return model_of(
        [made],
        inputs=inputs,
        outputs=[value(outputs[0], spec.out_type, None)],
        initialisers=constants,
        opset=spec.opset,
        domains=[(spec.domain, 3)] if spec.domain else [],
    )


def attribute(name, one):
    if isinstance(one, list) and not one:
        return AttributeProto(name=name, type=AttributeProto.INTS)
    return helper.make_attribute(name, one)


def operators(c):
    seen = set()
    for spec in OPERATORS:
        stem = f"{spec.name}-{spec.opset}"
        while stem in seen:
            stem += "b"
        seen.add(stem)
        c.add("attributes", f"{stem}-good", operator_model(spec, spec.good), "ok")
        for name, values in spec.bad.items():
            for i, one in enumerate(values):
                changed = {**spec.good, **(one if name is None else {name: one})}
                word = "pair" if name is None else name
                c.add(
                    "attributes", f"{stem}-{word}-{i}-{text(one)}", operator_model(spec, changed), REFUSED, f"{spec.name}|'y0'"
                )
        kinds(c, stem, spec)


def kinds(c, stem, spec):
    """An attribute twice, and one of the wrong kind."""
    if not spec.good:
        return
    name, one = next(iter(spec.good.items()))
    twice = operator_model(spec, spec.good)
    twice.graph.node[0].attribute.append(attribute(name, one))
    c.add("attributes", f"{stem}-{name}-twice", twice, INVALID, "")
    other = "text" if isinstance(one, list) and isinstance(one[0], float) else [1.5, 2.5]
    wrong = operator_model(spec, {**spec.good, name: other})
    c.add("attributes", f"{stem}-{name}-of-wrong-kind", wrong, REFUSED, "")


def operands(c):
    seen = {}
    for op, inputs, position, values, kind, opset in OPERANDS:
        stem = f"{op}-{opset}-operand-{position}"
        seen[stem] = seen.get(stem, 0) + 1
        if seen[stem] > 1:
            stem += f"-{seen[stem]}"
        spec = type(
            "Spec",
            (),
            {"name": op, "inputs": inputs, "outputs": 2 if op == "TopK" else 1, "opset": opset, "domain": "", "out_type": kind},
        )
        c.add("operands", f"{stem}-good", operator_model(spec, {}), "ok|import/unsupported-legacy")
        for i, one in enumerate(values):
            spec.inputs = inputs[:position] + [one] + inputs[position + 1 :]
            c.add("operands", f"{stem}-{i}-{text(one)}", operator_model(spec, {}), REFUSED, f"{op}|'y0'")


def odd_attributes(c):
    def add(name, made, codes=INVALID, part=""):
        c.add("attributes", name, model_of([made], outputs=[value("y", F, None)]), codes, part)

    unknown = node("Relu", ["x"], ["y"], nonsense=3)
    add("unknown-name", unknown, part="nonsense")
    nameless = node("Relu", ["x"], ["y"])
    nameless.attribute.append(AttributeProto(type=AttributeProto.INT, i=1))
    add("nameless", nameless)
    two = node("LeakyRelu", ["x"], ["y"])
    two.attribute.append(AttributeProto(name="alpha", type=AttributeProto.FLOAT, f=0.5, i=3))
    add("two-values", two)
    ref = node("LeakyRelu", ["x"], ["y"])
    ref.attribute.append(AttributeProto(name="alpha", type=AttributeProto.FLOAT, ref_attr_name="beta"))
    add("reference-outside-functions", ref)
    for kind in (0, 77, 2**31 - 1):
        made = relu_model()
        made.graph.node[0].op_type = "LeakyRelu"
        odd = AttributeProto(name="alpha", f=0.5).SerializeToString() + (key(20, 0) + varint(kind) if kind else b"")
        made.graph.node[0].MergeFromString(delimited(5, odd))
        c.add("attributes", f"kind-{kind}", made, f"{INVALID}|import/unsupported-attribute")
    for name in ("value", "value_int", "value_floats"):
        add(f"constant-{name}-missing", helper.make_node("Constant", [], ["y"], name="n"), REFUSED)
    both = node("Constant", [], ["y"], value_int=1)
    both.attribute.append(helper.make_attribute("value_float", 1.0))
    add("constant-two-values", both, REFUSED)
