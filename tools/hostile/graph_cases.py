"""Graphs that do not hold together, that are long or deep, bodies that do not fit their nodes."""

from models import I64, INVALID, LIMIT, REFUSED, F, model_of, node, relu_model, text, value
from operators import HUGE
from wire import delimited, key, varint

from onnx import TensorProto, helper


def graphs(c):
    def add(name, nodes, codes=INVALID, part="", **more):
        c.add("graph", name, model_of(nodes, **more), codes, part)

    add("cycle", [node("Relu", ["b"], ["a"]), node("Relu", ["a"], ["b"]), node("Add", ["a", "x"], ["y"])])
    add("self-cycle", [node("Add", ["x", "y"], ["y"])])
    body = helper.make_graph([node("Identity", ["y"], ["z"])], "body", [], [value("z")])
    add(
        "cycle-through-branch",
        [node("If", ["c"], ["y"], then_branch=body, else_branch=body)],
        inputs=[value("x"), value("c", TensorProto.BOOL, [])],
    )
    add("two-definitions", [node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["y"])])
    add("output-named-as-input", [node("Relu", ["x"], ["x"]), node("Relu", ["x"], ["y"])])
    add("output-twice-in-node", [node("Split", ["x"], ["y", "y"], num_outputs=2)])
    one = helper.make_tensor("w", F, [2, 2], [1.0] * 4)
    other = helper.make_tensor("w", F, [2, 2], [2.0] * 4)
    add("initialiser-twice", [node("Add", ["x", "w"], ["y"])], initialisers=[one, other], part="w")
    add("initialiser-named-as-result", [node("Relu", ["x"], ["w"]), node("Relu", ["w"], ["y"])], initialisers=[one])
    add("input-twice", [node("Relu", ["x"], ["y"])], inputs=[value("x"), value("x")])
    add("missing-input", [node("Add", ["x", "nothing"], ["y"])], part="nothing")
    add("undefined-output", [node("Relu", ["x"], ["z"])])
    add("empty-output-name", [node("Relu", ["x"], ["y"])], outputs=[value("")])
    add("nameless-input", [node("Relu", ["x"], ["y"])], inputs=[value("x"), value("")])
    add("order", [node("Relu", ["a"], ["y"]), node("Relu", ["x"], ["a"])], codes=f"ok|{INVALID}")
    add("no-inputs", [node("Relu", [], ["y"])], codes=REFUSED)
    add("no-outputs", [node("Relu", ["x"], [])], codes=REFUSED)
    add("fifty-inputs", [node("Relu", ["x"] * 50, ["y"])], codes=REFUSED)
    add("fifty-outputs", [node("Relu", ["x"], ["y"] + [f"y{i}" for i in range(50)])], codes=REFUSED)
    add("omitted-input", [node("Relu", [""], ["y"])], codes=REFUSED)
    add("unknown-operator", [node("Frobnicate", ["x"], ["y"])], codes="import/unknown-operator", part="Frobnicate")
    add("unknown-domain", [node("Relu", ["x"], ["y"], domain="nobody")], codes=f"import/unknown-operator|{INVALID}")
    add(
        "python-operator",
        [node("PyOp", ["x"], ["y"], module="os", domain="pyopmulti_1")],
        codes=f"import/unknown-operator|{INVALID}",
    )
    add(
        "future-operator",
        [node("GridSample", ["x", "x"], ["y"])],
        codes="import/newer-operator|import/unknown-operator",
        opset=9,
    )
    add("wrong-type", [node("Relu", ["x"], ["y"])], outputs=[value("y", I64, [2, 2])], codes=REFUSED)
    add("types-differ", [node("Add", ["x", "z"], ["y"])], inputs=[value("x"), value("z", I64, [2, 2])], codes=REFUSED)
    add("shapes-differ", [node("Add", ["x", "z"], ["y"])], inputs=[value("x"), value("z", F, [3, 3])], codes=REFUSED)
    add("matrices-differ", [node("MatMul", ["x", "z"], ["y"])], inputs=[value("x"), value("z", F, [3, 3])], codes=REFUSED)
    add("negative-extent", [node("Relu", ["x"], ["y"])], inputs=[value("x", F, [-5, 2])], codes="ok")
    add(
        "huge-extents",
        [node("Relu", ["x"], ["y"])],
        inputs=[value("x", F, [2**40, 2**40])],
        outputs=[value("y", F, None)],
        codes=LIMIT,
        part="--limit",
    )
    add(
        "wrapping-extents",
        [node("Relu", ["x"], ["y"])],
        inputs=[value("x", F, [2**32, 2**32])],
        outputs=[value("y", F, None)],
        codes=LIMIT,
        part="--limit",
    )
    add(
        "rank-1000",
        [node("Relu", ["x"], ["y"])],
        inputs=[value("x", F, [1] * 1000)],
        outputs=[value("y", F, None)],
        codes=LIMIT,
        part="--limit rank",
    )
    add(
        "rank-10000",
        [node("Relu", ["x"], ["y"])],
        inputs=[value("x", F, [1] * 10000)],
        outputs=[value("y", F, None)],
        codes=LIMIT,
        part="--limit rank",
    )
    add(
        "rank-by-unsqueeze",
        [node("Unsqueeze", ["x", "a"], ["y"])],
        outputs=[value("y", F, None)],
        codes=f"{LIMIT}|{INVALID}",
        initialisers=[helper.make_tensor("a", I64, [100], list(range(100)))],
    )
    for kind in (0, -1, 99, 2**31 - 1):
        model = relu_model()
        model.graph.input[0].type.tensor_type.elem_type = kind
        c.add("graph", f"element-type-{kind}", model, REFUSED + "|import/unsupported-type")
    no_type = relu_model()
    no_type.graph.input[0].ClearField("type")
    c.add("graph", "input-without-type", no_type, REFUSED)
    add("no-nodes", [], outputs=[value("x")], codes="ok")
    add("no-nodes-no-outputs", [], outputs=[], codes=f"ok|{INVALID}")
    add("unused-input", [node("Relu", ["x"], ["y"])], inputs=[value("x"), value("z")], codes="ok")
    add("output-twice", [node("Relu", ["x"], ["y"])], outputs=[value("y"), value("y")], codes=f"ok|{INVALID}")
    add("unused-initialiser", [node("Relu", ["x"], ["y"])], initialisers=[one], codes="ok")


