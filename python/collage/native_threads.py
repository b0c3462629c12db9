"""Threads that call the extension module, and the end of the program.

In: functions. Out: daemon threads that run them. A thread that comes back from the extension module while the interpreter
ends is unwound by it, which C++ answers with an abort. So the end of the program asks these threads to end and waits a
while for them.
"""

from __future__ import annotations

import atexit
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# The longest that the end of a program waits for all of them.
END_S = 10.0

_running: dict[threading.Thread, Callable[[], None]] = {}


def start(work: Callable[[], None], name: str, ask_to_end: Callable[[], None] = lambda: None) -> None:
    """`ask_to_end` is called by the main thread when the program ends."""

    def run() -> None:
        try:
            work()
        finally:
            _running.pop(threading.current_thread(), None)

    thread = threading.Thread(target=run, daemon=True, name=name)
    _running[thread] = ask_to_end
    thread.start()


def _end_all() -> None:
    for ask_to_end in list(_running.values()):
        ask_to_end()
    until = time.monotonic() + END_S
    for thread in list(_running):
        thread.join(max(0.0, until - time.monotonic()))


atexit.register(_end_all)
