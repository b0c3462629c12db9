"""Small models that the cases are made of, and the codes that refuse them."""

from onnx import TensorProto, helper

F, I64 = TensorProto.FLOAT, TensorProto.INT64
REFUSED = "import/invalid-model|import/shape-inference|import/bad-operand|import/limit|import/bad-tensor"
INVALID, LIMIT, TENSOR = "import/invalid-model", "import/limit", "import/bad-tensor"
NOT_ONNX, TRUNCATED, EXTERNAL = "import/not-onnx", "import/truncated", "import/external-data"


def value(name, kind=F, shape=(2, 2)):
    return helper.make_tensor_value_info(name, kind, shape)


def model_of(nodes, inputs=None, outputs=None, initialisers=(), opset=22, ir=10, domains=(), functions=()):
    graph = helper.make_graph(
        nodes,
        "g",
        inputs if inputs is not None else [value("x")],
        outputs if outputs is not None else [value("y")],
        list(initialisers),
    )
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, v) for d, v in domains]
    return helper.make_model(graph, opset_imports=imports, ir_version=ir, functions=list(functions))


def relu_model(**options):
    return model_of([helper.make_node("Relu", ["x"], ["y"], name="n")], **options)


def text(values):
    """A short word for a file name."""
    word = "".join(c if c.isalnum() or c in "-." else "_" for c in str(values))
    return word[:40] or "empty"


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, name=attributes.pop("name", "n"), **attributes)
