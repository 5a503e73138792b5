"""The operations through the public functions: both modes, to second order.

`test_tangents` checks each rule by itself; here a function calls the operation, and
`check_grads` compares `jvp`, `vjp` and all four of their compositions with differences.
"""

from __future__ import annotations

import ast

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

from .test_linalg import positive, square
from .test_products import array

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 4

scipy = pytest.importorskip("scipy")
pytest.importorskip("scipy.linalg")
pytest.importorskip("scipy.special")

SIDE = array(3, 3)
EDGES = np.array([0.0, 0.7, 1.5])


# -- reductions and scans -----------------------------------------------------------


def sums(x):
    return np.sum(x, axis=0) * x.mean() + np.nansum(x, axis=1) * np.nanmean(x)


def spreads(x):
    return np.var(x, axis=0, ddof=1) * x.std() + np.ptp(x, axis=1)


def extremes(x):
    return np.max(x, axis=0) * x.min() + np.sort(x, axis=None)[2:5]


def averages(x, w):
    return np.average(x, axis=1, weights=w) * np.average(x)


def products_of_items(x):
    return np.prod(x, axis=0) * np.cumprod(x, axis=1) + np.cumsum(x, axis=0)


def norms(x):
    total = np.linalg.norm(x) + np.linalg.norm(x, axis=1, keepdims=True)
    return total + np.linalg.norm(x, 1, axis=0)


def exponentials(x):
    weights = scipy.special.softmax(x, axis=1) * scipy.special.log_softmax(x)
    return weights + scipy.special.logsumexp(x, axis=0)


# -- products -----------------------------------------------------------------------


def matrix_products(a, x):
    return np.dot(a, x) @ a.T + np.outer(x, x) + np.inner(a, x) * np.vdot(x, x)


def contractions(a, x):
    b = np.einsum("ij,jk,k->ik", a, a, x) + np.tensordot(a, a, 1)
    return b * np.trace(a) + np.kron(x[:1], a)


def chains(a, x):
    return np.linalg.multi_dot([a, a, x]) + np.linalg.matrix_power(a, 3) @ x


def convolutions(x, v):
    return np.convolve(x, v) * np.correlate(x, v, "full")


# -- shaping and selection ----------------------------------------------------------


def joins(x, v):
    rows = np.concatenate([x, v[None], np.ones((1, 3))])
    return rows.reshape(-1, 5).T * np.append(x, v[:1])[:3]


def splits(x):
    left, right = np.split(x, [1], axis=1)
    return np.stack([left * right, np.roll(right, 1)]).transpose(2, 0, 1)


def borders(x, v):
    padded = np.pad(x, 1, constant_values=v[0]) * np.pad(x, 1, "edge")
    return padded[1:] * np.tile(v, 2) + np.repeat(v, 2)


def choices(x, v):
    chosen = np.where(x > 0, x, v) * np.select([x < -1, x < 1], [v, x], default=v[0])
    return chosen * np.take(x, [0, 0, 2], axis=1) + np.diag(np.diagonal(x) * v)


def changes(x, v):
    steps = np.diff(x, prepend=v[:, None]) * np.tril(x)
    return steps * np.gradient(x, v[1] + 2.0, axis=0) + np.trapezoid(x, v, axis=1)


def polynomials(x, v):
    return np.polyval(v, x) + np.vander(v) + np.interp(x, EDGES, v)


def filled(v):
    line = np.linspace(v[0], v[1], 3) + np.full(3, v[2])
    return line * np.array([v[0], 1.0, v[1]]) * np.asarray(v)


# -- linear algebra -----------------------------------------------------------------


def systems(a, x):
    return np.linalg.solve(a, x) * np.linalg.det(a) + np.linalg.inv(a) @ x


def determinants(a):
    return np.linalg.slogdet(a)[1] * a


def triangles(a, x):
    lower = scipy.linalg.solve_triangular(a, x, lower=True)
    return scipy.linalg.solve(a, lower) + scipy.linalg.solve_triangular(a, x, trans=1)


def cholesky(a, x):
    b = a @ a.T + np.eye(3)
    return np.linalg.cholesky(b) @ scipy.linalg.cho_solve(scipy.linalg.cho_factor(b), x)


def spectrum(a):
    values, vectors = np.linalg.eigh(a + a.T)
    return vectors * values @ vectors.T @ a + np.linalg.eigvalsh(a + a.T)


