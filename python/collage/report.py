"""What tune and its relatives found: numbers for programs, a table for a terminal and for a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import _native

__all__ = ["Report", "TuneReport"]


class Report:
    """A result as JSON and as text. In a notebook it is shown as a table where it has rows."""

    def __init__(self, native: _native.Report) -> None:
        self._native = native

    @property
    def data(self) -> dict[str, Any]:
        """The JSON object that the command of the same name writes with --json; its "schema" names its form."""
        import json

        return json.loads(self._native.json)

    @property
    def json(self) -> str:
        return self._native.json

    @property
    def ok(self) -> bool:
        """False: a check found a difference."""
        return self._native.ok

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return self._native.text.rstrip("\n")

    def __repr__(self) -> str:
        return f"<collage.{type(self).__name__} {self.data.get('schema', '')}>"

    def _repr_html_(self) -> str:
        rows = _rows(self.data)
        table = _table(rows) if rows else f"<pre>{escape(str(self))}</pre>"
        return table + "".join(f"<p>{escape(note)}</p>" for note in self.data.get("notes", ()) if isinstance(note, str))


class TuneReport(Report):
    """What a tune found. Times are in microseconds, 0 where nothing was measured."""

    @property
    def summary(self) -> dict[str, Any]:
        """tune_s, measured_us, best_rival_us, best_rival, model_bound_us, proven_bound_us, steps, candidates, measured,
        reused, refused, interrupted, shipped."""
        return self._native.summary

    @property
    def measured_us(self) -> float:
        """Of the plan, end to end."""
        return self.summary["measured_us"]

    @property
    def best_rival(self) -> str:
        """The fastest library that runs the whole model; "" when there is none."""
        return self.summary["best_rival"]

    @property
    def speedup(self) -> float | None:
        """The time of the best rival over that of the plan; None when either was not measured."""
        known = self.summary
        if not known["measured_us"] or not known["best_rival_us"]:
            return None
        return known["best_rival_us"] / known["measured_us"]

    @property
    def backends(self) -> dict[str, int]:
        """How many steps of the plan each backend runs; {} for a plan of many shapes."""
        return self.data.get("backends", {})

    @property
    def interrupted(self) -> bool:
        """Ended early: the plan is the best found so far."""
        return self.summary["interrupted"]

    def _repr_html_(self) -> str:
        known, data = self.summary, self.data
        if "rivals" not in data:
            return super()._repr_html_()
        steps = ", ".join(f"{name}: {count}" for name, count in data.get("backends", {}).items())
        many = "" if known["steps"] == 1 else "s"
        counts = f"{known['steps']} step{many} ({steps}), {known['measured']} of {known['candidates']} candidates measured"
        last = f"<p>{escape(counts)}, {known['tune_s']:.1f} s</p>"
        return f"<p><b>{escape(self._headline())}</b></p>{self._bars(data['rivals'])}{last}"

    def _headline(self) -> str:
        """The time of the plan, and what it is beside that of the best library."""
        headline = _time(self.measured_us)
        if self.speedup is None:
            return headline
        return f"{headline}: {self.speedup:.2f} times as fast as {self.best_rival}, the fastest library alone"

    def _bars(self, others: dict[str, float]) -> str:
        """The times of this plan and of what it was compared with, as numbers and bars."""
        times = [("this plan", self.measured_us), *sorted(others.items(), key=lambda other: other[1])]
        longest = max(time for _, time in times) or 1
        rows = []
        for name, time in times:
            ratio = f"{time / self.measured_us:.2f}x" if self.measured_us and time else ""
            bar = f"{_BAR};width:{200 * time / longest:.0f}px;background:{'#2a7' if name == 'this plan' else '#9ab'}"
            rows.append(f'<tr><td style="text-align:left">{escape(name)}</td><td>{_time(time)}</td><td>{ratio}</td>'
                        f'<td style="text-align:left"><div style="{bar}"></div></td></tr>')
        return f'<table style="text-align:right">{"".join(rows)}</table>'


_BAR = "height:0.8em;min-width:1px"


def _time(microseconds: float) -> str:
    if not microseconds:
        return "not measured"
    return f"{microseconds / 1000:.3f} ms" if microseconds >= 1000 else f"{microseconds:.1f} us"


def _rows(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The first list of objects, with their members that are texts or numbers."""
    for value in data.values():
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            return [{key: cell for key, cell in row.items() if isinstance(cell, (str, int, float, bool))} for row in value]
    return []


def _table(rows: list[dict[str, Any]]) -> str:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(_cell(row.get(column, '')))}</td>" for column in columns) + "</tr>" for row in rows)
    return f'<table style="text-align:left;overflow-wrap:break-word"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
