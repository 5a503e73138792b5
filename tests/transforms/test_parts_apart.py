"""Parts of an adjoint that have no place in common are stored, not added to zeros."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

X = np.array([0.7, -0.4, 1.1, 0.3, 0.9, -0.2, 0.5, 0.8])


def halves(x):
    u, v = x[:3], x[3:]
    return np.sum(u) * np.sum(v**2)


def columns(x):
    h = x.reshape(4, 2) * 2.0
    mu, logvar = h[:, :1], h[:, 1:]
    return np.sum(mu * np.exp(logvar))


def gates(x, h):
    n = h.shape[0]
    z = np.sin(x)
    return np.sum(z[:n] * z[n : 2 * n] + h * z[2 * n : 3 * n] - z[3 * n :] ** 2)


def from_the_end(x):
    z = np.sin(x)
    return np.sum(z[-2:] ** 2) + np.sum(z[:-2] ** 3)


def one_in_both(x):
    z = np.sin(x)
    return np.sum(z[:5] ** 2) + np.sum(z[4:] ** 3)


def from_both_ends(x):
    z = np.sin(x)
    return np.sum(z[:5] ** 2) + np.sum(z[-5:] ** 3)


def an_item_inside(x):
    z = np.sin(x)
    return np.sum(z[2:] ** 2) * z[3]


def an_item_beside(x):
    z = np.sin(x)
    return np.sum(z[2:] ** 2) * z[1]


def rows_and_columns(x):
    z = np.sin(x).reshape(4, 2)
    return np.sum(z[:2] ** 2) + np.sum(z[:, 1:] ** 3)


def bounds_that_move(x, k=2):
    z = np.sin(x)
    total = np.sum(z[:k] ** 2)
    k = k - 1
    return total + np.sum(z[k:] ** 3)


def in_steps(x):
    z = np.sin(x)
    return np.sum(z[::2] ** 2) + np.sum(z[1::2] ** 3)


def all_by_a_truth(x):
    z = np.sin(x)
    return np.sum(z[True] ** 2) * z[0] * z[2]


def negative_bounds(x, k=-3):
    z = np.sin(x)
    return np.sum(z[: 2 * k] ** 2) + np.sum(z[k:] ** 3)


EVERY = [
    halves,
    columns,
    from_the_end,
    one_in_both,
    from_both_ends,
    an_item_inside,
    an_item_beside,
    rows_and_columns,
    bounds_that_move,
    in_steps,
    all_by_a_truth,
    negative_bounds,
]


@pytest.mark.parametrize("f", EVERY, ids=lambda f: f.__name__)
def test_derivatives(f):
    check_grads(f, (X,), order=2)
    for count in (4, 6, 12):
        x = np.linspace(0.1, 1.2, count if f is not rows_and_columns else 8)
        if f not in (columns, rows_and_columns):
            check_grads(f, (x,), order=1)


def test_gates():
    h = np.array([0.3, 0.6])
    check_grads(gates, (X, h), order=2)
    text = str(srcjax.source(srcjax.grad(gates), X, h))
    stores = [line for line in text.splitlines() if line.lstrip().startswith("dz[")]
    assert len(stores) == 4, text
    assert not any("+=" in line for line in stores), text


@pytest.mark.parametrize("f", [halves, columns, from_the_end, an_item_beside])
def test_stored(f):
    text = str(srcjax.source(srcjax.grad(f), X))
    assert "] +=" not in text, text


@pytest.mark.parametrize("f", [one_in_both, from_both_ends, an_item_inside])
def test_added(f):
    text = str(srcjax.source(srcjax.grad(f), X))
    assert "] +=" in text, text


def test_the_whole_by_an_index_without_places():
    def f(x):
        z = np.sin(x[0]) * np.ones(3)
        z[()] = z * x[1]
        return np.sum(z**2)

    check_grads(f, (X,), order=2)
