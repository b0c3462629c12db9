"""Counts the cases of a run of ctest: count_tests.py ENTRIES RESULTS prints "N passed, N failed, N skipped".

ENTRIES is what `ctest --output-junit` wrote, RESULTS the folder where test programs left the cases of each entry, as
gtest writes them. An entry without such a file is one case; a program that ended early left none, and failed.
"""

import sys
import xml.etree.ElementTree as tree
from collections import Counter
from pathlib import Path


def of_entry(entry):
    """What ctest says: passed, failed or skipped."""
    if entry.get("status") == "run":
        return "passed"
    skipped = entry.find("skipped")
    if skipped is not None and skipped.get("message", "").startswith("SKIP_"):
        return "skipped"
    return "failed"


def of_case(case):
    """The same for a case of a program."""
    if case.find("failure") is not None:
        return "failed"
    return "passed" if case.get("result") == "completed" else "skipped"


def count(entry, results):
    outcome = of_entry(entry)
    file = results / (entry.get("name").replace("/", ".") + ".xml")
    if not file.exists():
        return Counter([outcome])
    try:
        counted = Counter(of_case(case) for case in tree.parse(file).iter("testcase"))
    except tree.ParseError:  # it ended while it wrote
        return Counter(failed=1)
    if outcome == "failed" and not counted["failed"]:
        counted["failed"] = 1  # after its last case: a leak, or an end that was not one
    return counted


def main(entries, results):
    counted = Counter()
    for entry in tree.parse(entries).getroot().iter("testcase"):
        counted += count(entry, Path(results))
    print(", ".join(f"{counted[outcome]} {outcome}" for outcome in ("passed", "failed", "skipped")))


if __name__ == "__main__":
    main(*sys.argv[1:])
