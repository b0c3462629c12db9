"""Includes follow the order of the folders: src/<folder> sees earlier folders, backends/<name> and passes a few."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def cmake_list(name):
    """A list from the top CMakeLists.txt, the one place where the order is written."""
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(rf"set\({name} ([^)]*)\)", text).group(1).split()


def included_folders(path, folders):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s+["<]([^/">]+)/', line)
        # <onnx/...> is the third-party library, "onnx/..." is ours.
        if found and found.group(1) in folders and '"' in line:
            yield number, found.group(1)


def main():
    folders = cmake_list("COLLAGE_FOLDERS")
    backend_sees = cmake_list("COLLAGE_BACKEND_SEES")
    places = [(ROOT / "src" / folder, {*folders[: i + 1]}) for i, folder in enumerate(folders)]
    places = [(p, {*backend_sees, "passes"} if p.name == "passes" else allowed) for p, allowed in places]
    places += [(p, {*backend_sees}) for p in sorted((ROOT / "backends").glob("*")) if p.is_dir()]
    wrong = []
    for place, allowed in places:
        for path in sorted(place.rglob("*")):
            if path.suffix not in (".cpp", ".h"):
                continue
            for number, folder in included_folders(path, folders):
                if folder not in allowed:
                    wrong.append(f"{path.relative_to(ROOT)}:{number}: includes {folder}/; allowed: "
                                 + " ".join(f for f in folders if f in allowed))
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
