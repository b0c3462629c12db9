"""Shows how far a tune is: a bar on a terminal or in a notebook.

In: Progress values, one at a time. Out: a line on stderr that is written over, or an element of a notebook.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple, Union

if TYPE_CHECKING:
    from collections.abc import Callable

    Wish = Union[bool, None, Callable[["Progress"], None]]

__all__ = ["Progress"]

WIDTH = 24


class Progress(NamedTuple):
    """How far a call is."""

    phase: str
    """ "import", "record", "price", "search", "confirm", ..."""
    done: int
    total: int
    """0 when it cannot be told."""
    refused: int
    best_us: float
    """The best end-to-end time known so far; 0 when none."""
    left_s: float
    """Until all is done; below 0 when it cannot be told."""
    note: str
    """A message of one line, often ""."""
    rival: str = ""
    """The fastest engine on the whole model; "" when none has run yet."""
    speedup: float = 0.0
    """How many times faster than it the best is; 0 when that is not known."""


def text_of(progress: Progress) -> str:
    """One line without an end of line."""
    words = [f"{progress.phase:<8}"]
    if progress.total:
        filled = WIDTH * min(progress.done, progress.total) // progress.total
        words.append(f"[{'#' * filled}{'.' * (WIDTH - filled)}] {progress.done}/{progress.total}")
    if progress.best_us:
        beside = f" ({progress.speedup:.2f}x of {progress.rival})" if progress.rival and progress.speedup else ""
        words.append(f"best {progress.best_us / 1000:.3f} ms{beside}")
    if progress.left_s >= 0:
        words.append(f"{progress.left_s:.0f} s left")
    return "  ".join(words)


class Silent:
    """Shows nothing."""

    def show(self, progress: Progress) -> None: ...

    def close(self) -> None: ...


class Terminal(Silent):
    """A line that is written over."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._width = 0

    def show(self, progress: Progress) -> None:
        text = text_of(progress)
        if progress.note:
            self._clear()
            self._stream.write(progress.note + "\n")
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)

    def _clear(self) -> None:
        self._stream.write("\r" + " " * self._width + "\r")
        self._width = 0

    def close(self) -> None:
        self._clear()
        self._stream.flush()


class Notebook(Silent):
    """An element of the cell's output that is replaced."""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self._html = HTML
        self._handle = display(HTML(""), display_id=True)

    def show(self, progress: Progress) -> None:
        from html import escape

        share = f' value="{progress.done}" max="{progress.total}"' if progress.total else ""
        self._handle.update(self._html(f"<progress{share}></progress> <code>{escape(text_of(progress))}</code>"))

    def close(self) -> None:
        self._handle.update(self._html(""))


class Told(Silent):
    """Calls a function of the program."""

    def __init__(self, function: Callable[[Progress], None]) -> None:
        self._function = function

    def show(self, progress: Progress) -> None:
        self._function(progress)


def shower(wish: Wish) -> Silent:
    """What shows progress: a function that is given; nothing for False; by default only where somebody looks."""
    if callable(wish):
        return Told(wish)
    if wish is False:
        return Silent()
    shell = sys.modules.get("IPython")
    kernel = shell.get_ipython() if shell is not None and hasattr(shell, "get_ipython") else None
    if kernel is not None and hasattr(kernel, "kernel"):
        return Notebook()
    stream = sys.stderr  # None in a program without a terminal
    if stream is not None and (wish or stream.isatty()):
        return Terminal(stream)
    return Silent()
