"""The pipe between `collage bench --rival` and a runtime: docs/RIVALS.md. A rival is a class with

    name, version, precision, note    texts for the table; `version` at least
    prepare(model, threads, inputs, outputs)
                                      model: path of a .onnx file; inputs: name -> array; outputs: names, in order
    run()                             one inference on these inputs; keeps the outputs
    results()                         the outputs of the last run as arrays, in order

and calls serve(Rival()). Standard output is the pipe: from the import of this module on, which is therefore the first,
whatever is printed goes to stderr.
"""
import json
import os
import sys
import time

import numpy

PROTOCOL = 1
PIPE = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)


def _prepare(rival, message):
    if message["protocol"] != PROTOCOL:
        raise ValueError(f"protocol {message['protocol']}, this rival speaks {PROTOCOL}")
    inputs = {one["name"]: numpy.load(one["file"]) for one in message["inputs"]}
    begin = time.perf_counter_ns()
    rival.prepare(message["model"], message["threads"], inputs, message["outputs"])
    load_ms = (time.perf_counter_ns() - begin) / 1e6
    texts = {key: getattr(rival, key, "") for key in ("name", "version", "precision", "note")}
    return {**texts, "load_ms": load_ms}


def _run(rival, message):
    begin = time.perf_counter_ns()
    for _ in range(message["times"]):
        rival.run()
    return {"ns": time.perf_counter_ns() - begin}


def _write(rival, message):
    for path, array in zip(message["files"], rival.results(), strict=True):
        numpy.save(path, numpy.ascontiguousarray(array).reshape(numpy.shape(array)))
    return {}


ACTIONS = {"prepare": _prepare, "run": _run, "write": _write}


def serve(rival):
    """Answers messages until standard input ends."""
    for line in sys.stdin:
        message = json.loads(line)
        try:
            answer = ACTIONS[message["do"]](rival, message)
        except Exception as error:  # a runtime may raise anything; the bench shows it
            words = " ".join(str(error).split())
            answer = {"error": f"{type(error).__name__}: {words[:300]}"}
        PIPE.write(json.dumps(answer) + "\n")
