"""What a model file says of itself, without its weights: inputs, outputs, metadata.

In: a path or bytes of ONNX's ModelProto. Out: a ModelOutline. A reader of the few messages needed; the form of the
fields is that of Protocol Buffers, their numbers are those of onnx.proto.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Union

from .errors import BadInputError, FileAccessError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Found = TypeVar("Found")
Field = Union[int, memoryview]

# ONNX's numbers of element types, as they appear between the brackets of "tensor(float)".
TYPE_NAMES = {
    1: "float",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    8: "string",
    9: "bool",
    10: "float16",
    11: "double",
    12: "uint32",
    13: "uint64",
    14: "complex64",
    15: "complex128",
    16: "bfloat16",
    17: "float8e4m3fn",
    18: "float8e4m3fnuz",
    19: "float8e5m2",
    20: "float8e5m2fnuz",
    21: "uint4",
    22: "int4",
    23: "float4e2m1",
    24: "float8e8m0",
    25: "uint2",
    26: "int2",
}

# What ONNX Runtime says of a model without a version.
NO_VERSION = (1 << 63) - 1


class NodeArg(NamedTuple):
    """An input or output of a model."""

    name: str
    type: str
    """Such as "tensor(float)"."""
    shape: list[int | str | None]
    """Extents; an open one is its name, or None. Empty for a scalar and where the model gives no shape."""

    def __str__(self) -> str:
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"


class ModelOutline(NamedTuple):
    inputs: list[NodeArg]
    """That a program must give."""
    overridable: list[NodeArg]
    """That have a default."""
    outputs: list[NodeArg]
    producer_name: str
    domain: str
    version: int
    description: str
    graph_name: str
    graph_description: str
    properties: dict[str, str]
    without_shape: frozenset[str]
    """Names of inputs of any rank."""


def read_outline(model: str | os.PathLike[str] | bytes) -> ModelOutline:
    """Raises FileAccessError io/cannot-read, BadInputError import/not-a-model."""
    return _read(model, _content(model), _outline_of)


def external_files(model: str | os.PathLike[str]) -> list[str]:
    """Names of the files that hold weights, as the model gives them. Raises as read_outline."""
    content = _content(model)
    if content.find(b"location") < 0:  # the key of such a name; most models have none
        return []
    return sorted(_read(model, content, _external_files_of))


def _read(model: str | os.PathLike[str] | bytes, content: Any, reader: Callable[[memoryview], Found]) -> Found:
    try:
        return reader(memoryview(content))
    except (IndexError, ValueError, OverflowError, RecursionError) as problem:
        where = "model" if isinstance(model, (bytes, bytearray, memoryview)) else os.fspath(model)
        raise BadInputError("import/not-a-model", where, f"no ONNX model ({problem})", "an ONNX model") from None


def _content(model: str | os.PathLike[str] | bytes) -> Any:
    """An object with the buffer protocol; of a file a mapping."""
    if isinstance(model, (bytes, bytearray, memoryview)):
        return model
    import mmap

    try:
        with open(model, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                return b""
            return mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    except OSError as problem:
        raise FileAccessError("io/cannot-read", os.fspath(model), problem.strerror or str(problem), "a readable file") from None


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than 64 bits")


def _fields(data: Field) -> Iterator[tuple[int, Field]]:
    """(number, value) of each field of a message; messages and texts are views."""
    if isinstance(data, int):
        raise ValueError("a number in place of a message")
    at, end = 0, len(data)
    while at < end:
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield number, value
        elif wire == 2:
            count, at = _varint(data, at)
            if at + count > end:
                raise ValueError("a field longer than its message")
            yield number, data[at : at + count]
            at += count
        elif wire in (1, 5):
            count = 8 if wire == 1 else 4
            yield number, data[at : at + count]
            at += count
        else:
            raise ValueError(f"field type {wire}")


def _text(data: Field) -> str:
    if isinstance(data, int):
        raise ValueError("a number in place of a text")
    return bytes(data).decode("utf-8", "replace")


def _number(value: Field) -> int:
    if not isinstance(value, int):
        raise ValueError("a text in place of a number")
    return value


def _signed(field: Field) -> int:
    value = _number(field)
    return value - (1 << 64) if value >= 1 << 63 else value


def _entry(data: Field) -> tuple[str, str]:
    found = dict(_fields(data))
    return _text(found.get(1, b"")), _text(found.get(2, b""))


def _outline_of(data: memoryview) -> ModelOutline:
    plain: dict[int, Field] = {}
    properties: dict[str, str] = {}
    for number, value in _fields(data):
        if number == 14:
            key, text = _entry(value)
            properties[key] = text
        else:
            plain[number] = value
    if 7 not in plain:
        raise ValueError("no graph")
    graph = _graph(plain[7])
    with_default = graph["initializers"]
    return ModelOutline(
        inputs=[port for port in graph["inputs"] if port.name not in with_default],
        overridable=[port for port in graph["inputs"] if port.name in with_default],
        outputs=graph["outputs"],
        producer_name=_text(plain.get(2, b"")),
        domain=_text(plain.get(4, b"")),
        version=_signed(plain.get(5, NO_VERSION)),
        description=_text(plain.get(6, b"")),
        graph_name=graph["name"],
        graph_description=graph["description"],
        properties=properties,
        without_shape=frozenset(graph["without_shape"]),
    )


def _graph(data: Field) -> dict:
    found: dict = {"name": "", "description": "", "inputs": [], "outputs": [], "initializers": set(), "without_shape": set()}
    for number, value in _fields(data):
        if number == 2:
            found["name"] = _text(value)
        elif number == 5:
            found["initializers"].add(_initializer_name(value))
        elif number == 10:
            found["description"] = _text(value)
        elif number == 11:
            port, has_shape = _port(value)
            found["inputs"].append(port)
            if not has_shape:
                found["without_shape"].add(port.name)
        elif number == 12:
            found["outputs"].append(_port(value)[0])
    return found


def _initializer_name(data: Field) -> str:
    name = ""
    for number, value in _fields(data):
        if number == 8:
            name = _text(value)
    return name


# Where tensors are: message -> number of a field -> the message in it.
TENSOR_PLACES = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node", 5: "tensor", 15: "sparse tensor"},
    "function": {7: "node"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse tensor", 23: "sparse tensor"},
    "sparse tensor": {1: "tensor", 2: "tensor"},
}


def _external_files_of(data: memoryview) -> set[str]:
    files: set[str] = set()
    _add_external_files("model", data, files)
    return files


def _add_external_files(message: str, data: Field, files: set[str]) -> None:
    if message == "tensor":
        entries = [_entry(value) for number, value in _fields(data) if number == 13]
        files.update(text for key, text in entries if key == "location")
        return
    places = TENSOR_PLACES[message]
    for number, value in _fields(data):
        if number in places:
            _add_external_files(places[number], value, files)


def _port(data: Field) -> tuple[NodeArg, bool]:
    """Also whether it has a shape; true of what is no tensor."""
    found = dict(_fields(data))
    kind, shape = _type(found[2]) if 2 in found else ("", None)
    return NodeArg(_text(found.get(1, b"")), kind, shape or []), shape is not None


def _type(data: Field) -> tuple[str, list[int | str | None] | None]:
    """None for a shape that is not known."""
    for number, value in _fields(data):
        if number == 1:
            return _tensor(value, "tensor")
        if number == 8:
            return _tensor(value, "sparse_tensor")
        if number in (4, 9):
            inner = dict(_fields(value)).get(1, memoryview(b""))
            return f"{'seq' if number == 4 else 'optional'}({_type(inner)[0]})", []
        if number == 5:
            found = dict(_fields(value))
            return f"map({TYPE_NAMES.get(_number(found.get(1, 0)), '?')},{_type(found.get(2, memoryview(b'')))[0]})", []
    return "", []


def _tensor(data: Field, kind: str) -> tuple[str, list[int | str | None] | None]:
    found = dict(_fields(data))
    shape = None
    if 2 in found:
        shape = [_extent(dim) for number, dim in _fields(found[2]) if number == 1]
    return f"{kind}({TYPE_NAMES.get(_number(found.get(1, 0)), 'undefined')})", shape


def _extent(data: Field) -> int | str | None:
    found = dict(_fields(data))
    if 1 in found:
        extent = _signed(found[1])
        return extent if extent >= 0 else None
    return _text(found[2]) or None if 2 in found else None