def singular(a):
    u, s, vh = np.linalg.svd(a)
    return u * s**2 @ vh + np.linalg.svdvals(a)


def factors(a, x):
    q, r = np.linalg.qr(a)
    return q * r + np.linalg.pinv(a) @ x


CASES = [
    (sums, array(3, 3)),
    (spreads, array(3, 3)),
    (extremes, array(3, 3)),
    (averages, array(3, 3), np.array([0.2, 0.5, 0.4])),
    (products_of_items, array(3, 3)),
    (norms, array(3, 3)),
    (exponentials, array(3, 3)),
    (matrix_products, square(3), array(3)),
    (contractions, square(3), array(3)),
    (chains, array(3, 3), array(3)),
    (convolutions, array(4), array(3)),
    (joins, array(3, 3), array(3)),
    (splits, array(2, 3)),
    (borders, array(2, 4), array(3)),
    (choices, array(3, 3), array(3)),
    (changes, array(3, 3), np.array([0.1, 0.5, 1.4])),
    (polynomials, np.array([0.2, 1.1, 0.9]), array(3)),
    (filled, array(3)),
    (systems, square(3), array(3)),
    (determinants, square(3)),
    (triangles, square(3), array(3)),
    (cholesky, square(3), array(3)),
    (spectrum, positive(3)),
    (singular, square(3)),
    (factors, square(3), array(3)),
]


@pytest.mark.parametrize(
    "f, args", [pytest.param(f, args, id=f.__name__) for f, *args in CASES]
)
def test_the_gradient_in_both_modes(f, args):
    """The derivative by `vjp` and `jvp`, then those of the gradient."""
    check_grads(f, args, order=2, modes=("rev", "fwd"), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "f, args", [pytest.param(f, args, id=f.__name__) for f, *args in CASES]
)
def test_the_tangent_in_forward_mode(f, args):
    """The second derivative by tangents of tangents."""
    check_grads(f, args, order=2, modes="fwd", rtol=1e-5, atol=1e-5)


# -- text ---------------------------------------------------------------------------


def tangent_text(f, *args):
    """The generated function of `jvp(f)`, without imports, docstring and checks."""
    text = str(srcjax.source(srcjax.jvp(f), *args))
    function = ast.parse(text).body[-1]
    rest = [s for s in function.body[1:] if not isinstance(s, ast.If)]
    lines = text.splitlines()
    kept = [lines[function.lineno - 1], *lines[rest[0].lineno - 1 :]]
    return "\n".join(kept).strip()


def test_linear_operations_are_called_as_the_user_called_them():
    def f(x):
        return np.sum(x, axis=0)

    assert tangent_text(f, array(2, 3)) == (
        "def jvp_f(x, x_dot):\n    return np.sum(x, axis=0), np.sum(x_dot, axis=0)"
    )

    def g(x):
        return x.reshape(3, -1)

    assert "return x.reshape(3, -1), x_dot.reshape(3, -1)" in tangent_text(
        g, array(2, 3)
    )

    def h(a, x):
        return a @ x

    assert "a_dot @ x + a @ x_dot" in tangent_text(h, array(2, 3), array(3))


@pytest.mark.parametrize(
    "f, args, line",
    [
        (lambda x: np.var(x), (array(3),), "2 * np.mean((x - x.mean()) * x_dot)"),
        (lambda x: np.pad(x, 1), (array(3),), "np.pad(x_dot, 1)"),
        (
            lambda a, x: np.linalg.solve(a, x),
            (square(3), array(3)),
            "np.linalg.solve(a, x_dot - a_dot @ solve)",
        ),
        (lambda x: np.linalg.solve(SIDE, x), (array(3),), "solve(SIDE, x_dot)"),
        (lambda a: np.linalg.det(a), (SIDE,), "* np.trace(np.linalg.solve(a, a_dot))"),
        (
            lambda x: np.sort(x),
            (array(3),),
            'np.take_along_axis(x_dot, np.argsort(x, -1, kind="stable"), -1)',
        ),
        (
            lambda x: np.append(x, 1.0),
            (array(3),),
            "np.append(x_dot, 0.0)",
        ),
        (
            lambda x: np.einsum("ij,ij->i", x, SIDE),
            (array(3, 3),),
            'np.einsum("ij,ij->i", x_dot, SIDE)',
        ),
    ],
)
def test_text_of_tangents(f, args, line):
    assert line in tangent_text(f, *args)
