"""Small ONNX models, as bytes."""

import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


def model(nodes, inputs, outputs, constants=(), name="small", **properties):
    """inputs, outputs: (name, element type, shape); constants: (name, array)."""
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info(*port) for port in inputs],
        [helper.make_tensor_value_info(*port) for port in outputs],
        [numpy_helper.from_array(array, key) for key, array in constants],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="tests")
    helper.set_model_props(made, properties)
    onnx.checker.check_model(made)
    return made.SerializeToString()


def increment(extents=(2, 3), **properties):
    """y = x + 1"""
    return model(
        [helper.make_node("Add", ["x", "one"], ["y"])],
        [("x", FLOAT, extents)],
        [("y", FLOAT, extents)],
        [("one", np.ones(1, np.float32))],
        **properties,
    )


def shifted():
    """y = 2 * (relu(x) + 2.5); the sum is an operator of tests/support/custom_ops."""
    graph = "g (float[6,16] x) => (float[6,16] y) { a = Relu (x) b = acme.Shift <by = 2.5> (a) y = Add (b, b) }"
    return onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 17, "acme" : 1]> ' + graph).SerializeToString()


def doubling_loop():
    """y = x doubled `trips` times, one iteration after the other."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Add", ["s", "s"], ["t"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_tensor_value_info("s", FLOAT, [2]),
        ],
        [
            helper.make_tensor_value_info("d", TensorProto.BOOL, []),
            helper.make_tensor_value_info("t", FLOAT, [2]),
        ],
    )
    return model(
        [helper.make_node("Loop", ["trips", "", "x"], ["y"], body=body)],
        [("trips", TensorProto.INT64, []), ("x", FLOAT, [2])],
        [("y", FLOAT, [2])],
        [],
    )


def rows(width=4):
    """y = x + (1, 2, ...), any number of rows."""
    return model(
        [helper.make_node("Add", ["x", "steps"], ["y"])],
        [("x", FLOAT, ["n", width])],
        [("y", FLOAT, ["n", width])],
        [("steps", np.arange(1, width + 1, dtype=np.float32))],
    )


def two_ways():
    """sum, product = a + b, a * b"""
    return model(
        [helper.make_node("Add", ["a", "b"], ["sum"]), helper.make_node("Mul", ["a", "b"], ["product"])],
        [("a", FLOAT, [3]), ("b", FLOAT, [3])],
        [("sum", FLOAT, [3]), ("product", FLOAT, [3])],
    )


def many_types():
    """Casts of x, its largest element as a scalar, and which elements are positive."""
    kinds = {"half": TensorProto.FLOAT16, "double": TensorProto.DOUBLE, "byte": TensorProto.UINT8, "long": TensorProto.INT64}
    nodes = [helper.make_node("Cast", ["x"], [name], to=kind) for name, kind in kinds.items()]
    nodes.append(helper.make_node("Greater", ["x", "zero"], ["positive"]))
    nodes.append(helper.make_node("ReduceMax", ["x"], ["largest"], keepdims=0))
    outputs = [(name, kind, [4]) for name, kind in kinds.items()]
    outputs += [("positive", TensorProto.BOOL, [4]), ("largest", FLOAT, [])]
    return model(nodes, [("x", FLOAT, [4])], outputs, [("zero", np.zeros(1, np.float32))])


def positions():
    """Where x is not zero: the number of columns is known only after a run."""
    return model(
        [helper.make_node("NonZero", ["x"], ["where"])], [("x", FLOAT, [6])], [("where", TensorProto.INT64, [1, None])]
    )


def identity(kind, extents=(2, 3)):
    """y = x, of this element type"""
    node = helper.make_node("Identity", ["x"], ["y"])
    ports = [helper.make_tensor_value_info(name, kind, extents) for name in ("x", "y")]
    graph = helper.make_graph([node], "small", ports[:1], ports[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9).SerializeToString()


def external(name, file):
    """A tensor whose elements are in a file beside the model."""
    tensor = TensorProto(name=name, data_type=FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=file)
    return tensor


def with_external_weights(file):
    """y = a constant in this file."""
    graph = helper.make_graph([helper.make_node("Constant", [], ["y"], value=external("c", file))], "small", [],
                              [helper.make_tensor_value_info("y", FLOAT, [1])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()


def external_everywhere():
    """Tensors in files of the names of the places where they are. Not a model that computes."""
    body = helper.make_graph([], "body", [], [], [external("b", "body")])
    nodes = [
        helper.make_node("Constant", [], ["c"], value=external("c", "attribute")),
        helper.make_node("If", ["x"], ["y"], then_branch=body),
        helper.make_node("Many", [], ["z"], domain="own", values=[external("l", "list")]),
    ]
    graph = helper.make_graph(nodes, "small", [], [], [external("i", "initializer")])
    inside = [helper.make_node("Constant", [], ["f"], value=external("f", "function"))]
    function = helper.make_function("own", "Made", [], ["f"], inside, [helper.make_opsetid("", 17)])
    return helper.make_model(graph, functions=[function]).SerializeToString()


def large(elements=1 << 16):
    """y = -x, long enough to be bound in place."""
    return model([helper.make_node("Neg", ["x"], ["y"])], [("x", FLOAT, [elements])], [("y", FLOAT, [elements])])


def detector(**properties):
    """Like a text or face detector: one image of any size, a map of a quarter of it in each direction."""
    rng = np.random.default_rng(1)
    return model(
        [
            helper.make_node("Conv", ["x", "w"], ["f"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
            helper.make_node("Relu", ["f"], ["g"]),
            helper.make_node("Conv", ["g", "v"], ["h"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
            helper.make_node("Sigmoid", ["h"], ["map"]),
        ],
        [("x", FLOAT, ["batch", 3, "height", "width"])],
        [("map", FLOAT, ["batch", 1, "out_height", "out_width"])],
        [
            ("w", rng.standard_normal((4, 3, 3, 3)).astype(np.float32)),
            ("v", rng.standard_normal((1, 4, 3, 3)).astype(np.float32)),
        ],
        **properties,
    )


def recurrent():
    """Like a detector of voices: a piece of sound, a state that goes round, a sampling rate as a scalar."""
    return model(
        [
            helper.make_node("ReduceMean", ["input"], ["mean"], axes=[1], keepdims=1),
            helper.make_node("Add", ["state", "mean"], ["stateN"]),
            helper.make_node("Cast", ["sr"], ["rate"], to=FLOAT),
            helper.make_node("Div", ["mean", "rate"], ["output"]),
        ],
        [("input", FLOAT, [None, None]), ("state", FLOAT, [2, None, 4]), ("sr", TensorProto.INT64, [])],
        [("output", FLOAT, [None, 1]), ("stateN", FLOAT, [2, None, 4])],
    )


def speech():
    """Like a synthesiser of speech: numbers of phonemes, their count, scales."""
    return model(
        [
            helper.make_node("Cast", ["input"], ["ids"], to=FLOAT),
            helper.make_node("ReduceSum", ["scales"], ["scale"], keepdims=0),
            helper.make_node("Mul", ["ids", "scale"], ["scaled"]),
            helper.make_node("Cast", ["input_lengths"], ["lengths"], to=FLOAT),
            helper.make_node("Add", ["scaled", "lengths"], ["output"]),
        ],
        [("input", TensorProto.INT64, ["batch", "phonemes"]), ("input_lengths", TensorProto.INT64, ["batch"]),
         ("scales", FLOAT, [3])],
        [("output", FLOAT, ["batch", "phonemes"])],
    )


def text():
    """y = x, of strings"""
    return model([helper.make_node("Identity", ["x"], ["y"])], [("x", TensorProto.STRING, [2])], [("y", TensorProto.STRING, [2])])


def of_text(text):
    """A model in ONNX's textual form."""
    made = onnx.parser.parse_model(text)
    onnx.checker.check_model(made)
    return made.SerializeToString()


