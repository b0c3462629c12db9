"""Runs a model with whatever plan there is for the shapes of a feed.

In: a model, feeds. Out: lists of outputs. A shape that is new gets the plan that a tune left in the cache, or one that
is tuned now, or one in which an engine takes the whole model; the last few are kept.
Threads: any number at once; each run under way has a session of its own.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from . import _native, cache
from .errors import BadInputError, Error
from .plan import Plan, load, prepare_libraries
from .tuner_call import assignments, model_options, seconds_of, shape_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .onnx_file import ModelOutline, NodeArg

# Sets of shapes whose plans are kept ready. A plan holds a copy of the weights.
MOST_SHAPES = 8

Key = tuple  # of extents, by open input


class ReadyPlan:
    """A plan and the sessions of it that no run uses at the moment."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._idle: list[_native.Session] = []

    def run(self, feed: dict[str, Any], positions: list[int] | None, given: Mapping[str, Any] | None) -> list[Any]:
        try:
            session = self._idle.pop()
        except IndexError:
            session = self.plan.session()
        try:
            if given is None:
                return session._run_list(feed, positions)
            outputs = list(session.run(feed, given).values())
            return outputs if positions is None else [outputs[position] for position in positions]
        finally:
            self._idle.append(session)


class ModelRunner:
    def __init__(
        self,
        model: str | bytes,
        outline: ModelOutline,
        threads: int,
        shapes: Mapping[str, Any],
        tune: str | None,
        budget: str | float | None,
    ) -> None:
        self._model = model
        self._outline = outline
        self._threads = threads
        self._tune = tune
        self._budget = seconds_of(budget)
        self._making = threading.Lock()
        self._ready: OrderedDict[Key, ReadyPlan] = OrderedDict()
        self._extents = {port.name: _bound_extents(port, shapes) for port in outline.inputs}
        self._open = [name for name, extents in self._extents.items() if None in extents]
        self.plan: Plan | None = None
        self._only = None if self._open else self._make(())

    def run(self, feed: dict[str, Any], positions: list[int] | None, given: Mapping[str, Any] | None = None) -> list[Any]:
        """The outputs at these positions; all for None. `given`: arrays by name to write outputs to."""
        ready = self._only if self._only is not None else self._ready_for(feed)
        return ready.run(feed, positions, given)

    def use(self, key: Key, path: str) -> None:
        """Runs with these shapes use the plan in this file from now on."""
        ready = ReadyPlan(load(path))
        with self._making:
            if not self._open:
                self._only, self.plan = ready, ready.plan
            elif key in self._ready:
                self._ready[key] = ready

    def _ready_for(self, feed: dict[str, Any]) -> ReadyPlan:
        key = tuple(_shape_of(feed[name]) for name in self._open)
        ready = self._ready.get(key)
        if ready is None:
            with self._making:
                ready = self._ready.get(key)
                if ready is None:
                    ready = self._ready[key] = self._make(key)
                    if len(self._ready) > MOST_SHAPES:
                        self._ready.popitem(last=False)
        elif len(self._ready) > 1:
            try:
                self._ready.move_to_end(key)
            except KeyError:  # another thread's shape has just taken its place
                pass
        self.plan = ready.plan
        return ready

    def _make(self, key: Key) -> ReadyPlan:
        """Made under the lock, but for the only plan of a model without open inputs."""
        shapes = self._shapes_of(key)
        path = None
        if self._tune is not None:
            path = cache.plan_path(
                self._model, self._outline.external_files, {"shapes": shapes, "threads": self._threads, "accuracy": "standard"}
            )
            if (plan := _cached(path)) is not None:
                return self._made(plan)
            if self._tune == "now":
                return self._made(self._tuned(shapes, path))
        plan = self._unmeasured(shapes)
        if self._tune == "background":
            self._tune_later(key, shapes, path)
        return self._made(plan)

    def _made(self, plan: Plan) -> ReadyPlan:
        self.plan = plan
        return ReadyPlan(plan)

    def _shapes_of(self, key: Key) -> dict[str, tuple[int, ...]]:
        """The extents of all inputs that the model leaves open; inputs that are fixed need no binding."""
        given = dict(zip(self._open, key))
        bound = {port.name: tuple(self._extents[port.name]) for port in self._outline.inputs if _is_open(port)}
        for name, extents in given.items():
            wanted = self._extents[name]
            if len(extents) != len(wanted) or any(w is not None and w != e for w, e in zip(wanted, extents)):
                raise BadInputError("input/wrong-shape", f"input {name}", str(list(extents)), str(wanted))
        return {**bound, **given}

    def _unmeasured(self, shapes: dict[str, tuple[int, ...]]) -> Plan:
        prepare_libraries()
        options = {**model_options(self._model), "threads": self._threads, "shapes": assignments(shapes, shape_text)}
        return Plan(_native.plan_of_model(options))

    def _tuned(self, shapes: dict[str, tuple[int, ...]], path: str) -> Plan:
        """Complete before it takes its place in the cache: another process may look for it."""
        from .tuning import tune

        part = f"{path}.{os.getpid()}.{threading.get_ident()}.part"
        try:
            tune(self._model, part, shapes=shapes, threads=self._threads, budget=self._budget, progress=False)
            os.replace(part, path)
        finally:
            if os.path.exists(part):
                os.unlink(part)
        return load(path)

    def _tune_later(self, key: Key, shapes: dict[str, tuple[int, ...]], path: str) -> None:
        from .background import tune_when_quiet

        tune_when_quiet(self, key, self._model, path, {"shapes": shapes, "threads": self._threads, "budget": self._budget})


def _cached(path: str) -> Plan | None:
    """The plan of an earlier tune; one that cannot be used is made anew."""
    if not os.path.exists(path):
        return None
    try:
        return load(path)
    except Error:
        return None


def _is_open(port: NodeArg) -> bool:
    return any(not isinstance(extent, int) for extent in port.shape)


def _bound_extents(port: NodeArg, shapes: Mapping[str, Any]) -> list[int | None]:
    """The extents that the model or the program fixes; None for those that a feed chooses."""
    if port.name in shapes:
        return [int(extent) for extent in shapes[port.name]]
    return [extent if isinstance(extent, int) else shapes.get(extent) for extent in port.shape]


def _shape_of(array: Any) -> tuple[int, ...]:
    shape = getattr(array, "shape", None)
    if shape is None:
        import numpy as np

        shape = np.shape(array)
    return tuple(shape)
