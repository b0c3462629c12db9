"""Plans: loaded once, run by sessions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, BinaryIO

from . import _native
from .errors import FileAccessError, UsageError

if TYPE_CHECKING:
    from .arrays import Port
    from .report import TuneReport

__all__ = ["Plan", "load"]


class Plan:
    """A tuned model, ready to run. Made by tune() or load(); may be shared by threads."""

    def __init__(self, native: _native.Plan, source: Any = None, report: TuneReport | None = None) -> None:
        self._native = native
        self._source = source
        self._report = report

    def session(self) -> _native.Session:
        """A session of its own memory. Make one for each thread.

        Raises LimitError runtime/out-of-memory, UnsupportedError backend/*.
        """
        return self._native.session()

    @property
    def inputs(self) -> list[Port]:
        """In the model's order: name, dtype, shape. Extents that a session chooses are their name or None."""
        return self._native.inputs

    @property
    def outputs(self) -> list[Port]:
        """Likewise."""
        return self._native.outputs

    @property
    def threads(self) -> int:
        """At most so many threads compute in one run, the caller's included."""
        return self._native.threads

    @property
    def verdict(self) -> tuple[str, list[str]]:
        """Whether the plan fits the backends found here: "same", "usable" (right results, perhaps other times) or
        "refused", and the reasons."""
        return self._native.verdict

    @property
    def metadata(self) -> dict[str, Any]:
        """Model, shapes, accuracy, backends, number of steps: schema collage.plan-metadata/1."""
        import json

        return json.loads(self._native.metadata)

    @property
    def report(self) -> TuneReport | None:
        """What the tune found; None for a plan that was loaded."""
        return self._report

    def to_bytes(self) -> bytes:
        """The plan file. Raises UsageError plan/not-a-file for a plan that was made without measuring."""
        source = self._file()
        if isinstance(source, (str, os.PathLike)):
            with open(source, "rb") as file:
                return file.read()
        return bytes(source)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the plan file; an existing file is replaced when the new one is complete on disk."""
        import secrets

        source = self._file()
        part = os.path.join(os.path.dirname(os.path.abspath(path)), f".collage-{secrets.token_hex(8)}")
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with open(descriptor, "wb") as file:
                _write(source, file)
                file.flush()
                os.fsync(descriptor)
            os.replace(part, path)
        except BaseException:
            os.unlink(part)
            raise

    def _file(self) -> Any:
        if self._source is None:
            raise UsageError("plan/not-a-file", "plan", "a plan made without measuring", "one of tune() or load()")
        return self._source

    def __repr__(self) -> str:
        def shown(ports: list[Port]) -> str:
            return ", ".join(
                f"{port.name}: {port.dtype}[{','.join('?' if e is None else str(e) for e in port.shape or ())}]" for port in ports
            )

        return f"<collage.Plan ({shown(self.inputs)}) -> ({shown(self.outputs)})>"


def _write(source: Any, file: BinaryIO) -> None:
    """A plan file, given by its path or its bytes."""
    import shutil

    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as original:
            shutil.copyfileobj(original, file)
    else:
        file.write(source)


def load(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview,
    *,
    threads: int = 0,
    signed_by: str | os.PathLike[str] | None = None,
) -> Plan:
    """A plan file that `collage tune` or Plan.save wrote, by its path or its bytes.

    threads: 0, or the number the plan was tuned for, which is the only other one allowed.
    signed_by: a file of public keys (PEM), or their text: one of them must have signed the plan (`collage sign`). The
        signature is checked over the bytes that are then used.

    Raises FileAccessError io/cannot-read; BadInputError plan/damaged, plan/is-a-model, plan/other-threads,
    signature/*; UnsupportedError plan/missing-backend.
    """
    prepare_libraries()
    keys = None if signed_by is None else _keys(signed_by)
    if isinstance(source, (bytes, bytearray, memoryview)):
        kept = bytes(source)
        return Plan(_native.Plan.load_memory(kept, threads, keys), kept)
    path = os.path.abspath(os.fspath(source))
    return Plan(_native.Plan.load_file(path, threads, keys), path)


def _keys(signed_by: str | os.PathLike[str]) -> str:
    """The text of PEM files, given as such or by its path."""
    if isinstance(signed_by, str) and signed_by.lstrip().startswith("-----BEGIN"):
        return signed_by
    try:
        with open(signed_by, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError as error:
        raise FileAccessError("io/cannot-read", os.fspath(signed_by), error.strerror, "a readable file") from error


def prepare_libraries() -> None:
    """Tells the backends where this Python keeps libraries of engines: COLLAGE_LIBRARY_PATH, for this process and
    the workers that it starts."""
    import site
    import sysconfig

    folders = [sysconfig.get_path("platlib"), sysconfig.get_path("purelib")]
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    before = os.environ.get("COLLAGE_LIBRARY_PATH", "")
    known = [folder for folder in before.split(":") if folder]
    after = ":".join(dict.fromkeys([*known, *filter(None, folders)]))
    if after != before:  # engines' threads may read the environment: it is left alone where it is right
        os.environ["COLLAGE_LIBRARY_PATH"] = after
