"""Includes follow what CMake targets declare.

A folder of src/ is one target. It includes headers of its own folder and of the folders in its DEPENDS, which lie before
it in the top CMake file, and headers of a third-party library only when it lists that library or depends on a folder
that lists it as public. Some folders must not reach others through any chain of DEPENDS: KEPT_APART says which.
backends/<name> and src/passes see only COLLAGE_BACKEND_SEES. `--graph` prints what each folder reaches.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# folder -> folders that it must not reach
KEPT_APART = {
    "search": {"store", "worker", "measure"},
    "plan": {"onnx", "store", "worker", "measure", "search"},
    "runtime": {"onnx", "store", "worker", "measure", "search"},
    "export": {"onnx", "store", "worker", "measure", "search"},
    "api/run": {"onnx", "store", "worker", "measure", "search", "tune"},
    "api/c": {"onnx", "store", "worker", "measure", "search", "tune"},
}

# how an include begins -> the library that a target must list, or one of several
LIBRARIES = {
    "nlohmann/": "nlohmann_json::nlohmann_json",
    "SQLiteCpp/": "SQLiteCpp",
    "sqlite3.h": "SQLiteCpp",
    "CLI/": "CLI11::CLI11",
    "zlib.h": "ZLIB::ZLIB",
    "openssl/": "OpenSSL::Crypto",
    "onnx/": "ONNX::onnx",
    "google/protobuf/": "ONNX::onnx",
    "oneapi/dnnl/": "DNNL::dnnl|DNNL3::dnnl",
    "openvino/": "openvino::runtime",
    "onnxruntime_cxx_api.h": "onnxruntime::onnxruntime",
}
KEYWORDS = ("SOURCES", "DEPENDS", "LIBRARIES", "PUBLIC_LIBRARIES", "FOLDER")


def cmake_list(name):
    """A list from the top CMakeLists.txt, the one place where the order is written."""
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(rf"set\({name} ([^)]*)\)", text).group(1).split()


def declared(folder):
    """What the target of a folder declares: keyword -> set of words."""
    text = re.sub(r"#.*", "", (folder / "CMakeLists.txt").read_text())
    words = " ".join(re.findall(r"collage_(?:library|program|backend)\(([^)]*)\)", text)).split()
    lists, current = {key: set() for key in KEYWORDS}, None
    for word in words:
        if word in lists:
            current = word
        elif current:
            lists[current].add(re.sub(r"^\$<BUILD_INTERFACE:(.*)>$", r"\1", word))
    return lists


def reached(folder, targets):
    """The folders that a target depends on, directly or through others."""
    found, todo = set(), [folder]
    while todo:
        for next_one in targets[todo.pop()]["DEPENDS"] - found:
            found.add(next_one)
            todo.append(next_one)
    return found


def sources(place, inner):
    """Files of a folder, without those of folders below it that are targets of their own."""
    for path in sorted(place.rglob("*")):
        if path.suffix in (".cpp", ".h") and not any(path.is_relative_to(ROOT / "src" / other) for other in inner):
            yield path


def folder_of(include, folders):
    """The longest folder name that an include begins with."""
    fits = [folder for folder in folders if include.startswith(folder + "/")]
    return max(fits, key=len, default=None)


def faults_of_includes(path, name, seen, libraries, folders):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', line)
        if not found:
            continue
        include = found.group(2)
        where = f"{path.relative_to(ROOT)}:{number}"
        if found.group(1) == '"':
            folder = folder_of(include, folders)
            if folder and folder not in seen:
                yield f"{where}: includes {folder}/, which {name} does not declare; declared: " + " ".join(sorted(seen))
            continue
        for start, library in LIBRARIES.items():
            if include.startswith(start) and libraries.isdisjoint(library.split("|")):
                yield f"{where}: includes <{include}>, but {name} does not list {library}"


def public_libraries(folders, targets):
    return set().union(*(targets[folder]["PUBLIC_LIBRARIES"] for folder in folders))


def main():
    folders = [f for f in cmake_list("COLLAGE_FOLDERS") if (ROOT / "src" / f / "CMakeLists.txt").exists()]
    backend_sees = cmake_list("COLLAGE_BACKEND_SEES")
    targets = {folder: declared(ROOT / "src" / folder) for folder in folders}
    if "--graph" in sys.argv:
        for folder in folders:
            print(f"{folder}: " + " ".join(f for f in folders if f in reached(folder, targets)))
        return 0
    wrong = []
    for folder in folders:
        target = targets[folder]
        wrong += [f"src/{folder}: reaches {other}, from which it is kept apart"
                  for other in sorted(reached(folder, targets) & KEPT_APART.get(folder, set()))]
        libraries = target["LIBRARIES"] | target["PUBLIC_LIBRARIES"]
        libraries |= public_libraries(reached(folder, targets), targets)
        inner = [other for other in folders if other.startswith(folder + "/")]
        for path in sources(ROOT / "src" / folder, inner):
            wrong += faults_of_includes(path, f"src/{folder}", target["DEPENDS"] | {folder}, libraries, folders)
    for place in sorted(p for p in (ROOT / "backends").glob("*") if p.is_dir()):
        # Files in backends/common are compiled into the backends that list them, with the backend's libraries.
        listed = declared(place)["LIBRARIES"] if (place / "CMakeLists.txt").exists() else set()
        libraries = listed | public_libraries(backend_sees, targets)
        for path in sources(place, []):
            wrong += faults_of_includes(path, f"backends/{place.name}", {*backend_sees}, libraries, folders)
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
