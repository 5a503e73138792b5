"""`next` of a generator expression: the first item, or a default."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

X = np.array([0.3, 1.1, -0.4, 0.8, 1.9])


def first_place(x):
    k = next((i for i in range(len(x)) if x[i] > 1.0), None)
    return x[0] if k is None else x[k] ** 2


def first_square(x):
    return next((v * v for v in x if v > 1.0), 0.0) * x[0]


def first_pair(x):
    return next((a * b for a in x for b in x if a * b > 0.8), x[1]) + next(
        (v for v in x if v > 100), x[2]
    )


def numbered(x):
    k, v = next((i, v) for i, v in enumerate(x) if v > 0.9)
    return v**2 * k


@pytest.mark.filterwarnings("ignore::srcjax.PerformanceWarning")
@pytest.mark.parametrize("f", [first_place, first_square, first_pair, numbered])
def test_first(f):
    check_grads(f, (X,), 1, ("rev", "fwd"))
    batch = np.stack([X, X[::-1]])
    slopes = [srcjax.grad(f)(x) for x in batch]
    np.testing.assert_allclose(srcjax.vmap(srcjax.grad(f))(batch), slopes)


def test_second_order():
    check_grads(first_square, (X,), 2, ("rev",))


def test_nothing_to_find():
    with pytest.raises(StopIteration):
        srcjax.grad(lambda x: next(v for v in x if v > 100))(X)
