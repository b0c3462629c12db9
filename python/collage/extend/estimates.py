"""A cost estimator of one's own: how long a candidate takes, as far as a function of the user's can tell."""

from __future__ import annotations

import dataclasses
import importlib
import json
import math
from collections.abc import Callable
from typing import Union

from .region import Region, region_of


@dataclasses.dataclass(frozen=True)
class Candidate:
    """One way to run a region: what an estimator is asked about.

    ``backend`` is an instance, ``variant`` its way, formats are the memory formats of inputs and outputs.
    """

    region: Region
    backend: str
    variant: str
    input_formats: tuple[str, ...]
    output_formats: tuple[str, ...]
    threads: int
    accuracy: str


#: Microseconds of one run, or None when it cannot tell.
Estimator = Callable[[Candidate], Union[float, None]]


def estimator(source: str | Estimator) -> Estimator:
    """The function itself, or the one of a name ``package.module:function``. Errors of the import; TypeError."""
    found: object = source
    if isinstance(source, str):
        module, colon, function = source.partition(":")
        if not colon:
            raise ValueError(f"estimator {source!r}: not of the form package.module:function")
        found = getattr(importlib.import_module(module), function)
    if not callable(found):
        raise TypeError(f"estimator {source!r} is not callable")
    return found


def candidate_from_text(text: str) -> Candidate:
    """The candidate of a description (docs/schemas/candidate.schema.json)."""
    described = json.loads(text)
    return Candidate(
        region=region_of(described["region"], threads=described["threads"]),
        backend=described["backend"],
        variant=described["variant"],
        input_formats=tuple(described["input_formats"]),
        output_formats=tuple(described["output_formats"]),
        threads=described["threads"],
        accuracy=described["accuracy"],
    )


def estimate_us(function: Estimator, text: str) -> float | None:
    """What the function says of a described candidate. TypeError, ValueError when that is no time."""
    answer = function(candidate_from_text(text))
    if answer is None:
        return None
    us = float(answer)
    if not math.isfinite(us) or us <= 0:
        raise ValueError(f"an estimate of {us} us")
    return us
