"""Functions of several steps that programs write out, and one rule for all steps.

`transforms.steps` finds them in the core form; nobody calls the functions here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcjax.ops.record import adjoint, elementwise, tangent

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"
d: Any  # adjoints (in tangent rules: tangents) by name, in the text of rules


def falling_logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(x))


def rising_logistic(x: Any) -> Any:
    return np.exp(x) / (1 + np.exp(x))


def softmax(x: Any, axis: Any = None) -> Any:
    return np.exp(x) / np.sum(np.exp(x), axis=axis, keepdims=True)


FALLING = elementwise(
    falling_logistic,
    "-d * y * (1 - y)",
    says="logistic: `s = 1 / (1 + exp(-z))` has `d(s) = s * (1 - s) * d(z)`",
)
RISING = elementwise(
    rising_logistic,
    "d * y * (1 - y)",
    says="logistic: `d(s) = s * (1 - s) * d(z)`",
)


@adjoint(softmax, says="softmax: `d(s) = s * (d(u) - sum(s * d(u)))`")
def SOFTMAX(y, x, axis=None):
    d[x] = y * (d[y] - sum_keeping(d[y] * y, axis))


@tangent(softmax)
def _(y, x, axis=None):
    d[y] = y * (d[x] - sum_keeping(d[x] * y, axis))
