"""docs/GLOSSARY.md is true: words in alphabetical order, types and paths exist, words that were given up are gone.

A line of the glossary is: **word** — meaning (`Type`, `path`). A row of "Given up" is: | `old` | what to say |.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GLOSSARY = ROOT / "docs" / "GLOSSARY.md"
SEARCHED = ("src", "backends", "tests", "bench", "examples", "docs", "README.md", "CONTRIBUTING.md")


def faults_of_words(lines):
    previous = ""
    for number, line in enumerate(lines, 1):
        found = re.match(r"\*\*(.+?)\*\*", line)
        if not found:
            continue
        word = found.group(1).lower()
        if word < previous:
            yield f"docs/GLOSSARY.md:{number}: {word} comes before {previous}"
        previous = word
        if " — " not in line:
            yield f"docs/GLOSSARY.md:{number}: no meaning after the word"
        yield from faults_of_carriers(number, line)


def faults_of_carriers(number, line):
    """Each `name` that precedes a `path` occurs in that file."""
    for name, path in re.findall(r"`([^`]+)`, `([\w/]+\.(?:h|cpp))`", line):
        text = (ROOT / path).read_text() if (ROOT / path).exists() else None
        if text is None:
            yield f"docs/GLOSSARY.md:{number}: {path} does not exist"
        elif not re.search(rf"\b{re.escape(name.split('::')[-1].removesuffix('()'))}\b", text):
            yield f"docs/GLOSSARY.md:{number}: {path} has no {name}"


def given_up(lines):
    begin = next((i for i, line in enumerate(lines) if line.startswith("## Given up")), len(lines))
    for line in lines[begin:]:
        found = re.match(r"\| (`[^|]+`) \|", line)
        if found:
            yield from re.findall(r"`([^`]+)`", found.group(1))


def uses_of(words):
    """Places where one of the words occurs as a whole word."""
    names = subprocess.run(["git", "ls-files", *SEARCHED], cwd=ROOT, check=True, capture_output=True, text=True)
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, words)) + r")\b")
    for name in names.stdout.split():
        path = ROOT / name
        if path == GLOSSARY or path.suffix not in (".h", ".cpp", ".md", ".txt") or not path.exists():
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = pattern.search(line)
            if found:
                yield f"{name}:{number}: {found.group(1)} was given up (docs/GLOSSARY.md)"


def main():
    lines = GLOSSARY.read_text().splitlines()
    wrong = [*faults_of_words(lines)]
    words = [*given_up(lines)]
    if words:
        wrong += uses_of(words)
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
