"""The process that compiles regions with TVM: a request on each line of standard input, an answer on each line of
standard output. It ends with its input, whatever it is doing. Its argument is the number of threads of kernels.

A request has "description" (describe.py), "folder" for kernels.so, "cpu" (a name of LLVM's), "trials" for
each kernel, "seconds" for all of them, "records" (a folder, or ""), "seed". The answer is {"plan": ...} (emission.py) or
{"error": words}.
"""
import json
import os
import queue
import sys
import threading

ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)


def read_requests(requests):
    for line in sys.stdin:
        requests.put(line)
    os._exit(0)


REQUESTS = queue.Queue()
threading.Thread(target=read_requests, args=(REQUESTS,), daemon=True).start()

THREADS = int(sys.argv[1])
os.environ["TVM_NUM_THREADS"] = sys.argv[1]

import devices
import tvm
from tvm import relax

import describe
import emission
import tuning


def fused(module):
    transform = relax.transform
    return tvm.ir.transform.Sequential([
        transform.CanonicalizeBindings(),
        transform.FastMathTransform(),
        transform.LegalizeOps(),
        transform.AnnotateTIROpPattern(),
        transform.FuseOps(),
        transform.FuseTIR(),
        transform.AttachAttrLayoutFreeBuffers(),
        transform.DeadCodeElimination(),
    ])(module)


def scheduled(module):
    transform = relax.transform
    return tvm.ir.transform.Sequential([
        transform.MetaScheduleApplyDatabase(),
        transform.SplitLayoutRewritePreproc(),
        transform.CanonicalizeBindings(),
        transform.DeadCodeElimination(),
    ])(module)


def compiled(request):
    target = tvm.target.Target({"kind": "llvm", "mcpu": request["cpu"], "num-cores": THREADS})
    description = request["description"]
    records = request["records"] and os.path.join(
        request["records"], f"{tvm.__version__}-{request['cpu']}-{THREADS}")
    with target:
        module = fused(describe.module_of(description))
    database = tuning.tune(module, target, request["trials"], request["seconds"], records, request["seed"])
    with target, database, tvm.transform.PassContext(opt_level=3):
        module = scheduled(module)
    return emission.emit(module, target, len(description["inputs"]), request["folder"])


def answer(request):
    try:
        return {"plan": compiled(request)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


while True:
    ANSWERS.write(json.dumps(answer(json.loads(REQUESTS.get()))) + "\n")
    ANSWERS.flush()
