"""An object that a loop changes and hands on from name to name."""

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

    def grown(self, k):
        self.a = self.a * k
        return self


class Some:
    def __init__(self, a):
        self.a = a

    def __iadd__(self, other):
        if other > 0.4:
            self.a = self.a * other
            return self
        return Some(self.a + other)


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


def made_in_a_loop(x, s):
    total = 0.0
    for k in range(2):
        p = Pair(s, x[k])
        for i in range(len(x)):
            p += Pair(1.5, x[i])
        total = total + p.a * p.b
    return total


def left_early(x, s):
    p = Pair(s, x[1])
    k = 0
    while k < 3:
        p += Pair(x[k], 2.0)
        k += 1
        if p.a > 1.2:
            break
    return p.a * p.b


def chained(x, s):
    p = Pair(s, s)
    for v in x:
        p = p.grown(v).grown(2.0)
    return p.a


def seen_twice(x, s):
    p = Pair(s, s)
    q = p
    for v in x:
        r = q
        r.a = r.a * v
        q = r
    return p.a + q.a


def an_array(x, s):
    v = x * s
    for _ in range(3):
        w = v
        w *= x
        v = w
    return np.sum(v)


def under_one_name(x, s):
    p = Pair(s, s)
    for v in x:
        p.grow(v)
    return p.b


PROGRAMS = [
    updated, handed_on, made_in_a_loop, left_early, chained, seen_twice, an_array,
    under_one_name,
]  # fmt: skip


def differences(f):
    h = 1e-6
    dx = [(f(X + h * e, 0.7) - f(X - h * e, 0.7)) / (2 * h) for e in np.eye(3)]
    return dx, (f(X, 0.7 + h) - f(X, 0.7 - h)) / (2 * h)


@pytest.mark.parametrize("f", PROGRAMS)
def test_followed(f):
    dx, ds = srcjax.grad(f, (0, 1))(X, 0.7)
    wanted_dx, wanted_ds = differences(f)
    np.testing.assert_allclose(dx, wanted_dx, rtol=1e-6, atol=1e-8)
    assert ds == pytest.approx(wanted_ds)
    rate = srcjax.jvp(f, (X, 0.7), (X, 1.0))[1]
    assert rate == pytest.approx(np.dot(wanted_dx, X) + wanted_ds)


def which_one(x, s):
    p = Some(s)
    for v in x:
        p += v
    return p.a


def left_behind(x, s):
    total = 0.0
    p = Some(s)
    q = p
    for v in x:
        q.a = q.a * v
        p = Some(v * 2)
        total = total + q.a
        q = p
    return total + p.a


@pytest.mark.parametrize("f", [which_one, left_behind])
def test_refused(f):
    with pytest.raises(UnsupportedError):
        srcjax.grad(f, (0, 1))(X, 0.7)
