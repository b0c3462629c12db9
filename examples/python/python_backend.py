"""Tunes a model with a backend made of Python functions and prints which steps they took.

    python python_backend.py MODEL.onnx PLAN.collage [NODES]

NODES: a pattern of node names that the functions take even where others are faster.
"""

from __future__ import annotations

import sys

import collage
from collage import extend


def main(model: str, plan: str, nodes: str | None = None) -> None:
    mine = extend.backend("my_backend")  # "python:module=my_backend": workers import the module by this name
    report = collage.tune(
        model,
        plan,
        backends=["onnxruntime", mine],
        pins=[f"{nodes}={mine}"] if nodes else [],
        budget=20,
        store="memory:",
    )
    print(f"{report.steps} steps, of these mine: {report.backends.get(mine, 0)}")
    session = collage.Plan(plan).session()  # loading imports my_backend again
    session.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
