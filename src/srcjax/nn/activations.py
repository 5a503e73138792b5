"""Activations with the names of `jax.nn`: of each number, in the dtype of the argument.

Derivatives at kinks are those of JAX, where the docstring says nothing else.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def identity(x: Any) -> Any:
    """`x` as it is."""
    return x


def relu(x: Any) -> Any:
    """`max(x, 0)`; its derivative at 0 is 0."""
    return np.where(x <= 0, 0, x)


def relu6(x: Any) -> Any:
    """`min(max(x, 0), 6)`; its derivative at 0 and 6 is 0."""
    return np.where(x <= 0, 0, np.where(x >= 6, 6, x))


def leaky_relu(x: Any, negative_slope: float = 0.01) -> Any:
    """`x`, or `negative_slope * x` below 0; its derivative at 0 is 1."""
    return np.where(x >= 0, x, negative_slope * x)


def elu(x: Any, alpha: float = 1.0) -> Any:
    """`x`, or `alpha * (exp(x) - 1)` below 0; its derivative at 0 is `alpha`.

    Clevert, Unterthiner and Hochreiter, "Fast and Accurate Deep Network Learning by
    Exponential Linear Units", 2016, https://arxiv.org/abs/1511.07289
    """
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0, x)))


def selu(x: Any) -> Any:
    """`1.0507 * elu(x, 1.67326)`: keeps the mean 0 and the variance 1.

    Klambauer et al., "Self-Normalizing Neural Networks", 2017,
    https://arxiv.org/abs/1706.02515
    """
    return 1.0507009873554805 * elu(x, 1.6732632423543772)


def celu(x: Any, alpha: float = 1.0) -> Any:
    """`x`, or `alpha * (exp(x / alpha) - 1)` below 0; its derivative at 0 is 1.

    Barron, "Continuously Differentiable Exponential Linear Units", 2017,
    https://arxiv.org/abs/1704.07483
    """
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0, x) / alpha))


def softplus(x: Any) -> Any:
    """`log(1 + exp(x))`, which does not overflow."""
    return np.logaddexp(x, 0)


def sigmoid(x: Any) -> Any:
    """`1 / (1 + exp(-x))`, as `exp(-log(1 + exp(-x)))`, which does not overflow."""
    return np.exp(-np.logaddexp(0, -x))


def log_sigmoid(x: Any) -> Any:
    """`log(sigmoid(x))`, accurate for large `-x` too."""
    return -np.logaddexp(0, -x)


def silu(x: Any) -> Any:
    """`x * sigmoid(x)`, also known as swish.

    Elfwing, Uchibe and Doya, "Sigmoid-Weighted Linear Units", 2017,
    https://arxiv.org/abs/1702.03118
    """
    return x * sigmoid(x)


swish = silu


def gelu(x: Any, approximate: bool = True) -> Any:
    """`x * P(N <= x)` for a normal variate N, or nearly so, by a `tanh`.

    With `approximate=False` it needs SciPy. Hendrycks and Gimpel, "Gaussian Error
    Linear Units", 2016, https://arxiv.org/abs/1606.08415
    """
    if approximate:
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        return 0.5 * x * (1 + np.tanh(inner))
    from scipy.special import erfc

    return 0.5 * x * erfc(-x / math.sqrt(2))


def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return np.tanh(x)


def hard_tanh(x: Any) -> Any:
    """`x` between -1 and 1, clipped; its derivative at both is 1."""
    return np.where(x > 1, 1, np.where(x < -1, -1, x))


def hard_sigmoid(x: Any) -> Any:
    """`relu6(x + 3) / 6`."""
    return relu6(x + 3) / 6


def hard_silu(x: Any) -> Any:
    """`x * hard_sigmoid(x)`, also known as hard swish."""
    return x * hard_sigmoid(x)


hard_swish = hard_silu


def mish(x: Any) -> Any:
    """`x * tanh(softplus(x))`.

    Misra, "Mish: A Self Regularized Non-Monotonic Activation Function", 2020,
    https://arxiv.org/abs/1908.08681
    """
    return x * np.tanh(softplus(x))


def soft_sign(x: Any) -> Any:
    """`x / (1 + |x|)`."""
    return x / (1 + np.abs(x))


def squareplus(x: Any, b: float = 4) -> Any:
    """`(x + sqrt(x**2 + b)) / 2`: a smooth `relu`.

    Barron, "Squareplus: A Softplus-Like Algebraic Rectifier", 2021,
    https://arxiv.org/abs/2112.11687
    """
    return (x + np.sqrt(x**2 + b)) / 2


def sparse_plus(x: Any) -> Any:
    """0 below -1, `x` above 1, and `(x + 1)**2 / 4` between them."""
    return np.where(x <= -1, 0, np.where(x >= 1, x, (x + 1) ** 2 / 4))


def sparse_sigmoid(x: Any) -> Any:
    """0 below -1, 1 above 1, and `(x + 1) / 2` between them."""
    return np.minimum(np.maximum(x + 1, 0), 2) / 2


def log1mexp(x: Any) -> Any:
    """`log(1 - exp(-x))` for positive `x`, accurate for small and for large ones.

    Mächler, "Accurately Computing log(1 - exp(-|a|))", 2012,
    https://cran.r-project.org/web/packages/Rmpfr/vignettes/log1mexp-note.pdf
    """
    small = x < math.log(2)
    near = np.log(-np.expm1(-np.where(small, x, 1)))
    return np.where(small, near, np.log1p(-np.exp(-np.where(small, 1, x))))