def joined_words():
    """both = a followed by b, strings."""
    return of_text(
        """<ir_version: 9, opset_import: ["" : 20]>
        words (string[2] a, string[2] b) => (string[2] both) { both = StringConcat (a, b) }"""
    )


def appended():
    """t = the sequence s with x behind it."""
    return of_text(
        """<ir_version: 9, opset_import: ["" : 20]>
        parts (seq(float[n]) s, float[3] x) => (seq(float[m]) t) { t = SequenceInsert (s, x) }"""
    )


def maybe():
    """has = whether the optional o has a value."""
    return of_text(
        """<ir_version: 9, opset_import: ["" : 20]>
        some (optional(float[2]) o) => (bool has) { has = OptionalHasElement (o) }"""
    )


def counted():
    """y = how often each of four words stands in the map m."""
    return of_text(
        """<ir_version: 9, opset_import: ["" : 20, "ai.onnx.ml" : 1]>
        counts (map(string, float) m) => (float[1,3] y) {
            y = ai.onnx.ml.DictVectorizer <string_vocabulary = ["a", "b", "c"]> (m) }"""
    )


def scored():
    """z = a map from two labels to numbers for each row of x."""
    return of_text(
        """<ir_version: 9, opset_import: ["" : 20, "ai.onnx.ml" : 1]>
        scores (float[2,2] x) => (seq(map(int64, float)) z) {
            z = ai.onnx.ml.ZipMap <classlabels_int64s = [4, 7]> (x) }"""
    )
