"""Functions that compute regions of a model, and the modules that they are in."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import inspect
import pathlib
import platform
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .patterns import Pattern
from .region import Region

#: The instance of a module of functions is called this and its name.
INSTANCE_PREFIX = "python:module="

Arrays = Sequence[np.ndarray]


@dataclasses.dataclass(frozen=True)
class RegionFunction:
    """A function with the pattern of the regions that it computes. Calling it calls the function."""

    function: Callable[..., Any]
    name: str
    pattern: str
    outputs: int = 1
    refuses: Callable[[Region], str | None] | None = None
    prepare: Callable[[Region], Any] | None = None

    @property
    def takes_out(self) -> bool:
        """Whether it writes its results itself."""
        return "out" in inspect.signature(self.function).parameters

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.function(*arguments, **keywords)


def region_function(
    pattern: str | Pattern,
    *,
    name: str | None = None,
    outputs: int = 1,
    refuses: Callable[[Region], str | None] | None = None,
    prepare: Callable[[Region], Any] | None = None,
) -> Callable[[Callable[..., Any]], RegionFunction]:
    """Declares a function that computes the regions of a pattern.

    The function is called as ``function(inputs, region)`` with a list of arrays in the order of ``region.inputs`` and
    returns an array or a sequence of them in the order of ``region.outputs``, of exactly their types and shapes. If it
    has a parameter ``out``, it gets a list of arrays there, writes the results to them and returns nothing. Inputs and
    constants are views that cannot be written to; all arrays are the plan's memory, so copy what you keep after the call.

    :param pattern: which operators, joined how: text in the language of docs/RULES.md, or what :func:`op` makes.
    :param name: of the variant in plans and reports; default: the function's name.
    :param outputs: values that may leave a match; 0 = any number.
    :param refuses: called with a region that matches; returns why the function does not compute it, else None.
    :param prepare: called once for each place in a plan, with the weights; what it returns is ``region.state``.

    Raised exceptions are refusals while tuning and errors when a plan runs. Calls of one process come one at a time
    from any thread.
    """

    def declared(function: Callable[..., Any]) -> RegionFunction:
        return RegionFunction(function, name or function.__name__, str(pattern), outputs, refuses, prepare)

    return declared


def backend(module: str | types.ModuleType) -> str:
    """The name under which a module of region functions is a backend, for ``backends=`` and ``pins=`` of ``tune``.

    The module is imported here, so that a mistake in it is seen at once. Workers and programs that load the plan import
    it by the same name. Errors of the import; ValueError for a module without region functions, and for ``__main__``.
    """
    name = module if isinstance(module, str) else module.__name__
    functions_of(module_of(name))
    return INSTANCE_PREFIX + name


def module_of(name: str) -> types.ModuleType:
    """Imports a module that workers can import too. ValueError for ``__main__``."""
    if name == "__main__":
        raise ValueError("__main__ cannot be imported by workers: put the functions into a module of their own")
    return importlib.import_module(name)


def functions_of(module: types.ModuleType) -> dict[str, RegionFunction]:
    """The module's region functions by name. ValueError when there are none, or two of one name."""
    functions: dict[str, RegionFunction] = {}
    for value in vars(module).values():
        if not isinstance(value, RegionFunction):
            continue
        if functions.setdefault(value.name, value) is not value:
            raise ValueError(f"module {module.__name__} has two region functions called {value.name}")
    if not functions:
        raise ValueError(f"module {module.__name__} has no function with @region_function")
    return functions


def source_hash(module: types.ModuleType) -> str:
    """Changes with the module's source, that of all files of a package, and what ``collage_sources`` of it names."""
    named = [importlib.import_module(one) for one in getattr(module, "collage_sources", ())]
    digest = hashlib.sha256()
    for path in (path for one in [module, *named] for path in _files_of(one)):
        digest.update(path.read_bytes())
        digest.update(b"\0")
    return digest.hexdigest()[:16]


def build_of(module: types.ModuleType) -> str:
    """What times depend on: the source, and the versions of Python and NumPy."""
    return f"{source_hash(module)}+python{platform.python_version()}+numpy{np.__version__}"


def _files_of(module: types.ModuleType) -> list[pathlib.Path]:
    file = getattr(module, "__file__", None)
    if file is None:
        raise ValueError(f"module {module.__name__} has no file, so that a change of it could not be noticed")
    path = pathlib.Path(file)
    return sorted(path.parent.rglob("*.py")) if path.name == "__init__.py" else [path]
