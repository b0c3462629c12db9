"""Tensors whose data, dimensions and types contradict each other."""

from models import I64, INVALID, LIMIT, TENSOR, F, model_of, node, text, value

from onnx import TensorProto, helper


def with_tensor(tensor):
    return model_of(
        [node("Identity", ["w"], ["y"])], inputs=[], outputs=[value("y", tensor.data_type or F, None)], initialisers=[tensor]
    )


def raw(kind, dims, size, name="w"):
    tensor = TensorProto(name=name, data_type=kind, dims=dims)
    tensor.raw_data = bytes(size)
    return tensor


def tensors(c):
    codes = f"{TENSOR}|{INVALID}|{LIMIT}|import/unsupported-type|import/shape-inference"
    sizes = {
        F: 4,
        TensorProto.DOUBLE: 8,
        I64: 8,
        TensorProto.INT32: 4,
        TensorProto.FLOAT16: 2,
        TensorProto.BFLOAT16: 2,
        TensorProto.INT8: 1,
        TensorProto.UINT8: 1,
        TensorProto.BOOL: 1,
        TensorProto.UINT64: 8,
        TensorProto.COMPLEX64: 8,
        TensorProto.FLOAT8E4M3FN: 1,
    }
    for kind, size in sizes.items():
        kind_name = TensorProto.DataType.Name(kind).lower()
        for extra in sorted({-1, 1, -size * 3, size}):
            c.add("tensors", f"{kind_name}-{extra}-bytes", with_tensor(raw(kind, [3], 3 * size + extra)), codes, "w")
    for kind in (TensorProto.INT4, TensorProto.UINT4, TensorProto.FLOAT4E2M1):
        for dims, size in (([3], 1), ([3], 3), ([4], 3), ([4], 1)):
            c.add(
                "tensors",
                f"{TensorProto.DataType.Name(kind).lower()}-{dims[0]}-in-{size}",
                with_tensor(raw(kind, dims, size)),
                codes,
                "w",
            )
    for dims in (
        [-2, -3],
        [-1],
        [2**62, 4],
        [2**32, 2**32],
        [2**36],
        [2**41],
        [0, 2**62],
        [2**63 - 1],
        [-(2**63)],
        [2**31, 2**31, 4],
        [0, -1],
    ):
        c.add("tensors", f"dims-{text(dims)}", with_tensor(raw(F, dims, 0)), codes, "w")
        empty = TensorProto(name="w", data_type=F, dims=dims)
        c.add("tensors", f"dims-{text(dims)}-no-data", with_tensor(empty), codes, "w")
    for rank in (65, 1000, 10_000):
        c.add("tensors", f"rank-{rank}", with_tensor(raw(F, [1] * rank, 4)), LIMIT, "--limit rank")
    for kind in (0, -1, 99, 2**31 - 1, -(2**31)):
        model = with_tensor(raw(F, [1], 4))
        model.graph.initializer[0].data_type = kind
        c.add("tensors", f"type-{kind}", model, codes)
    fields(c, codes)
    sparse(c)


def fields(c, codes):
    for count in (0, 1, 3, 5):
        c.add(
            "tensors",
            f"float-data-{count}",
            with_tensor(TensorProto(name="w", data_type=F, dims=[4], float_data=[1.0] * count)),
            codes,
            "w",
        )
        c.add(
            "tensors",
            f"int64-data-{count}",
            with_tensor(TensorProto(name="w", data_type=I64, dims=[4], int64_data=[1] * count)),
            codes,
            "w",
        )
        c.add(
            "tensors",
            f"half-data-{count}",
            with_tensor(TensorProto(name="w", data_type=TensorProto.FLOAT16, dims=[4], int32_data=[1] * count)),
            codes,
            "w",
        )
        c.add(
            "tensors",
            f"string-data-{count}",
            with_tensor(TensorProto(name="w", data_type=TensorProto.STRING, dims=[4], string_data=[b"a"] * count)),
            codes,
            "w",
        )
    wrong = {
        "float-in-int64": (F, {"int64_data": [1, 2]}),
        "int64-in-float": (I64, {"float_data": [1.0, 2.0]}),
        "double-in-float": (TensorProto.DOUBLE, {"float_data": [1.0, 2.0]}),
        "string-in-raw": (TensorProto.STRING, {"raw_data": b"ab"}),
        "uint8-in-int64": (TensorProto.UINT8, {"int64_data": [1, 2]}),
    }
    for name, (kind, data) in wrong.items():
        c.add("tensors", name, with_tensor(TensorProto(name="w", data_type=kind, dims=[2], **data)), codes, "w")
    both = {
        "raw-and-float": (F, {"raw_data": bytes(8), "float_data": [1.0, 2.0]}),
        "raw-and-int64": (I64, {"raw_data": bytes(16), "int64_data": [1, 2]}),
        "raw-and-int32": (TensorProto.INT32, {"raw_data": bytes(8), "int32_data": [1, 2]}),
        "raw-and-double": (TensorProto.DOUBLE, {"raw_data": bytes(16), "double_data": [1.0, 2.0]}),
        "raw-and-uint64": (TensorProto.UINT64, {"raw_data": bytes(16), "uint64_data": [1, 2]}),
        "float-and-int64": (F, {"float_data": [1.0, 2.0], "int64_data": [1, 2]}),
        "raw-and-strings": (F, {"raw_data": bytes(8), "string_data": [b"a", b"b"]}),
        "raw-and-one-float": (F, {"raw_data": bytes(8), "float_data": [1.0]}),
    }
    for name, (kind, data) in both.items():
        tensor = TensorProto(name="w", data_type=kind, dims=[2], **data)
        c.add("tensors", name, with_tensor(tensor), codes, "w")
        constant = node("Constant", [], ["k"], value=tensor, name="k")
        c.add(
            "tensors",
            f"{name}-in-attribute",
            model_of([constant, node("Identity", ["k"], ["y"])], inputs=[], outputs=[value("y", kind, [2])]),
            codes,
        )
        function = helper.make_function(
            "local", "f", [], ["o"], [node("Constant", [], ["o"], value=tensor, name="k")], [helper.make_opsetid("", 22)]
        )
        c.add(
            "tensors",
            f"{name}-in-function",
            model_of(
                [node("f", [], ["y"], domain="local")],
                inputs=[],
                outputs=[value("y", kind, [2])],
                domains=[("local", 1)],
                functions=[function],
            ),
            codes,
        )


def sparse(c):
    def add(name, indices, dims, values=(1.0, 2.0), index_dims=None, kind=F):
        held = helper.make_tensor("w", kind, [len(values)], values)
        places = helper.make_tensor("w_indices", I64, index_dims or [len(indices)], indices)
        model = model_of([node("Identity", ["w"], ["y"])], inputs=[], outputs=[value("y", F, dims)])
        model.graph.sparse_initializer.append(helper.make_sparse_tensor(held, places, dims))
        c.add("tensors", f"sparse-{name}", model, f"{INVALID}|{TENSOR}|{LIMIT}|import/shape-inference")

    add("out-of-range", [0, 9], [4])
    add("negative", [-1, 2], [4])
    add("unsorted", [2, 0], [4])
    add("repeated", [1, 1], [4])
    add("few-indices", [1], [4])
    add("huge", [0, 1], [2**62, 4])
    add("wrapping", [0, 1], [2**32, 2**32])
    add("negative-dims", [0, 1], [-4])
