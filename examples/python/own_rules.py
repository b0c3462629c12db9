"""Tunes a model with rules about which backend is asked about which regions.

    python own_rules.py MODEL.onnx PLAN.collage
"""

from __future__ import annotations

import sys

import collage
from collage.extend import Rules, combine, grow, op, up_to, valid


def rules() -> Rules:
    """Each adds or takes away candidates; measuring decides among those that are left."""
    made = Rules()
    # A gate of squeeze and excitation as one kernel.
    made.pattern("onednn", "gate", op("GlobalAveragePool").then("Conv").then("Relu").then("Conv").then("Mul"))
    # Element-wise work of at most four nodes, diamonds too, and nothing else.
    diamonds = combine(up_to("broadcast"), grow("broadcast", "broadcast"), depth=3)
    made.replace("native", valid(diamonds, nodes=4, outputs=1, taps=False))
    made.limit("openvino", nodes=40)
    made.ban("onednn", "Softmax")
    return made


def main(model: str, plan: str) -> None:
    print(rules(), end="")
    tuned = collage.tune(model, plan, rules=rules(), budget="20s", store="memory:")
    print(tuned.report)  # has a line for each rule: what it matched, and whether it affects the plan


if __name__ == "__main__":
    main(*sys.argv[1:])
