#!/usr/bin/env python3
"""Draws who runs what in plans: one SVG with a bar for each, whose pieces are the plan's steps in order, as wide as their time alone.

usage: tools/placement_pictures.py --out FILE.svg PLAN...

Times, names and ratios are those of `collage explain PLAN --json -`. Of a plan that is an engine as a whole the bar is one piece.
"""
import argparse
import html
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLLAGE = pathlib.Path(os.environ.get("COLLAGE", ROOT / "build/dev/bin/collage"))
COLOURS = {"host": "#7c8797", "native": "#2f7ed8", "onednn": "#c2571a", "onnxruntime": "#2c8a4b", "openvino": "#8a4fbf"}
OTHERS = "#b8860b"
WIDTH, BAR, ROW, LEFT, TOP = 900, 26, 58, 12, 40
# A step narrower than this is drawn as wide as this.
LEAST = 0.4


def explained(plan):
    return json.loads(subprocess.run([COLLAGE, "explain", plan, "--json", "-"], check=True, capture_output=True).stdout)


def kind(backend):
    return backend.split(":")[0]


def text(x, y, words, style="", anchor="start"):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" {style}>{html.escape(words)}</text>'


def against(facts):
    """"1.10x [1.10, 1.11] of openvino as a whole", of the engine that is hardest to beat."""
    engines = [plan for plan in facts["plans"] if plan["is_engine"] and "faster" in plan]
    if not engines:
        return "no engine was timed beside it"
    hardest = min(engines, key=lambda plan: plan["faster"]["ratio"])
    faster = hardest["faster"]
    return f"{faster['ratio']:.2f}x [{faster['low']:.2f}, {faster['high']:.2f}] of {hardest['name']}"


def row(plan, facts, top):
    name = pathlib.Path(plan).stem
    # An engine that runs the whole model is one step, whose time alone is not known.
    costs = [step["cost_us"] for step in facts["steps"]] if len(facts["steps"]) > 1 else [1]
    total = sum(costs) or 1
    counts = ", ".join(f"{count} {backend}" for backend, count in facts["step_backends"].items())
    pieces = [text(LEFT, top + 14, name, 'class="name"'),
              text(LEFT + WIDTH, top + 14, f"{facts['search']['measured_us']:,.0f} us, {against(facts)}", anchor="end"),
              f'<g><title>{html.escape(name)}: steps: {html.escape(counts)}</title>']
    x = float(LEFT)
    for step, cost in zip(facts["steps"], costs):
        width = WIDTH * cost / total
        if width > 0:
            colour = COLOURS.get(kind(step["backend"]), OTHERS)
            pieces.append(f'<rect x="{x:.2f}" y="{top + 20}" width="{max(width, LEAST):.2f}" height="{BAR}" fill="{colour}"/>')
        x += width
    return pieces + ["</g>"]


def legend(backends):
    x, pieces = LEFT, []
    for backend in backends:
        colour = COLOURS.get(backend, OTHERS)
        pieces += [f'<rect x="{x}" y="12" width="12" height="12" fill="{colour}"/>', text(x + 17, 23, backend)]
        x += 34 + 8 * len(backend)
    return pieces


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("plans", nargs="+")
    options = parser.parse_args()
    plans = [(plan, explained(plan)) for plan in options.plans]
    used = {kind(step["backend"]) for _, facts in plans for step in facts["steps"]}
    height = TOP + ROW * len(plans)
    pieces = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + 2 * LEFT} {height}" role="img" '
        f'aria-label="which backend runs which part of {len(plans)} networks, as wide as its time">',
        "<style>text { font: 13px system-ui, sans-serif; fill: #1c2330 } .name { font-weight: 600 } "
        ".ground { fill: #fff } rect { shape-rendering: crispEdges; stroke: #fff; stroke-width: .4 }</style>",
        f'<rect class="ground" width="{WIDTH + 2 * LEFT}" height="{height}"/>',
        *legend([backend for backend in [*COLOURS, *sorted(used - COLOURS.keys())] if backend in used]),
    ]
    for index, (plan, facts) in enumerate(plans):
        pieces += row(plan, facts, TOP + ROW * index)
    options.out.write_text("\n".join([*pieces, "</svg>", ""]))


if __name__ == "__main__":
    main()
