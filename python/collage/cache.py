"""Plans that tunes of this machine wrote, kept on disk and found again.

In: a model, shapes, threads, accuracy. Out: the path of a plan file in $XDG_CACHE_HOME/collage/plans. A file's name is
a hash of all that its plan depends on: the model's bytes and those of its weights' files, shapes, threads, accuracy,
the processor, the version of Collage. Several processes may use the folder at once: files appear whole.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["folder", "plan_path"]


def folder() -> str:
    """Where plans are kept; made when it is absent."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    path = os.path.join(base, "collage", "plans")
    os.makedirs(path, exist_ok=True)
    return path


def plan_path(model: str | os.PathLike[str] | bytes, external_files: list[str], options: Mapping[str, Any]) -> str:
    """Where the plan of this model with these options (shapes, threads, accuracy) is, or is to be written."""
    content = hashlib.sha256()
    if isinstance(model, (bytes, bytearray, memoryview)):
        content.update(model)
    else:
        _add_file(content, os.fspath(model))
        for name in external_files:
            content.update(name.encode())
            _add_file(content, os.path.join(os.path.dirname(os.path.abspath(model)), name))
    content.update(repr(sorted(options.items())).encode())
    content.update(_machine().encode())
    return os.path.join(folder(), content.hexdigest()[:40] + ".collage")


def _add_file(content: Any, path: str) -> None:
    """An absent file has no bytes: the import says what is wrong with the model."""
    try:
        with open(path, "rb") as file:
            while piece := file.read(1 << 20):
                content.update(piece)
    except OSError:
        return


def _machine() -> str:
    """The processor and the version of Collage: what makes other plans best."""
    from . import _native

    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        facts = sorted({line for line in file if line.startswith(("model name", "flags", "cache size"))})
    return "".join([_native.version, str(os.cpu_count()), *facts])
