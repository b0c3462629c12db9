"""Collage makes ONNX models run faster than any one library: it measures which library should run which part.

    import collage

    plan = collage.tune("detector.onnx", shapes={"x": (1, 3, 640, 640)}, budget="60s")
    print(plan.report)
    session = plan.session()
    outputs = session.run({"x": image})      # NumPy arrays in, NumPy arrays out
    plan.save("detector.collage")            # later: collage.load("detector.collage")

A program that uses ONNX Runtime changes one line:

    session = collage.InferenceSession("detector.onnx", tune="background")

Reference: docs/PYTHON.md.
"""

from __future__ import annotations

import importlib as _importlib
from typing import TYPE_CHECKING

# name -> module that has it. A module is imported when one of its names is first used: an import of the package is cheap.
_HOMES = {
    "Plan": "plan",
    "load": "plan",
    "Session": "_native",
    "Cancel": "_native",
    **dict.fromkeys(
        (
            "Error",
            "DifferenceError",
            "UsageError",
            "BadInputError",
            "UnsupportedError",
            "LimitError",
            "FileAccessError",
            "CancelledError",
            "InternalError",
        ),
        "errors",
    ),
    "Port": "arrays",
    **dict.fromkeys(("backends", "bench", "explain", "recheck", "tune", "verify"), "tuning"),
    **dict.fromkeys(("Report", "TuneReport"), "report"),
    "Progress": "progress",
    **dict.fromkeys(
        (
            "InferenceSession",
            "ModelMetadata",
            "get_all_providers",
            "get_available_providers",
            "get_device",
            "set_default_logger_severity",
            "set_default_logger_verbosity",
        ),
        "inference_session",
    ),
    **dict.fromkeys(
        ("ExecutionMode", "ExecutionOrder", "GraphOptimizationLevel", "RunOptions", "SessionOptions"), "session_options"
    ),
    **dict.fromkeys(("IOBinding", "OrtValue"), "binding"),
    "NodeArg": "onnx_file",
}
_MODULES = ("arrays", "cache", "errors", "extend", "plan", "report", "tuning")

if TYPE_CHECKING:
    from . import extend as extend
    from ._native import Cancel as Cancel
    from ._native import Session as Session
    from .binding import IOBinding as IOBinding
    from .binding import OrtValue as OrtValue
    from .inference_session import InferenceSession as InferenceSession
    from .inference_session import ModelMetadata as ModelMetadata
    from .inference_session import get_all_providers as get_all_providers
    from .inference_session import get_available_providers as get_available_providers
    from .inference_session import get_device as get_device
    from .inference_session import set_default_logger_severity as set_default_logger_severity
    from .inference_session import set_default_logger_verbosity as set_default_logger_verbosity
    from .onnx_file import NodeArg as NodeArg
    from .progress import Progress as Progress
    from .report import Report as Report
    from .report import TuneReport as TuneReport
    from .session_options import ExecutionMode as ExecutionMode
    from .session_options import ExecutionOrder as ExecutionOrder
    from .session_options import GraphOptimizationLevel as GraphOptimizationLevel
    from .session_options import RunOptions as RunOptions
    from .session_options import SessionOptions as SessionOptions
    from .tuning import backends as backends
    from .tuning import bench as bench
    from .tuning import explain as explain
    from .tuning import recheck as recheck
    from .tuning import tune as tune
    from .tuning import verify as verify
    from .arrays import Port as Port
    from .errors import BadInputError as BadInputError
    from .errors import CancelledError as CancelledError
    from .errors import DifferenceError as DifferenceError
    from .errors import Error as Error
    from .errors import FileAccessError as FileAccessError
    from .errors import InternalError as InternalError
    from .errors import LimitError as LimitError
    from .errors import UnsupportedError as UnsupportedError
    from .errors import UsageError as UsageError
    from .plan import Plan as Plan
    from .plan import load as load

    __version__: str

__all__ = sorted(_HOMES)


def __getattr__(name: str):
    if name == "__version__":
        return _importlib.import_module("._native", __name__).version
    if name in _HOMES:
        value = getattr(_importlib.import_module("." + _HOMES[name], __name__), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return _importlib.import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES, "__version__"})
