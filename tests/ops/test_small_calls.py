"""Calls that are met in other people's code: each in all modes, to second order."""

import copy
import dataclasses
import typing

import numpy as np
import pytest
import scipy.optimize

import srcjax
from srcjax.testing import check_grads

X = np.array([1.3, 0.7, 0.9])


@dataclasses.dataclass
class Pair:
    first: object
    second: object


def cast(x):
    y = typing.cast(np.ndarray, x * x)
    return y * y


def several_at_least_2d(x):
    a, b = np.atleast_2d(x, x * 2)
    (c, d), e = np.atleast_1d(x[0], x[1]), np.atleast_3d(x, x)[1]
    return (a @ b.T)[0, 0] * c[0] * d[0] + e.sum()


def item_by_place(x):
    return np.outer(x, x).item(5) * x.item(1) + np.outer(x, x).item(1, 2) * x.item((0,))


def copied_object(x):
    p = Pair(x * 2, x[0])
    q = copy.copy(p)
    q.second = x[1] * x[2]
    return np.sum(q.first) * p.second * q.second


def deeply_copied_object(x):
    p = Pair(x * 2, x[0])
    q = copy.deepcopy(p)
    q.first[0] = x[1] * x[2]
    return np.sum(q.first * p.first) * q.second


def rosen(x):
    return scipy.optimize.rosen(x) + scipy.optimize.rosen_der(x)[1] ** 2


FUNCTIONS = [
    *(cast, several_at_least_2d, item_by_place, copied_object, deeply_copied_object),
    rosen,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_derivatives(function):
    check_grads(function, (X,), order=2)
    batch = np.stack([X, 2 * X])
    wanted = [function(x) for x in batch]
    np.testing.assert_allclose(srcjax.vmap(function)(batch), wanted)


def test_a_function_of_scipys_itself():
    gradient = srcjax.grad(scipy.optimize.rosen)(X)
    np.testing.assert_allclose(gradient, scipy.optimize.rosen_der(X))
