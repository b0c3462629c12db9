"""Backends, patterns, rules and cost estimators of one's own, in Python (docs/PYTHON_EXTENSIONS.md)."""

from .estimates import Candidate, Estimator, estimator
from .functions import RegionFunction, backend, region_function
from .patterns import Operand, Pattern, anything, constant, more, op, same, value
from .region import Node, Region, Value
from .rules import (
    Grow,
    Rule,
    Rules,
    combine,
    follow,
    grow,
    grow_operands,
    label,
    matches,
    maximal,
    named,
    operators,
    parallel,
    singles,
    taken,
    union,
    up_to,
    valid,
)

__all__ = [
    "Candidate", "Estimator", "Grow", "Node", "Operand", "Pattern", "Region", "RegionFunction", "Rule", "Rules", "Value",
    "anything", "backend", "combine", "constant", "estimator", "follow", "grow", "grow_operands", "label", "matches",
    "maximal", "more", "named", "op", "operators", "parallel", "region_function", "same", "singles", "taken", "union",
    "up_to", "valid", "value",
]  # fmt: skip
