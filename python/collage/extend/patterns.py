"""Patterns of operators, written in Python; str() of one is its text in the language of docs/RULES.md.

    op("Conv", group=1).then("BatchNormalization").optional().then("Relu", "Clip")
    op("Mul").of(value("x"), op("Sigmoid").of(same("x")))      # x * sigmoid(x)
"""

from __future__ import annotations

import dataclasses
import re
from typing import Union

_OPERATOR = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Literal = Union[int, float, str, list, tuple]


@dataclasses.dataclass(frozen=True)
class Operand:
    """What an operand of an operator may be."""

    text: str

    def or_absent(self) -> Operand:
        """The same, or no operand."""
        return Operand(self.text + "?")

    def __str__(self) -> str:
        return self.text


#: Any value; its producer is not part of the match.
anything = Operand("*")
#: A constant.
constant = Operand("const")
#: Last among operands: the operator may have more.
more = Operand("...")


def value(name: str, operand: Operand | Pattern = anything) -> Operand:
    """An operand with a name, for :func:`same`."""
    return Operand(f"{_checked(_NAME, name)}={operand}")


def same(name: str) -> Operand:
    """The value that was called so, again."""
    return Operand(f"${_checked(_NAME, name)}")


@dataclasses.dataclass(frozen=True)
class Pattern:
    """Operators that are joined. Immutable: every method returns another pattern."""

    steps: tuple[str, ...]  #: the last one is what methods change
    conditions: tuple[str, ...] = ()
    mark: str = ""
    operands: tuple[str, ...] | None = None

    def where(self, *conditions: str) -> Pattern:
        """With conditions on the last operator, such as ``"in1.dim2<=3"`` or ``"type=f32|f16"``."""
        return dataclasses.replace(self, conditions=self.conditions + conditions)

    def optional(self) -> Pattern:
        """The last operator may be left out."""
        return dataclasses.replace(self, mark="?")

    def repeated(self) -> Pattern:
        """The last operator may occur any number of times, also none."""
        return dataclasses.replace(self, mark="*")

    def of(self, *operands: Operand | Pattern) -> Pattern:
        """With these operands, which are all that the first operator has unless the last one is :data:`more`."""
        if len(self.steps) > 1:
            raise ValueError("only the first operator of a chain can have operands")
        return dataclasses.replace(self, operands=tuple(str(operand) for operand in operands))

    def then(self, *operators: str, **attributes: Literal) -> Pattern:
        """And one of these operators, which reads a value of what is matched so far."""
        return dataclasses.replace(op(*operators, **attributes), steps=(*self._written(), "|".join(operators)))

    def _written(self) -> tuple[str, ...]:
        conditions = "{" + ", ".join(self.conditions) + "}" if self.conditions else ""
        operands = "(" + ", ".join(self.operands) + ")" if self.operands is not None else ""
        return (*self.steps[:-1], self.steps[-1] + conditions + self.mark + operands)

    def __str__(self) -> str:
        return " -> ".join(self._written())


def op(*operators: str, **attributes: Literal) -> Pattern:
    """One of these operators, with these attributes: ``op("Conv", group=1, strides=[1, 1])``.

    An attribute that a node leaves at its default is absent: ``op("Conv").where("@group?=1")`` allows that.
    """
    if not operators:
        raise ValueError("a pattern needs an operator")
    conditions = tuple(f"@{_checked(_NAME, name)}={_literal(value)}" for name, value in attributes.items())
    return Pattern(("|".join(_checked(_OPERATOR, one) for one in operators),), conditions)


def _literal(value: Literal) -> str:
    return "x".join(str(one) for one in value) if isinstance(value, (list, tuple)) else str(value)


def _checked(form: re.Pattern[str], text: str) -> str:
    if not form.fullmatch(text):
        raise ValueError(f"not a name: {text!r}")
    return text
