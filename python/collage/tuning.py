"""tune and its relatives: functions of the command `collage` for programs.

In: models and plans, options under the names of the command's. Out: plans and reports. What is measured runs in
processes of its own.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from typing import TYPE_CHECKING

from . import _native
from .plan import Plan, load
from .report import Report, TuneReport
from .tuner_call import (
    AsPath,
    answering,
    assignments,
    call_tuner,
    model_options,
    names_of,
    path_or_none,
    range_text,
    rules_options,
    seconds_of,
    shape_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .extend import Estimator, Rules
    from .progress import Wish
    from .tuner_call import Model, Names, Shapes

__all__ = ["backends", "bench", "explain", "recheck", "tune", "verify"]


def tune(
    model: Model,
    plan: str | os.PathLike[str] | None = None,
    *,
    shapes: Shapes | None = None,
    at: Names | None = None,
    points: int | None = None,
    budget: str | float | None = None,
    schedule_budget: str | float | None = None,
    threads: int = 1,
    accuracy: str = "standard",
    backends: Names | None = None,
    only: str | None = None,
    ban: Shapes | None = None,
    pin: Shapes | None = None,
    rules: str | os.PathLike[str] | Rules | None = None,
    rules_text: str | None = None,
    estimate: str | Estimator | None = None,
    estimates: str = "first",
    passes_off: Names | None = None,
    input_ranges: Shapes | None = None,
    seed: int = 1,
    memory_cap: int | None = None,
    measure_all: bool = False,
    for_library: bool = False,
    portable: bool = False,
    trust_models: bool = False,
    limits: Mapping[str, int] | None = None,
    store: str | None = None,
    modules: Names | None = None,
    progress: Wish = None,
) -> Plan:
    """Measures which library should run which part of a model, and gives the best plan found.

    model
        path of an ONNX file, or its bytes (without external data)
    plan
        path to write the plan file to; without one it is a temporary file, until Plan.save
    shapes
        extents of inputs or of named dimensions: {"x": (1, 3, 640, 640)}, {"batch": 8}; a range makes a plan for many
        shapes: {"batch": range(1, 9)} or {"batch": "1..8"}. Texts are as on the command line: ["x=1x3x640x640"].
    at, points
        with ranges: shapes that get a plan of their own ("batch=4" or "batch=4:2" with a weight); most shapes sampled
    budget
        seconds, or "60s", "9m"; default 60 seconds
    schedule_budget
        in addition, for searching schedules of kernels; default 0
    threads
        at most so many threads compute
    accuracy
        "strict", "standard", "fast", or bounds like "max=1e-2,mean=1e-3,cosine>=0.999": what counts as the same numbers
    backends
        those that may run nodes and compete; default all usual ones. only: one that runs what it supports
    ban, pin
        {"GLOB": "NAME"}: the backend does not run nodes with these names; no other one does
    rules, rules_text
        path of a file of rules, or extend.Rules; or the text of a file
    estimate, estimates
        a function of extend.Candidate that gives microseconds or None, or its name "package.module:function"; "first":
        it says what is measured first, "only": what it gives is the cost and is not measured
    passes_off
        passes over the graph that are left out
    input_ranges
        {"x": (0, 255)}: of generated inputs
    seed, memory_cap
        of inputs and random choices; most bytes a plan may need while it runs
    measure_all
        measure every candidate, not only those that a best plan may need
    for_library
        only what `collage export` can link into a library takes nodes
    portable
        kernels for processors with fewer instructions too, compiled after the budget
    trust_models
        read the model in this process, not in one that a hostile file cannot leave
    limits
        {"nodes": 2_000_000}: how much the model may ask for, of what `collage limits` lists
    store, modules
        of costs: a path or "memory:"; folders or files of further backends
    progress
        None shows a bar on a terminal or in a notebook, True always, False never; or a function of a Progress

    Ctrl-C ends the tune early: the best plan so far is returned, and its report says interrupted. Tunes share the
    machine's cores: times are only right when nothing else computes.

    Raises BadInputError import/*, shape/*; UnsupportedError backend/*; FileAccessError io/*; KeyboardInterrupt when
    there was no plan yet.
    """
    temporary = None
    if plan is None:
        temporary = tempfile.NamedTemporaryFile(prefix="collage-", suffix=".collage", delete=False)
        temporary.close()
    path = temporary.name if temporary else os.path.abspath(os.fspath(plan))
    options = {
        **model_options(model),
        "plan": path,
        "shapes": assignments(shapes, shape_text),
        "at": names_of(at),
        "points": points,
        "budget_s": seconds_of(budget),
        "schedule_budget_s": seconds_of(schedule_budget),
        "threads": threads,
        "accuracy": accuracy,
        "backends": names_of(backends),
        "only": only,
        "bans": assignments(ban, str),
        "pins": assignments(pin, str),
        **rules_options(rules, rules_text),
        **answering(estimate, estimates),
        "passes_off": names_of(passes_off),
        "input_ranges": assignments(input_ranges, range_text),
        "seed": seed,
        "memory_cap": memory_cap,
        "measure_all": measure_all,
        "for_library": for_library,
        "portable": portable,
        "trust_models": trust_models,
        "limits": assignments(limits, str),
    }
    try:
        report = TuneReport(call_tuner(_native.tune, options, store, modules, progress))
        made = load(path)
    except BaseException:
        if temporary:
            os.unlink(path)
        raise
    made._report = report
    if temporary:
        weakref.finalize(made, os.unlink, path)
    return made


def bench(
    plan: Plan | str | os.PathLike[str],
    *,
    model: str | os.PathLike[str] | None = None,
    shapes: Shapes | None = None,
    against: Names | None = None,
    threads: int | None = None,
    seconds: float | None = None,
    seed: int = 1,
    input_ranges: Shapes | None = None,
    trust_models: bool = False,
    limits: Mapping[str, int] | None = None,
    modules: Names | None = None,
    progress: Wish = None,
) -> Report:
    """Times a plan, or a model, against whole-model engines in interleaved rounds.

    plan: a Plan, or a path of a plan or of a model. model: where the plan's model is now. against: engines, or paths of
    plans of the same model; default the usual rivals. threads: default as the plan was tuned. seconds: default 5.
    trust_models: models are read in this process. limits: as in tune.
    """
    with AsPath(plan) as path:
        options = {
            "plan": path,
            "model": path_or_none(model),
            "shapes": assignments(shapes, shape_text),
            "against": names_of(against),
            "threads": threads,
            "seconds": seconds,
            "seed": seed,
            "input_ranges": assignments(input_ranges, range_text),
            "trust_models": trust_models,
            "limits": assignments(limits, str),
        }
        return Report(call_tuner(_native.bench, options, None, modules, progress))


def verify(
    plan: Plan | str | os.PathLike[str],
    *,
    model: str | os.PathLike[str] | None = None,
    shapes: Shapes | None = None,
    seeds: int = 1,
    seed: int = 1,
    input_ranges: Shapes | None = None,
    trust_models: bool = False,
    limits: Mapping[str, int] | None = None,
    modules: Names | None = None,
    progress: Wish = None,
) -> Report:
    """Compares a plan's outputs with the reference. The report is true when all agree.

    seeds: how many sets of inputs. shapes: of a plan of many shapes, which. trust_models: the model is read in this process.
    limits: as in tune.
    """
    with AsPath(plan) as path:
        options = {
            "plan": path,
            "model": path_or_none(model),
            "shapes": assignments(shapes, shape_text),
            "seeds": seeds,
            "seed": seed,
            "input_ranges": assignments(input_ranges, range_text),
            "trust_models": trust_models,
            "limits": assignments(limits, str),
        }
        return Report(call_tuner(_native.verify, options, None, modules, progress))


def recheck(
    plan: Plan | str | os.PathLike[str],
    *,
    model: str | os.PathLike[str] | None = None,
    always: bool = False,
    seed: int = 1,
    limits: Mapping[str, int] | None = None,
    modules: Names | None = None,
    progress: Wish = None,
) -> Report:
    """Whether a plan still fits this machine; the report is true when it need not be tuned again.

    always: measures even if neither machine nor builds differ. limits: as in tune.
    """
    with AsPath(plan) as path:
        options = {
            "plan": path,
            "model": path_or_none(model),
            "always": always,
            "seed": seed,
            "limits": assignments(limits, str),
        }
        return Report(call_tuner(_native.recheck, options, None, modules, progress))


def explain(
    plan: Plan | str | os.PathLike[str],
    *,
    shapes: Shapes | None = None,
    node: str | None = None,
    why_not: str | None = None,
    modules: Names | None = None,
) -> Report:
    """Who runs what in a plan, and why.

    shapes: of a plan of many shapes, which. node: a glob; only the steps that compute these nodes. why_not:
    "NODE=BACKEND", why the backend does not run the node.
    """
    with AsPath(plan) as path:
        options = {"plan": path, "shapes": assignments(shapes, shape_text), "node": node, "why_not": why_not}
        return Report(call_tuner(_native.explain, options, None, modules, False))


def backends(*, store: str | None = None, modules: Names | None = None) -> Report:
    """The backends found, their versions, and why others are not usable."""
    return Report(call_tuner(_native.backends, {}, store, modules, False))
