#!/usr/bin/env python3
"""docs/COVERAGE.md: which of ONNX's official operator tests pass, for each operator and backend, and why others do not.

In:  tests/conformance/official.txt, the tests, their operators and what ONNX Runtime does with them (tools/onnxruntime_cases.py);
     tests/conformance/expected/*.txt, what each backend refuses and what is no case, which the conformance test keeps true;
     tests/conformance/cases/{ml,contrib}.txt, our own cases of domains with few official tests;
     tests/conformance/reasons.txt, why a test that ONNX Runtime passes does not pass here.
Out: the page. An error when such a test has no reason, or a reason has no such test.

    tools/coverage.py            writes the page
    tools/coverage.py --check    says whether the page is what would be written
"""

import argparse
import collections
import dataclasses
import fnmatch
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests/conformance"
PAGE = ROOT / "docs/COVERAGE.md"
BACKENDS = ["host", "native", "onednn", "onednn3", "onnxruntime", "openvino", "blas", "mnn", "xnnpack", "tvm"]
DOMAINS = {"": "ai.onnx"}
ENGINE = "onnxruntime"
OWN_FAMILIES = ["ml", "contrib"]
FOLDED = "conformance/folded"
INSIDE = "+inside"
# Codes of tests that have a case +inside beside the one that is none.
WITH_INSIDE = {"conformance/open-border", "import/unbound-dimension", "import/unsupported-attribute"}


@dataclasses.dataclass
class Test:
    name: str
    domain: str
    operator: str
    outcome: str  # of ONNX Runtime
    not_run: str = ""  # why it is no case
    refusals: dict = dataclasses.field(default_factory=dict)  # backend -> reason
    is_inside: bool = False  # the case +inside passes

    @property
    def is_expanded(self):
        return "_expanded" in self.name

    @property
    def takers(self):
        return [] if self.not_run else [backend for backend in BACKENDS if backend not in self.refusals]

    @property
    def passes(self):
        """Some backend computes the outputs, or import did."""
        return bool(self.takers) or self.not_run == FOLDED


def lines_of(path):
    for line in path.read_text().splitlines():
        text = line.split("#")[0].strip()
        if text:
            yield text


def read_tests():
    tests = {}
    for line in lines_of(FOLDER / "official.txt"):
        name, operator, outcome = line.split()
        domain, _, plain = operator.rpartition("::")
        tests[name] = Test(name, domain, plain, outcome)
    return tests


def matched(tests, path):
    """(tests, text) of each line "PATTERN: TEXT" of a file; patterns that only match other cases are left out."""
    for line in lines_of(path):
        pattern, _, text = line.partition(": ")
        if not pattern.startswith("test_"):
            continue
        if "*" in pattern:
            expression = re.compile(fnmatch.translate(pattern))
            yield [test for name, test in tests.items() if expression.match(name)], text.strip(), pattern
        elif pattern in tests:
            yield [tests[pattern]], text.strip(), pattern


def refused_inside(tests):
    """Tests whose case +inside is none, or is refused by the backend that runs these."""
    inside = {name + INSIDE: test for name, test in tests.items()}
    return [test.name for file in ("import", ENGINE) for some, *_ in matched(inside, FOLDER / f"expected/{file}.txt") for test in some]


def read_outcomes(tests):
    for found, text, _ in matched(tests, FOLDER / "expected/import.txt"):
        for test in found:
            test.not_run = text
    refused = set(refused_inside(tests))
    for test in tests.values():
        test.is_inside = test.not_run in WITH_INSIDE and test.name not in refused
    for backend in BACKENDS:
        for found, text, _ in matched(tests, FOLDER / f"expected/{backend}.txt"):
            for test in found:
                test.refusals[backend] = text


def reasons_of(tests, missing):
    """The reason of each missing test, and what is wrong with the file of reasons."""
    reasons, wrong = {}, []
    for found, text, pattern in matched(tests, FOLDER / "reasons.txt"):
        needed = [test for test in found if test.name in missing]
        if len(needed) != len(found) or not found:
            others = [test.name for test in found if test.name not in missing] or ["no test"]
            wrong.append(f"reasons.txt: {pattern} matches {others[0]}, which needs no reason")
        for test in needed:
            reasons[test.name] = (pattern, text)
    wrong += [f"reasons.txt: no reason for {name}, which ONNX Runtime passes" for name in missing if name not in reasons]
    return reasons, wrong


def table(head, rows, numbers=1):
    """Columns from number `numbers` on are aligned right."""
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join("---" if i < numbers else "---:" for i in range(len(head))) + "|"]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def counts_of(tests):
    """Of some tests: how many there are, pass in ONNX Runtime, pass here, pass on each backend."""
    return [
        len(tests),
        sum(test.outcome == "passes" for test in tests),
        sum(test.passes for test in tests),
        *(sum(backend in test.takers for test in tests) for backend in BACKENDS),
    ]


INSIDE_TEXT = """\
"Passed inside" are tests that pass on ONNX Runtime as a region whose model makes the sequences, optionals and strings itself, of
tensors and constants, and takes apart what comes out.

"""

HEAD = ["tests", "ONNX Runtime as written", "here", *BACKENDS]

