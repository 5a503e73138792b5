"""Convolution and pooling of images: (batch, height, width, channels), as in JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from srcjax.nn.initializers import lecun_normal

Pair = int | tuple[int, int]
Padding = str | tuple[tuple[int, int], tuple[int, int]]


def pair(value: Pair) -> tuple[int, int]:
    """The same number for height and width, unless there are two."""
    return (value, value) if isinstance(value, int) else value


def margins(size: int, window: int, stride: int, padding: str) -> tuple[int, int]:
    """How much is added before and after an axis.

    With "SAME" there are `ceil(size / stride)` windows, with "VALID" nothing is added.
    Raises ValueError for another word.
    """
    if padding == "VALID":
        return 0, 0
    if padding != "SAME":
        raise ValueError(f"padding {padding!r} is none of 'SAME' and 'VALID'")
    windows = -(-size // stride)
    added = max((windows - 1) * stride + window - size, 0)
    return added // 2, added - added // 2


def windows_of(
    x: Any, window: Pair, strides: Pair, padding: Padding, dilation: Pair, fill: Any
) -> Any:
    """All windows: (batch, rows, columns, channels, window height, window width)."""
    (h, w), (down, right), (dh, dw) = pair(window), pair(strides), pair(dilation)
    tall, wide = (h - 1) * dh + 1, (w - 1) * dw + 1
    if isinstance(padding, str):
        rows = margins(x.shape[1], tall, down, padding)
        columns = margins(x.shape[2], wide, right, padding)
    else:
        rows, columns = padding
    if (*rows, *columns) != (0, 0, 0, 0):
        x = np.pad(x, ((0, 0), rows, columns, (0, 0)), constant_values=fill)
    found = sliding_window_view(x, (tall, wide), axis=(1, 2))
    return found[:, ::down, ::right, :, ::dh, ::dw]


def conv_init(key: Any, n_in: int, n_out: int, kernel_size: Pair = 3) -> dict[str, Any]:
    """`{"w": (height, width, n_in, n_out), "b": (n_out,)}` (see `lecun_normal`)."""
    return {
        "w": lecun_normal()(key, (*pair(kernel_size), n_in, n_out)),
        "b": np.zeros(n_out, np.float32),
    }


def conv(
    params: dict[str, Any],
    x: Any,
    strides: Pair = 1,
    padding: Padding = "SAME",
    dilation: Pair = 1,
) -> Any:
    """The products of each window with the kernels, and `b`: a cross-correlation.

    Args:
        params: `{"w": (height, width, n_in, n_out), "b": (n_out,)}`.
        x: of shape (batch, height, width, n_in).
        strides: how far windows are apart.
        padding: "SAME", "VALID", or `((above, below), (left, right))`, with zeros.
        dilation: how far the numbers of a window are apart.

    Returns:
        An array of shape (batch, rows, columns, n_out).
    """
    w = params["w"]
    windows = windows_of(x, w.shape[:2], strides, padding, dilation, 0)
    return np.tensordot(windows, w, axes=((3, 4, 5), (2, 0, 1))) + params["b"]


def max_pool(
    x: Any, window: Pair = 2, strides: Pair | None = None, padding: Padding = "VALID"
) -> Any:
    """The largest number of each window of each channel; windows side by side.

    Numbers that share the maximum share its adjoint evenly (in JAX the first has it).
    """
    strides = window if strides is None else strides
    windows = windows_of(x, window, strides, padding, 1, -np.inf)
    return np.max(windows, axis=(4, 5))


def avg_pool(
    x: Any, window: Pair = 2, strides: Pair | None = None, padding: Padding = "VALID"
) -> Any:
    """The mean of each window of each channel; what is added around counts as 0."""
    strides = window if strides is None else strides
    return np.mean(windows_of(x, window, strides, padding, 1, 0), axis=(4, 5))
