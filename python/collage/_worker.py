"""A worker that runs Python, for tunes whose backends are functions in Python: `python _worker.py SPECIFICATION SOCKET`.

It is started as a program, so that it can set what NumPy's libraries read before anything imports NumPy. From then on
modules are found where the process that tunes finds them.
"""

from __future__ import annotations

import json
import os
import sys

#: Of the libraries that NumPy computes with.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")


def command(threads: int, modules: list[str]) -> list[str]:
    """The argv that starts a worker like this process; the number of the socket is added.

    :param threads: how many may compute at once.
    :param modules: folders and files of backends besides those beside the library.
    """
    specification = {"path": sys.path, "threads": threads, "modules": modules}
    return [sys.executable, os.path.abspath(__file__), json.dumps(specification)]


def main(specification: str, socket: str) -> int:
    """Serves one process that tunes until it ends; returns the exit status."""
    asked = json.loads(specification)
    for name in _THREAD_VARIABLES:
        os.environ[name] = str(asked["threads"])
    # Also drops the folder of this file, which is no place for modules.
    sys.path[:] = asked["path"]

    from collage import _native

    return _native.serve_worker(int(socket), asked["modules"])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
