"""A region of a model as functions of the user's are told of it: nodes, values, constants."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

#: Collage's names of element types that arrays have.
DTYPES = {
    "f32": "float32", "f64": "float64", "f16": "float16", "bool": "bool",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Value:
    """A tensor that enters or leaves a region.

    ``type`` is Collage's name of the element type (``f32``), ``shape`` has an extent, the name of an open dimension, or
    None for each axis; it is None itself when the rank is unknown.
    """

    name: str
    type: str
    shape: tuple[int | str | None, ...] | None

    @property
    def dtype(self) -> np.dtype:
        """The element type of its arrays. TypeError for one that NumPy does not have."""
        if self.type not in DTYPES:
            raise TypeError(f"value {self.name!r}: NumPy has no element type {self.type}")
        return np.dtype(DTYPES[self.type])


@dataclasses.dataclass(frozen=True)
class Node:
    """One use of an operator.

    ``inputs`` and ``outputs`` are names of values, None for an omitted one. ``attributes`` has numbers, texts, lists of
    them, and arrays for tensors; attributes left at their default are absent.
    """

    name: str
    op_type: str
    domain: str
    inputs: tuple[str | None, ...]
    outputs: tuple[str | None, ...]
    attributes: Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Region:
    """Nodes that are one step, in topological order.

    ``inputs`` and ``outputs`` are in the order of the arrays. ``constants`` has arrays by name of value, which must not
    be written to; before a plan is made only those of at most 64 elements, since costs and support must not depend on
    weights. ``constant_types`` has all of them. ``threads`` is how many may compute at once, ``state`` what the
    function's ``prepare`` returned.
    """

    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    nodes: tuple[Node, ...]
    constants: Mapping[str, np.ndarray]
    constant_types: tuple[Value, ...]
    threads: int = 1
    state: Any = None

    def node(self, op_type: str) -> Node:
        """The first node with this operator. LookupError when there is none."""
        for node in self.nodes:
            if node.op_type == op_type:
                return node
        raise LookupError(f"no {op_type} among {', '.join(node.op_type for node in self.nodes)}")

    def values(self, inputs: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        """The arrays of inputs and constants by name of value, as ``Node.inputs`` has them."""
        return dict(self.constants) | {value.name: array for value, array in zip(self.inputs, inputs)}


def region_of(
    description: Mapping[str, Any], constants: Mapping[str, np.ndarray] | None = None, threads: int = 1
) -> Region:
    """The region of a description (docs/schemas/region.schema.json), with these constants or those that it shows."""
    if constants is None:
        constants = {one["name"]: _array_of(one) for one in description["constants"] if "values" in one}
    return Region(
        inputs=_values_of(description["inputs"]),
        outputs=_values_of(description["outputs"]),
        nodes=tuple(_node_of(node) for node in description["nodes"]),
        constants=constants,
        constant_types=_values_of(description["constants"]),
        threads=threads,
    )


def region_from_text(text: str) -> Region:
    """The region of a description as JSON text."""
    return region_of(json.loads(text))


def _values_of(described: Sequence[Mapping[str, Any]]) -> tuple[Value, ...]:
    return tuple(
        Value(one["name"], one["type"], None if one["shape"] is None else tuple(one["shape"])) for one in described
    )


def _array_of(tensor: Mapping[str, Any]) -> np.ndarray:
    if tensor["type"] == "str":
        return np.array(tensor["values"], dtype=object).reshape(tensor["shape"])
    # The texts "nan", "inf" and "-inf" are numbers to float().
    values = [float(value) if isinstance(value, str) else value for value in tensor["values"]]
    return np.array(values, dtype=DTYPES.get(tensor["type"], "float32")).reshape(tensor["shape"])


def _node_of(node: Mapping[str, Any]) -> Node:
    return Node(
        name=node["name"],
        op_type=node["op_type"],
        domain=node["domain"],
        inputs=tuple(node["inputs"]),
        outputs=tuple(node["outputs"]),
        attributes={name: _attribute_of(value) for name, value in node["attributes"].items()},
    )


def _attribute_of(value: Any) -> Any:
    if isinstance(value, list):
        return [_attribute_of(one) for one in value]
    if isinstance(value, dict) and "tensor" in value:
        return _array_of(value["tensor"])
    return value
