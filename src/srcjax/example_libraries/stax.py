"""JAX's `example_libraries.stax`: a network is put together from pairs of functions.

    init, predict = stax.serial(stax.Dense(64), stax.Relu, stax.Dense(10))
    shape, params = init(random.key(0), (-1, 784))
    logits = predict(params, images)

A layer is a pair: `init_fun(key, input_shape) -> (output_shape, params)`, and
`apply_fun(params, inputs, rng=key)`, where layers that draw nothing need no key.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from srcjax import lax, random
from srcjax.lax.products import margins_of
from srcjax.nn import (
    elu,
    gelu,
    leaky_relu,
    log_softmax,
    relu,
    selu,
    sigmoid,
    softmax,
    softplus,
    standardize,
)
from srcjax.nn.initializers import glorot_normal, normal, ones, zeros

# ruff: noqa: N802, N803, N806  (the names are JAX's)

Layer = tuple[Callable, Callable]
Shape = Sequence[int]

glorot = glorot_normal
randn = normal
logsoftmax = log_softmax
_GLOROT, _NORMAL, _SMALL = glorot_normal(), normal(), normal(1e-6)


def Dense(
    out_dim: int, W_init: Callable = _GLOROT, b_init: Callable = _NORMAL
) -> Layer:
    """`inputs @ W + b`, with `W` (n, out_dim)."""

    def init_fun(rng: Any, input_shape: Shape) -> tuple:
        k1, k2 = random.split(rng)
        W = W_init(k1, (input_shape[-1], out_dim))
        return (*input_shape[:-1], out_dim), (W, b_init(k2, (out_dim,)))

    def apply_fun(params: tuple, inputs: Any, **kwargs: Any) -> Any:
        W, b = params
        return np.dot(inputs, W) + b

    return init_fun, apply_fun


def _parameters_of_conv(
    dimension_numbers: tuple[str, str, str],
    out_chan: int,
    filter_shape: Shape,
    W_init: Callable,
    b_init: Callable,
    sizes_after: Callable,
) -> Callable:
    """The first function of a layer of convolutions.

    `sizes_after(sizes)` are those of the result along the axes of space.
    """
    lhs, rhs, out = dimension_numbers
    space = [letter for letter in rhs if letter not in "OI"]

    def init_fun(rng: Any, input_shape: Shape) -> tuple:
        known = {"O": out_chan, "I": input_shape[lhs.index("C")]}
        known.update(zip(space, filter_shape, strict=True))
        sizes = sizes_after([input_shape[lhs.index(letter)] for letter in space])
        after = {"N": input_shape[lhs.index("N")], "C": out_chan}
        after.update(zip(space, sizes, strict=True))
        k1, k2 = random.split(rng)
        W = W_init(k1, tuple(known[letter] for letter in rhs))
        b = b_init(k2, tuple(out_chan if letter == "C" else 1 for letter in out))
        return tuple(after[letter] for letter in out), (W, b)

    return init_fun


def GeneralConv(
    dimension_numbers: tuple[str, str, str],
    out_chan: int,
    filter_shape: Shape,
    strides: Shape | None = None,
    padding: Any = "VALID",
    W_init: Callable | None = None,
    b_init: Callable = _SMALL,
) -> Layer:
    """A convolution, with a number added for each channel.

    Args:
        dimension_numbers: what the axes are, as in `lax.conv_general_dilated`.
        out_chan: the channels of the result.
        filter_shape: how large the window is.
        strides: how far windows are apart; 1.
        padding: `"SAME"`, `"VALID"`, or what is added before and after each axis.
        W_init: the draws of the kernel, `W_init(key, shape)`.
        b_init: those of what is added.
    """
    rhs = dimension_numbers[1]
    one = (1,) * len(filter_shape)
    apart = strides or one
    W_init = W_init or glorot_normal(rhs.index("I"), rhs.index("O"))

    def sizes_after(sizes: Shape) -> list[int]:
        return _windows_along(sizes, filter_shape, apart, padding)

    init_fun = _parameters_of_conv(
        dimension_numbers, out_chan, filter_shape, W_init, b_init, sizes_after
    )

    def apply_fun(params: tuple, inputs: Any, **kwargs: Any) -> Any:
        W, b = params
        seen = lax.conv_general_dilated(
            inputs, W, apart, padding, one, one, dimension_numbers=dimension_numbers
        )
        return seen + b

    return init_fun, apply_fun


#: A convolution of images (batch, height, width, channels).
Conv = functools.partial(GeneralConv, ("NHWC", "HWIO", "NHWC"))


def GeneralConvTranspose(
    dimension_numbers: tuple[str, str, str],
    out_chan: int,
    filter_shape: Shape,
    strides: Shape | None = None,
    padding: Any = "VALID",
    W_init: Callable | None = None,
    b_init: Callable = _SMALL,
) -> Layer:
    """A transposed convolution: `strides` say how far the inputs are put apart.

    The arguments are those of `GeneralConv`.
    """
    rhs = dimension_numbers[1]
    apart = strides or (1,) * len(filter_shape)
    W_init = W_init or glorot_normal(rhs.index("I"), rhs.index("O"))

    def sizes_after(sizes: Shape) -> list[int]:
        same = padding == "SAME"
        return [
            size * stride + (0 if same else max(window - stride, 0))
            for size, window, stride in zip(sizes, filter_shape, apart, strict=True)
        ]

    init_fun = _parameters_of_conv(
        dimension_numbers, out_chan, filter_shape, W_init, b_init, sizes_after
    )

    def apply_fun(params: tuple, inputs: Any, **kwargs: Any) -> Any:
        W, b = params
        seen = lax.conv_transpose(
            inputs, W, apart, padding, dimension_numbers=dimension_numbers
        )
        return seen + b

    return init_fun, apply_fun


#: Of sequences (batch, length, channels).
Conv1DTranspose = functools.partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))
#: Of images.
ConvTranspose = functools.partial(GeneralConvTranspose, ("NHWC", "HWIO", "NHWC"))


def BatchNorm(
    axis: Any = (0, 1, 2),
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
    beta_init: Callable = zeros,
    gamma_init: Callable = ones,
) -> Layer:
    """Numbers of mean 0 and variance 1 along the axes, then `gamma * z + beta`.

    Without `center` there is no `beta`, and without `scale` no `gamma`: it is `()`.
    """
    axes = (axis,) if np.isscalar(axis) else tuple(axis)

    def init_fun(rng: Any, input_shape: Shape) -> tuple:
        shape = tuple(n for k, n in enumerate(input_shape) if k not in axes)
        k1, k2 = random.split(rng)
        beta = beta_init(k1, shape) if center else ()
        gamma = gamma_init(k2, shape) if scale else ()
        return input_shape, (beta, gamma)

    def apply_fun(params: tuple, x: Any, **kwargs: Any) -> Any:
        beta, gamma = params
        z = standardize(x, axes, epsilon=epsilon)
        if scale:
            z = np.expand_dims(gamma, axes) * z
        if center:
            z = z + np.expand_dims(beta, axes)
        return z

    return init_fun, apply_fun


def elementwise(fun: Callable, **fun_kwargs: Any) -> Layer:
    """A layer that is the function `fun(inputs, **fun_kwargs)`."""

    def init_fun(rng: Any, input_shape: Shape) -> tuple:
        return input_shape, ()

    def apply_fun(params: tuple, inputs: Any, **kwargs: Any) -> Any:
        return fun(inputs, **fun_kwargs)

    return init_fun, apply_fun


Tanh = elementwise(np.tanh)
Relu = elementwise(relu)
Exp = elementwise(np.exp)
LogSoftmax = elementwise(log_softmax, axis=-1)
Softmax = elementwise(softmax, axis=-1)
Softplus = elementwise(softplus)
Sigmoid = elementwise(sigmoid)
Elu = elementwise(elu)
LeakyRelu = elementwise(leaky_relu)
Selu = elementwise(selu)
Gelu = elementwise(gelu)


# -- windows -------------------------------------------------------------------------


def _windows_along(
    sizes: Shape, windows: Shape, strides: Shape, padding: Any
) -> list[int]:
    """How many windows there are along each axis."""
    margins = margins_of(sizes, windows, strides, padding)
    return [
        (size + low + high - window) // stride + 1
        for size, window, stride, (low, high) in zip(
            sizes, windows, strides, margins, strict=True
        )
    ]


def _pooling(
    window_shape: Shape,
    strides: Shape | None,
    padding: Any,
    spec: str | None,
    pooled: Callable,
) -> Layer:
    """The layer that is `pooled(inputs, window, strides)`, with sizes for all axes."""
    rank = len(window_shape) + 2
    others = (spec.index("N"), spec.index("C")) if spec else (0, rank - 1)
    space = [k for k in range(rank) if k not in others]
    window, apart = [1] * rank, [1] * rank
    for place, k in enumerate(space):
        window[k] = window_shape[place]
        apart[k] = strides[place] if strides else 1

    def init_fun(rng: Any, input_shape: Shape) -> tuple:
        after = list(input_shape)
        sizes = [input_shape[k] for k in space]
        count = _windows_along(
            sizes, [window[k] for k in space], [apart[k] for k in space], padding
        )
        for place, k in enumerate(space):
            after[k] = count[place]
        return tuple(after), ()

    def apply_fun(params: tuple, inputs: Any, **kwargs: Any) -> Any:
        return pooled(inputs, tuple(window), tuple(apart))

    return init_fun, apply_fun


def MaxPool(
    window_shape: Shape,
    strides: Shape | None = None,
    padding: Any = "VALID",
    spec: str | None = None,
) -> Layer:
    """The largest number of each window.

    Args:
        window_shape: how large the window is, along the axes of space.
        strides: how far windows are apart; 1.
        padding: `"SAME"` or `"VALID"`.
        spec: what the axes are, such as `"NHWC"`, which is what they are otherwise.
    """

    def pooled(inputs: Any, window: Shape, apart: Shape) -> Any:
        return lax.reduce_window(inputs, -np.inf, lax.max, window, apart, padding)

    return _pooling(window_shape, strides, padding, spec, pooled)


def SumPool(
    window_shape: Shape,
    strides: Shape | None = None,
    padding: Any = "VALID",
    spec: str | None = None,
) -> Layer:
    """The sum of each window. The arguments are those of `MaxPool`."""

    def pooled(inputs: Any, window: Shape, apart: Shape) -> Any:
        return lax.reduce_window(inputs, 0.0, lax.add, window, apart, padding)

    return _pooling(window_shape, strides, padding, spec, pooled)


def AvgPool(
    window_shape: Shape,
    strides: Shape | None = None,
    padding: Any = "VALID",
    spec: str | None = None,
) -> Layer:
    """The mean of what is in each window. The arguments are those of `MaxPool`."""

    def pooled(inputs: Any, window: Shape, apart: Shape) -> Any:
        total = lax.reduce_window(inputs, 0.0, lax.add, window, apart, padding)
        one = np.ones(inputs.shape, inputs.dtype)
        return total / lax.reduce_window(one, 0.0, lax.add, window, apart, padding)

    return _pooling(window_shape, strides, padding, spec, pooled)


# -- shapes, draws, and layers of layers ---------------------------------------------


def _flatten() -> Layer:
    """All axes behind the first one as one."""

    def init_fun(rng: Any, input_shape: Shape) -> tuple:
        return (input_shape[0], math.prod(input_shape[1:])), ()

    def apply_fun(params: tuple, inputs: Any, **kwargs: Any) -> Any:
        return np.reshape(inputs, (inputs.shape[0], -1))

    return init_fun, apply_fun


Flatten = _flatten()
Identity = elementwise(lambda inputs: inputs)


def FanOut(num: int) -> Layer:
    """The inputs, `num` times, as a list."""

    def init_fun(rng: Any, input_shape: Shape) -> tuple:
        return [input_shape] * num, ()

    def apply_fun(params: tuple, inputs: Any, **kwargs: Any) -> Any:
        return [inputs] * num

    return init_fun, apply_fun


def _fan_in_sum() -> Layer:
    """The sum of a list of inputs."""

    def init_fun(rng: Any, input_shape: Sequence[Shape]) -> tuple:
        return input_shape[0], ()

    def apply_fun(params: tuple, inputs: Any, **kwargs: Any) -> Any:
        return sum(inputs)

    return init_fun, apply_fun


FanInSum = _fan_in_sum()


def FanInConcat(axis: int = -1) -> Layer:
    """A list of inputs, joined along an axis."""

    def init_fun(rng: Any, input_shape: Sequence[Shape]) -> tuple:
        after = list(input_shape[0])
        after[axis] = sum(shape[axis] for shape in input_shape)
        return tuple(after), ()

    def apply_fun(params: tuple, inputs: Any, **kwargs: Any) -> Any:
        return np.concatenate(inputs, axis)

    return init_fun, apply_fun


def Dropout(rate: float, mode: str = "train") -> Layer:
    """Numbers that are kept with the probability `rate`, divided by it; others are 0.

    With another `mode` than `"train"` it gives its inputs. It is called with
    `rng=key`, and raises ValueError without.
    """

    def init_fun(rng: Any, input_shape: Shape) -> tuple:
        return input_shape, ()

    def apply_fun(params: tuple, inputs: Any, **kwargs: Any) -> Any:
        rng = kwargs.get("rng")
        if rng is None:
            raise ValueError(
                "Dropout needs a key: `apply_fun(params, inputs, rng=key)`"
            )
        if mode == "train":
            keep = random.bernoulli(rng, rate, inputs.shape)
            return np.where(keep, inputs / rate, 0)
        return inputs

    return init_fun, apply_fun


def serial(*layers: Layer) -> Layer:
    """One layer after the other; the parameters are a list of theirs."""
    init_funs, apply_funs = zip(*layers, strict=True)
    count = len(layers)

    def init_fun(rng: Any, input_shape: Shape) -> tuple:
        params = []
        for init in init_funs:
            rng, layer_rng = random.split(rng)
            input_shape, param = init(layer_rng, input_shape)
            params.append(param)
        return input_shape, params

    def apply_fun(params: Sequence, inputs: Any, **kwargs: Any) -> Any:
        rng = kwargs.pop("rng", None)
        rngs = (None,) * count if rng is None else random.split(rng, count)
        for fun, param, key in zip(apply_funs, params, rngs, strict=True):
            inputs = fun(param, inputs, rng=key, **kwargs)
        return inputs

    return init_fun, apply_fun


def parallel(*layers: Layer) -> Layer:
    """Layers side by side: a list of inputs gives a list of outputs."""
    init_funs, apply_funs = zip(*layers, strict=True)
    count = len(layers)

    def init_fun(rng: Any, input_shape: Sequence[Shape]) -> tuple:
        rngs = random.split(rng, count)
        made = [
            init(key, shape)
            for init, key, shape in zip(init_funs, rngs, input_shape, strict=True)
        ]
        return tuple(shape for shape, _ in made), tuple(params for _, params in made)

    def apply_fun(params: Sequence, inputs: Sequence, **kwargs: Any) -> Any:
        rng = kwargs.pop("rng", None)
        rngs = (None,) * count if rng is None else random.split(rng, count)
        return [
            fun(param, x, rng=key, **kwargs)
            for fun, param, x, key in zip(apply_funs, params, inputs, rngs, strict=True)
        ]

    return init_fun, apply_fun


def shape_dependent(make_layer: Callable[[Shape], Layer]) -> Layer:
    """The layer `make_layer(input_shape)`, made when the shape is known."""

    def init_fun(rng: Any, input_shape: Shape) -> tuple:
        return make_layer(input_shape)[0](rng, input_shape)

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        _, apply = make_layer(inputs.shape)
        return apply(params, inputs, **kwargs)

    return init_fun, apply_fun


__all__ = [
    "AvgPool",
    "BatchNorm",
    "Conv",
    "Conv1DTranspose",
    "ConvTranspose",
    "Dense",
    "Dropout",
    "Elu",
    "Exp",
    "FanInConcat",
    "FanInSum",
    "FanOut",
    "Flatten",
    "Gelu",
    "GeneralConv",
    "GeneralConvTranspose",
    "Identity",
    "LeakyRelu",
    "LogSoftmax",
    "MaxPool",
    "Relu",
    "Selu",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "SumPool",
    "Tanh",
    "elementwise",
    "glorot",
    "logsoftmax",
    "parallel",
    "randn",
    "serial",
    "shape_dependent",
]
