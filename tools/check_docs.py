"""Every path named in backticks or linked in README.md, CONTRIBUTING.md and docs/*.md exists.

A word is a path when it starts with the name of one of our folders, or with ./ ; <name> and * match anything.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "backends", "tests", "bench", "docs", "tools", "cmake", "examples", "python", "include", ".ci")


def named_paths(text):
    """(line number, path, relative to the page?) of each, outside of fenced code."""
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        if is_code:
            continue
        for quoted in re.findall(r"`([^`]+)`", line):
            word = quoted.split()[0] if quoted.split() else ""
            if word.startswith("./") or word.split("/")[0] in FOLDERS and "/" in word:
                yield number, word.removeprefix("./"), False
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", line):
            if "://" not in target and not target.startswith("mailto:"):
                yield number, target, True


def exists(base, path):
    if re.match(r"build(/|$)", path):
        return True
    pattern = re.sub(r"<[^>]*>|\{[^}]*\}", "*", path.rstrip("/,.:;"))
    return any(base.glob(pattern)) if pattern else True


def main():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
    wrong = []
    for page in filter(pathlib.Path.exists, pages):
        for number, path, relative in named_paths(page.read_text()):
            base = page.parent if relative else ROOT
            found = (base / path).exists() if relative else exists(base, path)
            if not found:
                wrong.append(f"{page.relative_to(ROOT)}:{number}: {path} does not exist")
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