def long_graphs(c):
    chain = [node("Relu", [f"v{i}" if i else "x"], [f"v{i + 1}"], name=f"n{i}") for i in range(20_000)]
    c.add("graph", "chain-20000", model_of(chain, outputs=[value("v20000")]), "ok")
    fan = [node("Relu", ["x"], [f"v{i}"], name=f"n{i}") for i in range(5000)]
    c.add("graph", "fan-5000", model_of(fan + [node("Sum", [f"v{i}" for i in range(5000)], ["y"], name="all")]), "ok")
    diamond = [node("Add", [f"v{i}" if i else "x"] * 2, [f"v{i + 1}"], name=f"n{i}") for i in range(60)]
    c.add("graph", "diamond-60", model_of(diamond, outputs=[value("v60")]), "ok")
    inputs = [value(f"x{i}") for i in range(5000)]
    c.add("graph", "inputs-5000", model_of([node("Sum", [f"x{i}" for i in range(5000)], ["y"])], inputs=inputs), "ok")
    for depth in (1, 20, 33, 50):
        c.add("graph", f"branches-{depth}", branches(depth), "ok")
    c.add("graph", "bodies-500", many_bodies(500), "ok")
    c.add("graph", "bodies-12000", many_bodies(12_000), LIMIT, "--limit body-names")
    results = [f"o{i}" for i in range(500_000)]
    c.add("graph", "results-500000", model_of([node("Split", ["x"], results, num_outputs=500_000)]), LIMIT, "--limit values")
    for depth in (65, 90):
        c.add("graph", f"branches-{depth}", branches(depth), LIMIT, "--limit depth")


def many_bodies(count):
    """If nodes side by side, as bytes: each has two bodies."""
    body = helper.make_graph([node("Relu", ["x"], ["t"])], "b", [], [value("t")])
    one = helper.make_node("If", ["c"], ["v000000"], then_branch=body, else_branch=body).SerializeToString()
    nodes = b"".join(delimited(1, one.replace(b"v000000", b"v%06d" % i)) for i in range(count))
    model = model_of([], inputs=[value("x"), value("c", TensorProto.BOOL, [])], outputs=[value("v000001")])
    return model.SerializeToString() + delimited(7, nodes)


