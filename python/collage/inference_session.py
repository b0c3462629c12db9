"""A class with the calls of ONNX Runtime's InferenceSession, for programs that change one line to use Collage.

In: an ONNX model. Out: arrays as ONNX Runtime gives them. A model runs at once: one engine takes it whole. With `tune`
it is tuned now or when the machine is quiet, and its plan is used from then on, also by later processes.
Threads: run may be called by several at once.
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from . import native_threads
from .binding import IOBinding, OrtValue
from .errors import BadInputError, UsageError
from .model_runner import ModelRunner
from .onnx_file import read_outline
from .session_options import SessionOptions, check_run_options

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy

    from .onnx_file import NodeArg

__all__ = [
    "InferenceSession",
    "ModelMetadata",
    "get_all_providers",
    "get_available_providers",
    "get_device",
    "set_default_logger_severity",
    "set_default_logger_verbosity",
]

PROVIDER = "CPUExecutionProvider"


def get_available_providers() -> list[str]:
    """["CPUExecutionProvider"]: a name that programs ask for; backends are chosen by measuring."""
    return [PROVIDER]


def get_all_providers() -> list[str]:
    """The same."""
    return [PROVIDER]


def get_device() -> str:
    """ "CPU"."""
    return "CPU"


def set_default_logger_severity(severity: int) -> None:
    """Accepted: nothing is logged."""


def set_default_logger_verbosity(verbosity: int) -> None:
    """Likewise."""


class ModelMetadata(NamedTuple):
    """What a model says of itself."""

    producer_name: str
    graph_name: str
    domain: str
    description: str
    graph_description: str
    version: int
    custom_metadata_map: dict[str, str]


class InferenceSession:
    """Runs an ONNX model.

    path_or_bytes
        the model
    sess_options
        SessionOptions; intra_op_num_threads is the number of threads
    providers, provider_options
        accepted; of names other than CPUExecutionProvider a warning says that they are not available
    tune
        None: not tuned, one engine runs the whole model. "now": tuned before the first run with a set of shapes.
        "background": a process of low priority tunes when the machine is quiet, and its plan is used from the next run
        on. "cached": a plan is used where an earlier tune left one. Plans are kept in $XDG_CACHE_HOME/collage/plans.
    shapes
        extents of inputs or dimensions, as for collage.tune: {"x": (1, 3, 640, 640)} or {"batch": 1}
    budget
        of a tune: seconds, or a text such as "60s"

    Raises FileAccessError, BadInputError import/*, UnsupportedError, UsageError session/option.
    """

    def __init__(
        self,
        path_or_bytes: str | os.PathLike[str] | bytes,
        sess_options: SessionOptions | None = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[Any] | None = None,
        *,
        tune: str | None = None,
        shapes: Mapping[str, Any] | None = None,
        budget: str | float | None = None,
        **ignored: Any,
    ) -> None:
        if tune not in (None, "now", "background", "cached"):
            raise UsageError("session/option", "tune", repr(tune), 'None, "now", "background" or "cached"')
        self._options = sess_options if sess_options is not None else SessionOptions()
        self.set_providers(providers, provider_options)
        if isinstance(path_or_bytes, (bytes, bytearray, memoryview)):
            model: Any = bytes(path_or_bytes)
        else:
            model = os.path.abspath(os.fspath(path_or_bytes))
        self._outline = read_outline(model)
        self._inputs = self._outline.inputs
        self._outputs = self._outline.outputs
        self._input_names = [port.name for port in self._inputs]
        self._positions = {port.name: i for i, port in enumerate(self._outputs)}
        self._runner = ModelRunner(
            model,
            self._outline,
            self._options.threads,
            {**self._options._dimensions, **(shapes or {})},
            tune,
            budget,
            list(self._options._modules),
        )

    def run(
        self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], run_options: Any = None
    ) -> list[numpy.ndarray]:
        """The outputs of these names, or all, as new arrays.

        Raises ValueError where inputs are missing, BadInputError for names, types and shapes that the model does not have.
        """
        check_run_options(run_options)
        return self._runner.run(self._checked_feed(input_feed), self._wanted_positions(output_names))

    def run_async(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        callback: Callable[[Any, Any, str], None],
        user_data: Any,
        run_options: Any = None,
    ) -> None:
        """Runs in a thread; then calls callback(outputs, user_data, error), error being "" when all went well."""

        def work() -> None:
            try:
                outputs, problem = self.run(output_names, input_feed, run_options), ""
            except Exception as error:
                outputs, problem = [], str(error)
            callback(outputs, user_data, problem)

        native_threads.start(work, "collage-run")

    def run_with_ort_values(
        self, output_names: Sequence[str] | None, input_dict_ort_values: Mapping[str, OrtValue], run_options: Any = None
    ) -> list[OrtValue]:
        """As run, with values in place of arrays."""
        feed = {name: value.numpy() for name, value in input_dict_ort_values.items()}
        return [OrtValue(array) for array in self.run(output_names, feed, run_options)]

    def io_binding(self) -> IOBinding:
        """Inputs and outputs that are bound once for many runs."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: Any = None) -> None:
        """Runs with what is bound; the outputs are in the binding."""
        check_run_options(run_options)
        feed = self._checked_feed(iobinding._inputs)
        names = list(iobinding._wanted)
        given = {name: array for name, array in iobinding._wanted.items() if array is not None}
        results = self._runner.run(feed, [self._positions[name] for name in names], given or None)
        iobinding._outputs = [OrtValue(array) for array in results]

    def get_inputs(self) -> list[NodeArg]:
        """Name, type and shape of each input that a feed must have."""
        return list(self._inputs)

    def get_outputs(self) -> list[NodeArg]:
        return list(self._outputs)

    def get_overridable_initializers(self) -> list[NodeArg]:
        """Inputs with a default; the default is used."""
        return list(self._outline.overridable)

    def get_modelmeta(self) -> ModelMetadata:
        of = self._outline
        return ModelMetadata(
            of.producer_name, of.graph_name, of.domain, of.description, of.graph_description, of.version, dict(of.properties)
        )

    def get_session_options(self) -> SessionOptions:
        return self._options

    def get_providers(self) -> list[str]:
        return [PROVIDER]

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        return {PROVIDER: {}}

    def set_providers(self, providers: Sequence[Any] | None = None, provider_options: Sequence[Any] | None = None) -> None:
        """Accepted; a warning names those that are not available."""
        names = [entry if isinstance(entry, str) else entry[0] for entry in providers or ()]
        if absent := [name for name in names if name != PROVIDER]:
            warnings.warn(
                f"providers {', '.join(absent)} are not available: Collage chooses its backends by measuring", stacklevel=3
            )

    def disable_fallback(self) -> None:
        """Accepted, without effect."""

    def enable_fallback(self) -> None:
        """Likewise."""

    @property
    def plan(self) -> Any:
        """The Plan that the last run used; None before the first run of a model with open dimensions."""
        return self._runner.plan

    def _checked_feed(self, feed: Mapping[str, Any]) -> dict[str, Any]:
        missing = [name for name in self._input_names if name not in feed]
        if missing:
            raise BadInputError(
                "input/missing", "feed", f"Required inputs ({missing}) are missing from input feed ({list(feed)}).", ""
            )
        return feed if type(feed) is dict else dict(feed)

    def _wanted_positions(self, names: Sequence[str] | None) -> list[int] | None:
        if not names:
            return None
        return [self._positions[self._checked_output(name)] for name in names]

    def _checked_input(self, name: str) -> str:
        if name not in self._input_names:
            raise BadInputError("input/unknown-name", "input", name, ", ".join(self._input_names))
        return name

    def _checked_output(self, name: str) -> str:
        if name not in self._positions:
            raise BadInputError("output/unknown-name", "output", name, ", ".join(self._positions))
        return name
