"""What a pullback keeps is copied for each call; what has no copy is refused."""

import queue

import numpy as np
import pytest

import srcjax
from srcjax.errors import UnsupportedError

X = np.array([0.3, 0.5, 0.9])


def drained(x):
    q = queue.Queue()
    q.put(2.0)
    q.put(3.0)
    return np.sum(x**2 * q.get()) * q.get()


def test_a_queue_has_no_copy():
    np.testing.assert_allclose(srcjax.grad(drained)(X), 12 * X)
    _, pullback = srcjax.vjp(drained, X)
    with pytest.raises(UnsupportedError, match="no copy"):
        pullback(1.0)
