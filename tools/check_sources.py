"""Every .cpp under src, backends, python, tests and bench is listed in a CMakeLists.txt or .cmake file beside or above it (or in cmake/).
The folders that decide who runs what name no backend, every header begins with a comment, and JSON comes by way of base/json_numbers.h."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def listed_files():
    """Every word of every CMake file that ends in .cpp, as a path from the root."""
    scripts = [ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")]
    for top in ("src", "backends", "python", "tests", "bench"):
        scripts += (ROOT / top).rglob("CMakeLists.txt")
        scripts += (ROOT / top).rglob("*.cmake")
    found = set()
    for script in scripts:
        folder = ROOT if script.parent == ROOT / "cmake" else script.parent
        text = re.sub(r"#.*", "", script.read_text())
        text = text.replace("${PROJECT_SOURCE_DIR}/", f"{ROOT}/").replace("${CMAKE_CURRENT_SOURCE_DIR}/", f"{folder}/")
        found.update((folder / word).resolve() for word in re.findall(r'[^\s"()]+\.cpp', text))
    return found


DECIDING = ("region", "search", "tune")


def faults_of_deciding(path):
    """A line for each backend that the file names."""
    text = path.read_text()
    backends = [p.name for p in (ROOT / "backends").iterdir() if p.name not in ("host", "common")]
    for name in backends:
        if re.search(rf"\b{name}\b", text):
            yield f"{path.relative_to(ROOT)}: names the backend {name}"
    if re.search(r'"host"', text):
        yield f"{path.relative_to(ROOT)}: names the host, kHostBackend is its name"


def headers_without_comment():
    """Headers that do not begin with a comment which says what they are for."""
    for top in ("src", "backends", "python"):
        for path in sorted((ROOT / top).rglob("*.h")):
            if not path.read_text().startswith("//"):
                yield f"{path.relative_to(ROOT)}: begins without a comment that says what it is for"


def unchecked_json():
    """Files that include the JSON library past the header that checks its integers."""
    for top in ("src", "backends", "tests", "bench"):
        for path in sorted(p for p in (ROOT / top).rglob("*") if p.suffix in (".h", ".cpp")):
            if path.name != "json_numbers.h" and b"<nlohmann/json.hpp>" in path.read_bytes():
                yield f"{path.relative_to(ROOT)}: includes <nlohmann/json.hpp>, base/json_numbers.h has it"


def main():
    listed = listed_files()
    present = {p for top in ("src", "backends", "python", "tests", "bench") for p in (ROOT / top).rglob("*.cpp")}
    wrong = [f"{p.relative_to(ROOT)}: in no CMakeLists.txt" for p in sorted(present - listed)]
    deciding = sorted(p for top in DECIDING for p in (ROOT / "src" / top).rglob("*.[ch]*"))
    wrong += [fault for path in deciding for fault in faults_of_deciding(path)]
    wrong += headers_without_comment()
    wrong += unchecked_json()
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
