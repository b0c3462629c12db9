"""Tunes models of a running program when the machine is quiet.

In: a model, options, where the plan goes. Out: a plan in the cache, given to the runner that asked for it.
How: a thread of low cost waits until hardly anything computes, then starts this module as a process of low priority that
tunes. When the machine gets busy the process ends early and starts again in the next quiet time: what it measured is in
the cost store. A lock in the cache's folder lets one process of the machine tune at a time.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

from . import cache

if TYPE_CHECKING:
    from .model_runner import Key, ModelRunner

# Cores that others may use while a tune begins and while it goes on.
QUIET_CORES = 0.3
BUSY_CORES = 0.6
# For so many seconds in a row.
QUIET_S = 5
BUSY_S = 3
DEFAULT_BUDGET_S = 120.0
LEAST_BUDGET_S = 5.0


def tune_when_quiet(runner: ModelRunner, key: Key, model: str | bytes, path: str, options: dict[str, Any]) -> None:
    """Returns at once. The work ends with the runner or with the program."""
    thread = threading.Thread(
        target=_work, args=(weakref.ref(runner), key, model, path, options), daemon=True, name="collage-background"
    )
    thread.start()


class CoreUse:
    """How many cores computed since it was last asked, of the machine and of a group of processes."""

    def __init__(self) -> None:
        self._before: tuple[float, float, int] | None = None
        self._tick = os.sysconf("SC_CLK_TCK")

    def others(self, group: int = 0) -> float | None:
        """None the first time, and when the group is another than the last time."""
        now = (time.monotonic(), _busy_ticks() - _group_ticks(group), group)
        before, self._before = self._before, now
        if before is None or before[2] != group or now[0] <= before[0]:
            return None
        return max(0.0, (now[1] - before[1]) / self._tick / (now[0] - before[0]))


def _busy_ticks() -> int:
    with open("/proc/stat", encoding="ascii") as file:
        fields = [int(word) for word in file.readline().split()[1:]]
    return sum(fields[:8]) - fields[3] - fields[4]  # without idle time and waiting for disks


def _group_ticks(group: int) -> int:
    """Of the processes of a session, their ended children included."""
    total = 0
    for name in os.listdir("/proc") if group else ():
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == group:
            total += sum(int(field) for field in fields[11:15])
    return total


def _work(runner: weakref.ref[ModelRunner], key: Key, model: str | bytes, path: str, options: dict[str, Any]) -> None:
    left = options["budget"] or DEFAULT_BUDGET_S
    with _Lock(os.path.join(cache.folder(), ".lock")) as lock:
        while not lock.take():
            time.sleep(1)
            if runner() is None:
                return
        while left >= LEAST_BUDGET_S and runner() is not None and not os.path.exists(path):
            if not _wait_until_quiet(runner):
                return
            begun = time.monotonic()
            complete = _tune_in_process(runner, model, path, {**options, "budget": left})
            left -= time.monotonic() - begun
            if complete is None:  # it cannot be tuned at all
                return
            if complete or left < LEAST_BUDGET_S:
                break
    used_by = runner()
    if used_by is not None and os.path.exists(path):
        used_by.use(key, path)


def _wait_until_quiet(runner: weakref.ref[ModelRunner]) -> bool:
    use, quiet = CoreUse(), 0
    while quiet < QUIET_S:
        time.sleep(1)
        if runner() is None:
            return False
        cores = use.others()
        if cores is not None:
            quiet = quiet + 1 if cores < QUIET_CORES else 0
    return True


def _tune_in_process(runner: weakref.ref[ModelRunner], model: str | bytes, path: str, options: dict[str, Any]) -> bool | None:
    """Was the tune complete? None if it failed. The plan is at `path` when it was complete."""
    part = f"{path}.{os.getpid()}.part"
    order = {"plan": part, "options": options, "model": model if isinstance(model, str) else None}
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(os.path.dirname(__file__)), *sys.path[1:]])}
    process = subprocess.Popen(
        [sys.executable, "-m", "collage.background", json.dumps(order)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=environment,
    )
    with process:
        try:
            if isinstance(model, bytes):
                process.stdin.write(len(model).to_bytes(8, "little") + model)
                process.stdin.flush()
        except BrokenPipeError:
            pass
        stopped = _watch(runner, process)
        code = process.wait()
    if code == 0 and not stopped and os.path.exists(part):
        os.replace(part, path)
        return True
    if os.path.exists(part):
        os.unlink(part)
    return False if stopped else None


def _watch(runner: weakref.ref[ModelRunner], process: subprocess.Popen) -> bool:
    """Waits for the end of the process; ends it early when others compute. Was it ended early?"""
    use, busy, stopped = CoreUse(), 0, False
    while process.poll() is None:
        time.sleep(1)
        cores = use.others(process.pid)
        if cores is not None:
            busy = busy + 1 if cores > BUSY_CORES else 0
        if not stopped and (busy >= BUSY_S or runner() is None):
            process.send_signal(signal.SIGINT)
            stopped = True
    return stopped


class _Lock:
    """A lock between processes, given back when its holder ends."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "w", encoding="ascii")  # noqa: SIM115: closed by __exit__

    def take(self) -> bool:
        import fcntl

        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def __enter__(self) -> _Lock:
        return self

    def __exit__(self, *problem: object) -> None:
        self._file.close()


def _end_with_the_program() -> None:
    """The program keeps the other end of standard input: it ends when the program does, whichever way."""

    def wait() -> None:
        os.read(0, 1)  # an object of io would be locked when the interpreter ends
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=wait, daemon=True).start()


def main(order_text: str) -> None:
    """The process that tunes."""
    order = json.loads(order_text)
    os.nice(10)
    from .tuning import tune

    model = order["model"]
    if model is None:
        model = _model_from_input()
    _end_with_the_program()
    options = order["options"]
    shapes = {name: tuple(extents) for name, extents in options["shapes"].items()}
    tune(model, order["plan"], shapes=shapes, threads=options["threads"], budget=options["budget"], progress=False)


def _model_from_input() -> bytes:
    def read(count: int) -> bytes:
        pieces = []
        while count > 0 and (piece := os.read(0, min(count, 1 << 20))):
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)

    return read(int.from_bytes(read(8), "little"))


if __name__ == "__main__":
    main(sys.argv[1])
