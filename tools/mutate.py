#!/usr/bin/env python3
"""Mutation score of a source file: changes it in one place at a time and asks whether a command notices.

    tools/mutate.py src/numbers/compare.cpp -- COMMAND...

COMMAND builds and runs the tests of the file; with status 0 for the file as it is. Each mutant for which it still ends
with 0 has survived. The file is restored at the end, also after an interruption. A mutant that does not build counts
for nothing.  A command says so with status 125.
"""

import argparse
import pathlib
import re
import subprocess
import sys

SWAPS = [
    (r"(?<![<>=!-])<=(?!>)", "<"), (r"(?<![<>=!-])>=", ">"), (r"(?<= )<(?= )", "<="), (r"(?<= )>(?= )", ">="),
    (r"==", "!="), (r"!=", "=="), (r"&&", "||"), (r"\|\|", "&&"), (r"(?<= )\+(?= )", "-"), (r"(?<= )-(?= )", "+"),
    (r"(?<= )\*(?= )", "/"), (r"(?<= )/(?= )", "*"), (r"(?<=[\(\s])!(?=[\w\(])", ""), (r"std::max\(", "std::min("),
    (r"std::min\(", "std::max("), (r"std::abs\(", "("), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r"std::isnan\(", "std::isinf("), (r"std::isinf\(", "std::isnan("), (r"\|=", "&="), (r"&=", "|="),
    (r"\b1e-(\d)\b", r"1e-1\1"), (r"(?<![\w.x])0(?![\w.x'])", "1"), (r"(?<![\w.x])1(?![\w.x'])", "2"),
    (r"\+=", "-="), (r"\bcontinue;", ";"), (r"^(\s+)return;$", r"\1;"),
]


def mutants(text):
    for number, line in enumerate(text.split("\n")):
        code = line.split("//")[0]
        if not code.strip() or code.lstrip().startswith(("#", "template", "using", "namespace")):
            continue
        for pattern, replacement in SWAPS:
            for found in re.finditer(pattern, code):
                changed = code[:found.start()] + found.expand(replacement) + code[found.end():]
                if changed != code:
                    yield number, line, changed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("command", nargs="+")
    parser.add_argument("--lines", help="FIRST..LAST, all unless given")
    options = parser.parse_args()
    text = options.file.read_text()
    first, last = (map(int, options.lines.split("..")) if options.lines else (1, 10**9))
    killed, survived, broken = 0, [], 0
    try:
        for number, line, changed in mutants(text):
            if not first <= number + 1 <= last:
                continue
            lines = text.split("\n")
            lines[number] = changed
            options.file.write_text("\n".join(lines))
            status = subprocess.run(options.command, capture_output=True, timeout=600, check=False).returncode
            if status == 125:
                broken += 1
            elif status == 0:
                survived.append(f"{options.file}:{number + 1}: {line.strip()}  ->  {changed.strip()}")
                print(survived[-1], flush=True)
            else:
                killed += 1
    finally:
        options.file.write_text(text)
    print(f"{killed} killed, {len(survived)} survived, {broken} did not build")
    return bool(survived)


if __name__ == "__main__":
    sys.exit(main())
