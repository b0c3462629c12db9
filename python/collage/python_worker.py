"""Workers that run Python, for calls of the tuner that need a backend made of Python functions.

In: the options of a call. Out: the argv of a worker, which is this file: `python python_worker.py SPECIFICATION SOCKET`. It
is started as a program, so that it can set what NumPy's libraries read before anything imports NumPy. From then on
modules are found where the process that tunes finds them.
"""

from __future__ import annotations

import json
import os
import sys
import zipfile
from typing import Any

#: How instances of the backend begin.
_INSTANCE = "python:"
#: Of the libraries that NumPy computes with.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")


def worker_of(options: dict[str, Any], modules: list[str]) -> list[str] | None:
    """The argv of a worker for a call with these options; None when the usual program does."""
    parts = _parts_of(options.get("plan"))
    if not _names_python(options) and not any(_has_python_steps(part) for part in parts):
        return None
    threads = options.get("threads") or max((_threads_of(part) for part in parts), default=1)
    specification = {"path": sys.path, "threads": threads, "modules": modules}
    return [sys.executable, os.path.abspath(__file__), json.dumps(specification)]


def _names_python(options: dict[str, Any]) -> bool:
    names = [*(options.get("backends") or []), options.get("only") or ""]
    rules = [*(options.get("bans") or []), *(options.get("pins") or [])]
    return any(name.startswith(_INSTANCE) for name in names) or any(f"={_INSTANCE}" in rule for rule in rules)


def _parts_of(plan: str | None) -> list[bytes]:
    """The JSON texts of a plan file; a file that is none, or not there yet, has none."""
    try:
        with zipfile.ZipFile(plan or "") as file:
            return [file.read(name) for name in file.namelist() if name.endswith(".json")]
    except (OSError, zipfile.BadZipFile):
        return []


def _has_python_steps(part: bytes) -> bool:
    return f'"{_INSTANCE}module='.encode() in part


def _threads_of(part: bytes) -> int:
    """Those that the plan was tuned for; a plan of many shapes has a part that does not say it."""
    return int(json.loads(part).get("threads", 1))


def main(specification: str, socket: str) -> int:
    """Serves one process that tunes until it ends; returns the exit status."""
    asked = json.loads(specification)
    for name in _THREAD_VARIABLES:
        os.environ[name] = str(asked["threads"])
    # Also drops the folder of this file, which is no place for modules.
    sys.path[:] = asked["path"]

    import numpy  # noqa: F401: what it starts is there before a function is watched

    from collage import _native
    from collage.plan import prepare_libraries

    prepare_libraries()
    return _native.serve_worker(int(socket), asked["modules"])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
