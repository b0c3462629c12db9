"""Values and bindings of an InferenceSession: the calls of ONNX Runtime's OrtValue and IOBinding, in main memory.

In: arrays, or addresses of arrays. Out: the same, and arrays of results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .arrays import ELEMENT_NAMES, dtype_of
from .errors import UnsupportedError, UsageError
from .onnx_file import TYPE_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy

    from .inference_session import InferenceSession

__all__ = ["IOBinding", "OrtValue"]

_NUMBERS = {name: number for number, name in ELEMENT_NAMES.items()}


def element_number(element_type: Any) -> int:
    """ONNX's number of a type that is given as such, as a NumPy type, or by name."""
    import numpy as np

    if isinstance(element_type, int) and not isinstance(element_type, bool):
        return element_type
    name = np.dtype(element_type).name
    if name not in _NUMBERS:
        raise UnsupportedError("api/no-bytes", "element type", name, ", ".join(_NUMBERS))
    return _NUMBERS[name]


def check_device(device_type: str) -> None:
    if str(device_type).lower() not in ("cpu", "0"):
        raise UnsupportedError("session/device", "device", str(device_type), "cpu")


class OrtValue:
    """An array in main memory. Made by ortvalue_from_numpy or ortvalue_from_shape_and_type."""

    def __init__(self, array: numpy.ndarray) -> None:
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(numpy_obj: numpy.ndarray, device_type: str = "cpu", device_id: int = 0) -> OrtValue:
        """The value shares the array's memory."""
        import numpy as np

        check_device(device_type)
        return OrtValue(np.asarray(numpy_obj))

    @staticmethod
    def ortvalue_from_shape_and_type(
        shape: Sequence[int], element_type: Any, device_type: str = "cpu", device_id: int = 0
    ) -> OrtValue:
        """Zeros, aligned so that a run writes them in place."""
        from .arrays import aligned_zeros

        check_device(device_type)
        return OrtValue(aligned_zeros(tuple(shape), dtype_of(element_number(element_type), "element type")))

    def numpy(self) -> numpy.ndarray:
        """The array itself."""
        return self._array

    def shape(self) -> list[int]:
        return list(self._array.shape)

    def data_type(self) -> str:
        """Such as "tensor(float)"."""
        return f"tensor({TYPE_NAMES[self.element_type()]})"

    def element_type(self) -> int:
        """ONNX's number."""
        return element_number(self._array.dtype)

    def device_name(self) -> str:
        return "cpu"

    def data_ptr(self) -> int:
        return self._array.ctypes.data

    def is_tensor(self) -> bool:
        return True

    def is_sparse_tensor(self) -> bool:
        return False

    def is_tensor_sequence(self) -> bool:
        return False

    def has_value(self) -> bool:
        return True

    def tensor_size_in_bytes(self) -> int:
        return self._array.nbytes

    def update_inplace(self, np_arr: numpy.ndarray) -> None:
        """Copies the elements of an array of the same shape and type."""
        if np_arr.shape != self._array.shape or np_arr.dtype != self._array.dtype:
            raise UsageError(
                "session/value", "update_inplace", f"{np_arr.dtype}{list(np_arr.shape)}", f"{self._array.dtype}{self.shape()}"
            )
        self._array[...] = np_arr

    def __array__(self, dtype: Any = None, copy: Any = None) -> numpy.ndarray:
        import numpy as np

        if copy:
            return np.array(self._array, dtype=dtype)
        array = np.asarray(self._array, dtype=dtype)
        if copy is False and array.dtype != self._array.dtype:
            raise ValueError(f"an array of {self._array.dtype} cannot be one of {np.dtype(dtype)} without a copy")
        return array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()


def array_at(address: int, element_type: Any, shape: Sequence[int]) -> numpy.ndarray:
    """An array over memory that the program keeps."""
    import ctypes
    import math

    import numpy as np

    dtype = dtype_of(element_number(element_type), "element type")
    count = math.prod(shape) * dtype.itemsize
    memory = (ctypes.c_char * count).from_address(address)
    return np.frombuffer(memory, np.uint8).view(dtype).reshape(tuple(shape))


class IOBinding:
    """Inputs and outputs bound for runs of a session. Made by InferenceSession.io_binding()."""

    def __init__(self, session: InferenceSession) -> None:
        self._session = session
        self._inputs: dict[str, Any] = {}
        self._wanted: dict[str, Any] = {}
        self._outputs: list[OrtValue] = []

    def bind_cpu_input(self, name: str, arr_on_cpu: numpy.ndarray) -> None:
        self._inputs[self._session._checked_input(name)] = arr_on_cpu

    def bind_input(
        self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int], buffer_ptr: int
    ) -> None:
        """Memory that the program keeps until the run is over."""
        check_device(device_type)
        self._inputs[self._session._checked_input(name)] = array_at(buffer_ptr, element_type, shape)

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        self._inputs[self._session._checked_input(name)] = ortvalue.numpy()

    def bind_output(
        self,
        name: str,
        device_type: str = "cpu",
        device_id: int = 0,
        element_type: Any = None,
        shape: Sequence[int] | None = None,
        buffer_ptr: int | None = None,
    ) -> None:
        """With buffer_ptr runs write there, else to a new array."""
        check_device(device_type)
        array = None if buffer_ptr is None else array_at(buffer_ptr, element_type, shape or ())
        self._wanted[self._session._checked_output(name)] = array

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        self._wanted[self._session._checked_output(name)] = ortvalue.numpy()

    def synchronize_inputs(self) -> None:
        """Nothing to wait for in main memory."""

    def synchronize_outputs(self) -> None:
        """Likewise."""

    def get_outputs(self) -> list[OrtValue]:
        """What the last run gave, in the order of binding."""
        return list(self._outputs)

    def get_outputs_as_ortvaluevector(self) -> list[OrtValue]:
        return self.get_outputs()

    def copy_outputs_to_cpu(self) -> list[numpy.ndarray]:
        """Likewise as arrays."""
        return [value.numpy() for value in self._outputs]

    def clear_binding_inputs(self) -> None:
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        self._wanted.clear()
        self._outputs = []
