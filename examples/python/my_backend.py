"""A backend made of two functions on arrays. python_backend.py tunes a model with it."""

from __future__ import annotations

import numpy as np

from collage.extend import Region, anything, constant, op, region_function, same, value


# A tree of operators; x is the same value at both places. With a parameter `out` the results are written in place.
@region_function(op("Mul").of(value("x"), op("Sigmoid").of(same("x"))))
def silu(inputs: list[np.ndarray], region: Region, out: list[np.ndarray]) -> None:
    x, y = inputs[0], out[0]
    with np.errstate(over="ignore"):  # exp(-x) of a large -x is infinite, and x over that is right: 0
        np.exp(-x, out=y)
    y += 1
    np.divide(x, y, out=y)


def weights_of(region: Region) -> tuple[np.ndarray, np.ndarray | None]:
    """Called once for each place in a plan: weights as [rows, columns], bias as a column."""
    _, weights, *bias = region.node("Conv").inputs
    matrix = region.constants[weights]
    return matrix.reshape(matrix.shape[0], -1), region.constants[bias[0]].reshape(-1, 1) if bias else None


def too_large(region: Region) -> str | None:
    """What a pattern cannot say is refused here, with a reason that `collage explain` shows."""
    channels = region.inputs[0].shape[1]
    return f"{channels} channels; allowed 4096" if channels > 4096 else None


# A convolution of single pixels is a matrix product. "?=" also allows an attribute that is left at its default.
@region_function(
    op("Conv").where("in1.rank=4", "in1.dim2=1", "in1.dim3=1", "@group?=1", "@strides?=1x1", "@pads?=0x0x0x0")
    .of(anything, constant, constant.or_absent()),
    prepare=weights_of,
    refuses=too_large,
)  # fmt: skip
def pointwise(inputs: list[np.ndarray], region: Region) -> np.ndarray:
    weights, bias = region.state
    batch, channels, rows, columns = inputs[0].shape
    product = weights @ inputs[0].reshape(batch, channels, rows * columns)
    if bias is not None:
        product += bias
    return product.reshape(region.outputs[0].shape)
