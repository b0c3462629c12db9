"""Gathers what the site is built of: gather_pages.py CONFIG WORK.

In: CONFIG, which has the navigation; the Markdown of the checkout; WORK/pages/reference, pages made
of help, schemas, headers and docstrings. Out: WORK/pages, with the paths of the checkout, so that
all links hold. Fails when the navigation leaves a page out, or names one that is not there.
"""

import html
import re
import shutil
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/**/*.md",
    "docs/schemas/*.json",
    "docs/pictures/*.svg",
    "examples/**/README.md",
)


def named_in(navigation):
    """Paths of pages; an entry is one, or a title with one or with a list of entries."""
    for entry in navigation:
        below = entry if isinstance(entry, str) else [*entry.values()][0]
        yield from [below] if isinstance(below, str) else named_in(below)


def with_pipes(line):
    """A pipe in code in a table is written \\|, of which the builder would show the backslash."""
    if not line.startswith("|"):
        return line

    def code(found):
        text = html.escape(found.group(1), quote=False).replace("\\|", "&#124;")
        return f"<code>{text}</code>" if "\\|" in found.group() else found.group()
    return re.sub(r"`([^`]+)`", code, line)


def copy_sources(folder):
    for path in (path for pattern in SOURCES for path in sorted(ROOT.glob(pattern))):
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            target.write_text("\n".join(map(with_pipes, path.read_text().split("\n"))))
        else:
            shutil.copyfile(path, target)


def faults_of(named, present):
    for path in sorted(present - set(named)):
        yield f"{path}: not in the navigation"
    for path in sorted(set(named) - present):
        yield f"{path}: in the navigation, but no page"
    for path in sorted({path for path in named if named.count(path) > 1}):
        yield f"{path}: twice in the navigation"


def main():
    config, work = map(Path, sys.argv[1:])
    pages = work / "pages"
    copy_sources(pages)
    named = [*named_in(tomllib.loads(config.read_text())["project"]["nav"])]
    present = {path.relative_to(pages).as_posix() for path in pages.rglob("*.md")}
    wrong = [f"{fault} of {config}" for fault in faults_of(named, present)]
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
