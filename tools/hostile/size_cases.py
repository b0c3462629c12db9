"""Small files that ask for much: shapes, functions that call each other."""

import numpy as np
from models import I64, INVALID, LIMIT, REFUSED, F, model_of, node, value

from onnx import TensorProto, helper


def bombs(c):
    def constant(name, values, kind=I64):
        return helper.make_tensor(name, kind, [len(values)], values)

    def add(
        name, nodes, initialisers=(), codes=f"{LIMIT}|import/shape-inference|import/bad-operand|{INVALID}", inputs=None, part=""
    ):
        c.add(
            "bombs",
            name,
            model_of(nodes, outputs=[value("y", F, None)], initialisers=list(initialisers), inputs=inputs),
            codes,
            part,
        )

    concat = [node("Concat", [f"v{i}" if i else "x"] * 2, [f"v{i + 1}"], axis=0, name=f"n{i}") for i in range(60)]
    add("concat-doubling", concat + [node("Relu", ["v60"], ["y"], name="end")], codes=LIMIT, part="--limit elements")
    more = [node("Concat", [f"v{i}" if i else "x"] * 2, [f"v{i + 1}"], axis=0, name=f"n{i}") for i in range(70)]
    add("concat-wrapping", more + [node("Relu", ["v70"], ["y"], name="end")])
    for power in (2**41, 2**50, 2**62):
        add(f"fill-{power}", [node("ConstantOfShape", ["s"], ["y"])], [constant("s", [power])])
        add(f"expand-{power}", [node("Expand", ["x", "s"], ["y"])], [constant("s", [power, 2, 2])])
        add(f"tile-{power}", [node("Tile", ["x", "s"], ["y"])], [constant("s", [power, 1])])
        add(f"pad-{power}", [node("Pad", ["x", "s"], ["y"])], [constant("s", [0, 0, power, 0])])
        add(
            f"range-{power}",
            [node("Range", ["a", "b", "d"], ["r"]), node("Cast", ["r"], ["y"], to=F)],
            [
                helper.make_tensor("a", I64, [], [0]),
                helper.make_tensor("b", I64, [], [power]),
                helper.make_tensor("d", I64, [], [1]),
            ],
        )
        add(
            f"one-hot-{power}",
            [node("Cast", ["x"], ["i"], to=I64), node("OneHot", ["i", "d", "v"], ["y"], name="m")],
            [constant("d", [power]), helper.make_tensor("v", F, [2], [0.0, 1.0])],
        )
        add(f"resize-{power}", [node("Resize", ["x", "", "", "s"], ["y"])], [constant("s", [power, 2])])
        add(f"reshape-{power}", [node("Reshape", ["x", "s"], ["y"])], [constant("s", [power, -1])])
    for pair in ((2**32, 2**32), (2**33, 2**31), (2**62, 4), (-1, 4), (-(2**63), 1)):
        add(f"fill-{pair[0]}x{pair[1]}", [node("ConstantOfShape", ["s"], ["y"])], [constant("s", pair)])
        add(f"expand-{pair[0]}x{pair[1]}", [node("Expand", ["x", "s"], ["y"])], [constant("s", [*pair, 2, 2])])
    tiles = [node("Tile", [f"v{i}" if i else "x", "s"], [f"v{i + 1}"], name=f"n{i}") for i in range(10)]
    add("tile-wrapping", tiles + [node("Relu", ["v10"], ["y"], name="end")], [constant("s", [2**10, 2**10])])
    outer = [node("Mul", ["a", "b"], ["p"], name="m1"), node("Relu", ["p"], ["y"], name="m2")]
    add("broadcast", outer, inputs=[value("a", F, [2**21, 1]), value("b", F, [1, 2**21])], codes=LIMIT, part="--limit elements")
    add(
        "matrices",
        [node("MatMul", ["a", "b"], ["y"])],
        inputs=[value("a", F, [2**21, 1]), value("b", F, [1, 2**21])],
        codes=LIMIT,
        part="--limit elements",
    )
    add(
        "einsum-of-many",
        [node("Einsum", ["x"] * 40, ["y"], equation=",".join(chr(97 + i % 26) + chr(65 + i % 26) for i in range(40)))],
        codes="ok",
    )
    shapes = [node("Shape", ["x"], ["s0"], name="sh")] + [
        node("Concat", [f"s{i}", f"s{i}"], [f"s{i + 1}"], axis=0, name=f"c{i}") for i in range(25)
    ]
    add("shape-doubling", shapes + [node("ConstantOfShape", ["s25"], ["y"], name="f")], codes=f"ok|{LIMIT}")
    products = [node("Shape", ["x"], ["s0"], name="sh")] + [
        node("Mul", [f"s{i}", f"s{i}"], [f"s{i + 1}"], name=f"c{i}") for i in range(8)
    ]
    add("shape-squaring", products + [node("ConstantOfShape", ["s8"], ["y"], name="f")], codes=f"ok|{LIMIT}")
    sequence = [
        node("SplitToSequence", ["x", "k"], ["q"], name="s"),
        node("ConcatFromSequence", ["q"], ["y"], axis=0, name="j"),
    ]
    for split in (0, -1, -(2**63)):
        add(f"split-to-sequence-{split}", sequence, [helper.make_tensor("k", I64, [], [split])])
    for frame in (0, -1):
        add(
            f"stft-step-{frame}",
            [node("STFT", ["z", "k", "", "l"], ["y"])],
            [helper.make_tensor("k", I64, [], [frame]), helper.make_tensor("l", I64, [], [4])],
            inputs=[value("z", F, [1, 64, 1])],
        )


