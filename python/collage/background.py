"""Tunes models of a running program when the machine is quiet.

In: a model, options, where the plan goes. Out: a plan in the cache, given to the runner that asked for it.
How: a thread of low cost for each runner waits until hardly anything computes, then starts this module as a process of
low priority that tunes. When the machine gets busy the process ends early and starts again in the next quiet time: what
it measured is in the cost store. A lock in the cache's folder lets one process of the machine tune at a time.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from . import cache, native_threads
from .errors import Error

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
# A process that was asked to end has so long to do so.
STOP_S = 20.0


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


class Order(NamedTuple):
    """A plan that runs with some shapes would use."""

    key: Key
    path: str
    options: dict[str, Any]


class BackgroundTuner:
    """Tunes for one runner, one order after another, in a thread that lives as long as there are orders."""

    def __init__(self, runner: ModelRunner, model: str | bytes) -> None:
        self._runner = weakref.ref(runner)
        self._model = model
        self._lock = threading.Lock()
        self._orders: deque[Order] = deque()
        self._is_working = False
        self._ending = threading.Event()

    def ask(self, order: Order) -> None:
        """Returns at once. The work ends with the runner, with its need of the plan, or with the program."""
        with self._lock:
            self._orders.append(order)
            if self._is_working:
                return
            self._is_working = True
        native_threads.start(self._work, "collage-background", self._ending.set)

    def forget(self, key: Key) -> None:
        """The runner has dropped these shapes."""
        with self._lock:
            self._orders = deque(order for order in self._orders if order.key != key)

    def _next(self) -> Order | None:
        with self._lock:
            self._is_working = bool(self._orders) and not self._ending.is_set() and self._runner() is not None
            return self._orders.popleft() if self._is_working else None

    def _work(self) -> None:
        while (order := self._next()) is not None:
            try:
                self._serve(order)
            except (Error, OSError):  # nowhere to write, or no usable plan: runs go on with what they have
                pass

    def _serve(self, order: Order) -> None:
        budget = order.options["budget"] or DEFAULT_BUDGET_S
        least, left = min(LEAST_BUDGET_S, budget), budget
        with _Lock(os.path.join(cache.make_folder(), ".lock")) as lock:
            while not lock.take():
                if not self._is_wanted_after(order, 1):
                    return
            while left >= least and not os.path.exists(order.path):
                if not self._wait_until_quiet(order):
                    return
                begun = time.monotonic()
                complete = self._tune_in_process(order, left)
                left -= time.monotonic() - begun
                if complete is None:  # it cannot be tuned at all
                    return
        runner = self._runner()
        if runner is not None and os.path.exists(order.path):
            runner.use(order.key, order.path)

    def _is_wanted_after(self, order: Order, seconds: float) -> bool:
        """Would the runner still use the plan after so many seconds? No at once when the program ends."""
        if self._ending.wait(seconds):
            return False
        runner = self._runner()
        return runner is not None and runner.wants(order.key)

    def _wait_until_quiet(self, order: Order) -> bool:
        use, quiet = CoreUse(), 0
        while quiet < QUIET_S:
            if not self._is_wanted_after(order, 1):
                return False
            cores = use.others()
            if cores is not None:
                quiet = quiet + 1 if cores < QUIET_CORES else 0
        return True

    def _tune_in_process(self, order: Order, budget: float) -> bool | None:
        """Was the tune complete? None if it failed. The plan is at the order's path when it was complete."""
        part = f"{order.path}.{os.getpid()}.part"
        process = _started(part, {**order.options, "budget": budget}, self._model)
        try:
            _send(process, self._model)
            stopped = self._watch(order, process)
        finally:
            with contextlib.suppress(OSError):
                process.stdin.close()  # it ends by itself when it has not ended yet
        if process.returncode == 0 and os.path.exists(part):
            os.replace(part, order.path)
            return True
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
        return False if stopped else None

    def _watch(self, order: Order, process: subprocess.Popen) -> bool:
        """Waits for the end of the process, or of the program; ends it early when others compute. Was it ended early?"""
        use, busy, stopped_at = CoreUse(), 0, None
        while process.poll() is None:
            is_wanted = self._is_wanted_after(order, 1)
            if self._ending.is_set():
                return True
            cores = use.others(process.pid)
            if cores is not None:
                busy = busy + 1 if cores > BUSY_CORES else 0
            if stopped_at is None and (busy >= BUSY_S or not is_wanted):
                process.send_signal(signal.SIGINT)
                stopped_at = time.monotonic()
            elif stopped_at is not None and time.monotonic() - stopped_at >= STOP_S:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        return stopped_at is not None


def _started(part: str, options: dict[str, Any], model: str | bytes) -> subprocess.Popen:
    order = {"plan": part, "options": options, "model": model if isinstance(model, str) else None}
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(os.path.dirname(__file__)), *sys.path[1:]])}
    return subprocess.Popen(
        [sys.executable, "-m", "collage.background", json.dumps(order)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=environment,
    )


def _send(process: subprocess.Popen, model: str | bytes) -> None:
    """A model that has no path; the process reads it before anything else."""
    if isinstance(model, bytes):
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(len(model).to_bytes(8, "little") + model)
            process.stdin.flush()


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
        import fcntl

        fcntl.flock(self._file, fcntl.LOCK_UN)  # a process that was forked meanwhile has the file open, too
        self._file.close()


def _end_with_the_program() -> None:
    """The program keeps the other end of standard input: it ends when the program does, whichever way."""

    def wait() -> None:
        os.read(0, 1)  # an object of io would be locked when the interpreter ends
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=wait, daemon=True).start()


def main(order_text: str) -> None:
    """The process that tunes. It leaves a plan where it was told to when it was not ended early."""
    # A program that a shell runs in the background has the signal ignored, and so have its processes.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    order = json.loads(order_text)
    os.nice(10)
    from .tuning import tune

    model = order["model"]
    if model is None:
        model = _model_from_input()
    _end_with_the_program()
    options = order["options"]
    shapes = {name: tuple(extents) for name, extents in options["shapes"].items()}
    plan = tune(model, order["plan"], shapes=shapes, threads=options["threads"], budget=options["budget"], progress=False)
    if plan.report.interrupted:
        os.unlink(order["plan"])


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
