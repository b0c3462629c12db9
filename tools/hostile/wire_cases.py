"""The bytes of a file: cut, nested, repeated, of versions that cannot be."""

from models import INVALID, LIMIT, NOT_ONNX, TRUNCATED, F, model_of, relu_model, value
from operators import HUGE
from wire import delimited, key, varint

from onnx import helper


def plain_bytes(c):
    for name, data in {
        "zeros": bytes(64),
        "ones": b"\xff" * 64,
        "text": b"hello, this is text\n",
        "html": b"<!DOCTYPE html><html></html>",
        "gzip": b"\x1f\x8b\x08\x00" + bytes(20),
        "png": b"\x89PNG\r\n\x1a\n" + bytes(20),
        "elf": b"\x7fELF" + bytes(60),
        "zip": b"PK\x03\x04" + bytes(40),
        "json": b'{"ir_version": 8}',
        "pickle": b"\x80\x04\x95" + bytes(20),
        "hdf5": b"\x89HDF\r\n\x1a\n" + bytes(30),
        "npy": b"\x93NUMPY\x01\x00" + bytes(30),
        "one-zero": b"\0",
        "field-zero": b"\x00\x01",
        "end-group": b"\x0c",
        "wire-type-6": b"\x0e\x01",
        "wire-type-7": b"\x0f\x01",
    }.items():
        c.add("wire", name, data, f"{NOT_ONNX}|{TRUNCATED}|{LIMIT}")
    c.add("wire", "empty", b"", "import/empty")


def lengths(c):
    whole = relu_model().SerializeToString()
    for cut in range(1, len(whole)):
        c.add(
            "wire", f"cut-{cut}", whole[:cut], f"{TRUNCATED}|{NOT_ONNX}|{INVALID}|import/opset-too-old|import/unknown-operator"
        )
    for name, size in {"31-bits": 2**31 - 1, "32-bits": 2**32 - 1, "63-bits": 2**63 - 1, "64-bits": 2**64 - 1}.items():
        c.add("wire", f"graph-of-{name}", key(7, 2) + varint(size), f"{TRUNCATED}|{NOT_ONNX}", "")
        c.add(
            "wire", f"name-of-{name}", key(1, 0) + varint(8) + delimited(7, key(2, 2) + varint(size)), f"{TRUNCATED}|{NOT_ONNX}"
        )
    inner = delimited(7, delimited(1, key(1, 2) + varint(50) + b"x"))
    c.add("wire", "longer-than-its-message", key(1, 0) + varint(8) + inner, f"{TRUNCATED}|{NOT_ONNX}", "byte")
    for name, data in {"ten-bytes": b"\xff" * 10, "eleven-bytes": b"\xff" * 11 + b"\1", "cut": b"\xff\xff"}.items():
        c.add("wire", f"varint-of-{name}", key(1, 0) + data, f"{TRUNCATED}|{NOT_ONNX}|{INVALID}")
    for depth in (1, 100, 200_000):
        c.add("wire", f"groups-{depth}", whole + key(30, 3) * depth, f"{NOT_ONNX}|{TRUNCATED}", "group")
    c.add("wire", "closed-group", whole + key(30, 3) + key(30, 4), NOT_ONNX, "group")
    c.add("wire", "group-in-graph", key(1, 0) + varint(8) + delimited(7, key(40, 3) + key(40, 4)), NOT_ONNX, "group")


def nested_attribute(depth):
    """Graphs in attributes of nodes in graphs, as bytes."""
    data = b""
    for _ in range(depth):
        data = delimited(1, delimited(5, delimited(1, b"b") + key(20, 0) + varint(5) + delimited(6, data)))
    return key(1, 0) + varint(8) + delimited(7, data)


def bombs_of_messages(c):
    header = key(1, 0) + varint(8)
    many = 1_100_000
    small = "parse-memory=16000000"
    graph = {
        "nodes": delimited(1, b""),
        "initialisers": delimited(5, b""),
        "names-of-values": delimited(13, b""),
        "inputs": delimited(11, b""),
        "sparse": delimited(15, b""),
        "annotations": delimited(14, b""),
    }
    for name, one in graph.items():
        c.add("wire", f"bomb-of-{name}", header + delimited(7, one * many), LIMIT, "--limit", small)
    c.add("wire", "bomb-of-nodes-by-default", header + delimited(7, delimited(1, b"") * many), LIMIT, "--limit nodes")
    attribute_bomb = delimited(1, delimited(5, b"") * (many * 5))
    c.add("wire", "bomb-of-attributes-by-default", header + delimited(7, attribute_bomb), LIMIT, "--limit")
    inside = {
        "strings": delimited(5, delimited(9, b"") * many),
        "tensors": delimited(5, delimited(10, b"") * many),
        "graphs": delimited(5, delimited(11, b"") * many),
        "packed-numbers": delimited(5, delimited(8, bytes(3_000_000))),
        "attributes": delimited(5, b"") * many,
        "inputs-of-node": delimited(1, b"") * many,
        "unpacked-numbers": delimited(5, (key(8, 0) + b"\0") * (many * 2)),
    }
    for name, data in inside.items():
        c.add("wire", f"bomb-of-{name}", header + delimited(7, delimited(1, data)), LIMIT, "--limit", small)
    c.add("wire", "bomb-of-functions", header + delimited(25, b"") * many, LIMIT, "--limit functions")
    c.add("wire", "bomb-of-metadata", header + delimited(14, b"") * many, LIMIT, "--limit", small)
    c.add("wire", "bomb-of-opsets", header + delimited(8, b"") * many, LIMIT, "--limit", small)
    for depth in (66, 200, 3000, 100_000):
        c.add(
            "wire", f"depth-{depth}", nested_attribute(min(depth, 3000)) if depth < 100_000 else deep_types(), LIMIT, "--limit"
        )
    c.add("wire", "unknown-fields", relu_model().SerializeToString() + key(99, 0) + varint(7) + delimited(98, b"abc"), "ok")
    c.add(
        "wire",
        "bomb-of-unknown-fields",
        relu_model().SerializeToString() + (key(99, 0) + varint(7)) * many,
        LIMIT,
        "--limit",
        small,
    )
    twice = relu_model().SerializeToString()
    c.add("wire", "twice", twice + twice, INVALID)


