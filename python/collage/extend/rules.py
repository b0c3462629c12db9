"""Rules about which backend is asked about which regions; str() of them is a text in the language of docs/RULES.md.

    rules = Rules()
    rules.pattern("onednn", "gate", op("GlobalAveragePool").then("Conv").then("Relu"))
    rules.replace("native", valid(combine(up_to("broadcast"), grow("broadcast", "broadcast"), depth=3), nodes=3))
    rules.ban("onednn", "Softmax")
    collage.tune("model.onnx", "model.collage", rules=rules)
"""

from __future__ import annotations

import dataclasses

from .patterns import Pattern


@dataclasses.dataclass(frozen=True)
class Rule:
    """Names regions of a graph."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclasses.dataclass(frozen=True)
class Grow:
    """One way in which regions are joined to larger ones."""

    text: str

    def __str__(self) -> str:
        return self.text


#: Every node on its own.
singles = Rule("singles")
#: Every node that the backend supports alone.
taken = Rule("taken")
#: Products with weights that read the same value become one region.
parallel = Grow("parallel")


def up_to(fusion_class: str) -> Rule:
    """Every node of this fusion class or one before it: elementwise, broadcast, injective, reduce, anchor, opaque."""
    return Rule(f"class<={fusion_class}")


def operators(*names: str) -> Rule:
    """Every node with one of these operators."""
    return Rule(f"operators({'|'.join(names)})")


def matches(label: str, pattern: str | Pattern, *, outputs: int | None = None) -> Rule:
    """Every match of a pattern; ``outputs`` values may leave it, one unless said otherwise."""
    return Rule(f"pattern({label}: {pattern}{_outputs(outputs)})")


def named(label: str, *globs: str) -> Rule:
    """The nodes with these names, as one region."""
    return Rule(f"named({label}: {_globs(globs)})")


def maximal(splits: int | None = None) -> Rule:
    """The longest ranges and connected regions that the backend supports; ranges also cut into 2 to splits + 1 parts."""
    return Rule("maximal" if splits is None else f"maximal(splits<={splits})")


def union(*rules: Rule) -> Rule:
    """The regions of all of them."""
    return Rule(f"union({', '.join(map(str, rules))})")


def grow(before: str, after: str) -> Grow:
    """A region of the first fusion class, or one before it, absorbs a region of the second class that reads it."""
    return Grow(f"{before}->{after}")


def grow_operands(fusion_class: str) -> Grow:
    """A Concat, Max, Mean, Min or Sum absorbs the producers of all of its operands."""
    return Grow(f"operands<={fusion_class}")


def combine(rule: Rule, *ways: Grow, depth: int | None = None) -> Rule:
    """The regions of the rule and all that grow from them, with up to ``depth`` nodes on the longest path."""
    limit = "" if depth is None else f"; depth<={depth}"
    return Rule(f"combine({rule}; {', '.join(map(str, ways))}{limit})")


def follow(rule: Rule, *, nodes: int | None = None) -> Rule:
    """The regions of the rule, and each extended by the only reader of its only output."""
    return Rule(f"follow({rule}{'' if nodes is None else f'; nodes<={nodes}'})")


def valid(
    rule: Rule,
    *,
    nodes: int | None = None,
    depth: int | None = None,
    outputs: int | None = None,
    taps: bool = True,
    bodies: bool = True,
) -> Rule:
    """Those within limits; ``taps=False``: no output is read inside; ``bodies=False``: no If, Loop or Scan."""
    return Rule(f"valid({_limits(nodes, depth, outputs, taps, bodies)}; {rule})")


def label(text: str, rule: Rule) -> Rule:
    """The regions of the rule, with a label for the backend if they have none."""
    return Rule(f"label({text}; {rule})")


class Rules:
    """Statements, in order. Each method adds one and returns the rules.

    ``backend`` is an instance, a kind with all its instances, or ``*``. What a text means is checked when a tune reads
    it: error region/bad-rule with the number of the line.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []

    def pattern(self, backend: str, label: str, pattern: str | Pattern, *, outputs: int | None = None) -> Rules:
        """The backend is also asked about every match of the pattern."""
        return self._add(f"pattern {backend} {label}: {pattern}{_outputs(outputs)}")

    def fuse(self, backend: str, label: str, *globs: str) -> Rules:
        """The nodes with these names are one step of the backend: a choice that is made, not measured."""
        return self._add(f"fuse {backend} {label}: {_globs(globs)}")

    def rule(self, backend: str, rule: Rule) -> Rules:
        """The backend is also asked about the regions of the rule."""
        return self._add(f"rule {backend}: {rule}")

    def replace(self, backend: str, rule: Rule) -> Rules:
        """The backend is asked about these regions in place of those of its own rules."""
        return self._add(f"replace {backend}: {rule}")

    def limit(
        self,
        backend: str,
        *,
        nodes: int | None = None,
        depth: int | None = None,
        outputs: int | None = None,
        taps: bool = True,
        bodies: bool = True,
    ) -> Rules:
        """Limits the regions of the backend; see :func:`valid`."""
        return self._add(f"limit {backend}: {_limits(nodes, depth, outputs, taps, bodies)}")

    def ban(self, backend: str, *operators: str) -> Rules:
        """The backend may run none of these operators."""
        return self._add(f"ban {backend}: {'|'.join(operators)}")

    def _add(self, line: str) -> Rules:
        if "\n" in line:
            raise ValueError(f"a rule is one line: {line!r}")
        self._lines.append(line)
        return self

    def __str__(self) -> str:
        return "".join(line + "\n" for line in self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def _outputs(count: int | None) -> str:
    return "" if count is None else f"; outputs<={count}"


def _globs(globs: tuple[str, ...]) -> str:
    return " ".join(f'"{glob}"' if " " in glob else glob for glob in globs)


def _limits(nodes: int | None, depth: int | None, outputs: int | None, taps: bool, bodies: bool) -> str:
    limits = [f"{name}<={most}" for name, most in (("nodes", nodes), ("depth", depth), ("outputs", outputs)) if most]
    limits += [] if taps else ["no taps"]
    limits += [] if bodies else ["no bodies"]
    if not limits:
        raise ValueError("a limit needs something to limit: nodes, depth, outputs, taps, bodies")
    return ", ".join(limits)
