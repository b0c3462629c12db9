"""Tunes a model with a backend made of Python functions and prints who runs what.

    python python_backend.py MODEL.onnx PLAN.collage [NODES]

NODES: a pattern of node names that the functions take even where others are faster.
"""

from __future__ import annotations

import sys

import collage
from collage import extend


def main(model: str, plan: str, nodes: str | None = None) -> None:
    mine = extend.backend("my_backend")  # "python:module=my_backend": workers import the module by this name
    tuned = collage.tune(
        model, plan, backends=["onnxruntime", mine], pin={nodes: mine} if nodes else None, budget="20s", store="memory:"
    )
    print(tuned.report)
    print("right" if collage.verify(plan) else "wrong")
    print(collage.explain(plan))


if __name__ == "__main__":
    main(*sys.argv[1:])