def deep_types():
    """Sequences of sequences, as deep as lengths of a few bytes allow."""
    data = b""
    for _ in range(3000):
        data = delimited(4, delimited(1, data))
    return key(1, 0) + varint(8) + delimited(7, delimited(11, delimited(1, b"x") + delimited(2, data)))


def versions(c):
    for ir in (0, -1, -HUGE):
        c.add("wire", f"ir-{ir}", relu_model(ir=ir), INVALID, "IR version")
    for ir in (HUGE, 99):
        c.add("wire", f"ir-{ir}", relu_model(ir=ir), "import/ir-too-new", "IR version")
    for ir in (1, 2):
        c.add("wire", f"ir-{ir}", relu_model(ir=ir), "ok")
    missing = relu_model()
    missing.ClearField("ir_version")
    c.add("wire", "ir-missing", missing, NOT_ONNX, "IR version")
    for opset in (0, -5, 1, 6):
        c.add("wire", f"opset-{opset}", relu_model(opset=opset), f"ok|import/opset-too-old|{INVALID}", "opset")
    for opset in (9999, 2**40, 29):
        c.add("wire", f"opset-{opset}", relu_model(opset=opset), "import/opset-too-new", "opset")
    for a, b in ((12, 22), (22, 12), (22, 23)):
        c.add("wire", f"opset-{a}-and-{b}", relu_model(opset=a, domains=[("", b)]), INVALID, "opset_import")
        c.add("wire", f"opset-{a}-and-ai.onnx-{b}", relu_model(opset=a, domains=[("ai.onnx", b)]), INVALID, "opset_import")
    none = relu_model()
    del none.opset_import[:]
    c.add("wire", "opset-missing", none, INVALID, "opset_import")
    empty = relu_model()
    empty.ClearField("graph")
    c.add("wire", "graph-missing", empty, NOT_ONNX, "graph")


def broken_text(c):
    whole = relu_model().SerializeToString()
    for name, old, new in (
        ("operator", b"Relu", b"R\xff\xfeu"),
        ("node", b"\x1a\x01n", b"\x1a\x01\xff"),
        ("graph", b"\x12\x01g", b"\x12\x01\xc0"),
    ):
        c.add("wire", f"bytes-in-name-of-{name}", whole.replace(old, new, 1), f"{INVALID}|{NOT_ONNX}")
    for name, bad in (("nul", "a\0b"), ("escape", "a\x1b[31mb"), ("line", "a\nb"), ("bidi", "a\u202eb")):
        node = helper.make_node("Nothing", ["x"], ["y"], name=bad)
        c.add("wire", f"name-with-{name}", model_of([node]), "import/unknown-operator", "Nothing")
    long = "n" * 70_000
    c.add(
        "wire",
        "long-name-of-value",
        model_of([helper.make_node("Relu", ["x"], [long]), helper.make_node("Relu", [long], ["y"])]),
        LIMIT,
        "--limit name",
    )
    c.add("wire", "long-name-of-node", model_of([helper.make_node("Relu", ["x"], ["y"], name=long)]), LIMIT, "--limit name")
    c.add("wire", "long-name-of-operator", model_of([helper.make_node(long, ["x"], ["y"])]), LIMIT, "--limit name")
    c.add("wire", "long-name-of-domain", model_of([helper.make_node("Relu", ["x"], ["y"], domain=long)]), LIMIT, "--limit name")
    c.add(
        "wire",
        "long-symbol",
        model_of([helper.make_node("Relu", ["x"], ["y"])], inputs=[value("x", F, [long])]),
        LIMIT,
        "--limit name",
    )
    c.add(
        "wire", "long-name-of-attribute", model_of([helper.make_node("Relu", ["x"], ["y"], **{long: 1})]), LIMIT, "--limit name"
    )
