"""Products of arrays, and of all windows of arrays with a kernel."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from srcjax import tree
from srcjax.lax import arithmetic
from srcjax.lax.shapes import pad

Axes = Sequence[int]
Padding = str | Sequence[tuple[int, int]]


class Precision(enum.Enum):
    """What programs give as `precision=`: products have the precision of the arrays."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2


def dot(lhs: Any, rhs: Any, precision: Any = None) -> Any:
    """The product of vectors and matrices."""
    if np.ndim(lhs) not in (1, 2) or np.ndim(rhs) not in (1, 2):
        raise TypeError("lax.dot is for vectors and matrices")
    return lhs @ rhs


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Any:
    """The products of the matrices in two stacks."""
    return lhs @ rhs


def dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: tuple[tuple[Axes, Axes], tuple[Axes, Axes]],
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Sums of products over axes.

    Args:
        lhs: an array.
        rhs: another one.
        dimension_numbers: `((left, right), (left, right))`: the axes that are summed
            over, and those of a batch, of each array.

    Returns:
        An array whose axes are those of the batch, the others of `lhs`, those of `rhs`.
    """
    (left, right), (left_batch, right_batch) = dimension_numbers
    if len(left_batch) == 0:
        return np.tensordot(lhs, rhs, axes=(tuple(left), tuple(right)))
    free = [k for k in range(np.ndim(lhs)) if k not in (*left, *left_batch)]
    other = [k for k in range(np.ndim(rhs)) if k not in (*right, *right_batch)]
    a = np.transpose(lhs, (*left_batch, *free, *left))
    b = np.transpose(rhs, (*right_batch, *right, *other))
    count = len(left_batch)
    batch = np.shape(a)[:count]
    rows = np.shape(a)[count : count + len(free)]
    columns = np.shape(b)[count + len(right) :]
    shared = np.shape(a)[count + len(free) :]
    inner = int(np.prod(shared))
    a = np.reshape(a, (*batch, int(np.prod(rows)), inner))
    b = np.reshape(b, (*batch, inner, int(np.prod(columns))))
    return np.reshape(a @ b, (*batch, *rows, *columns))


# -- windows ------------------------------------------------------------------------


class ConvDimensionNumbers(NamedTuple):
    """Where the batch, the features and the axes of space are, of each array."""

    lhs_spec: tuple[int, ...]
    rhs_spec: tuple[int, ...]
    out_spec: tuple[int, ...]


def conv_dimension_numbers(
    lhs_shape: Axes, rhs_shape: Axes, dimension_numbers: Any
) -> ConvDimensionNumbers:
    """The axes that letters stand for: `("NHWC", "HWIO", "NHWC")`.

    Without any they are `"NCHW"`, `"OIHW"`, `"NCHW"`, for any number of axes.
    """
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    if dimension_numbers is None:
        order = tuple(range(len(lhs_shape)))
        return ConvDimensionNumbers(order, order, order)
    lhs, rhs, out = dimension_numbers
    space = [letter for letter in rhs if letter not in "OI"]
    return ConvDimensionNumbers(
        tuple(lhs.index(letter) for letter in ["N", "C", *space]),
        tuple(rhs.index(letter) for letter in ["O", "I", *space]),
        tuple(out.index(letter) for letter in ["N", "C", *space]),
    )


def margins_of(
    sizes: Axes, windows: Axes, strides: Axes, padding: Padding
) -> list[tuple[int, int]]:
    """How much is added before and after each axis. Raises ValueError for a word."""
    if not isinstance(padding, str):
        return [(int(low), int(high)) for low, high in padding]
    if padding == "VALID":
        return [(0, 0) for _ in sizes]
    if padding not in ("SAME", "SAME_LOWER"):
        raise ValueError(f"padding {padding!r} is none of SAME, SAME_LOWER and VALID")
    found = []
    for size, window, stride in zip(sizes, windows, strides, strict=True):
        added = max((-(-size // stride) - 1) * stride + window - size, 0)
        low = added // 2 if padding == "SAME" else added - added // 2
        found.append((low, added - low))
    return found


def windows_of(
    x: Any,
    window: Axes,
    strides: Axes,
    margins: Sequence[tuple[int, int]],
    between: Axes,
    dilation: Axes,
    fill: Any,
) -> Any:
    """All windows along the last axes: those of the places, and those of the windows.

    Args:
        x: an array.
        window: how many numbers a window has along each of the last axes.
        strides: how far windows are apart.
        margins: what is added before and after.
        between: how far the numbers of `x` are put apart.
        dilation: how far the numbers of a window are apart.
        fill: what is put where no number is.
    """
    others = np.ndim(x) - len(window)
    config = [(0, 0, 0)] * others + [
        (low, high, apart - 1)
        for (low, high), apart in zip(margins, between, strict=True)
    ]
    if any(numbers != (0, 0, 0) for numbers in config):
        x = pad(x, fill, config)
    wide = [(n - 1) * d + 1 for n, d in zip(window, dilation, strict=True)]
    found = sliding_window_view(x, wide, axis=tuple(range(others, np.ndim(x))))
    places = [slice(None)] * others
    places += [slice(None, None, step) for step in [*strides, *dilation]]
    return found[tuple(places)]


def conv_general_dilated(
    lhs: Any,
    rhs: Any,
    window_strides: Axes,
    padding: Padding,
    lhs_dilation: Axes | None = None,
    rhs_dilation: Axes | None = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """The products of all windows of `lhs` with kernels: a cross-correlation.

    Args:
        lhs: an array of a batch of arrays of features, "NCHW".
        rhs: kernels, "OIHW".
        window_strides: how far windows are apart, along each axis of space.
        padding: "SAME", "VALID", or what is added before and after each axis.
        lhs_dilation: how far the numbers of `lhs` are put apart.
        rhs_dilation: how far the numbers of the kernels are put apart.
        dimension_numbers: the order of axes, see `conv_dimension_numbers`.
        feature_group_count: into how many groups the features are parted.
    """
    if batch_group_count != 1:
        raise NotImplementedError("batch_group_count")
    numbers = conv_dimension_numbers(np.shape(lhs), np.shape(rhs), dimension_numbers)
    x = np.transpose(lhs, numbers.lhs_spec)
    w = np.transpose(rhs, numbers.rhs_spec)
    axes = np.ndim(x) - 2
    between = [1] * axes if lhs_dilation is None else lhs_dilation
    dilation = [1] * axes if rhs_dilation is None else rhs_dilation
    window = np.shape(w)[2:]
    wide = [(n - 1) * d + 1 for n, d in zip(window, dilation, strict=True)]
    sizes = [(n - 1) * d + 1 for n, d in zip(np.shape(x)[2:], between, strict=True)]
    margins = margins_of(sizes, wide, window_strides, padding)
    windows = windows_of(x, window, window_strides, margins, between, dilation, 0)
    summed = (1, *range(2 + axes, 2 + 2 * axes))
    kernel = (1, *range(2, 2 + axes))
    if feature_group_count == 1:
        y = np.tensordot(windows, w, axes=(summed, kernel))
    else:
        size, made = np.shape(w)[1], np.shape(w)[0] // feature_group_count
        parts = []
        for k in range(feature_group_count):
            part = windows[:, k * size : (k + 1) * size]
            of_group = w[k * made : (k + 1) * made]
            parts.append(np.tensordot(part, of_group, axes=(summed, kernel)))
        y = np.concatenate(parts, axis=-1)
    y = np.moveaxis(y, -1, 1)
    return np.transpose(y, [numbers.out_spec.index(k) for k in range(2 + axes)])


def conv(
    lhs: Any, rhs: Any, window_strides: Axes, padding: str, precision: Any = None
) -> Any:
    """`conv_general_dilated` of "NCHW" and "OIHW", with nothing put apart."""
    return conv_general_dilated(lhs, rhs, window_strides, padding)


def conv_with_general_padding(
    lhs: Any,
    rhs: Any,
    window_strides: Axes,
    padding: Padding,
    lhs_dilation: Axes | None,
    rhs_dilation: Axes | None,
    precision: Any = None,
) -> Any:
    """`conv_general_dilated` of "NCHW" and "OIHW"."""
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation
    )


def conv_transpose(
    lhs: Any,
    rhs: Any,
    strides: Axes,
    padding: Padding,
    rhs_dilation: Axes | None = None,
    dimension_numbers: Any = None,
    transpose_kernel: bool = False,
    precision: Any = None,
) -> Any:
    """A convolution of the numbers of `lhs`, put `strides` apart: arrays get larger.

    The axes are "NHWC", "HWIO", "NHWC" unless `dimension_numbers` says otherwise.
    """
    axes = np.ndim(lhs) - 2
    if dimension_numbers is None:
        space = "DHW"[3 - axes :]
        dimension_numbers = (f"N{space}C", f"{space}IO", f"N{space}C")
    numbers = conv_dimension_numbers(np.shape(lhs), np.shape(rhs), dimension_numbers)
    if transpose_kernel:
        rhs = np.flip(rhs, numbers.rhs_spec[2:])
        rhs = np.swapaxes(rhs, numbers.rhs_spec[0], numbers.rhs_spec[1])
    dilation = [1] * axes if rhs_dilation is None else rhs_dilation
    margins: Padding = padding
    if isinstance(padding, str):
        margins = []
        for axis, stride, apart in zip(
            numbers.rhs_spec[2:], strides, dilation, strict=True
        ):
            wide = (np.shape(rhs)[axis] - 1) * apart + 1
            added = wide + stride - 2
            if padding == "SAME":
                low = wide - 1 if stride > wide - 1 else -(-added // 2)
            else:
                added += max(wide - stride, 0)
                low = wide - 1
            margins.append((low, added - low))
    ones = [1] * axes
    return conv_general_dilated(lhs, rhs, ones, margins, strides, dilation, numbers)


def reduce_window(
    operand: Any,
    init_value: Any,
    computation: Callable,
    window_dimensions: Axes,
    window_strides: Axes | None = None,
    padding: Padding = "VALID",
    base_dilation: Axes | None = None,
    window_dilation: Axes | None = None,
) -> Any:
    """The numbers of each window, from `init_value` on, two by two: `lax.max` pools.

    There are as many windows along an axis as with `conv_general_dilated`. Numbers that
    share a maximum share its adjoint. Several arrays of one shape, in a tuple, list or
    dict, are gone along together: `init_value` is such a container then, and
    `computation` takes two of them.
    """
    together = isinstance(operand, (tuple, list, dict))
    first = tree.leaves(operand)[0] if together else operand
    shape = np.shape(first)
    axes = len(shape)
    strides = [1] * axes if window_strides is None else window_strides
    between = [1] * axes if base_dilation is None else base_dilation
    dilation = [1] * axes if window_dilation is None else window_dilation
    wide = [(n - 1) * d + 1 for n, d in zip(window_dimensions, dilation, strict=True)]
    sizes = [(n - 1) * d + 1 for n, d in zip(shape, between, strict=True)]
    margins = margins_of(sizes, wide, strides, padding)

    def seen(x: Any, start: Any) -> Any:
        return windows_of(
            x, window_dimensions, strides, margins, between, dilation, start
        )

    if together:
        counts = np.shape(seen(first, 0))[:axes]
        total = tree.map(
            lambda x, start: np.full(counts, start, x.dtype), operand, init_value
        )
        for place in np.ndindex(*window_dimensions):
            here = tree.map(
                lambda x, start: seen(x, start)[(..., *place)],  # noqa: B023
                operand,
                init_value,
            )
            total = computation(total, here)
        return total
    windows = seen(operand, init_value)
    last = tuple(range(axes, 2 * axes))
    if computation is arithmetic.add or computation is np.add:
        return np.sum(windows, axis=last) + init_value
    if computation is arithmetic.max or computation is np.maximum:
        return np.maximum(np.max(windows, axis=last), init_value)
    if computation is arithmetic.min or computation is np.minimum:
        return np.minimum(np.min(windows, axis=last), init_value)
    total = np.full(np.shape(windows)[:axes], init_value, operand.dtype)
    for place in np.ndindex(*window_dimensions):
        total = computation(total, windows[(..., *place)])
    return total
