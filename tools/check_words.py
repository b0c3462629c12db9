"""No file of the product names a path of some machine or the host of a package registry."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Written in pieces, so that this file passes its own check.
PATHS = ["ro" "ot", "ho" "me", "wo" "rk", "opt/wh" "eels", "Us" "ers"]
HOSTS = ["py" "pi.org", "python" "hosted", "deb.deb" "ian.org", "snapshot.deb" "ian", "index" "-url"]
FORBIDDEN = re.compile(r"(?<![\w.$}~*-])/(" + "|".join(PATHS) + r")/|" + "|".join(map(re.escape, HOSTS)))


def main():
    names = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True,
                           text=True).stdout.split("\0")
    wrong = []
    for name in filter(None, names):
        path = ROOT / name
        if not path.is_file() or path.is_symlink():
            continue
        data = path.read_bytes()
        if b"\0" in data[:8192]:
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            found = FORBIDDEN.search(line)
            if found:
                wrong.append(f"{name}:{number}: names {found.group(0)}")
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
