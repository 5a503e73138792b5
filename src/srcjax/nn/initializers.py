"""Parameters to start from, with the names of `jax.nn.initializers`, and its numbers.

    init = initializers.glorot_uniform()
    w = init(key, (n_in, n_out))

The axes of inputs and outputs are the last two, unless said otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from srcjax import random

#: `init(key, shape, dtype=np.float32)`.
Initializer = Callable[..., Any]


def zeros(key: Any, shape: Sequence[int], dtype: Any = np.float32) -> np.ndarray:
    """An array of zeros; the key is not used."""
    return np.zeros(shape, dtype)


def ones(key: Any, shape: Sequence[int], dtype: Any = np.float32) -> np.ndarray:
    """An array of ones; the key is not used."""
    return np.ones(shape, dtype)


def constant(value: Any, dtype: Any = np.float32) -> Initializer:
    """Arrays that hold the value everywhere."""

    def init(key: Any, shape: Sequence[int], dtype: Any = dtype) -> np.ndarray:
        return np.full(shape, value, dtype)

    return init


def uniform(scale: float = 1e-2, dtype: Any = np.float32) -> Initializer:
    """Numbers between 0 and `scale`."""

    def init(key: Any, shape: Sequence[int], dtype: Any = dtype) -> np.ndarray:
        return random.uniform(key, shape, dtype) * np.dtype(dtype).type(scale)

    return init


def normal(stddev: float = 1e-2, dtype: Any = np.float32) -> Initializer:
    """Normal numbers with this standard deviation."""

    def init(key: Any, shape: Sequence[int], dtype: Any = dtype) -> np.ndarray:
        return random.normal(key, shape, dtype) * np.dtype(dtype).type(stddev)

    return init


#: The standard deviation of a normal number between -2 and 2.
_WITHIN_TWO = 0.87962566103423978


def truncated_normal(
    stddev: float = 1e-2,
    dtype: Any = np.float32,
    lower: float = -2.0,
    upper: float = 2.0,
) -> Initializer:
    """Normal numbers between `lower` and `upper`, times `stddev`."""

    def init(key: Any, shape: Sequence[int], dtype: Any = dtype) -> np.ndarray:
        drawn = random.truncated_normal(key, lower, upper, shape, dtype)
        return drawn * np.dtype(dtype).type(stddev)

    return init


def orthogonal(
    scale: float = 1.0, column_axis: int = -1, dtype: Any = np.float32
) -> Initializer:
    """Matrices with orthogonal rows or columns, times `scale`.

    Saxe, McClelland and Ganguli, "Exact solutions to the nonlinear dynamics of learning
    in deep linear neural networks", 2014, https://arxiv.org/abs/1312.6120
    """

    def init(key: Any, shape: Sequence[int], dtype: Any = dtype) -> np.ndarray:
        columns = shape[column_axis]
        rows = math.prod(shape) // columns
        tall = (rows, columns) if rows > columns else (columns, rows)
        q, r = np.linalg.qr(random.normal(key, tall, dtype))
        q = q * np.sign(np.diagonal(r))
        if rows <= columns:
            q = q.T
        others = [n for axis, n in enumerate(shape) if axis != column_axis % len(shape)]
        found = np.moveaxis(q.reshape(*others, columns), -1, column_axis)
        return np.dtype(dtype).type(scale) * found

    return init


def sizes(
    shape: Sequence[int],
    in_axis: int | Sequence[int],
    out_axis: int | Sequence[int],
    batch_axis: int | Sequence[int],
) -> tuple[float, float]:
    """How many inputs and outputs there are: what is no axis of either counts twice."""

    def along(axes: int | Sequence[int]) -> int:
        return math.prod(shape[a] for a in ([axes] if isinstance(axes, int) else axes))

    inputs, outputs = along(in_axis), along(out_axis)
    others = math.prod(shape) / inputs / outputs / along(batch_axis)
    return inputs * others, outputs * others


def variance_scaling(
    scale: float,
    mode: str,
    distribution: str,
    in_axis: int | Sequence[int] = -2,
    out_axis: int | Sequence[int] = -1,
    batch_axis: int | Sequence[int] = (),
    dtype: Any = np.float32,
) -> Initializer:
    """Numbers whose variance is `scale / n`.

    Args:
        scale: of the variance.
        mode: which `n`: "fan_in" inputs, "fan_out" outputs, "fan_avg" their mean, or
            "fan_geo_avg", the geometric one.
        distribution: "normal", "truncated_normal" or "uniform".
        in_axis, out_axis, batch_axis: the axes of inputs and outputs, and those that
            count for neither.

    Raises:
        ValueError: a mode or distribution that there is not.
    """

    def init(key: Any, shape: Sequence[int], dtype: Any = dtype) -> np.ndarray:
        n_in, n_out = sizes(shape, in_axis, out_axis, batch_axis)
        counts = {
            "fan_in": n_in,
            "fan_out": n_out,
            "fan_avg": (n_in + n_out) / 2,
            "fan_geo_avg": math.sqrt(n_in * n_out),
        }
        if mode not in counts:
            raise ValueError(f"variance_scaling: mode {mode!r} is none of {[*counts]}")
        kind = np.dtype(dtype).type
        variance = kind(scale / counts[mode])
        if distribution == "normal":
            return random.normal(key, shape, dtype) * np.sqrt(variance)
        if distribution == "truncated_normal":
            drawn = random.truncated_normal(key, -2, 2, shape, dtype)
            return drawn * (np.sqrt(variance) / kind(_WITHIN_TWO))
        if distribution == "uniform":
            drawn = random.uniform(key, shape, dtype, -1)
            return drawn * np.sqrt(3 * variance)
        raise ValueError(f"variance_scaling: there is no distribution {distribution!r}")

    return init


def glorot_uniform(
    in_axis: Any = -2, out_axis: Any = -1, batch_axis: Any = (), dtype: Any = np.float32
) -> Initializer:
    """Uniform, of the variance `2 / (n_in + n_out)`; also `xavier_uniform`.

    Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural
    networks", 2010.
    """
    return variance_scaling(
        1.0, "fan_avg", "uniform", in_axis, out_axis, batch_axis, dtype
    )


def glorot_normal(
    in_axis: Any = -2, out_axis: Any = -1, batch_axis: Any = (), dtype: Any = np.float32
) -> Initializer:
    """Normal within two deviations, of the variance `2 / (n_in + n_out)`."""
    return variance_scaling(
        1.0, "fan_avg", "truncated_normal", in_axis, out_axis, batch_axis, dtype
    )


def lecun_uniform(
    in_axis: Any = -2, out_axis: Any = -1, batch_axis: Any = (), dtype: Any = np.float32
) -> Initializer:
    """Uniform, of the variance `1 / n_in`. LeCun et al., "Efficient BackProp", 1998."""
    return variance_scaling(
        1.0, "fan_in", "uniform", in_axis, out_axis, batch_axis, dtype
    )


def lecun_normal(
    in_axis: Any = -2, out_axis: Any = -1, batch_axis: Any = (), dtype: Any = np.float32
) -> Initializer:
    """Normal within two deviations, of the variance `1 / n_in`."""
    return variance_scaling(
        1.0, "fan_in", "truncated_normal", in_axis, out_axis, batch_axis, dtype
    )


def he_uniform(
    in_axis: Any = -2, out_axis: Any = -1, batch_axis: Any = (), dtype: Any = np.float32
) -> Initializer:
    """Uniform, of the variance `2 / n_in`; also `kaiming_uniform`.

    He et al., "Delving Deep into Rectifiers", 2015, https://arxiv.org/abs/1502.01852
    """
    return variance_scaling(
        2.0, "fan_in", "uniform", in_axis, out_axis, batch_axis, dtype
    )


def he_normal(
    in_axis: Any = -2, out_axis: Any = -1, batch_axis: Any = (), dtype: Any = np.float32
) -> Initializer:
    """Normal within two deviations, of the variance `2 / n_in`; `kaiming_normal`."""
    return variance_scaling(
        2.0, "fan_in", "truncated_normal", in_axis, out_axis, batch_axis, dtype
    )


xavier_uniform, xavier_normal = glorot_uniform, glorot_normal
kaiming_uniform, kaiming_normal = he_uniform, he_normal
