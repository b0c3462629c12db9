"""Exceptions: what Collage's statuses are in Python."""

from __future__ import annotations

__all__ = [
    "BadInputError",
    "CancelledError",
    "DifferenceError",
    "Error",
    "FileAccessError",
    "InternalError",
    "LimitError",
    "UnsupportedError",
    "UsageError",
]


class Error(Exception):
    """A call failed.

    Attributes:
        code: stable "area/kebab-code", for example "io/cannot-read"
        where: the file, input or argument
        saw: what was found there
        allowed: what would have been accepted; may be ""
        kind: the number that the command `collage` would exit with
    """

    kind = 70

    def __init__(self, code: str, where: str = "", saw: str = "", allowed: str = "") -> None:
        super().__init__(code, where, saw, allowed)
        self.code = code
        self.where = where
        self.saw = saw
        self.allowed = allowed

    def __str__(self) -> str:
        text = f"[{self.code}] {self.where}: saw {self.saw}"
        return f"{text}; allowed {self.allowed}" if self.allowed else text


class DifferenceError(Error):
    """A check found a difference."""

    kind = 1


class UsageError(Error, ValueError):
    """The program called something wrongly."""

    kind = 2


class BadInputError(Error, ValueError):
    """A bad model, plan, shape or input value."""

    kind = 3


class UnsupportedError(Error):
    """A backend or an operator that is not available here."""

    kind = 4


class LimitError(Error):
    """Memory, size or time."""

    kind = 5


class FileAccessError(Error):
    """A file could not be read or written."""

    kind = 6


class CancelledError(Error):
    """The program asked the call to end before there was anything to give."""

    kind = 130


class InternalError(Error):
    """A fault of Collage or of a library behind it."""

    kind = 70


_BY_KIND = {
    kind.kind: kind
    for kind in (
        DifferenceError,
        UsageError,
        BadInputError,
        UnsupportedError,
        LimitError,
        FileAccessError,
        CancelledError,
        InternalError,
    )
}


def error_of(kind: int, code: str, where: str, saw: str, allowed: str) -> Error:
    """The exception for a status; called by the extension module."""
    return _BY_KIND.get(kind, InternalError)(code, where, saw, allowed)