INTRODUCTION = """\
# Coverage

Which of ONNX's official operator tests pass, and on which backends. `./dev coverage` writes this page from
`tests/conformance/official.txt` and `tests/conformance/expected/*.txt`; `./dev lint` checks that it is up to date.

A test is a model with one operator, its inputs and its outputs. An expanded test has the same inputs and outputs, and a model that
spells the operator out in simpler ones. The [conformance suite](../tests/conformance/README.md) imports each model and gives it as one
region to each backend. A test **passes** on a backend that takes the region and gives the official outputs. It passes **here** if
it does on some backend. What one backend does not take, a plan gives to another one.

**ONNX Runtime as written** is that library alone, through its own interface, with the model as it is; its outputs are judged by the
test's tolerances or those of accuracy class standard, whichever is wider.
"""


def totals(tests):
    kinds = [("as written", [t for t in tests if not t.is_expanded]), ("expanded", [t for t in tests if t.is_expanded])]
    rows = [[name, *counts_of(some)] for name, some in [*kinds, ("together", tests)]]
    return "## Totals\n\n" + table(["kind", *HEAD], rows)


def operators(tests):
    text = "\n## Operators\n\nTests passed of each operator, expanded ones included.\n"
    for domain in sorted({test.domain for test in tests}):
        some = collections.defaultdict(list)
        for test in tests:
            if test.domain == domain:
                some[test.operator].append(test)
        text += f"\n### {DOMAINS.get(domain, domain)}\n\n"
        text += table(["operator", *HEAD], [[name, *counts_of(some[name])] for name in sorted(some)])
    return text


def why_missing(test):
    return test.not_run or "refused by all: " + ", ".join(sorted(set(test.refusals.values())))


def missing_part(missing, reasons):
    text = "\n## What ONNX Runtime passes and Collage does not\n\n"
    if not missing:
        return text + "Nothing.\n"
    groups = collections.defaultdict(list)
    for test in missing.values():
        groups[reasons.get(test.name, ("", "no reason is known"))].append(test)
    rows = []
    for (pattern, reason), some in sorted(groups.items()):
        codes = sorted({f"`{why_missing(test)}`" for test in some})
        rows.append([f"`{pattern}`", ", ".join(codes), reason, len(some), sum(test.is_inside for test in some)])
    return text + INSIDE_TEXT + table(["tests", "code", "reason", "count", "passed inside"], rows, numbers=3)


def neither_part(tests):
    groups = collections.Counter(
        (test.outcome, why_missing(test).split(":")[0] if not test.not_run else test.not_run)
        for test in tests
        if test.outcome != "passes" and not test.passes
    )
    beyond = [test for test in tests if test.outcome != "passes" and test.passes]
    text = "\n## What ONNX Runtime does not pass\n\n"
    newer = sum(test.outcome == "newer" for test in beyond)
    text += f"{len(beyond)} of these tests pass here, {newer} of them because import converts models that are newer than what it reads:\n\n"
    by_operator = collections.Counter((f"{test.domain}::" if test.domain else "") + test.operator for test in beyond)
    text += textwrap.fill(", ".join(f"{name} {count}" for name, count in sorted(by_operator.items())), 128)
    text += ".\n\nThe others:\n\n"
    rows = [[outcome, f"`{code}`" if "/" in code else code, count] for (outcome, code), count in sorted(groups.items())]
    return text + table(["ONNX Runtime as written", "here", "count"], rows, numbers=2)


def read_own(family):
    """Our own cases of a family, each with its one operator of another domain than ONNX's first."""
    tests = {}
    for section in re.split(r"^case ", (FOLDER / f"cases/{family}.txt").read_text(), flags=re.MULTILINE)[1:]:
        name = f"{family}/{section.split()[0]}"
        (domain, operator), *_ = re.findall(r"([\w.]+)::(\w+)\(", section)
        tests[name] = Test(name, domain, operator, "")
    for backend in BACKENDS:
        for line in lines_of(FOLDER / f"expected/{backend}.txt"):
            pattern, _, text = line.partition(": ")
            for name in fnmatch.filter(tests, pattern):
                tests[name].refusals[backend] = text.strip()
    return list(tests.values())


def own_part():
    text = """\

## Operators without official tests

Our own cases of these domains (`tests/conformance/cases`), judged by ONNX Runtime without optimisation, and ONNX Runtime itself by
OpenVINO where that takes the case. ONNX Runtime also runs the other operators of these domains; whatever it refuses is refused by
name when a model is imported or compiled.
"""
    for family in OWN_FAMILIES:
        some = collections.defaultdict(list)
        tests = read_own(family)
        for test in tests:
            some[test.operator].append(test)
        text += f"\n### {tests[0].domain}, our own\n\n"
        rows = [[name, len(some[name]), *counts_of(some[name])[3:]] for name in sorted(some)]
        text += table(["operator", "cases", *BACKENDS], rows)
    return text


def page_of(tests):
    """The page, and what is wrong."""
    everything = list(tests.values())
    missing = {test.name: test for test in everything if test.outcome == "passes" and not test.passes}
    reasons, wrong = reasons_of(tests, missing)
    parts = [INTRODUCTION, totals(everything), missing_part(missing, reasons), neither_part(everything), operators(everything), own_part()]
    return parts[0] + "\n" + "".join(parts[1:]), wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the page is not up to date")
    options = parser.parse_args()
    tests = read_tests()
    read_outcomes(tests)
    page, wrong = page_of(tests)
    if options.check and (not PAGE.exists() or PAGE.read_text() != page):
        wrong.append(f"{PAGE.relative_to(ROOT)}: not what ./dev coverage writes")
    if not options.check:
        PAGE.write_text(page)
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
