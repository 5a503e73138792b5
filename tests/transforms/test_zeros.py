"""Zeros for all examples are made at once."""

import textwrap

import gast
import numpy as np
import pytest

import srcjax
from srcjax import syntax
from srcjax.analysis.types import UNKNOWN, Array
from srcjax.transforms.simplify.zeros import (
    without_stores_of_zero,
    zeros_of_batches,
)

TYPES = {
    name: Array(False, frozenset(), np.dtype(dtype), (3,))
    for name, dtype in (("x", "float64"), ("s", "float32"))
}


def run(before):
    node = gast.parse(textwrap.dedent(before)).body[0]
    zeros_of_batches(
        node, lambda name: name.startswith("z"), lambda name: TYPES.get(name, UNKNOWN)
    )
    return syntax.text(node)


REPEATED = "np.broadcast_to(z, (n, *z.shape))"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            f"def f(x, n):\n    z = np.zeros_like(x)\n    return g({REPEATED})",
            "def f(x, n):\n    return g(np.zeros((n, *x.shape)))",
        ),
        (  # a copy of it, by another spelling of its shape, of single precision
            "def f(s, n):\n    z = np.zeros_like(s)\n"
            "    return np.broadcast_to(z, (n, *np.shape(z))).copy()",
            "def f(s, n):\n    return np.zeros((n, *s.shape), dtype=s.dtype)",
        ),
        (  # of zeros that are added to the shape is read, of nothing else more
            "def f(x, n):\n    dx = np.zeros_like(x)\n    dx[0] += 1.0\n"
            f"    z = np.zeros_like(dx)\n    return {REPEATED}",
            "def f(x, n):\n    dx = np.zeros_like(x)\n    dx[0] += 1.0\n"
            "    return np.zeros((n, *x.shape))",
        ),
        (  # it is read elsewhere
            f"def f(x, n):\n    z = np.zeros_like(x)\n    return (z, {REPEATED})",
            None,
        ),
        (  # its type is not known
            f"def f(u, n):\n    z = np.zeros_like(u)\n    return {REPEATED}",
            None,
        ),
        (  # the user's
            "def f(x, n):\n    y = np.zeros_like(x)\n"
            "    return np.broadcast_to(y, (n, *y.shape))",
            None,
        ),
        (  # `x` may be another array by then
            "def f(x, n):\n    x = g(x)\n    z = np.zeros_like(x)\n"
            f"    x = h(x)\n    return {REPEATED}",
            None,
        ),
        (  # as many axes as the zeros have
            "def f(x, n):\n    z = np.zeros_like(x)\n"
            "    return np.broadcast_to(z, (n, 2, *z.shape))",
            None,
        ),
    ],
)
def test_before_and_after(before, after):
    assert run(before).strip() == (before if after is None else after)


def polynomial(coeffs, x):
    result = 0.0
    for c in coeffs:
        result = result * x + c
    return result


def test_a_linear_function_has_a_hessian_of_zeros():
    hessian = srcjax.hessian(polynomial)
    coeffs = np.array([1.0, 2.0, 3.0])
    text = str(srcjax.source(hessian, coeffs, 0.5))
    assert "np.zeros((len(coeffs_dot), *coeffs.shape))" in text
    assert "for " not in text.replace("for coeffs", "")
    assert np.array_equal(hessian(coeffs, 0.5), np.zeros((3, 3)))
    single = hessian(coeffs.astype(np.float32), np.float32(0.5))
    assert single.dtype == np.float32


@pytest.mark.parametrize(
    ("before", "kept"),
    [
        ("dz = np.zeros(3)\ndz[0] = 0.0", 1),
        ("dz = np.zeros_like(x)\ny = 2 * x\ndz[:, k] = 0", 2),
        ("dz = np.zeros(3)\ndz[0] = 1.0\ndz[0] = 0.0", 3),
        ("dz = np.zeros(3)\nf(dz)\ndz[0] = 0.0", 3),
        ("dz = np.ones(3)\ndz[0] = 0.0", 2),
        ("dz = np.zeros(3)\ndz[f(x)] = 0.0", 2),  # what `f` does is done
        ("dz = np.zeros(3)\ndz[0] = -x", 2),
        ("z = np.zeros(3)\nz[0] = 0.0", 2),  # the user's
        ("dz = np.zeros(3)\nfor i in y:\n    dz[i] = 0.0", 2),
    ],
)
def test_zeros_are_not_set_to_zero(before, kept):
    block = gast.parse(before).body
    without_stores_of_zero(block, lambda name: name.startswith("d"))
    assert len(block) == kept
    assert syntax.text(block[-1])


def picked(logits, labels):
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_norm = np.log(np.sum(np.exp(shifted), axis=1))
    return np.mean(log_norm - shifted[np.arange(len(labels)), labels])


def picked_elsewhere(logits, labels):
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_norm = np.log(np.sum(np.exp(shifted), axis=1))
    return np.mean(log_norm - shifted[1 - np.arange(len(labels)), labels])


def picked_by_column(logits, labels):
    shifted = logits - np.max(logits, axis=0)
    log_norm = np.log(np.sum(np.exp(shifted), axis=0))
    return np.mean(log_norm - shifted[labels, np.arange(len(labels))])


@pytest.mark.parametrize(
    ("function", "cancels"),
    [(picked, True), (picked_elsewhere, False), (picked_by_column, True)],
)
def test_maxima_cancel_where_one_of_each_row_is_picked(function, cancels):
    logits, labels = np.array([[0.3, 1.2], [2.0, -0.7]]), np.array([1, 0])
    text = str(srcjax.source(srcjax.grad(function), logits, labels))
    assert ("logits ==" not in text) is cancels
    assert np.allclose(
        srcjax.grad(function)(logits, labels), slope(function, logits, labels)
    )


def slope(function, logits, labels):
    found = np.zeros_like(logits)
    for at in np.ndindex(logits.shape):
        step = np.zeros_like(logits)
        step[at] = 1e-6
        values = (function(logits + s, labels) for s in (step, -step))
        ahead, behind = values
        found[at] = (ahead - behind) / 2e-6
    return found


def losses(w, X, y):
    return np.mean(np.log1p(np.exp(-y * (X @ w))))


def test_shares_are_computed_where_their_value_is():
    w, y = np.array([0.5, -0.3]), np.array([1.0, -1.0, 1.0])
    X = np.array([[1.0, 2.0], [0.5, -1.0], [400.0, 300.0]])
    gradient = srcjax.grad(losses)(w, X, y)
    margins = y * (X @ w)
    assert np.allclose(gradient, X.T @ (-y / (1 + np.exp(margins))) / 3)
    text = str(srcjax.source(srcjax.hessian(losses), w, X, y))
    assert "(1 - ratio" in text
