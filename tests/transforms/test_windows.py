"""Parts of arrays of open size: `x[i : i + k]` is meant to have `k` items."""

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

X = np.array([0.3, -1.2, 0.7, 0.1, 0.9, -0.4])
W = np.array([0.5, -0.4, 1.1])
IMAGE = np.sin(np.arange(20.0)).reshape(5, 4)
KERNEL = np.array([[0.5, -1.0], [0.3, 0.2]])


def windows(x, w):
    k = len(w)
    total = 0.0
    for i in range(len(x) - k + 1):
        part = x[i : i + k]
        total += part @ w + np.sum(part * part * w) + np.sum(np.exp(part - w))
    return total


def convolution(image, kernel):
    k = kernel.shape[0]
    n, m = image.shape
    out = np.zeros((n - k + 1, m - k + 1))
    for i in range(n - k + 1):
        for j in range(m - k + 1):
            out[i, j] = np.sum(image[i : i + k, j : j + k] * kernel)
    return np.sum(out**2)


def beginnings(x, w):
    k = len(w) - 1
    return np.sum(x[:k] * w[1:] ** 2) + np.sum(x[k : k + 3] * w)


def one_at_a_time(x, w):
    total = 0.0
    for i in range(len(x)):
        total += np.sum(x[i : i + 1] * w) ** 2
    return total


def one_by_a_name(x, w):
    k = len(w) // 3
    total = 0.0
    for i in range(len(x)):
        total += np.sum(x[i : i + k] * w) ** 2
    return total


def columns(x, w):
    rows = x.reshape(2, 3)
    total = 0.0
    for j in range(3):
        total = total + rows[:, j : j + 1] * w
    return np.sum(total**2)


def what_is_left(x, w):
    return np.sum(x[len(x) - 1 :] * w) ** 2


def reaches_over_the_end(x, w):
    i = len(x) - 1
    k = len(w)
    return np.sum(x[i : i + k] * w) ** 2


def of_bounds_in_a_list(x, w):
    bounds = [0, 1, 3, 6]
    total = 0.0
    for k in range(3):
        total += np.sum(x[bounds[k] : bounds[k + 1]] * w[k]) ** 2
    return total


SAME = [windows, convolution, beginnings]
OTHERS = [one_at_a_time, one_by_a_name, columns, what_is_left, of_bounds_in_a_list]
OTHERS += [reaches_over_the_end]


@pytest.mark.parametrize("program", SAME + OTHERS, ids=lambda f: f.__name__)
def test_derivatives(program):
    check_grads(program, (IMAGE, KERNEL) if program is convolution else (X, W))


@pytest.mark.parametrize("program", SAME, ids=lambda f: f.__name__)
def test_nothing_is_summed(program):
    args = (IMAGE, KERNEL) if program is convolution else (X, W)
    text = srcjax.source(srcjax.grad(program), *args)
    assert "unbroadcast" not in text and "full_like" not in text
