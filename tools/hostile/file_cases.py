"""Weights in files beside the model."""

from models import EXTERNAL, INVALID, LIMIT, TENSOR, F, model_of, node, value

from onnx import TensorProto


def external(location, entries=(), dims=(4,), name="w"):
    tensor = TensorProto(name=name, data_type=F, dims=dims, data_location=TensorProto.EXTERNAL)
    if location is not None:
        tensor.external_data.add(key="location", value=location)
    for k, v in entries:
        tensor.external_data.add(key=k, value=str(v))
    return model_of([node("Identity", ["w"], ["y"])], inputs=[], outputs=[value("y", F, list(dims))], initialisers=[tensor])


def external_data(c):
    for name, location in {
        "parent": "../secret.bin",
        "nested-parent": "a/../../secret.bin",
        "absolute": "/etc/hostname",
        "folder": "folder",
        "itself": ".",
        "empty": "",
        "parent-of-parent": "../../../../etc/hostname",
        "url": "file:///etc/hostname",
        "proc": "/proc/self/mem",
    }.items():
        place = c.add("files", f"location-{name}", external(location), f"{EXTERNAL}|import/not-found", "w")
        (place / "folder").mkdir()
        (place.parent / "secret.bin").write_bytes(bytes(16))
    c.add("files", "location-missing", external(None), EXTERNAL, "w")
    c.add("files", "file-missing", external("weights.bin"), "import/not-found", "weights.bin")
    offsets = {
        "negative-offset": [("offset", -1)],
        "huge-offset": [("offset", 2**63 - 1)],
        "wrapping-offset": [("offset", 2**64 - 8)],
        "past-end": [("offset", 8)],
        "at-end": [("offset", 16)],
        "negative-length": [("length", -1)],
        "huge-length": [("length", 2**63 - 1)],
        "wrong-length": [("length", 8)],
        "sum-wraps": [("offset", 2**64 - 8), ("length", 16)],
        "text-offset": [("offset", "12abc")],
        "text-length": [("length", "16 ")],
        "beyond-64-bits": [("offset", 2**70)],
        "empty-offset": [("offset", "")],
        "checksum": [("checksum", "0" * 40)],
    }
    for name, entries in offsets.items():
        place = c.add("files", name, external("weights.bin", entries), EXTERNAL, "w")
        (place / "weights.bin").write_bytes(bytes(16))
    for name, dims in {"wrapping-dims": (2**32, 2**32), "negative-dims": (-4,), "huge-dims": (2**62,)}.items():
        place = c.add("files", name, external("weights.bin", dims=dims), f"{EXTERNAL}|{TENSOR}|{LIMIT}", "w")
        (place / "weights.bin").write_bytes(bytes(16))
    nul = c.add("files", "nul-in-location", external("weights.bin\0.txt"), EXTERNAL, "w")
    (nul / "weights.bin").write_bytes(bytes(16))
    legal = c.add("files", "dots-in-name", external("weights..v2.bin"), "ok")
    (legal / "weights..v2.bin").write_bytes(bytes(16))
    inside = c.add("files", "in-folder", external("data/weights.bin"), "ok")
    (inside / "data").mkdir()
    (inside / "data" / "weights.bin").write_bytes(bytes(16))
    both = external("weights.bin")
    both.graph.initializer[0].raw_data = bytes(16)
    (c.add("files", "external-and-raw", both, f"{EXTERNAL}|{TENSOR}|{INVALID}", "w") / "weights.bin").write_bytes(bytes(16))
