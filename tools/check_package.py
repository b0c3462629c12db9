"""The package for Python agrees with the rest: the versions of its extra `tune` with tools/parts.txt, its build tool with
that of ./dev wheel, its list of modules in python/CMakeLists.txt with the files."""

import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def parts():
    """package -> version, of the first row that has it."""
    found = {}
    for line in (ROOT / "tools/parts.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            _, package, version, *_ = line.split()
            found.setdefault(package, version)
    return found


def faults():
    pinned = parts()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    for requirement in project["project"]["optional-dependencies"]["tune"] + project["build-system"]["requires"]:
        package, _, version = requirement.partition("==")
        if pinned.get(package) != version:
            yield f"pyproject.toml: {requirement}, but tools/parts.txt has {package} {pinned.get(package)}"
    listed = set(re.search(r"set\(modules([^)]*)\)", (ROOT / "python/CMakeLists.txt").read_text()).group(1).split())
    folder = ROOT / "python/collage"
    present = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.suffix == ".py" or path.name == "py.typed"}
    for name in sorted(present ^ listed):
        yield f"python/CMakeLists.txt: {name} is {'not listed' if name in present else 'listed and absent'}"


def main():
    wrong = list(faults())
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
