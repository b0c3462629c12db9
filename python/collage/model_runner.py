"""Runs a model with whatever plan there is for the shapes of a feed.

In: a model, feeds. Out: lists of outputs. A shape that is new gets the plan that a tune left in the cache, or one that
is tuned now, or one in which an engine takes the whole model; the last few are kept.
Threads: any number at once; each run under way has a session of its own.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from . import _native, cache
from .background import BackgroundTuner, Order
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
        modules: list[str],
    ) -> None:
        self._model = model
        self._model_hash = cache.ModelHash(model)
        self._outline = outline
        self._threads = threads
        self._tune = tune
        self._budget = seconds_of(budget)
        self._modules = modules
        self._background = BackgroundTuner(self, model)
        self._making = threading.Lock()
        self._ready: OrderedDict[Key, ReadyPlan] = OrderedDict()
        self._extents = {port.name: _bound_extents(port, shapes, port.name in outline.without_shape) for port in outline.inputs}
        # The model's inputs whose extents a plan is told; those of others it has itself.
        self._bound = [port.name for port in outline.inputs if _is_open(port) or port.name in outline.without_shape]
        self._open = [name for name, extents in self._extents.items() if extents is None or None in extents]
        self.plan: Plan | None = None
        self._only: ReadyPlan | None = None
        if not self._open:
            with self._making:
                self._only = self._make(())

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

    def wants(self, key: Key) -> bool:
        """Would runs use a plan for these shapes?"""
        with self._making:
            return not self._open or key in self._ready

    def _ready_for(self, feed: dict[str, Any]) -> ReadyPlan:
        key = tuple(_shape_of(feed[name]) for name in self._open)
        ready = self._ready.get(key)
        if ready is None:
            with self._making:
                ready = self._ready.get(key)
                if ready is None:
                    ready = self._ready[key] = self._make(key)
                    if len(self._ready) > MOST_SHAPES:
                        self._background.forget(self._ready.popitem(last=False)[0])
        elif len(self._ready) > 1:
            try:
                self._ready.move_to_end(key)
            except KeyError:  # another thread's shape has just taken its place
                pass
        self.plan = ready.plan
        return ready

    def _make(self, key: Key) -> ReadyPlan:
        """Made under the lock: a plan of the background takes its place afterwards."""
        shapes = self._shapes_of(key)
        path = None
        if self._tune is not None:
            options = {"shapes": shapes, "threads": self._threads, "accuracy": "standard", "modules": self._modules}
            path = cache.plan_path(self._model_hash.value(), options)
            if (plan := _cached(path, is_made_anew=self._tune != "cached")) is not None:
                return self._made(plan)
            if self._tune == "now":
                return self._made(self._tuned(shapes, path))
        plan = self._unmeasured(shapes)
        if self._tune == "background":
            options = {"shapes": shapes, "threads": self._threads, "budget": self._budget, "modules": self._modules}
            self._background.ask(Order(key, path, options))
        return self._made(plan)

    def _made(self, plan: Plan) -> ReadyPlan:
        self.plan = plan
        return ReadyPlan(plan)

    def _shapes_of(self, key: Key) -> dict[str, tuple[int, ...]]:
        """The extents of all inputs that the model leaves open; inputs that are fixed need no binding."""
        given = dict(zip(self._open, key))
        bound = {name: tuple(self._extents[name]) for name in self._bound if name not in given}
        for name, extents in given.items():
            wanted = self._extents[name]
            if wanted is None:
                continue
            if len(extents) != len(wanted) or any(w is not None and w != e for w, e in zip(wanted, extents)):
                raise BadInputError("input/wrong-shape", f"input {name}", str(list(extents)), str(wanted))
        return {**bound, **given}

    def _unmeasured(self, shapes: dict[str, tuple[int, ...]]) -> Plan:
        prepare_libraries()
        options = {**model_options(self._model), "threads": self._threads, "shapes": assignments(shapes, shape_text)}
        options["modules"] = self._modules
        return Plan(_native.plan_of_model(options))

    def _tuned(self, shapes: dict[str, tuple[int, ...]], path: str) -> Plan:
        """Complete before it takes its place in the cache: another process may look for it."""
        from .tuning import tune

        cache.make_folder()
        part = f"{path}.{os.getpid()}.{threading.get_ident()}.part"
        try:
            plan = tune(
                self._model,
                part,
                shapes=shapes,
                threads=self._threads,
                budget=self._budget,
                modules=self._modules,
                progress=False,
            )
            if plan.report.interrupted:  # such a plan is not kept for later processes
                raise KeyboardInterrupt
            os.replace(part, path)
        finally:
            if os.path.exists(part):
                os.unlink(part)
        return load(path)


def _cached(path: str, is_made_anew: bool) -> Plan | None:
    """The plan of an earlier tune. One that cannot be used makes room for another one."""
    if not os.path.exists(path):
        return None
    try:
        return load(path)
    except Error:
        if is_made_anew:
            with contextlib.suppress(OSError):
                os.unlink(path)
        return None


def _is_open(port: NodeArg) -> bool:
    return any(not isinstance(extent, int) for extent in port.shape)


def _bound_extents(port: NodeArg, shapes: Mapping[str, Any], has_any_rank: bool) -> list[int | None] | None:
    """The extents that the model or the program fixes; None for those that a feed chooses, and where it chooses the rank."""
    if port.name in shapes:
        return [int(extent) for extent in shapes[port.name]]
    if has_any_rank:
        return None
    extents = [extent if isinstance(extent, int) else shapes.get(extent) for extent in port.shape]
    return [None if extent is None else int(extent) for extent in extents]


def _shape_of(array: Any) -> tuple[int, ...]:
    shape = getattr(array, "shape", None)
    if shape is None:
        import numpy as np

        shape = np.shape(array)
    elif callable(shape):  # of an OrtValue
        shape = shape()
    return tuple(map(int, shape))
