"""From a tuned module to what the backend keeps: machine code in a shared object, and the order of its calls.

The object needs no library of TVM: what its kernels ask of their host are three pointers, which TVM leaves in the
object for that, and the name of an error function, which a few instructions here turn into a fourth one.
"""
import os
import shutil
import subprocess

import tvm
from tvm import relax

ERRORS = """
    .text
    .globl TVMFFIErrorSetRaisedFromCStrParts
    .type TVMFFIErrorSetRaisedFromCStrParts, @function
TVMFFIErrorSetRaisedFromCStrParts:
    movq __collage_error(%rip), %rax
    testq %rax, %rax
    je 1f
    jmp *%rax
1:  ret
    .local __collage_error
    .comm __collage_error,8,8
    .globl __collage_set_error
    .type __collage_set_error, @function
__collage_set_error:
    movq %rdi, __collage_error(%rip)
    ret
    .section .note.GNU-stack,"",@progbits
"""


def run(words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{words[0]}: {done.stderr.strip()[-300:]}")


def library_of_this_process(name):
    """The file that this process has loaded: kernels may call functions of it."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            path = line.split(maxsplit=5)[-1].strip()
            if os.path.basename(path).startswith(name):
                return [path]
    return []


def link(module, folder):
    """kernels.so, without a compiler."""
    for tool in ("as", "ld"):
        if shutil.which(tool) is None:
            raise RuntimeError(f"{tool} of binutils is not installed")
    source, stub, code, made = (os.path.join(folder, name) for name in ("stub.s", "stub.o", "code.o", "kernels.so"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(ERRORS)
    run(["as", "-o", stub, source])
    module.write_to_file(code, "o")
    run(["ld", "-shared", "-s", "-z", "noexecstack", "-z", "now", "-o", made, code, stub,
         *library_of_this_process("libm.so"), *library_of_this_process("libc.so")])


class Storage:
    """Offsets in a block of memory, used again after the last reader."""

    ALIGN = 64

    def __init__(self):
        self.bytes = 0
        self.used = []

    def take(self, size):
        size = -(-size // self.ALIGN) * self.ALIGN
        offset = 0
        for begin, length in sorted(self.used):
            if begin - offset >= size:
                break
            offset = max(offset, begin + length)
        self.used.append((offset, size))
        self.bytes = max(self.bytes, offset + size)
        return offset

    def release(self, offset):
        self.used = [one for one in self.used if one[0] != offset]


def bytes_of(extents):
    size = 4
    for extent in extents:
        size *= extent
    return size


class Plan:
    """The calls of main: those on constants alone are needed once, whatever the inputs."""

    def __init__(self, function, inputs):
        self.prepare, self.calls, self.prepared = [], [], []
        self.scratch = Storage()
        self.kernels = {}
        self.places, self.extents = {}, {}
        for i, parameter in enumerate(function.params):
            self.put(parameter, ["input", i] if i < inputs else ["constant", i - inputs], parameter.ty)
        self.bindings = [binding for block in function.body.blocks for binding in block.bindings]
        self.same = same_values(self.bindings)
        self.last = {}
        for binding in self.bindings:
            for operand in self.operands(binding.value):
                self.last[operand] = binding.var
        for i, output in enumerate(self.results(function.body.body)):
            if output in self.places:
                raise ValueError("a result that is no result of a kernel, or that goes out twice")
            self.put(output, ["output", i], output.ty)
        for binding in self.bindings:
            if isinstance(binding.value, relax.Call):
                self.add(binding.var, binding.value)

    def put(self, value, place, kind):
        self.places[value] = place
        self.extents[value] = [int(extent) for extent in kind.shape.values]

    def results(self, expression):
        for binding in self.bindings:
            if binding.var.same_as(expression):
                expression = binding.value
        return [self.same.get(field, field) for field in expression.fields]

    def operands(self, call):
        """What a kernel reads; a part of a tuple is known by the tuple and its number."""
        if not isinstance(call, relax.Call):
            return []
        if call.op.name != "relax.call_tir":
            raise ValueError("main does more than call kernels: " + str(call)[:80])
        return [self.same.get(operand, operand) for operand in call.args[1].fields]

    def argument(self, value):
        return {"at": self.places[value], "extents": self.extents[value]}

    def add(self, variable, call):
        operands = self.operands(call)
        kind = call.ty_args[0]
        results = [(variable, kind)]
        if isinstance(kind, relax.TupleType):
            results = [((variable, i), field) for i, field in enumerate(kind.fields)]
        is_constant = all(self.places[operand][0] in ("constant", "prepared") for operand in operands)
        goes_out = any(result in self.places for result, _ in results)
        for result, field in results:
            if result in self.places:
                continue
            self.put(result, None, field)
            size = bytes_of(self.extents[result])
            if is_constant and not goes_out:
                self.prepared.append(size)
                self.places[result] = ["prepared", len(self.prepared) - 1]
            else:
                self.places[result] = ["scratch", self.scratch.take(size)]
        arguments = [self.argument(value) for value in [*operands, *(result for result, _ in results)]]
        kernel = self.kernels.setdefault(call.args[0], f"k{len(self.kernels)}")
        calls = self.prepare if is_constant and not goes_out else self.calls
        calls.append({"kernel": kernel, "arguments": arguments})
        for operand in set(operands):
            if self.places[operand][0] == "scratch" and self.last[operand] is variable:
                self.scratch.release(self.places[operand][1])


def same_values(bindings):
    """Names that stand for another value, or for a part of a tuple."""
    same = {}
    for binding in bindings:
        value = binding.value
        if isinstance(value, relax.Var):
            same[binding.var] = same.get(value, value)
        elif isinstance(value, relax.TupleGetItem):
            same[binding.var] = (same.get(value.tuple_value, value.tuple_value), int(value.index))
    return same


def emit(module, target, inputs, folder):
    """Writes kernels.so and gives the plan, as the backend reads it."""
    plan = Plan(module["main"], inputs)
    functions = {}
    for variable, name in plan.kernels.items():
        functions[tvm.ir.GlobalVar(name)] = module[variable].with_attr("global_symbol", name)
    link(tvm.tirx.build(tvm.IRModule(functions), target=target), folder)
    return {"prepare": plan.prepare, "calls": plan.calls, "prepared": plan.prepared, "scratch": plan.scratch.bytes}