def function(name, nodes, inputs=("a",), outputs=("b",), domain="local"):
    return helper.make_function(
        domain, name, list(inputs), list(outputs), nodes, [helper.make_opsetid("", 22), helper.make_opsetid("local", 1)]
    )


def call(name, a, b, domain="local"):
    return node(name, [a], [b], domain=domain, name=f"call_{b}")


def with_functions(functions, first="f0"):
    return model_of([call(first, "x", "y")], domains=[("local", 1)], functions=functions)


def in_branch(name, level):
    body = helper.make_graph(
        [call(name, "a", f"r{level}")], f"then{level}", [], [helper.make_tensor_value_info(f"r{level}", F, None)]
    )
    other = helper.make_graph(
        [node("Relu", ["a"], [f"q{level}"])], f"else{level}", [], [helper.make_tensor_value_info(f"q{level}", F, None)]
    )
    return node("If", [f"c{level}"], [f"m{level}"], then_branch=body, else_branch=other, name=f"if{level}")


def doubling(levels, through_branch=False):
    made = []
    for i in range(levels):
        if through_branch:
            condition = node("Constant", [], [f"c{i}"], value=helper.make_tensor("t", TensorProto.BOOL, [], [True]), name="k")
            second = helper.make_node("Identity", [f"c{i}"], [f"c{i + 1000}"])
            twice = [
                condition,
                second,
                in_branch(f"f{i + 1}", i),
                in_branch(f"f{i + 1}", i + 1000),
                node("Add", [f"m{i}", f"m{i + 1000}"], ["b"], name="add"),
            ]
        else:
            twice = [call(f"f{i + 1}", "a", "m"), call(f"f{i + 1}", "m", "b")]
        made.append(function(f"f{i}", twice))
    return [*made, function(f"f{levels}", [node("Relu", ["a"], ["b"])])]


def chain(levels):
    return [function(f"f{i}", [call(f"f{i + 1}", "a", "b")]) for i in range(levels)] + [
        function(f"f{levels}", [node("Relu", ["a"], ["b"])])
    ]


