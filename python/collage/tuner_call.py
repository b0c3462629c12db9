"""Calls of the tuner: options as it takes them, progress, Ctrl-C.

In: what a program gave to a function of tuning.py. Out: a report of the extension module. The call is made by a thread of
its own, so that Ctrl-C reaches the program at once.
"""

from __future__ import annotations

import os
import tempfile
import threading
from typing import TYPE_CHECKING, Any, Union

from . import _native, native_threads
from .errors import UsageError
from .plan import Plan, prepare_libraries
from .progress import Progress, shower
from .python_worker import worker_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .progress import Wish

    Model = Union[str, os.PathLike[str], bytes]
    Shapes = Union[Mapping[str, Any], Sequence[str]]
    Names = Union[str, Sequence[str]]


def seconds_of(budget: str | float | None) -> float | None:
    """Of 60, "60", "60s", "9m" or "1h"."""
    if budget is None or isinstance(budget, (int, float)):
        return budget
    text = budget.strip()
    factor = {"s": 1, "m": 60, "h": 3600}.get(text[-1:], 0)
    try:
        return float(text[:-1]) * factor if factor else float(text)
    except ValueError:
        raise UsageError("tune/bad-budget", "budget", repr(budget), 'seconds, or a text such as "60s", "9m"') from None


def model_options(model: Model) -> dict[str, Any]:
    if isinstance(model, (bytes, bytearray, memoryview)):
        return {"model_bytes": bytes(model)}
    return {"model": os.fspath(model)}


def path_or_none(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else os.fspath(path)


def names_of(names: Names | None) -> list[str] | None:
    return [names] if isinstance(names, str) else None if names is None else [str(name) for name in names]


def assignments(given: Shapes | None, text_of: Callable[[Any], str]) -> list[str] | None:
    """ "NAME=VALUE" of each entry of a mapping, or the texts of a sequence as they are."""
    if given is None or isinstance(given, str):
        return None if given is None else [given]
    if hasattr(given, "items"):
        return [f"{name}={text_of(value)}" for name, value in given.items()]
    return [str(text) for text in given]


def shape_text(shape: Any) -> str:
    if isinstance(shape, range):
        if shape.step != 1 or len(shape) == 0:
            raise UsageError("tune/bad-range", "shapes", repr(shape), "a range with step 1, such as range(1, 9)")
        return f"{shape.start}..{shape.stop - 1}"
    if isinstance(shape, str) or not hasattr(shape, "__iter__"):
        return str(shape)
    return "x".join(str(int(extent)) for extent in shape)


def range_text(bounds: Any) -> str:
    return bounds if isinstance(bounds, str) else f"{bounds[0]}..{bounds[1]}"


def rules_options(rules: Any, text: str | None) -> dict[str, Any]:
    """A path, or the text of extend.Rules."""
    if rules is None or isinstance(rules, (str, os.PathLike)):
        return {"rules": path_or_none(rules), "rules_text": text}
    return {"rules_text": str(rules) + (text or "")}


def answering(estimate: Any, use: str) -> dict[str, Any]:
    """An estimator as the extension module calls it: JSON text in, microseconds out."""
    if use not in ("first", "only"):
        raise UsageError("tune/bad-estimate", "estimates", repr(use), '"first" or "only"')
    if estimate is None:
        return {}
    import functools

    from .extend import estimates

    return {
        "estimate": functools.partial(estimates.estimate_us, estimates.estimator(estimate)),
        "estimates_only": use == "only",
    }


class AsPath:
    """The path of a plan; one that has no file gets a temporary one."""

    def __init__(self, plan: Any) -> None:
        self._plan = plan
        self._made: str | None = None

    def __enter__(self) -> str:
        if isinstance(self._plan, (bytes, bytearray, memoryview)):
            raise UsageError("tune/not-a-path", "plan", "bytes", "a Plan, or a path")
        if not isinstance(self._plan, Plan):
            return os.fspath(self._plan)
        source = self._plan._file()
        if isinstance(source, str):
            return source
        with tempfile.NamedTemporaryFile(prefix="collage-", suffix=".collage", delete=False) as file:
            self._made = file.name
        try:
            self._plan.save(self._made)
        except BaseException:
            self.__exit__()
            raise
        return self._made

    def __exit__(self, *problem: object) -> None:
        if self._made:
            os.unlink(self._made)


class Latest:
    """The newest progress and what has a note, given by the working thread and shown by the waiting one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: list[Progress] = []

    def give(self, *values: Any) -> None:
        with self._lock:
            if self._values and not self._values[-1].note:
                self._values.pop()
            self._values.append(Progress(*values))

    def take(self) -> list[Progress]:
        with self._lock:
            values, self._values = self._values, []
        return values


def call_tuner(
    function: Callable[[dict[str, Any]], _native.Report],
    options: dict[str, Any],
    store: str | None,
    modules: Names | None,
    progress: Wish,
) -> _native.Report:
    """Calls the tuner in a thread and shows progress until it is done. Ctrl-C asks it to end early; a second one leaves."""
    prepare_libraries()
    cancel, latest = _native.Cancel(), Latest()
    context = {"store": store, "modules": names_of(modules), "cancel": cancel, "progress": latest.give}
    context["worker"] = worker_of(options, context["modules"] or [])
    results: list[_native.Report] = []
    problems: list[BaseException] = []
    done = threading.Event()

    def work() -> None:
        try:
            results.append(function({**options, **context}))
        except BaseException as problem:
            problems.append(problem)
        finally:
            done.set()

    shown = shower(progress)
    interrupted = False
    try:
        native_threads.start(work, "collage", cancel.now)
        while not done.is_set():
            try:
                done.wait(0.1)
                for news in latest.take():
                    shown.show(news)
            except KeyboardInterrupt:
                cancel.now()
                if interrupted:
                    raise
                interrupted = True
            except BaseException:
                cancel.now()
                done.wait()
                raise
        for news in latest.take():
            shown.show(news)
    finally:
        shown.close()
    if problems:
        if interrupted:
            raise KeyboardInterrupt from problems[0]
        raise problems[0]
    return results[0]
