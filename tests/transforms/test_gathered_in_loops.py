"""Items that a loop gathers by lists and by arrays, before it writes to them."""

import numpy as np
import pytest

import srcjax
from tests.corpus.harness import assert_close, differences

PLACES = [
    [[0, 2], np.array([1, 3])],
    [np.array([0, 2]), [1, 3]],
    [[0, 2], [1, 3]],
    [1, slice(1, 3)],
    [[0, 2], slice(1, 3)],
]


def read_in_a_sum(x, places):
    y, total = x.copy(), 0.0
    for at in places:
        total = total + np.sum(y[at] * x[at] ** 2)
        y[at] *= x[0]
    return total * np.sum(y**2)


def read_under_a_name(x, places):
    y, total = x.copy(), 0.0
    for at in places:
        v = y[at]
        total = total + np.sum(v * x[at])
        y[at] = v * x[0]
    return total


@pytest.mark.parametrize("f", [read_in_a_sum, read_under_a_name])
@pytest.mark.parametrize("places", PLACES, ids=str)
def test_derivatives(f, places):
    x = np.array([0.3, 0.9, 0.5, 0.7])
    expected = differences(f, (x, places), (0,))[0]
    assert_close(srcjax.grad(f)(x, places), expected, rtol=1e-6)
    second = srcjax.hessian(f)(x, places)
    step = 1e-6
    for i, row in enumerate(np.eye(4) * step):
        ahead, behind = (srcjax.grad(f)(x + s * row, places) for s in (1, -1))
        assert_close(second[i], (ahead - behind) / (2 * step), rtol=1e-5)
