"""Options of an InferenceSession: the fields and calls of ONNX Runtime's classes of the same names.

In: what a program sets. Out: the number of threads and the sizes of dimensions. What has no meaning here and changes no
result is accepted; what a program would miss is refused by name (UsageError session/option).
"""

from __future__ import annotations

import enum
import os
from typing import Any, NoReturn

from .errors import UsageError

__all__ = ["ExecutionMode", "ExecutionOrder", "GraphOptimizationLevel", "RunOptions", "SessionOptions"]


class GraphOptimizationLevel(enum.IntEnum):
    """Accepted; what runs a model is decided by measuring."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """Accepted; a run is a sequence of steps."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(enum.IntEnum):
    """Accepted."""

    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


def _refused(name: str, saw: Any, allowed: str) -> NoReturn:
    raise UsageError("session/option", f"SessionOptions.{name}", repr(saw), allowed)


class SessionOptions:
    """Options of an InferenceSession.

    intra_op_num_threads is honoured: at most so many threads compute; 0 means one for each core that the process may
    use. Sizes of dimensions are honoured (add_free_dimension_override_by_name). All other fields are accepted and
    without effect, except for those that ask for files or code: these are refused.
    """

    # name -> its default
    _HARMLESS = {
        "enable_cpu_mem_arena": True,
        "enable_mem_pattern": True,
        "enable_mem_reuse": True,
        "execution_mode": ExecutionMode.ORT_SEQUENTIAL,
        "execution_order": ExecutionOrder.DEFAULT,
        "graph_optimization_level": GraphOptimizationLevel.ORT_ENABLE_ALL,
        "inter_op_num_threads": 0,
        "intra_op_num_threads": 0,
        "log_severity_level": -1,
        "log_verbosity_level": 0,
        "logid": "",
        "profile_file_prefix": "onnxruntime_profile_",
        "use_deterministic_compute": False,
        "use_per_session_threads": True,
    }
    # name -> (default, what to do in place of it)
    _REFUSED = {
        "enable_profiling": (False, "False; `collage run --profile` shows the times of steps"),
        "optimized_model_filepath": ("", '""; Plan.save writes what was decided'),
    }

    def __init__(self) -> None:
        vars(self).update(self._HARMLESS)
        vars(self).update({name: default for name, (default, _) in self._REFUSED.items()})
        vars(self).update(_dimensions={}, _config={}, _modules=[])

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._REFUSED:
            default, allowed = self._REFUSED[name]
            if value != default:
                _refused(name, value, allowed)
        elif name not in self._HARMLESS:
            raise AttributeError(f"SessionOptions has no field {name!r}")
        elif name.endswith("_num_threads") and (not isinstance(value, int) or value < 0):
            _refused(name, value, "0 or more")
        vars(self)[name] = value

    def add_free_dimension_override_by_name(self, dim_name: str, dim_value: int) -> None:
        """Gives a named open dimension this extent."""
        self._dimensions[dim_name] = int(dim_value)

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Kept and given back; without effect."""
        self._config[str(key)] = str(value)

    def get_session_config_entry(self, key: str) -> str:
        if key not in self._config:
            raise UsageError("session/option", "SessionOptions", f"no entry {key!r}", "one that was added")
        return self._config[key]

    def has_session_config_entry(self, key: str) -> bool:
        return key in self._config

    def add_free_dimension_override_by_denotation(self, denotation: str, dim_value: int) -> None:
        """Refused."""
        _refused("add_free_dimension_override_by_denotation", denotation, "add_free_dimension_override_by_name")

    def register_custom_ops_library(self, path: str) -> None:
        """ONNX Runtime runs this library's operators; the other backends place the rest of the model."""
        self._modules.append("operators:" + os.path.abspath(os.fspath(path)))

    def add_initializer(self, name: str, value: Any) -> None:
        """Refused: weights are those of the model."""
        _refused("add_initializer", name, "weights in the model")

    def add_external_initializers(self, names: Any, values: Any) -> None:
        """Refused: weights are those of the model."""
        _refused("add_external_initializers", names, "weights in the model or in its files")

    def add_provider(self, name: str, options: Any) -> None:
        """Accepted, without effect: backends are chosen by measuring."""

    @property
    def threads(self) -> int:
        """How many threads may compute."""
        return self.intra_op_num_threads or max(1, len(os.sched_getaffinity(0)))


class RunOptions:
    """Accepted for a run; without effect. A run with a field `terminate` that is true is refused."""

    def __init__(self) -> None:
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self.only_execute_path_to_fetches = False
        self.terminate = False
        self.training_mode = False
        self._config: dict[str, str] = {}

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Kept and given back; without effect."""
        self._config[str(key)] = str(value)

    def get_run_config_entry(self, key: str) -> str:
        return self._config[key]


def check_run_options(run_options: Any) -> None:
    """Raises UsageError session/option for a run that is to end before it begins."""
    if run_options is not None and getattr(run_options, "terminate", False):
        raise UsageError("session/option", "RunOptions.terminate", "True", "False; a run cannot be ended early")
