"""What the backend `python` calls (backends/python/bridge.h): descriptions as JSON text, arrays over its memory.

Every function raises BridgeError, whose text says all: the program shows it as refusal or error.
"""

from __future__ import annotations

import _thread
import dataclasses
import functools
import json
import math
import pathlib
import traceback
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .functions import RegionFunction, build_of, functions_of, module_of, source_hash
from .region import Region, Value, region_from_text, region_of


class BridgeError(Exception):
    """Its text is for the user."""


def _tells(function: Callable[..., Any]) -> Callable[..., Any]:
    """Raises BridgeError with the type, the message and the line of what the function raised."""

    @functools.wraps(function)
    def told(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except KeyboardInterrupt:
            _thread.interrupt_main()  # the program's own code gets it as soon as it runs
            raise BridgeError("KeyboardInterrupt") from None
        except BaseException as error:  # SystemExit too: the program decides when it ends
            raise BridgeError(_text_of(error)) from None

    return told


def _text_of(error: BaseException) -> str:
    here = pathlib.Path(__file__).parent
    lines = [
        f" ({file.name}:{frame.lineno})"
        for frame in traceback.extract_tb(error.__traceback__)
        if (file := pathlib.Path(frame.filename)).parent != here and "importlib" not in frame.filename
    ]
    return f"{type(error).__name__}: {error}{lines[-1] if lines else ''}".replace("\n", " ")


@_tells
def describe(module_name: str) -> str:
    """What a module has: its version, build and functions."""
    module = module_of(module_name)
    described = [
        {"name": one.name, "pattern": one.pattern, "outputs": one.outputs, "asks": one.refuses is not None}
        for one in functions_of(module).values()
    ]
    return json.dumps(
        {
            "version": str(getattr(module, "__version__", "")),
            "source": _once(module, "__collage_source__", source_hash),
            "build": _once(module, "__collage_build__", build_of),
            "functions": described,
        }
    )


def _once(module: types.ModuleType, name: str, make: Callable[[types.ModuleType], str]) -> str:
    """Of the source that was imported, not of what the file became later in the life of the process. A reload imports a source
    again; it gives the module another `__spec__`."""
    imported, made = getattr(module, name, (None, ""))
    if imported is None or imported is not module.__spec__:
        made = make(module)
        setattr(module, name, (module.__spec__, made))
    return made


@_tells
def refusal(module_name: str, function_name: str, region: str) -> str:
    """Why the function does not compute a region; empty when it does."""
    function = _function(module_name, function_name)
    return str(function.refuses(region_from_text(region)) or "") if function.refuses else ""


@_tells
def load(module_name: str, function_name: str, region: str, constants: Sequence[memoryview], threads: int) -> _Loaded:
    """A function that has prepared itself for a region."""
    function = _function(module_name, function_name)
    described = json.loads(region)
    arrays = {
        one["name"]: _array(Value(one["name"], one["type"], tuple(one["shape"])), view)
        for one, view in zip(described["constants"], constants)
    }
    prepared = region_of(described, arrays, threads)
    if function.prepare is not None:
        prepared = dataclasses.replace(prepared, state=function.prepare(prepared))
    return _Loaded(function, prepared)


@_tells
def bind(loaded: _Loaded, inputs: Sequence[memoryview], outputs: Sequence[memoryview]) -> _Bound:
    """A call without arguments that computes the outputs from the inputs."""
    return _Bound(loaded, inputs, outputs)


@dataclasses.dataclass(frozen=True)
class _Loaded:
    function: RegionFunction
    region: Region


class _Bound:
    """Arrays over the memory of one caller."""

    def __init__(self, loaded: _Loaded, inputs: Sequence[memoryview], outputs: Sequence[memoryview]):
        self._loaded = loaded
        self._views = [*inputs, *outputs]
        self._inputs, self._outputs = [], []
        self._inputs = [_array(value, view) for value, view in zip(loaded.region.inputs, inputs)]
        self._outputs = [_array(value, view) for value, view in zip(loaded.region.outputs, outputs)]
        self._takes_out = loaded.function.takes_out

    @_tells
    def __call__(self) -> None:
        function, region = self._loaded.function, self._loaded.region
        # Lists of their own: what a function does to them is gone at the next call.
        if self._takes_out:
            if function.function(list(self._inputs), region, out=list(self._outputs)) is not None:
                raise TypeError(f"{function.name} has the parameter out, and returned something too")
            return
        results = function.function(list(self._inputs), region)
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        if len(results) != len(self._outputs):
            raise ValueError(f"{function.name} returned {len(results)} arrays for {len(self._outputs)} outputs")
        for value, result, output in zip(region.outputs, results, self._outputs):
            _copy(function.name, value, result, output)

    def __del__(self) -> None:
        # Their memory goes away: whoever keeps an array is told.
        self._inputs, self._outputs = [], []
        for view in self._views:
            try:
                view.release()
            except BufferError:
                name = self._loaded.function.name
                warnings.warn(f"{name} keeps an array after its call: copy it", ResourceWarning, stacklevel=1)


def _copy(name: str, value: Value, result: Any, output: np.ndarray) -> None:
    if not isinstance(result, (np.ndarray, np.generic)):
        raise TypeError(f"{name} returned a {type(result).__name__} for {value.name}, not an array")
    if result.dtype != output.dtype or result.shape != output.shape:
        saw, wanted = (f"{one.dtype}{list(one.shape)}" for one in (result, output))
        raise ValueError(f"{name} returned {saw} for {value.name}, which is {wanted}")
    np.copyto(output, result)


def _array(value: Value, view: memoryview) -> np.ndarray:
    shape = tuple(value.shape)
    if value.dtype.itemsize * math.prod(shape) != view.nbytes:
        raise ValueError(f"{view.nbytes} bytes for {value.name}, {value.dtype}{list(shape)}")
    return np.ndarray(shape, value.dtype, buffer=view)


def _function(module_name: str, function_name: str) -> RegionFunction:
    functions = functions_of(module_of(module_name))
    if function_name not in functions:
        raise LookupError(f"module {module_name} has no region function {function_name}; it has {', '.join(functions)}")
    return functions[function_name]
