"""Every .cpp under src, backends, tests and bench is listed in a CMakeLists.txt beside or above it (or in cmake/)."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def listed_files():
    """Every word of every CMake file that ends in .cpp, as a path from the root."""
    scripts = [ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")]
    for top in ("src", "backends", "tests", "bench"):
        scripts += (ROOT / top).rglob("CMakeLists.txt")
    found = set()
    for script in scripts:
        folder = script.parent if script.name == "CMakeLists.txt" else ROOT
        text = re.sub(r"#.*", "", script.read_text())
        text = text.replace("${PROJECT_SOURCE_DIR}/", f"{ROOT}/").replace("${CMAKE_CURRENT_SOURCE_DIR}/", f"{folder}/")
        found.update((folder / word).resolve() for word in re.findall(r'[^\s"()]+\.cpp', text))
    return found


def main():
    listed = listed_files()
    present = {p for top in ("src", "backends", "tests", "bench") for p in (ROOT / top).rglob("*.cpp")}
    wrong = [f"{p.relative_to(ROOT)}: in no CMakeLists.txt" for p in sorted(present - listed)]
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
