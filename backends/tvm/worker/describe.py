"""From a region as the backend describes it to a module of Relax.

A description is a JSON object: "inputs" and "constants" (lists of extents), "ops" in the order in which they are
computed, "outputs". Values have names: x0, x1... for inputs, w0... for constants, t0... for results of operations.
All are f32.
"""
import math

from tvm import relax
from tvm.relax import op


def gelu(x):
    half = op.multiply(x, relax.const(0.5, "float32"))
    inner = op.erf(op.multiply(x, relax.const(math.sqrt(0.5), "float32")))
    return op.multiply(half, op.add(inner, relax.const(1.0, "float32")))


def sigmoid(x):
    """Not the library's: of that the exponential stays a call for each element."""
    return op.divide(relax.const(1.0, "float32"),
                     op.add(op.exp(op.negative(x)), relax.const(1.0, "float32")))


def prelu(x, slope):
    zero = relax.const(0.0, "float32")
    return op.add(op.maximum(x, zero), op.multiply(slope, op.minimum(x, zero)))


def elu(x, alpha):
    zero, one = relax.const(0.0, "float32"), relax.const(1.0, "float32")
    negative = op.subtract(op.exp(op.minimum(x, zero)), one)
    return op.add(op.maximum(x, zero), op.multiply(negative, relax.const(alpha, "float32")))


UNARY = {"abs": op.abs, "ceil": op.ceil, "erf": op.erf, "exp": op.exp, "floor": op.floor, "log": op.log,
         "negative": op.negative, "sqrt": op.sqrt, "tanh": op.tanh, "relu": op.nn.relu, "gelu": gelu,
         "sigmoid": sigmoid}
BINARY = {"add": op.add, "subtract": op.subtract, "multiply": op.multiply, "divide": op.divide,
          "maximum": op.maximum, "minimum": op.minimum, "matmul": op.matmul, "prelu": prelu}
REDUCTION = {"mean": op.mean, "sum": op.sum, "max": op.max, "min": op.min}
WINDOW = {"max_pool": op.nn.max_pool2d, "average_pool": op.nn.avg_pool2d}


def operation(one, read):
    """One operation as an expression."""
    name = one["op"]
    operands = [read(value) for value in one["in"]]
    if name in UNARY:
        return UNARY[name](*operands)
    if name in BINARY:
        return BINARY[name](*operands)
    if name in REDUCTION:
        return REDUCTION[name](operands[0], axis=one["axes"], keepdims=one["keeps_axes"])
    if name in WINDOW:
        more = {} if name == "max_pool" else {"count_include_pad": one["counts_padding"]}
        return WINDOW[name](operands[0], pool_size=one["kernel"], strides=one["strides"], padding=one["padding"],
                            dilation=one["dilations"], layout="NHWC", **more)
    if name == "convolution":
        return op.nn.conv2d(operands[0], operands[1], strides=one["strides"], padding=one["padding"],
                            dilation=one["dilations"], groups=one["groups"], data_layout="NHWC", kernel_layout="HWIO")
    if name == "elu":
        return elu(operands[0], one["alpha"])
    if name == "literal":
        return relax.const(one["value"], "float32")
    if name == "softmax":
        return op.nn.softmax(operands[0], axis=one["axis"])
    if name == "transpose":
        return op.permute_dims(operands[0], one["axes"])
    if name == "reshape":
        return op.reshape(operands[0], one["extents"])
    raise ValueError("no operation " + name)


def module_of(description):
    """One function, main, of the inputs and then the constants."""
    values = {f"{kind}{i}": relax.Var(f"{kind}{i}", relax.TensorType(extents, "float32"))
              for kind, every in (("x", description["inputs"]), ("w", description["constants"]))
              for i, extents in enumerate(every)}
    parameters = list(values.values())
    builder = relax.BlockBuilder()
    with builder.function("main", parameters, attrs={"num_input": len(description["inputs"])}):
        with builder.dataflow():
            for i, one in enumerate(description["ops"]):
                made = operation(one, values.__getitem__)
                values[f"t{i}"] = made if one["op"] == "literal" else builder.emit(made)
            outputs = [builder.emit_output(values[name]) for name in description["outputs"]]
        builder.emit_func_output(relax.Tuple(outputs))
    return builder.get()