def functions(c):
    code = f"{INVALID}|{LIMIT}"
    c.add("functions", "self", with_functions([function("f0", [call("f0", "a", "b")])]), INVALID, "f0 -> ")
    c.add(
        "functions",
        "mutual",
        with_functions([function("f0", [call("f1", "a", "b")]), function("f1", [call("f0", "a", "b")])]),
        INVALID,
        "f1 -> ",
    )
    three = [function(f"f{i}", [call(f"f{(i + 1) % 3}", "a", "b")]) for i in range(3)]
    c.add("functions", "three", with_functions(three), INVALID, "f2 -> ")
    condition = node("Constant", [], ["c0"], value=helper.make_tensor("t", TensorProto.BOOL, [], [True]), name="k")
    c.add(
        "functions",
        "self-through-branch",
        with_functions([function("f0", [condition, in_branch("f0", 0), node("Relu", ["m0"], ["b"], name="r")])]),
        INVALID,
        "f0 -> ",
    )
    c.add(
        "functions",
        "unused-cycle",
        model_of([node("Relu", ["x"], ["y"])], domains=[("local", 1)], functions=[function("f0", [call("f0", "a", "b")])]),
        INVALID,
        "f0 -> ",
    )
    for levels in (24, 28, 64, 99):
        c.add("functions", f"doubling-{levels}", with_functions(doubling(levels)), LIMIT, "--limit inlined-nodes")
    for levels in (24, 28, 64):
        c.add("functions", f"doubling-in-branches-{levels}", with_functions(doubling(levels, True)), LIMIT, "--limit")
    for levels in (101, 5000):
        c.add("functions", f"chain-{levels}", with_functions(chain(levels)), LIMIT, "--limit function-depth")
    c.add("functions", "chain-50", with_functions(chain(50)), "ok")
    c.add("functions", "doubling-5", with_functions(doubling(5)), "ok")
    c.add("functions", "doubling-in-branches-3", with_functions(doubling(3, True)), "ok")
    branching = function(
        "f0", [node("Cast", ["a"], ["c0"], to=TensorProto.BOOL), in_branch("f1", 0), node("Relu", ["m0"], ["b"])]
    )
    many = [call("f0", "x", "y")] + [call("f0", "x", f"y{i}") for i in range(20_000)]
    ends = function("f1", [node("Relu", ["a"], ["b"])])
    bodies = model_of(many, domains=[("local", 1)], functions=[branching, ends])
    c.add("functions", "bodies-20000", bodies, LIMIT, "--limit body-names")
    big = helper.make_tensor("t", F, [262144], np.zeros(262144, np.float32))
    heavy = function(
        "f0",
        [
            node("Constant", [], ["k"], value=big, name="k"),
            node("ReduceSum", ["k"], ["s"], keepdims=0, name="s"),
            node("Add", ["a", "s"], ["b"], name="add"),
        ],
    )
    calls = [call("f0", f"v{i}" if i else "x", f"v{i + 1}") for i in range(5000)]
    c.add(
        "functions",
        "heavy-constants",
        model_of(calls, outputs=[value("v5000")], domains=[("local", 1)], functions=[heavy]),
        LIMIT,
        "--limit",
    )
    c.add(
        "functions",
        "missing",
        model_of([call("nobody", "x", "y")], domains=[("local", 1)]),
        "import/unknown-operator|import/invalid-model",
        "nobody",
    )
    c.add(
        "functions",
        "twice",
        with_functions([function("f0", [node("Relu", ["a"], ["b"])]), function("f0", [node("Neg", ["a"], ["b"])])]),
        code,
        "f0",
    )
    c.add(
        "functions",
        "wrong-arity",
        model_of(
            [helper.make_node("f0", ["x", "x", "x"], ["y"], domain="local", name="n")],
            domains=[("local", 1)],
            functions=[function("f0", [node("Relu", ["a"], ["b"])])],
        ),
        REFUSED + "|import/functions",
    )
    c.add(
        "functions",
        "undefined-output",
        with_functions([function("f0", [node("Relu", ["a"], ["z"])])]),
        REFUSED + "|import/functions",
    )
    c.add(
        "functions",
        "bad-attribute-inside",
        with_functions([function("f0", [node("MaxPool", ["a"], ["b"], kernel_shape=[0, 0])])]),
        REFUSED,
        "MaxPool",
    )
    c.add(
        "functions",
        "undefined-name-inside",
        with_functions([function("f0", [node("Add", ["a", "nowhere"], ["b"])])]),
        REFUSED + "|import/functions",
    )
    c.add(
        "functions",
        "shadows-onnx",
        model_of(
            [node("Relu", ["x"], ["y"])],
            functions=[
                helper.make_function("", "Relu", ["a"], ["b"], [node("Relu", ["a"], ["b"])], [helper.make_opsetid("", 22)])
            ],
        ),
        f"ok|{code}",
    )
