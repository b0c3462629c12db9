"""Plans that tunes of this machine wrote, kept on disk and found again.

In: a model, shapes, threads, accuracy. Out: the path of a plan file in $XDG_CACHE_HOME/collage/plans. A file's name is
a hash of all that its plan depends on: the model's bytes and those of its weights' files, shapes, threads, accuracy,
the processor, the version of Collage. Several processes may use the folder at once: files appear whole.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

from .errors import FileAccessError
from .onnx_file import external_files

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ModelHash", "folder", "make_folder", "plan_path"]


def folder() -> str:
    """Where plans are kept. It need not be there."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "collage", "plans")


def make_folder() -> str:
    """The folder, to write to. Raises FileAccessError io/cannot-write."""
    path = folder()
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as problem:
        raise FileAccessError("io/cannot-write", path, problem.strerror or str(problem), "a folder for plans") from None
    return path


def plan_path(model_hash: bytes, options: Mapping[str, Any]) -> str:
    """Where the plan of this model with these options (shapes, threads, accuracy) is, or is to be written."""
    content = hashlib.sha256(model_hash)
    content.update(repr(sorted(options.items())).encode())
    content.update(_machine().encode())
    return os.path.join(folder(), content.hexdigest()[:40] + ".collage")


class ModelHash:
    """The hash of a model and of the files of its weights, which are read again only after one of them changed."""

    def __init__(self, model: str | bytes) -> None:
        self._model = model
        self._paths: list[str] = []
        self._stamps: list[Any] = []
        self._hash = b""

    def value(self) -> bytes:
        if isinstance(self._model, bytes):
            self._hash = self._hash or hashlib.sha256(self._model).digest()
        elif not self._hash or self._stamps != [_stamp(path) for path in self._paths]:
            self._read_files(self._model)
        return self._hash

    def _read_files(self, model: str) -> None:
        names = external_files(model)
        folder = os.path.dirname(os.path.abspath(model))
        self._paths = [model, *(os.path.join(folder, name) for name in names)]
        self._stamps = [_stamp(path) for path in self._paths]
        content = hashlib.sha256(repr(names).encode())
        for path in self._paths:
            content.update(_hash_of_file(path))
        self._hash = content.digest()


def _stamp(path: str) -> Any:
    """Differs when the file was written or replaced."""
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def _hash_of_file(path: str) -> bytes:
    """An absent file has no bytes: the import says what is wrong with the model."""
    content = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while piece := file.read(1 << 20):
                content.update(piece)
    except OSError:
        pass
    return content.digest()


def _machine() -> str:
    """The processor and the version of Collage: what makes other plans best."""
    from . import _native

    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        facts = sorted({line for line in file if line.startswith(("model name", "flags", "cache size"))})
    return "".join([_native.version, str(os.cpu_count()), *facts])
