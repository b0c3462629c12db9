"""Arrays that go into and come out of a run, where the extension module does not handle them itself.

In: objects that programs hold. Out: row-major NumPy arrays whose buffers the extension module reads or gave.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Union

from .errors import BadInputError, UnsupportedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy

    Arrays = Union[Mapping[str, Any], Sequence[Any], Any]
    Shapes = Union[Mapping[str, Sequence[int]], Sequence[Sequence[int]]]

__all__ = ["Port", "aligned"]

ALIGNMENT = 64

# Numbers of ONNX's element types and what NumPy calls them; those after "complex128" are types of the package ml_dtypes.
ELEMENT_NAMES = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    8: "str",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    14: "complex64",
    15: "complex128",
    16: "bfloat16",
    17: "float8_e4m3fn",
    18: "float8_e4m3fnuz",
    19: "float8_e5m2",
    20: "float8_e5m2fnuz",
    24: "float8_e8m0fnu",
}
FIRST_OF_ML_DTYPES = 16


class Port(NamedTuple):
    """An input or output of a plan."""

    name: str
    dtype: str
    """NumPy's name of the element type, or ml_dtypes'."""
    shape: tuple[int | str | None, ...] | None
    """Extents; an open one is its name or None. None when not even their number is known."""
    element_type: int
    """ONNX's number of the element type."""


def dtype_of(element_type: int, where: str) -> numpy.dtype:
    """NumPy's type of these elements."""
    import numpy as np

    name = ELEMENT_NAMES.get(element_type)
    if name is None or name == "str":
        raise UnsupportedError("api/no-bytes", where, f"elements of ONNX type {element_type}", "elements of a fixed size")
    if element_type < FIRST_OF_ML_DTYPES:
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        raise UnsupportedError("api/no-dtype", where, f"elements of type {name}", "an installed package ml_dtypes") from None
    return np.dtype(getattr(ml_dtypes, name))


def readable(array: Any, element_type: int, where: str) -> numpy.ndarray:
    """A row-major array with the elements of `array`, without a copy where possible, whose buffer can be read."""
    import numpy as np

    dtype = dtype_of(element_type, where)
    found = _as_numpy(array, dtype, where)
    if found.dtype.newbyteorder("=") != dtype:
        raise BadInputError("api/wrong-type", where, f"an array of {found.dtype}", f"an array of {dtype}")
    found = np.ascontiguousarray(found, dtype).reshape(found.shape)
    if dtype.isbuiltin != 1:  # NumPy shows no buffer of types that it does not have itself
        found = found.view(f"u{dtype.itemsize}")
    return found


def _as_numpy(array: Any, dtype: numpy.dtype, where: str) -> numpy.ndarray:
    import numpy as np

    if isinstance(array, (np.ndarray, np.generic)):
        return np.asarray(array)
    try:
        if hasattr(array, "__dlpack__"):
            return np.from_dlpack(array)
        if hasattr(array, "__array__") or hasattr(array, "__array_interface__"):
            return np.asarray(array)
        if _has_buffer(array):
            return np.asarray(array)
        return _of_numbers(np.asarray(array), dtype, where)
    except BadInputError:
        raise
    except (TypeError, ValueError, RuntimeError, BufferError) as problem:
        raise BadInputError("api/wrong-type", where, f"{type(array).__name__}: {problem}", f"an array of {dtype}") from None


def _has_buffer(array: Any) -> bool:
    try:
        memoryview(array).release()
    except TypeError:
        return False
    return True


def _of_numbers(numbers: numpy.ndarray, dtype: numpy.dtype, where: str) -> numpy.ndarray:
    """What a list, a tuple or a number gave, as this type. Integers stay what they are; other numbers are rounded, but finite
    ones stay finite. Numbers of another kind are left for the caller to refuse."""
    import numpy as np

    kinds = {"b": "b", "i": "biu", "u": "biu", "c": "biufc"}.get(dtype.kind, "biuf")  # those of ml_dtypes are floats
    if numbers.size == 0:
        return numbers.astype(dtype)
    if numbers.dtype.kind not in kinds:
        return numbers
    if dtype.kind in "iu":
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        if numbers.min() < least or numbers.max() > most:
            saw = f"numbers from {numbers.min()} to {numbers.max()}"
            raise BadInputError("api/wrong-type", where, saw, f"{least} to {most}, which {dtype} has")
        return numbers.astype(dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = numbers.astype(dtype)
    if not np.array_equal(np.isfinite(rounded), np.isfinite(numbers)):
        raise BadInputError("api/wrong-type", where, "numbers that are too large", f"numbers that {dtype} has")
    return rounded


def writable(array: Any, element_type: int, where: str) -> numpy.ndarray:
    """The memory of an array of a type that NumPy does not have itself, as integers of the same size."""
    import numpy as np

    dtype = dtype_of(element_type, where)
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        saw = f"an array of {array.dtype}" if isinstance(array, np.ndarray) else f"an object of type {type(array).__name__}"
        raise UsageError("api/wrong-array", where, saw, f"a writable, row-major array of {dtype}")
    return array.view(f"u{dtype.itemsize}")


def typed(raw: numpy.ndarray, element_type: int, shape: tuple[int, ...], where: str) -> numpy.ndarray:
    """The bytes of `raw` as elements of this type."""
    return raw.view(dtype_of(element_type, where)).reshape(shape)


def aligned(ports: list[Port]) -> dict[str, numpy.ndarray]:
    """Zeros for the ports whose shapes are known, aligned to 64 bytes: a run reads and writes such arrays in place."""
    return {
        port.name: aligned_zeros(port.shape, dtype_of(port.element_type, port.name))
        for port in ports
        if port.shape is not None and all(isinstance(extent, int) for extent in port.shape)
    }


def aligned_zeros(shape: tuple[int, ...], dtype: numpy.dtype) -> numpy.ndarray:
    import math

    import numpy as np

    count = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.zeros(count + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + count].view(dtype).reshape(shape)
