"""An object that a loop changes and hands on from name to name: loud, never a zero."""

import numpy as np
import pytest

import srcjax
from srcjax.errors import UnsupportedError

X = np.array([0.3, 0.5, 0.9])


class Pair:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def __iadd__(self, other):
        self.a = self.a + other.a
        self.b = self.b * other.b
        return self

    def grow(self, k):
        self.a = self.a * k
        self.b = self.b + self.a


def updated(x, s):
    p = Pair(s, s)
    for i in range(len(x)):
        p += Pair(1.5, x[i])
    return p.a * p.a + p.b


def handed_on(x, s):
    p = Pair(s, s)
    for _ in range(3):
        q = p
        q.b = q.b * np.sum(x)
        p = q
    return p.b


@pytest.mark.parametrize("f", [updated, handed_on])
def test_refused(f):
    with pytest.raises(UnsupportedError, match="changed in this loop"):
        srcjax.grad(f, (0, 1))(X, 0.7)


def test_under_one_name():
    def f(x, s):
        p = Pair(s, s)
        for v in x:
            p.grow(v)
        return p.b

    dx, ds = srcjax.grad(f, (0, 1))(X, 0.7)
    h = 1e-6
    assert ds == pytest.approx((f(X, 0.7 + h) - f(X, 0.7 - h)) / (2 * h))
    for i, e in enumerate(np.eye(3)):
        slope = (f(X + h * e, 0.7) - f(X - h * e, 0.7)) / (2 * h)
        assert dx[i] == pytest.approx(slope)
