"""A branch that binds a name to a part of what it held: `if ...: w = w[0]`."""

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

X = np.array([0.7, 0.8, 0.9])


def to_an_item(x):
    w = np.arctan(x)
    if w.shape[0] > 2:
        w = w[0]
    return np.sum(w * w)


def to_a_part(x):
    w = np.arctan(x)
    if w[1] > 0.2:
        w = w[:2]
        w[0] *= x[2] * 2
        if w[0] > 0:
            w = w[1:]
    return np.sum(w * w)


def to_a_row(x):
    w = np.outer(x, x)
    for k in range(3):
        w = w * 1.5
        if w.ndim > 1 and k > 0:
            w = w[k]
    return np.sum(w * w)


def as_numbers(u, v):
    if np.isscalar(u):
        u, v = np.array([u]), np.array([v])
    else:
        u, v = np.array(u), np.array(v)
    speed, direction = np.sqrt(u**2 + v**2), np.arctan2(-u, -v)
    if speed.shape == (1,):
        speed = speed[0]
        direction = direction[0]
    return speed, direction


def of_a_number(x):
    speed, direction = as_numbers(x, x * 2 + 0.3)
    return 1.3 * np.sum(speed) + 0.5 * np.sum(direction)


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize("f", [to_an_item, to_a_part, to_a_row, of_a_number])
def test_the_part_goes_on_as_the_whole(f):
    check_grads(f, (X,), order=2)
    if f is of_a_number:
        check_grads(f, (0.7,), order=2)
    batch = np.stack([X, X * 1.1])
    gradient = srcjax.grad(f)
    expected = [gradient(x) for x in batch]
    np.testing.assert_allclose(srcjax.vmap(gradient)(batch), expected, rtol=1e-12)


def from_a_list(x):
    w = [x, x * 2]
    if x[0] > 0.2:
        w = w[1]
    return np.sum(w[0] * 3)


@pytest.mark.parametrize("first", [0.1, 0.5])
def test_a_list_that_becomes_an_array(first):
    x = np.array([first, 0.6, 0.3])
    expected = [6.0, 0.0, 0.0] if first > 0.2 else [3.0, 3.0, 3.0]
    np.testing.assert_allclose(srcjax.grad(from_a_list)(x), expected)