def branch_bytes(depth):
    """A body that computes r<depth> by If nodes in If nodes; Python's library refuses to hold deep ones."""
    body = helper.make_graph([node("Relu", ["x"], ["r0"])], "b0", [], [value("r0")]).SerializeToString()
    for level in range(1, depth):
        inner = helper.make_node(
            "If", ["c"], [f"r{level}"], name=f"n{level}", else_branch=constant_body(level)
        ).SerializeToString()
        inner += delimited(5, delimited(1, b"then_branch") + key(20, 0) + varint(5) + delimited(6, body))
        body = delimited(1, inner) + helper.make_graph([], f"b{level}", [], [value(f"r{level}")]).SerializeToString()
    return body


def branches(depth):
    model = model_of([], inputs=[value("x"), value("c", TensorProto.BOOL, [])]).SerializeToString()
    top = helper.make_node("If", ["c"], ["y"], name="top", else_branch=constant_body(depth)).SerializeToString()
    top += delimited(5, delimited(1, b"then_branch") + key(20, 0) + varint(5) + delimited(6, branch_bytes(depth)))
    return model + delimited(7, delimited(1, top))


def constant_body(level):
    return helper.make_graph([node("Neg", ["x"], [f"e{level}"])], f"o{level}", [], [value(f"e{level}")])


def bodies(c):
    cond = value("c", TensorProto.BOOL, [])
    inputs = [value("x"), cond]
    good = helper.make_graph([node("Relu", ["x"], ["z"])], "good", [], [value("z")])
    two = helper.make_graph([node("Relu", ["x"], ["z"])], "two", [], [value("z"), value("z")])
    none = helper.make_graph([], "none", [], [])
    ints = helper.make_graph([node("Cast", ["x"], ["z"], to=I64)], "ints", [], [value("z", I64)])
    with_input = helper.make_graph([node("Relu", ["q"], ["z"])], "taking", [value("q")], [value("z")])
    unknown = helper.make_graph([node("Relu", ["nowhere"], ["z"])], "unknown", [], [value("z")])
    for name, a, b in (
        ("two-outputs", two, good),
        ("no-outputs", good, none),
        ("types", good, ints),
        ("inputs", with_input, good),
        ("unknown-name", unknown, good),
    ):
        c.add(
            "graph",
            f"branch-{name}",
            model_of([node("If", ["c"], ["y"], then_branch=a, else_branch=b)], inputs=inputs),
            REFUSED,
        )
    c.add("graph", "branch-missing", model_of([node("If", ["c"], ["y"], then_branch=good)], inputs=inputs), REFUSED)
    c.add(
        "graph",
        "branch-not-a-graph",
        model_of([node("If", ["c"], ["y"], then_branch=1, else_branch=good)], inputs=inputs),
        REFUSED,
    )
    loop_body = helper.make_graph(
        [node("Relu", ["v"], ["w"])], "loop", [value("i", I64, []), value("k", TensorProto.BOOL, []), value("v")], [value("w")]
    )
    c.add("graph", "loop-without-condition", model_of([node("Loop", ["", "", "x"], ["y"], body=loop_body)]), REFUSED)
    short = helper.make_graph(
        [node("Identity", ["k"], ["k2"])],
        "loop",
        [value("i", I64, []), value("k", TensorProto.BOOL, [])],
        [value("k2", TensorProto.BOOL, [])],
    )
    c.add("graph", "loop-with-fewer-values", model_of([node("Loop", ["", "", "x"], ["y"], body=short)]), REFUSED)
    step = helper.make_graph(
        [node("Add", ["s", "e"], ["t"]), node("Identity", ["t"], ["u"])],
        "scan",
        [value("s", F, [2]), value("e", F, [2])],
        [value("t", F, [2]), value("u", F, [2])],
    )
    scan_inputs = [value("s0", F, [2]), value("x")]
    for count in (0, -1, 2, 3, HUGE):
        c.add(
            "graph",
            f"scan-of-{count}",
            model_of([node("Scan", ["s0", "x"], ["a", "y"], body=step, num_scan_inputs=count)], inputs=scan_inputs),
            REFUSED,
        )
    for attribute, bad in (
        ("scan_input_axes", [2]),
        ("scan_input_axes", [HUGE]),
        ("scan_input_directions", [2]),
        ("scan_output_axes", [5]),
        ("scan_output_directions", [-1]),
        ("scan_input_axes", [0, 0]),
    ):
        c.add(
            "graph",
            f"scan-{attribute}-{text(bad)}",
            model_of(
                [node("Scan", ["s0", "x"], ["a", "y"], body=step, num_scan_inputs=1, **{attribute: bad})], inputs=scan_inputs
            ),
            REFUSED,
        )
